"""Calls one built-in tool on a document in memory, as a run does."""

from __future__ import annotations

import json
from typing import Any

from typstai.agent.run import Run, Target
from typstai.agent.tools.builtin import builtin_tools
from typstai.agent.tools.toolset import Invocation, ToolSet
from typstai.domain.chat import Approval, Mode
from typstai.domain.diagnostic import CheckResult
from typstai.domain.ledger import Ledger
from typstai.domain.project import Listing
from typstai.domain.tool import ToolCall, ToolOutcome
from typstai.editor.memory import MemoryEditor
from typstai.errors import ToolError
from typstai.typst.findings import TypstLeaks
from typstai.typst.outline import TypstOutline
from typstai.typst.reference import Reference


class NoCompiler:
    """A checker that cannot check."""

    async def check(self, *, root: str, path: str, overlay: dict[str, str]) -> CheckResult:
        return CheckResult(status="unavailable", note="there is no compiler")


class Files:
    async def list_files(self, root: str) -> Listing:
        return Listing(entries=("main.typ",), complete=False)

    async def resolve(self, root: str, path: str) -> str:
        raise ToolError("outside_project", "it leaves the project.")


def run_on(
    editor: MemoryEditor, bufnr: int | None, *, mode: Mode = "edit", approval: Approval = "auto"
) -> Run:
    return Run(
        id="run", chat="chat", root="/p", mode=mode, approval=approval,
        target=Target(bufnr=bufnr), editor=editor, checker=NoCompiler(), leaks=TypstLeaks(),
        files=Files(), docs=Reference(), outline=TypstOutline(), ledger=Ledger(), tool_rounds=8,
    )  # fmt: skip


async def call(run: Run, name: str, arguments: Any, tools: ToolSet | None = None) -> ToolOutcome:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    made = ToolCall(id="c1", name=name, arguments=text)
    invocation = Invocation(run=run, call=made, waiting=unseen)
    return await (tools or builtin_tools()).dispatch(invocation)


def unseen(**shown: str) -> None:
    """Nobody watches the call."""
