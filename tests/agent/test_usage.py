"""Tokens and money: the provider's count where there is one, a marked guess where not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from chatting import Chat
from endpoint import DONE, Endpoint, Wait, answer, chunk, delta, tool_calls
from typstai.agent.providers.base import Price, Usage
from typstai.agent.providers.client import HttpClients

PRICE = Price(input=2.5, output=10)


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with Endpoint() as started:
        yield started


@pytest.fixture
async def clients() -> AsyncIterator[HttpClients]:
    made = HttpClients()
    yield made
    await made.aclose()


def test_a_price_is_for_a_million_tokens() -> None:
    assert PRICE.of(Usage(input_tokens=1_000_000, output_tokens=500_000)) == 7.5


async def test_an_answer_of_several_rounds_adds_up(server: Endpoint, clients: HttpClients) -> None:
    server.reply(tool_calls(("echo", {})))
    server.reply(answer("Done."))
    chat = Chat(server, clients, price=PRICE)
    turn = await chat.run()
    assert (turn.input_tokens, turn.output_tokens, turn.estimated) == (24, 10, False)
    assert turn.cost == pytest.approx((24 * 2.5 + 10 * 10) / 1e6)
    (finish,) = chat.shown("finish")
    assert finish["cost"] == turn.cost
    assert finish["estimated"] is False


async def test_without_a_price_there_is_no_cost(server: Endpoint, clients: HttpClients) -> None:
    server.reply(answer("Done."))
    assert (await Chat(server, clients).run()).cost == 0.0


async def test_one_guess_marks_the_sum(server: Endpoint, clients: HttpClients) -> None:
    server.reply(tool_calls(("echo", {})))
    server.reply(delta("Done."), chunk({}, "stop"), DONE)
    turn = await Chat(server, clients).run()
    assert turn.estimated
    assert turn.input_tokens > 12


async def test_a_stopped_answer_keeps_what_its_whole_rounds_used(
    server: Endpoint, clients: HttpClients
) -> None:
    server.reply(tool_calls(("wait", {})), Wait("never"))
    chat = Chat(server, clients, price=PRICE)
    await chat.begin()
    await chat.stage.entered.wait()
    await chat.conversation.stop()
    assert chat.answer().input_tokens == 12
    assert chat.answer().cost > 0
