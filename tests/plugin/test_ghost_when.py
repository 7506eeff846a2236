"""When ghost text is asked for, and when the user is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from endpoint import Endpoint, Wait, answer
from ghost_writer import Writer
from session import Session

TEXT = "The cats sat on"
REST = " the mat."
TAKE_OVER = "package.loaded[select(1, ...)] = load(select(2, ...))()"


def asks(writer: Writer, keys: str) -> None:
    """Typing the keys must lead to ghost text."""
    writer.endpoint.reply(answer(REST))
    writer.type(keys)
    writer.wait_shown(REST)


def stays_quiet(writer: Writer, keys: str, why: str | None = None) -> None:
    """Typing the keys must lead to nothing; what follows still can."""
    asked = len(writer.endpoint.requests)
    writer.type(keys)
    writer.settle()
    reason = writer.why()
    assert reason != "waiting"
    assert why is None or reason == why
    assert not writer.visible()
    assert len(writer.endpoint.requests) == asked


def test_it_is_off_until_somebody_switches_it_on(session: Session, endpoint: Endpoint) -> None:
    writer = Writer(session, endpoint)
    writer.use(enabled=False)
    writer.open()
    stays_quiet(writer, "i" + TEXT, why="off")
    assert session.editor.lua("return package.loaded['typstai.rpc']") is None
    writer.call("enable", True)
    asks(writer, " and")


@pytest.mark.parametrize("place", ["", " buffer", " project"])
def test_the_command_switches_it_on_and_off_where_it_is_told(
    session: Session, endpoint: Endpoint, place: str
) -> None:
    writer = Writer(session, endpoint)
    writer.use(enabled=False)
    writer.open()
    session.editor.nvim.command(f"TypstAI ghost on{place}")
    asks(writer, "i" + TEXT)
    session.editor.nvim.command(f"TypstAI ghost off{place}")
    assert writer.next_change() == ""
    stays_quiet(writer, " x", why="off")


def test_a_narrower_choice_wins_and_a_wider_one_forgets_it(
    session: Session, endpoint: Endpoint
) -> None:
    writer = Writer(session, endpoint)
    writer.use()
    inside = writer.open(name="in/typst.toml")
    outside = session.document("\n", "out/typst.toml")
    session.editor.lua("vim.bo.filetype = 'typst'")
    writer.call("enable", False, {"project": True})
    assert writer.why() == "off"
    writer.call("enable", True, {"bufnr": outside})
    assert writer.why() == ""
    session.editor.lua("vim.api.nvim_win_set_buf(0, ...)", inside)
    assert writer.why() == ""
    writer.call("enable", False)
    assert writer.why() == "off"
    session.editor.lua("vim.api.nvim_win_set_buf(0, ...)", outside)
    assert writer.why() == "off"


def test_it_is_on_from_the_start_in_the_projects_of_the_options(
    session: Session, endpoint: Endpoint
) -> None:
    writer = Writer(session, endpoint)
    (session.folder / "project").mkdir()
    (session.folder / "project" / "typst.toml").write_text("", encoding="utf-8")
    writer.use(enabled=False, projects=[str(session.folder / "project") + "/"])
    writer.open(name="chapters/one.typ")
    asks(writer, "i" + TEXT)
    session.editor.open(session.folder / "elsewhere" / "main.typ", "\n")
    session.editor.lua("vim.bo.filetype = 'typst'")
    assert writer.why() == "off"


def test_other_file_types_are_left_alone_unless_named(writer: Writer) -> None:
    writer.editor.lua("vim.bo.filetype = 'markdown'")
    stays_quiet(writer, "i" + TEXT, why="off")
    writer.editor.nvim.command("TypstAI ghost on buffer")
    asks(writer, " and")


def test_the_chat_and_other_special_buffers_are_left_alone(writer: Writer) -> None:
    writer.editor.lua("vim.bo.buftype = 'nofile'")
    stays_quiet(writer, "i" + TEXT, why="off")


def test_without_a_model_nothing_is_asked_and_the_reason_is_told(
    session: Session, endpoint: Endpoint
) -> None:
    writer = Writer(session, endpoint)
    writer.use(model="")
    writer.open()
    stays_quiet(writer, "i" + TEXT, why="no model")
    assert "no model" in session.editor.lua("return require('typstai').statusline()")


@pytest.mark.parametrize("model", ["offline", "unknown"])
def test_a_model_that_cannot_complete_is_no_model(
    session: Session, endpoint: Endpoint, model: str
) -> None:
    writer = Writer(session, endpoint)
    writer.use(model=model)
    writer.open()
    writer.type("i" + TEXT)
    writer.wait_why("no model")
    assert endpoint.requests == []


@pytest.mark.parametrize("before", ["", "   ", "\t"])
def test_nothing_comes_on_a_blank_line(writer: Writer, before: str) -> None:
    stays_quiet(writer, f"i{before} ")


def test_nothing_comes_in_the_middle_of_a_line(writer: Writer) -> None:
    writer.editor.lua("vim.api.nvim_set_current_line('one two')")
    stays_quiet(writer, "0ia")
    asks(writer, "<End> b")


def test_nothing_comes_beyond_the_end_of_a_line(writer: Writer) -> None:
    writer.editor.lua("vim.o.virtualedit = 'all'")
    writer.editor.lua("vim.api.nvim_set_current_line('one')")
    writer.endpoint.reply(Wait("never"))
    stays_quiet(writer, "10|i<Ignore>")


def test_paste_is_not_typing(writer: Writer) -> None:
    writer.type("i")
    writer.editor.nvim.api.paste(TEXT, True, -1)
    stays_quiet(writer, "<Ignore>")
    asks(writer, "!")


@pytest.mark.parametrize("keys", ["<C-r>z", "<C-r><C-o>z", "<C-r><C-r>z", "<C-a>", "<C-y>"])
def test_text_from_a_register_or_another_line_is_not_typing(writer: Writer, keys: str) -> None:
    writer.editor.lua("vim.fn.setreg('z', 'zebraz')")
    writer.editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'above', 'a' })")
    writer.endpoint.reply(Wait("never"))
    writer.type("jAy")
    writer.endpoint.wait_reached("never")
    writer.type("<Esc>a")
    stays_quiet(writer, keys)


def test_deleting_and_undo_are_not_typing(writer: Writer) -> None:
    writer.endpoint.reply(Wait("never"))
    writer.type("i" + TEXT)
    writer.endpoint.wait_reached("never")
    for keys in ("<BS>", "<C-w>", "<C-o>u", "<C-o>x"):
        stays_quiet(writer, keys)


def test_repeating_and_playing_a_macro_are_not_typing(writer: Writer) -> None:
    writer.type("i" + TEXT + "<Esc>")
    writer.editor.lua("vim.fn.setreg('q', 'Amore')")
    stays_quiet(writer, ".A")
    stays_quiet(writer, "<C-o>.")
    stays_quiet(writer, "<Esc>@q")
    asks(writer, " of it")


def test_nothing_comes_while_a_macro_is_recorded(writer: Writer) -> None:
    stays_quiet(writer, "qqi" + TEXT, why="recording")
    writer.type("<Tab>!<Esc>q")
    assert writer.editor.lua("return vim.fn.getreg('q')") == f"i{TEXT}\t!\x1b"
    writer.type("o<Esc>@q")
    assert writer.lines()[0] == writer.lines()[1]


def test_text_that_a_plugin_writes_is_not_typing(writer: Writer) -> None:
    writer.type("i")
    writer.editor.lua("vim.api.nvim_set_current_line(...)", TEXT)
    stays_quiet(writer, "<End>")


def test_expanding_an_abbreviation_and_a_mapped_letter_are_typing(writer: Writer) -> None:
    writer.editor.nvim.command("iabbrev teh the")
    writer.editor.nvim.command("inoremap ;a ä")
    writer.endpoint.reply(answer("cat"))
    writer.type("iteh ")
    writer.wait_shown("cat")
    writer.endpoint.reply(answer(" more"))
    writer.type(";a")
    writer.wait_shown(" more")
    assert writer.lines() == ["the ä"]


@pytest.mark.parametrize(
    "line", ["Let $x + y", "See `raw", "#let x = 5", "// a comment", "#foo(a", "@ref", "#image("]
)
def test_mathematics_raw_text_and_code_are_left_alone_unless_asked(
    writer: Writer, line: str
) -> None:
    writer.type("i" + line)
    writer.wait_why("not prose")
    assert writer.endpoint.requests == []
    writer.endpoint.reply(answer(" more"))
    writer.call("trigger")
    writer.wait_shown(" more")


def test_neovims_own_completion_menu_keeps_it_away(writer: Writer) -> None:
    writer.editor.lua("vim.o.completeopt = 'menuone,noselect'")
    writer.type("i" + "cat catalogue ca<C-n>")
    assert writer.editor.lua("return vim.fn.pumvisible()") == 1
    stays_quiet(writer, "t")
    writer.type("<C-e>")
    asks(writer, " x")


CMP = """
local handlers = {}
return {
  is_open = false,
  visible = function() return package.loaded.cmp.is_open end,
  event = { on = function(_, name, handler) handlers[name] = handler end },
  open = function()
    package.loaded.cmp.is_open = true
    handlers.menu_opened({})
  end,
}
"""
BLINK = """
return {
  is_open = false,
  is_menu_visible = function() return package.loaded["blink.cmp"].is_open end,
  is_visible = function() return package.loaded["blink.cmp"].is_open end,
  open = function()
    package.loaded["blink.cmp"].is_open = true
    vim.api.nvim_exec_autocmds("User", { pattern = "BlinkCmpMenuOpen" })
  end,
}
"""


@pytest.mark.parametrize(("name", "source"), [("cmp", CMP), ("blink.cmp", BLINK)])
def test_the_menus_of_completion_plugins_keep_it_away(
    writer: Writer, name: str, source: str
) -> None:
    module: Any = f"package.loaded['{name}']"
    writer.editor.lua(TAKE_OVER, name, source)
    asks(writer, "i" + TEXT)
    writer.editor.lua(f"{module}.open()")
    assert writer.next_change() == ""
    stays_quiet(writer, " a", why="menu")
    writer.editor.lua(f"{module}.is_open = false")
    asks(writer, " b")


def test_a_menu_that_opens_while_the_model_thinks_keeps_it_away(writer: Writer) -> None:
    writer.editor.lua(TAKE_OVER, "cmp", CMP)
    writer.endpoint.reply(Wait("go"), answer(REST))
    writer.type("i" + TEXT)
    writer.endpoint.wait_reached("go")
    writer.editor.lua("package.loaded.cmp.is_open = true")
    writer.endpoint.release("go")
    writer.wait_why("menu")
    assert writer.drawn() is None


def test_a_snippet_keeps_its_tab_key(writer: Writer) -> None:
    writer.type("i")
    writer.editor.lua("vim.snippet.expand('one $1\\n$2')")
    stays_quiet(writer, "word", why="snippet")
    writer.editor.lua("vim.snippet.stop()")
    asks(writer, "<End> a")


def test_luasnips_stops_keep_their_tab_key_too(writer: Writer) -> None:
    source = "return { locally_jumpable = function() return _G.is_in end }"
    writer.editor.lua(TAKE_OVER, "luasnip", source)
    writer.editor.lua("_G.is_in = true")
    stays_quiet(writer, "iword", why="snippet")
    writer.editor.lua("_G.is_in = false")
    asks(writer, " a")
