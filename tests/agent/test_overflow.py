"""A chat that is too long for its model: less of it is sent, once, and that is said."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from chatting import Chat
from endpoint import Endpoint, Step, answer, delta, event, failure, tool_calls
from typstai.agent import history
from typstai.agent.providers.client import HttpClients
from typstai.domain.chat import AssistantTurn, Text, ToolUse, Turn, UserTurn


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with Endpoint() as started:
        yield started


@pytest.fixture
async def clients() -> AsyncIterator[HttpClients]:
    made = HttpClients()
    yield made
    await made.aclose()


def long_chat(length: int = 4) -> list[Turn]:
    """Exchanges of 2,000 characters, each with a tool call."""
    turns: list[Turn] = []
    for n in range(length):
        call = ToolUse(round=0, id=f"c{n}", name="echo", state="done", result="r" * 500)
        said = Text(round=1, text=f"answer {n} " + "a" * 500)
        turns += [
            UserTurn(id=f"u{n}", text=f"question {n} " + "q" * 1000),
            AssistantTurn(id=f"a{n}", status="complete", segments=(call, said)),
        ]
    return turns


def sent(server: Endpoint, request: int) -> str:
    return str(server.requests[request].body["messages"])


TOO_LONG: list[list[Step]] = [
    failure(400, "This model's maximum context length is 8192 tokens."),
    failure(413, "Request too large for model on tokens per minute (TPM)"),
    failure(429, "Request too large for gpt on tokens per min (TPM): Limit 10000"),
    failure(400, "the request exceeds the available context size, try increasing it"),
    failure(400, "input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000"),
    failure(400, "This model's maximum prompt length is 131072 but the request contains 140000"),
    [event({"error": {"message": "prompt is too long: 210000 tokens", "code": 400}})],
]


@pytest.mark.parametrize("refusal", TOO_LONG)
async def test_the_older_half_is_left_out_and_the_request_sent_once_more(
    refusal: list[Step], server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients, turns=long_chat())
    server.reply(refusal)
    server.reply(answer("Here."))
    turn = await chat.run("And now?")
    assert turn.status == "complete"
    assert len(server.requests) == 2
    assert "question 0" in sent(server, 0)
    assert "question 0" not in sent(server, 1)
    assert "question 1" not in sent(server, 1)
    assert "question 3" in sent(server, 1)
    assert "And now?" in sent(server, 1)
    assert "6 earlier messages of this chat are not shown to you" in sent(server, 1)


async def test_what_was_left_out_is_said_and_kept(server: Endpoint, clients: HttpClients) -> None:
    chat = Chat(server, clients, turns=long_chat())
    server.reply(TOO_LONG[0])
    server.reply(answer("Here."))
    turn = await chat.run()
    assert turn.notes == (
        "The oldest 6 messages of this chat were not sent: together they are too long for the"
        " model.",
    )
    assert [note["text"] for note in chat.shown("note")] == list(turn.notes)


async def test_a_second_refusal_is_the_end(server: Endpoint, clients: HttpClients) -> None:
    chat = Chat(server, clients, turns=long_chat())
    server.reply(TOO_LONG[0])
    server.reply(TOO_LONG[0])
    turn = await chat.run()
    assert turn.status == "failed"
    assert "too long" in turn.error
    assert ":TypstAI new" in turn.error
    assert len(server.requests) == 2


async def test_with_nothing_to_leave_out_it_is_not_sent_again(
    server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients)
    server.reply(TOO_LONG[0])
    turn = await chat.run()
    assert turn.status == "failed"
    assert len(server.requests) == 1
    assert turn.notes == ()


async def test_a_run_that_grew_too_long_in_its_tool_rounds_goes_on_with_less(
    server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients, turns=long_chat())
    server.reply(tool_calls(("echo", {})))
    server.reply(TOO_LONG[0])
    server.reply(answer("Here."))
    assert (await chat.run()).status == "complete"
    assert "the echo" in sent(server, 2)
    assert "question 0" not in sent(server, 2)


async def test_text_that_came_before_the_error_is_not_asked_for_again(
    server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients, turns=long_chat())
    server.reply(delta("Half"), event({"error": {"message": "context length exceeded"}}))
    turn = await chat.run()
    assert turn.status == "failed"
    assert len(server.requests) == 1


async def test_what_is_beyond_the_known_window_is_left_out_at_once_and_said(
    server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients, turns=long_chat(), context_window=2000)
    server.reply(answer("Here."))
    turn = await chat.run()
    assert "question 0" not in sent(server, 0)
    assert "question 3" in sent(server, 0)
    assert "not sent" in turn.notes[0]


async def test_the_instructions_count_towards_the_window(
    server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients, turns=long_chat(), context_window=4500)
    server.reply(answer("Here."))
    await chat.run()
    assert "question 0" in sent(server, 0)
    chat = Chat(server, clients, turns=long_chat(), context_window=4500, extra_prompt="x" * 4000)
    server.reply(answer("Here."))
    await chat.run()
    assert "question 0" not in sent(server, 1)
    assert "question 3" in sent(server, 1)


def test_halving_keeps_the_request_and_whole_turns() -> None:
    turns = [*long_chat(), UserTurn(id="now", text="now")]
    kept, dropped = history.halved(turns)
    assert 0 < dropped < len(turns)
    assert list(kept) == turns[dropped:]
    assert isinstance(kept[0], UserTurn)
    while dropped:
        kept, dropped = history.halved(kept)
    assert [turn.id for turn in kept] == ["now"]
