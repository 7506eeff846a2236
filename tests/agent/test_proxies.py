"""The way to an endpoint through real proxies and certificates: it works, or one sentence says
what to do.
"""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from endpoint import Endpoint, answer, body
from proxies import Proxy, SocksProxy
from typstai.agent.providers.base import ModelRequest, TextDelta, UserMessage
from typstai.agent.providers.client import HttpClients, proxy_for
from typstai.agent.providers.endpoint import Endpoint as ModelEndpoint
from typstai.agent.providers.keys import EnvKey
from typstai.agent.providers.openai import OpenAIModel
from typstai.errors import ConnectError
from typstai.writing.templates import Fragments, Prompt
from typstai.writing.transport import Address, HttpTransport

HOST = "models.example"
KEY = "sk-secret-0123456789"
WORDS = "my-private-words"
NO_PROMPT = Prompt(system="", message="")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


def certify(folder: Path, name: str, *, host: str, days: str = "2") -> Path:
    """A self-signed certificate and its key in one file; both authority and server."""
    both = folder / f"{name}.pem"
    if not both.exists():
        kind = "IP" if host[0].isdigit() else "DNS"
        files = {kind: folder / f"{name}.{kind}" for kind in ("key", "csr", "crt", "ext")}
        files["ext"].write_text(f"subjectAltName={kind}:{host}\n", encoding="ascii")
        openssl("req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}",
                "-keyout", files["key"], "-out", files["csr"])  # fmt: skip
        openssl("x509", "-req", "-in", files["csr"], "-signkey", files["key"], "-days", days,
                "-extfile", files["ext"], "-out", files["crt"])  # fmt: skip
        both.write_bytes(files["crt"].read_bytes() + files["key"].read_bytes())
    return both


def openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)


def speaking(certificate: Path) -> Endpoint:
    """A server that shows this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return Endpoint(tls=context)


@pytest.fixture
def known(folder: Path, own_environment: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A certificate for HOST, of an authority that the environment names."""
    certificate = certify(folder, "known", host=HOST)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    return certificate


@pytest.fixture
def secure(known: Path) -> Iterator[Endpoint]:
    """HOST itself, as it is found behind a proxy."""
    with speaking(known) as started:
        yield started


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with Endpoint() as started:
        yield started


@pytest.fixture
async def clients() -> AsyncIterator[HttpClients]:
    made = HttpClients()
    yield made
    await made.aclose()


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


def at(base_url: str = f"https://{HOST}/v1", **options: Any) -> ModelEndpoint:
    return ModelEndpoint(
        name="mine", base_url=base_url, model="gpt", key=EnvKey(name="MY_KEY"), **options
    )


async def ask(endpoint: ModelEndpoint, clients: HttpClients) -> str:
    request = ModelRequest(system="", messages=(UserMessage(text=WORDS),))
    events = [event async for event in OpenAIModel(endpoint, clients).stream(request)]
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def failure(endpoint: ModelEndpoint, clients: HttpClients) -> str:
    with pytest.raises(ConnectError) as raised:
        await ask(endpoint, clients)
    said = str(raised.value)
    assert KEY not in said and "\n" not in said
    return said


# --- proxies ------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
async def test_an_https_endpoint_is_tunnelled_and_the_proxy_sees_neither_key_nor_text(
    variable: str, secure: Endpoint, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    secure.reply(answer("through"))
    async with Proxy(upstream=secure.port) as proxy:
        monkeypatch.setenv(variable, proxy.url)
        assert await ask(at(), clients) == "through"
    assert proxy.heads[0].startswith(f"CONNECT {HOST}:443 ")
    assert KEY.encode() not in proxy.received and WORDS.encode() not in proxy.received
    assert secure.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
async def test_a_socks_proxy_is_used_and_resolves_the_name_itself(
    scheme: str, secure: Endpoint, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    secure.reply(answer("through"))
    async with SocksProxy(upstream=secure.port) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"{scheme}://{proxy.address}")
        assert await ask(at(), clients) == "through"
    assert proxy.heads == [f"{HOST}:443"]
    assert KEY.encode() not in proxy.received


async def test_the_proxys_password_goes_to_the_proxy_and_not_on(
    secure: Endpoint, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    secure.reply(answer("through"))
    async with Proxy(upstream=secure.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:pass-of-proxy@{proxy.address}")
        assert await ask(at(), clients) == "through"
    assert "proxy-authorization: basic " in proxy.heads[0].lower()
    assert "proxy-authorization" not in secure.requests[0].headers


@pytest.mark.parametrize("refusal", ["407 Proxy Authentication Required", "403 Forbidden"])
async def test_a_proxy_that_refuses_is_named_without_its_password(
    refusal: str, secure: Endpoint, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Proxy(upstream=secure.port, refusal=refusal) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:pass-of-proxy@{proxy.address}")
        said = await failure(at(), clients)
    assert said == (
        "Model mine is not reached through the proxy of HTTPS_PROXY; check or unset it."
    )
    assert secure.connections == []


async def test_a_socks_proxy_that_refuses_is_named(
    secure: Endpoint, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SocksProxy(upstream=secure.port, refusal="not allowed") as proxy:
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        assert "through the proxy of ALL_PROXY" in await failure(at(), clients)


async def test_a_proxy_that_speaks_no_http_is_told(
    server: Endpoint, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with SocksProxy(upstream=server.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.address}")
        said = await failure(at(), clients)
    assert said == (
        f"The connection to mine (https://{HOST}) through the proxy of HTTPS_PROXY was closed"
        " without an answer; check both."
    )


async def test_the_proxy_of_one_endpoint_is_not_that_of_another(
    secure: Endpoint, clients: HttpClients
) -> None:
    secure.reply(answer("one"))
    secure.reply(answer("two"))
    async with Proxy(upstream=secure.port) as first, Proxy(upstream=secure.port) as second:
        assert await ask(at(proxy=first.url), clients) == "one"
        assert await ask(at(proxy=second.url), clients) == "two"
    assert len(first.heads) == len(second.heads) == 1


async def test_a_proxy_over_tls_is_trusted_by_the_same_authority(
    folder: Path, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proxy's own certificate is checked as strictly as the endpoint's."""
    with speaking(certify(folder, "proxy", host="127.0.0.1")) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.origin)
        said = await failure(at(), clients)
        assert "is not trusted" in said
        assert proxy.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certify(folder, "proxy", host="127.0.0.1")))
        again = HttpClients()
        assert "through the proxy of HTTPS_PROXY" in await failure(at(), again)
        await again.aclose()
        assert proxy.requests[0].method == "CONNECT"


@pytest.mark.parametrize(
    ("exempt", "direct"),
    [(HOST, True), (".example", True), ("example", True), ("*", True), ("other.org", False),
     (f"other.org, {HOST}", True), (f"{HOST}:443", False), ("", False)],
)  # fmt: skip
def test_no_proxy_exempts_the_hosts_it_names(
    exempt: str, direct: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", exempt)
    assert (proxy_for(at()).url == "") is direct


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "[::1]", "127.1.2.3"])
def test_this_machine_is_never_asked_through_a_proxy(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "socks5://proxy.example:1080")
    assert proxy_for(at(f"http://{address}:8080/v1")).url == ""


async def test_a_broken_proxy_variable_leaves_tls_on_loopback_alone(
    folder: Path, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = certify(folder, "loopback", host="127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:notaport")
    with speaking(certificate) as loopback:
        loopback.reply(answer("direct"))
        assert await ask(at(loopback.url), clients) == "direct"


# --- certificates -------------------------------------------------------------------------------


async def test_an_authority_of_ones_own_can_be_a_folder(
    folder: Path, tmp_path: Path, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = certify(folder, "loopback", host="127.0.0.1")
    alone = certificate.with_suffix(".crt").read_bytes()
    (tmp_path / "own.pem").write_bytes(alone)
    openssl("rehash", tmp_path)
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    with speaking(certificate) as loopback:
        loopback.reply(answer("safe"))
        assert await ask(at(loopback.url), clients) == "safe"


async def test_a_certificate_nobody_vouches_for_is_told_of_an_action_server_too(
    folder: Path,
) -> None:
    with speaking(certify(folder, "loopback", host="127.0.0.1")) as loopback:
        transport = HttpTransport(Address(url=f"{loopback.origin}/action"))
        with pytest.raises(ConnectError) as raised:
            await transport(Fragments(action="fix", target="", params={}), NO_PROMPT)
        await transport.aclose()
    assert str(raised.value) == (
        "The certificate of the action server 127.0.0.1 is not trusted; name your own authority"
        " with SSL_CERT_FILE."
    )
    assert loopback.requests == []


async def test_an_authority_of_ones_own_holds_for_text_actions_on_this_machine_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = certify(folder, "loopback", host="127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:notaport")
    with speaking(certificate) as loopback:
        loopback.reply(body(b'{"text": "safe"}'))
        transport = HttpTransport(Address(url=f"{loopback.origin}/action"))
        fragments = Fragments(action="fix", target="text", params={})
        assert await transport(fragments, NO_PROMPT) == "safe"
        await transport.aclose()


async def test_a_self_signed_certificate_gets_no_key_and_no_text(
    folder: Path, clients: HttpClients
) -> None:
    with speaking(certify(folder, "loopback", host="127.0.0.1")) as loopback:
        said = await failure(at(loopback.url), clients)
        assert loopback.requests == []
    assert "is not trusted: self-signed certificate" in said
    assert "SSL_CERT_FILE" in said


async def test_a_certificate_of_another_host_is_told_as_that(
    known: Path, clients: HttpClients
) -> None:
    """Its authority is trusted: naming it once more would not help."""
    with speaking(known) as loopback:
        said = await failure(at(loopback.url), clients)
        assert loopback.requests == []
    assert said == (
        f"The certificate of mine ({loopback.origin}) is for another host; check base_url."
    )


async def test_an_expired_certificate_is_told_as_that(
    folder: Path, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = certify(folder, "old", host="127.0.0.1", days="-1")
    monkeypatch.setenv("SSL_CERT_FILE", str(old))
    with speaking(old) as loopback:
        said = await failure(at(loopback.url), clients)
    where = f"mine ({loopback.origin})"
    assert said == f"The certificate of {where} has expired; its server needs a new one."
