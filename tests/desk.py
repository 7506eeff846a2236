"""One way to play both sides of an editor: the agent's questions and the user's hands.

`MemoryDesk` sits on the double, `NvimDesk` on a real Neovim through the real bridge.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from editor import Editor as Child
from typstai.domain.edit import LineChange
from typstai.domain.proposal import Hunk, Proposal
from typstai.editor.bridge import Bridge
from typstai.editor.memory import MemoryEditor
from typstai.editor.nvim import NvimEditor
from typstai.editor.port import ApprovalAnswer, ApprovalDecision, Editor

Story = Callable[[], Awaitable[None]]


class Desk(Protocol):
    editor: Editor

    def run(self, story: Story) -> None:
        """Run a coroutine to its end."""
        ...

    async def open(self, text: str, *, modifiable: bool = True) -> int: ...
    async def lines(self, bufnr: int) -> tuple[str, ...]: ...
    async def replace_lines(
        self, bufnr: int, row0: int, end_row0: int, new: Sequence[str]
    ) -> None: ...
    async def accept(self, proposal_id: str, hunk_id: str | None = None) -> None: ...
    async def reject(
        self, proposal_id: str, hunk_id: str | None = None, reason: str = ""
    ) -> None: ...

    async def asked(self) -> list[str]:
        """Ids of the questions that wait for an answer."""
        ...

    async def answer(self, request_id: str, answer: ApprovalAnswer, reason: str = "") -> None: ...


class MemoryDesk:
    def __init__(self) -> None:
        self._memory = MemoryEditor()
        self.editor: Editor = self._memory

    def run(self, story: Story) -> None:
        asyncio.run(_finish(story))

    async def open(self, text: str, *, modifiable: bool = True) -> int:
        return self._memory.add(text, modifiable=modifiable)

    async def lines(self, bufnr: int) -> tuple[str, ...]:
        return self._memory.lines(bufnr)

    async def replace_lines(self, bufnr: int, row0: int, end_row0: int, new: Sequence[str]) -> None:
        self._memory.replace_lines(bufnr, row0, end_row0, new)

    async def accept(self, proposal_id: str, hunk_id: str | None = None) -> None:
        self._memory.accept(proposal_id, hunk_id)

    async def reject(self, proposal_id: str, hunk_id: str | None = None, reason: str = "") -> None:
        self._memory.reject(proposal_id, hunk_id, reason)

    async def asked(self) -> list[str]:
        return list(self._memory.questions)

    async def answer(self, request_id: str, answer: ApprovalAnswer, reason: str = "") -> None:
        self._memory.answer(request_id, ApprovalDecision(answer=answer, reason=reason))


class NvimDesk:
    """A coroutine that talks to Neovim runs on the client's own event loop."""

    def __init__(self, child: Child) -> None:
        self._nvim = child.nvim
        self._bridge = Bridge(child.nvim)
        self._adapter = NvimEditor(self._bridge)
        self.editor: Editor = self._adapter
        child.lua(_NOTIFY, child.nvim.channel_id)

    def run(self, story: Story) -> None:
        outcome: list[asyncio.Task[None]] = []

        def start() -> None:
            task = self._bridge.loop.create_task(_finish(story))
            task.add_done_callback(lambda _: self._nvim.stop_loop())
            outcome.append(task)

        self._nvim.run_loop(None, self._notified, start)
        outcome[0].result()

    async def open(self, text: str, *, modifiable: bool = True) -> int:
        return await self._lua(_OPEN, text.split("\n"), modifiable)

    async def lines(self, bufnr: int) -> tuple[str, ...]:
        return tuple(await self._lua("return vim.api.nvim_buf_get_lines(..., 0, -1, true)", bufnr))

    async def replace_lines(self, bufnr: int, row0: int, end_row0: int, new: Sequence[str]) -> None:
        await self._lua(_SET_LINES, bufnr, row0, end_row0, list(new))

    async def accept(self, proposal_id: str, hunk_id: str | None = None) -> None:
        await self._lua(_ACCEPT, proposal_id, hunk_id)

    async def reject(self, proposal_id: str, hunk_id: str | None = None, reason: str = "") -> None:
        await self._lua(_REJECT, proposal_id, hunk_id, reason)

    async def asked(self) -> list[str]:
        return await self._lua("return vim.tbl_keys(_G.asked)")

    async def answer(self, request_id: str, answer: ApprovalAnswer, reason: str = "") -> None:
        self._adapter.answered({"id": request_id, "answer": answer, "reason": reason})

    async def _lua(self, source: str, *args: Any) -> Any:
        answer: asyncio.Future[Any] = self._bridge.loop.create_future()
        self._nvim.async_call(
            lambda: answer.set_result(self._nvim.exec_lua(source, *args)),
        )
        return await answer

    def _notified(self, method: str, args: list[Any]) -> None:
        match method, args:
            case "proposal.resolved", [params]:
                self._adapter.resolved(params)
            case _:
                raise AssertionError((method, args))


async def _finish(story: Story) -> None:
    await story()


def proposal(
    bufnr: int, hunks: Sequence[Hunk], *, proposal_id: str = "p1", chat: str = "c1"
) -> Proposal:
    return Proposal(
        id=proposal_id, bufnr=bufnr, path="main.typ", chat=chat, run="r1", call="k1",
        source="patch_document", verdict="fixes 1 error", hunks=tuple(hunks),
    )  # fmt: skip


def change(row0: int, old: Sequence[str], new: Sequence[str]) -> LineChange:
    return LineChange(row0=row0, old=tuple(old), new=tuple(new))


_NOTIFY = """
local channel = ...
_G.asked = {}
package.loaded["typstai.chat.approvals"] = {
  ask = function(request) _G.asked[request.id] = true end,
  withdraw = function(args) _G.asked[args.id] = nil end,
}
require("typstai.rpc").call = function(method, params)
  vim.rpcnotify(channel, method, params)
end
"""
_OPEN = """
local lines, modifiable = ...
local bufnr = vim.api.nvim_create_buf(true, false)
vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, lines)
vim.bo[bufnr].modifiable = modifiable
return bufnr
"""
_SET_LINES = """
local bufnr, first, last, new = ...
vim.api.nvim_buf_set_lines(bufnr, first, last, true, new)
"""
_ACCEPT = """
local id, hunk = ...
require("typstai.proposals").accept(id, { hunk = hunk ~= vim.NIL and hunk or nil })
"""
_REJECT = """
local id, hunk, reason = ...
local opts = { hunk = hunk ~= vim.NIL and hunk or nil, reason = reason }
require("typstai.proposals").reject(id, opts)
"""
