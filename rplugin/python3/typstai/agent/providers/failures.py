"""Puts what went wrong at an endpoint into one sentence that says what to do."""

from __future__ import annotations

import math
import re
import socket
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import cast
from urllib.parse import urlsplit

from ...errors import ConnectError, ModelError, Remedy, StatusError, StreamError
from .chunks import BUSY_STATUSES
from .endpoint import Endpoint

_OVERFLOW = (
    "context_length", "context length", "context window", "context size", "too many tokens",
    "context limit", "prompt is too long", "input is too long", "maximum number of tokens",
    "token count", "maximum prompt length", "reduce the length", "request too large",
)  # fmt: skip
_NO_CREDIT = (
    "exceeded your current quota", "insufficient_quota", "insufficient balance", "billing",
)  # fmt: skip
_WAIT_IN_WORDS = re.compile(r"(?:try again|retry) in (\d+(?:\.\d+)?) ?(ms|s)\b", re.IGNORECASE)
_FILTER = ("content_filter", "content filter", "content management policy", "safety system")
_NO_API = (
    "a web page came", "nothing came that is an answer", "not a chat completion",
    "unexpected endpoint",
)  # fmt: skip
"""What comes from an address where no completions are: LM Studio's words for it are the last."""
_NATIVE_API = re.compile(r"(/api(/chat|/generate)?)?(/chat/completions)?\Z")
"""Ollama's own, which is no use to us."""
_OTHER_HOST = (62, 64)
_EXPIRED = 10
"""OpenSSL's numbers; Python has no names for them."""
_MIN_SECRET = 8
"""Shorter values are placeholders such as `none`, and may be words of an error."""


def label(endpoint: Endpoint) -> str:
    """How messages call the endpoint."""
    return f"{endpoint.name} ({endpoint.origin})"


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """The text, with each secret in it (a provider may echo the key) blotted out."""
    for secret in secrets:
        if len(secret) >= _MIN_SECRET:
            text = text.replace(secret, "[secret]")
    return text


# --- no connection ------------------------------------------------------------------------------


def not_connected(endpoint: Endpoint, error: BaseException, proxy: str) -> ConnectError:
    """For a connection that could not be opened. `proxy`: where its URL came from, or ""."""
    causes = list(_causes(error))
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return ConnectError(_tls(endpoint, causes))
    if proxy:
        return ConnectError(
            f"Model {endpoint.name} is not reached through the proxy of {proxy}; check or unset it."
        )
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return ConnectError(
            f"The host {endpoint.host} of model {endpoint.name} is not known;"
            " check base_url and the network.",
            remedy="wait",
        )
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return ConnectError(
            f"Nothing listens at {endpoint.origin} (model {endpoint.name})."
            " Start the server or change base_url.",
            remedy="wait",
        )
    message = f"{label(endpoint)} cannot be reached; check the network."
    return ConnectError(message, remedy="wait")


def no_connection_in_time(endpoint: Endpoint, seconds: float) -> ConnectError:
    """No connection, or no end of the TLS handshake, within `seconds`."""
    return ConnectError(
        f"{label(endpoint)} accepted no connection within {seconds:g} s; check base_url and the"
        " network.",
        remedy="wait",
    )


def no_answer_in_time(endpoint: Endpoint) -> ConnectError:
    """The request was sent, and nothing came back within the endpoint's timeout."""
    return ConnectError(
        f"{label(endpoint)} did not begin its answer within {endpoint.timeout:g} s; try again,"
        " or raise its timeout."
    )


def hung_up(endpoint: Endpoint, proxy: str = "") -> ConnectError:
    """The server (or the proxy, named by its source) closed the connection before it answered."""
    through = f"The connection to {label(endpoint)} through the proxy of {proxy} was closed"
    return ConnectError(
        f"{through} without an answer; check both."
        if proxy
        else f"{label(endpoint)} closed the connection without an answer; check base_url and the"
        " server's log.",
        remedy="wait",
    )


def bad_proxy(endpoint: Endpoint, source: str) -> ConnectError:
    """The proxy's URL cannot be used; it is not shown, as it may hold a password."""
    return ConnectError(
        f"Model {endpoint.name} cannot use the proxy of {source}; correct or unset it."
    )


def bad_certificates(endpoint: Endpoint) -> ConnectError:
    """The certificates that the environment names cannot be loaded."""
    return ConnectError(
        f"The certificates for model {endpoint.name} cannot be loaded; check SSL_CERT_FILE and"
        " SSL_CERT_DIR."
    )


def _tls(endpoint: Endpoint, causes: Iterable[BaseException]) -> str:
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"The certificate of {label(endpoint)} {_distrust(cause)}."
    return f"{label(endpoint)} does not speak TLS as expected; should base_url begin with http://?"


def _distrust(error: ssl.SSLCertVerificationError) -> str:
    """What is wrong with the certificate, and who can mend it."""
    if error.verify_code in _OTHER_HOST:
        return "is for another host; check base_url"
    if error.verify_code == _EXPIRED:
        return "has expired; its server needs a new one"
    reason = error.verify_message.rstrip(".")
    return f"is not trusted: {reason}; name your own authority with SSL_CERT_FILE"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            group = cast("BaseExceptionGroup[BaseException]", error)
            for inner in group.exceptions:
                yield from _causes(inner)
        error = error.__cause__ or error.__context__


# --- an answer that is an error -----------------------------------------------------------------


def broken(endpoint: Endpoint, reason: str, remedy: Remedy = "none") -> StreamError:
    """The stream broke, or carried an error; `reason` is ours or the provider's."""
    remedy = "shorten" if _mentions(reason, _OVERFLOW) else remedy
    text = f"{label(endpoint)}: {_sentence(_explained(reason))}"
    if _mentions(reason, _NO_API):
        text += _right_url(endpoint) or " Check base_url."
    return StreamError(text, remedy=remedy)


def refused(
    endpoint: Endpoint, status: int, message: str, headers: Mapping[str, str]
) -> StatusError:
    """For a status that is not a success. `message` is the provider's own, on one line."""
    if 300 <= status < 400:
        return StatusError(status, _redirect(endpoint, headers.get("location", "")))
    reason = message or _phrase(status) or "no reason given"
    asked = retry_after(headers)
    asked = asked if asked is not None else _asked_in_words(message)
    remedy = _remedy(status, message, asked)
    text = f"{_outcome(endpoint, status, message, remedy)} ({status}): {_sentence(reason)}"
    text += _hint(endpoint, status, remedy)
    return StatusError(status, text, remedy=remedy, retry_after=asked)


def no_list(endpoint: Endpoint, reason: str) -> ModelError:
    """The server told no names of models."""
    hint = _right_url(endpoint) if endpoint.may_cut else ""
    return ModelError(f"{label(endpoint)} lists no models: {_sentence(reason)}{hint}")


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (seconds or a date)."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    return seconds if seconds is not None else _until(value, time.time() if now is None else now)


def _explained(reason: str) -> str:
    if _mentions(reason, _OVERFLOW):
        return f"the conversation is too long for this model: {reason}"
    if _mentions(reason, _FILTER):
        return f"stopped by the content filter: {reason}"
    return reason


def _remedy(status: int, message: str, asked: float | None) -> Remedy:
    if status in (400, 413, 422, 429) and _mentions(message, _OVERFLOW):
        return "shorten"
    if asked is None and _mentions(message, _NO_CREDIT):
        return "none"
    return "wait" if status in BUSY_STATUSES else "none"


def _asked_in_words(message: str) -> float | None:
    """Seconds to wait as some providers put it, in their message only."""
    found = _WAIT_IN_WORDS.search(message)
    if found is None:
        return None
    return float(found[1]) / (1000 if found[2].lower() == "ms" else 1)


def _outcome(endpoint: Endpoint, status: int, message: str, remedy: Remedy) -> str:
    name = label(endpoint)
    if status in (401, 403):
        key = f"the key from {endpoint.key.describe()}" if endpoint.key else "a request without key"
        return f"{name} refused {key}"
    if remedy == "shorten":
        return f"The conversation is too long for {name}"
    if status in (400, 422) and _mentions(message, _FILTER):
        return f"The content filter of {name} stopped the request"
    if status == 404:
        return f"{name} does not have the model {endpoint.model}, or not at this base_url"
    if status == 429 and remedy == "none":
        return f"The account behind {name} has no credit left"
    if status in (429, 529):
        return f"{name} has no capacity for this request now"
    return f"{name} failed" if status >= 500 else f"{name} refused the request"


def _hint(endpoint: Endpoint, status: int, remedy: Remedy) -> str:
    if remedy == "shorten":
        return " Begin a new chat with :TypstAI new, or choose a model with a larger window."
    if status == 401 and endpoint.key is None:
        return " Set api_key."
    if status in (404, 405) and _right_url(endpoint):
        return _right_url(endpoint)
    if status == 404:
        return (
            " Check the model's name (:TypstAI model lists those there are); a local one must be"
            " pulled or loaded first."
        )
    return ""


def _right_url(endpoint: Endpoint) -> str:
    """Where the completions probably are; "" when base_url has its `/v1`."""
    parts = urlsplit(endpoint.url)
    if "/v1" in parts.path:
        return ""
    path = _NATIVE_API.sub("", parts.path)
    return f" The base_url probably lacks /v1: set it to {endpoint.origin}{path}/v1."


def _redirect(endpoint: Endpoint, location: str) -> str:
    parts = urlsplit(location)
    target = f" to {parts.scheme}://{parts.hostname}" if parts.hostname else ""
    return (
        f"{label(endpoint)} redirects{target}; redirects are not followed, to keep the key with"
        " its endpoint. Set base_url to the final address."
    )


def _mentions(text: str, words: Iterable[str]) -> bool:
    lowered = text.lower()
    return any(word in lowered for word in words)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _until(value: str, now: float) -> float | None:
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None
