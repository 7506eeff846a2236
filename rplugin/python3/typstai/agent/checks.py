"""What is checked of an edit before the user sees it, and when the model must mend it first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..domain.diagnostic import CheckResult, Diagnostic
from ..domain.proposal import Hunk
from ..domain.verdict import Verdict, changed_facts, compare, new_leaks
from ..errors import ToolError
from .run import Run
from .sight import Sight

Lines = tuple[str, ...]


async def judge(run: Run, sight: Sight, after: Lines, hunks: Sequence[Hunk]) -> Verdict:
    """The verdict on changing the buffer's text to `after` by `hunks`."""
    path = run.absolute(sight.original)
    texts = (f"{sight.original.text}\n", "\n".join((*after, "")))
    overlay = await run.editor.overlay(run.root)
    old, new = [
        await run.checker.check(root=run.root, path=path, overlay={**overlay, path: text})
        for text in texts
    ]
    relative = run.relative(path)
    return replace(
        compare(old, new, relative, hunks),
        leaks=await _leaks(run, relative, texts, (old, new), hunks),
        facts=changed_facts(hunks),
    )


async def _leaks(
    run: Run,
    path: str,
    texts: tuple[str, str],
    results: tuple[CheckResult, CheckResult],
    hunks: Sequence[Hunk],
) -> tuple[Diagnostic, ...]:
    if not path.endswith(".typ"):
        return ()
    if all(result.status == "checked" for result in results):
        before, after = (result.diagnostics for result in results)
    else:
        before, after = [
            [replace(leak, path=path) for leak in await run.leaks.leaks(text)] for text in texts
        ]
    return new_leaks(before, after, path, hunks)


def refuse_worse(run: Run, verdict: Verdict) -> None:
    """Send an edit that breaks something back to the model, as often as it may mend it.

    Raises `ToolError("needs_correction")`.
    """
    if verdict.is_worse and run.corrections.take():
        raise ToolError(
            "needs_correction",
            f"not shown to the writer: {verdict.line()}. Nothing was changed; correct the edit "
            f"and call again.\n{verdict.for_model()}",
        )
