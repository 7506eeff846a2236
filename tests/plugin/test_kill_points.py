"""Neovim or its helper is killed at every step of an edit; then everything is started again."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from editor import BOUND_MS, start_editor
from endpoint import Endpoint, answer, tool_calls
from session import Session

TEXT = "= Report\n\nOne.\nTwo.\n"
BEFORE = TEXT.split("\n")[:-1]
AFTER = [*BEFORE[:3], "2."]
QUESTION = "Write 2."

_DIE = "vim.uv.kill(vim.uv.os_getpid(), 'sigkill')"
KILL_BEFORE_THE_RECORD = f"""
require("typstai.recovery.journal").put = function() {_DIE} end
"""
KILL_WITHIN_THE_RECORD = f"""
vim.uv.fs_rename = function() {_DIE} end
"""
KILL_BETWEEN_RECORD_AND_EDIT = f"""
local journal = require("typstai.recovery.journal")
local put = journal.put
journal.put = function(...) put(...) {_DIE} end
"""
KILL_AFTER_THE_EDIT = f"""
local apply = require("typstai.text.apply")
local run = apply.run
apply.run = function(...)
  run(...)
  {_DIE}
end
"""
KILL_AFTER_EDIT_AND_SAVE = f"""
local apply = require("typstai.text.apply")
local run = apply.run
apply.run = function(bufnr, ...)
  run(bufnr, ...)
  vim.api.nvim_buf_call(bufnr, vim.cmd.write)
  {_DIE}
end
"""
KILL_THE_HOST = """
local journal = require("typstai.recovery.journal")
local put = journal.put
journal.put = function(...)
  local err = put(...)
  vim.uv.kill(require("typstai.host").pid, "sigkill")
  return err
end
"""
_CALL = """
local group, method, argument = ...
_G.answered = nil
if argument == vim.NIL then argument = nil end
require("typstai")[group][method](argument, function(err, result)
  _G.answered = { err = err, result = result }
end)
"""


class Desk:
    """One user who starts Neovim again and again, with the same data and project."""

    def __init__(self, binary: str, folder: Path, endpoint: Endpoint) -> None:
        self._binary = binary
        self._folder = folder
        self._endpoint = endpoint
        self._stack = ExitStack()
        self.path = folder / "project" / "main.typ"
        self.path.parent.mkdir()
        self.path.write_text(TEXT, encoding="utf-8")
        self.start()

    def start(self) -> None:
        """Start Neovim, open the document and the chat."""
        self.editor = self._stack.enter_context(start_editor(self._binary))
        self.session = Session(self.editor, self._folder)
        self.session.use(self._endpoint, approval="auto")
        self.document = self.editor.open(self.path)

    def open_chat(self) -> str:
        """The chat of the project, as it is shown."""
        self.editor.lua("require('typstai').chat.open()")
        self.editor.wait_for("#require('typstai').chat.lines() > 0")
        return self.session.chat()

    def ask(self) -> None:
        """Send a message whose answer edits the document."""
        self._endpoint.reply(tool_calls(("search_replace", {"search": "Two.", "replace": "2."})))
        self._endpoint.reply(answer("Done."))
        self.session.send(QUESTION)

    def die(self, where: str) -> None:
        """Ask, and have Neovim killed at a step of the edit; then start it again."""
        self.editor.lua(where)
        self.ask()
        self.editor.process.wait(BOUND_MS / 1000)
        self.start()

    def call(self, group: str, method: str, argument: Any = None) -> Any:
        self.editor.lua(_CALL, group, method, argument)
        return self.editor.wait_for("_G.answered")

    def runs(self) -> list[Any]:
        return self.call("runs", "list")["result"]

    def lines(self) -> list[str]:
        return self.session.lines(self.document)

    def saved(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def journal(self) -> list[str]:
        folder = self._folder / "data" / "journal"
        return [path.suffix for path in folder.glob("*")]

    def lock(self) -> sqlite3.Connection:
        """Hold the database as another process that writes for long would."""
        path = self._folder / "data" / "chats.sqlite3"
        database = sqlite3.connect(path, isolation_level=None)
        database.execute("BEGIN IMMEDIATE")
        return database

    def close(self) -> None:
        self._stack.close()


@pytest.fixture
def desk(nvim_binary: str, tmp_path: Path, endpoint: Endpoint) -> Iterator[Desk]:
    opened = Desk(nvim_binary, tmp_path, endpoint)
    yield opened
    opened.close()


def test_a_kill_before_the_record_leaves_no_trace_but_the_interrupted_answer(desk: Desk) -> None:
    desk.die(KILL_BEFORE_THE_RECORD)
    chat = desk.open_chat()
    assert QUESTION in chat
    assert "ended during this answer" in chat
    assert "evert" not in chat
    assert desk.runs() == []
    assert desk.lines() == BEFORE


def test_a_kill_within_the_record_leaves_nothing_to_take_over(desk: Desk) -> None:
    desk.die(KILL_WITHIN_THE_RECORD)
    assert desk.journal() == [".part"]
    desk.open_chat()
    assert desk.runs() == []
    assert desk.lines() == BEFORE


@pytest.mark.parametrize(
    "where", [KILL_BETWEEN_RECORD_AND_EDIT, KILL_AFTER_THE_EDIT], ids=["before edit", "after edit"]
)
def test_a_kill_around_the_edit_leaves_the_file_and_the_text_before_it(
    desk: Desk, where: str
) -> None:
    desk.die(where)
    assert "ended during this answer" in desk.open_chat()
    (run,) = desk.runs()
    assert run["question"] == f"“{QUESTION}”"
    assert desk.journal() == []
    assert desk.saved() == TEXT
    refused = desk.call("runs", "revert", run["run"])["err"]
    assert refused["code"] == "no_change"
    assert desk.lines() == BEFORE


def test_a_saved_edit_can_be_reverted_after_a_kill_and_only_once(desk: Desk) -> None:
    desk.die(KILL_AFTER_EDIT_AND_SAVE)
    desk.open_chat()
    desk.editor.wait_for("table.concat(require('typstai').chat.lines()):find('Revert', 1, true)")
    assert desk.lines() == AFTER
    (run,) = desk.runs()
    assert desk.call("runs", "revert", run["run"])["result"] == {"reverted": [run["run"]]}
    assert desk.lines() == BEFORE
    assert desk.call("runs", "revert", run["run"])["err"]["code"] == "no_change"
    desk.editor.lua("vim.api.nvim_buf_call(..., vim.cmd.undo)", desk.document)
    assert desk.lines() == AFTER


def test_a_kill_in_the_middle_of_a_revert_loses_nothing_and_it_can_be_repeated(
    desk: Desk,
) -> None:
    desk.ask()
    assert desk.session.finished() == "complete"
    desk.session.write(desk.document)
    (run,) = desk.runs()
    desk.editor.lua(KILL_BETWEEN_RECORD_AND_EDIT)
    desk.editor.nvim.exec_lua(_CALL, "runs", "revert", run["run"], async_=True)
    desk.editor.process.wait(BOUND_MS / 1000)
    desk.start()
    assert desk.lines() == AFTER
    assert desk.call("runs", "revert", run["run"])["result"] == {"reverted": [run["run"]]}
    assert desk.lines() == BEFORE


def test_a_kill_in_the_middle_of_a_restore_keeps_the_text_before_it(desk: Desk) -> None:
    desk.ask()
    assert desk.session.finished() == "complete"
    desk.editor.wait_for("next(require('typstai').snapshots.list(...) or {})", desk.document)
    desk.editor.lua("vim.api.nvim_buf_set_lines(..., -1, -1, true, { 'Unsaved.' })", desk.document)
    (kept,) = desk.call("snapshots", "list", desk.document)["result"]
    desk.editor.lua(KILL_AFTER_THE_EDIT)
    desk.editor.nvim.exec_lua(_CALL, "snapshots", "restore", kept["id"], async_=True)
    desk.editor.process.wait(BOUND_MS / 1000)
    desk.start()
    assert desk.lines() == BEFORE
    newest = desk.call("snapshots", "list", desk.document)["result"][0]
    assert newest["kind"] == "before_restore"
    desk.call("snapshots", "restore", newest["id"])
    assert desk.lines() == [*AFTER, "Unsaved."]


def test_an_edit_during_which_the_host_is_killed_is_made_once_and_can_be_reverted(
    desk: Desk,
) -> None:
    desk.editor.lua(KILL_THE_HOST)
    desk.ask()
    desk.editor.seen("TypstAIHostLost")
    desk.editor.seen("TypstAIHostStarted", 2)
    assert desk.lines() == AFTER
    (run,) = desk.runs()
    assert (run["state"], desk.journal()) == ("available", [])
    assert desk.call("runs", "revert", run["run"])["result"] == {"reverted": [run["run"]]}
    assert desk.lines() == BEFORE


def test_a_host_killed_while_it_takes_records_over_leaves_them_for_the_next(desk: Desk) -> None:
    desk.ask()
    assert desk.session.finished() == "complete"
    desk.editor.wait_for("next(require('typstai').snapshots.list(...) or {})", desk.document)
    (run,) = desk.runs()
    database = desk.lock()
    desk.editor.lua(_CALL, "runs", "revert", run["run"])
    desk.editor.wait_for("vim.api.nvim_buf_get_lines(..., 3, 4, true)[1] == 'Two.'", desk.document)
    assert desk.journal() == [".record"]
    os.kill(desk.editor.lua("return require('typstai.host').pid"), signal.SIGKILL)
    desk.editor.seen("TypstAIHostLost")
    database.rollback()
    database.close()
    (run,) = desk.runs()
    assert (run["state"], desk.journal()) == ("reverted", [])
    assert desk.lines() == BEFORE
