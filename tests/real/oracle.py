"""Reads the compiler's own annotated tests.

--- let-basic paged ---
// Error: 2-16 message        columns from 1, of the next line of code
// Error: 1:12-3:2 message    lines from 1, counted from that line
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_CASE = re.compile(r"^--- (\S+)(.*) ---$", re.M)
_NOTE = re.compile(r"^\s*// (Error|Warning): ([\d:-]+) (.*)")
_ANY_NOTE = re.compile(r"^\s*// (Error|Warning|Hint)(:|\s)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """Rows from 0; columns from 0 in code points, as the compiler counts them."""

    severity: str
    message: str
    start: tuple[int, int]
    end: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    name: str
    attributes: str
    text: str
    annotations: tuple[Annotation, ...]


def read_cases(suite: Path) -> Iterator[Case]:
    """Every test of the suite that has an annotation with a place."""
    for file in sorted(suite.rglob("*.typ")):
        parts = _CASE.split(file.read_text(encoding="utf-8"))
        for name, attributes, text in zip(*[iter(parts[1:])] * 3, strict=True):
            found = tuple(_annotations(text.split("\n")))
            if found:
                yield Case(name=name, attributes=attributes, text=text, annotations=found)


def _annotations(lines: list[str]) -> Iterator[Annotation]:
    for row0, line in enumerate(lines):
        note = _NOTE.match(line)
        if not note:
            continue
        code = row0 + 1
        while code < len(lines) and lines[code].strip().startswith("//"):
            code += 1
        start, _, end = note[2].partition("-")
        first = _position(start, code)
        last = _position(end, code) if end else first
        message = note[3].replace("\\n", "\n")
        yield Annotation(severity=note[1].lower(), message=message, start=first, end=last)


def _position(text: str, row0: int) -> tuple[int, int]:
    line, _, col = text.rpartition(":")
    return row0 + (int(line) - 1 if line else 0), int(col) - 1
