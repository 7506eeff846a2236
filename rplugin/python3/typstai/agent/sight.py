"""A document as the model sees it: through the pending hunks of its chat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from ..domain.document import Snapshot
from ..domain.edit import LineChange
from ..domain.pending import Composed, compose, final_lines
from ..domain.proposal import HunkRef, PendingHunk, by_line, whole_lines

View = Literal["final", "markup", "original"]


@dataclass(frozen=True, kw_only=True)
class Sight:
    """The buffer's text and what is pending on it."""

    original: Snapshot
    """The text as it stands in the buffer."""
    pending: tuple[PendingHunk, ...]

    @cached_property
    def final(self) -> Snapshot:
        """The text as if everything pending were accepted; edits are made on it."""
        lines = final_lines(self.original.lines, self._changes)
        return replace(self.original, lines=lines) if self.pending else self.original

    def lines(self, view: View) -> tuple[str, ...]:
        """The lines of a view. In `markup`, pending lines begin with `[-] ` and `[+] `."""
        match view:
            case "final":
                return self.final.lines
            case "original":
                return self.original.lines
            case "markup":
                return final_lines(
                    self.original.lines, [_marked(change) for change in self._changes]
                )

    def composed(self, edits: Sequence[LineChange]) -> tuple[Composed, ...]:
        """Edits of the final text as changes of the buffer's text."""
        return compose(self.original.lines, self._changes, edits)

    def taken_over(self, composed: Sequence[Composed]) -> tuple[HunkRef, ...]:
        """The pending hunks that these changes replace."""
        groups = by_line(self.pending)
        taken = (index for item in composed for group in item.takes_over for index in groups[group])
        return tuple(self.pending[index].ref for index in taken)

    def original_row(self, row0: int) -> int:
        """The buffer's row for a row of the final text."""
        shift = 0
        for change in self._changes:
            if change.row0 + shift >= row0:
                break
            shift += len(change.new) - len(change.old)
        return max(0, row0 - shift)

    @cached_property
    def _changes(self) -> tuple[LineChange, ...]:
        return whole_lines(self.original.lines, self.pending)


def _marked(change: LineChange) -> LineChange:
    out = tuple(f"[-] {line}" for line in change.old)
    into = tuple(f"[+] {line}" for line in change.new)
    return LineChange(row0=change.row0, old=change.old, new=(*out, *into))
