"""What a proposed change does: to the compiler's findings, to Typst, and to facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from . import integrity
from .diagnostic import CheckResult, Diagnostic
from .proposal import Hunk

QUOTED = 5
"""How many new errors, and how many leaks, the model is shown."""
FACTS_SHOWN = 3
"""In the header; the model is told of `FACTS_TOLD`."""
FACTS_TOLD = 20
LEAK_SOURCE = "typstai"
"""Source of the findings that are no compiler's: LaTeX and Markdown."""
_VERBS = ("adds", "drops")
_AS_BEFORE = "compiles as before"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The comparison of a text before a change with the one after it."""

    checked: bool
    note: str = ""
    """Why it could not be checked."""
    fixed: int = 0
    added: tuple[Diagnostic, ...] = ()
    """New errors at lines that the change wrote."""
    uncovered: tuple[Diagnostic, ...] = ()
    """Errors that show only now, elsewhere: the compiler stops at the first it evaluates."""
    leaks: tuple[Diagnostic, ...] = ()
    """LaTeX or Markdown at lines that the change wrote."""
    facts: tuple[integrity.Finding, ...] = ()
    """Numbers, references, formulas and the like that the change dropped or altered."""

    @property
    def is_worse(self) -> bool:
        """Whether the change breaks something that stood, or writes what is not Typst."""
        return bool(self.added or self.leaks)

    def line(self) -> str:
        """One short line for the header of the diff, warnings first."""
        parts = warning_parts(self._warnings())
        compiled = self._compiled()
        if not (parts and compiled == _AS_BEFORE):
            parts.append(compiled)
        return " · ".join(parts)

    def for_model(self) -> str:
        """The same at length: new errors and leaks quoted."""
        lines = [f"compiler: {self._compiled()}", *map(_quote, self._quoted())]
        lines += map(_quote, self.leaks[:QUOTED])
        if self.facts:
            told = "; ".join(fact.line() for fact in self.facts[:FACTS_TOLD])
            lines.append(f"changed facts: {told}")
        return "\n".join(lines)

    def _quoted(self) -> Sequence[Diagnostic]:
        return (*self.added, *self.uncovered)[:QUOTED]

    def _warnings(self) -> list[str]:
        warnings = [fact.line() for fact in self.facts[:FACTS_SHOWN]]
        if len(self.facts) > FACTS_SHOWN:
            warnings.append(f"{len(self.facts) - FACTS_SHOWN} more facts changed")
        if self.leaks:
            places = "1 place" if len(self.leaks) == 1 else f"{len(self.leaks)} places"
            warnings.append(f"LaTeX or Markdown in {places}")
        return warnings

    def _compiled(self) -> str:
        if not self.checked:
            return f"not checked: {self.note}"
        parts = [f"fixes {_errors(self.fixed)}"] if self.fixed else []
        if self.added:
            parts.append(f"adds {_errors(len(self.added))}")
        elif self.fixed:
            parts.append("adds none")
        if self.uncovered:
            parts.append(f"uncovers {_errors(len(self.uncovered))}")
        return ", ".join(parts) or _AS_BEFORE


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


def new_leaks(
    before: Sequence[Diagnostic], after: Sequence[Diagnostic], path: str, hunks: Sequence[Hunk]
) -> tuple[Diagnostic, ...]:
    """LaTeX and Markdown that `hunks` wrote into `path` and that it did not have before."""
    left = Counter(item.message for item in before if _is_leak(item, path))
    rows = _written_rows(hunks)
    found: list[Diagnostic] = []
    for item in after:
        if _is_leak(item, path) and left[item.message] > 0:
            left[item.message] -= 1
        # One that the compiler stumbled over counts among the errors.
        elif _is_leak(item, path) and item.severity == "warning" and item.row0 in rows:
            found.append(item)
    return tuple(found)


def changed_facts(hunks: Sequence[Hunk]) -> tuple[integrity.Finding, ...]:
    """What the old lines say and the new ones do not. A fact that moved is still there."""
    old = "\n".join(line for hunk in hunks for line in hunk.old)
    new = "\n".join(line for hunk in hunks for line in hunk.new)
    return tuple(finding for finding in integrity.compare(old, new) if finding.before)


def marked(hunks: Sequence[Hunk], facts: Sequence[integrity.Finding]) -> tuple[Hunk, ...]:
    """The hunks, each with what of the facts it changed itself as its reason."""
    if not facts:
        return tuple(hunks)
    told = {fact.line() for fact in facts}
    result: list[Hunk] = []
    for hunk in hunks:
        own = dict.fromkeys(fact.line() for fact in changed_facts([hunk]))
        warnings = warning_parts([line for line in own if line in told])
        result.append(replace(hunk, reason=", ".join(warnings)))
    return tuple(result)


def warning_parts(warnings: Sequence[str]) -> list[str]:
    """The warnings as parts of a line, each mark and verb once: `! drops a, b · ! 1 → 2`."""
    parts: list[str] = []
    last = ""
    for words in warnings:
        verb, _, rest = words.partition(" ")
        if verb in _VERBS and verb == last:
            parts[-1] += f", {rest}"
        else:
            parts.append(f"! {words}")
        last = verb
    return parts


def _is_leak(item: Diagnostic, path: str) -> bool:
    return item.source == LEAK_SOURCE and item.path == path


def _quote(item: Diagnostic) -> str:
    return f"{item.path}:{item.row0 + 1}: {item.message}"


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
