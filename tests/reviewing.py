"""What the tests of proposals and of their review share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from editor import Editor

Change = tuple[int, list[str], list[str]]
Part = tuple[int, int, str, str]
"""Row, byte column, old and new of a part of a line."""

_RECORD = """
_G.told = {}
require("typstai.rpc").call = function(method, params)
  table.insert(_G.told, { method = method, params = params })
end
"""
_FILL = """
vim.bo.undolevels = -1
vim.api.nvim_buf_set_lines(0, 0, -1, true, ...)
vim.bo.undolevels = 1000
vim.bo.modified = false
"""
_CALL = """
local method, args = ...
for i, arg in ipairs(args) do
  if arg == vim.NIL then args[i] = nil end
end
local result, err = require("typstai.proposals")[method](unpack(args, 1, 3))
return err and err.code or result
"""


def record_calls(editor: Editor) -> None:
    """Keep what Lua tells Python in place of sending it."""
    editor.lua(_RECORD)


def told(editor: Editor) -> list[Any]:
    """What Python would have been told."""
    return editor.lua("return _G.told")


def fill(editor: Editor, lines: Sequence[str]) -> None:
    """Text in the current buffer, as if it had been read from a file."""
    editor.lua(_FILL, list(lines))


def proposal(
    *changes: Change | Part,
    name: str = "p1",
    chat: str = "c1",
    bufnr: int = 1,
    verdict: str = "",
) -> dict[str, Any]:
    """A `typstai.Proposal` with these hunks, `h1` from the first."""
    hunks = [
        {"id": f"h{i}", "state": "pending", "reason": "", **_lines_of(change)}
        for i, change in enumerate(changes, start=1)
    ]
    return {
        "id": name, "bufnr": bufnr, "path": "main.typ", "chat": chat, "run": "r1", "call": "k1",
        "source": "patch_document", "verdict": verdict, "hunks": hunks,
    }  # fmt: skip


def _lines_of(change: Change | Part) -> dict[str, Any]:
    match change:
        case (row0, old, new):
            return {"row0": row0, "old": old, "new": new}
        case (row0, byte_col, old, new):
            return {"row0": row0, "byte_col": byte_col, "old": [old], "new": [new]}


def propose(
    editor: Editor,
    *changes: Change | Part,
    name: str = "p1",
    chat: str = "c1",
    bufnr: int = 0,
    verdict: str = "",
) -> Any:
    """Neovim's answer to a proposal on the current buffer, or another one."""
    number = bufnr or editor.nvim.api.get_current_buf().number
    args = proposal(*changes, name=name, chat=chat, bufnr=number, verdict=verdict)
    return editor.lua("return require('typstai.rpc').dispatch('proposals.propose', ...)", args)


def call(editor: Editor, method: str, *args: Any) -> Any:
    """Result of a function of the proposals' API; its error's code when it refuses."""
    return editor.lua(_CALL, method, list(args))


def states(editor: Editor) -> list[str]:
    """States of all hunks of undecided proposals."""
    return [hunk["state"] for item in call(editor, "list") for hunk in item["hunks"]]
