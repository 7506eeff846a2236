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

_UNCHECKED = "The verdict above is of the text as proposed, not of what was applied."

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
        if (
            isinstance(segment, ToolUse)
            and segment.proposal == proposal
            and _is_open(segment, hunks)
        ):
            told = _told(segment, hunks)
            return None if told is None else (index, told)
    return None


def cut_off(use: ToolUse, hunks: Sequence[Hunk]) -> ToolUse:
    """A call that was stopped before it had a result; `hunks` is what was decided of it."""
    ended = replace(use, state="cancelled")
    return (_told(ended, hunks) or ended) if _is_open(ended, hunks) else ended


def checked(
    segments: Sequence[Segment], proposal: str, line: str, told: str
) -> tuple[int, ToolUse] | None:
    """The same call once what was really applied is checked.

    `line` is the verdict for the writer, `told` the one for the model.
    """
    for index, segment in enumerate(segments):
        if isinstance(segment, ToolUse) and segment.proposal == proposal:
            verdict = f"What was applied:\n{told}"
            changed = replace(
                segment,
                label=f"{segment.label} · {line}",
                result=segment.result.replace(_UNCHECKED, verdict),
                detail=segment.detail.replace(_UNCHECKED, verdict),
            )
            return (index, changed) if changed.result != segment.result else None
    return None


def _is_open(use: ToolUse, hunks: Sequence[Hunk]) -> bool:
    """Whether its run ended without telling this: it went on, was interrupted, or stopped."""
    if use.result:
        return use.state in ("waiting", "cancelled")
    return use.state == "cancelled" and any(hunk.state == "accepted" for hunk in hunks)


def _told(use: ToolUse, hunks: Sequence[Hunk]) -> ToolUse | None:
    states = Counter[str](hunk.state for hunk in hunks)
    outcome = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    if any(hunk.edited and hunk.state == "accepted" for hunk in hunks):
        outcome += " as edited"
    later = _sentences(states, outcome, hunks, judged=bool(use.result))
    if use.result.endswith(later):
        return None
    return replace(
        use,
        state=_state(states),
        label=f"{use.label} · {outcome}" if use.label else outcome,
        result=f"{use.result}\n{later}" if use.result else later,
        detail=f"{use.detail}\n{later}" if use.detail else later,
        applied=states["accepted"] > 0,
    )


def _sentences(states: Counter[str], outcome: str, hunks: Sequence[Hunk], *, judged: bool) -> str:
    if states["lapsed"]:
        return f"Neovim ended before the writer decided: {outcome}. What lapsed was not applied."
    reasons = [f"{hunk.id}: {hunk.reason}" for hunk in hunks if hunk.reason]
    edited = [edited_note(hunk) for hunk in hunks if hunk.edited and hunk.state == "accepted"]
    is_other = bool(edited) or states["accepted"] < len(hunks)
    unchecked = [_UNCHECKED] if judged and states["accepted"] and is_other else []
    told = (f"decided by the writer since: {outcome}.", *reasons, *edited, *unchecked)
    return "\n".join(told)


def _state(states: Counter[str]) -> ToolState:
    if states["accepted"] or states["merged"]:
        return "done"
    return "cancelled" if states["lapsed"] else "rejected"
