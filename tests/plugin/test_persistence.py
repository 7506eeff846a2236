"""Chats are kept and shown again, whatever ended Neovim."""

from pathlib import Path

from editor import start_editor
from endpoint import Endpoint, Wait, answer, delta, tool_calls
from session import Session


def whole(session: Session) -> str:
    """The chat once the last answer has all of its line, the actions included."""
    session.editor.wait_for("table.concat(require('typstai').chat.lines()):find('Snapshot')")
    return session.chat()


def test_a_chat_is_shown_again_after_a_restart(
    nvim_binary: str, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.reply(tool_calls(("read_document", {})))
    endpoint.reply(answer("It is short."))
    endpoint.reply(answer("As I said."))
    with start_editor(nvim_binary) as editor:
        session = Session(editor, tmp_path)
        session.use(endpoint)
        session.document("text\n")
        assert session.ask("How long is it?") == "complete"
        before = whole(session)
    with start_editor(nvim_binary) as editor:
        session = Session(editor, tmp_path)
        session.use(endpoint)
        session.document("text\n")
        editor.nvim.command("TypstAI")
        assert whole(session) == before
        assert session.ask("And now?") == "complete"
    roles = [message["role"] for message in endpoint.requests[2].body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]


def test_a_killed_neovim_loses_no_earlier_message_and_at_most_the_end_of_an_answer(
    nvim_binary: str, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.reply(answer("First answer."))
    endpoint.reply(delta("Second "), Wait("saved"), delta("answer."), Wait("never"))
    with start_editor(nvim_binary) as editor:
        session = Session(editor, tmp_path)
        session.use(endpoint)
        session.document("text\n")
        assert session.ask("One?") == "complete"
        session.send("Two?")
        editor.wait_for("table.concat(require('typstai').chat.lines()):find('Second')")
        endpoint.release("saved")
        endpoint.wait_reached("never")
        editor.process.kill()
        editor.process.wait()
    with start_editor(nvim_binary) as editor:
        session = Session(editor, tmp_path)
        session.use(endpoint)
        session.document("text\n")
        editor.nvim.command("TypstAI")
        editor.wait_for("table.concat(require('typstai').chat.lines()):find('Two?', 1, true)")
        chat = session.chat()
    assert "First answer." in chat
    assert "Second" in chat
    assert "ended during this answer" in chat


def test_a_message_sent_while_the_chat_opens_goes_to_the_chat_that_is_shown(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("text\n")
    endpoint.reply(answer("Right away."))
    session.editor.lua("""
        for _ = 1, 4 do
          require("typstai").chat.open()
        end
        require("typstai").send("Now?", nil, function() end)
    """)
    assert "Right away." in whole(session)
    chats = session.editor.lua("""
        return vim.tbl_filter(function(bufnr)
          return vim.bo[bufnr].filetype == "typstai"
        end, vim.api.nvim_list_bufs())
    """)
    assert len(chats) == 1


def test_another_project_has_a_chat_of_its_own(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint)
    for name in ("a", "b"):
        (session.folder / "project" / name).mkdir(parents=True)
        (session.folder / "project" / name / "typst.toml").write_text("", encoding="utf-8")
    endpoint.reply(answer("About A."))
    session.document("a\n", "a/main.typ")
    assert session.ask("A?") == "complete"
    session.editor.lua("require('typstai').chat.close()")
    session.document("b\n", "b/main.typ")
    session.editor.nvim.command("TypstAI")
    session.editor.wait_for("not table.concat(require('typstai').chat.lines()):find('About A')")


def test_a_new_chat_leaves_the_old_one_in_the_store(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint)
    session.document("text\n")
    endpoint.reply(answer("Old."))
    endpoint.reply(answer("New."))
    assert session.ask("One?") == "complete"
    session.editor.nvim.command("TypstAI new")
    session.editor.wait_for("not table.concat(require('typstai').chat.lines()):find('Old')")
    assert session.ask("Two?") == "complete"
    roles = [message["role"] for message in endpoint.requests[1].body["messages"]]
    assert roles == ["system", "user"]
