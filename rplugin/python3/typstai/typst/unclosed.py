"""Where a delimiter that was never closed should have been. Pure.

Every guess is parsed: only one that leaves fewer syntax errors counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .names import compiler_names
from .syntax import error_starts

MAX_WORDS = 6
"""A longer line was hardly meant to be bold or raw as a whole."""

_CLOSING = {"(": ")", "[": "]", "{": "}", "$": "$", "*": "*", "_": "_", '"': '"', "`": "`"}
_MATH_TOKEN = re.compile(r"\s*(?:[A-Za-z][\w.]*|\d+(?:\.\d+)?|[^\sA-Za-z\d])")
_PROSE = frozenset(("a", "and", "or", "in", "not", "is", "are", "to", "of", "with", "without"))

Insertion = tuple[int, str]
"""An offset in code points and the text to put there."""


def closing(text: str, start: int) -> Insertion | None:
    """The missing end of the delimiter at `start`, or None when it is anybody's guess."""
    opener = text[start : start + 1]
    if opener not in _CLOSING or not opener:
        return None
    place = len(text[:start].encode())
    before = error_starts(text)
    for offset, new in _guesses(text, start, opener):
        after = error_starts(text[:offset] + new + text[offset:])
        if before and after is not None and len(after) < len(before) and place not in after:
            return offset, new
    return None


def _guesses(text: str, start: int, opener: str) -> Iterator[Insertion]:
    match opener:
        case "(" | "[" | "{":
            yield from _bracket(text, start, opener)
        case "$":
            yield from _formula(text, start)
        case '"':
            yield from _string(text, start)
        case _:
            yield from _short(text, start, opener)


def _bracket(text: str, start: int, opener: str) -> Iterator[Insertion]:
    close = _CLOSING[opener]
    line_end = _line_end(text, start)
    rest = text[start + 1 : line_end]
    if not rest.strip():
        yield from _block(text, start, close)
        return
    if opener == "(" and rest.endswith("]") and "[" in rest:
        yield start + 1 + rest.index("["), close
    if opener == "[" and rest.endswith((",", ")")):
        yield start + 1 + len(rest.rstrip(",)")), close
    yield line_end, close


def _block(text: str, start: int, close: str) -> Iterator[Insertion]:
    """After the lines that are indented further than the one that opens."""
    first = text[text.rfind("\n", 0, start) + 1 : start]
    indent = _indent(first)
    at = _line_end(text, start)
    while (newline := text.find("\n", at)) >= 0:
        following = _line_end(text, newline + 1)
        line = text[newline + 1 : following]
        if not line.strip() or len(_indent(line)) <= len(indent):
            break
        at = following
    alone = at == _line_end(text, start)
    yield at, close if alone else f"\n{indent}{close}"


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _formula(text: str, start: int) -> Iterator[Insertion]:
    """After what can be mathematics, before the first word that cannot."""
    line_end = _line_end(text, start)
    names = compiler_names().math
    end = at = start + 1
    while at < line_end and (token := _MATH_TOKEN.match(text, at, line_end)):
        word = token[0].strip()
        if word in _PROSE or (word[0].isalpha() and word[1:] and word.split(".")[0] not in names):
            break
        at = token.end()
        end = at if word not in (".", ",", ";", ":") else end
    space = " " if text[start + 1 : start + 2] == " " else ""
    if end > start + 1:
        yield end, f"{space}$"


def _string(text: str, start: int) -> Iterator[Insertion]:
    line_end = _line_end(text, start)
    body = text[start + 1 : line_end]
    for keep in (body.rstrip(")]},; "), body):
        yield start + 1 + len(keep), '"'


def _short(text: str, start: int, opener: str) -> Iterator[Insertion]:
    """To the end of a line of a few words that ends its paragraph."""
    line_end = _line_end(text, start)
    rest = text[start + 1 : line_end]
    last_line = not text[line_end + 1 : _line_end(text, line_end + 1)].strip()
    if rest[:1].strip() and last_line and len(rest.split()) <= MAX_WORDS:
        yield start + 1 + len(rest.rstrip(".,;:!? ")), opener


def _line_end(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end
    return end - 1 if text[end - 1 : end] == "\r" else end
