"""A user who has text actions done in a real Neovim, with a scripted model behind them."""

from __future__ import annotations

from typing import Any

from endpoint import Endpoint
from session import Session

TEXT = """\
= Report

The first sentence is long. The second one too.

We measured 42 runs, see @fig-one and $x^2$.

Last words.
"""
PARAGRAPH = "The first sentence is long. The second one too."
SHORTER = "The first sentence is short. The second one too."
ACT = "require('typstai').action(...)"
FINISHED = "TypstAIActionFinished"
SINK = """
_G.told = {}
require('typstai.message').sink = function(message) table.insert(_G.told, message) end
"""


class Writer:
    """A user who has actions done, with a scripted model behind them."""

    def __init__(self, session: Session, endpoint: Endpoint) -> None:
        self.session = session
        self.endpoint = endpoint
        self.editor = session.editor
        self.editor.record(FINISHED)
        self.editor.lua(SINK)
        self._ended = 0

    def open(self, text: str = TEXT, **options: Any) -> int:
        self.session.use(self.endpoint, **options)
        return self.session.document(text)

    def act(self, action: str, **options: Any) -> None:
        self.editor.lua(ACT, action, options or {"params": {}})

    def ended(self) -> dict[str, Any]:
        """Wait for the end of the next action; its event."""
        self._ended += 1
        return self.editor.seen(FINISHED, self._ended)[-1]

    def outcome(self) -> tuple[str, str]:
        event = self.ended()
        return event["status"], event["reason"]

    def told(self, count: int = 1) -> list[str]:
        """Wait for so many messages; all there are."""
        self.editor.wait_for("#_G.told >= ...", count)
        return self.editor.lua("return _G.told")

    def target(self, number: int = -1) -> str:
        """What a request fenced as the passage."""
        message = self.endpoint.requests[number].body["messages"][-1]["content"]
        return message.split("<passage>\n")[1].split("\n</passage>")[0]

    def hunks(self) -> list[dict[str, Any]]:
        proposals = self.editor.lua("return require('typstai').proposals.list()")
        return [hunk for item in proposals for hunk in item["hunks"]]

    def marks(self) -> list[Any]:
        """What the spinner has drawn."""
        return self.editor.lua(
            "return vim.api.nvim_buf_get_extmarks(0, "
            "vim.api.nvim_create_namespace('typstai.spinner'), 0, -1, { details = true })"
        )
