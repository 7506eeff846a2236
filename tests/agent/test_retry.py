"""Busy and absent endpoints: tried again, told second by second, and never twice for one text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

import pytest

from endpoint import (
    DONE,
    Close,
    Endpoint,
    Reset,
    Step,
    answer,
    body,
    delta,
    event,
    failure,
    finish,
)
from typstai.agent.providers.base import ModelRequest, Notice, StreamEvent, TextDelta, UserMessage
from typstai.agent.providers.client import HttpClients
from typstai.agent.providers.endpoint import Endpoint as ModelEndpoint
from typstai.agent.providers.openai import OpenAIModel
from typstai.agent.providers.retry import MAX_RETRIES, Retrying, wait_seconds
from typstai.errors import ConnectError, ModelError, StatusError

REQUEST = ModelRequest(system="", messages=(UserMessage(text="Hi"),))


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with Endpoint() as started:
        yield started


@pytest.fixture
async def clients() -> AsyncIterator[HttpClients]:
    made = HttpClients()
    yield made
    await made.aclose()


class Clock:
    """Sleeps without time, and remembers how long."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def retrying(url: str, clients: HttpClients, clock: Clock | None = None, **fields: Any) -> Retrying:
    model = OpenAIModel(ModelEndpoint(name="mine", base_url=url, model="m", **fields), clients)
    return Retrying(model, sleep=(clock or Clock()).sleep, chance=lambda: 0.5)


async def collect(model: Retrying) -> tuple[list[StreamEvent], ModelError | None]:
    found: list[StreamEvent] = []
    try:
        async for item in model.stream(REQUEST):
            found.append(item)  # noqa: PERF401 - what came before an error counts
    except ModelError as error:
        return found, error
    return found, None


def text(events: list[StreamEvent]) -> str:
    return "".join(item.text for item in events if isinstance(item, TextDelta))


def notices(events: list[StreamEvent]) -> list[str]:
    return [item.text for item in events if isinstance(item, Notice)]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
async def test_a_busy_endpoint_is_asked_again(
    status: int, server: Endpoint, clients: HttpClients
) -> None:
    server.reply(failure(status, "later"))
    server.reply(answer("Here."))
    events, error = await collect(retrying(server.url, clients))
    assert (text(events), error) == ("Here.", None)
    assert [request.raw for request in server.requests] == [server.requests[0].raw] * 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 501])
async def test_a_refusal_is_not_asked_again(
    status: int, server: Endpoint, clients: HttpClients
) -> None:
    server.reply(failure(status, "no"))
    _, error = await collect(retrying(server.url, clients))
    assert isinstance(error, StatusError)
    assert len(server.requests) == 1


async def test_tries_are_bounded_and_grow_apart(server: Endpoint, clients: HttpClients) -> None:
    for _ in range(MAX_RETRIES + 1):
        server.reply(failure(503, "down"))
    clock = Clock()
    events, error = await collect(retrying(server.url, clients, clock))
    assert "(503): down." in str(error)
    assert len(server.requests) == MAX_RETRIES + 1
    waits = [wait_seconds(ModelError("", remedy="wait"), n, 0.5) for n in range(1, MAX_RETRIES + 1)]
    assert waits == [0.75, 1.5, 3.0, 6.0]
    assert sum(clock.slept) == sum(filter(None, waits))
    assert notices(events)[-1] == ""


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry_after": "3"}, "later", 3.25),
        ({"retry_after": "30", "retry_after_ms": "1500"}, "later", 1.75),
        ({}, "Rate limit reached. Please try again in 7.5s.", 7.75),
        ({}, "Please retry in 250ms", 0.5),
    ],
)
async def test_the_time_the_server_asks_for_is_waited(
    headers: dict[str, str],
    message: str,
    seconds: float,
    server: Endpoint,
    clients: HttpClients,
) -> None:
    server.reply(failure(429, message, **headers))
    server.reply(answer("Here."))
    clock = Clock()
    events, _ = await collect(retrying(server.url, clients, clock))
    assert text(events) == "Here."
    assert sum(clock.slept) == pytest.approx(seconds)


async def test_an_hour_is_not_waited(server: Endpoint, clients: HttpClients) -> None:
    server.reply(failure(429, "come back later", retry_after="3600"))
    clock = Clock()
    assert (await collect(retrying(server.url, clients, clock)))[1] is not None
    assert clock.slept == []


async def test_an_account_without_credit_is_told_at_once(
    server: Endpoint, clients: HttpClients
) -> None:
    server.reply(failure(429, "You exceeded your current quota, please check your billing."))
    _, error = await collect(retrying(server.url, clients))
    assert "no credit left" in str(error)
    assert len(server.requests) == 1


async def test_the_wait_is_told_second_by_second(server: Endpoint, clients: HttpClients) -> None:
    server.reply(failure(529, "Overloaded", retry_after="1.7"))
    server.reply(answer("Here."))
    clock = Clock()
    events, _ = await collect(retrying(server.url, clients, clock))
    first, second, cleared = notices(events)
    assert first.startswith("Trying again in 2 s (1 of 4): mine")
    assert "Overloaded" in first
    assert second.startswith("Trying again in 1 s (1 of 4): mine")
    assert cleared == ""
    assert clock.slept == pytest.approx([0.95, 1.0])


async def test_what_was_streamed_is_never_streamed_again(
    server: Endpoint, clients: HttpClients
) -> None:
    broken = event({"error": {"message": "Overloaded", "type": "overloaded_error"}})
    for steps in ([delta("Half"), broken], [delta("Half"), Close()], [delta("Half"), Reset()]):
        server.reply(*steps)
        events, error = await collect(retrying(server.url, clients))
        assert error is not None
        assert text(events) == "Half"
        assert notices(events) == []


@pytest.mark.parametrize(
    "steps",
    [
        [event({"error": {"message": "Overloaded", "type": "overloaded_error"}})],
        [event({"error": {"message": "Upstream", "code": 502}})],
        [b": waiting\n\n", Close()],
        [Reset()],
        body(b'{"error":{"message":"busy","code":429}}'),
    ],
)
async def test_an_answer_that_fails_before_its_first_word_is_asked_again(
    steps: list[Step], server: Endpoint, clients: HttpClients
) -> None:
    server.reply(*steps)
    server.reply(answer("Here."))
    events, error = await collect(retrying(server.url, clients))
    assert (text(events), error) == ("Here.", None)


async def test_an_error_that_waiting_does_not_mend_is_not_waited_for(
    server: Endpoint, clients: HttpClients
) -> None:
    server.reply(event({"error": {"message": "Bad tool schema", "code": 400}}), DONE)
    _, error = await collect(retrying(server.url, clients))
    assert "Bad tool schema" in str(error)
    assert len(server.requests) == 1


async def test_a_server_that_comes_up_meanwhile_is_reached(clients: HttpClients) -> None:
    with Endpoint() as gone:
        port = gone.port
    started: list[asyncio.Server] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b'include_usage":true}}')
        writer.write(b"HTTP/1.0 200 OK\r\n\r\n" + delta("Here.") + finish())
        writer.close()
        await writer.wait_closed()

    async def start(seconds: float) -> None:
        started.append(await asyncio.start_server(serve, "127.0.0.1", port))

    endpoint = ModelEndpoint(name="mine", base_url=f"http://127.0.0.1:{port}/v1", model="m")
    model = Retrying(OpenAIModel(endpoint, clients), sleep=start, chance=lambda: 0.5)
    events, error = await collect(model)
    started[0].close()
    assert (text(events), error) == ("Here.", None)
    assert notices(events)[0].startswith("Trying again in 1 s (1 of 2): Nothing listens at")


async def test_an_absent_server_is_not_waited_for_long(clients: HttpClients) -> None:
    with Endpoint() as gone:
        url = gone.url
    clock = Clock()
    _, error = await collect(retrying(url, clients, clock))
    assert isinstance(error, ConnectError)
    assert sum(clock.slept) == 2.25


async def test_closing_ends_the_countdown(server: Endpoint, clients: HttpClients) -> None:
    server.reply(failure(503, "down", retry_after="60"))
    model = OpenAIModel(ModelEndpoint(name="mine", base_url=server.url, model="m"), clients)
    before = asyncio.all_tasks()
    async with aclosing(Retrying(model).stream(REQUEST)) as stream:
        assert isinstance(await anext(stream), Notice)
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert asyncio.all_tasks() == before
    assert len(server.requests) == 1
