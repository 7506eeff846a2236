"""What one run knows: who asked, on which document, with which means and limits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TypeAlias

from ..domain.chat import Approval, Mode
from ..domain.diagnostic import Checker, LeakFinder
from ..domain.docs import Docs
from ..domain.document import Snapshot
from ..domain.ledger import Ledger
from ..domain.outline import OutlineReader
from ..domain.project import ProjectFiles
from ..domain.proposal import Hunk
from ..domain.verdict import Verdict
from ..editor.port import Editor
from ..errors import ToolError
from .sight import Sight

MAX_CORRECTIONS = 2

Recheck: TypeAlias = Callable[[Sequence[Hunk]], Awaitable[Verdict | None]]
"""Judges what was applied of a suggestion; None when it is what was proposed, or nothing."""


@dataclass(slots=True, kw_only=True)
class Corrections:
    """How often the model may still mend an edit before the user sees it."""

    left: int = MAX_CORRECTIONS

    def take(self) -> bool:
        """Use one up; False when none is left."""
        self.left -= 1
        return self.left >= 0


@dataclass(slots=True, kw_only=True)
class Target:
    """The document that tools work on; `open_project_file` moves it."""

    bufnr: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One answer of the agent, from send to its end."""

    id: str
    chat: str
    root: str
    """Absolute folder of the project."""
    mode: Mode
    approval: Approval
    target: Target
    editor: Editor
    checker: Checker
    leaks: LeakFinder
    files: ProjectFiles
    docs: Docs
    outline: OutlineReader
    ledger: Ledger
    tool_rounds: int
    decision_seconds: float | None = None
    """How long a proposed edit waits for the user; None waits for ever."""
    opened: set[str] = field(default_factory=set[str])
    """Tools that the user allowed for the rest of this run."""
    corrections: Corrections = field(default_factory=Corrections)
    rechecks: dict[str, Recheck] = field(default_factory=dict[str, Recheck])
    """Of the undecided suggestions of the chat, by proposal."""

    async def sight(self) -> Sight:
        """The target document now; `ToolError("no_document")` when there is none."""
        if self.target.bufnr is None:
            raise ToolError(
                "no_document",
                "no Typst file is open. Ask the writer to open one, or use open_project_file.",
            )
        return await self.sight_of(self.target.bufnr)

    async def sight_of(self, bufnr: int) -> Sight:
        """A buffer now, with the hunks of this chat that are pending in it."""
        snapshot = await self.editor.snapshot(bufnr)
        pending = await self.editor.pending(bufnr, self.chat)
        return Sight(original=snapshot, pending=tuple(pending))

    def relative(self, path: str) -> str:
        """A path as people read it: relative to the project, `/` as separator."""
        if not path:
            return "[unnamed]"
        pure = PurePath(path)
        return pure.relative_to(self.root).as_posix() if pure.is_relative_to(self.root) else path

    def absolute(self, snapshot: Snapshot) -> str:
        """Where the document is, or would be: an unnamed one counts as in the project's folder."""
        return snapshot.path or str(PurePath(self.root) / f"untitled-{snapshot.bufnr}.typ")
