"""Proposals while the writer, plugins and other programs go on with the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from editor import Editor
from reviewing import Change, call, fill, propose, record_calls, states, told

TEXT = ["one", "two", "three", "four", "five"]


@pytest.fixture(autouse=True)
def without_a_host(editor: Editor) -> None:
    record_calls(editor)


Story = tuple[str, list[str], list[str]]
STORIES: list[Story] = [
    ("ggOabove<Esc>", ["pending"], ["above", "one", "two", "THREE", "four", "five"]),
    ("3GOjust above<Esc>", ["pending"], ["one", "two", "just above", "THREE", "four", "five"]),
    ("3Gojust below<Esc>", ["pending"], ["one", "two", "THREE", "just below", "four", "five"]),
    ("GAbelow<Esc>", ["pending"], ["one", "two", "THREE", "four", "fivebelow"]),
    ("3GAinside<Esc>", ["stale"], ["one", "two", "threeinside", "four", "five"]),
    ("2GJ", ["stale"], ["one", "two three", "four", "five"]),
    ("3GJ", ["stale"], ["one", "two", "three four", "five"]),
    ("ggJ", ["pending"], ["one two", "THREE", "four", "five"]),
    ("3Gfra<CR><Esc>", ["stale"], ["one", "two", "thr", "ee", "four", "five"]),
    ("2Gfwa<CR><Esc>", ["pending"], ["one", "tw", "o", "THREE", "four", "five"]),
    ("3GI<CR><Esc>", ["pending"], ["one", "two", "", "THREE", "four", "five"]),
    ("3GA<CR><Esc>", ["pending"], ["one", "two", "THREE", "", "four", "five"]),
    ("2Gdd", ["pending"], ["one", "THREE", "four", "five"]),
    ("3Gdd", ["stale"], ["one", "two", "four", "five"]),
    ("ggdG", ["stale"], [""]),
    (":3move 0<CR>", ["pending"], ["THREE", "one", "two", "four", "five"]),
    (":1move 3<CR>", ["pending"], ["two", "THREE", "one", "four", "five"]),
    (":sort<CR>", ["pending"], ["five", "four", "one", "THREE", "two"]),
    (":%s/o/0/<CR>", ["pending"], ["0ne", "tw0", "THREE", "f0ur", "five"]),
    (":%s/t/T/<CR>", ["stale"], ["one", "Two", "Three", "four", "five"]),
    (":g/^t/move 0<CR>", ["pending"], ["THREE", "two", "one", "four", "five"]),
    ("ggyyP", ["pending"], ["one", "one", "two", "THREE", "four", "five"]),
    ("3Gyyp", ["pending"], ["one", "two", "THREE", "three", "four", "five"]),
    ("ggyy3GpkkP", ["pending"], ["one", "one", "two", "THREE", "one", "four", "five"]),
    (":%!cat<CR>", ["pending"], ["one", "two", "THREE", "four", "five"]),
    (":%!cat -n<CR>", ["stale"], [f"     {n}\t{word}" for n, word in enumerate(TEXT, 1)]),
    (":%!sed 1i\\new<CR>", ["pending"], ["new", "one", "two", "THREE", "four", "five"]),
    (">G", ["stale"], [f"\t{word}" for word in TEXT]),
    ("ggguG", ["pending"], ["one", "two", "THREE", "four", "five"]),
    (":2,3fold<CR>zcggdj", ["stale"], ["four", "five"]),
]


@pytest.mark.parametrize(("keys", "state", "wanted"), STORIES, ids=[story[0] for story in STORIES])
def test_whatever_the_writer_does_stays_and_the_change_lands_where_it_fits(
    editor: Editor, keys: str, state: list[str], wanted: list[str]
) -> None:
    fill(editor, TEXT)
    propose(editor, (2, ["three"], ["THREE"]))
    editor.feed(keys)
    before = editor.lines()
    assert states(editor) == state
    call(editor, "accept", "p1")
    assert editor.lines() == wanted
    if state == ["pending"]:
        editor.feed("u")
    assert editor.lines() == before


@pytest.mark.parametrize("keys", [story[0] for story in STORIES])
def test_undoing_what_the_writer_did_makes_the_change_fit_again_and_redo_as_before(
    editor: Editor, keys: str
) -> None:
    fill(editor, TEXT)
    propose(editor, (2, ["three"], ["THREE"]))
    editor.feed(keys)
    after, state = editor.lines(), states(editor)
    steps = editor.nvim.funcs.undotree()["seq_cur"]
    editor.feed("u" * steps)
    assert editor.lines() == TEXT
    assert states(editor) == ["pending"]
    editor.feed("<C-r>" * steps)
    assert (editor.lines(), states(editor)) == (after, state)
    editor.feed("u" * steps)
    call(editor, "accept", "p1")
    assert editor.lines() == ["one", "two", "THREE", "four", "five"]


def test_undo_and_redo_of_what_was_written_before_the_proposal(editor: Editor) -> None:
    fill(editor, ["one"])
    editor.feed("otwo, unlike all others<CR>three<Esc>")
    propose(editor, (1, ["two, unlike all others"], ["2"]))
    editor.feed("u")
    assert states(editor) == ["stale"]
    editor.feed("<C-r>")
    assert states(editor) == ["pending"]
    call(editor, "accept", "p1")
    assert editor.lines() == ["one", "2", "three"]


def test_accepting_is_undone_and_redone_across_typing(editor: Editor) -> None:
    fill(editor, TEXT)
    propose(editor, (0, ["one"], ["1"]), (4, ["five"], ["5"]))
    editor.feed("2GA!<Esc>")
    call(editor, "accept", "p1")
    editor.feed("4GA?<Esc>")
    editor.feed("uuu")
    assert editor.lines() == TEXT
    editor.feed("<C-r><C-r><C-r>")
    assert editor.lines() == ["1", "two!", "three", "four?", "5"]


def test_a_formatter_on_save_and_an_autosave_plugin_accept_nothing(
    editor: Editor, tmp_path: Path
) -> None:
    path = tmp_path / "a.typ"
    editor.open(path, "one  \ntwo\nthree\n")
    editor.nvim.command("autocmd BufWritePre <buffer> silent %!sed 's/ *$//'")
    editor.nvim.command("autocmd TextChanged,InsertLeave <buffer> ++nested silent update")
    propose(editor, (1, ["two"], ["2"]))
    editor.feed("GA more<Esc>")
    editor.nvim.command("doautocmd TextChanged | doautocmd CursorHold")
    assert path.read_text(encoding="utf-8") == "one\ntwo\nthree more\n"
    assert states(editor) == ["pending"]
    assert told(editor) == []
    call(editor, "accept", "p1")
    editor.nvim.command("doautocmd TextChanged")
    assert path.read_text(encoding="utf-8") == "one\n2\nthree more\n"


def test_a_formatter_that_changes_the_accepted_text_leaves_the_other_hunks_pending(
    editor: Editor, tmp_path: Path
) -> None:
    editor.open(tmp_path / "a.typ", "one\ntwo\nthree\n")
    editor.nvim.command(r"autocmd BufWritePre <buffer> silent %s/\s\+$//e")
    propose(editor, (0, ["one"], ["1  "]), (2, ["three"], ["3"]))
    call(editor, "accept", "p1", {"hunk": "h1"})
    editor.nvim.command("silent write")
    call(editor, "accept", "p1")
    assert editor.lines() == ["1", "two", "3"]


def test_a_file_changed_by_another_program_is_read_again_and_the_text_decides(
    editor: Editor, tmp_path: Path
) -> None:
    path = tmp_path / "a.typ"
    editor.open(path, "one\ntwo\nthree\n")
    propose(editor, (1, ["two"], ["2"]), (2, ["three"], ["3"]))
    path.write_text("zero\none\ntwo\nTHREE\n", encoding="utf-8")
    editor.nvim.command("set autoread | checktime")
    editor.wait_for("vim.api.nvim_buf_line_count(0) == 4")
    assert states(editor) == ["pending", "stale"]
    call(editor, "accept", "p1")
    assert editor.lines() == ["zero", "one", "2", "THREE"]


REREAD: list[tuple[Change, list[str], str, list[str]]] = [
    (
        (2, [], ["new"]),
        ["a", "b", "c", "d"],
        "zero\na\nb\nc\nd\n",
        ["zero", "a", "b", "new", "c", "d"],
    ),
    ((2, [], ["new"]), ["a", "b", "c", "d"], "a\nb\nX\nd\n", ["a", "b", "X", "d"]),
    ((0, [], ["new"]), ["a", "b"], "a\nb\nc\n", ["new", "a", "b", "c"]),
    ((1, [""], ["x"]), ["a", "", "b", ""], "zero\na\n\nb\n\n", ["zero", "a", "x", "b", ""]),
    ((1, [""], ["x"]), ["a", "", "", "b"], "a\n\nb\n", ["a", "", "b"]),
    ((1, ["s"], ["x"]), ["s", "s", "s"], "s\ns\ns\n", ["s", "x", "s"]),
    ((1, ["s"], ["x"]), ["s", "s", "s"], "s\ns\ns\ns\n", ["s", "s", "s", "s"]),
    ((1, ["s", "t"], ["x"]), ["q", "s", "t", "s"], "s\nq\ns\nt\n", ["s", "q", "x"]),
]


@pytest.mark.parametrize(("change", "before", "data", "wanted"), REREAD)
def test_in_a_file_that_was_read_again_a_change_lands_where_it_belongs_or_nowhere(
    editor: Editor,
    tmp_path: Path,
    change: Change,
    before: list[str],
    data: str,
    wanted: list[str],
) -> None:
    path = tmp_path / "a.typ"
    editor.open(path, "".join(f"{line}\n" for line in before))
    propose(editor, change)
    path.write_text(data, encoding="utf-8")
    editor.nvim.command("edit!")
    call(editor, "accept", "p1")
    assert editor.lines() == wanted


@pytest.mark.parametrize("change", [(2, [], ["new"]), (3, ["same"], ["new"])])
def test_after_the_whole_buffer_was_written_anew_nothing_lands_at_a_guessed_place(
    editor: Editor, change: Change
) -> None:
    lines = ["a", "b", "c", "same", "same"]
    fill(editor, lines)
    propose(editor, change)
    editor.nvim.api.buf_set_lines(0, 0, -1, True, ["gone"])
    editor.nvim.api.buf_set_lines(0, 0, -1, True, ["new", *lines])
    assert states(editor) == ["stale"]
    call(editor, "accept", "p1")
    assert editor.lines() == ["new", *lines]


def test_an_unloaded_buffer_shows_its_proposals_again_when_it_is_opened(
    editor: Editor, tmp_path: Path
) -> None:
    path = tmp_path / "a.typ"
    editor.open(path, "one\ntwo\nthree\n")
    propose(editor, (1, ["two"], ["2"]))
    editor.nvim.command(f"set nohidden | edit {tmp_path / 'b.typ'} | bunload a.typ")
    path.write_text("zero\none\ntwo\nthree\n", encoding="utf-8")
    editor.nvim.command(f"edit {path}")
    assert states(editor) == ["pending"]
    editor.feed("gg]c")
    assert editor.nvim.api.get_current_line() == "two"
    editor.feed(r"\a")
    assert editor.lines() == ["zero", "one", "2", "three"]


FILES = [
    b"one\r\ntwo\r\nthree\r\n",
    b"one\ntwo\nthree",
    b"\xef\xbb\xbfone\ntwo\nthree\n",
    b"\xef\xbb\xbfone\r\ntwo\r\nthree",
    b"one\rtwo\rthree\r",
]
CHANGES: list[tuple[list[Change], list[bytes]]] = [
    ([(1, ["two"], ["2", "2b"])], [b"one", b"2", b"2b", b"three"]),
    ([(0, ["one"], ["1"]), (2, ["three"], ["3", "4"])], [b"1", b"two", b"3", b"4"]),
    ([(0, [], ["0"]), (3, [], ["4"])], [b"0", b"one", b"two", b"three", b"4"]),
    ([(2, ["three"], [])], [b"one", b"two"]),
    ([(0, ["one", "two"], [])], [b"three"]),
]


@pytest.mark.parametrize("data", FILES)
@pytest.mark.parametrize(("changes", "wanted"), CHANGES)
def test_line_ends_byte_order_mark_and_final_newline_survive_accepting(
    editor: Editor, tmp_path: Path, data: bytes, changes: list[Change], wanted: list[bytes]
) -> None:
    path = tmp_path / "a.typ"
    path.write_bytes(data)
    editor.nvim.command("set nofixendofline fileformats=unix,dos,mac")
    editor.nvim.command(f"edit {path}")
    propose(editor, *changes)
    call(editor, "accept", "p1")
    editor.nvim.command("silent write")
    end = b"\r\n" if b"\r\n" in data else b"\r" if b"\r" in data else b"\n"
    mark = data[:3] if data.startswith(b"\xef") else b""
    last = end if data.endswith(end) else b""
    assert path.read_bytes() == mark + end.join(wanted) + last


def test_with_fixeol_a_missing_final_newline_is_neovims_to_mend(
    editor: Editor, tmp_path: Path
) -> None:
    path = tmp_path / "a.typ"
    editor.open(path, "one\ntwo")
    propose(editor, (1, ["two"], ["2"]))
    call(editor, "accept", "p1")
    assert path.read_text(encoding="utf-8") == "one\ntwo"
    editor.nvim.command("silent write")
    assert path.read_text(encoding="utf-8") == "one\n2\n"


@pytest.mark.parametrize(
    ("old", "new", "typed"),
    [
        ("\tone\ttwo", "\tone\t2", "a\tb"),
        ("cafe\u0301 noir", "cafe\u0301 blanc", "e\u0301 "),
        ("日本語の文", "日本語の章", "漢字"),
        ("👩‍👩‍👧 wait", "👩‍👩‍👧 go", "👍🏽"),
        ("i̇stanbul ß", "i̇zmir ß", "ẞ"),
        ("عربى text", "عربى words", "שלום"),
    ],
)
def test_tabs_combining_and_wide_characters_land_exactly_beside_typing(
    editor: Editor, old: str, new: str, typed: str
) -> None:
    editor.nvim.command("set noautoindent")
    fill(editor, [old, old, "end"])
    propose(editor, (0, [old], [new]), (1, [old], [new]))
    editor.feed(f"ggO{typed}<Esc>jj0i{typed}<Esc>")
    assert states(editor) == ["pending", "stale"]
    call(editor, "accept", "p1")
    assert editor.lines() == [typed, new, typed + old, "end"]
    editor.feed("uu")
    assert editor.lines() == [typed, old, old, "end"]


@pytest.mark.parametrize("option", ["nomodifiable", "readonly"])
@pytest.mark.parametrize("keys", [r"\a", r"\A", ":TypstAI accept<CR>"])
def test_a_locked_buffer_keeps_its_text_and_says_why(
    editor: Editor, option: str, keys: str
) -> None:
    fill(editor, ["one"])
    propose(editor, (0, ["one"], ["1"]))
    editor.nvim.command(f"setlocal {option}")
    editor.feed(keys)
    editor.wait_for("vim.fn.execute('messages'):find('The document is read-only.', 1, true)")
    assert (editor.lines(), states(editor)) == (["one"], ["pending"])
    editor.feed(r"\r")
    assert states(editor) == []


def test_a_hidden_modified_buffer_takes_changes_without_being_shown(
    editor: Editor, tmp_path: Path
) -> None:
    bufnr = editor.open(tmp_path / "a.typ", "one\ntwo\n")
    editor.feed("Otyped<Esc>")
    editor.open(tmp_path / "b.typ", "other\n")
    propose(editor, (2, ["two"], ["2"]), bufnr=bufnr)
    call(editor, "accept", "p1")
    assert editor.lines(bufnr) == ["typed", "one", "2"]
    assert editor.lines() == ["other"]
    assert editor.lua("return vim.bo[...].modified", bufnr) is True
    assert (tmp_path / "a.typ").read_text(encoding="utf-8") == "one\ntwo\n"


def test_folds_windows_cursors_and_views_stay_when_changes_land(editor: Editor) -> None:
    lines = [f"line {number}" for number in range(100)]
    fill(editor, lines)
    editor.nvim.command("setlocal foldmethod=manual conceallevel=2 | 81,90fold | normal! zM")
    editor.nvim.command("split | normal! 50Gzt")
    upper = editor.nvim.api.get_current_win()
    editor.nvim.command("wincmd p | normal! 95Gzb3l")
    lower = editor.nvim.api.get_current_win()
    propose(editor, (2, [], ["a", "b"]), (10, ["line 10"], []), (84, ["line 84"], ["x", "y"]))
    call(editor, "accept", "p1")
    top = editor.lua("return vim.fn.getwininfo(...)[1].topline", upper.handle)
    assert editor.lines()[top - 1] == "line 49"
    assert editor.nvim.api.win_get_cursor(lower) == [97, 3]
    assert editor.nvim.api.get_current_line() == "line 94"
    first, last = editor.nvim.funcs.foldclosed(85), editor.nvim.funcs.foldclosedend(85)
    assert (editor.lines()[first - 1], editor.lines()[last - 1]) == ("line 80", "line 89")
    assert editor.lua("return vim.wo.conceallevel") == 2


def test_typing_goes_on_in_insert_mode_while_changes_come_and_land(editor: Editor) -> None:
    fill(editor, TEXT)
    editor.feed("2GA a")
    propose(editor, (0, ["one"], ["1", "1b"]), (4, ["five"], ["5"]))
    editor.feed("b")
    call(editor, "accept", "p1", {"hunk": "h1"})
    editor.feed("c")
    call(editor, "reject", "p1")
    editor.feed("d<Esc>")
    assert editor.lines() == ["1", "1b", "two abcd", "three", "four", "five"]
    editor.feed("uuu")
    assert editor.lines() == TEXT
