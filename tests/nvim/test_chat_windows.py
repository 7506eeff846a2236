"""The windows of a chat beside those of others, and what counts as a document beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat_screen import ChatScreen, answer, question, tool
from editor import Editor

FLOAT = """
vim.api.nvim_open_win(vim.api.nvim_create_buf(false, true), false,
  { relative = "editor", row = 1, col = 1, width = 9, height = 2 })
"""


@pytest.fixture
def chat(editor: Editor) -> ChatScreen:
    return ChatScreen(editor)


@pytest.mark.parametrize("beside", ["", FLOAT, "vim.cmd('tabnew | tabprevious')"])
def test_closing_the_last_window_shows_the_document(
    chat: ChatScreen, editor: Editor, tmp_path: Path, beside: str
) -> None:
    document = editor.open(tmp_path / "main.typ", "= A\n")
    tabs = 2 if "tabnew" in beside else 1
    chat.open()
    editor.nvim.command("only")
    editor.lua(beside)
    editor.feed("q")
    assert editor.nvim.api.get_current_buf().number == document
    assert len(editor.nvim.tabpages) == tabs
    assert editor.messages() == ""


def test_the_chat_keeps_its_share_of_the_screen(chat: ChatScreen, editor: Editor) -> None:
    editor.nvim.command("set columns=200")
    chat.open()
    assert editor.nvim.current.window.width == 84
    editor.nvim.command("set columns=100 | doautocmd VimResized")
    assert editor.nvim.current.window.width == 42
    editor.nvim.command("set columns=200 | doautocmd VimResized")
    assert editor.nvim.current.window.width == 84


def test_a_width_in_columns_leaves_the_document_its_half(chat: ChatScreen, editor: Editor) -> None:
    editor.lua("require('typstai').setup({ ui = { width = 70 } })")
    editor.nvim.command("set columns=100")
    chat.open()
    assert editor.nvim.current.window.width == 50
    editor.nvim.command("set columns=200 | doautocmd VimResized")
    assert editor.nvim.current.window.width == 70


@pytest.mark.parametrize(
    "name", ["typstai://thesis/1", "fugitive:///a//b", "LOG/typstai.log", "DATA/chats.txt"]
)
def test_a_buffer_that_is_no_file_of_the_user_is_no_document(
    chat: ChatScreen, editor: Editor, tmp_path: Path, name: str
) -> None:
    editor.lua("vim.g.typstai_data = ...", str(tmp_path / "data"))
    name = name.replace("LOG", editor.nvim.funcs.stdpath("log"))
    name = name.replace("DATA", str(tmp_path / "data"))
    document = editor.open(tmp_path / "main.typ", "= A\n")
    editor.lua("require('typstai.chat.outbox').note_document()")
    editor.nvim.command(f"edit {name}")
    chat.open()
    editor.feed("iFix it<C-s>")
    assert chat.calls("chat.send")[0]["target"]["bufnr"] == document


def test_the_words_of_a_call_are_ascii_where_everything_is(
    chat: ChatScreen, editor: Editor
) -> None:
    editor.lua("require('typstai').setup({ ui = { ascii = true } })")
    label = "a.typ  1 hunk · compiles as before “so” … Größe"
    chat.open(question(), answer(tool("notes › patch", "waiting", label=label)))
    line = chat.lines()[chat.find("patch")]
    assert line == '* notes > patch a.typ  1 hunk - compiles as before "so" ... Größe  waiting'


def test_chats_have_names_that_tell_them_apart(chat: ChatScreen, editor: Editor) -> None:
    for number in ("1", "2"):
        found = {"id": number, "project": "/home/ada/thesis", "title": "", "turns": []}
        editor.lua("require('typstai.chat').load(...)", found)
        name = editor.nvim.api.get_current_buf().name
        assert name == f"typstai://thesis/{number}"
