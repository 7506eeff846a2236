"""The review in the document: what is drawn, the keys, jumping, and side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from editor import Editor
from reviewing import call, fill, propose, record_calls, states


@pytest.fixture(autouse=True)
def without_a_host(editor: Editor) -> None:
    record_calls(editor)


def drawn(editor: Editor, bufnr: int = 0) -> list[dict[str, Any]]:
    """The marks of the review, each with its row and column."""
    return editor.lua(
        """
        local ns = vim.api.nvim_get_namespaces()["typstai.review"]
        return vim.tbl_map(function(mark)
          return vim.tbl_extend("force", mark[4], { row = mark[2], col = mark[3] })
        end, vim.api.nvim_buf_get_extmarks(..., ns, 0, -1, { details = true }))
        """,
        bufnr,
    )


def text_of(chunks: list[list[Any]]) -> str:
    return "".join(str(chunk[0]) for chunk in chunks)


def struck(editor: Editor) -> list[str]:
    """The text that is marked as going."""
    lines = [line.encode() for line in editor.lines()]
    return [
        lines[mark["row"]][mark["col"] : mark["end_col"]].decode()
        for mark in drawn(editor)
        if mark.get("hl_group") == "TypstAIDeleted"
    ]


def inline(editor: Editor) -> list[tuple[int, str]]:
    """Row and text of what would come within a line."""
    return [
        (mark["row"], text_of(mark["virt_text"]))
        for mark in drawn(editor)
        if mark.get("virt_text_pos") == "inline"
    ]


def below(editor: Editor) -> list[tuple[int, list[str]]]:
    """Row and texts of the virtual lines."""
    return [
        (mark["row"], [text_of(line) for line in mark["virt_lines"]])
        for mark in drawn(editor)
        if "virt_lines" in mark
    ]


def signs(editor: Editor) -> list[tuple[int, str]]:
    return [
        (mark["row"], mark["sign_text"].strip()) for mark in drawn(editor) if "sign_text" in mark
    ]


def hint(editor: Editor) -> str:
    """The keys shown at the cursor; empty when none are."""
    marks = editor.lua(
        """
        local ns = vim.api.nvim_get_namespaces()["typstai.hint"]
        return ns and vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true }) or {}
        """
    )
    texts = [mark[3].get("virt_text") or mark[3]["virt_lines"][0] for mark in marks]
    return " | ".join(text_of(text).strip() for text in texts)


def test_a_few_changed_words_are_drawn_inline_and_nothing_below(editor: Editor) -> None:
    fill(editor, ["We saw the quick brown fox.", "next"])
    propose(editor, (0, ["We saw the quick brown fox."], ["We saw the slow fox."]))
    assert struck(editor) == ["quick brown"]
    assert inline(editor) == [(0, "slow")]
    assert below(editor) == []
    assert signs(editor) == [(0, "▎")]


LONG = [f"word{number}" for number in range(300)]


def test_words_scattered_over_a_long_line_are_drawn_where_they_stand(editor: Editor) -> None:
    new = [f"new{number}" if number % 40 == 10 else LONG[number] for number in range(300)]
    fill(editor, [" ".join(LONG)])
    propose(editor, (0, [" ".join(LONG)], [" ".join(new)]))
    assert len(inline(editor)) == 8
    assert struck(editor) == [LONG[number] for number in range(10, 300, 40)]
    assert below(editor) == []


def test_a_long_line_of_which_much_changes_is_drawn_as_a_whole_below(editor: Editor) -> None:
    new = [f"new{number}" if number % 3 == 0 else LONG[number] for number in range(300)]
    fill(editor, [" ".join(LONG)])
    propose(editor, (0, [" ".join(LONG)], [" ".join(new)]))
    assert inline(editor) == []
    assert len(below(editor)) == 1


def test_a_rewritten_sentence_is_drawn_below_and_not_inline(editor: Editor) -> None:
    old = "It is well known that the size of the effect depends in no way on the temperature."
    new = "Temperature hardly matters: this is what every one of our authors has told us before."
    fill(editor, [old])
    propose(editor, (0, [old], [new]))
    assert inline(editor) == []
    ((row, lines),) = below(editor)
    assert (row, " ".join(lines)) == (0, new)


def test_new_lines_hang_below_the_line_before_them(editor: Editor) -> None:
    fill(editor, ["one", "two"])
    propose(editor, (1, [], ["new", ""]), (2, [], ["last"]))
    assert below(editor) == [(0, ["new", " "]), (1, ["last"])]
    assert struck(editor) == []


def test_a_deleted_line_is_struck_and_a_deleted_empty_line_shown(editor: Editor) -> None:
    fill(editor, ["one", "", "three"])
    propose(editor, (0, ["one", ""], []))
    assert struck(editor) == ["one"]
    overlays = [mark for mark in drawn(editor) if mark.get("virt_text_pos") == "overlay"]
    assert [text_of(mark["virt_text"]) for mark in overlays] == ["↵"]
    assert signs(editor) == [(0, "▎"), (1, "▎")]


def test_virtual_lines_wrap_at_words_within_the_narrowest_window(editor: Editor) -> None:
    editor.nvim.command("set columns=100 signcolumn=no")
    editor.nvim.command("vsplit | vertical resize 30")
    fill(editor, ["one"])
    words = "a paragraph of plain words that is far too long for a window of thirty cells 日本語"
    propose(editor, (1, [], [words + "x" * 70]))
    ((_, lines),) = below(editor)
    widths = [editor.nvim.funcs.strdisplaywidth(line) for line in lines]
    assert max(widths) <= 30
    assert "".join(lines).replace(" ", "") == (words + "x" * 70).replace(" ", "")
    editor.nvim.command("vertical resize 60")
    editor.wait_for(
        """(function()
          vim.cmd.redraw()
          local ns = vim.api.nvim_get_namespaces()["typstai.review"]
          local marks = vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true })
          return vim.iter(marks):any(function(mark)
            local lines = mark[4].virt_lines
            return lines and #lines < args[1]
          end)
        end)()""",
        len(lines),
    )


def test_tabs_in_virtual_text_become_blanks(editor: Editor) -> None:
    editor.nvim.command("setlocal tabstop=4")
    fill(editor, ["a"])
    propose(editor, (1, [], ["ab\tc\td"]))
    assert below(editor) == [(0, ["ab  c   d"])]


def test_a_long_insertion_is_cut_in_the_buffer_and_whole_in_the_chat(editor: Editor) -> None:
    fill(editor, ["one"])
    propose(editor, (1, [], [f"new {number}" for number in range(100)]))
    ((_, lines),) = below(editor)
    assert lines[-1] == "… 60 more lines in the chat"
    assert (
        len([line for line in call(editor, "diff_lines", "p1") if "+ new" in line["text"]]) == 100
    )


def test_lines_above_the_first_line_can_be_seen(editor: Editor) -> None:
    fill(editor, [f"line {number}" for number in range(60)])
    propose(editor, (0, [], ["new", "lines"]))
    editor.nvim.command("redraw")
    assert editor.lua("return vim.fn.winsaveview().topfill") == 2
    editor.feed("G")
    editor.nvim.command("redraw")
    editor.feed("gg")
    editor.nvim.command("redraw")
    editor.wait_for("vim.fn.winsaveview().topfill == 2")


def test_scrolling_down_past_lines_above_the_first_is_not_held_up(editor: Editor) -> None:
    fill(editor, [f"line {number}" for number in range(60)])
    propose(editor, (0, [], ["new", "lines"]))
    for _ in range(4):
        editor.feed("<C-e>")
        editor.nvim.command("redraw")
    assert editor.nvim.funcs.line("w0") == 3


def test_only_the_hunk_under_the_cursor_shows_its_keys(editor: Editor) -> None:
    editor.nvim.command("set columns=200")
    fill(editor, ["one", "two", "three"])
    propose(editor, (0, ["one"], ["1"]), (2, ["three"], ["3"]), verdict="fixes 1 error")
    keys = r"\a accept  \r reject  \A \R all  ]c next"
    assert hint(editor) == rf"◆ 1/2 · fixes 1 error · {keys}"
    editor.feed("j")
    assert hint(editor) == ""
    editor.feed("j")
    assert hint(editor) == rf"◆ 2/2 · fixes 1 error · {keys}"


def test_the_hint_shows_the_configured_keys_and_the_real_leader(editor: Editor) -> None:
    editor.nvim.command("set columns=200")
    editor.lua(
        """
        vim.g.maplocalleader = " "
        local keys = require("typstai.config").get().keymaps.review
        keys.reject, keys.accept_call, keys.next = "gR", false, ""
        """
    )
    fill(editor, ["one"])
    propose(editor, (0, ["one"], ["1"]))
    assert hint(editor) == "◆ 1/1 · <Space>a accept  gR reject  <Space>R all"
    editor.feed(" a")
    assert editor.lines() == ["1"]


def test_a_full_line_gets_its_hint_below_with_the_words(editor: Editor) -> None:
    editor.nvim.command("set columns=60 signcolumn=no")
    fill(editor, ["x" * 35, "y" * 58])
    propose(editor, (0, ["x" * 35], ["X"]), (1, ["y" * 58], ["Y"]))
    assert hint(editor).startswith(r"◆ 1/2 · \a accept  \r reject")
    editor.feed("j")
    assert hint(editor).startswith(r"◆ 2/2 · \a accept")


def test_a_stale_hunk_in_a_narrow_window_says_below_what_to_do(editor: Editor) -> None:
    editor.nvim.command("set columns=40 signcolumn=no")
    fill(editor, ["the first line", "two"])
    propose(editor, (0, ["the first line"], ["the 1st line"]))
    editor.feed("Ax<Esc>")
    below = """
    local ns = vim.api.nvim_get_namespaces()["typstai.hint"]
    local words = {}
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true })) do
      for _, line in ipairs(mark[4].virt_lines or {}) do
        for _, chunk in ipairs(line) do table.insert(words, chunk[1]) end
      end
    end
    return table.concat(words, " ")
    """
    editor.wait_for("(function() " + below + " end)():find('you changed', 1, true)")
    shown = editor.lua(below)
    assert all(word in shown for word in ("unavailable", "reject", "ask again"))


def test_a_stale_hunk_says_what_happened_and_is_drawn_no_more(editor: Editor) -> None:
    editor.nvim.command("set columns=200")
    fill(editor, ["the first line", "two"])
    propose(editor, (0, ["the first line"], ["the 1st line"]))
    editor.feed("Ax<Esc>")
    editor.wait_for(
        "#vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_get_namespaces()['typstai.review'], "
        "0, -1, {}) == 1"
    )
    assert signs(editor) == [(0, "◇")]
    assert hint(editor) == r"◇ 1/1 · you changed this line · \a unavailable · \r reject · ask again"
    editor.feed("u")
    editor.wait_for(
        "#vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_get_namespaces()['typstai.review'], "
        "0, -1, {}) > 1"
    )
    assert (struck(editor), inline(editor)) == (["first"], [(0, "1st")])


def test_ascii_replaces_every_glyph(editor: Editor) -> None:
    editor.lua("require('typstai.config').get().ui.ascii = true")
    fill(editor, ["one", "", "three"])
    propose(editor, (0, ["one", ""], []), (3, [], ["new"]), verdict="fine")
    shown = [str(mark) for mark in drawn(editor)] + [hint(editor)]
    assert all(text.isascii() for text in shown)


def test_a_decided_hunk_leaves_no_trace(editor: Editor) -> None:
    fill(editor, ["one", "two", "three"])
    propose(editor, (0, ["one"], ["1"]), (1, [], ["new"]), (2, ["three"], []))
    call(editor, "reject", "p1", {"hunk": "h1"})
    assert 0 not in [mark["row"] for mark in drawn(editor) if "virt_lines" not in mark][1:]
    call(editor, "accept", "p1")
    assert drawn(editor) == []
    assert hint(editor) == ""
    assert editor.nvim.funcs.maparg("]c", "n") == ""


def test_a_change_is_drawn_in_a_hidden_buffer(editor: Editor, tmp_path: Path) -> None:
    bufnr = editor.open(tmp_path / "a.typ", "one\n")
    editor.open(tmp_path / "b.typ", "other\n")
    propose(editor, (0, ["one"], ["1"]), bufnr=bufnr)
    assert drawn(editor, bufnr) != []
    assert drawn(editor) == []


def test_many_hunks_are_all_drawn_and_all_taken_down(editor: Editor) -> None:
    text = [f"line {number} of a long document" for number in range(20_000)]
    fill(editor, text)
    rows = range(0, 19_200, 150)
    propose(editor, *[(row, [text[row]], [text[row].replace("long", "short")]) for row in rows])
    count = (
        "#vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_get_namespaces()['typstai.review'], "
        "0, -1, {}) == args[1]"
    )
    editor.wait_for(count, 4 * len(rows))
    call(editor, "accept", "p1")
    editor.wait_for(count, 0)
    assert [row for row in rows if "short" not in editor.lines()[row]] == []


def test_a_hunk_decided_before_it_was_drawn_leaves_no_trace(editor: Editor) -> None:
    text = [f"line {number} of a long document" for number in range(20_000)]
    fill(editor, text)
    rows = range(0, 19_200, 150)
    hunks = [
        {"id": f"h{row}", "row0": row, "old": [text[row]], "new": ["x"] * 9, "reason": ""}
        for row in rows
    ]
    left = editor.lua(
        """
        local proposals = require("typstai.proposals")
        proposals.propose(...)
        proposals.reject("p1")
        local passed
        vim.schedule(function() passed = true end)
        vim.wait(1000, function() return passed end, 1)
        local ns = vim.api.nvim_create_namespace("typstai.review")
        return #vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, {})
        """,
        {"id": "p1", "bufnr": 1, "chat": "c", "source": "s", "verdict": "", "hunks": hunks},
    )
    assert left == 0


def test_the_keys_accept_and_reject_the_hunk_under_the_cursor(editor: Editor) -> None:
    fill(editor, ["one", "two", "three", "four"])
    propose(editor, (0, ["one"], ["1"]), (1, ["two"], ["2"]), (3, ["four"], ["4"]))
    editor.feed("jj\\a")
    assert states(editor) == ["pending"] * 3
    editor.feed("k\\a")
    editor.feed("k\\r")
    assert editor.lines() == ["one", "2", "three", "four"]
    assert states(editor) == ["rejected", "accepted", "pending"]


def test_the_keys_for_the_call_decide_all_its_hunks_and_no_other_call(editor: Editor) -> None:
    fill(editor, ["one", "two", "three"])
    propose(editor, (0, ["one"], ["1"]), (2, ["three"], ["3"]))
    propose(editor, (1, ["two"], ["2"]), name="p2")
    editor.feed("\\A")
    assert editor.lines() == ["1", "two", "3"]
    editor.feed("j\\R")
    assert editor.lines() == ["1", "two", "3"]
    assert call(editor, "pending_count") == 0


def test_keys_away_from_any_hunk_decide_nothing(editor: Editor) -> None:
    fill(editor, ["one", "two"])
    propose(editor, (0, ["one"], ["1"]))
    for keys in ("\\a", "\\r", "\\A", "\\R"):
        editor.feed("G" + keys)
    assert states(editor) == ["pending"]


def test_the_dot_command_repeats_accept_also_on_an_empty_line(editor: Editor) -> None:
    fill(editor, ["one", "", "three"])
    propose(editor, (0, ["one"], ["1"]), (1, [""], ["filled"]), (2, ["three"], ["3"]))
    editor.feed("\\a")
    editor.feed("]c.")
    assert editor.lines() == ["1", "filled", "three"]
    editor.feed("]c.")
    assert editor.lines() == ["1", "filled", "3"]


def test_a_selection_accepts_every_hunk_it_touches(editor: Editor) -> None:
    fill(editor, ["one", "two", "three", "four"])
    changes = [(0, ["one"], ["1"]), (1, ["two"], ["2", "2"]), (3, ["four"], ["4"])]
    propose(editor, *changes)
    editor.feed("Vj\\a")
    assert editor.lines() == ["1", "2", "2", "three", "four"]
    assert editor.nvim.api.get_mode()["mode"] == "n"


def test_the_motions_take_counts_go_around_and_open_folds(editor: Editor) -> None:
    fill(editor, [f"line {number}" for number in range(30)])
    editor.nvim.command("setlocal foldmethod=manual | 19,25fold")
    propose(editor, *[(row, [f"line {row}"], ["x"]) for row in (2, 10, 20)])
    rows: list[int] = []
    for keys in ("]c", "2]c", "]c", "[c", "2[c"):
        editor.feed(keys)
        rows.append(editor.nvim.api.win_get_cursor(0)[0] - 1)
    assert rows == [2, 20, 2, 20, 2]
    assert editor.nvim.funcs.foldclosed(21) == -1


def test_in_diff_mode_the_motions_keep_their_meaning(editor: Editor) -> None:
    lines = [f"line {number}" for number in range(20)]
    fill(editor, lines)
    propose(editor, (2, ["line 2"], ["x"]))
    editor.nvim.command("diffthis | vnew")
    editor.nvim.api.buf_set_lines(0, 0, -1, True, [*lines[:15], "other", *lines[16:]])
    editor.nvim.command("diffthis | wincmd p | set diffopt-=foldcolumn | normal! gg")
    editor.feed("]c")
    assert editor.nvim.api.win_get_cursor(0)[0] == 16


def test_the_users_own_maps_come_back_exactly(editor: Editor) -> None:
    fill(editor, ["one"])
    editor.lua(
        r"""
        vim.keymap.set("n", "]c", function() _G.called = true end, { buffer = true, desc = "mine" })
        vim.keymap.set("x", "]c", "<Esc>", { buffer = true, nowait = true, silent = true })
        vim.cmd([[map <buffer> <expr> \a "x"]])
        vim.cmd([[vnoremap <buffer> \r y]])
        vim.cmd([[nmap \A <Cmd>let g:global = 1<CR>]])
        """
    )
    query = """
        local maps = {}
        for _, mode in ipairs({ "n", "x", "s", "o" }) do
          for _, lhs in ipairs({ "]c", "[c", "\\\\a", "\\\\r", "\\\\A", "\\\\R" }) do
            local map = vim.fn.maparg(lhs, mode, false, true)
            map.lnum, map.callback = nil, map.callback and tostring(map.callback)
            maps[mode .. lhs] = map
          end
        end
        return maps
    """
    before = editor.lua(query)
    propose(editor, (0, ["one"], ["1"]))
    assert editor.lua(query) != before
    call(editor, "reject", "p1")
    assert editor.lua(query) == before
    editor.feed("]c")
    assert editor.lua("return _G.called") is True


def test_a_map_made_during_the_review_stays(editor: Editor) -> None:
    fill(editor, ["one"])
    propose(editor, (0, ["one"], ["1"]))
    editor.nvim.command("nnoremap <buffer> ]c j")
    call(editor, "reject", "p1")
    assert editor.nvim.funcs.maparg("]c", "n") == "j"


def test_an_option_of_false_leaves_a_key_alone(editor: Editor) -> None:
    editor.lua("require('typstai.config').get().keymaps.review.next = false")
    fill(editor, ["one"])
    propose(editor, (0, ["one"], ["1"]))
    assert editor.nvim.funcs.maparg("]c", "n") == ""


def test_going_to_a_proposal_shows_it_in_the_documents_window(
    editor: Editor, tmp_path: Path
) -> None:
    bufnr = editor.open(tmp_path / "a.typ", "one\ntwo\n")
    propose(editor, (1, ["two"], ["2"]))
    editor.nvim.command("vnew | setlocal buftype=nofile filetype=typstai")
    assert call(editor, "goto_first", "p1") is True
    assert editor.nvim.api.get_current_buf().number == bufnr
    assert editor.nvim.api.win_get_cursor(0)[0] == 2
    assert call(editor, "goto_first", "nobody") == "unknown_proposal"


def test_side_by_side_shows_both_texts_and_leaves_everything_as_it_was(
    editor: Editor, tmp_path: Path
) -> None:
    editor.open(tmp_path / "a.typ", "one\ntwo\nthree\n")
    editor.nvim.command("nnoremap <buffer> q j")
    propose(editor, (0, ["one"], ["1"]), (2, ["three"], []), (3, [], ["end"]))
    before, options = drawn(editor), "return { vim.wo.diff, vim.wo.foldmethod, vim.wo.winbar }"
    wanted = editor.lua(options)
    assert call(editor, "diff", "p1") is True
    left, right = editor.nvim.api.tabpage_list_wins(0)
    assert [editor.nvim.api.get_option_value("diff", {"win": win.handle}) for win in (left, right)]
    assert editor.lines(right.buffer.number) == ["1", "two", "end"]
    assert drawn(editor) == []
    editor.feed("q")
    editor.wait_for("#vim.api.nvim_list_tabpages() == 1")
    editor.wait_for("vim.fn.maparg('q', 'n') == 'j'")
    assert editor.lua(options) == wanted
    assert len(drawn(editor)) == len(before)
    assert editor.lines() == ["one", "two", "three"]


def test_side_by_side_closed_by_hand_is_cleaned_up_too(editor: Editor, tmp_path: Path) -> None:
    editor.open(tmp_path / "a.typ", "one\n")
    propose(editor, (0, ["one"], ["1"]))
    call(editor, "diff", "p1")
    editor.nvim.command("tabclose")
    editor.wait_for("vim.fn.maparg('q', 'n') == '' and #vim.api.nvim_list_bufs() == 1")
    assert drawn(editor) != []
    assert editor.lua("return vim.wo.diff") is False
