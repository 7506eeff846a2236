"""What an answer lost, changed or brought in, told in a few words each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..domain.integrity import Finding, compare
from ..domain.proposal import Hunk
from ..domain.prose import Piece, ProseReader
from ..domain.verdict import warning_parts
from .templates import Template

MAX_SHOWN = 30
_MARKERS = (
    (re.compile(r"(?m)^=+[ \t]"), "a heading", "headings"),
    (re.compile(r"(?m)^[ \t]*(?:[-+/]|\d+\.)[ \t]"), "a list item", "list items"),
)


def warnings(
    template: Template, document: str, before: str, after: str, reader: ProseReader
) -> tuple[str, ...]:
    """What is different in substance between a passage and its new text."""
    if template.placing == "append":
        return tuple(finding.line() for finding in _invented(document, after))
    facts = [
        finding.line()
        for finding in compare(before, after)
        if not (finding.kind in ("quote", "name") and template.changes_language)
    ]
    shape = () if template.may_restructure else _shape(before, after)
    return (*facts, *_code(before, after, reader), *shape)


def _invented(document: str, text: str) -> Iterator[Finding]:
    """Sources, labels, addresses and numbers that are nowhere in the document."""
    for finding in compare("", text):
        if finding.kind not in ("math", "code", "quote") and finding.after not in document:
            yield finding


def _shape(before: str, after: str) -> Iterator[str]:
    """Headings and list items that are fewer or more than they were."""
    for marker, one, many in _MARKERS:
        gone = len(marker.findall(before)) - len(marker.findall(after))
        if gone:
            count = one if abs(gone) == 1 else f"{abs(gone)} {many}"
            yield f"{'drops' if gone > 0 else 'adds'} {count}"


def _code(before: str, after: str, reader: ProseReader) -> Iterator[str]:
    old = Counter(_code_of(before, reader.pieces(before, 0, len(before)) or ()))
    new = Counter(_code_of(after, reader.pieces(after, 0, len(after)) or ()))
    yield from (f"drops {text}" for text in (old - new))
    yield from (f"adds {text}" for text in (new - old))


def _code_of(text: str, pieces: Sequence[Piece]) -> Iterator[str]:
    """Code and comments as one would name them; closing brackets go with what they close."""
    for piece in pieces:
        own = " ".join(text[piece.start : piece.end].split())
        if piece.kind in ("code", "comment") and any(char.isalnum() for char in own):
            yield own if len(own) <= MAX_SHOWN else own[: MAX_SHOWN - 1] + "…"


def marked(hunks: Sequence[Hunk], found: Sequence[str]) -> tuple[Hunk, ...]:
    """The hunks, each with those of the warnings that are about its own lines."""
    return tuple(replace(hunk, reason=_reason(hunk, found)) for hunk in hunks)


def _reason(hunk: Hunk, found: Sequence[str]) -> str:
    old, new = "\n".join(hunk.old), "\n".join(hunk.new)
    here = {finding.line() for finding in compare(old, new)}
    own = [line for line in found if line in here or _is_about(line, old, new)]
    return ", ".join(warning_parts(own))


def _is_about(line: str, old: str, new: str) -> bool:
    verb, _, text = line.partition(" ")
    text = text.rstrip("…")
    match verb:
        case "drops":
            return text in old and text not in new
        case "adds":
            return text in new and text not in old
        case _:
            return False


def verdict(found: Sequence[str], compiled: str) -> str:
    """One short line for the proposal's header, warnings first."""
    parts = warning_parts(found)
    if compiled and not (parts and compiled == "compiles as before"):
        parts.append(compiled)
    return " · ".join(parts)
