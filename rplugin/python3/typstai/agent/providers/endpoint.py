"""Where a model is served, and how to ask it: one entry of `models`, checked."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit, urlunsplit

from ...errors import SettingsError
from .keys import KeySource
from .presets import Quirks, of_host

READ_SECONDS = 300.0
"""Longest silence in an answer: a local model reads a long prompt for minutes."""
_PATH = "/chat/completions"
_LIST_PATH = "/models"
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An OpenAI-compatible endpoint and the model to ask there.

    Raises `SettingsError` for an address that cannot be used, and for cleartext
    http to anything but this machine or `allow_insecure_origin`.
    """

    name: str
    """What the user calls it."""
    base_url: str
    """Up to and with `/v1`; `/chat/completions` is appended."""
    model: str
    """The provider's name of the model."""
    key: KeySource | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Sent besides our own; may hold secrets."""
    temperature: float | None = None
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    """Not sent when None, as the two above."""
    timeout: float = READ_SECONDS
    """Seconds of silence before giving up."""
    allow_insecure_origin: str = ""
    """One exact `http://host:port` that may be reached without TLS."""
    quirks: Quirks = Quirks()
    proxy: str = field(default="", repr=False)
    """URL of a proxy; the environment's when empty. May hold a password."""

    def __post_init__(self) -> None:
        parts = self._split()
        if parts.scheme == "http" and not self.is_loopback and not self._is_allowed():
            raise SettingsError(
                f"The base_url of model {self.name} sends text and key unencrypted to"
                f" {self.origin}; use https, or set allow_insecure_origin to exactly that."
            )
        for name, value in self.headers.items():
            if not (name and f"{name}{value}".isascii() and f"{name}{value}".isprintable()):
                raise SettingsError(f"A header of model {self.name} is not one line of ASCII.")

    @property
    def url(self) -> str:
        """Where completions are asked for."""
        return self._below(_PATH)

    @property
    def list_url(self) -> str:
        """Where the models are listed, by the servers that do."""
        return self._below(_LIST_PATH)

    @property
    def origin(self) -> str:
        """`scheme://host:port`; the port only when it is not the scheme's own."""
        parts = self._split()
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        usual = parts.port in (None, _DEFAULT_PORTS[parts.scheme])
        return f"{parts.scheme}://{host}" + ("" if usual else f":{parts.port}")

    @property
    def host(self) -> str:
        """Host name alone, in lower case."""
        return self._split().hostname or ""

    @property
    def may_cut(self) -> bool:
        """Whether the server may drop a part of what is too long: those we know refuse it."""
        return not of_host(self.base_url)

    @property
    def is_loopback(self) -> bool:
        """Whether the endpoint is on this machine."""
        host = self.host
        if host == "localhost" or host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    def _below(self, path: str) -> str:
        parts = self._split()
        base = parts.path.rstrip("/").removesuffix(_PATH)
        return urlunsplit((parts.scheme, parts.netloc, base + path, parts.query, ""))

    def _is_allowed(self) -> bool:
        return self.allow_insecure_origin.rstrip("/").removesuffix(":80") == self.origin

    def _split(self) -> SplitResult:
        try:
            parts = urlsplit(self.base_url)
            _ = parts.port
        except ValueError as error:
            raise self._unusable("is not a URL") from error
        if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
            raise self._unusable("must begin with https:// or http:// and a host")
        if parts.username is not None or parts.password is not None:
            raise self._unusable("holds a user name or password; use api_key instead")
        if not (self.base_url.isascii() and self.base_url.isprintable()) or " " in self.base_url:
            raise self._unusable("holds characters that a URL cannot")
        return parts

    def _unusable(self, why: str) -> SettingsError:
        return SettingsError(f"The base_url of model {self.name} {why}.")
