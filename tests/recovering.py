"""A session whose model edits, and what a user does to take that back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from endpoint import Endpoint, answer, tool_calls
from session import Session

TEXT = "= Report\n\nOne.\nTwo.\nThree.\n"
BEFORE = TEXT.split("\n")[:-1]
EDITED = "main.typ was edited after that answer; :TypstAI snapshots has its earlier states."

_API = """
local name, args = ...
local group, method = name:match("(%w+)%.(%w+)")
_G.answered = nil
table.insert(args, function(err, result)
  _G.answered = { err = err, result = result }
end)
for i, arg in ipairs(args) do
  if arg == vim.NIL then args[i] = nil end
end
require("typstai")[group][method](unpack(args, 1, 2))
"""
_CHOOSE = """
local wanted = ...
_G.asked = {}
vim.ui.select = function(items, opts, choose)
  local lines = vim.tbl_map(opts.format_item or tostring, items)
  table.insert(_G.asked, { prompt = opts.prompt, kind = opts.kind, lines = lines })
  choose(items[wanted], items[wanted] and wanted)
end
"""
_KEEP_MESSAGES = """
_G.told = {}
require("typstai.message").sink = function(message)
  table.insert(_G.told, message)
end
"""


class Recovering:
    """A session whose model makes one edit for each answer."""

    def __init__(self, session: Session, endpoint: Endpoint) -> None:
        self.session = session
        self.endpoint = endpoint
        self.editor = session.editor
        session.use(endpoint, approval="auto")
        self.editor.lua(_KEEP_MESSAGES)
        self.document = session.document(TEXT)

    def edit(self, search: str, replace: str, *, said: str = "Done.") -> str:
        """An answer that replaces a text; its run."""
        args = {"search": search, "replace": replace}
        self.endpoint.reply(tool_calls(("search_replace", args)))
        self.endpoint.reply(answer(said))
        self.session.send(f"Write {replace}")
        assert self.session.refusal() == ""
        assert self.session.finished() == "complete"
        return self.last_run()

    def talk(self, text: str = "And?") -> str:
        """An answer without an edit; what the model was sent last."""
        self.endpoint.reply(answer("Yes."))
        assert self.session.ask(text) == "complete"
        return self.endpoint.requests[-1].body["messages"][-1]["content"]

    def call(self, name: str, *args: Any) -> Any:
        """Answer of a function of the public API, as `{err?, result?}`."""
        self.editor.lua(_API, name, list(args))
        return self.editor.wait_for("_G.answered")

    def last_run(self) -> str:
        return self.editor.lua("return _G.sent.ok.run")

    def snapshot_of(self, run: str) -> None:
        """Wait until the answer offers the state in which it left the document."""
        self.editor.wait_for("require('typstai.recovery.receipts').of(...).snapshot", run)

    def revert(self, run: str) -> Any:
        return self.call("runs.revert", run)

    def snapshots(self) -> list[dict[str, Any]]:
        return self.call("snapshots.list", self.document)["result"]

    def lines(self) -> list[str]:
        return self.session.lines(self.document)

    def keys(self, keys: str) -> None:
        self.session.show(self.document)
        self.editor.feed(keys)

    def told(self, count: int = 1) -> list[str]:
        self.editor.wait_for("#_G.told >= select(1, ...)", count)
        return self.editor.lua("return _G.told")

    def choose(self, position: int) -> None:
        """What the user picks from now on when asked to select; 0 is nothing."""
        self.editor.lua(_CHOOSE, position)

    def asked(self, count: int = 1) -> list[dict[str, Any]]:
        self.editor.wait_for("#_G.asked >= select(1, ...)", count)
        return self.editor.lua("return _G.asked")

    def chat_shows(self, text: str) -> None:
        self.editor.wait_for(
            "table.concat(require('typstai').chat.lines(), '\\n'):find(..., 1, true)", text
        )

    @property
    def journal(self) -> Path:
        return self.session.data / "journal"
