"""The chat: opening, sending, stopping, moving, the line of state, help."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat_screen import CHAT, ChatScreen, answer, question
from editor import Editor

PRESSES = 20


@pytest.fixture
def chat(editor: Editor) -> ChatScreen:
    return ChatScreen(editor)


def _opened(chat: ChatScreen, **fields: object) -> None:
    found = {"id": CHAT, "project": "/home/ada/thesis", "title": "", "turns": [], **fields}
    chat.answer("chat.open", {"result": found})
    chat.answer("chat.new", {"result": found})


def test_the_command_opens_the_chat_of_the_file_and_closes_it(
    chat: ChatScreen, editor: Editor, tmp_path: Path
) -> None:
    editor.open(tmp_path / "main.typ", "= A\n")
    _opened(chat)
    editor.nvim.command("TypstAI")
    assert chat.calls("chat.open")[0]["path"] == str(tmp_path / "main.typ")
    assert editor.nvim.api.get_option_value("filetype", {"buf": chat.bufnr()}) == "typstai"
    assert len(editor.nvim.windows) == 2
    editor.nvim.command("TypstAI")
    assert len(editor.nvim.windows) == 1


def test_the_chat_is_a_plain_window_at_the_right(chat: ChatScreen, editor: Editor) -> None:
    editor.nvim.command("set number list colorcolumn=80 signcolumn=yes")
    bufnr = chat.open()
    window = editor.nvim.api.get_current_win()
    assert editor.nvim.funcs.winnr("$") == editor.nvim.funcs.winnr()
    assert 32 <= window.width <= 34
    values = {name: window.options[name] for name in ("number", "list", "colorcolumn", "wrap")}
    assert values == {"number": False, "list": False, "colorcolumn": "", "wrap": True}
    buffer = editor.nvim.buffers[bufnr]
    names = ("buftype", "buflisted", "modeline", "undolevels", "swapfile")
    assert [buffer.options[name] for name in names] == ["nofile", False, False, -1, False]


def test_no_tildes_are_drawn_and_the_users_fill_characters_stay(
    chat: ChatScreen, editor: Editor
) -> None:
    editor.nvim.command("set fillchars=vert:!")
    chat.open()
    assert editor.nvim.current.window.options["fillchars"] == "vert:!,eob: "
    editor.feed("q")
    assert editor.nvim.eval("&fillchars") == "vert:!"


def test_a_model_line_in_an_answer_is_not_obeyed(chat: ChatScreen, editor: Editor) -> None:
    chat.open(question(), answer({"kind": "text", "text": "vim: set tabstop=3 :"}))
    editor.nvim.command("doautocmd BufRead")
    assert editor.nvim.api.get_option_value("tabstop", {"buf": chat.bufnr()}) == 8


def test_carriage_return_sends_the_prompt_and_empties_it(
    chat: ChatScreen, editor: Editor, tmp_path: Path
) -> None:
    document = editor.open(tmp_path / "main.typ", "= A\n")
    chat.open()
    editor.feed("iFix it<Esc><CR>")
    [sent] = chat.calls("chat.send")
    assert (sent["chat"], sent["text"]) == (CHAT, "Fix it")
    assert sent["target"] == {"bufnr": document, "path": str(tmp_path / "main.typ")}
    assert isinstance(sent["capture"], str)
    assert chat.prompt() == ""


def test_control_s_sends_from_insert_mode_and_typing_goes_on(
    chat: ChatScreen, editor: Editor
) -> None:
    chat.open()
    editor.feed("ione<CR>two<C-s>three")
    assert [sent["text"] for sent in chat.calls("chat.send")] == ["one\ntwo"]
    assert (chat.prompt(), chat.mode()) == ("three", "i")


def test_an_empty_prompt_sends_nothing(chat: ChatScreen, editor: Editor) -> None:
    chat.open()
    editor.feed("i <CR> <Esc><CR>")
    assert chat.calls("chat.send") == []


def test_a_refused_message_stays_in_the_prompt(chat: ChatScreen, editor: Editor) -> None:
    chat.open()
    chat.answer("chat.send", {"error": {"code": "no_model", "message": "Choose a model."}})
    editor.feed("iFix it<C-s>")
    assert chat.messages() == ["Choose a model."]
    assert chat.prompt() == "Fix it"


def test_what_is_typed_while_python_takes_the_message_stays(
    chat: ChatScreen, editor: Editor
) -> None:
    chat.open()
    chat.answer("chat.send", "hold")
    editor.feed("iFix it<C-s> and more")
    editor.lua("_G.held(nil, { run = 'r1' })")
    editor.feed("!")
    assert chat.prompt() == " and more!"


def test_a_message_changed_while_python_takes_it_is_not_cut(
    chat: ChatScreen, editor: Editor
) -> None:
    chat.open()
    chat.answer("chat.send", "hold")
    editor.feed("iFix it<C-s><Esc>0iPlease ")
    editor.lua("_G.held(nil, { run = 'r1' })")
    assert chat.prompt() == "Please Fix it"


def test_sending_during_a_run_keeps_the_text_and_says_so(chat: ChatScreen, editor: Editor) -> None:
    chat.open()
    chat.start()
    editor.feed("imore<C-s>")
    assert chat.calls("chat.send") == []
    assert chat.prompt() == "more"
    assert len(chat.messages()) == 1 and "kept" in chat.messages()[0]


def test_sending_twice_before_python_answers_starts_one_run(
    chat: ChatScreen, editor: Editor
) -> None:
    chat.open()
    chat.answer("chat.send", "hold")
    editor.feed("iFix it<C-s><C-s>")
    assert len(chat.calls("chat.send")) == 1


@pytest.mark.parametrize("keys", ["<C-c>", "i<C-c>"])
def test_control_c_stops_the_run(chat: ChatScreen, editor: Editor, keys: str) -> None:
    chat.open()
    chat.start()
    for _ in range(PRESSES):
        # Vim takes the key for an interrupt while it is at work, and the user presses it again.
        editor.feed(keys)
        if chat.calls("chat.stop"):
            break
    assert chat.calls("chat.stop")[0] == {"chat": CHAT}


def test_control_c_without_a_run_only_leaves_insert_mode(chat: ChatScreen, editor: Editor) -> None:
    chat.open()
    editor.feed("ihello<C-c>")
    assert (chat.mode(), chat.prompt(), chat.calls("chat.stop")) == ("n", "hello", [])


def test_brackets_go_from_message_to_message_and_to_the_prompt(
    chat: ChatScreen, editor: Editor
) -> None:
    chat.open(question("One"), answer({"kind": "text", "text": "Two\n\nTwo"}))
    visited: list[str] = []
    for keys in ("[[", "[[", "[[", "]]", "]]"):
        editor.feed(keys)
        visited.append(editor.nvim.api.get_current_line())
    assert [line.split(" ")[0] for line in visited] == ["Assistant", "You", "You", "Assistant", ""]
    assert editor.nvim.api.win_get_cursor(0)[0] - 1 == chat.border0()


def test_help_lists_every_key_as_configured(chat: ChatScreen, editor: Editor) -> None:
    editor.lua("require('typstai.config').get().keymaps.chat.stop = '<C-x>'")
    chat.open()
    editor.feed("g?")
    shown = "\n".join(editor.lines())
    keys = editor.lua("return require('typstai.config').get().keymaps.chat")
    assert [key for key in keys.values() if f" {key} " not in shown] == []
    assert "<C-x>" in shown
    editor.feed("q")
    assert editor.nvim.api.get_current_buf().number == chat.bufnr()


def test_a_key_set_to_false_is_not_mapped(chat: ChatScreen, editor: Editor) -> None:
    editor.lua("require('typstai.config').get().keymaps.chat.close = false")
    chat.open()
    assert editor.nvim.funcs.maparg("q", "n") == ""


def test_q_closes_the_chat_even_in_the_last_window(chat: ChatScreen, editor: Editor) -> None:
    bufnr = chat.open()
    editor.nvim.command("only")
    editor.feed("q")
    assert editor.nvim.api.get_current_buf().number != bufnr


def test_the_line_of_state_shows_and_fits(chat: ChatScreen, editor: Editor) -> None:
    editor.lua(
        "require('typstai.status').update({ model = 'gpt-x', mode = 'read', approval = 'auto' })"
    )
    chat.open(question(), answer(input_tokens=1900, output_tokens=200), title="50% done\nnow")
    window = editor.nvim.api.get_current_win()

    def bar() -> str:
        editor.nvim.command("redraw")
        options = {"winid": window.handle, "maxwidth": window.width}
        return editor.nvim.api.eval_statusline(window.options["winbar"], options)["str"]

    window.width = 70
    editor.wait_for("vim.wo.winbar:find('tok')")
    assert bar().startswith(" 50% done now · gpt-x · read · auto  ")
    assert bar().endswith(" 2.1k tok ")
    window.width = 34
    editor.wait_for("not vim.wo.winbar:find('tok')")
    assert bar().strip() == "50% done … · gpt-x · read · auto"


def test_status_updates_merge_and_absent_values_go(editor: Editor) -> None:
    editor.lua("require('typstai.status').update({ running = true, chat = 'c', pending = 2 })")
    assert editor.lua("return require('typstai.status').statusline()") == (
        "typstai: writing, 2 pending"
    )
    editor.lua("require('typstai.status').update({ running = false, chat = vim.NIL })")
    status = editor.lua("return require('typstai.status').get()")
    assert (status["running"], status.get("chat"), status["pending"]) == (False, None, 2)


def test_a_lost_host_ends_the_run_on_screen(chat: ChatScreen, editor: Editor) -> None:
    chat.open()
    chat.start()
    editor.lua("require('typstai.chat').host_lost()")
    assert any(line.startswith("incomplete · the helper process ended") for line in chat.lines())
    editor.feed("iagain<C-s>")
    assert len(chat.calls("chat.send")) == 1


def test_a_deleted_chat_buffer_can_be_opened_again(chat: ChatScreen, editor: Editor) -> None:
    chat.open(question("One"))
    editor.nvim.command("bdelete!")
    editor.wait_for("vim.fn.bufnr('typstai://thesis/1') == -1")
    chat.event(kind="turn", turn=question("Two"))
    chat.open(question("One"))
    assert "One" in chat.lines()


def test_messages_are_one_titled_line_through_one_sink(editor: Editor) -> None:
    editor.lua(
        """
        require("typstai.message").sink = function(...) _G.got = { ... } end
        require("typstai.message").show({ message = "one\\ntwo\\0", level = "error" })
        """
    )
    assert editor.wait_for("_G.got") == ["one two", 4, {"title": "typstai"}]


def test_events_reach_user_autocommands_with_their_data(editor: Editor) -> None:
    editor.record("TypstAIExample")
    editor.lua("require('typstai.events').emit({ name = 'TypstAIExample', data = { id = 'x' } })")
    assert editor.seen("TypstAIExample") == [{"id": "x"}]


def test_highlight_groups_link_again_after_a_colour_scheme(
    chat: ChatScreen, editor: Editor
) -> None:
    chat.open()
    editor.nvim.command("highlight clear | colorscheme habamax")
    assert editor.nvim.api.get_hl(0, {"name": "TypstAIAdd"})["link"] == "DiffAdd"
