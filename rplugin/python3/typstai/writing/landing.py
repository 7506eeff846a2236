"""From a new text to a proposal in the document, wherever the passage has moved to."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from ..domain.action import ActionResult, Applied, Empty, Failed, Stale
from ..domain.diagnostic import Checker
from ..domain.document import Snapshot
from ..domain.edit import Edit, apply_edits, line_changes
from ..domain.proposal import MAX_CHANGED_LINES, MAX_HUNKS, Hunk, HunkRef, PendingHunk, Proposal
from ..domain.verdict import compare
from ..editor.port import Editor
from . import judgement
from .granularity import cut
from .passage import Located, locate

CHAT = ""
"""Proposals of actions belong to no chat."""
ATTEMPTS = 3
"""How often a proposal is made anew because the text moved at that very moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """What is needed to bring a change into the document."""

    work: str
    """Id under which the place is tracked."""
    action: str
    editor: Editor
    checker: Checker
    root: str


async def land(
    landing: Landing, target: str, edits: Sequence[Edit], warnings: Sequence[str]
) -> ActionResult:
    """Propose edits, whose offsets count from the start of the tracked place.

    `target` is the text that must still stand there.
    """
    compiled: str | None = None
    for _ in range(ATTEMPTS):
        located = await locate(landing.editor, landing.work)
        if located is None or located.is_changed or located.text != target:
            return Stale()
        moved = [
            replace(edit, start=edit.start + located.start, end=edit.end + located.start)
            for edit in edits
        ]
        hunks = cut(await landing.editor.refine(line_changes(located.snapshot, moved)))
        if not hunks:
            return Empty(reason="no-change")
        if _is_too_much(hunks):
            return Failed(error=_TOO_MUCH)
        if compiled is None:
            compiled = await _compiled(landing, located, moved, hunks)
        proposal = _proposal(landing, located.snapshot, hunks, warnings, compiled)
        earlier = await _earlier(landing.editor, located)
        proposal = replace(proposal, takes_over=earlier)
        shown = await landing.editor.propose(proposal)
        if all(hunk.state == "pending" for hunk in shown):
            return Applied(proposal=proposal.id, changes=len(shown), warnings=tuple(warnings))
        await landing.editor.withdraw(proposal.id)
    return Stale()


_TOO_MUCH = (
    f"The answer changes more than {MAX_HUNKS} places or {MAX_CHANGED_LINES} lines; select less."
)


def _is_too_much(hunks: Sequence[Hunk]) -> bool:
    lines = sum(len(hunk.old) + len(hunk.new) for hunk in hunks)
    return len(hunks) > MAX_HUNKS or lines > MAX_CHANGED_LINES


async def _earlier(editor: Editor, located: Located) -> tuple[HunkRef, ...]:
    """What earlier actions proposed for the same text: asking again replaces it."""
    snapshot = located.snapshot
    pending = await editor.pending(snapshot.bufnr, CHAT)
    return tuple(hunk.ref for hunk in pending if _is_within(hunk, located))


def _is_within(hunk: PendingHunk, located: Located) -> bool:
    snapshot = located.snapshot
    if not snapshot.row_at(located.start) <= hunk.row0 <= snapshot.row_at(located.end):
        return False
    if hunk.byte_col is None:
        return True
    line = snapshot.lines[hunk.row0].encode()
    start = snapshot.line_starts[hunk.row0] + len(line[: hunk.byte_col].decode())
    return start < located.end and start + len(hunk.old[0]) > located.start


def _proposal(
    landing: Landing,
    snapshot: Snapshot,
    hunks: Sequence[Hunk],
    warnings: Sequence[str],
    compiled: str,
) -> Proposal:
    return Proposal(
        id=uuid.uuid4().hex,
        bufnr=snapshot.bufnr,
        path=_relative(landing.root, snapshot.path),
        chat=CHAT,
        run=landing.work,
        call="",
        source=landing.action,
        verdict=judgement.verdict(warnings, compiled),
        hunks=judgement.marked(hunks, warnings),
    )


async def _compiled(
    landing: Landing, located: Located, edits: Sequence[Edit], hunks: Sequence[Hunk]
) -> str:
    """What the compiler makes of the change, in a few words."""
    snapshot = located.snapshot
    path = snapshot.path or str(PurePath(landing.root) / f"untitled-{snapshot.bufnr}.typ")
    overlay = dict(await landing.editor.overlay(landing.root))
    overlay[path] = f"{snapshot.text}\n"
    before = await landing.checker.check(root=landing.root, path=path, overlay=overlay)
    overlay = {**overlay, path: f"{apply_edits(snapshot.text, edits)}\n"}
    after = await landing.checker.check(root=landing.root, path=path, overlay=overlay)
    return compare(before, after, _relative(landing.root, path), hunks).line()


def _relative(root: str, path: str) -> str:
    if not path:
        return "[unnamed]"
    pure = PurePath(path)
    return pure.relative_to(root).as_posix() if pure.is_relative_to(root) else path
