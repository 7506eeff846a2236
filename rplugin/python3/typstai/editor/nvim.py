"""The real editor: each method is one Lua call over the bridge.

Answers of the user come later, as notifications of their own: the app passes
them to `resolved` and `answered`, which wake whoever waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from ..domain.document import Snapshot
from ..domain.edit import LineChange
from ..domain.proposal import Hunk, PendingHunk, Proposal
from ..errors import EditorError
from . import wire
from .bridge import Bridge
from .port import ApprovalDecision, ApprovalRequest, Place

MAX_SETTLED = 64
"""Decisions that are kept for whoever asks late; the oldest goes first."""


class NvimEditor:
    """Implements `port.Editor` over a Neovim."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge
        self._decisions: dict[str, asyncio.Future[Sequence[Hunk]]] = {}
        self._answers: dict[str, asyncio.Future[ApprovalDecision]] = {}

    async def snapshot(self, bufnr: int) -> Snapshot:
        return wire.snapshot_from_wire(await self._bridge.call("buffer.snapshot", {"bufnr": bufnr}))

    async def overlay(self, root: str) -> Mapping[str, str]:
        return wire.overlay_from_wire(await self._bridge.call("buffer.overlay", {"root": root}))

    async def open_file(self, path: str) -> int:
        return int(await self._bridge.call("buffer.open", {"path": path}))

    async def place(self, run: str, what: Literal["cursor", "selection"]) -> Place | None:
        return wire.place_from_wire(
            await self._bridge.call("capture.place", {"run": run, "what": what})
        )

    async def refine(self, changes: Sequence[LineChange]) -> Sequence[Hunk]:
        tables = [wire.change_to_wire(change) for change in changes]
        return wire.hunks_from_wire(await self._bridge.call("diff.refine", {"changes": tables}))

    async def pending(self, bufnr: int, chat: str) -> Sequence[PendingHunk]:
        tables = await self._bridge.call("pending.list", {"bufnr": bufnr, "chat": chat})
        return wire.pending_from_wire(tables)

    async def propose(self, proposal: Proposal) -> Sequence[Hunk]:
        decision: asyncio.Future[Sequence[Hunk]] = self._bridge.loop.create_future()
        # Before the call: the user may decide before its answer is read.
        self._decisions[proposal.id] = decision
        try:
            return await self._propose(proposal)
        except EditorError:
            del self._decisions[proposal.id]
            raise

    async def decision(self, proposal_id: str) -> Sequence[Hunk]:
        decision = self._decisions.get(proposal_id)
        if decision is None:
            raise EditorError("unknown_proposal", f"There is no proposal {proposal_id}.")
        return await asyncio.shield(decision)

    async def withdraw(self, proposal_id: str) -> Sequence[Hunk]:
        hunks = wire.hunks_from_wire(
            await self._bridge.call("proposals.withdraw", {"id": proposal_id})
        )
        self._resolve(proposal_id, hunks)
        return hunks

    async def apply(self, proposal: Proposal) -> Sequence[Hunk]:
        return wire.hunks_from_wire(
            await self._bridge.call("proposals.apply", wire.proposal_to_wire(proposal))
        )

    async def approve(self, request: ApprovalRequest) -> ApprovalDecision:
        answer: asyncio.Future[ApprovalDecision] = self._bridge.loop.create_future()
        self._answers[request.id] = answer
        try:
            await self._bridge.call("approvals.ask", wire.approval_to_wire(request))
            return await answer
        finally:
            del self._answers[request.id]
            if not answer.done() or answer.cancelled():
                self._bridge.send("approvals.withdraw", {"id": request.id})

    def show(self, chat: str, event: Mapping[str, Any]) -> None:
        self._bridge.send("chat.event", {"chat": chat, "event": dict(event)})

    def emit(self, name: str, data: Mapping[str, Any]) -> None:
        self._bridge.send("event.emit", {"name": name, "data": dict(data)})

    def notify(self, message: str, *, level: Literal["info", "warn", "error"]) -> None:
        self._bridge.send("message.show", {"message": message, "level": level})

    def status(self, state: Mapping[str, Any]) -> None:
        """Tell Lua what `status()` and the winbar show; does not wait."""
        self._bridge.send("status.update", state)

    async def document(self, bufnr: int) -> str:
        """What the buffer's document is known by in the journal. Code: `no_buffer`."""
        return str(await self._bridge.call("journal.document_of", {"bufnr": bufnr}))

    async def hashes(self, documents: Sequence[str]) -> Mapping[str, str]:
        """Hashes of the texts of those documents that are loaded now, as the journal has them."""
        params = {"documents": list(documents)}
        found = cast(Mapping[str, str], await self._bridge.call("recovery.hashes", params))
        return {str(document): str(text) for document, text in found.items()}

    def receipts(self, chat: str, receipts: Mapping[str, Any]) -> None:
        """Tell Lua which answers of a chat can be taken back; does not wait."""
        self._bridge.send("receipts.take", {"chat": chat, "receipts": dict(receipts)})

    def resolved(self, params: Mapping[str, Any]) -> tuple[str, str, Sequence[Hunk]]:
        """Take Lua's `proposal.resolved` {id, chat, hunks}: wake who waits, and decode it."""
        proposal, hunks = str(params["id"]), wire.hunks_from_wire(params["hunks"])
        self._resolve(proposal, hunks)
        return str(params.get("chat") or ""), proposal, hunks

    def answered(self, params: Mapping[str, Any]) -> None:
        """Lua's answer {id, answer, reason?}. An id that nobody awaits is ignored."""
        answer = self._answers.get(str(params["id"]))
        if answer is not None and not answer.done():
            answer.set_result(wire.approval_from_wire(params))

    def _resolve(self, proposal_id: str, hunks: Sequence[Hunk]) -> None:
        decision = self._decisions.get(proposal_id)
        if decision is not None and not decision.done():
            decision.set_result(hunks)
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        settled = [key for key, decision in self._decisions.items() if decision.done()]
        for key in settled[:-MAX_SETTLED]:
            del self._decisions[key]

    async def _propose(self, proposal: Proposal) -> Sequence[Hunk]:
        return wire.hunks_from_wire(
            await self._bridge.call("proposals.propose", wire.proposal_to_wire(proposal))
        )
