"""What waits for the user in the chat, as it looks on a real terminal."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from editor import ROOT
from reviewing import proposal
from terminal import Terminal

LINES = [f"This is line {number} of the document." for number in range(40)]
TEXT = "\n".join(LINES) + "\n"
ANSWER = "\n\n".join(f"Paragraph {number} of a long answer." for number in range(12))
_START = """
require("typstai.rpc").call = function() end
require("typstai").setup({ ui = { width = %d } })
local turns = vim.json.decode([==[%s]==])
require("typstai.chat").load({ id = "c1", project = "/p", title = "", turns = turns })
function _G.wait_for_user()
  require("typstai.proposals").propose(vim.json.decode([==[%s]==]))
  local event = vim.json.decode([==[%s]==])
  require("typstai.rpc").dispatch("chat.event", { chat = "c1", event = event })
end
"""


def _tool(**fields: Any) -> dict[str, Any]:
    return {
        "kind": "tool", "round": 0, "id": "k1", "name": "patch_document",
        "label": "main.typ 1 hunk", **fields,
    }  # fmt: skip


@contextmanager
def chat(
    binary: str, folder: Path, *, columns: int, width: int, lines: int = 24
) -> Generator[Terminal]:
    """A document, and beside it a chat whose answer is being written."""
    path, script = folder / "main.typ", folder / "start.lua"
    path.write_text(TEXT, encoding="utf-8")
    said = {"kind": "text", "round": 0, "text": ANSWER}
    turns = [
        {"role": "user", "id": "u1", "text": "Change it.", "file": "main.typ"},
        {"role": "assistant", "id": "r1", "model": "m", "status": "running",
         "segments": [said, _tool(state="running")]},
    ]  # fmt: skip
    change = proposal((30, [LINES[30]], ["Something else."]))
    event = {
        "kind": "segment", "id": "r1", "index": 2, "segment": _tool(state="waiting", proposal="p1"),
    }  # fmt: skip
    data = (json.dumps(item) for item in (turns, change, event))
    script.write_text(_START % (width, *data), encoding="utf-8")
    argv = [
        binary, "--clean", "-n", "-i", "NONE", "--cmd", f"set runtimepath^={ROOT}",
        str(path), "-c", f"luafile {script}",
    ]  # fmt: skip
    with Terminal(argv, columns=columns, lines=lines) as terminal:
        terminal.wait_for("patch_document")
        yield terminal


@pytest.mark.parametrize("keys", ["", "\x1b", "\x1b\x17p", "\x1b4k"])
@pytest.mark.parametrize("width", [60, 33])
def test_how_to_decide_is_in_view_as_soon_as_something_waits(
    nvim_binary: str, tmp_path: Path, width: int, keys: str
) -> None:
    with chat(nvim_binary, tmp_path, columns=width + 50, width=width) as terminal:
        terminal.send(keys)
        terminal.send("\x1b:lua wait_for_user()\r")
        for words in ("1 hunk in main.typ:31", "]c next", r"\a accept", r"\r reject"):
            terminal.wait_for(words, seconds=5)
