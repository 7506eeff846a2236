"""Text actions answered by a team's own server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from email.utils import formatdate
from time import time
from typing import Any

import pytest

from endpoint import Close, Endpoint, Head, Reset, Wait, body, failure
from session import Session
from typstai.errors import ConnectError, SettingsError, StreamError
from typstai.writing.templates import Fragments, Prompt
from typstai.writing.transport import ActionTransportError, Address, HttpTransport

FRAGMENTS = Fragments(
    action="style", target="Text é ⟦1⟧.", before="a", after="b", params={"tone": "dry"}
)
PROMPT = Prompt(system="ours alone", message="ours alone")


class Server:
    """A transport to the scripted endpoint, and how long it was told to wait."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.waits: list[float] = []
        self._transports: list[HttpTransport] = []

    async def ask(self, **options: Any) -> str:
        address = Address(url=f"{self.endpoint.origin}/action", **options)
        transport = HttpTransport(address, sleep=self._sleep)
        self._transports.append(transport)
        return await transport(FRAGMENTS, PROMPT)

    async def close(self) -> None:
        for transport in self._transports:
            await transport.aclose()

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


@pytest.fixture
async def server(endpoint: Endpoint) -> AsyncIterator[Server]:
    started = Server(endpoint)
    yield started
    await started.close()


def text(answer: str) -> Any:
    return body(json.dumps({"text": answer}).encode())


async def test_the_body_holds_the_action_and_data_and_nothing_of_a_prompt(server: Server) -> None:
    server.endpoint.reply(text("Answer ⟦1⟧."))
    assert await server.ask(headers={"x-team": "writers"}) == "Answer ⟦1⟧."
    (request,) = server.endpoint.requests
    assert (request.method, request.path) == ("POST", "/action")
    assert request.headers["x-team"] == "writers"
    assert request.headers["content-type"] == "application/json"
    assert request.body == {
        "actionId": "style",
        "target": "Text é ⟦1⟧.",
        "before": "a",
        "after": "b",
        "params": {"tone": "dry"},
    }
    assert b"ours alone" not in request.raw


async def test_a_refusal_carries_status_and_waiting_time(server: Server) -> None:
    server.endpoint.reply(failure(403, "secret-token is wrong", retry_after="7"))
    with pytest.raises(ActionTransportError) as caught:
        await server.ask(headers={"authorization": "Bearer secret-token"})
    assert (caught.value.status, caught.value.retry_after) == (403, 7.0)
    assert "check action_transport.headers" in str(caught.value)
    assert "secret-token" not in str(caught.value)
    assert server.waits == []


BUSY = [
    ({"retry_after": "3"}, 3.0),
    ({"retry_after_ms": "250"}, 0.25),
    ({"retry_after": formatdate(time() - 60, usegmt=True)}, 0.0),
]


@pytest.mark.parametrize(("headers", "seconds"), BUSY)
async def test_a_busy_server_is_asked_again_when_it_said(
    server: Server, headers: dict[str, str], seconds: float
) -> None:
    server.endpoint.reply(failure(429, "slow down", **headers))
    server.endpoint.reply(text("Now."))
    assert await server.ask() == "Now."
    assert server.waits == [seconds]


async def test_attempts_are_bounded_and_spread(server: Server) -> None:
    for _ in range(3):
        server.endpoint.reply(failure(529, "overloaded"))
    with pytest.raises(ActionTransportError) as caught:
        await server.ask()
    assert caught.value.status == 529
    assert len(server.endpoint.requests) == 3
    first, second = server.waits
    assert 0.5 <= first <= 1.5 and 1.0 <= second <= 3.0


async def test_a_server_that_asks_for_a_long_wait_is_not_waited_for(server: Server) -> None:
    server.endpoint.reply(failure(429, "tomorrow", retry_after="3600"))
    with pytest.raises(ActionTransportError) as caught:
        await server.ask()
    assert caught.value.retry_after == 3600
    assert server.waits == []


async def test_a_silent_server_is_given_up_in_time(server: Server) -> None:
    server.endpoint.reply(Wait("never"))
    with pytest.raises(ConnectError, match="did not answer in 0.4 s"):
        await server.ask(timeout_ms=400)
    (connection,) = await asyncio.to_thread(server.endpoint.wait_connections, 1)
    await asyncio.to_thread(connection.wait_closed)


async def test_zero_waits_for_as_long_as_it_takes(server: Server) -> None:
    server.endpoint.reply(Wait("go"), text("Late.")[1:])
    asking = asyncio.create_task(server.ask(timeout_ms=0))
    await asyncio.to_thread(server.endpoint.wait_reached, "go")
    assert not asking.done()
    server.endpoint.release("go")
    assert await asking == "Late."


async def test_cancelling_closes_the_connection(server: Server) -> None:
    server.endpoint.reply(Wait("never"))
    asking = asyncio.create_task(server.ask())
    await asyncio.to_thread(server.endpoint.wait_reached, "never")
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await asyncio.to_thread(server.endpoint.requests[0].connection.wait_closed)


@pytest.mark.parametrize("end", [Close(), Reset()])
async def test_a_broken_connection_is_one_sentence(server: Server, end: Close | Reset) -> None:
    server.endpoint.reply(b'{"te', end)
    with pytest.raises(ConnectError, match="No connection to the action server 127.0.0.1"):
        await server.ask()


ODD = [b"", b"[]", b"{}", b'{"text": 3}', b"not json", b"\xff"]


@pytest.mark.parametrize("reply", ODD)
async def test_an_answer_of_another_shape_is_refused(server: Server, reply: bytes) -> None:
    server.endpoint.reply(body(reply))
    with pytest.raises(StreamError, match="did not answer"):
        await server.ask()


async def test_an_endless_answer_is_cut_off(server: Server) -> None:
    server.endpoint.reply(*(b"x" * 65_536 for _ in range(20)))
    with pytest.raises(StreamError, match="1 MiB"):
        await server.ask()


async def test_a_redirect_is_not_followed(server: Server) -> None:
    server.endpoint.reply(Head(302, {"location": "http://127.0.0.1:9/", "content-length": "0"}))
    with pytest.raises(ActionTransportError) as caught:
        await server.ask()
    assert caught.value.status == 302


BAD: list[dict[str, Any]] = [
    {"url": "ftp://host/x"},
    {"url": "nonsense"},
    {"url": "http://example.org/x"},
    {"url": "https://user:pw@example.org/x"},
    {"url": "https://example.org", "headers": {"a": "one\r\nb: two"}},
    {"url": "https://example.org", "headers": {"Content-Length": "9"}},
]


@pytest.mark.parametrize("options", BAD)
def test_an_address_that_cannot_be_used_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        Address(**options)


def test_headers_do_not_show() -> None:
    assert "secret" not in repr(Address(url="https://a.org", headers={"x": "secret"}))


async def test_a_broken_proxy_does_not_break_a_server_on_this_machine(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "nonsense://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    server.endpoint.reply(text("Direct."))
    assert await server.ask() == "Direct."


def test_the_plugin_lets_a_team_server_answer(session: Session, endpoint: Endpoint) -> None:
    session.editor.record("TypstAIActionFinished")
    session.setup(action_transport={"url": f"{endpoint.origin}/action"})
    session.document("The first @fig sentence.\n")
    endpoint.reply(text("A first ⟦1⟧ sentence."))
    session.editor.lua("require('typstai').action('rephrase')")
    assert session.editor.seen("TypstAIActionFinished")[0]["status"] == "applied"
    assert endpoint.requests[0].body["target"] == "The first ⟦1⟧ sentence."
    (hunk,) = session.proposal()["hunks"]
    assert hunk["new"] == ["A first @fig sentence."]
