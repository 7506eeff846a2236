"""Several hunks on one line: each has its own bytes and is decided on its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from editor import Editor
from reviewing import call, fill, propose, record_calls, states

LINE = "Die Höhe war groß. Nothing here. 日本語です。 It was bad."
ONE = (1, 0, "Die Höhe war groß.", "Die Höhe war niedrig.")
TWO = (1, LINE.encode().index(b"It was bad."), "It was bad.", "It was good.")
BOTH = "Die Höhe war niedrig. Nothing here. 日本語です。 It was good."


@pytest.fixture(autouse=True)
def paragraph(editor: Editor) -> None:
    record_calls(editor)
    fill(editor, ["above", LINE, "below"])


def proposed(editor: Editor, name: str = "p1") -> None:
    propose(editor, ONE, TWO, name=name)


def line(editor: Editor) -> str:
    return editor.lines()[1]


def places(editor: Editor) -> list[tuple[str, int, int, int]]:
    return [
        (hunk["id"], hunk["start"], hunk["start_col"], hunk["finish_col"])
        for item in call(editor, "list")
        for hunk in item["hunks"]
    ]


def test_two_sentences_of_a_line_are_two_hunks_with_their_columns(editor: Editor) -> None:
    proposed(editor)
    assert line(editor) == LINE
    assert states(editor) == ["pending", "pending"]
    end = len(LINE.encode())
    assert places(editor) == [("h1", 1, 0, 20), ("h2", 1, TWO[1], end)]


@pytest.mark.parametrize("order", [("h1", "h2"), ("h2", "h1")])
def test_one_is_accepted_and_the_other_rejected(editor: Editor, order: tuple[str, str]) -> None:
    proposed(editor)
    call(editor, "accept", "p1", {"hunk": order[0]})
    call(editor, "reject", "p1", {"hunk": order[1]})
    done = ONE if order[0] == "h1" else TWO
    assert line(editor) == LINE.replace(done[2], done[3])


@pytest.mark.parametrize("order", [("h1", "h2"), ("h2", "h1")])
def test_both_accepted_one_by_one_are_two_undo_steps(
    editor: Editor, order: tuple[str, str]
) -> None:
    proposed(editor)
    for hunk in order:
        call(editor, "accept", "p1", {"hunk": hunk})
    assert line(editor) == BOTH
    done = ONE if order[0] == "h1" else TWO
    editor.nvim.command("undo")
    assert line(editor) == LINE.replace(done[2], done[3])
    editor.nvim.command("undo")
    assert line(editor) == LINE


def test_accepting_all_is_one_undo_step(editor: Editor) -> None:
    proposed(editor)
    call(editor, "accept_all")
    assert line(editor) == BOTH
    editor.nvim.command("undo")
    assert line(editor) == LINE


def test_an_accepted_one_moves_its_sibling_and_so_does_its_undo(editor: Editor) -> None:
    proposed(editor)
    call(editor, "accept", "p1", {"hunk": "h1"})
    assert places(editor)[1][2] == TWO[1] + 2
    editor.nvim.command("undo")
    assert places(editor)[1][2] == TWO[1]
    call(editor, "accept", "p1", {"hunk": "h2"})
    assert line(editor) == LINE.replace(TWO[2], TWO[3])


@pytest.mark.parametrize("before", ["Die", "Nothing", " It", "It"])
def test_typing_before_between_and_right_beside_keeps_both(editor: Editor, before: str) -> None:
    proposed(editor)
    column = LINE.encode().index(before.encode())
    editor.nvim.api.buf_set_text(0, 1, column, 1, column, ["Neu 日. "])
    assert states(editor) == ["pending", "pending"]
    call(editor, "accept_all")
    head, tail = LINE.encode()[:column].decode(), LINE.encode()[column:].decode()
    typed = f"{head}Neu 日. {tail}"
    assert line(editor) == typed.replace(ONE[2], ONE[3]).replace(TWO[2], TWO[3])


def test_a_line_broken_between_two_keeps_both(editor: Editor) -> None:
    proposed(editor)
    column = LINE.encode().index(b" It was")
    editor.nvim.api.buf_set_text(0, 1, column, 1, column + 1, ["", ""])
    assert states(editor) == ["pending", "pending"]
    call(editor, "accept_all")
    first, second = BOTH.split(" It", 1)
    assert editor.lines() == ["above", first, f"It{second}", "below"]


@pytest.mark.parametrize(("inside", "stale"), [("Höhe", 0), ("was bad", 1)])
def test_typing_inside_one_makes_only_it_stale_until_undone(
    editor: Editor, inside: str, stale: int
) -> None:
    proposed(editor)
    column = LINE.encode().index(inside.encode())
    editor.nvim.api.buf_set_text(0, 1, column, 1, column, ["x"])
    expected = ["pending", "pending"]
    expected[stale] = "stale"
    assert states(editor) == expected
    assert call(editor, "accept", "p1", {"hunk": f"h{stale + 1}"}) == "stale"
    editor.nvim.command("undo")
    assert states(editor) == ["pending", "pending"]


def test_a_deleted_sentence_is_not_mistaken_for_its_equal_neighbour(editor: Editor) -> None:
    fill(editor, ["Same. Same. End."])
    propose(editor, (0, 0, "Same.", "Other."))
    editor.nvim.api.buf_set_text(0, 0, 0, 0, 6, [""])
    assert states(editor) == ["stale"]
    editor.nvim.command("undo")
    call(editor, "accept_all")
    assert editor.lines() == ["Other. Same. End."]


def test_lines_added_above_and_a_formatter_keep_them(editor: Editor) -> None:
    proposed(editor)
    editor.nvim.funcs.append(0, ["new", "lines"])
    lines = editor.lines()
    editor.nvim.api.buf_set_lines(0, 0, -1, True, [*lines[:3], f"  {lines[3]}", *lines[4:]])
    assert states(editor) == ["pending", "pending"]
    call(editor, "accept_all")
    assert editor.lines()[3] == f"  {BOTH}"


def test_a_whole_line_and_a_sentence_of_it_do_not_both_land(editor: Editor) -> None:
    proposed(editor)
    propose(editor, (1, [LINE], ["Whole."]), name="p2")
    call(editor, "accept", "p2")
    assert states(editor) == ["stale", "stale"]
    editor.nvim.command("undo")
    assert states(editor) == ["pending", "pending"]


def test_two_proposals_for_one_sentence_do_not_both_land(editor: Editor) -> None:
    proposed(editor)
    propose(editor, (1, TWO[1], TWO[2], "Else."), name="p2")
    call(editor, "accept_all")
    assert line(editor) == BOTH


def test_a_sentence_edited_into_two_lines_leaves_its_sibling_in_place(editor: Editor) -> None:
    proposed(editor)
    call(editor, "edit", "p1", "h1", "One.\nTwo.")
    call(editor, "accept", "p1", {"hunk": "h1"})
    rest = LINE.removeprefix(ONE[2])
    assert editor.lines() == ["above", "One.", f"Two.{rest}", "below"]
    call(editor, "accept", "p1", {"hunk": "h2"})
    assert editor.lines()[2] == f"Two.{rest}".replace(TWO[2], TWO[3])


@pytest.mark.parametrize("text", ["New.\nDie Höhe war gering.", "Die Höhe war gering.\nNew.", ""])
def test_whatever_a_sentence_is_edited_into_lands_as_it_is(editor: Editor, text: str) -> None:
    proposed(editor)
    call(editor, "edit", "p1", "h1", text)
    call(editor, "accept_all")
    expected = f"{text}{BOTH.removeprefix(ONE[3])}"
    assert editor.lines() == ["above", *expected.split("\n"), "below"]


def test_the_journal_knows_what_the_text_becomes(editor: Editor) -> None:
    proposed(editor)
    call(editor, "edit", "p1", "h1", "New.\nLine.")
    call(editor, "accept_all")
    hashes = editor.lua(
        """
        local journal, found = require("typstai.recovery.journal"), {}
        for name in vim.fs.dir(journal.folder()) do
          local path = vim.fs.joinpath(journal.folder(), name)
          found[#found + 1] = vim.json.decode(vim.fn.readfile(path)[1]).after
        end
        return { found, journal.hash(vim.api.nvim_buf_get_lines(0, 0, -1, true)) }
        """
    )
    assert hashes[1] in hashes[0]


def test_the_keys_decide_the_sentence_at_the_cursor(editor: Editor) -> None:
    proposed(editor)
    editor.feed("gg]c")
    assert editor.nvim.api.win_get_cursor(0) == [2, 0]
    editor.feed("]c")
    assert editor.nvim.api.win_get_cursor(0) == [2, TWO[1]]
    editor.feed("3l")
    editor.feed("\\a")
    assert line(editor) == LINE.replace(TWO[2], TWO[3])
    editor.feed("0\\r")
    assert call(editor, "list") == []
    assert line(editor) == LINE.replace(TWO[2], TWO[3])


def test_the_motions_go_through_the_sentences_and_around(editor: Editor) -> None:
    proposed(editor)
    propose(editor, (2, ["below"], ["Below"]), name="p2")
    seen: list[list[int]] = []
    for keys in ("gg]c", "]c", "]c", "]c", "2]c", "[c", "l[c", "[c"):
        editor.feed(keys)
        seen.append(list(editor.nvim.api.win_get_cursor(0)))
    one, two, three = [2, 0], [2, TWO[1]], [3, 0]
    assert seen == [one, two, three, one, three, two, one, three]


def test_the_dot_command_accepts_the_next_sentence(editor: Editor) -> None:
    proposed(editor)
    editor.feed("gg]c\\a")
    editor.feed("]c.")
    assert line(editor) == BOTH


def test_the_hint_is_that_of_the_sentence_at_the_cursor(editor: Editor) -> None:
    proposed(editor)
    for keys, shown in (("gg]c", "1/2"), ("]c", "2/2"), ("0", "1/2")):
        editor.feed(keys)
        texts = editor.lua(
            """
            require("typstai.review.hint").show()
            local ns = vim.api.nvim_get_namespaces()["typstai.hint"]
            return vim.inspect(vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true }))
            """
        )
        assert shown in texts


def drawn(editor: Editor) -> tuple[list[str], list[tuple[int, str]]]:
    """The text struck out, and column and text of what comes within the line."""
    marks = editor.lua(
        """
        local ns = vim.api.nvim_get_namespaces()["typstai.review"]
        return vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true })
        """
    )
    text = line(editor).encode()
    struck = [
        text[col : more["end_col"]].decode()
        for _, _, col, more in marks
        if more.get("hl_group") == "TypstAIDeleted"
    ]
    inline = [
        (col, "".join(chunk[0] for chunk in more["virt_text"]))
        for _, _, col, more in marks
        if more.get("virt_text_pos") == "inline"
    ]
    assert not any("virt_lines" in more for *_, more in marks)
    return struck, inline


def test_changed_words_are_drawn_where_they_stand(editor: Editor) -> None:
    proposed(editor)
    assert drawn(editor) == (["groß", "bad"], [(19, "niedrig"), (len(LINE.encode()) - 1, "good")])


def test_a_rewritten_sentence_is_drawn_right_after_the_old_one(editor: Editor) -> None:
    new = "Nobody who has ever looked at the matter would call it anything but a great success."
    propose(editor, (1, TWO[1], TWO[2], new))
    assert drawn(editor) == ([TWO[2]], [(len(LINE.encode()), f" {new}")])


def test_side_by_side_and_the_chat_show_both(editor: Editor) -> None:
    proposed(editor)
    lines = call(editor, "diff_lines", "p1")
    assert [item["text"].strip() for item in lines] == [
        "@@ -2,1 +2,1 @@", f"2   - {ONE[2]}", f"2 + {ONE[3]}",
        "@@ -2,1 +2,1 @@", f"2   - {TWO[2]}", f"2 + {TWO[3]}",
    ]  # fmt: skip
    call(editor, "diff", "p1")
    texts = [list(window.buffer[:]) for window in editor.nvim.current.tabpage.windows]
    assert texts == [["above", LINE, "below"], ["above", BOTH, "below"]]


def test_they_survive_that_the_file_is_read_again(editor: Editor, tmp_path: Path) -> None:
    editor.nvim.command(f"silent write {tmp_path / 'text.typ'}")
    proposed(editor)
    editor.nvim.command("silent edit!")
    assert states(editor) == ["pending", "pending"]
    call(editor, "accept_all")
    assert line(editor) == BOTH
