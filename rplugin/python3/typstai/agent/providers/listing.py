"""Reads the list of models that a server offers. No I/O."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from .chunks import one_line

MAX_LIST_BYTES = 4 * 1024 * 1024
"""OpenRouter's is 600 KB."""
MAX_NAMES = 500
_LONGEST_NAME = 200
_NO_CHAT = ("embed", "whisper", "tts", "rerank", "moderation", "dall-e", "transcribe")


def model_names(body: bytes) -> tuple[str, ...]:
    """The names in the body of a list, in its order; () for anything that is no list."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return ()
    names = (_name(entry) for entry in _entries(value)[:MAX_NAMES])
    return tuple(dict.fromkeys(name for name in names if name))


def first_for_chat(names: tuple[str, ...]) -> str:
    """The first name that does not sound like something else than a chat model; "" for none."""
    fitting = (name for name in names if not any(word in name.lower() for word in _NO_CHAT))
    return next(fitting, "")


def _entries(value: Any) -> list[Any]:
    match value:
        case {"data": entries} | {"models": entries}:
            return cast("list[Any]", entries) if isinstance(entries, list) else []
        case _:
            return cast("list[Any]", value) if isinstance(value, list) else []


def _name(entry: Any) -> str:
    match entry:
        case {"id": str(name)} | {"name": str(name)}:
            clean = one_line(name, _LONGEST_NAME).removeprefix("models/")
            return clean if clean == name.removeprefix("models/") else ""
        case _:
            return ""
