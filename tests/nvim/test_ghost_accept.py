"""Accepting ghost text: typed as the user would have, byte for byte, by keys that are only lent."""

from __future__ import annotations

from typing import Any

import pytest

from endpoint import answer
from ghost_writer import Writer

TEXT = "The cats sat on"
REST = " the mat."


def shown(writer: Writer, before: str = TEXT, rest: str = REST, keys: str = "A") -> None:
    """Ghost text `rest` behind the line `before`, asked for by its last character."""
    writer.editor.lua("vim.api.nvim_set_current_line(...)", before[:-1])
    writer.endpoint.reply(answer(rest))
    writer.type(keys + before[-1])
    writer.wait_shown(rest)


def test_accepting_is_an_undo_step_of_its_own(writer: Writer) -> None:
    shown(writer)
    writer.type("<Tab> So.<Esc>")
    assert writer.lines() == [TEXT + REST + " So."]
    writer.type("u")
    assert writer.lines() == [TEXT + REST]
    writer.type("u")
    assert writer.lines() == [TEXT]


def test_the_dot_command_repeats_what_was_typed_together_with_what_was_accepted(
    writer: Writer,
) -> None:
    writer.endpoint.reply(answer(" the\nmat"))
    writer.type("iWe sat on")
    writer.wait_shown(" the\nmat")
    writer.type("<Tab>!<Esc>")
    writer.type("o<Esc>i<Esc>")
    writer.editor.lua("vim.fn.setreg('z', vim.fn.getreg('.'))")
    writer.type("dd")
    writer.endpoint.reply(answer(" the\nmat"))
    writer.type("oWe sat on")
    writer.wait_shown(" the\nmat")
    writer.type("<Tab>!<Esc>.")
    assert writer.lines() == ["We sat on the", "mat!"] * 3


@pytest.mark.parametrize(
    ("before", "rest"),
    [
        ("日本語の文章", "を書きます。"),
        ("family 👩‍👩‍👧‍👦", " and 🏳️‍🌈 flags"),
        ("cafe\u0301", " re\u0301sume\u0301"),
        ("a\tb", " c\td"),
        ("¿Qué", " tal? \U00010400"),
        ("x\u0080y", " K\u009bÀ"),
        ("مرحبا", " بالعالم"),
    ],
)
def test_every_character_lands_where_it_belongs(writer: Writer, before: str, rest: str) -> None:
    writer.editor.lua("vim.bo.expandtab = false")
    shown(writer, before, rest)
    assert writer.drawn()[:2] == [0, len(before.encode())]
    writer.type("<Tab>")
    assert writer.lines() == [before + rest]
    assert writer.cursor() == [1, len((before + rest).encode())]


def test_the_tail_of_the_line_stays(writer: Writer) -> None:
    writer.editor.lua("vim.api.nvim_set_current_line('日本 (see below).')")
    writer.endpoint.reply(answer(" is an island\nsecond"))
    writer.type("0a")
    writer.call("trigger")
    writer.wait_shown(" is an island")
    writer.type("<Tab>")
    assert writer.lines() == ["日 is an island本 (see below)."]


def test_words_and_lines_can_be_accepted_one_by_one(writer: Writer) -> None:
    shown(writer, TEXT, " the mat, today\nand on")
    writer.type("<M-w>")
    assert writer.next_change() == " mat, today\nand on"
    assert writer.lines() == [TEXT + " the"]
    writer.type("<M-w>")
    assert writer.next_change() == " today\nand on"
    assert writer.lines() == [TEXT + " the mat,"]
    writer.type("<M-l>")
    assert writer.next_change() == "\nand on"
    writer.type("<M-l>")
    assert writer.next_change() == ""
    assert writer.lines() == [TEXT + " the mat, today", "and on"]
    assert len(writer.endpoint.requests) == 1
    writer.type("<Esc>uu")
    assert writer.lines() == [TEXT + " the mat,"]


def test_a_script_without_blanks_is_accepted_by_its_own_words(writer: Writer) -> None:
    shown(writer, "これ", "は日本語の文章です。")
    writer.type("<M-w>")
    assert writer.lines() == ["これは"]
    writer.type("<M-w>")
    assert writer.lines() == ["これは日本語"]


def test_lines_come_as_they_were_shown_whatever_would_indent_them(writer: Writer) -> None:
    options = "expandtab autoindent smartindent formatoptions+=ro comments=b:- indentexpr=8"
    writer.editor.nvim.command(f"setlocal {options}")
    shown(writer, "  - one", "\n  - two\nthree")
    writer.type("<Tab>")
    assert writer.lines() == ["  - one", "  - two", "three"]
    writer.type("<CR>x")
    assert writer.lines()[3] == "        x"
    assert writer.editor.lua(
        "return { vim.bo.autoindent, vim.bo.comments, vim.bo.indentexpr }"
    ) == [
        True,
        "b:-",
        "8",
    ]


def test_long_text_is_broken_at_textwidth_as_it_was_shown(writer: Writer) -> None:
    writer.editor.nvim.command("setlocal textwidth=20 formatoptions=tcq autoindent")
    shown(writer, "  The cats sat", " on the mat and slept well")
    lines = [line.rstrip() for line in writer.drawn()[2]]
    writer.type("<Tab>")
    assert writer.lines() == ["  The cats sat on", "  the mat and slept", "  well"]
    assert lines == [" on", "  the mat and slept", "  well"]


def test_a_word_that_is_broken_at_textwidth_leaves_the_rest_shown(writer: Writer) -> None:
    writer.editor.nvim.command("setlocal textwidth=20 formatoptions=tcq")
    shown(writer, "The cats sat on", " the mattress all day")
    writer.type("<M-w>")
    assert writer.next_change() == " mattress all day"
    writer.type("<M-w>")
    assert writer.next_change() == " all day"
    assert writer.lines() == ["The cats sat on the", "mattress"]
    writer.type(" a")
    assert writer.next_change() == "ll day"


def test_a_buffer_with_crlf_line_ends_keeps_them(writer: Writer) -> None:
    writer.session.document("", "dos.typ")
    writer.editor.nvim.command("setlocal fileformat=dos filetype=typst")
    shown(writer, TEXT, " the\nmat")
    writer.type("<Tab><Esc>")
    writer.editor.nvim.command("write")
    written = (writer.session.folder / "project" / "dos.typ").read_bytes()
    assert written == b"The cats sat on the\r\nmat\r\n"


@pytest.mark.parametrize("virtualedit", ["all", "insert", "onemore"])
def test_virtual_columns_change_nothing(writer: Writer, virtualedit: str) -> None:
    writer.editor.lua("vim.o.virtualedit = ...", virtualedit)
    shown(writer)
    writer.type("<Tab>")
    assert writer.lines() == [TEXT + REST]


def test_another_window_on_the_buffer_keeps_its_place(writer: Writer) -> None:
    writer.editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'x', 'above', 'last line' })")
    writer.editor.nvim.command("3 | normal! $")
    writer.editor.nvim.command("split | 1")
    shown(writer, TEXT, " the\nmat")
    writer.type("<Tab>")
    other = "vim.fn.win_getid(vim.fn.winnr('#'))"
    assert writer.editor.lua(f"return vim.api.nvim_win_get_cursor({other})") == [4, 8]
    assert writer.lines() == [TEXT + " the", "mat", "above", "last line"]


def test_no_map_and_no_abbreviation_sees_accepted_text(writer: Writer) -> None:
    writer.editor.nvim.command("inoremap jk <Esc>")
    writer.editor.nvim.command("iabbrev teh the")
    shown(writer, TEXT, " jk teh <CR> <Esc> end")
    writer.type("<Tab>")
    assert writer.lines() == [TEXT + " jk teh <CR> <Esc> end"]


def test_a_models_control_characters_are_never_keys(writer: Writer) -> None:
    writer.endpoint.reply(answer(" one\x1bggdGi \x0f:!x\r\x80two\x16u\x08"))
    writer.type("i" + TEXT)
    writer.editor.wait_for("require('typstai').ghost.visible()")
    writer.type("<Tab>")
    assert writer.editor.nvim.api.get_mode()["mode"] == "i"
    line = writer.lines()[0]
    assert line == TEXT + " oneggdGi :!x"
    assert writer.lines()[1] == "\x80twou"


@pytest.mark.parametrize("part", ["all", "word", "line"])
def test_accepting_from_an_expr_map_works(writer: Writer, part: str) -> None:
    writer.editor.lua(
        """
        vim.keymap.set("i", "<C-y>", function()
          return require("typstai").ghost.accept(...) and "" or "nothing"
        end, { expr = true })
        """.replace("...", repr(part))
    )
    shown(writer, rest=" mat")
    writer.type("<C-y>")
    assert writer.lines() == [TEXT + " mat"]
    assert writer.drawn() is None
    writer.type("<C-y>")
    assert writer.lines() == [TEXT + " matnothing"]
    assert "E565" not in writer.editor.messages()


def test_accepting_with_nothing_shown_says_so(writer: Writer) -> None:
    assert writer.call("accept") is False
    assert writer.lines() == [""]


MAPS: dict[str, str] = {
    "nothing": "",
    "global": "vim.keymap.set('i', '<Tab>', 'GLOBAL')",
    "expr": "vim.keymap.set('i', '<Tab>', function() return 'EXPR' end, { expr = true })",
    "vim expr": "vim.cmd([[inoremap <expr> <Tab> pumvisible() ? 'UP' : 'EXPR2']])",
    "buffer": "vim.keymap.set('i', '<Tab>', 'BUFFER', { buffer = true, remap = true })",
    "buffer callback": (
        "vim.keymap.set('i', '<Tab>', function()"
        " vim.api.nvim_feedkeys('FED', 'n', false) end, { buffer = true, desc = 'mine' })"
    ),
    "buffer expr": (
        "vim.keymap.set({ 'i', 's' }, '<Tab>', function() return '<C-v>065' end,"
        " { buffer = true, expr = true, nowait = true, silent = true })"
    ),
    "abbreviation": "vim.cmd([[inoreabbrev <buffer> on upon]])",
}
ALL_MAPS = """
local function plain(map)
  map.callback = map.callback and tostring(map.callback)
  return map
end
return vim.inspect(vim.tbl_map(function(lhs)
  return plain(vim.fn.maparg(lhs, "i", false, true))
end, { "<Tab>", "<M-w>", "<M-l>", "<C-]>" }))
"""


@pytest.mark.parametrize("name", MAPS)
def test_the_users_own_map_works_when_nothing_is_shown_and_comes_back_unchanged(
    writer: Writer, name: str
) -> None:
    writer.editor.lua(MAPS[name])
    before: Any = writer.editor.lua(ALL_MAPS)
    writer.type("i<Tab>")
    expected = writer.lines()[0]
    writer.type("<Esc>")
    shown(writer)
    assert writer.editor.lua(ALL_MAPS) != before
    writer.type("<Tab>")
    assert writer.lines() == [TEXT + REST]
    assert writer.editor.lua(ALL_MAPS) == before
    writer.type("<Esc>cc<Tab>")
    assert writer.lines() == [expected]


def test_a_snippets_jump_key_works_when_nothing_is_shown(writer: Writer) -> None:
    writer.editor.lua(
        """
        vim.keymap.set({ "i", "s" }, "<Tab>", function()
          return vim.snippet.active({ direction = 1 })
              and "<Cmd>lua vim.snippet.jump(1)<CR>" or "<Tab>"
        end, { expr = true })
        """
    )
    writer.type("i")
    writer.editor.lua("vim.snippet.expand('a $1 b $2 c')")
    writer.type("one<Tab>two")
    assert writer.lines() == ["a one b two c"]


def test_keys_can_be_chosen_and_left_out(writer: Writer) -> None:
    writer.session.use(
        writer.endpoint,
        autocomplete={"enabled": True, "model": "test", "debounce": 0},
        keymaps={"ghost": {"accept": "<C-l>", "accept_word": False, "dismiss": ""}},
    )
    shown(writer)
    writer.type("<C-l>")
    assert writer.lines() == [TEXT + REST]
