"""Two Neovims on one project and on one chat: nothing is lost, neither talks over the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from editor import start_editor
from endpoint import Endpoint, Wait, answer, delta
from session import Session

SHOWS = "table.concat(require('typstai').chat.lines(), '\\n'):find(..., 1, true)"
TRY = """
function _G.try()
  if not (_G.busy or _G.taken) then
    _G.busy = true
    require("typstai").send("Three?", {}, function(err)
      _G.busy, _G.taken = false, not err
    end)
  end
  return _G.taken
end
"""
ELSEWHERE = "Another Neovim is answering in this chat; your text is kept."


@pytest.fixture
def other(nvim_binary: str, tmp_path: Path) -> Iterator[Session]:
    """A second Neovim of the same user."""
    with start_editor(nvim_binary) as editor:
        yield Session(editor, tmp_path)


def both(one: Session, other: Session, endpoint: Endpoint) -> None:
    """Both have the chat of one project open, with one answer in it."""
    endpoint.reply(answer("First answer."))
    one.use(endpoint)
    one.document("text\n")
    one.editor.nvim.command("TypstAI")
    assert one.ask("One?") == "complete"
    other.use(endpoint)
    other.document("text\n")
    other.editor.nvim.command("TypstAI")
    other.editor.wait_for(SHOWS, "First answer.")


def come_back(session: Session) -> None:
    """What Neovim tells when its terminal gets the focus."""
    session.editor.lua("vim.api.nvim_exec_autocmds('FocusGained', {})")


@pytest.mark.parametrize("way", ["focus", "window"])
def test_what_another_neovim_wrote_is_shown_when_the_user_comes_back(
    session: Session, other: Session, endpoint: Endpoint, way: str
) -> None:
    both(session, other, endpoint)
    endpoint.reply(answer("Second answer."))
    assert other.ask("Two?") == "complete"
    if way == "focus":
        come_back(session)
    else:
        session.editor.feed("<Esc><C-w>p")
        session.editor.feed("<C-w>p")
    session.editor.wait_for(SHOWS, "Second answer.")
    assert session.chat().count("First answer.") == 1


def test_what_is_typed_in_the_prompt_stays_when_the_chat_is_shown_anew(
    session: Session, other: Session, endpoint: Endpoint
) -> None:
    both(session, other, endpoint)
    session.editor.feed("<Esc>Gihalf a thought")
    endpoint.reply(answer("Second answer."))
    assert other.ask("Two?") == "complete"
    come_back(session)
    session.editor.wait_for(SHOWS, "Second answer.")
    assert session.chat().endswith("half a thought")


def test_a_chat_that_is_answered_in_another_neovim_takes_no_message_and_keeps_it(
    session: Session, other: Session, endpoint: Endpoint
) -> None:
    both(session, other, endpoint)
    endpoint.reply(Wait("go"), answer("Second answer."))
    other.send("Two?")
    endpoint.wait_reached("go")
    session.send("Three?")
    assert session.refusal() == ELSEWHERE
    come_back(session)
    session.editor.wait_for(SHOWS, "Two?")
    session.send("Three?")
    assert session.refusal() == ELSEWHERE
    assert len(endpoint.requests) == 2
    endpoint.release("go")
    assert other.finished() == "complete"
    endpoint.reply(answer("Third answer."))
    assert session.ask("Three?") == "complete"
    chat = session.chat()
    found = [chat.index(text) for text in ("First", "Two?", "Second", "Three?", "Third")]
    assert found == sorted(found)
    contents = [item["content"] for item in endpoint.requests[2].body["messages"][1:]]
    assert [text.split("\n")[-1] for text in contents] == [
        "One?", "First answer.", "Two?", "Second answer.", "Three?"
    ]  # fmt: skip


def test_an_answer_that_grows_in_another_neovim_is_shown_as_far_as_it_is_and_stopped_there(
    session: Session, other: Session, endpoint: Endpoint
) -> None:
    both(session, other, endpoint)
    endpoint.reply(delta("Half of "), Wait("go"), answer("it."))
    other.send("Two?")
    other.editor.wait_for(SHOWS, "Half of")
    while "Half of" not in session.chat():
        come_back(session)
    session.editor.lua(
        "_G.told = {} require('typstai.message').sink = "
        "function(message) table.insert(_G.told, message) end"
    )
    session.editor.press("<Esc><C-c>")
    session.editor.wait_for("#_G.told > 0")
    assert session.editor.lua("return _G.told") == [
        "Another Neovim is answering in this chat: stop it there."
    ]
    endpoint.release("go")
    assert other.finished() == "complete"
    come_back(session)
    session.editor.wait_for(SHOWS, "Half of it.")


def test_an_answer_of_a_neovim_that_was_killed_does_not_hold_the_chat(
    session: Session, other: Session, endpoint: Endpoint
) -> None:
    both(session, other, endpoint)
    endpoint.reply(Wait("never"))
    other.send("Two?")
    endpoint.wait_reached("never")
    session.send("Three?")
    assert session.refusal() == ELSEWHERE
    connection = endpoint.requests[1].connection
    other.editor.process.kill()
    connection.wait_closed()
    endpoint.reply(answer("Third answer."))
    session.editor.lua(TRY)
    session.editor.wait_for("_G.try()")
    assert session.finished() == "complete"
    assert "ended during this answer" in session.chat()
