"""Connections to model endpoints: opened once, closed at once, through proxies, over TLS."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from endpoint import Close, Connection, Endpoint, Raw, Step, Wait, answer, call_delta, delta
from typstai.agent.providers import client
from typstai.agent.providers.base import ModelRequest, TextDelta, ToolCallStarted, UserMessage
from typstai.agent.providers.client import HttpClients, proxy_for
from typstai.agent.providers.endpoint import Endpoint as ModelEndpoint
from typstai.agent.providers.openai import OpenAIModel
from typstai.errors import ConnectError

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


def at(base_url: str, **options: Any) -> ModelEndpoint:
    return ModelEndpoint(name="mine", base_url=base_url, model="gpt", **options)


async def text(model: OpenAIModel) -> str:
    found = [event async for event in model.stream(REQUEST)]
    return "".join(event.text for event in found if isinstance(event, TextDelta))


async def failure(endpoint: ModelEndpoint, clients: HttpClients) -> str:
    with pytest.raises(ConnectError) as raised:
        await text(OpenAIModel(endpoint, clients))
    return str(raised.value)


# --- one client for each origin -----------------------------------------------------------------


async def test_one_connection_serves_many_requests_of_all_models_of_an_origin(
    server: Endpoint, clients: HttpClients
) -> None:
    for _ in range(4):
        server.reply(answer("ok"))
    for _ in range(2):
        await text(OpenAIModel(at(server.url), clients))
        await text(OpenAIModel(at(server.origin + "/other"), clients))
    assert len(server.requests) == 4
    assert len(server.connections) == 1


async def test_a_connection_the_server_has_closed_is_replaced(
    server: Endpoint, clients: HttpClients
) -> None:
    model = OpenAIModel(at(server.url), clients)
    server.reply(answer("one"), Close())
    assert await text(model) == "one"
    server.reply(answer("two"))
    assert await text(model) == "two"


async def test_a_connection_the_server_closes_as_it_is_used_again_is_replaced(
    server: Endpoint, clients: HttpClients
) -> None:
    model = OpenAIModel(at(server.url), clients)
    server.reply(answer("one"))
    assert await text(model) == "one"
    server.reply(Raw(b""), Close())
    server.reply(answer("two"))
    assert await text(model) == "two"
    assert len(server.connections) == 2


async def test_closing_the_clients_closes_their_connections(server: Endpoint) -> None:
    clients = HttpClients()
    server.reply(answer("ok"))
    await text(OpenAIModel(at(server.url), clients))
    assert not server.connections[0].closed
    await clients.aclose()
    await asyncio.to_thread(server.connections[0].wait_closed)


def test_the_http_library_is_imported_with_the_first_request_only() -> None:
    source = (
        "import sys, typstai.agent.providers.openai as o, typstai.agent.providers.endpoint as e;"
        "o.OpenAIModel(e.Endpoint(name='m', base_url='https://a/v1', model='m'), o.HttpClients());"
        "assert 'httpx' not in sys.modules"
    )
    path = {"PYTHONPATH": str(ROOT / "rplugin" / "python3")}
    subprocess.run([sys.executable, "-c", source], check=True, env=path, timeout=60)


# --- stopping -----------------------------------------------------------------------------------

STAGES: dict[str, list[Step]] = {
    "before the first byte": [Raw(b""), Wait("there")],
    "before the first event": [b": keep-alive\n\n", Wait("there")],
    "in text": [delta("Hel"), Wait("there")],
    "in arguments": [call_delta(0, '{"a', id="x", name="f"), Wait("there")],
}


@pytest.mark.parametrize("stage", STAGES)
async def test_cancelling_the_task_closes_the_connection(
    stage: str, server: Endpoint, clients: HttpClients
) -> None:
    server.reply(STAGES[stage])
    task = asyncio.create_task(text(OpenAIModel(at(server.url), clients)))
    await asyncio.to_thread(server.wait_reached, "there")
    assert not server.connections[0].closed
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(server.connections[0].wait_closed)


@pytest.mark.parametrize("stage", ["in text", "in arguments"])
async def test_closing_the_iterator_closes_the_connection(
    stage: str, server: Endpoint, clients: HttpClients
) -> None:
    server.reply(STAGES[stage])
    async with aclosing(OpenAIModel(at(server.url), clients).stream(REQUEST)) as stream:
        assert isinstance(await anext(stream), TextDelta | ToolCallStarted)
        assert not server.connections[0].closed
    await asyncio.to_thread(server.connections[0].wait_closed)


async def test_cancelling_while_connecting_closes_the_connection(
    server: Endpoint, clients: HttpClients
) -> None:
    """The server never answers the TLS handshake."""
    endpoint = at(server.url.replace("http:", "https:"))
    task = asyncio.create_task(text(OpenAIModel(endpoint, clients)))
    connection: Connection = (await asyncio.to_thread(server.wait_connections, 1))[0]
    await asyncio.to_thread(connection.wait_heard)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(connection.wait_closed)


async def test_a_stopped_request_does_not_spoil_the_next(
    server: Endpoint, clients: HttpClients
) -> None:
    model = OpenAIModel(at(server.url), clients)
    server.reply(delta("Hel"), Wait("never"))
    async with aclosing(model.stream(REQUEST)) as stream:
        await anext(stream)
    server.reply(answer("again"))
    assert await text(model) == "again"


# --- no connection ------------------------------------------------------------------------------


async def test_a_refused_connection_says_where_nothing_listens(clients: HttpClients) -> None:
    with Endpoint() as gone:
        url, origin = gone.url, gone.origin
    assert await failure(at(url), clients) == (
        f"Nothing listens at {origin} (model mine). Start the server or change base_url."
    )


async def test_a_host_that_does_not_exist_is_named(clients: HttpClients) -> None:
    said = await failure(at("https://no-such-host.invalid/v1"), clients)
    assert said.startswith("The host no-such-host.invalid of model mine is not known")


async def test_a_server_that_hangs_up_without_an_answer_is_told(
    server: Endpoint, clients: HttpClients
) -> None:
    server.reply(Raw(b""), Close())
    assert "closed the connection without an answer" in await failure(at(server.url), clients)


async def test_a_server_that_never_answers_is_given_up_after_the_timeout(
    server: Endpoint, clients: HttpClients
) -> None:
    server.reply(Raw(b""), Wait("never"))
    said = await failure(at(server.url, timeout=0.1), clients)
    assert "did not begin its answer within 0.1 s" in said


async def test_a_handshake_that_never_ends_is_given_up(
    server: Endpoint, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.1)
    said = await failure(at(server.url.replace("http:", "https:")), clients)
    assert "accepted no connection within 0.1 s" in said
    await asyncio.to_thread(server.connections[0].wait_closed)


# --- TLS ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for 127.0.0.1 and its key, in one file."""
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key", "-out", "cert"],
        cwd=folder, check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    both = folder / "both.pem"
    both.write_bytes((folder / "cert").read_bytes() + (folder / "key").read_bytes())
    return both


@pytest.fixture
def secure(certificate: Path) -> Iterator[Endpoint]:
    """A server that speaks TLS with that certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with Endpoint(tls=context) as started:
        yield started


async def test_a_certificate_nobody_vouches_for_is_refused(
    secure: Endpoint, clients: HttpClients
) -> None:
    said = await failure(at(secure.url), clients)
    assert "certificate" in said and "is not trusted" in said and "SSL_CERT_FILE" in said


async def test_an_authority_of_ones_own_is_honoured(
    secure: Endpoint, certificate: Path, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    secure.reply(answer("safe"))
    assert await text(OpenAIModel(at(secure.url), clients)) == "safe"


async def test_a_missing_authority_is_told(
    secure: Endpoint, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file")
    assert "check SSL_CERT_FILE" in await failure(at(secure.url), clients)


async def test_a_server_without_tls_is_told_from_one_with_a_bad_certificate(
    clients: HttpClients,
) -> None:
    async def plain(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    listening = await asyncio.start_server(plain, "127.0.0.1", 0)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        said = await failure(at(f"https://127.0.0.1:{port}/v1"), clients)
    assert "should base_url begin with http://?" in said


# --- proxies ------------------------------------------------------------------------------------

REMOTE = "http://models.example"


def remote(**options: Any) -> ModelEndpoint:
    return at(f"{REMOTE}/v1", allow_insecure_origin=REMOTE, **options)


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
async def test_the_proxy_of_the_environment_is_used(
    name: str, server: Endpoint, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, server.origin)
    server.reply(answer("through"))
    assert await text(OpenAIModel(remote(), clients)) == "through"
    assert server.requests[0].path == f"{REMOTE}/v1/chat/completions"


async def test_the_endpoints_own_proxy_wins(
    server: Endpoint, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    server.reply(answer("through"))
    assert await text(OpenAIModel(remote(proxy=server.origin), clients)) == "through"


@pytest.mark.parametrize("broken", ["socks9://u:hidden@p", "http://[", "socks5://127.0.0.1:1", "x"])
async def test_a_broken_proxy_variable_does_not_touch_a_loopback_endpoint(
    broken: str, server: Endpoint, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, broken)
    server.reply(answer("direct"))
    assert await text(OpenAIModel(at(server.url), clients)) == "direct"


@pytest.mark.parametrize("broken", ["socks9://u:hidden@p", "http://[", "http://127.0.0.1:1"])
async def test_a_broken_proxy_is_named_by_its_variable_and_not_shown(
    broken: str, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", broken)
    said = await failure(remote(), clients)
    assert "ALL_PROXY" in said
    assert "hidden" not in said and broken not in said


def test_hosts_in_no_proxy_are_reached_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert proxy_for(remote()).source == "ALL_PROXY"
    for exempt in ("models.example", ".example", "*"):
        monkeypatch.setenv("NO_PROXY", exempt)
        assert proxy_for(remote()).url == ""
