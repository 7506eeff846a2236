"""What Neovim records before it writes, without its helper: by proposals on a real buffer."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from editor import Editor
from reviewing import Change, call, fill, proposal, propose, record_calls, states
from typstai.domain.checkpoint import text_hash

LINES = ["one", "two", "three", "four"]
MIB = 1024 * 1024


@pytest.fixture
def folder(editor: Editor, tmp_path: Path) -> Path:
    """Where the records are written, with the door to Python shut."""
    editor.lua("vim.g.typstai_data = ...", str(tmp_path / "data"))
    record_calls(editor)
    return tmp_path / "data" / "journal"


def records(folder: Path) -> list[tuple[dict[str, Any], bytes]]:
    """Header and text of every record, in their order."""
    parts = [path.read_bytes().partition(b"\n") for path in sorted(folder.glob("*.record"))]
    return [(json.loads(line), body) for line, _, body in parts]


def hashed(lines: list[str]) -> str:
    return hashlib.sha256(f"{len(lines)}\n{chr(10).join(lines)}".encode()).hexdigest()


@pytest.mark.parametrize(
    ("lines", "changes"),
    [
        (LINES, [(1, ["two"], ["2"])]),
        (LINES, [(0, ["one"], ["1"]), (3, ["four"], ["4", "and more"])]),
        (LINES, [(0, [], ["zero"]), (0, ["one"], ["1"])]),
        (LINES, [(4, [], ["five", "six"])]),
        (LINES, [(0, LINES, [])]),
        (LINES, [(1, ["two"], []), (2, ["three"], [])]),
        ([""], [(0, [""], ["日本 e\u0301 🎉"])]),
        ([""], [(0, [], ["new"])]),
    ],
)
def test_a_record_says_what_the_text_was_and_what_it_became(
    editor: Editor, folder: Path, lines: list[str], changes: list[Change]
) -> None:
    fill(editor, lines)
    propose(editor, *changes)
    call(editor, "accept", "p1")
    ((header, body),) = records(folder)
    assert body.decode() == "\n".join(lines)
    assert header["after"] == hashed(editor.lines())
    assert (header["kind"], header["chat"], header["run"]) == ("edit", "c1", "r1")
    assert editor.lines() != lines


def test_only_the_first_record_of_a_run_holds_the_text(editor: Editor, folder: Path) -> None:
    fill(editor, LINES)
    propose(editor, (0, ["one"], ["1"]), (2, ["three"], ["3"]))
    call(editor, "accept", "p1", {"hunk": "h1"})
    between = editor.lines()
    call(editor, "accept", "p1", {"hunk": "h2"})
    (_, first), (then, second) = records(folder)
    assert (first.decode(), second) == ("\n".join(LINES), b"")
    assert (then["before"], then["after"]) == (hashed(between), hashed(editor.lines()))


def test_typing_between_two_records_shows_in_their_hashes(editor: Editor, folder: Path) -> None:
    fill(editor, LINES)
    propose(editor, (0, ["one"], ["1"]), (2, ["three"], ["3"]))
    call(editor, "accept", "p1", {"hunk": "h1"})
    editor.feed("Gomine<Esc>")
    typed = editor.lines()
    call(editor, "accept", "p1", {"hunk": "h2"})
    (first, _), (then, _) = records(folder)
    assert then["before"] == hashed(typed) != first["after"]


def test_runs_accepted_together_are_written_and_undone_apart(editor: Editor, folder: Path) -> None:
    fill(editor, LINES)
    bufnr = editor.nvim.api.get_current_buf().number
    for name, change in (("r1", (0, ["one"], ["1"])), ("r2", (2, ["three"], ["3"]))):
        args = {**proposal(change, name=name, chat=name, bufnr=bufnr), "run": name}
        editor.lua("require('typstai.rpc').dispatch('proposals.propose', ...)", args)
    assert call(editor, "accept_all") == {"accepted": 2, "stale": 0}
    (first, _), (then, body) = records(folder)
    assert (first["run"], then["run"]) == ("r1", "r2")
    assert body.decode() == "1\ntwo\nthree\nfour"
    editor.feed("u")
    assert editor.lines() == ["1", "two", "three", "four"]


def test_a_text_that_cannot_be_kept_is_not_edited(editor: Editor, folder: Path) -> None:
    fill(editor, ["one", "x" * (4 * MIB)])
    propose(editor, (0, ["one"], ["1"]))
    assert call(editor, "accept", "p1") == "not_stored"
    assert editor.lines()[0] == "one"
    assert states(editor) == ["pending"]
    assert records(folder) == []


def test_text_of_no_run_is_not_recorded(editor: Editor, folder: Path) -> None:
    fill(editor, LINES)
    propose(editor, (0, ["one"], ["1"]), chat="")
    call(editor, "accept", "p1")
    assert editor.lines()[0] == "1"
    assert records(folder) == []


def test_a_nul_in_the_text_is_kept(editor: Editor, folder: Path) -> None:
    fill(editor, ["one", "a\0b"])
    propose(editor, (0, ["one"], ["1"]))
    call(editor, "accept", "p1")
    ((header, body),) = records(folder)
    assert body == b"one\na\0b"
    assert header["after"] == text_hash(b"1\na\0b") != text_hash(b"1\na\nb")
    lines = editor.lua("return require('typstai.recovery.journal').lines(...)", body)
    assert lines == ["one", "a\0b"]
