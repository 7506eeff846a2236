"""What a proposed change does to the compiler's findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .diagnostic import CheckResult, Diagnostic
from .proposal import Hunk

QUOTED = 5
"""How many new errors the model is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The comparison of a compilation before a change with one after it."""

    checked: bool
    note: str = ""
    """Why it could not be checked."""
    fixed: int = 0
    added: tuple[Diagnostic, ...] = ()
    """New errors at lines that the change wrote."""
    uncovered: tuple[Diagnostic, ...] = ()
    """Errors that show only now, elsewhere: the compiler stops at the first it evaluates."""

    def line(self) -> str:
        """One short line for the header of the diff."""
        if not self.checked:
            return f"not checked: {self.note}"
        parts = [f"fixes {_errors(self.fixed)}"] if self.fixed else []
        if self.added:
            parts.append(f"adds {_errors(len(self.added))}")
        elif self.fixed:
            parts.append("adds none")
        if self.uncovered:
            parts.append(f"uncovers {_errors(len(self.uncovered))}")
        return ", ".join(parts) or "compiles as before"

    def for_model(self) -> str:
        """The same with the new errors quoted."""
        quotes = [
            f"{item.path}:{item.row0 + 1}: {item.message}"
            for item in (*self.added, *self.uncovered)[:QUOTED]
        ]
        return "\n".join((f"compiler: {self.line()}", *quotes))


def compare(before: CheckResult, after: CheckResult, path: str, hunks: Sequence[Hunk]) -> Verdict:
    """Errors fixed, added and uncovered by changing `path` (relative to the root) by `hunks`."""
    for result in (before, after):
        if result.status != "checked":
            return Verdict(checked=False, note=result.note or result.status)
    old = _errors_of(before)
    remaining = Counter(_identity(item) for item in old)
    new: list[Diagnostic] = []
    for item in _errors_of(after):
        if remaining[_identity(item)] > 0:
            remaining[_identity(item)] -= 1
        else:
            new.append(item)
    rows = _written_rows(hunks)
    added = tuple(item for item in new if item.path == path and item.row0 in rows)
    uncovered = tuple(item for item in new if item not in added)
    return Verdict(checked=True, fixed=remaining.total(), added=added, uncovered=uncovered)


def _errors_of(result: CheckResult) -> list[Diagnostic]:
    return [item for item in result.diagnostics if item.severity == "error"]


def _identity(item: Diagnostic) -> tuple[str, str, str]:
    """Lines move with every edit: an error is the same when file and message are."""
    return (item.source, item.path, item.message)


def _written_rows(hunks: Sequence[Hunk]) -> set[int]:
    rows: set[int] = set()
    shift = 0
    for hunk in hunks:
        start = hunk.row0 + shift
        rows.update(range(start, start + max(1, len(hunk.new))))
        shift += len(hunk.new) - len(hunk.old)
    return rows


def _errors(count: int) -> str:
    return "1 error" if count == 1 else f"{count} errors"
