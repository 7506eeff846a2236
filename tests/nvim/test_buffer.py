"""Reading buffers, opening files, and compare-and-apply, in a real Neovim."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from editor import Editor
from reviewing import Change


def dispatch(editor: Editor, name: str, args: dict[str, Any]) -> Any:
    return editor.lua("return require('typstai.rpc').dispatch(...)", name, args)


def snapshot(editor: Editor, bufnr: int) -> Any:
    return dispatch(editor, "buffer.snapshot", {"bufnr": bufnr})


def overlay(editor: Editor, root: Path) -> dict[str, str]:
    return dispatch(editor, "buffer.overlay", {"root": str(root)})["result"]


def apply(editor: Editor, bufnr: int, *changes: Change) -> Any:
    tables = [{"row0": row0, "old": old, "new": new} for row0, old, new in changes]
    return editor.lua(
        """
        local bufnr, changes = ...
        local made, err = require("typstai.text.apply").run(bufnr, changes)
        if not made then return err.code end
        local flags = {}
        for i in ipairs(changes) do flags[i] = made[i] or false end
        return flags
        """,
        bufnr,
        tables,
    )


def test_a_snapshot_of_a_hidden_buffer_is_its_unsaved_text(editor: Editor, tmp_path: Path) -> None:
    bufnr = editor.open(tmp_path / "a.typ", "one\n")
    editor.nvim.api.buf_set_lines(bufnr, 0, -1, True, ["unsaved é"])
    editor.open(tmp_path / "b.typ", "other\n")
    taken = snapshot(editor, bufnr)["result"]
    assert (taken["text"], taken["path"]) == ("unsaved é", str(tmp_path / "a.typ"))


def test_a_snapshot_loads_a_buffer_that_is_not_loaded(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.typ"
    path.write_text("one\ntwo\n", encoding="utf-8")
    bufnr = editor.nvim.funcs.bufadd(str(path))
    assert snapshot(editor, bufnr)["result"]["text"] == "one\ntwo"


@pytest.mark.parametrize("option", ["readonly", "nomodifiable"])
def test_a_snapshot_says_when_the_buffer_is_locked(
    editor: Editor, tmp_path: Path, option: str
) -> None:
    bufnr = editor.open(tmp_path / "a.typ", "one\n")
    assert snapshot(editor, bufnr)["result"]["modifiable"] is True
    editor.nvim.command(f"setlocal {option}")
    assert snapshot(editor, bufnr)["result"]["modifiable"] is False


@pytest.mark.parametrize(
    "data", [b"caf\xe9 latin", b"\xed\xa0\x80 surrogate", b"\xc0\xaf overlong", b"nul \x00 byte"]
)
def test_text_that_is_not_utf8_is_refused(editor: Editor, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.typ"
    path.write_bytes("日本語 e\u0301 🙂 ok\n".encode() + data + b"\n")
    editor.nvim.command(f"edit ++enc=utf-8 ++bad=keep {path}")
    bufnr = editor.nvim.api.get_current_buf().number
    assert snapshot(editor, bufnr)["error"]["code"] == "invalid_utf8"


def test_every_kind_of_valid_unicode_passes(editor: Editor) -> None:
    lines = ["é ߿", "ࠀ ퟿ \ue000 \uffff", "𐀀 \U0010ffff", "e\u0301 👩‍👩‍👧 \u2028 \x85"]
    editor.nvim.api.buf_set_lines(0, 0, -1, True, lines)
    assert snapshot(editor, 1)["result"]["text"] == "\n".join(lines)


def test_utf8_is_judged_and_counted_as_python_does(editor: Editor) -> None:
    choice = random.Random(7)
    edges = bytes.fromhex("41 7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 ff")
    samples = [bytes(choice.choices(edges, k=choice.randint(1, 5))) for _ in range(20_000)]
    counts = editor.lua(
        """
        return vim.tbl_map(function(line)
          return require("typstai.text.utf8").characters({ line }) or 0
        end, ...)
        """,
        samples,
    )
    assert counts == [_characters_and_line_break(sample) for sample in samples]


def _characters_and_line_break(line: bytes) -> int:
    try:
        return len(line.decode()) + 1
    except UnicodeDecodeError:
        return 0


def test_the_limit_counts_characters_and_not_bytes(editor: Editor) -> None:
    editor.nvim.api.buf_set_lines(0, 0, -1, True, ["日" * 999_999])
    assert "result" in snapshot(editor, 1)
    editor.nvim.api.buf_set_lines(0, 0, -1, True, ["日" * 1_000_000])
    assert snapshot(editor, 1)["error"]["code"] == "too_large"


@pytest.mark.parametrize(
    "data",
    [
        b"one\ntwo\n",
        b"one\r\ntwo\r\n",
        b"one\rtwo\r",
        b"\xef\xbb\xbfone\ntwo\n",
        b"one\ntwo",
    ],
)
def test_the_overlay_is_what_would_be_written(editor: Editor, tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.typ"
    path.write_bytes(data)
    editor.nvim.command("set fileformats=unix,dos,mac nofixendofline")
    editor.nvim.command(f"edit {path}")
    editor.nvim.command("set modified")
    text = overlay(editor, tmp_path)[str(path)]
    editor.nvim.command("write")
    assert text.encode() == path.read_bytes() == data


def test_a_missing_final_newline_is_mended_where_neovim_mends_it(
    editor: Editor, tmp_path: Path
) -> None:
    editor.open(tmp_path / "a.typ", "one")
    editor.nvim.command("set modified")
    assert overlay(editor, tmp_path) == {str(tmp_path / "a.typ"): "one\n"}


def test_the_overlay_holds_only_unsaved_documents_of_the_project(
    editor: Editor, tmp_path: Path
) -> None:
    editor.open(tmp_path / "project" / "saved.typ", "saved\n")
    for name in ("project/main.typ", "project-2/other.typ"):
        editor.open(tmp_path / name, "text\n")
        editor.nvim.command("normal! Achanged")
    editor.nvim.command("enew | normal! Anameless")
    texts = overlay(editor, tmp_path / "project")
    assert texts == {str(tmp_path / "project" / "main.typ"): "textchanged\n"}
    assert overlay(editor, tmp_path / "empty") == {}


def test_a_file_reached_through_a_link_belongs_to_the_project(
    editor: Editor, tmp_path: Path
) -> None:
    editor.open(tmp_path / "real" / "main.typ", "text\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    editor.nvim.command("set modified")
    assert overlay(editor, tmp_path / "link") == {str(tmp_path / "link" / "main.typ"): "text\n"}


def test_opening_shows_the_file_in_the_document_window_and_keeps_the_focus(
    editor: Editor, tmp_path: Path
) -> None:
    editor.open(tmp_path / "a.typ", "one\n")
    document = editor.nvim.api.get_current_win()
    editor.nvim.command("vnew | setlocal buftype=nofile filetype=typstai")
    chat = editor.nvim.api.get_current_win()
    (tmp_path / "b.typ").write_text("two\n", encoding="utf-8")
    bufnr = dispatch(editor, "buffer.open", {"path": str(tmp_path / "b.typ")})["result"]
    assert editor.nvim.api.get_current_win() == chat
    assert editor.nvim.api.win_get_buf(document).number == bufnr
    assert editor.nvim.funcs.buflisted(bufnr) == 1
    assert editor.lines(bufnr) == ["two"]


def test_opening_with_only_the_chat_on_screen_makes_a_window(
    editor: Editor, tmp_path: Path
) -> None:
    editor.nvim.command("setlocal buftype=nofile filetype=typstai")
    chat = editor.nvim.api.get_current_win()
    (tmp_path / "b.typ").write_text("two\n", encoding="utf-8")
    bufnr = dispatch(editor, "buffer.open", {"path": str(tmp_path / "b.typ")})["result"]
    assert editor.nvim.api.get_current_win() == chat
    assert editor.nvim.funcs.bufwinid(bufnr) > 0


def test_what_cannot_be_opened_says_why(editor: Editor, tmp_path: Path) -> None:
    missing = dispatch(editor, "buffer.open", {"path": str(tmp_path / "none.typ")})
    folder = dispatch(editor, "buffer.open", {"path": str(tmp_path)})
    assert missing["error"]["code"] == "not_found"
    assert folder["error"]["code"] == "unreadable"


def test_a_swap_file_left_behind_does_not_block(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.typ"
    editor.nvim.command(f"set swapfile updatecount=200 directory={tmp_path}/swap//")
    (tmp_path / "swap").mkdir()
    editor.open(path, "one\n")
    editor.nvim.command("normal! Achanged")
    editor.nvim.command("preserve")
    (swap,) = (tmp_path / "swap").glob("*.sw?")
    kept = swap.read_bytes()
    editor.nvim.command("bwipeout!")
    swap.write_bytes(kept.replace(editor.process.pid.to_bytes(4, "little"), b"\xff\xff\x00\x00"))
    opened = dispatch(editor, "buffer.open", {"path": str(path)})
    assert editor.lines(opened["result"]) == ["one"]
    assert snapshot(editor, opened["result"])["result"]["modifiable"] is False


def test_only_the_changed_words_are_touched(editor: Editor) -> None:
    editor.nvim.api.buf_set_lines(0, 0, -1, True, ["the quick brown fox jumps", "next"])
    namespace = editor.nvim.api.create_namespace("test")
    mark = editor.nvim.api.buf_set_extmark(0, namespace, 0, 16, {})
    editor.nvim.api.win_set_cursor(0, [1, 20])
    assert apply(editor, 0, (0, ["the quick brown fox jumps"], ["the slow fox jumps"])) == [True]
    assert editor.lines() == ["the slow fox jumps", "next"]
    at = editor.nvim.api.buf_get_extmark_by_id(0, namespace, mark, {})
    assert editor.lines()[0][at[1] :] == "fox jumps"
    row, column = editor.nvim.api.win_get_cursor(0)
    assert (row, editor.lines()[0][column:]) == (1, "jumps")


def test_the_cursor_marks_folds_and_other_windows_stay_at_their_text(editor: Editor) -> None:
    lines = [f"line {number}" for number in range(40)]
    editor.nvim.api.buf_set_lines(0, 0, -1, True, lines)
    editor.nvim.command("setlocal foldmethod=manual | 31,35fold | 30mark m | split | normal! 25G")
    other = editor.nvim.api.get_current_win()
    editor.nvim.command("wincmd p | normal! 38G")
    changes: list[Change] = [
        (2, [], ["a", "b", "c"]),
        (10, ["line 10"], []),
        (20, ["line 20"], ["x", "y"]),
    ]
    assert apply(editor, 0, *changes) == [True, True, True]
    current = editor.nvim.api.get_current_line()
    assert current == "line 37"
    row, _ = editor.nvim.api.win_get_cursor(other)
    assert editor.lines()[row - 1] == "line 24"
    marked, _ = editor.nvim.api.buf_get_mark(0, "m")
    assert editor.lines()[marked - 1] == "line 29"
    start = editor.nvim.funcs.foldclosed(34)
    assert editor.lines()[start - 1] == "line 30"


def test_an_edit_is_an_undo_step_of_its_own_also_in_insert_mode(editor: Editor) -> None:
    editor.nvim.api.buf_set_lines(0, 0, -1, True, ["one", "two", "three"])
    editor.feed("ggA typed")
    assert editor.nvim.api.get_mode()["mode"] == "i"
    assert apply(editor, 0, (1, ["two"], ["2"]), (2, ["three"], ["3"])) == [True, True]
    editor.feed(" more<Esc>")
    assert editor.lines() == ["one typed more", "2", "3"]
    editor.feed("u")
    assert editor.lines() == ["one typed", "2", "3"]
    editor.feed("u")
    assert editor.lines() == ["one typed", "two", "three"]
    editor.feed("u")
    assert editor.lines() == ["one", "two", "three"]


def test_an_edit_in_a_hidden_buffer_is_an_undo_step_of_its_own(
    editor: Editor, tmp_path: Path
) -> None:
    bufnr = editor.open(tmp_path / "a.typ", "one\ntwo\n")
    editor.feed("A typed<Esc>")
    editor.open(tmp_path / "b.typ", "other\n")
    assert apply(editor, bufnr, (1, ["two"], ["2", "3"])) == [True]
    assert editor.lines(bufnr) == ["one typed", "2", "3"]
    editor.nvim.command(f"buffer {bufnr} | undo")
    assert editor.lines() == ["one typed", "two"]


def test_undolevels_keep_their_value(editor: Editor) -> None:
    editor.nvim.api.buf_set_lines(0, 0, -1, True, ["one"])
    before = editor.lua("return { vim.o.undolevels, vim.bo.undolevels }")
    apply(editor, 0, (0, ["one"], ["1"]))
    assert editor.lua("return { vim.o.undolevels, vim.bo.undolevels }") == before


def test_what_does_not_stand_at_its_place_is_left_out(editor: Editor) -> None:
    editor.nvim.api.buf_set_lines(0, 0, -1, True, ["one", "two", "two"])
    changes: list[Change] = [
        (0, ["two"], ["x"]),
        (1, ["two"], ["2"]),
        (9, [], ["far"]),
        (2, ["two", ""], []),
    ]
    assert apply(editor, 0, *changes) == [False, True, False, False]
    assert editor.lines() == ["one", "2", "two"]


def test_of_two_overlapping_changes_the_upper_one_is_made(editor: Editor) -> None:
    editor.nvim.api.buf_set_lines(0, 0, -1, True, ["a", "b", "c"])
    changes = [(1, ["b", "c"], ["lower"]), (0, ["a", "b"], ["upper"])]
    assert apply(editor, 0, *changes) == [False, True]
    assert editor.lines() == ["upper", "c"]


def test_an_edit_that_fits_nowhere_makes_no_undo_step(editor: Editor) -> None:
    before = editor.nvim.funcs.undotree()["seq_last"]
    assert apply(editor, 0, (0, ["not there"], ["x"])) == [False]
    assert editor.nvim.funcs.undotree()["seq_last"] == before
    assert editor.lua("return vim.bo.modified") is False


@pytest.mark.parametrize("option", ["readonly", "nomodifiable"])
def test_a_locked_buffer_is_not_written(editor: Editor, option: str) -> None:
    editor.nvim.api.buf_set_lines(0, 0, -1, True, ["one"])
    editor.nvim.command(f"setlocal {option}")
    assert apply(editor, 0, (0, ["one"], ["1"])) == "not_modifiable"
    assert editor.lines() == ["one"]


@pytest.mark.parametrize("data", [b"one\r\ntwo\r\n", b"one\ntwo", b"\xef\xbb\xbfone\ntwo\n"])
def test_line_ends_final_newline_and_mark_survive_edits_at_both_ends(
    editor: Editor, tmp_path: Path, data: bytes
) -> None:
    path = tmp_path / "a.typ"
    path.write_bytes(data)
    editor.nvim.command(f"set nofixendofline | edit {path}")
    assert apply(editor, 0, (0, [], ["zero"]), (1, ["two"], ["2", "three"])) == [True, True]
    editor.nvim.command("write")
    ends = b"\r\n" if b"\r" in data else b"\n"
    wanted = data.replace(b"two", b"2" + ends + b"three").replace(b"one", b"zero" + ends + b"one")
    assert path.read_bytes() == wanted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("cafe\u0301 noir", "cafe noir"),
        ("naïve résumé", "naive resume"),
        ("日本語の文", "日本の文章"),
        ("👩‍👩‍👧 and 👩", "👩‍👧 and 👩‍👩‍👧"),
        ("tab\there", "tab\t\tthere"),
        ("\u0301lone accent", "lone accent\u0301"),
        ("", "new"),
        ("old", ""),
        ("   ", " x "),
    ],
)
def test_any_line_becomes_any_other_exactly(editor: Editor, old: str, new: str) -> None:
    editor.nvim.api.buf_set_lines(0, 0, -1, True, ["before", old, "after"])
    assert apply(editor, 0, (1, [old], [new])) == [True]
    assert editor.lines() == ["before", new, "after"]


def test_changed_words_never_split_a_character(editor: Editor) -> None:
    spans = editor.lua(
        "return (require('typstai.text.tokens').spans(...))",
        "the café is cafe\u0301 👩‍👩‍👧 ok",
        "the cafe\u0300 is cafe 👩‍👩‍👦 ok",
    )
    old = "the café is cafe\u0301 👩‍👩‍👧 ok".encode()
    pieces = [old[span["old_col"] : span["old_end"]].decode() for span in spans]
    assert pieces == ["café", "cafe\u0301 👩‍👩‍👧"]
