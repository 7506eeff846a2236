"""The editor as the agent sees it, in the words of the domain.

Two implementations: `nvim.NvimEditor` over a real Neovim, `memory.MemoryEditor`
over Python lists. The same contract tests run on both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ..domain.document import Snapshot
from ..domain.edit import LineChange
from ..domain.proposal import Hunk, PendingHunk, Proposal


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A caret or a selection captured when the user sent, where it is now.

    Rows and byte columns from 0, end-exclusive; a caret starts where it ends.
    """

    bufnr: int
    row0: int
    byte_col: int
    end_row0: int
    end_byte_col: int
    text: str
    """The selected text now; empty for a caret."""
    changed: bool
    """True when the selected text is no longer what was captured."""


ApprovalAnswer = Literal["once", "run", "deny"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """A question before an effect: shown in the chat, answered by a key."""

    id: str
    chat: str
    run: str
    call: str
    tool: str
    effect: str
    """What will happen, in one sentence."""
    destination: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalDecision:
    answer: ApprovalAnswer
    reason: str = ""


class Editor(Protocol):
    """What the agent may ask of the editor. Raises `EditorError` with a stable code."""

    async def snapshot(self, bufnr: int) -> Snapshot:
        """The buffer's text now. Codes: `no_buffer`, `too_large`, `invalid_utf8`."""
        ...

    async def overlay(self, root: str) -> Mapping[str, str]:
        """Text of every loaded, modified, named buffer below `root`, by absolute path."""
        ...

    async def open_file(self, path: str) -> int:
        """Load the file into a buffer (shown in the document's window) and return its number.

        Codes: `not_found`, `unreadable`.
        """
        ...

    async def place(self, run: str, what: Literal["cursor", "selection"]) -> Place | None:
        """The caret or selection captured at send, or None when there was none or it is gone."""
        ...

    async def refine(self, changes: Sequence[LineChange]) -> Sequence[Hunk]:
        """The smallest hunks of whole lines that amount to the changes, from the top."""
        ...

    async def pending(self, bufnr: int, chat: str) -> Sequence[PendingHunk]:
        """The pending hunks of a chat in a buffer, where they stand now, from the top."""
        ...

    async def propose(self, proposal: Proposal) -> Sequence[Hunk]:
        """Show a proposal. The buffer is not changed.

        A hunk whose `old` lines do not stand at its row any more comes back stale.
        """
        ...

    async def decision(self, proposal_id: str) -> Sequence[Hunk]:
        """Wait until no hunk is pending; all hunks with their final states.

        Cancelling the wait leaves the proposal pending; `withdraw` takes it down.
        """
        ...

    async def withdraw(self, proposal_id: str) -> Sequence[Hunk]:
        """Take down what is still pending (as rejected); all hunks with their states."""
        ...

    async def apply(self, proposal: Proposal) -> Sequence[Hunk]:
        """Apply at once what fits, as one undo step; all hunks, accepted or stale.

        Codes: `not_modifiable`, `no_buffer`.
        """
        ...

    async def approve(self, request: ApprovalRequest) -> ApprovalDecision:
        """Ask the user and wait. Cancelling the wait takes the question down."""
        ...

    def show(self, chat: str, event: Mapping[str, Any]) -> None:
        """Send one chat event (`typstai.ChatEvent`) to the screen; does not wait."""
        ...

    def emit(self, name: str, data: Mapping[str, Any]) -> None:
        """Raise the `User` autocommand `name` with `data`; does not wait."""
        ...

    def notify(self, message: str, *, level: Literal["info", "warn", "error"]) -> None:
        """Show one short sentence; does not wait."""
        ...
