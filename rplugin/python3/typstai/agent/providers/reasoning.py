"""Tells what a model thinks from what it answers: inline `<think>` tags, and the odd fields.

Only text is handled here; which field of a chunk holds it is the assembler's
concern.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, cast

from .base import ReasoningDelta, TextDelta

_OPEN = "<think>"
_CLOSE = "</think>"
_TAG = re.compile(f"({_OPEN}|{_CLOSE})")

Piece = TextDelta | ReasoningDelta


class ThinkSplitter:
    """Splits a streamed answer at `<think>…</think>`, wherever the pieces are cut.

    Tags nest. Reasoning that is never closed lasts to the end. A closing tag
    without an opening one is dropped, and so are the line breaks between the
    reasoning and the answer.
    """

    def __init__(self) -> None:
        self._held = ""
        self._depth = 0
        self._trim = False

    def feed(self, text: str) -> list[Piece]:
        """The pieces that are certain now; what may be the start of a tag is held back."""
        text = self._held + text
        cut = len(text) - _held_length(text)
        self._held = text[cut:]
        pieces: list[Piece] = []
        for part in _TAG.split(text[:cut]):
            if part in (_OPEN, _CLOSE):
                self._enter_or_leave(part)
            else:
                pieces += self._piece(part)
        return pieces

    def finish(self) -> list[Piece]:
        """What was held back, now that no more comes."""
        held, self._held = self._held, ""
        return self._piece(held)

    def _enter_or_leave(self, tag: str) -> None:
        inside = self._depth > 0
        self._depth = self._depth + 1 if tag == _OPEN else max(0, self._depth - 1)
        self._trim = inside and self._depth == 0

    def _piece(self, text: str) -> list[Piece]:
        if self._trim and text:
            text = text.lstrip("\r\n")
            self._trim = not text
        if not text:
            return []
        return [ReasoningDelta(text=text) if self._depth else TextDelta(text=text)]


def plain_text(value: Any, *, levels: int = 4) -> str:
    """Text of a field that is a string, an object with `content`, `text` or `thinking`,
    or a list of those, down to a few levels; "" for anything else.
    """
    match value:
        case str():
            return value
        case list() if levels:
            parts = cast("Iterable[Any]", value)
            return "".join(plain_text(part, levels=levels - 1) for part in parts)
        case {"content": inner} | {"text": inner} | {"thinking": inner} if levels:
            return plain_text(inner, levels=levels - 1)
        case _:
            return ""


def content_pieces(value: Any) -> list[tuple[bool, str]]:
    """A `content` field as (is reasoning, text): a string, or parts tagged by `type`."""
    if not isinstance(value, list):
        return [(False, plain_text(value))]
    parts = cast("list[Any]", value)
    return [(_is_thinking(part), plain_text(part)) for part in parts]


def _is_thinking(part: Any) -> bool:
    match part:
        case {"type": "thinking" | "reasoning"}:
            return True
        case _:
            return False


def _held_length(text: str) -> int:
    """How many characters at the end may be the start of a tag."""
    start = text.rfind("<", -len(_CLOSE) + 1)
    tail = text[start:] if start >= 0 else ""
    return len(tail) if tail and (_OPEN.startswith(tail) or _CLOSE.startswith(tail)) else 0
