"""Text actions whose document is closed, and where their place is when nothing is selected."""

from __future__ import annotations

import pytest

from action_writer import SHORTER, Writer
from endpoint import DONE, Endpoint, Wait, answer, chunk, delta, tool_calls
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


def test_an_answer_to_a_passage_that_the_server_cut_is_not_proposed(writer: Writer) -> None:
    line = f"{'One word after another. ' * 500}\n"
    writer.open(line * 2)
    usage = {"prompt_tokens": 2048, "completion_tokens": 5}
    writer.endpoint.reply(delta("One word."), chunk({}, "stop", usage=usage), DONE)
    writer.act("rephrase", range=[0, 0, 1, len(line) - 1])
    assert writer.outcome() == ("failed", "error")
    (told,) = writer.told()
    assert "read only 2,048 of at least " in told
    assert writer.hunks() == []


GAPS = [
    # what stands there, where the cursor is, what stands there once it is accepted
    (["One thing.", "", ""], 3, ["One thing.", "", "And more."]),
    (["One thing.", ""], 2, ["One thing.", "And more."]),
    (["One thing.", "", "The end."], 2, ["One thing.", "", "And more.", "", "The end."]),
    (["One thing.", "", "", "The end."], 3, ["One thing.", "", "And more.", "", "The end."]),
    (["= Title", "", "", "", "The end."], 3, ["= Title", "", "And more.", "", "The end."]),
    (["One thing.", "", "#pagebreak()", ""], 4, ["One thing.", "", "#pagebreak()", "And more."]),
    (["One thing.", "", "  "], 3, ["One thing.", "", "  And more."]),
]


@pytest.mark.parametrize(("lines", "row", "accepted"), GAPS)
def test_on_a_blank_line_the_text_before_is_continued_at_the_cursor(
    writer: Writer, lines: list[str], row: int, accepted: list[str]
) -> None:
    document = writer.open("".join(f"{line}\n" for line in lines))
    writer.endpoint.reply(answer("And more."))
    writer.editor.nvim.command(f"{row}")
    writer.editor.nvim.command("TypstAI continue")
    assert writer.outcome() == ("applied", "")
    assert writer.target() == next(line for line in lines if line)
    message = writer.endpoint.requests[0].body["messages"][-1]["content"]
    assert ("The end." in message) == ("The end." in lines)
    assert writer.session.lines(document) == lines
    writer.editor.nvim.command("TypstAI accept")
    assert writer.session.lines(document) == accepted


@pytest.mark.parametrize("lines", [[""], ["#set page(numbering: none)", ""], ["", "The end."]])
def test_with_nothing_to_continue_it_says_so(writer: Writer, lines: list[str]) -> None:
    writer.open("".join(f"{line}\n" for line in lines))
    writer.editor.nvim.command("1" if lines[0] == "" else "2")
    writer.editor.nvim.command("TypstAI continue")
    assert writer.outcome() == ("empty", "no-target")
    assert writer.told() == ["continue: there is no prose to work on."]
    assert writer.endpoint.requests == []


def test_typing_at_the_cursor_meanwhile_makes_the_continuation_stale(writer: Writer) -> None:
    document = writer.open("One thing.\n\n\n")
    writer.endpoint.reply(Wait("go"), answer("And more."))
    writer.editor.nvim.command("3")
    writer.editor.nvim.command("TypstAI continue")
    writer.endpoint.wait_reached("go")
    writer.editor.feed("iMine.<Esc>")
    writer.endpoint.release("go")
    assert writer.outcome() == ("stale", "")
    assert writer.session.lines(document)[2] == "Mine."


def test_what_is_typed_at_the_cursor_after_sending_stands_before_what_is_inserted_there(
    writer: Writer,
) -> None:
    document = writer.open("One thing.\n", approval="auto")
    session = writer.session
    writer.endpoint.reply(Wait("go"), tool_calls(("insert_at_cursor", {"text": " Two."})))
    writer.endpoint.reply(answer("Done."))
    writer.editor.feed("A<Right>")
    session.send("Go on.")
    writer.endpoint.wait_reached("go")
    session.show(document)
    writer.editor.feed(" Mine.")
    writer.endpoint.release("go")
    assert session.finished() == "complete"
    assert session.lines(document) == ["One thing. Mine. Two."]
