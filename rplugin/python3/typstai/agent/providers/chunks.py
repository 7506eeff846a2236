"""The shapes in which providers send pieces of an answer, decoded from JSON.

Fields that providers disagree on are left open (`Any`) and read with care by
the assembler; everything else is checked here.
"""

from __future__ import annotations

import json
import math
from typing import Any

import msgspec

from ...errors import Remedy, StreamError

MAX_ERROR_CHARACTERS = 500
BUSY_STATUSES = frozenset({408, 429, 500, 502, 503, 504, 529})
"""What may be gone in a moment."""
_BUSY_TYPES = frozenset({
    "overloaded", "overloaded_error", "rate_limit_error", "rate_limit_exceeded"
})  # fmt: skip
_MAX_TOKENS = 2**53
"""Far beyond any real count, and still a number that Lua can hold."""


class FunctionPiece(msgspec.Struct):
    name: str | None = None
    arguments: Any = None


class CallPiece(msgspec.Struct):
    index: int | None = None
    id: str | int | None = None
    function: FunctionPiece | None = None


class Piece(msgspec.Struct):
    """A `delta` of a stream, or the `message` of a whole answer."""

    content: Any = None
    refusal: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    thinking: Any = None
    tool_calls: list[CallPiece] | None = None


class Choice(msgspec.Struct):
    index: int | None = None
    delta: Piece | None = None
    message: Piece | None = None
    finish_reason: str | None = None
    error: Any = None


class Chunk(msgspec.Struct):
    choices: list[Choice] | None = None
    usage: Any = None
    error: Any = None

    @property
    def is_empty(self) -> bool:
        """Whether it has none of the fields of a chunk: perhaps it is something else."""
        return self.choices is None and self.usage is None and not self.error


_decoder = msgspec.json.Decoder(Chunk)


def parse_chunk(data: bytes) -> Chunk | None:
    """The chunk, or None when it is not one."""
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError):
        return _parse_halved(data) if b"\\u" in data else None


def _parse_halved(data: bytes) -> Chunk | None:
    r"""A chunk in which one half of a surrogate pair stands alone.

    Some servers cut a character outside the BMP between two chunks, as
    `\ud83d` and `\ude00`; msgspec refuses both, the standard library does not.
    """
    try:
        return msgspec.convert(json.loads(data), Chunk)
    except (ValueError, RecursionError):
        return None


class SurrogateJoiner:
    """Joins the halves of a character that was cut between two chunks."""

    def __init__(self) -> None:
        self._high = ""

    def feed(self, text: str) -> str:
        """The text with pairs joined; a high half at its end waits for the next piece."""
        if not self._high and text.isascii():
            return text
        text, self._high = self._high + text, ""
        if "\ud800" <= text[-1:] <= "\udbff":
            text, self._high = text[:-1], text[-1]
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def finish(self) -> str:
        """The replacement character for a half that stayed alone, or nothing."""
        alone, self._high = self._high, ""
        return "\ufffd" if alone else ""


def error_text(value: Any, *, levels: int = 4) -> str:
    """The provider's own message out of an error value of any shape, on one bounded line."""
    match value:
        case {"error": inner} if inner and levels:
            return error_text(inner, levels=levels - 1)
        case {"message": str(message)} if message.strip():
            return one_line(_with_raw(message, value))
        case {"detail": inner} | {"msg": inner} | {"code": inner} if inner and levels:
            return error_text(inner, levels=levels - 1)
        case [first, *_] if levels:
            return error_text(first, levels=levels - 1)
        case str():
            return one_line(value)
        case _:
            return one_line(as_json(value))


def provider_error(value: Any) -> StreamError:
    """The error that a value inside of a stream reports."""
    return StreamError(error_text(value), remedy=_remedy(value))


def _remedy(value: Any, *, levels: int = 4) -> Remedy:
    match value:
        case {"error": inner} if inner and levels:
            return _remedy(inner, levels=levels - 1)
        case {"code": int() as code} | {"status": int() as code} if code in BUSY_STATUSES:
            return "wait"
        case {"type": str() as kind} | {"code": str() as kind} if kind in _BUSY_TYPES:
            return "wait"
        case _:
            return "none"


def without_surrogates(text: str) -> str:
    """The text as UTF-8 can hold it, with `?` for each half of a surrogate pair."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def as_json(value: Any) -> str:
    """Compact JSON. Unlike msgspec's it takes the halves of a surrogate pair."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError as error:
        raise StreamError("a value came that is nested too deeply") from error


def token_counts(usage: Any) -> tuple[int, int] | None:
    """Tokens in and out, where the provider counted any."""
    match usage:
        case {"prompt_tokens": given} | {"input_tokens": given}:
            pass
        case _:
            given = 0
    match usage:
        case {"completion_tokens": made} | {"output_tokens": made}:
            pass
        case _:
            made = 0
    counts = _count(given), _count(made)
    return counts if any(counts) else None


def _count(value: Any) -> int:
    match value:
        case int():
            return min(max(0, value), _MAX_TOKENS)
        case float() if math.isfinite(value):
            return _count(int(value))
        case _:
            return 0


def stray_error(data: bytes) -> StreamError | None:
    """The error that a JSON object reports which is no chunk; None when it is none."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None
    match value:
        case {"object": "error"} | {"type": "error"} | {"message": str()} | {"detail": _}:
            return provider_error(value)
        case _:
            return None


def body_message(body: bytes) -> str:
    """The provider's own words in the body of an error; "" for a web page, which has none."""
    text = body.decode("utf-8", "replace").strip()
    if text.startswith("<"):
        return ""
    try:
        return error_text(msgspec.json.decode(text))
    except (msgspec.DecodeError, RecursionError):
        return one_line(text)


def one_line(text: str, limit: int = MAX_ERROR_CHARACTERS) -> str:
    """The text without control characters and line breaks, cut at the limit."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * limit]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _with_raw(message: str, value: Any) -> str:
    """OpenRouter hides the upstream provider's words in `metadata.raw`."""
    match value:
        case {"metadata": {"raw": str(raw)}} if raw not in message:
            return f"{message} ({raw})"
        case _:
            return message
