"""A chat that opens, or comes back: its prompt is there at once, its turns when Python answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from chat_screen import CHAT, ChatScreen, question
from editor import Editor, start_editor
from endpoint import DONE, Endpoint, Wait, answer, delta, finish
from session import Session

TEXT = "= Title\n\nThe bridge is old.\n"
HAS = "table.concat(require('typstai').chat.lines(), '\\n'):find(select(1, ...), 1, true)"


@pytest.fixture
def chat(editor: Editor) -> ChatScreen:
    chat = ChatScreen(editor)
    chat.answer("chat.open", "hold")
    return chat


def _arrive(chat: ChatScreen, *texts: str, chat_id: str = CHAT) -> None:
    turns = [question(text) for text in texts]
    found = {"id": chat_id, "project": "/home/ada/thesis", "title": "", "turns": turns}
    chat.editor.lua("_G.held(nil, ...)", found)


def test_keys_typed_while_the_chat_opens_do_not_change_the_document(session: Session) -> None:
    session.setup()
    bufnr = session.document(TEXT)
    session.editor.nvim.api.input(":TypstAI<CR>xxFix")
    session.editor.wait_for("#require('typstai').chat.lines() > 0")
    assert session.lines(bufnr) == TEXT.splitlines()
    session.editor.wait_for("vim.api.nvim_get_current_line() == 'xxFix'")
    assert session.editor.nvim.api.get_mode()["mode"] == "i"


def test_typing_goes_on_when_the_turns_arrive(chat: ChatScreen, editor: Editor) -> None:
    editor.feed(":TypstAI<CR>Fix ")
    _arrive(chat, "One")
    editor.feed("it")
    assert (chat.prompt(), chat.mode()) == ("Fix it", "i")
    assert "One" in chat.transcript()


def test_typing_goes_on_when_another_chat_than_the_one_shown_arrives(
    chat: ChatScreen, editor: Editor
) -> None:
    _open_in(editor, "/home/ada/thesis/a.typ")
    _arrive(chat, "One")
    editor.feed("idraft<Esc>q")
    _open_in(editor, "/home/ada/thesis/sub/b.typ")
    editor.feed("A and")
    _arrive(chat, "Two", chat_id="c2")
    editor.feed(" more<Esc>")
    assert "Two" in chat.lines() and chat.lines()[-1] == " and more"
    editor.feed("q")
    _open_in(editor, "/home/ada/thesis/a.typ")
    _arrive(chat, "One")
    assert chat.lines()[-1] == "draft"


def _open_in(editor: Editor, path: str) -> None:
    editor.lua("require('typstai').chat.close() require('typstai.chat').open({ path = ... })", path)


def test_a_message_sent_before_the_chat_is_loaded_follows_it_once(
    chat: ChatScreen, editor: Editor
) -> None:
    editor.feed(":TypstAI<CR>Fix it<C-s><C-s>")
    assert chat.calls("chat.send") == []
    _arrive(chat)
    assert [(sent["chat"], sent["text"]) for sent in chat.calls("chat.send")] == [(CHAT, "Fix it")]
    assert chat.prompt() == ""


def test_a_message_stopped_before_the_chat_is_loaded_is_not_sent(
    chat: ChatScreen, editor: Editor
) -> None:
    editor.feed(":TypstAI<CR>Fix it<C-s>")
    editor.press("<C-c>")
    _arrive(chat)
    assert chat.calls("chat.send") == []
    assert chat.prompt() == "Fix it"


def test_a_chat_that_cannot_be_opened_says_why_and_keeps_the_text(
    chat: ChatScreen, editor: Editor
) -> None:
    editor.feed(":TypstAI<CR>Fix it")
    editor.lua("_G.held({ code = 'storage', message = 'The disk is full.' })")
    assert chat.lines() == ["The disk is full.", "Fix it"]
    assert chat.messages() == ["The disk is full."]
    editor.feed("<C-s>")
    _arrive(chat)
    assert [sent["text"] for sent in chat.calls("chat.send")] == ["Fix it"]


def test_a_chat_closed_while_it_opens_stays_closed(chat: ChatScreen, editor: Editor) -> None:
    editor.feed(":TypstAI<CR><Esc>q")
    _arrive(chat, "One")
    assert len(editor.nvim.windows) == 1
    assert "One" in chat.lines()


@pytest.mark.parametrize("command", ["TypstAI", "TypstAI new"])
def test_a_chat_begins_in_insert_mode(session: Session, command: str) -> None:
    session.setup()
    session.document(TEXT)
    session.editor.feed(f":{command}<CR>")
    assert session.editor.nvim.api.get_mode()["mode"] == "i"
    session.editor.wait_for("#require('typstai').chat.lines() > 0")
    assert session.editor.nvim.api.get_mode()["mode"] == "i"


def test_a_chat_opened_on_the_command_line_begins_in_insert_mode(
    nvim_binary: str, tmp_path: Path
) -> None:
    data = f"let g:typstai_data = '{tmp_path}'"
    opening = ("-c", "TypstAI", "-c", "startinsert")
    with start_editor(nvim_binary, "--cmd", data, *opening) as editor:
        editor.wait_for("#vim.api.nvim_list_wins() == 2")
        editor.feed("Fix it")
        assert (editor.nvim.api.get_current_line(), editor.lines(1)) == ("Fix it", [""])


def test_adding_a_selection_begins_insert_mode(session: Session) -> None:
    session.setup()
    session.document(TEXT)
    session.editor.feed("Vj:TypstAI add selection<CR>")
    assert session.editor.nvim.api.get_mode()["mode"] == "i"


def test_no_insert_mode_for_those_who_do_not_want_it(session: Session) -> None:
    session.setup(ui={"start_insert": False})
    session.document(TEXT)
    session.editor.feed(":TypstAI<CR>")
    assert session.editor.nvim.api.get_mode()["mode"] == "n"


def test_a_chat_deleted_during_its_answer_shows_and_stops_it_when_opened_again(
    session: Session, endpoint: Endpoint
) -> None:
    endpoint.reply(delta("Alpha "), Wait("go"), delta("beta "), Wait("never"))
    session.use(endpoint)
    session.document(TEXT)
    session.send("Hi")
    endpoint.wait_reached("go")
    session.editor.wait_for(HAS, "Alpha")
    session.editor.lua("vim.cmd('bdelete ' .. vim.fn.bufnr('typstai://'))")
    session.editor.lua("require('typstai').chat.open()")
    session.editor.wait_for(HAS, "Alpha")
    endpoint.release("go")
    session.editor.wait_for(HAS, "Alpha beta")
    session.editor.press("<C-c>")
    assert session.finished() == "cancelled"


def test_nothing_is_lost_or_doubled_by_opening_a_chat_amid_its_answer(
    session: Session, endpoint: Endpoint
) -> None:
    words = [f"w{number} " for number in range(40)]
    endpoint.reply(
        *[delta(word) for word in words[:20]],
        Wait("go"),
        *[delta(w) for w in words[20:]],
        finish(),
        DONE,
    )
    session.use(endpoint)
    session.document(TEXT)
    session.send("Hi")
    session.editor.lua(
        "vim.cmd('bdelete ' .. vim.fn.bufnr('typstai://')) require('typstai').chat.open()"
    )
    endpoint.release("go")
    assert session.finished() == "complete"
    session.editor.wait_for(HAS, "".join(words).strip())


def test_another_neovims_turns_appear_when_the_chat_is_opened_again(
    nvim_binary: str, session: Session, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.reply(answer("From the other."))
    session.use(endpoint)
    session.document(TEXT)
    session.editor.lua("require('typstai').chat.open()")
    session.editor.wait_for("#require('typstai').chat.lines() > 0")
    session.editor.lua("require('typstai').chat.close()")
    with start_editor(nvim_binary) as editor:
        other = Session(editor, session.folder)
        other.use(endpoint)
        other.document(TEXT)
        assert other.ask("Hi") == "complete"
    session.editor.lua("require('typstai').chat.open()")
    session.editor.wait_for(HAS, "From the other.")
