"""Somebody who types in a Typst document in which ghost text is on."""

from __future__ import annotations

from typing import Any

from endpoint import Endpoint
from session import Session

_DRAWN = """
local ns = vim.api.nvim_get_namespaces()["typstai.ghost.view"]
local mark = ns and vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true })[1]
if not mark then return vim.NIL end
local function text(chunks)
  return table.concat(vim.tbl_map(function(chunk) return chunk[1] end, chunks))
end
local lines = { text(mark[4].virt_text) }
for _, line in ipairs(mark[4].virt_lines or {}) do table.insert(lines, text(line)) end
return { mark[2], mark[3], lines }
"""
_SETTLE = """
_G.settled = false
local timer = vim.uv.new_timer()
timer:start(0, 0, vim.schedule_wrap(function()
  timer:close()
  vim.schedule(function() _G.settled = true end)
end))
"""


class Writer:
    """Types keys, and sees what is shown."""

    def __init__(self, session: Session, endpoint: Endpoint) -> None:
        self.session = session
        self.editor = session.editor
        self.endpoint = endpoint
        self.editor.record("TypstAIGhostChanged")
        self._changes = 0

    def use(self, **options: Any) -> None:
        """Set the plugin up: ghost text everywhere, without a pause before it is asked for."""
        chosen = {"enabled": True, "model": "test", "debounce": 0, **options}
        self.session.use(self.endpoint, autocomplete=chosen)

    def open(self, text: str = "\n", name: str = "main.typ") -> int:
        bufnr = self.session.document(text, name)
        self.editor.lua("vim.bo.filetype = 'typst'")
        return bufnr

    def type(self, keys: str) -> None:
        self.editor.feed(keys)

    def call(self, function: str, *args: Any) -> Any:
        """Call `require("typstai").ghost.FUNCTION`."""
        return self.editor.lua(
            "return require('typstai').ghost[select(1, ...)](select(2, ...))", function, *args
        )

    def next_change(self) -> str:
        """The text that is shown after the next change; empty when it went."""
        self._changes += 1
        return self.editor.seen("TypstAIGhostChanged", self._changes)[self._changes - 1]["text"]

    def wait_shown(self, text: str) -> None:
        """Wait until exactly that is shown."""
        while self.next_change() != text:
            pass

    def settle(self) -> None:
        """Wait until whatever the keys so far set off has begun."""
        self.editor.lua(_SETTLE)
        self.editor.wait_for("_G.settled")

    def drawn(self) -> Any:
        """Row, byte column and lines of what is drawn; None when nothing is."""
        return self.editor.lua(_DRAWN)

    def visible(self) -> bool:
        return self.call("visible")

    def lines(self) -> list[str]:
        return self.editor.lines()

    def cursor(self) -> list[int]:
        """Line from 1 and byte column from 0."""
        return self.editor.lua("return vim.api.nvim_win_get_cursor(0)")

    def why(self) -> str:
        """Why nothing came."""
        return self.editor.lua("return require('typstai').status().ghost")

    def wait_why(self, reason: str) -> None:
        self.editor.wait_for("require('typstai').status().ghost == ...", reason)
