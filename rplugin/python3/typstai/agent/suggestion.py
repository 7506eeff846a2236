"""What becomes of a suggested edit after its run went on: written into its call.

The model reads it with the history of its next run, so it never takes a
suggestion for applied that the user has rejected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ..domain.chat import Segment, ToolState, ToolUse
from ..domain.proposal import Hunk


def decided(
    segments: Sequence[Segment], proposal: str, hunks: Sequence[Hunk]
) -> tuple[int, ToolUse] | None:
    """Position of the call that made the proposal, and the call with the outcome in it.

    None when no call waits for that proposal, or its run still does.
    """
    for index, segment in enumerate(segments):
        if isinstance(segment, ToolUse) and segment.proposal == proposal and _is_open(segment):
            return index, _told(segment, hunks)
    return None


def _is_open(use: ToolUse) -> bool:
    return use.state == "waiting" and bool(use.result)


def _told(use: ToolUse, hunks: Sequence[Hunk]) -> ToolUse:
    states = Counter(hunk.state for hunk in hunks)
    outcome = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    reasons = [f"{hunk.id}: {hunk.reason}" for hunk in hunks if hunk.reason]
    later = "\n".join((f"decided by the writer since: {outcome}.", *reasons))
    state: ToolState = "done" if states["accepted"] or states["merged"] else "rejected"
    return replace(
        use,
        state=state,
        label=f"{use.label} · {outcome}",
        result=f"{use.result}\n{later}",
        detail=f"{use.detail}\n{later}",
    )
