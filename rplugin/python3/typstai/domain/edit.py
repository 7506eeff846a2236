"""Edits on a text, and the whole-line changes they amount to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .document import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replaces `text[start:end]` by `new`; offsets are code points, end-exclusive."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChange:
    """Replaces whole lines: `old` stand from row `row0` (from 0) on and become `new`.

    An empty `old` inserts before `row0`; an empty `new` deletes the lines.
    """

    row0: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def overlapping(edits: Iterable[Edit]) -> tuple[Edit, Edit] | None:
    """The first two edits that touch the same text, or None."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    for left, right in pairwise(ordered):
        if right.start < left.end or (right.start, right.end) == (left.start, left.end):
            return left, right
    return None


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after all edits, each given in offsets of the text before any."""
    parts: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += (text[done : edit.start], edit.new)
        done = edit.end
    return "".join((*parts, text[done:]))


def line_changes(snapshot: Snapshot, edits: Sequence[Edit]) -> tuple[LineChange, ...]:
    """The edits as changes of whole lines, top to bottom, touching ones merged."""
    groups: list[list[Edit]] = []
    last_row = -1
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if groups and snapshot.row_at(edit.start) <= last_row:
            groups[-1].append(edit)
        else:
            groups.append([edit])
        last_row = max(last_row, snapshot.row_at(edit.end))
    changes = (_whole_lines(snapshot, group) for group in groups)
    return tuple(change for change in changes if change.old != change.new)


def _whole_lines(snapshot: Snapshot, edits: Sequence[Edit]) -> LineChange:
    first = snapshot.row_at(edits[0].start)
    last = snapshot.row_at(max(edit.end for edit in edits))
    base = snapshot.line_starts[first]
    old = snapshot.lines[first : last + 1]
    shifted = [Edit(start=edit.start - base, end=edit.end - base, new=edit.new) for edit in edits]
    new = apply_edits("\n".join(old), shifted)
    return LineChange(row0=first, old=old, new=tuple(new.split("\n")))


def apply_changes(lines: Sequence[str], changes: Iterable[LineChange]) -> tuple[str, ...]:
    """The lines after all changes, each given in rows of the lines before any."""
    parts: list[str] = []
    done = 0
    for change in sorted(changes, key=lambda change: change.row0):
        parts += (*lines[done : change.row0], *change.new)
        done = change.row0 + len(change.old)
    return (*parts, *lines[done:])
