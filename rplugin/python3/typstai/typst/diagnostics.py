"""Reads the compiler's diagnostic text into values. Pure; compiles nothing.

The binding hands out structured data for the first error only; the text has all
of them:

    error: unknown variable: strnog
      ┌─ chapters/one.typ:3:1
      │
    3 │ #strnog[x]
      │  ^^^^^^
      │
      = hint: …

Lines count from 1, columns from 0 in code points, and the end of a span is only
drawn: by the width of its carets on a terminal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from ..domain.diagnostic import Diagnostic, Severity
from .columns import advance

SourceOf = Callable[[str], str | None]
"""Text of a file by the path the compiler names, or None when it cannot be read."""

_HEAD = re.compile(r"(error|warning|help): (.*)")
_PLACE = re.compile(r" *┌─ (.*):(\d+):(\d+)$")
_HINT = re.compile(r" *= hint: (.*)")
_SOURCE = re.compile(r" *(\d+) │ ?(.*)")
_CARETS = re.compile(r" *│ ( *(?:│ )?)(\^+)$")
_LAST_CARET = re.compile(r" *│ ( *╰─*)\^$")
_NEWLINE = re.compile("\r\n|[\n\v\f\r\x85\u2028\u2029]")
"""What the compiler takes for the end of a line; an editor knows fewer."""
_MARGIN = 2
"""Columns that the margin of a span over several lines takes from its lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A span as the compiler draws it: lines from 0, columns in code points."""

    path: str
    line0: int
    col: int
    carets: int = 0
    last_line0: int = -1
    last_caret: int = -1
    """Terminal column under which a span over several lines ends."""
    shown: str = ""
    """The source line as drawn, for files whose text is not to be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    kind: str
    message: str
    place: _Place | None
    hints: tuple[str, ...]


def parse_diagnostics(
    text: str, *, source_of: SourceOf, first_error: str = ""
) -> tuple[Diagnostic, ...]:
    """All errors and warnings in `text`, in its order.

    `first_error` is the exact message of the first error: a document can put
    anything into it with `panic`, lines that look like diagnostics too.
    """
    found: list[Diagnostic] = []

    @cache
    def lines_of(path: str) -> _Lines | None:
        text = source_of(path)
        return None if text is None else _Lines(text)

    for block in _blocks(text, first_error):
        if block.kind == "help":
            if found:
                found[-1] = replace(found[-1], trace=(*found[-1].trace, _trace_line(block)))
        else:
            found.append(_diagnostic(block, lines_of))
    return tuple(found)


def _blocks(text: str, first_error: str) -> Iterator[_Block]:
    lines = text.split("\n")
    heads = [index for index, line in enumerate(lines) if _HEAD.match(line)]
    heads = _without_faked(lines, heads, first_error)
    for start, stop in pairwise((*heads, len(lines))):
        head = _HEAD.match(lines[start])
        assert head
        known = first_error if lines[start] == f"error: {first_error.split(chr(10))[0]}" else ""
        yield _block(head[1], head[2], lines[start + 1 : stop], known)


def _without_faked(lines: list[str], heads: list[int], message: str) -> list[int]:
    """Leave out what stands inside the first error's own message."""
    parts = f"error: {message}".split("\n")
    for head in heads:
        if len(parts) > 1 and lines[head : head + len(parts)] == parts:
            return [index for index in heads if not head < index < head + len(parts)]
    return heads


def _block(kind: str, first: str, rest: list[str], known: str) -> _Block:
    message = known.split("\n") if known else [first]
    rest = rest[len(message) - 1 :]
    if not known:
        message += _more_message(rest)
        rest = rest[len(message) - 1 :]
    return _Block(
        kind=kind,
        message="\n".join(message).rstrip(),
        place=_place(rest),
        hints=tuple(_hints(rest)),
    )


def _more_message(rest: list[str]) -> list[str]:
    """Further lines of a message: what comes before its place or its hints."""
    for index, line in enumerate(rest):
        if _PLACE.match(line) or _HINT.match(line):
            return rest[:index]
    return []


def _hints(rest: list[str]) -> Iterator[str]:
    hint: list[str] = []
    for line in rest:
        started = _HINT.match(line)
        if hint and (started or not line.strip()):
            yield "\n".join(hint)
            hint = []
        if started:
            hint = [started[1]]
        elif hint:
            hint.append(line.strip())
    if hint:
        yield "\n".join(hint)


def _place(rest: list[str]) -> _Place | None:
    located = next(filter(None, map(_PLACE.match, rest)), None)
    if located is None:
        return None
    place = _Place(path=located[1], line0=int(located[2]) - 1, col=int(located[3]))
    number = place.line0
    for line in rest:
        if source := _SOURCE.match(line):
            number = int(source[1]) - 1
            place = place if place.shown else replace(place, shown=source[2])
        elif carets := _CARETS.match(line):
            return replace(place, carets=len(carets[2]))
        elif last := _LAST_CARET.match(line):
            return replace(place, last_line0=number, last_caret=len(last[1]) - _MARGIN)
    return place


def _diagnostic(block: _Block, lines_of: Callable[[str], _Lines | None]) -> Diagnostic:
    severity: Severity = "warning" if block.kind == "warning" else "error"
    plain = Diagnostic(path="", severity=severity, message=block.message, hints=block.hints)
    place = block.place
    if place is None:
        return plain
    lines = lines_of(place.path) or _Lines("\n" * place.line0 + place.shown)
    row0, byte_col = lines.position(place.line0, place.col)
    end_row0, end_byte_col = lines.position(*_end(place, lines, block.message))
    return replace(
        plain,
        path=place.path,
        row0=row0,
        byte_col=byte_col,
        end_row0=end_row0,
        end_byte_col=end_byte_col,
    )


def _end(place: _Place, lines: _Lines, message: str) -> tuple[int, int]:
    """Line and column, in code points, at which the span ends."""
    if place.last_line0 >= 0:
        line = lines.line(place.last_line0)
        return place.last_line0, advance(line, 0, place.last_caret + 1)
    line = lines.line(place.line0)
    if place.carets == 1 and _is_a_point(message):
        return place.line0, place.col
    return place.line0, advance(line, place.col, place.carets)


def _is_a_point(message: str) -> bool:
    """One caret is drawn for one character and for none: something missing is no character."""
    return message.startswith("expected ") and ", found" not in message


def _trace_line(block: _Block) -> str:
    """`chapters/one.typ:5:2: while calling …`, line and column from 1."""
    if block.place is None:
        return block.message
    place = block.place
    return f"{place.path}:{place.line0 + 1}:{place.col + 1}: {block.message}"


class _Lines:
    """A text in the compiler's lines, and where those lie in an editor's."""

    def __init__(self, text: str) -> None:
        self._text = text
        breaks = list(_NEWLINE.finditer(text))
        self._starts = [0, *(found.end() for found in breaks)]
        self._ends = [*(found.start() for found in breaks), len(text)]

    def line(self, line0: int) -> str:
        """One line without its end; empty when there is no such line."""
        if line0 >= len(self._starts):
            return ""
        return self._text[self._starts[line0] : self._ends[line0]]

    def position(self, line0: int, col: int) -> tuple[int, int]:
        """Row from 0 and byte column for an editor that ends lines at `\\n` only."""
        line0 = min(line0, len(self._starts) - 1)
        offset = min(self._starts[line0] + col, self._ends[line0])
        row0 = self._text.count("\n", 0, offset)
        start = self._text.rfind("\n", 0, offset) + 1
        return row0, len(self._text[start:offset].encode("utf-8", "surrogatepass"))
