"""Two chats on one document: neither sees, decides or blocks what the other proposes."""

from __future__ import annotations

from typing import Any

from endpoint import Endpoint, Wait, answer, tool_calls
from session import Session

TEXT = "one\n\ntwo\n\nthree\n"
LIST = "return require('typstai').proposals.list()"


def replaced(search: str, replace: str) -> tuple[str, dict[str, str]]:
    return ("search_replace", {"search": search, "replace": replace})


def new_chat(session: Session) -> None:
    session.editor.nvim.command("TypstAI new")
    session.editor.wait_for(
        "not table.concat(require('typstai').chat.lines()):find('The first', 1, true)"
    )


def in_two_chats(session: Session, endpoint: Endpoint) -> tuple[int, Any, Any]:
    """A document in which each of two chats has one suggestion; the suggestions."""
    session.use(endpoint, approval="suggest")
    document = session.document(TEXT)
    endpoint.reply(tool_calls(replaced("one", "1\n1b")))
    endpoint.reply(answer("Suggested."))
    assert session.ask("The first.") == "complete"
    new_chat(session)
    session.show(document)
    endpoint.reply(tool_calls(("read_document", {}), replaced("three", "3")))
    endpoint.reply(answer("Suggested."))
    assert session.ask("The last.") == "complete"
    first, second = session.editor.lua(LIST)
    return document, first, second


def test_a_chat_reads_the_text_without_what_another_chat_proposes(
    session: Session, endpoint: Endpoint
) -> None:
    in_two_chats(session, endpoint)
    read = endpoint.requests[3].body["messages"][-2]["content"]
    assert "1: one\n2: \n3: two" in read


def test_accepting_all_of_a_chat_leaves_the_others_pending_where_they_belong(
    session: Session, endpoint: Endpoint
) -> None:
    document, first, second = in_two_chats(session, endpoint)
    chat = "return require('typstai.proposals.hunks').get(...).chat"
    chats = [session.editor.lua(chat, item["id"]) for item in (first, second)]
    assert chats[0] != chats[1]
    session.editor.lua("require('typstai.proposals').accept_all(...)", chats[0])
    assert session.lines(document) == ["1", "1b", "", "two", "", "three"]
    (left,) = session.editor.lua(LIST)
    assert (left["id"], left["hunks"][0]["state"]) == (second["id"], "pending")
    session.editor.lua("require('typstai.proposals').accept_all(...)", chats[1])
    assert session.lines(document) == ["1", "1b", "", "two", "", "3"]


def test_a_chat_that_waits_for_a_decision_does_not_hold_up_another(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    document = session.document(TEXT)
    endpoint.reply(tool_calls(replaced("one", "1")))
    session.send("The first.")
    waiting = session.proposal()
    new_chat(session)
    session.show(document)
    endpoint.reply(answer("At once."))
    assert session.ask("Are you free?") == "complete"
    endpoint.reply(Wait("go"), answer("Done."))
    session.editor.lua("require('typstai').proposals.accept(...)", waiting["id"])
    endpoint.wait_reached("go")
    assert session.lines(document)[0] == "1"
    endpoint.release("go")
    assert session.finished() == "complete"
