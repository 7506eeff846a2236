"""Servers that read less than they were sent, and models that think and say nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from chatting import Chat
from endpoint import DONE, Endpoint, Step, chunk, delta
from typstai.agent.providers.base import ModelRequest, Usage, UserMessage
from typstai.agent.providers.client import HttpClients
from typstai.agent.providers.cut import told_cut
from typstai.domain.chat import AssistantTurn, Text, Turn, UserTurn

WINDOW = 2048


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with Endpoint() as started:
        yield started


@pytest.fixture
async def clients() -> AsyncIterator[HttpClients]:
    made = HttpClients()
    yield made
    await made.aclose()


def counted(tokens: int) -> list[Step]:
    usage = {"prompt_tokens": tokens, "completion_tokens": 3, "total_tokens": tokens + 3}
    return [delta("Here."), chunk({}, "stop", usage=usage), DONE]


def long_chat() -> list[Turn]:
    return [
        UserTurn(id="u1", text="word " * 20_000),
        AssistantTurn(id="a1", status="complete", segments=(Text(round=0, text="Yes."),)),
    ]


async def test_a_server_that_silently_cuts_the_request_is_told_of_once_in_a_chat(
    server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients, turns=long_chat())
    server.reply(counted(WINDOW))
    server.reply(counted(WINDOW))
    first, second = await chat.run("One."), await chat.run("Two.")
    assert len(first.notes) == 1
    assert "read only 2,048 of at least 1" in first.notes[0]
    assert "OLLAMA_CONTEXT_LENGTH" in first.notes[0]
    assert first.status == "complete"
    assert second.notes == ()


@pytest.mark.parametrize("tokens", [26, 20_000])
async def test_a_whole_request_or_one_that_is_partly_remembered_is_no_cut(
    tokens: int, server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients, turns=long_chat())
    server.reply(counted(tokens))
    assert (await chat.run("One.")).notes == ()


def test_what_we_only_estimate_ourselves_gives_nothing_away() -> None:
    request = ModelRequest(system="", messages=(UserMessage(text="w " * 50_000),))
    assert told_cut(request, Usage(input_tokens=WINDOW)) != ""
    assert told_cut(request, Usage(input_tokens=WINDOW, estimated=True)) == ""


async def test_a_model_that_only_thinks_does_not_count_as_having_answered(
    server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients)
    server.reply([chunk({"reasoning_content": "Hm."}), chunk({"content": ""}, "stop"), DONE])
    turn = await chat.run("One.")
    assert turn.status == "incomplete"
    assert turn.error.startswith("The model ended without an answer.")
