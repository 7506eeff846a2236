"""What becomes of a proposed edit that no run waits for any more: written into its call.

The run went on (a suggestion), or its process or Neovim ended. The model reads it
with the history of its next run, so it never takes a proposal for applied that the
user has rejected, or for open that has lapsed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ..domain.chat import Segment, ToolState, ToolUse
from ..domain.proposal import Hunk

_UNCHECKED = "The compiler's verdict above is of the text as proposed, not of what was applied."

MAX_EDITED_CHARACTERS = 2_000
"""Of a text that the writer edited; more of it the model must read itself."""


def edited_note(hunk: Hunk) -> str:
    """What the model is told of a hunk that the writer edited before accepting it."""
    text = "\n".join(hunk.new)
    if len(text) > MAX_EDITED_CHARACTERS:
        text = f"{text[:MAX_EDITED_CHARACTERS]}…\n(cut; read the document again)"
    return f"{hunk.id} applied as the writer changed it:\n{text}"


def decided(
    segments: Sequence[Segment], proposal: str, hunks: Sequence[Hunk]
) -> tuple[int, ToolUse] | None:
    """Position of the call that made the proposal, and the call with the outcome in it.

    None when no call waits for that proposal, its run still does, or it was told before.
    """
    for index, segment in enumerate(segments):
        if isinstance(segment, ToolUse) and segment.proposal == proposal and _is_open(segment):
            told = _told(segment, hunks)
            return None if told is None else (index, told)
    return None


def _is_open(use: ToolUse) -> bool:
    """Whether its run ended without a decision: it went on, or was interrupted."""
    return use.state in ("waiting", "cancelled") and bool(use.result)


def _told(use: ToolUse, hunks: Sequence[Hunk]) -> ToolUse | None:
    states = Counter[str](hunk.state for hunk in hunks)
    outcome = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    if any(hunk.edited and hunk.state == "accepted" for hunk in hunks):
        outcome += " as edited"
    later = _sentences(states, outcome, hunks)
    if use.result.endswith(later):
        return None
    return replace(
        use,
        state=_state(states),
        label=f"{use.label} · {outcome}" if use.label else outcome,
        result=f"{use.result}\n{later}",
        detail=f"{use.detail}\n{later}" if use.detail else later,
    )


def _sentences(states: Counter[str], outcome: str, hunks: Sequence[Hunk]) -> str:
    if states["lapsed"]:
        return f"Neovim ended before the writer decided: {outcome}. What lapsed was not applied."
    reasons = [f"{hunk.id}: {hunk.reason}" for hunk in hunks if hunk.reason]
    edited = [edited_note(hunk) for hunk in hunks if hunk.edited and hunk.state == "accepted"]
    unchecked = [_UNCHECKED] if edited else []
    told = (f"decided by the writer since: {outcome}.", *reasons, *edited, *unchecked)
    return "\n".join(told)


def _state(states: Counter[str]) -> ToolState:
    if states["accepted"] or states["merged"]:
        return "done"
    return "cancelled" if states["lapsed"] else "rejected"
