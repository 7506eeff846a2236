"""Tools that read the document and what the compiler says of it."""

from __future__ import annotations

import json

from pydantic import Field

from ...domain.diagnostic import CheckResult, Diagnostic, Fix
from ...domain.document import Snapshot
from ...domain.fence import fence
from ...domain.match import unique_excerpt
from ...domain.tool import ToolOutcome
from ...errors import ToolError
from ..run import Run
from ..sight import Sight, View
from .toolset import Arguments, Invocation, Labels, Tool

DEFAULT_CHARS = 28_000
MAX_CHARS = 64_000
MAX_DIAGNOSTICS = 50
RECHECKS = 3
"""How often a check is repeated when the writer types during it."""


class ReadDocument(Arguments):
    start_line: int = Field(default=1, ge=1, description="First line, from 1.")
    end_line: int | None = Field(default=None, ge=1, description="Last line, inclusive.")
    max_chars: int = Field(default=DEFAULT_CHARS, ge=200, le=MAX_CHARS)
    view: View = Field(default="final", description="How pending proposals are shown.")


class ReadDiagnostics(Arguments):
    pass


async def read_document(invocation: Invocation, args: ReadDocument) -> ToolOutcome:
    run = invocation.run
    sight = await run.sight()
    lines = sight.lines(args.view)
    total = len(lines)
    if args.start_line > total:
        raise ToolError("bad_range", f"the document has {total} lines.")
    last = min(args.end_line or total, total)
    shown = _numbered(lines, args.start_line, last, args.max_chars)
    end = args.start_line + len(shown) - 1
    if args.view == "final" and shown[-1] == _line(lines, end):
        run.ledger.shown(run.absolute(sight.original), lines, args.start_line - 1, end)
    path = run.relative(sight.original.path)
    head = f"{path} lines {args.start_line}-{end} of {total}{_pending(sight, args.view)}"
    more = f"\n[cut: go on with start_line={end + 1}]" if end < last else ""
    return ToolOutcome(
        text=f"{head}\n{fence('document', chr(10).join(shown))}{more}",
        label=f"{path} {args.start_line}-{end}",
    )


def _pending(sight: Sight, view: View) -> str:
    if not sight.pending:
        return ""
    how = {"final": "accepted", "original": "not there", "markup": "[-] out and [+] in"}[view]
    return f", {_plural(len(sight.pending), 'pending hunk')} shown as {how}"


def _line(lines: tuple[str, ...], number: int) -> str:
    return f"{number}: {lines[number - 1]}"


def _numbered(lines: tuple[str, ...], first: int, last: int, max_chars: int) -> list[str]:
    shown: list[str] = []
    used = 0
    for number in range(first, last + 1):
        line = _line(lines, number)
        used += len(line) + 1
        if used > max_chars:
            if not shown:
                shown.append(line[:max_chars] + " [line cut]")
            break
        shown.append(line)
    return shown


async def read_diagnostics(invocation: Invocation, args: ReadDiagnostics) -> ToolOutcome:
    run = invocation.run
    snapshot, result = await _checked(run)
    path = run.relative(run.absolute(snapshot))
    return ToolOutcome(
        text=_report(snapshot, path, result),
        ok=result.status == "checked",
        label=_summary(result),
    )


async def _checked(run: Run) -> tuple[Snapshot, CheckResult]:
    """A check of exactly the current text: repeated while the writer types meanwhile."""
    for _ in range(RECHECKS):
        snapshot = (await run.sight()).final
        path = run.absolute(snapshot)
        overlay = {**await run.editor.overlay(run.root), path: snapshot.text + "\n"}
        result = await run.checker.check(root=run.root, path=path, overlay=overlay)
        if (await run.sight()).original.tick == snapshot.tick:
            return snapshot, result
    raise ToolError("still_typing", "the writer is typing; ask for the diagnostics again later.")


def _summary(result: CheckResult) -> str:
    if result.status != "checked":
        return f"could not check: {result.note or result.status}"
    errors = sum(item.severity == "error" for item in result.diagnostics)
    warnings = len(result.diagnostics) - errors
    if not result.diagnostics:
        return "no errors, no warnings"
    return f"{_plural(errors, 'error')}, {_plural(warnings, 'warning')}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _report(snapshot: Snapshot, path: str, result: CheckResult) -> str:
    head = f"file: {path} at change {snapshot.tick}\nmain file compiled: {result.main or path}"
    if result.status != "checked":
        return f"{head}\ncould not check ({result.status}): {result.note}"
    found = result.diagnostics
    shown = [_entry(item, snapshot, path) for item in found[:MAX_DIAGNOSTICS]]
    if len(found) > MAX_DIAGNOSTICS:
        shown.append(f"[{len(found) - MAX_DIAGNOSTICS} more]")
    return "\n".join((head, _summary(result), *shown))


def _entry(item: Diagnostic, snapshot: Snapshot, path: str) -> str:
    where = f" {item.path}:{item.row0 + 1}:{item.byte_col + 1}" if item.path else ""
    lines = [f"{item.severity}{where} {item.message}"]
    lines += [f"  hint: {hint}" for hint in item.hints]
    if item.fix:
        edit = _fix_edit(item.fix, snapshot) if item.path == path else {}
        known = {"path": item.path, "title": item.fix.title, **edit}
        lines.append(f"  fix: {json.dumps(known, ensure_ascii=False)}")
    return "\n".join(lines)


def _fix_edit(fix: Fix, snapshot: Snapshot) -> dict[str, str]:
    """The fix as an edit that patch_document takes as it is."""
    start = snapshot.offset_at(fix.row0, fix.byte_col)
    end = snapshot.offset_at(fix.end_row0, fix.end_byte_col)
    first, last = unique_excerpt(snapshot.text, start, end)
    text = snapshot.text
    return {"search": text[first:last], "replace": text[first:start] + fix.new + text[end:last]}


DOCUMENT_TOOLS = (
    Tool(
        name="read_document",
        description=(
            "Read the document the writer looks at, as it is now, with line numbers. Long "
            "documents come in parts; the answer says how to go on."
        ),
        arguments=ReadDocument,
        kind="read",
        labels=Labels(running="reading"),
        perform=read_document,
    ),
    Tool(
        name="read_diagnostics",
        description=(
            "Compile the project with the text as it is now and list errors and warnings with "
            "places, hints and, where one is known, a fix (an edit for patch_document)."
        ),
        arguments=ReadDiagnostics,
        kind="read",
        labels=Labels(running="compiling"),
        perform=read_diagnostics,
    ),
)
