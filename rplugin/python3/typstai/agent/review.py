"""From edits to an applied, partly applied or rejected change, and what the model is told."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from ..domain.document import Snapshot
from ..domain.edit import Edit, LineChange, apply_edits, line_changes
from ..domain.proposal import MAX_CHANGED_LINES, MAX_HUNKS, Hunk, Proposal
from ..domain.tool import ToolOutcome
from ..domain.verdict import Verdict, compare
from ..errors import ToolError
from .run import Run
from .tools.toolset import Invocation

MAX_DOCUMENT_CHARS = 1_000_000


async def submit(
    invocation: Invocation, snapshot: Snapshot, edits: Sequence[Edit], note: str = ""
) -> ToolOutcome:
    """Check, show and (when accepted) apply the edits of one call.

    Raises `ToolError`: `not_modifiable`, `no_changes`, `too_large`, `too_many_changes`.
    """
    run = invocation.run
    hunks = await _hunks(run, snapshot, edits)
    verdict = await _verdict(run, snapshot, apply_edits(snapshot.text, edits), hunks)
    proposal = _proposal(invocation, snapshot, hunks, verdict)
    decided = await _decide(invocation, proposal)
    return _outcome(proposal, decided, verdict, note)


async def _hunks(run: Run, snapshot: Snapshot, edits: Sequence[Edit]) -> Sequence[Hunk]:
    if not snapshot.modifiable:
        raise ToolError("not_modifiable", "the buffer is read-only; the writer must unlock it.")
    changes = line_changes(snapshot, edits)
    if not changes:
        raise ToolError("no_changes", "the document already reads like that; nothing to do.")
    _refuse_too_large(snapshot, changes)
    hunks = await run.editor.refine(changes)
    lines = sum(len(hunk.old) + len(hunk.new) for hunk in hunks)
    if len(hunks) > MAX_HUNKS or lines > MAX_CHANGED_LINES:
        raise ToolError(
            "too_many_changes",
            f"{len(hunks)} hunks and {lines} lines; at most {MAX_HUNKS} and {MAX_CHANGED_LINES} in "
            "one call. Do it in several calls.",
        )
    return hunks


def _refuse_too_large(snapshot: Snapshot, changes: Sequence[LineChange]) -> None:
    grown = sum(sum(map(len, change.new)) - sum(map(len, change.old)) for change in changes)
    if len(snapshot.text) + grown > MAX_DOCUMENT_CHARS:
        raise ToolError("too_large", f"a document may have {MAX_DOCUMENT_CHARS:,} characters.")


async def _verdict(run: Run, snapshot: Snapshot, text: str, hunks: Sequence[Hunk]) -> Verdict:
    path = run.absolute(snapshot)
    overlay = {**await run.editor.overlay(run.root), path: snapshot.text + "\n"}
    before = await run.checker.check(root=run.root, path=path, overlay=overlay)
    overlay[path] = text + "\n"
    after = await run.checker.check(root=run.root, path=path, overlay=overlay)
    return compare(before, after, run.relative(path), hunks)


def _proposal(
    invocation: Invocation, snapshot: Snapshot, hunks: Sequence[Hunk], verdict: Verdict
) -> Proposal:
    run = invocation.run
    return Proposal(
        id=uuid.uuid4().hex,
        bufnr=snapshot.bufnr,
        path=run.relative(snapshot.path),
        chat=run.chat,
        run=run.id,
        call=invocation.call.id,
        source=invocation.call.name,
        verdict=verdict.line(),
        hunks=tuple(hunks),
    )


async def _decide(invocation: Invocation, proposal: Proposal) -> Sequence[Hunk]:
    editor = invocation.run.editor
    if invocation.run.approval == "auto":
        return await editor.apply(proposal)
    shown = await editor.propose(proposal)
    label = f"{proposal.path}  {_count(shown)} · {proposal.verdict}"
    invocation.waiting(label=label, proposal=proposal.id)
    try:
        return await editor.decision(proposal.id)
    except BaseException:  # cancelled or failed: what is not decided is taken down
        await editor.withdraw(proposal.id)
        raise


def _outcome(proposal: Proposal, hunks: Sequence[Hunk], verdict: Verdict, note: str) -> ToolOutcome:
    accepted = [hunk for hunk in hunks if hunk.state == "accepted"]
    if len(accepted) == len(hunks):
        told = f"applied to {proposal.path}: all {_count(hunks)}."
    elif accepted:
        told = f"partly applied to {proposal.path}: {len(accepted)} of {_count(hunks)}."
    else:
        told = f"not applied: nothing in {proposal.path} was changed."
    rest = [_left_out(hunk) for hunk in hunks if hunk.state != "accepted"]
    state = verdict.for_model()
    if rest and accepted:
        state = f"before the writer's decision, {state}"
    return ToolOutcome(
        text="\n".join(part for part in (told, *rest, note, state) if part),
        rejected=not accepted,
        label=f"{proposal.path}  {_decided(hunks)} · {proposal.verdict}",
    )


def _left_out(hunk: Hunk) -> str:
    where = f"lines {hunk.row0 + 1}-{hunk.row0 + max(1, len(hunk.old))}"
    if hunk.state == "stale":
        return f"{hunk.id} ({where}) not applied: the writer changed these lines; read them again."
    reason = f": {hunk.reason}" if hunk.reason else " without a reason"
    return f"{hunk.id} ({where}) rejected by the writer{reason}."


def _decided(hunks: Sequence[Hunk]) -> str:
    accepted = sum(hunk.state == "accepted" for hunk in hunks)
    if accepted == len(hunks):
        return f"{_count(hunks)} applied"
    return f"{accepted} of {_count(hunks)} applied" if accepted else f"{_count(hunks)} rejected"


def _count(hunks: Sequence[Hunk]) -> str:
    return "1 hunk" if len(hunks) == 1 else f"{len(hunks)} hunks"
