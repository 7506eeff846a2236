"""A proposal of many hunks on a long document: shown and accepted, on a real terminal.

The edit goes through the real tool and the real bridge; only the compiler is left out.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from desk import NvimDesk
from editor import Editor
from typstai.agent.run import Run, Target
from typstai.agent.tools.builtin import builtin_tools
from typstai.agent.tools.toolset import Invocation
from typstai.domain.diagnostic import CheckResult
from typstai.domain.ledger import Ledger
from typstai.domain.tool import ToolCall
from typstai.typst.findings import TypstLeaks
from typstai.typst.outline import TypstOutline
from typstai.typst.project import DiskFiles
from typstai.typst.reference import Reference

from .neovim import session

LINES = 20_000
HUNKS = 128
RUNS = 5
_DRIVER = Path(__file__).with_name("proposals.lua")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One proposal; times in milliseconds."""

    shown_ms: float
    """From the tool's start until every hunk was drawn."""
    show_stall_ms: float
    """Longest time in which Neovim's loop did not turn meanwhile."""
    accepted_ms: float
    """From accepting all until the text was changed and the screen drawn."""


class _NoCompiler:
    async def check(self, *, root: str, path: str, overlay: dict[str, str]) -> CheckResult:
        return CheckResult(status="checked")


def report(nvim: str) -> int:
    """Print the table."""
    runs = [measure(nvim) for _ in range(RUNS)]
    print("\n| 128 hunks on 20,000 lines | median | worst |\n| --- | --- | --- |")
    for label, figures in (
        ("resolved, diffed and drawn", [run.shown_ms for run in runs]),
        ("longest stall meanwhile", [run.show_stall_ms for run in runs]),
        ("accepted and drawn", [run.accepted_ms for run in runs]),
    ):
        print(f"| {label} | {median(figures):.0f} ms | {max(figures):.0f} ms |", flush=True)
    return 0


def measure(binary: str) -> Shown:
    """Propose and accept once, in a Neovim of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="typstai-bench-") as home,
        session(binary, Path(home)) as (_, editor),
    ):
        editor.nvim.command(f"luafile {_DRIVER}")
        bufnr = editor.lua("return proposals_bench.open(...)", LINES)
        desk = NvimDesk(editor)
        started_ns = time.monotonic_ns()
        editor.lua("proposals_bench.watch(...)", HUNKS)
        desk.run(lambda: _suggest(desk, bufnr, home))
        editor.wait_for("proposals_bench.drawn_ns")
        return _result(editor, started_ns)


def _result(editor: Editor, started_ns: int) -> Shown:
    seen = editor.lua("return proposals_bench.stop()")
    accepted = editor.lua("return proposals_bench.accept()")
    return Shown(
        shown_ms=(seen["drawn_ns"] - started_ns) / 1e6,
        show_stall_ms=seen["stall_ms"],
        accepted_ms=accepted,
    )


def _nobody_waits(**_: str) -> None:
    pass


async def _suggest(desk: NvimDesk, bufnr: int, root: str) -> None:
    run = Run(
        id="run", chat="chat", root=root, mode="edit", approval="suggest",
        target=Target(bufnr=bufnr), editor=desk.editor, checker=_NoCompiler(),
        leaks=TypstLeaks(), files=DiskFiles(), docs=Reference(), outline=TypstOutline(),
        ledger=Ledger(), tool_rounds=1,
    )  # fmt: skip
    step = LINES // HUNKS
    edits = [{"search": f"line {n} of", "replace": f"row {n} of"} for n in range(0, LINES, step)]
    arguments = json.dumps({"edits": edits[:HUNKS]})
    call = ToolCall(id="call", name="patch_document", arguments=arguments)
    outcome = await builtin_tools().dispatch(Invocation(run=run, call=call, waiting=_nobody_waits))
    assert outcome.ok, outcome.text
