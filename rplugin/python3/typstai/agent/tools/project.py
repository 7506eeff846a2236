"""Tools that look at the project's files and move to another one."""

from __future__ import annotations

import uuid

from pydantic import Field

from ...domain.fence import fence
from ...domain.tool import ToolOutcome
from ...editor.port import ApprovalDecision, ApprovalRequest
from .toolset import Arguments, Invocation, Labels, Tool


class ReadFileStructure(Arguments):
    pass


class OpenProjectFile(Arguments):
    path: str = Field(min_length=1, max_length=1024, description="Relative to the project.")


async def read_file_structure(invocation: Invocation, args: ReadFileStructure) -> ToolOutcome:
    listing = await invocation.run.files.list_files(invocation.run.root)
    complete = "true" if listing.complete else "false"
    entries = "\n".join(listing.entries)
    return ToolOutcome(
        text=f"complete={complete}\n{fence('files', entries)}",
        label=f"{len(listing.entries)} entries" + ("" if listing.complete else ", cut"),
    )


async def open_project_file(invocation: Invocation, args: OpenProjectFile) -> ToolOutcome:
    run = invocation.run
    path = await run.files.resolve(run.root, args.path)
    shown = run.relative(path)
    decision = await _ask(invocation, shown)
    if decision.answer == "deny":
        reason = f": {decision.reason}" if decision.reason else "."
        text = f"denied: the writer did not open {shown}{reason}"
        return ToolOutcome(text=text, rejected=True, label=f"{shown} · denied")
    run.target.bufnr = await run.editor.open_file(path)
    return ToolOutcome(text=f"opened {shown}; the document tools now work on it.", label=shown)


async def _ask(invocation: Invocation, shown: str) -> ApprovalDecision:
    run, call = invocation.run, invocation.call
    if call.name in run.opened:
        return ApprovalDecision(answer="run")
    invocation.waiting(label=shown)
    request = ApprovalRequest(
        id=uuid.uuid4().hex,
        chat=run.chat,
        run=run.id,
        call=call.id,
        tool=call.name,
        effect=f"Opens {shown} in the document's window; later edits go to it.",
        destination=shown,
        arguments=call.arguments,
    )
    decision = await run.editor.approve(request)
    if decision.answer == "run":
        run.opened.add(call.name)
    return decision


PROJECT_TOOLS = (
    Tool(
        name="read_file_structure",
        description="List the files of the writer's project. complete=false when it was cut.",
        arguments=ReadFileStructure,
        kind="read",
        labels=Labels(running="listing"),
        perform=read_file_structure,
    ),
    Tool(
        name="open_project_file",
        description=(
            "Ask the writer to open another file of the project; later document tools work on it."
        ),
        arguments=OpenProjectFile,
        kind="read",
        labels=Labels(running="opening", confirm="Open this file?"),
        perform=open_project_file,
    ),
)
