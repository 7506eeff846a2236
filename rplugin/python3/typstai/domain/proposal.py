"""What a proposed change is, and how far its review has come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

HunkState = Literal["pending", "stale", "accepted", "rejected", "merged", "lapsed"]
"""`stale`: the user changed the lines meanwhile; `merged`: a later proposal contains it;
`lapsed`: Neovim ended before the decision."""

MAX_HUNKS = 128
MAX_CHANGED_LINES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One contiguous change: lines `old` from `row0` (from 0) on become `new`."""

    id: str
    """Unique within its proposal: `h1`, `h2`, … from the top."""
    row0: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    state: HunkState = "pending"
    reason: str = ""
    """What the user said when rejecting, or why the hunk is stale."""
    edited: bool = False
    """Whether `new` is what the user made of it, not what was proposed."""


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
