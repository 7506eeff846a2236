"""What a proposed change is, and how far its review has come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .edit import LineChange

HunkState = Literal["pending", "stale", "accepted", "rejected", "merged", "lapsed"]
"""`stale`: the user changed the lines meanwhile; `merged`: a later proposal contains it;
`lapsed`: Neovim ended before the decision."""

MAX_HUNKS = 128
MAX_CHANGED_LINES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One contiguous change: lines `old` from `row0` (from 0) on become `new`.

    With a `byte_col`, a part of one line: `old` is the one text that starts there.
    """

    id: str
    """Unique within its proposal: `h1`, `h2`, … from the top."""
    row0: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    state: HunkState = "pending"
    reason: str = ""
    """While pending, what the checks say of it; then what the user said when rejecting, or
    why the hunk is stale."""
    edited: bool = False
    """Whether `new` is what the user made of it, not what was proposed."""
    byte_col: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The edits of one tool call on one buffer, waiting to be accepted or rejected."""

    id: str
    bufnr: int
    path: str
    """As shown to the user: relative to the project."""
    chat: str
    run: str
    call: str
    """Id of the tool call in the transcript."""
    source: str
    """Name of the tool or action that made it."""
    verdict: str
    """One short line for the header: what the checks found."""
    hunks: tuple[Hunk, ...]
    takes_over: tuple[HunkRef, ...] = ()
    """Pending hunks of the same chat that this proposal contains and replaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HunkRef:
    """One hunk of one proposal."""

    proposal: str
    hunk: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingHunk:
    """A pending hunk where it stands now."""

    ref: HunkRef
    row0: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    byte_col: int | None = None
    """Of a part of one line, see `Hunk`."""


def by_line(hunks: Sequence[Hunk | PendingHunk]) -> list[list[int]]:
    """Positions of hunks (from the top and left) that together are one change of whole lines."""
    groups: list[list[int]] = []
    for index, hunk in enumerate(hunks):
        last = hunks[groups[-1][0]] if groups else None
        is_sibling = last is not None and last.row0 == hunk.row0 and last.byte_col is not None
        if is_sibling and hunk.byte_col is not None:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def whole_lines(
    lines: Sequence[str], hunks: Sequence[Hunk | PendingHunk]
) -> tuple[LineChange, ...]:
    """The hunks (from the top and left) as changes of whole lines, one for each of `by_line`."""
    groups = ([hunks[index] for index in group] for group in by_line(hunks))
    return tuple(_joined(lines, group) for group in groups)


def _joined(lines: Sequence[str], hunks: Sequence[Hunk | PendingHunk]) -> LineChange:
    first = hunks[0]
    if first.byte_col is None:
        return LineChange(row0=first.row0, old=first.old, new=first.new)
    line = lines[first.row0]
    data, done = line.encode(), 0
    pieces: list[bytes] = []
    for hunk in hunks:
        start = hunk.byte_col or 0
        pieces += (data[done:start], "\n".join(hunk.new).encode())
        done = start + len(hunk.old[0].encode())
    new = b"".join((*pieces, data[done:])).decode()
    return LineChange(row0=first.row0, old=(line,), new=tuple(new.split("\n")))
