"""Three-way merge: what the model saw, what it made of it, and what the user has made since.

Where both changed the same place the user's text stays, and the model's is kept
aside as a clash. Lines are merged first; where they clash, words are tried,
because a paragraph of prose is often a single line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from merge3 import Merge3

from .edit import LineChange, apply_changes

Lines = tuple[str, ...]
_WORDS = re.compile(r"\n|\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """What to do with the current text, both parts in whole lines from the top."""

    changes: tuple[LineChange, ...]
    """The model's changes that fit."""
    clashes: tuple[LineChange, ...]
    """Those that do not: `old` is the user's text, `new` what the model wanted there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Between two places where all three texts agree."""

    base: Lines
    edited: Lines
    current: Lines
    start: int
    """Where the part starts in `current`."""


def carry(changes: Sequence[LineChange], *, base: Lines, current: Lines) -> Merged:
    """Carry changes of `base` over to `current`."""
    if current == base:
        smallest = (part for change in changes for part in _smallest(change))
        return Merged(changes=tuple(smallest), clashes=())
    return merge(base=base, edited=apply_changes(base, changes), current=current)


def merge(*, base: Lines, edited: Lines, current: Lines) -> Merged:
    """Carry the change from `base` to `edited` over to `current`."""
    changes: list[LineChange] = []
    clashes: list[LineChange] = []
    for part in _parts(base, edited, current):
        if part.edited in (part.base, part.current):
            continue
        if part.current == part.base:
            new: Lines | None = part.edited
        else:
            new = _by_words(part)
        if new is None:
            clashes.append(LineChange(row0=part.start, old=part.current, new=part.edited))
        elif new != part.current:
            changes.append(LineChange(row0=part.start, old=part.current, new=new))
    return Merged(changes=tuple(changes), clashes=tuple(clashes))


def _smallest(change: LineChange) -> Iterator[LineChange]:
    for part in merge(base=change.old, edited=change.new, current=change.old).changes:
        yield replace(part, row0=change.row0 + part.row0)


def _by_words(part: _Part) -> Lines | None:
    """The merged lines, or None when both changed the same words."""
    base, edited, current = (
        tuple(_WORDS.findall("\n".join(lines))) for lines in (part.base, part.edited, part.current)
    )
    if not (part.base and part.edited and part.current):
        return None
    merged: list[str] = []
    done = 0
    for word_part in _parts(base, edited, current):
        if word_part.edited in (word_part.base, word_part.current):
            continue
        if word_part.current != word_part.base:
            return None
        merged += (*current[done : word_part.start], *word_part.edited)
        done = word_part.start + len(word_part.current)
    return tuple("".join((*merged, *current[done:])).split("\n"))


def _parts(base: Lines, edited: Lines, current: Lines) -> Iterator[_Part]:
    """Every stretch on which the three texts do not all agree, from the top."""
    at_base = at_edited = at_current = 0
    for region in _agreements(base, edited, current):
        base_from, base_to, edited_from, edited_to, current_from, current_to = region
        part = _Part(
            base=base[at_base:base_from],
            edited=edited[at_edited:edited_from],
            current=current[at_current:current_from],
            start=at_current,
        )
        if part.base or part.edited or part.current:
            yield part
        at_base, at_edited, at_current = base_to, edited_to, current_to


Region = tuple[int, int, int, int, int, int]
"""Start and end of one agreement in base, edited and current."""


def _agreements(base: Lines, edited: Lines, current: Lines) -> Sequence[Region]:
    # Comparing costs more than it grows: what is equal at both ends is left out.
    head = _common(base, edited, current)
    tail = _common(base[:head:-1], edited[:head:-1], current[:head:-1])
    one, two, three = (lines[head : len(lines) - tail] for lines in (base, edited, current))
    # difflib's heuristic for frequent items is wanted: documents are full of blank lines.
    *found, _ = Merge3(one, two, three).find_sync_regions()
    regions: list[Region] = [(0, head, 0, head, 0, head)]
    for region in found:
        a, b, c, d, e, f = (position + head for position in region)
        regions.append((a, b, c, d, e, f))
    ends = [len(lines) for lines in (base, edited, current)]
    a, c, e = (end - tail for end in ends)
    return [*regions, (a, ends[0], c, ends[1], e, ends[2])]


def _common(*texts: Lines) -> int:
    """How many items all begin with."""
    count = 0
    for one, *others in zip(*texts, strict=False):
        if any(one != other for other in others):
            break
        count += 1
    return count
