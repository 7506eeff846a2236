"""From edits to an applied, pending, partly applied or rejected change, and what the model is told.

An edit is made on the text that the model saw. What the user typed since is
merged in, and what is pending from earlier calls is taken over; only then is it
a change of the buffer.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..domain.edit import LineChange, apply_changes
from ..domain.merge import carry
from ..domain.proposal import (
    MAX_CHANGED_LINES,
    MAX_HUNKS,
    Hunk,
    HunkRef,
    Proposal,
    whole_lines,
)
from ..domain.sentences import by_sentence
from ..domain.tool import ToolOutcome
from ..domain.verdict import Verdict, marked
from ..errors import ToolError
from .checks import judge, refuse_worse
from .run import Run
from .sight import Sight
from .suggestion import MAX_EDITED_CHARACTERS, edited_note
from .tools.toolset import Invocation

MAX_DOCUMENT_CHARS = 1_000_000
UNANSWERED = "no decision came in time; ask before proposing it again"
MAX_QUOTED = 40
LONG_LINE_BYTES = 160
"""From here on a line of prose is a paragraph, decided sentence by sentence."""
CLASH = "you changed these lines after the model had read them"

Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What one call does to the buffer."""

    hunks: tuple[Hunk, ...]
    takes_over: tuple[HunkRef, ...]
    wrote: tuple[LineChange, ...]
    """The same on the final text, as the model thinks of it."""
    verdict: Verdict


async def submit(
    invocation: Invocation,
    sight: Sight,
    *,
    base: Lines,
    changes: Sequence[LineChange],
    note: str = "",
) -> ToolOutcome:
    """Merge, check, show and (when accepted) apply the changes that one call makes of `base`.

    Raises `ToolError`: `not_modifiable`, `no_changes`, `too_large`, `too_many_changes`,
    `needs_correction`.
    """
    run = invocation.run
    plan = await _plan(run, sight, base, changes)
    refuse_worse(run, plan.verdict)
    proposal = _proposal(invocation, sight, plan)
    if run.approval == "suggest":
        await run.editor.propose(proposal)
        run.rechecks[proposal.id] = partial(_recheck, run, sight, plan)
        run.ledger.wrote(run.absolute(sight.original), sight.final.lines, plan.wrote)
        return _suggested(proposal, plan.verdict, note)
    decided = await _decide(invocation, proposal)
    lines = sight.original.lines
    known = _applied(plan.hunks, [hunk for hunk in decided if _is_told(hunk)])
    run.ledger.wrote(run.absolute(sight.original), lines, whole_lines(lines, known))
    verdict = await _recheck(run, sight, plan, decided) or plan.verdict
    return _outcome(proposal, decided, verdict, note)


async def _recheck(run: Run, sight: Sight, plan: _Plan, decided: Sequence[Hunk]) -> Verdict | None:
    """The verdict on what was applied; None when that is what was proposed, or nothing."""
    applied, lines = _applied(plan.hunks, decided), sight.original.lines
    if not applied or applied == plan.hunks:
        return None
    return await judge(run, sight, apply_changes(lines, whole_lines(lines, applied)), applied)


async def _plan(run: Run, sight: Sight, base: Lines, edits: Sequence[LineChange]) -> _Plan:
    if not sight.original.modifiable:
        raise ToolError("not_modifiable", "the buffer is read-only; the writer must unlock it.")
    merged = carry(edits, base=base, current=sight.final.lines)
    if not merged.changes and not merged.clashes:
        raise ToolError("no_changes", "the document already reads like that; nothing to do.")
    composed = sight.composed(merged.changes)
    changes = [item.change for item in composed if item.change.old != item.change.new]
    _refuse_too_large(sight, changes)
    fitting = await run.editor.refine(changes)
    clashes = [_clash(sight, clash) for clash in merged.clashes]
    _refuse_too_many((*fitting, *clashes))
    after = apply_changes(sight.original.lines, whole_lines(sight.original.lines, fitting))
    verdict = await judge(run, sight, after, fitting)
    sentences = by_sentence(fitting, least_bytes=LONG_LINE_BYTES)
    return _Plan(
        hunks=_numbered((*marked(sentences, verdict.facts), *clashes)),
        takes_over=sight.taken_over(composed),
        wrote=merged.changes,
        verdict=verdict,
    )


def _applied(planned: Sequence[Hunk], decided: Sequence[Hunk]) -> tuple[Hunk, ...]:
    """What was accepted, with the text that the writer gave it, at its rows in the text before."""
    texts = {hunk.id: hunk.new for hunk in decided if hunk.state == "accepted"}
    edited = {hunk.id for hunk in decided if hunk.edited}
    return tuple(
        replace(hunk, new=texts[hunk.id]) if hunk.id in edited else hunk
        for hunk in planned
        if hunk.id in texts
    )


def _is_told(hunk: Hunk) -> bool:
    """Whether the model knows the text in full: it proposed it, or is shown all of it."""
    return not hunk.edited or len("\n".join(hunk.new)) <= MAX_EDITED_CHARACTERS


def _clash(sight: Sight, clash: LineChange) -> Hunk:
    row0 = sight.original_row(clash.row0)
    return Hunk(id="", row0=row0, old=clash.old, new=clash.new, state="stale", reason=CLASH)


def _numbered(hunks: Sequence[Hunk]) -> tuple[Hunk, ...]:
    ordered = sorted(hunks, key=lambda hunk: (hunk.row0, hunk.byte_col or 0))
    return tuple(replace(hunk, id=f"h{n}") for n, hunk in enumerate(ordered, start=1))


def _refuse_too_many(hunks: Sequence[Hunk]) -> None:
    lines = sum(len(hunk.old) + len(hunk.new) for hunk in hunks)
    if len(hunks) > MAX_HUNKS or lines > MAX_CHANGED_LINES:
        raise ToolError(
            "too_many_changes",
            f"{len(hunks)} hunks and {lines} lines; at most {MAX_HUNKS} and {MAX_CHANGED_LINES} in "
            "one call. Do it in several calls.",
        )


def _refuse_too_large(sight: Sight, changes: Sequence[LineChange]) -> None:
    grown = sum(sum(map(len, change.new)) - sum(map(len, change.old)) for change in changes)
    if len(sight.original.text) + grown > MAX_DOCUMENT_CHARS:
        raise ToolError("too_large", f"a document may have {MAX_DOCUMENT_CHARS:,} characters.")


def _proposal(invocation: Invocation, sight: Sight, plan: _Plan) -> Proposal:
    run = invocation.run
    return Proposal(
        id=uuid.uuid4().hex,
        bufnr=sight.original.bufnr,
        path=run.relative(sight.original.path),
        chat=run.chat,
        run=run.id,
        call=invocation.call.id,
        source=invocation.call.name,
        verdict=plan.verdict.line(),
        hunks=plan.hunks,
        takes_over=plan.takes_over,
    )


async def _decide(invocation: Invocation, proposal: Proposal) -> Sequence[Hunk]:
    editor = invocation.run.editor
    if invocation.run.approval == "auto":
        return await editor.apply(proposal)
    label = f"{proposal.path}  {_count(proposal.hunks)} · {proposal.verdict}"
    invocation.waiting(label=label, proposal=proposal.id)
    await editor.propose(proposal)
    try:
        async with asyncio.timeout(invocation.run.decision_seconds):
            return await editor.decision(proposal.id)
    except TimeoutError:
        return [_unanswered(hunk) for hunk in await editor.withdraw(proposal.id)]
    except BaseException:  # cancelled or failed: what is not decided is taken down
        await editor.withdraw(proposal.id)
        raise


def _unanswered(hunk: Hunk) -> Hunk:
    is_open = hunk.state == "rejected" and not hunk.reason
    return replace(hunk, reason=UNANSWERED) if is_open else hunk


def _suggested(proposal: Proposal, verdict: Verdict, note: str) -> ToolOutcome:
    stale = [_left_out(hunk) for hunk in proposal.hunks if hunk.state == "stale"]
    told = f"suggested in {proposal.path}: {_count(proposal.hunks)}, to be decided by the writer."
    return ToolOutcome(
        text="\n".join(part for part in (told, *stale, note, verdict.for_model()) if part),
        label=f"{proposal.path}  {_count(proposal.hunks)} · {proposal.verdict}",
        proposal=proposal.id,
    )


def _outcome(proposal: Proposal, hunks: Sequence[Hunk], verdict: Verdict, note: str) -> ToolOutcome:
    accepted = [hunk for hunk in hunks if hunk.state == "accepted"]
    if len(accepted) == len(hunks):
        told = f"applied to {proposal.path}: all {_count(hunks)}."
    elif accepted:
        told = f"partly applied to {proposal.path}: {len(accepted)} of {_count(hunks)}."
    else:
        told = f"not applied: nothing in {proposal.path} was changed."
    edited = [edited_note(hunk) for hunk in accepted if hunk.edited]
    rest = [_left_out(hunk) for hunk in hunks if hunk.state != "accepted"]
    return ToolOutcome(
        text="\n".join(part for part in (told, *edited, *rest, note, verdict.for_model()) if part),
        rejected=not accepted,
        applied=bool(accepted),
        label=f"{proposal.path}  {_decided(hunks)} · {verdict.line()}",
    )


def _left_out(hunk: Hunk) -> str:
    where = f"lines {hunk.row0 + 1}-{hunk.row0 + max(1, len(hunk.old))}"
    if hunk.byte_col is not None:
        where = f"line {hunk.row0 + 1}, {hunk.old[0][:MAX_QUOTED]!r}"
    if hunk.state == "stale":
        return f"{hunk.id} ({where}) not applied: the writer changed these lines; read them again."
    reason = f": {hunk.reason}" if hunk.reason else " without a reason"
    return f"{hunk.id} ({where}) rejected by the writer{reason}."


def _decided(hunks: Sequence[Hunk]) -> str:
    accepted = [hunk for hunk in hunks if hunk.state == "accepted"]
    if not accepted:
        return f"{_count(hunks)} rejected"
    told = _count(hunks) if len(accepted) == len(hunks) else f"{len(accepted)} of {_count(hunks)}"
    edited = any(hunk.edited for hunk in accepted)
    return f"{told} applied as edited" if edited else f"{told} applied"


def _count(hunks: Sequence[Hunk]) -> str:
    return "1 hunk" if len(hunks) == 1 else f"{len(hunks)} hunks"
