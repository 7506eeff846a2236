"""What the model was last shown of each document, in one conversation.

An edit is understood on the text that the model saw, not on the text as it is
now: what the user typed since is merged in afterwards. A ledger that outlived
what the model remembers would let it edit text it no longer knows, so a new
conversation starts a new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .edit import LineChange, apply_changes
from .merge import carry

MAX_READS = 8
"""Reads remembered for one document; older ones are forgotten first."""

Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A document as it was when its lines `start` to `end` (from 0, end-exclusive) were shown."""

    lines: Lines = field(repr=False)
    start: int
    end: int

    def shows(self, text: str) -> bool:
        return text in "\n".join(self.lines[self.start : self.end]) + "\n"


@dataclass(slots=True)
class Ledger:
    """The reads of one conversation, by absolute path, newest last."""

    _reads: dict[str, list[Read]] = field(default_factory=dict[str, list[Read]])

    def shown(self, path: str, lines: Lines, start: int, end: int) -> None:
        """The model was shown lines `start` to `end` of the document as it is now, in full."""
        reads = self._reads.setdefault(path, [])
        reads.append(Read(lines=lines, start=start, end=end))
        del reads[:-MAX_READS]

    def reads(self, path: str) -> Sequence[Read]:
        """What the model was shown of a document, newest first."""
        return tuple(reversed(self._reads.get(path, [])))

    def base_of_rows(self, path: str, start: int, end: int) -> Lines | None:
        """The document in which the model saw these rows, or None when it never did."""
        for read in self.reads(path):
            if read.start <= start and end <= read.end:
                return read.lines
        return None

    def base_of_texts(self, path: str, texts: Sequence[str]) -> Lines | None:
        """The newest document in whose shown part all these texts stand, or None."""
        for read in self.reads(path):
            if all(read.shows(text) for text in texts):
                return read.lines
        return None

    def wrote(self, path: str, base: Lines, changes: Sequence[LineChange]) -> None:
        """The model knows its own accepted changes, given on `base`: every read moves on."""
        reads = self._reads.get(path, [])
        moved = (_moved_on(read, base, changes) for read in reads)
        self._reads[path] = [read for read in moved if read is not None]


def _moved_on(read: Read, base: Lines, changes: Sequence[LineChange]) -> Read | None:
    merged = carry(changes, base=base, current=read.lines)
    if merged.clashes:
        return None
    before = sum(_growth(change) for change in merged.changes if change.row0 < read.start)
    within = sum(
        _growth(change) for change in merged.changes if read.start <= change.row0 <= read.end
    )
    lines = apply_changes(read.lines, merged.changes)
    start, end = read.start + before, read.end + before + within
    return replace(read, lines=lines, start=start, end=min(end, len(lines)))


def _growth(change: LineChange) -> int:
    return len(change.new) - len(change.old)
