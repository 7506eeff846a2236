"""HTTP for model endpoints: one persistent client for each origin, built when first needed.

Redirects are never followed and bodies never decompressed, so that a key stays
with its endpoint and a small reply cannot grow into a huge one. Of the
environment only the certificates and the proxy that concerns the endpoint are
used; a loopback endpoint uses no proxy but one of its own. httpx is imported on
first use.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from ...errors import StreamError
from . import failures
from .endpoint import Endpoint

if TYPE_CHECKING:
    import ssl

    import httpx

CONNECT_SECONDS = 10.0
MAX_ERROR_BODY_BYTES = 64 * 1024
MAX_STALE_CONNECTIONS = 4
"""More kept connections than this are not found closed one after the other."""
ENDED_EARLY = "the connection ended before the answer did"
DRAIN_SECONDS = 0.25
"""How long to wait for the end of a body after the answer's own end, to keep the connection."""


class BrokenBody(StreamError):
    """The body ended before its announced end, or went silent."""


class Reply:
    """A response whose body is still arriving."""

    def __init__(self, response: httpx.Response) -> None:
        self._chunks = cast("AsyncGenerator[bytes, None]", response.aiter_raw())
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        """Looked up without regard to case."""

    @property
    def is_delimited(self) -> bool:
        """Whether the protocol tells a whole body from one that was cut off."""
        return "content-length" in self.headers or "transfer-encoding" in self.headers

    async def read(self, *, within: float | None = None) -> bytes:
        """The next bytes; b"" at the end. `BrokenBody` when cut off, or after `within` s."""
        import httpx

        try:
            async with asyncio.timeout(within):
                return await anext(self._chunks, b"")
        except (httpx.ReadTimeout, TimeoutError) as error:
            raise BrokenBody("the answer fell silent before its end") from error
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise BrokenBody(ENDED_EARLY, remedy="wait") from error

    async def read_all(self, limit: int) -> bytes:
        """The body, or as much of it as comes, up to the limit."""
        body = bytearray()
        with contextlib.suppress(BrokenBody):
            while len(body) < limit and (data := await self.read()):
                body += data
        return bytes(body[:limit])

    async def drain(self) -> None:
        """Read to the body's end if it comes soon; the connection can then be used again."""
        with contextlib.suppress(BrokenBody):
            while await self.read(within=DRAIN_SECONDS):
                pass

    async def aclose(self) -> None:
        """End the reading; the response itself is closed by its owner."""
        await self._chunks.aclose()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None


class HttpClients:
    """All clients of the host; owned by whoever builds it, who awaits `aclose`."""

    def __init__(self) -> None:
        self._clients: dict[tuple[str, str], httpx.AsyncClient] = {}

    @contextlib.asynccontextmanager
    async def post(
        self, endpoint: Endpoint, body: bytes, headers: Mapping[str, str]
    ) -> AsyncGenerator[Reply, None]:
        """Send the body; the reply is there when its headers are. Leaving closes it.

        Raises `ConnectError`; a compressed reply raises `StreamError`.
        """
        request = _Request(method="POST", url=endpoint.url, headers=headers, body=body)
        async with self._exchange(endpoint, request) as reply:
            yield reply

    @contextlib.asynccontextmanager
    async def get(
        self, endpoint: Endpoint, url: str, headers: Mapping[str, str]
    ) -> AsyncGenerator[Reply, None]:
        """As `post`, for a URL of the endpoint's origin."""
        request = _Request(method="GET", url=url, headers=headers, body=None)
        async with self._exchange(endpoint, request) as reply:
            yield reply

    @contextlib.asynccontextmanager
    async def _exchange(self, endpoint: Endpoint, request: _Request) -> AsyncGenerator[Reply, None]:
        response = await self._send(endpoint, request)
        reply = Reply(response)
        try:
            encoding = response.headers.get("content-encoding", "identity").lower()
            if encoding not in ("identity", ""):
                raise StreamError("a compressed answer came, although none was asked for")
            yield reply
        finally:
            await reply.aclose()
            await response.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            await client.aclose()

    async def _send(self, endpoint: Endpoint, wanted: _Request) -> httpx.Response:
        """The response. A kept connection that the server closes as it is used is replaced:
        some servers announce that they keep connections and do not.
        """
        for _ in range(MAX_STALE_CONNECTIONS):
            response = await self._try(endpoint, wanted)
            if response is not None:
                return response
        raise failures.hung_up(endpoint)

    async def _try(self, endpoint: Endpoint, wanted: _Request) -> httpx.Response | None:
        """The response; None when a kept connection was closed before any of it came."""
        import httpx

        proxy = proxy_for(endpoint)
        client = self._client(endpoint, proxy)
        steps = _Steps()
        request = client.build_request(
            wanted.method,
            wanted.url,
            content=wanted.body,
            headers={**wanted.headers, "accept-encoding": "identity"},
            timeout=_timeout(endpoint),
            extensions={"trace": steps.trace},
        )
        try:
            async with steps:
                return await client.send(request, stream=True)
        except (httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise failures.no_connection_in_time(endpoint, CONNECT_SECONDS) from error
        except httpx.TimeoutException as error:
            raise failures.no_answer_in_time(endpoint) from error
        except (httpx.ConnectError, httpx.ProxyError) as error:
            raise failures.not_connected(endpoint, error, proxy.source) from error
        except httpx.HTTPError as error:
            if steps.connected:
                raise failures.hung_up(endpoint, proxy.source) from error
            return None

    def _client(self, endpoint: Endpoint, proxy: Proxy) -> httpx.AsyncClient:
        key = (endpoint.origin, proxy.url)
        if key not in self._clients:
            self._clients[key] = _build(endpoint, proxy)
        return self._clients[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """The proxy for an endpoint ("" for none), and where it was configured."""

    url: str = ""
    source: str = ""


def proxy_for(endpoint: Endpoint) -> Proxy:
    """The endpoint's own proxy, else the environment's; none to this machine."""
    if endpoint.proxy:
        return Proxy(url=endpoint.proxy, source="its option `proxy`")
    if endpoint.is_loopback:
        return Proxy()
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    parts = urlsplit(endpoint.origin)
    for name in (parts.scheme, "all"):
        if proxies.get(name) and not proxy_bypass(parts.netloc):
            return Proxy(url=proxies[name], source=f"{name.upper()}_PROXY")
    return Proxy()


class _Steps:
    """Watches one request: whether it opened a connection of its own.

    Closes that one when the request fails: httpcore leaves it open when a TLS handshake is
    cancelled, or when a SOCKS proxy refuses.
    """

    def __init__(self) -> None:
        self._stream: Any = None

    @property
    def connected(self) -> bool:
        return self._stream is not None

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Called by httpcore at each step of a request."""
        if event.endswith(".connect_tcp.complete"):
            self._stream = info["return_value"]

    async def __aenter__(self) -> None:
        pass

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self._stream is not None:
            await self._stream.aclose()


def _build(endpoint: Endpoint, proxy: Proxy) -> httpx.AsyncClient:
    import httpx

    verify = _certificates(endpoint)
    url = proxy.url if "://" in proxy.url or not proxy.url else f"http://{proxy.url}"
    try:
        return httpx.AsyncClient(
            verify=verify, proxy=url or None, trust_env=False, follow_redirects=False
        )
    except (ValueError, ImportError, httpx.InvalidURL) as error:
        raise failures.bad_proxy(endpoint, proxy.source) from error


def _certificates(endpoint: Endpoint) -> ssl.SSLContext | bool:
    """The environment's certificates, for TLS alone: loading them takes a while."""
    import httpx

    if endpoint.origin.startswith("http://"):
        return False
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        raise failures.bad_certificates(endpoint) from error


def _timeout(endpoint: Endpoint) -> httpx.Timeout:
    import httpx

    return httpx.Timeout(endpoint.timeout, connect=CONNECT_SECONDS, pool=CONNECT_SECONDS)
