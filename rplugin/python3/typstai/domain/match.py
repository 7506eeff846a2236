"""Finds where a model's quoted text stands in a document, or explains the nearest miss."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from ..errors import ToolError

NEAREST = 3
"""How many similar lines an error quotes."""
QUOTE_CHARS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Where the text stands: `text[start:end]`, code points, end-exclusive."""

    start: int
    end: int
    exact: bool = True
    """False when it differs from what was asked for in white space at line edges."""


def find(text: str, search: str, *, occurrence: int | None = None) -> Match:
    """The only match, or the one chosen by `occurrence` (from 1).

    Raises `ToolError`: `empty_search`, `not_found`, `ambiguous`, `no_such_occurrence`.
    """
    matches = find_all(text, search)
    if occurrence is not None:
        if not 1 <= occurrence <= len(matches):
            raise ToolError("no_such_occurrence", f"there are {len(matches)} occurrences.")
        return matches[occurrence - 1]
    if len(matches) > 1:
        lines = ", ".join(str(_line(text, match.start)) for match in matches[:10])
        raise ToolError(
            "ambiguous",
            f"the text occurs {len(matches)} times (lines {lines}). Quote more of the lines around "
            "it, or say which occurrence.",
        )
    return matches[0]


def find_all(text: str, search: str) -> list[Match]:
    """Every match, from the top, not overlapping; raises when there is none.

    Exact matches win. Without one, a match that differs only in white space at
    the edges of lines counts, when it is the only one. Raises `ToolError`:
    `empty_search`, `not_found`, `ambiguous`.
    """
    if not search.strip():
        raise ToolError("empty_search", "the text to search for is empty.")
    exact = list(_occurrences(text, search))
    if exact:
        return [Match(start=at, end=min(at + len(search), len(text))) for at in exact]
    loose = [found.span() for found in _loose(search).finditer(text + "\n")]
    if len(loose) == 1:
        return [Match(start=loose[0][0], end=min(loose[0][1], len(text)), exact=False)]
    if loose:
        lines = ", ".join(str(_line(text, start)) for start, _ in loose[:10])
        raise ToolError(
            "ambiguous", f"only similar text is there, in lines {lines}: quote exactly."
        )
    raise ToolError("not_found", f"the text is not in the document. {nearest_lines(text, search)}")


def _occurrences(text: str, search: str) -> Iterator[int]:
    # The end of the last line counts as a line end, as it does in the file.
    text = f"{text}\n" if search.endswith("\n") else text
    at = text.find(search)
    while at >= 0:
        yield at
        at = text.find(search, at + len(search))


def nearest_lines(text: str, search: str) -> str:
    """One sentence that quotes the lines most like the first line searched for."""
    wanted = next(line.strip() for line in search.split("\n") if line.strip())
    lines = text.split("\n")
    stripped = [line.strip()[:1000] for line in lines]
    close = get_close_matches(wanted[:1000], set(stripped) - {""}, n=NEAREST, cutoff=0.5)
    if not close:
        return "No line is similar; read the document again."
    rows = sorted(stripped.index(line) for line in close)
    quotes = "\n".join(f"{row + 1}: {lines[row][:QUOTE_CHARS]}" for row in rows)
    return f"The most similar lines are:\n{quotes}"


_BROKEN_ESCAPE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f]|\r(?!\n)"
    r"|\t(?=imes\b|ext[a-z]*\{|heta\b|ilde\b|frac\b|riangle)|(?<=\S)\t(?=a[nu]\b|op?\b)"
    r"|\n(?=abla\b|otin\b|eq\b)"
)


def refuse_broken_escapes(text: str) -> None:
    r"""Raise `ToolError` when a JSON escape has turned a backslash into a control character.

    A model that writes `"\times"`, `"\frac"` or `"\rho"` into JSON sends a tab, a form feed
    or a carriage return.
    """
    broken = _BROKEN_ESCAPE.search(text)
    if broken:
        line = _line(text, broken.start())
        raise ToolError(
            "broken_escape",
            f"line {line} of the new text has {broken.group()!r} in it: a backslash "
            r"was not escaped in the JSON (write \\). Typst math needs no backslash.",
        )


def _loose(search: str) -> re.Pattern[str]:
    lines = search.strip("\n").split("\n")
    inner = r"[ \t\r]*\n[ \t]*".join(re.escape(line.strip()) for line in lines)
    before = r"[ \t]*" if lines[0][:1].isspace() else ""
    after = r"[ \t\r]*\n" if search.endswith("\n") else ""
    return re.compile(before + inner + after)


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def unique_excerpt(text: str, start: int, end: int) -> tuple[int, int]:
    """The smallest widening of `text[start:end]`, right before left, that occurs only once."""
    while not _unique(text, start, end) and (start > 0 or end < len(text)):
        if end < len(text) and (text[end] != "\n" or start == 0 or text[start - 1] == "\n"):
            end += 1
        else:
            start = max(0, start - 1)
    return start, end


def _unique(text: str, start: int, end: int) -> bool:
    excerpt = text[start:end]
    return bool(excerpt.strip()) and text.find(excerpt) == start == text.rfind(excerpt)
