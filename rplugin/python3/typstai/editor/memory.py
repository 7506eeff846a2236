"""An editor made of Python lists: the double for tests, and for use without Neovim.

It keeps the promises of `port.Editor`, but has no screen: what is shown is
recorded, and the user's part is played by methods (`accept`, `reject`,
`replace_lines`, `answer`) or decided in advance (`on_proposal`, `on_approval`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from typing import Any, Literal

from ..domain.document import Snapshot
from ..domain.edit import LineChange
from ..domain.proposal import Hunk, HunkRef, PendingHunk, Proposal, whole_lines
from ..errors import EditorError
from .port import ApprovalDecision, ApprovalRequest, Place

MAX_CHARACTERS = 1_000_000


@dataclass(slots=True, kw_only=True)
class _Buffer:
    path: str
    lines: list[str]
    modifiable: bool = True
    modified: bool = False
    tick: int = 1


@dataclass(slots=True, kw_only=True)
class _Review:
    """A proposal whose hunks move with the text; undecided while in `open_ids`."""

    proposal: Proposal
    hunks: dict[str, Hunk]
    open_ids: set[str]
    clashes: frozenset[str]
    """Hunks that clashed before they came: they stay stale."""
    decision: asyncio.Event = field(default_factory=asyncio.Event)


class MemoryEditor:
    """Implements `port.Editor` over Python lists."""

    def __init__(self, files: Mapping[str, str] | None = None) -> None:
        self.files = dict(files or {})
        """Text on disk by absolute path, for `open_file`."""
        self.places: dict[tuple[str, str], Place] = {}
        """What `place` answers, by run and `cursor` or `selection`."""
        self.on_proposal: Callable[[Proposal], None] | None = None
        """Called as soon as a proposal is shown; may `accept` or `reject` it."""
        self.on_approval: Callable[[ApprovalRequest], ApprovalDecision] | None = None
        """Answers at once; without it a question waits for `answer`."""
        self.shown: list[tuple[str, dict[str, Any]]] = []
        self.emitted: list[tuple[str, dict[str, Any]]] = []
        self.notified: list[tuple[str, str]] = []
        self.questions: dict[str, ApprovalRequest] = {}
        """The questions that wait for an answer, by id."""
        self._buffers: dict[int, _Buffer] = {}
        self._reviews: dict[str, _Review] = {}
        self._answers: dict[str, asyncio.Future[ApprovalDecision]] = {}

    # What a user does

    def add(self, text: str, *, path: str = "", modifiable: bool = True) -> int:
        """Open a buffer with this text; its number."""
        bufnr = len(self._buffers) + 1
        self._buffers[bufnr] = _Buffer(path=path, lines=text.split("\n"), modifiable=modifiable)
        return bufnr

    def lines(self, bufnr: int) -> tuple[str, ...]:
        return tuple(self._buffer(bufnr).lines)

    def replace_lines(self, bufnr: int, row0: int, end_row0: int, new: Iterable[str]) -> None:
        """The user's own edit of the rows from `row0` to before `end_row0`."""
        self._write(bufnr, LineChange(row0=row0, old=self.lines(bufnr)[row0:end_row0],
                                      new=tuple(new)))  # fmt: skip

    def accept(self, proposal_id: str, hunk_id: str | None = None) -> None:
        """Accept what fits of a proposal, or one hunk of it."""
        review = self._reviews[proposal_id]
        for key in _chosen(review, hunk_id):
            review.hunks[key] = self._accepted(review, key)
            review.open_ids.discard(key)
        self._settle(review)

    def reject(self, proposal_id: str, hunk_id: str | None = None, reason: str = "") -> None:
        """Reject a proposal, or one hunk of it."""
        review = self._reviews[proposal_id]
        for key in _chosen(review, hunk_id):
            review.hunks[key] = replace(review.hunks[key], state="rejected", reason=reason)
            review.open_ids.discard(key)
        self._settle(review)

    def answer(self, request_id: str, decision: ApprovalDecision) -> None:
        """Answer a question that waits."""
        self._answers[request_id].set_result(decision)

    # What the agent asks

    async def snapshot(self, bufnr: int) -> Snapshot:
        buffer = self._buffer(bufnr)
        if sum(map(len, buffer.lines)) + len(buffer.lines) > MAX_CHARACTERS:
            raise EditorError("too_large", "The document has more than 1,000,000 characters.")
        return Snapshot(
            bufnr=bufnr,
            path=buffer.path,
            tick=buffer.tick,
            lines=tuple(buffer.lines),
            modifiable=buffer.modifiable,
        )

    async def overlay(self, root: str) -> Mapping[str, str]:
        return {
            buffer.path: "".join(f"{line}\n" for line in buffer.lines)
            for buffer in self._buffers.values()
            if buffer.modified and buffer.path.startswith(root.rstrip("/") + "/")
        }

    async def open_file(self, path: str) -> int:
        for bufnr, buffer in self._buffers.items():
            if buffer.path == path:
                return bufnr
        if path not in self.files:
            raise EditorError("not_found", f"There is no file {path}.")
        return self.add(self.files[path].removesuffix("\n"), path=path)

    async def place(self, run: str, what: Literal["cursor", "selection"]) -> Place | None:
        return self.places.get((run, what))

    async def refine(self, changes: Sequence[LineChange]) -> Sequence[Hunk]:
        parts = sorted(
            (part for change in changes for part in _smallest(change)),
            key=lambda part: part.row0,
        )
        return tuple(
            Hunk(id=f"h{number}", row0=part.row0, old=part.old, new=part.new)
            for number, part in enumerate(parts, start=1)
        )

    async def pending(self, bufnr: int, chat: str) -> Sequence[PendingHunk]:
        found = [
            PendingHunk(
                ref=HunkRef(proposal=review.proposal.id, hunk=key),
                row0=review.hunks[key].row0,
                byte_col=review.hunks[key].byte_col,
                old=review.hunks[key].old,
                new=review.hunks[key].new,
            )
            for review in self._reviews.values()
            if review.proposal.bufnr == bufnr and review.proposal.chat == chat
            for key in review.open_ids
            if review.hunks[key].state == "pending"
        ]
        return sorted(found, key=_place)

    async def propose(self, proposal: Proposal) -> Sequence[Hunk]:
        review = self._start(proposal)
        shown = tuple(review.hunks.values())
        if all(hunk.state != "pending" for hunk in shown):
            review.open_ids.clear()
            self._settle(review)
        elif self.on_proposal is not None:
            self.on_proposal(proposal)
        return shown

    async def decision(self, proposal_id: str) -> Sequence[Hunk]:
        review = self._reviews.get(proposal_id)
        if review is None:
            raise EditorError("unknown_proposal", f"There is no proposal {proposal_id}.")
        await review.decision.wait()
        return tuple(review.hunks.values())

    async def withdraw(self, proposal_id: str) -> Sequence[Hunk]:
        if proposal_id not in self._reviews:
            raise EditorError("unknown_proposal", f"There is no proposal {proposal_id}.")
        self.reject(proposal_id)
        return tuple(self._reviews[proposal_id].hunks.values())

    async def apply(self, proposal: Proposal) -> Sequence[Hunk]:
        if not self._buffer(proposal.bufnr).modifiable:
            raise EditorError("not_modifiable", "The document is read-only.")
        review = self._start(proposal)
        self.accept(proposal.id)
        return tuple(review.hunks.values())

    async def approve(self, request: ApprovalRequest) -> ApprovalDecision:
        if self.on_approval is not None:
            return self.on_approval(request)
        answer: asyncio.Future[ApprovalDecision] = asyncio.get_running_loop().create_future()
        self._answers[request.id] = answer
        self.questions[request.id] = request
        try:
            return await answer
        finally:
            del self._answers[request.id], self.questions[request.id]

    def show(self, chat: str, event: Mapping[str, Any]) -> None:
        self.shown.append((chat, dict(event)))

    def emit(self, name: str, data: Mapping[str, Any]) -> None:
        self.emitted.append((name, dict(data)))

    def notify(self, message: str, *, level: Literal["info", "warn", "error"]) -> None:
        self.notified.append((level, message))

    # How it is done

    def _buffer(self, bufnr: int) -> _Buffer:
        buffer = self._buffers.get(bufnr)
        if buffer is None:
            raise EditorError("no_buffer", "The document is no longer open.")
        return buffer

    def _start(self, proposal: Proposal) -> _Review:
        self._buffer(proposal.bufnr)
        if proposal.id in self._reviews:
            raise EditorError("duplicate", f"The proposal {proposal.id} is already known.")
        for ref in proposal.takes_over:
            self._merged(ref)
        clashes = frozenset(hunk.id for hunk in proposal.hunks if hunk.state == "stale")
        hunks = {hunk.id: hunk for hunk in proposal.hunks}
        review = _Review(proposal=proposal, hunks=hunks, open_ids=set(hunks), clashes=clashes)
        for key, hunk in hunks.items():
            hunks[key] = self._looked_at(review, hunk)
        self._reviews[proposal.id] = review
        return review

    def _merged(self, ref: HunkRef) -> None:
        review = self._reviews[ref.proposal]
        if ref.hunk in review.open_ids:
            review.hunks[ref.hunk] = replace(review.hunks[ref.hunk], state="merged")
            review.open_ids.discard(ref.hunk)
            self._settle(review)

    def _looked_at(self, review: _Review, hunk: Hunk) -> Hunk:
        if hunk.id in review.clashes:
            return hunk
        lines = self._buffer(review.proposal.bufnr).lines
        stand = lines[hunk.row0 : hunk.row0 + len(hunk.old)]
        if hunk.byte_col is not None:
            part = "".join(stand).encode()[hunk.byte_col :]
            fits = part.startswith(hunk.old[0].encode())
        else:
            fits = tuple(stand) == hunk.old and hunk.row0 <= len(lines)
        return replace(hunk, state="pending" if fits else "stale")

    def _accepted(self, review: _Review, key: str) -> Hunk:
        bufnr = review.proposal.bufnr
        hunk = self._looked_at(review, review.hunks[key])
        if hunk.state == "stale":
            return replace(hunk, reason=hunk.reason or "The lines were changed meanwhile.")
        review.open_ids.discard(key)
        (change,) = whole_lines(self._buffer(bufnr).lines, [hunk])
        self._write(bufnr, change)
        return replace(hunk, state="accepted")

    def _write(self, bufnr: int, change: LineChange) -> None:
        buffer = self._buffer(bufnr)
        end = change.row0 + len(change.old)
        buffer.lines[change.row0 : end] = change.new
        buffer.lines = buffer.lines or [""]
        buffer.modified = True
        buffer.tick += 1
        for review in self._reviews.values():
            if review.proposal.bufnr == bufnr:
                self._follow(review, change, end)

    def _follow(self, review: _Review, change: LineChange, end: int) -> None:
        for key in review.open_ids:
            hunk = review.hunks[key]
            if hunk.byte_col is not None and change.row0 <= hunk.row0 < end:
                hunk = _moved_within(hunk, change)
            elif hunk.row0 >= end:
                moved = hunk.row0 + len(change.new) - len(change.old)
                hunk = replace(hunk, row0=moved)
            review.hunks[key] = self._looked_at(review, hunk)

    def _settle(self, review: _Review) -> None:
        if not review.open_ids:
            review.decision.set()


def _chosen(review: _Review, hunk_id: str | None) -> list[str]:
    keys = [key for key in review.hunks if key in review.open_ids]
    return keys if hunk_id is None else [key for key in keys if key == hunk_id]


def _place(hunk: PendingHunk) -> tuple[int, int]:
    return hunk.row0, -1 if hunk.byte_col is None else hunk.byte_col


def _moved_within(hunk: Hunk, change: LineChange) -> Hunk:
    """A part of a line of which something was changed: where it stands now, if once."""
    text = hunk.old[0]
    if "\n".join(change.new).count(text) != 1:
        return replace(hunk, byte_col=0)
    row, line = next((row, line) for row, line in enumerate(change.new) if text in line)
    byte_col = len(line[: line.index(text)].encode())
    return replace(hunk, row0=change.row0 + row, byte_col=byte_col)


def _smallest(change: LineChange) -> Iterable[LineChange]:
    matcher = SequenceMatcher(a=change.old, b=change.new, autojunk=False)
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if tag != "equal":
            yield LineChange(
                row0=change.row0 + old_start,
                old=change.old[old_start:old_end],
                new=change.new[new_start:new_end],
            )
