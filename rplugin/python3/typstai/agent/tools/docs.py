"""Tool that reads the bundled reference of Typst."""

from __future__ import annotations

from pydantic import Field

from ...domain.tool import ToolOutcome
from .toolset import Arguments, Invocation, Labels, Tool


class ReadTypstDocs(Arguments):
    topic: str = Field(
        default="", max_length=100, description="Name of a topic; empty lists the topics."
    )


async def read_typst_docs(invocation: Invocation, args: ReadTypstDocs) -> ToolOutcome:
    docs = invocation.run.docs
    if not args.topic:
        lines = [f"{name}: {summary}" for name, summary in docs.topics()]
        return ToolOutcome(text="\n".join(lines), label="topics")
    return ToolOutcome(text=docs.read(args.topic), label=args.topic)


DOCS_TOOLS = (
    Tool(
        name="read_typst_docs",
        description=(
            "Read one topic of the Typst reference (syntax, math, tables, figures, set and show "
            "rules, page set-up, common errors, coming from LaTeX …). Without a topic: the list."
        ),
        arguments=ReadTypstDocs,
        kind="read",
        labels=Labels(running="reading the reference"),
        perform=read_typst_docs,
    ),
)
