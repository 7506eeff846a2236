"""Text actions whose document is closed, and where their place is when nothing is selected."""

from __future__ import annotations

import pytest

from action_writer import SHORTER, Writer
from endpoint import Endpoint, Wait, answer
from session import Session


@pytest.fixture
def writer(session: Session, endpoint: Endpoint) -> Writer:
    return Writer(session, endpoint)


CLOSING = ["bwipeout!", "bdelete!"]


@pytest.mark.parametrize("command", CLOSING)
def test_closing_the_document_ends_the_action_at_once_and_its_request(
    writer: Writer, command: str
) -> None:
    document = writer.open()
    writer.endpoint.reply(Wait("go"), answer(SHORTER))
    writer.editor.feed(r"2j\wrip")
    writer.endpoint.wait_reached("go")
    writer.editor.nvim.command(f"{command} {document}")
    assert writer.outcome() == ("failed", "aborted")
    assert writer.told() == ["rephrase: stopped, because the document was closed."]
    writer.endpoint.requests[0].connection.wait_closed()
    assert writer.hunks() == []


def test_closing_another_document_ends_no_action(writer: Writer) -> None:
    document = writer.open()
    other = writer.session.document("other\n", "other.typ")
    writer.session.editor.nvim.command(f"buffer {document}")
    writer.endpoint.reply(Wait("go"), answer(SHORTER))
    writer.editor.feed(r"2j\wrip")
    writer.endpoint.wait_reached("go")
    writer.editor.nvim.command(f"bwipeout {other}")
    writer.endpoint.release("go")
    assert writer.outcome() == ("applied", "")


def test_closing_the_document_while_the_question_is_open_ends_it_too(writer: Writer) -> None:
    document = writer.open()
    writer.editor.lua("vim.ui.input = function(_, done) _G.reply = done end")
    writer.editor.nvim.command("3TypstAI ask")
    writer.editor.nvim.command(f"bwipeout! {document}")
    assert writer.outcome() == ("failed", "aborted")
    writer.editor.lua("_G.reply('Shorter.')")
    assert writer.told() == ["ask: stopped, because the document was closed."]
    assert writer.endpoint.requests == []
