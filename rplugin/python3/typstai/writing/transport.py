"""Text actions answered by a team's own server, which keeps the prompts.

It gets `{actionId, target, before, after, params}` and answers `{text}`. What is
not prose stands in `target` as placeholders, which the text must keep.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from ..errors import ConnectError, SettingsError, StatusError, StreamError
from ..log import logger
from .templates import Fragments, Prompt

if TYPE_CHECKING:
    import httpx

TIMEOUT_MS = 60_000
MAX_REPLY_BYTES = 1 << 20
RETRIES = 2
"""Further attempts when the server is overloaded or away."""
LONGEST_WAIT_SECONDS = 20.0
"""A server that asks to wait longer is not waited for."""
_RETRIED = frozenset((408, 429, 500, 502, 503, 504, 529))
_OWN_HEADERS = frozenset(("content-type", "content-length", "host", "transfer-encoding"))


class ActionTransportError(StatusError):
    """The server answered with a status that is not a success."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the server is. Raises `SettingsError` for an address that cannot be used."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Sent besides our own; may hold secrets."""
    timeout_ms: int = TIMEOUT_MS
    """For the whole of one attempt; 0 waits for ever."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingsError("action_transport.url must begin with https:// or http://.")
        if parts.username is not None or parts.password is not None:
            raise SettingsError("action_transport.url holds a password; use headers instead.")
        if parts.scheme == "http" and not self.is_loopback:
            raise SettingsError("action_transport.url would send text unencrypted; use https.")
        for name, value in self.headers.items():
            if not (name and f"{name}{value}".isascii() and f"{name}{value}".isprintable()):
                raise SettingsError(f"action_transport.headers: {name!r} is not one line of ASCII.")
            if name.lower() in _OWN_HEADERS:
                raise SettingsError(f"action_transport.headers: {name} cannot be set.")

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


class HttpTransport:
    """Implements `Generate` by one POST; owned by whoever builds it, who awaits `aclose`."""

    def __init__(
        self, address: Address, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.address = address
        self._sleep = sleep
        self._client: httpx.AsyncClient | None = None

    async def __call__(self, fragments: Fragments, prompt: Prompt) -> str:
        """The answer's text. Raises `ActionTransportError`, `ConnectError`, `StreamError`.

        The prompt stays here: instructions are the server's own.
        """
        body = _body(fragments)
        for attempt in range(RETRIES):
            try:
                return await self._post(body)
            except ActionTransportError as error:
                wait = _wait_seconds(error, attempt)
                if wait is None:
                    raise
                logger.info("the action server answered %d; again in %.1f s", error.status, wait)
            await self._sleep(wait)
        return await self._post(body)

    async def aclose(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _post(self, body: bytes) -> str:
        import httpx

        seconds = self.address.timeout_ms / 1000 or None
        try:
            async with asyncio.timeout(seconds):
                return await self._exchange(body)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise ConnectError(
                f"The action server {self.address.host} did not answer in {seconds or 0:g} s; "
                "action_transport.timeout_ms says how long to wait."
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ConnectError(_no_connection(self.address, _reason(error))) from error

    async def _exchange(self, body: bytes) -> str:
        client = self._client = self._client or _build(self.address)
        headers = {**self.address.headers, "content-type": "application/json"}
        async with client.stream(
            "POST", self.address.url, content=body, headers=headers
        ) as response:
            data = await _read(response)
            if not response.is_success:
                raise _refusal(self.address, response)
            return _text(data, self.address)


def _no_connection(address: Address, reason: str) -> str:
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return (
            f"The certificate of the action server {address.host} is not trusted; name your own"
            " authority with SSL_CERT_FILE."
        )
    return f"No connection to the action server {address.host}: {reason}."


def _body(fragments: Fragments) -> bytes:
    value = {
        "actionId": fragments.action,
        "target": fragments.target,
        "before": fragments.before,
        "after": fragments.after,
        "params": dict(fragments.params),
    }
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def _build(address: Address) -> httpx.AsyncClient:
    import httpx

    try:
        # Without the environment's proxy its certificates would go too.
        return httpx.AsyncClient(
            verify=httpx.create_ssl_context(),
            timeout=None,
            follow_redirects=False,
            trust_env=not address.is_loopback,
        )
    except (ValueError, ImportError, OSError) as error:
        raise SettingsError(
            f"No connection to {address.host} can be made with this environment's proxy or "
            f"certificates: {_reason(error)}."
        ) from error


async def _read(response: httpx.Response) -> bytes:
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > MAX_REPLY_BYTES:
            raise StreamError("The action server answered more than 1 MiB; nothing was proposed.")
    return bytes(data)


def _text(data: bytes, address: Address) -> str:
    try:
        value: Any = json.loads(data)
    except ValueError:
        value = None
    text = cast("dict[str, Any]", value).get("text") if isinstance(value, dict) else None
    if not isinstance(text, str):
        raise StreamError(f'The action server {address.host} did not answer {{"text": …}}.')
    return text


def _refusal(address: Address, response: httpx.Response) -> ActionTransportError:
    status = response.status_code
    hint = {
        401: "; check action_transport.headers",
        403: "; check action_transport.headers",
        404: "; check action_transport.url",
    }.get(status, "")
    return ActionTransportError(
        status,
        f"The action server {address.host} answered {status}{hint}.",
        retry_after=_retry_after(response.headers),
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from seconds, milliseconds or a date."""
    millis = headers.get("retry-after-ms", "")
    after = headers.get("retry-after", "").strip()
    try:
        if millis:
            return max(0.0, float(millis) / 1000)
        if after.replace(".", "", 1).isdigit():
            return float(after)
        if after:
            from datetime import UTC, datetime

            return max(0.0, (parsedate_to_datetime(after) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        pass
    return None


def _wait_seconds(error: ActionTransportError, attempt: int) -> float | None:
    """How long to wait before the next attempt; None when there should be none."""
    if error.status not in _RETRIED:
        return None
    if error.retry_after is not None:
        return error.retry_after if error.retry_after <= LONGEST_WAIT_SECONDS else None
    return (0.5 + random.random()) * 2**attempt  # jitter: a team's editors do not all come at once


def _reason(error: Exception) -> str:
    return str(error).split("\n", 1)[0].rstrip(".") or type(error).__name__
