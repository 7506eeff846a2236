"""Documents that are closed while changes of them are pending: nothing of them is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from editor import Editor
from reviewing import call, fill, propose, record_calls, states

TEXT = "one\ntwo\nthree\n"
_REFUSED = """
local method, args = ...
local _, err = require("typstai.proposals")[method](unpack(args))
return err and err.message
"""


@pytest.fixture(autouse=True)
def record(editor: Editor) -> None:
    record_calls(editor)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.typ"


def refusal(editor: Editor, method: str, *args: Any) -> str:
    return editor.lua(_REFUSED, method, list(args))


def close(editor: Editor, path: Path, command: str) -> int:
    """The document with two changes pending, closed by `command`; its buffer."""
    bufnr = editor.open(path, TEXT)
    propose(editor, (0, ["one"], ["1"]), (2, ["three"], ["3"]))
    editor.nvim.command(command)
    assert not editor.nvim.api.buf_is_loaded(bufnr)
    return bufnr


def is_shown(editor: Editor, bufnr: int) -> bool:
    return editor.lua("return vim.bo[...].buflisted and vim.fn.bufwinid(...) ~= -1", bufnr)


CLOSED = pytest.mark.parametrize("command", ["bdelete", "enew | bunload #", "enew | bdelete #"])


@CLOSED
def test_changes_of_a_closed_document_stay_pending_and_accepting_one_shows_it_again(
    editor: Editor, path: Path, command: str
) -> None:
    bufnr = close(editor, path, command)
    assert states(editor) == ["pending", "pending"]
    assert call(editor, "accept", "p1", {"hunk": "h2"}) == {"accepted": 1, "stale": 0}
    assert editor.lines(bufnr) == ["one", "two", "3"]
    assert is_shown(editor, bufnr)
    assert states(editor) == ["pending", "accepted"]
    editor.nvim.command(f"buffer {bufnr}")
    editor.feed(r"gg\a")
    assert editor.lines(bufnr) == ["1", "two", "3"]
    assert editor.messages().strip() == ""


@CLOSED
def test_a_closed_document_that_is_opened_again_has_its_review_and_its_keys(
    editor: Editor, path: Path, command: str
) -> None:
    bufnr = close(editor, path, command)
    editor.open(path)
    editor.feed(r"gg]c\a")
    assert editor.lines(bufnr) == ["one", "two", "3"]
    call(editor, "accept", "p1")
    assert editor.lines(bufnr) == ["1", "two", "3"]
    assert editor.nvim.funcs.maparg("]c", "n") == ""


def test_a_whole_call_and_everything_of_closed_documents_are_accepted(
    editor: Editor, tmp_path: Path
) -> None:
    first, second = (editor.open(tmp_path / name, TEXT) for name in ("a.typ", "b.typ"))
    propose(editor, (0, ["one"], ["1"]), bufnr=first, name="p1")
    propose(editor, (0, ["one"], ["1"]), (1, ["two"], ["2"]), bufnr=second, name="p2")
    editor.nvim.command(f"bdelete {first} {second}")
    assert call(editor, "accept_all") == {"accepted": 3, "stale": 0}
    assert (editor.lines(first)[0], editor.lines(second)[:2]) == ("1", ["1", "2"])


def test_unsaved_text_that_was_thrown_away_decides_nothing_and_the_file_does(
    editor: Editor, path: Path
) -> None:
    bufnr = editor.open(path, TEXT)
    editor.nvim.api.buf_set_lines(bufnr, 0, 1, True, ["zero", "first"])
    propose(editor, (1, ["first"], ["1"]), (3, ["three"], ["3"]))
    editor.nvim.command("bdelete!")
    assert states(editor) == ["stale", "pending"]
    assert refusal(editor, "accept", "p1", {"hunk": "h1"}) == (
        "These lines are no longer in a.typ: reject the change or ask again."
    )
    call(editor, "accept", "p1", {"hunk": "h2"})
    assert editor.lines(bufnr) == ["one", "two", "3"]


def test_lines_that_another_program_changed_meanwhile_are_said_to_be_gone(
    editor: Editor, path: Path
) -> None:
    bufnr = close(editor, path, "bdelete")
    path.write_text("zero\none\ntwo\nthird\n", encoding="utf-8")
    assert states(editor) == ["pending", "stale"]
    chat = "\n".join(line["text"] for line in call(editor, "diff_lines", "p1"))
    assert "no longer in the file" in chat
    assert "changed by you" not in chat
    assert refusal(editor, "accept", "p1", {"hunk": "h2"}) == (
        "These lines are no longer in a.typ: reject the change or ask again."
    )
    call(editor, "accept", "p1", {"hunk": "h1"})
    assert editor.lines(bufnr) == ["zero", "1", "two", "third"]


def test_the_hint_does_not_blame_the_writer_for_what_another_program_changed(
    editor: Editor, path: Path
) -> None:
    close(editor, path, "bdelete")
    path.write_text("one\ntwo\nthird\n", encoding="utf-8")
    editor.open(path)
    editor.feed("G")
    hint = editor.lua(
        """
        local ns = vim.api.nvim_get_namespaces()["typstai.hint"]
        return vim.inspect(vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true }))
        """
    )
    assert "no longer in the file" in hint
    assert "you changed" not in hint


def test_a_file_that_is_gone_is_said_and_its_changes_wait_for_it(
    editor: Editor, path: Path
) -> None:
    bufnr = close(editor, path, "bdelete")
    path.unlink()
    sentence = "The file a.typ is no longer there: reject the change or ask again."
    for method, *args in (
        ("accept", "p1", {"hunk": "h1"}), ("accept", "p1"), ("accept_all",), ("goto_first", "p1"),
        ("diff", "p1"),
    ):  # fmt: skip
        assert refusal(editor, method, *args) == sentence, method
    assert not editor.nvim.api.buf_is_loaded(bufnr)
    assert states(editor) == ["stale", "stale"]
    path.write_text(TEXT, encoding="utf-8")
    assert call(editor, "accept", "p1") == {"accepted": 2, "stale": 0}
    assert editor.lines(bufnr) == ["1", "two", "3"]


def test_one_file_that_is_gone_does_not_hold_up_the_others(editor: Editor, tmp_path: Path) -> None:
    first, second = (editor.open(tmp_path / name, TEXT) for name in ("a.typ", "b.typ"))
    propose(editor, (0, ["one"], ["1"]), bufnr=first, name="p1")
    propose(editor, (0, ["one"], ["1"]), bufnr=second, name="p2")
    editor.nvim.command(f"bdelete {first}")
    (tmp_path / "a.typ").unlink()
    assert refusal(editor, "accept_all").startswith("The file a.typ is no longer there")
    assert editor.lines(second)[0] == "1"
    assert [item["id"] for item in call(editor, "list")] == ["p1"]


def test_a_buffer_without_a_file_that_was_closed_says_so(editor: Editor) -> None:
    fill(editor, ["one"])
    propose(editor, (0, ["one"], ["1"]))
    editor.nvim.command("new | bdelete! 1")
    assert states(editor) == ["stale"]
    assert refusal(editor, "accept", "p1") == (
        "This buffer was closed without being saved: reject the change or ask again."
    )
    assert call(editor, "reject", "p1") == {"rejected": 1}


@pytest.mark.parametrize(
    "data",
    [
        b"one\r\nzwei\r\nthree\r\n",
        b"\xef\xbb\xbfone\nzwei\nthree",
        "one\nzwei\nthrée\n".encode("latin-1"),
        b"one\nnu\0l\nthree\n",
    ],
)
def test_a_closed_file_is_read_as_neovim_reads_it(editor: Editor, path: Path, data: bytes) -> None:
    path.write_bytes(data)
    bufnr = editor.open(path)
    lines = editor.lines(bufnr)
    changes = [(row, [line], [str(row)]) for row, line in enumerate(lines) if "\0" not in line]
    propose(editor, *changes)
    editor.nvim.command("bdelete")
    assert set(states(editor)) == {"pending"}
    assert call(editor, "accept", "p1") == {"accepted": len(changes), "stale": 0}


def test_a_wiped_document_takes_its_changes_with_it_and_says_so(editor: Editor, path: Path) -> None:
    bufnr = editor.open(path, TEXT)
    propose(editor, (0, ["one"], ["1"]), (2, ["three"], ["3"]))
    editor.nvim.command(f"bwipeout {bufnr}")
    assert call(editor, "list") == []
    sentence = "a.typ was wiped out, and 2 proposed changes with it: ask again."
    editor.wait_for("vim.fn.execute('messages'):find(..., 1, true)", sentence)
    assert refusal(editor, "accept", "p1") == sentence


def test_a_change_that_comes_for_a_closed_document_shows_it_when_accepted(
    editor: Editor, path: Path
) -> None:
    bufnr = editor.open(path, TEXT)
    editor.nvim.command("bdelete")
    propose(editor, (0, ["one"], ["1"]), bufnr=bufnr)
    assert call(editor, "accept", "p1") == {"accepted": 1, "stale": 0}
    assert editor.lines(bufnr)[0] == "1"
    assert is_shown(editor, bufnr)
