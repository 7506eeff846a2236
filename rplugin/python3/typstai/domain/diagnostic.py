"""One finding about a document: from the compiler, the editor or a spell checker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Severity = Literal["error", "warning"]
CheckStatus = Literal["checked", "unavailable", "timeout", "crashed", "package_missing"]
"""`checked` is the only status in which no finding means that there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fix:
    """A known cure: replace the text at `row0`, byte columns end-exclusive, by `new`."""

    row0: int
    byte_col: int
    end_row0: int
    end_byte_col: int
    new: str
    title: str
    """What it does, in a few words: "write #strong instead of #strnog"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """A message at a place. Rows and byte columns from 0, end-exclusive."""

    path: str
    """Relative to the project root, `/` as separator; empty when it has no place."""
    severity: Severity
    message: str
    row0: int = 0
    byte_col: int = 0
    end_row0: int = 0
    end_byte_col: int = 0
    hints: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()
    source: str = "typst"
    fix: Fix | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What one compilation found. `note` says in one sentence why it could not check."""

    status: CheckStatus
    diagnostics: tuple[Diagnostic, ...] = ()
    note: str = ""
    main: str = ""
    """The main file compiled, relative to the root."""
    millis: float = 0.0


class Checker(Protocol):
    """Something that compiles a project with unsaved text laid over the files on disk."""

    async def check(self, *, root: str, path: str, overlay: dict[str, str]) -> CheckResult:
        """Compile the project that `path` (absolute) belongs to.

        `root` is the absolute project folder; `overlay` maps absolute paths to
        the text that counts instead of the file's. Never raises for a document's
        sake: what went wrong is the status of the result.
        """
        ...


class LeakFinder(Protocol):
    """Something that tells LaTeX and Markdown from Typst without compiling."""

    async def leaks(self, text: str) -> Sequence[Diagnostic]:
        """Warnings from the top; `path` is left empty, `source` is not a compiler's."""
        ...
