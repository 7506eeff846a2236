"""The tool that rewrites a section, which it finds by its heading or its label."""

from __future__ import annotations

import re
from dataclasses import replace

from pydantic import Field, model_validator

from ...domain.document import Snapshot
from ...domain.edit import Edit, line_changes
from ...domain.match import refuse_broken_escapes
from ...domain.outline import Section, by_heading, by_label
from ...domain.tool import ToolOutcome
from ...errors import ToolError
from ..review import submit
from ..run import Run
from ..sight import Sight
from .edit import UnixText
from .toolset import Arguments, Invocation, Labels, Tool

KEPT_HEADING = "note: the heading was kept, since new_content has none of its level."

_BLANK_EDGES = re.compile(r"\A(?:[ \t]*\n)+|\s+\Z")


class EditSection(Arguments):
    heading: str = Field(
        default="", description="Its title, or titles from outside in: Methods > Participants."
    )
    label: str = Field(default="", description="The label of its heading, in place of a heading.")
    new_content: UnixText = Field(
        description="The whole section anew, subsections too; empty deletes it."
    )

    @model_validator(mode="after")
    def _names_one(self) -> EditSection:
        if bool(self.heading.strip()) == bool(self.label.strip()):
            raise ValueError("give either heading or label")
        return self


async def edit_section(invocation: Invocation, args: EditSection) -> ToolOutcome:
    refuse_broken_escapes(args.new_content)
    run = invocation.run
    sight = await run.sight()
    seen, section = await _seen(run, sight, args)
    new = _BLANK_EDGES.sub("", args.new_content)
    keeps_heading = bool(new) and not await _has_heading(run, new, section.level)
    edit = _below_heading(seen, section, new) if keeps_heading else _whole(seen, section, new)
    changes = line_changes(seen, [edit])
    note = KEPT_HEADING if keeps_heading else ""
    return await submit(invocation, sight, base=seen.lines, changes=changes, note=note)


async def _seen(run: Run, sight: Sight, args: EditSection) -> tuple[Snapshot, Section]:
    """The section in the document as the model saw it: whole, or it may not be rewritten."""
    current = await _find(run, sight.final.lines, args)
    path = run.absolute(sight.original)
    for read in run.ledger.reads(path):
        try:
            is_current = read.lines == sight.final.lines
            section = current if is_current else await _find(run, read.lines, args)
        except ToolError:  # it had another name then, or was not there
            continue
        if read.start <= section.start and section.end <= read.end:
            return replace(sight.final, lines=read.lines), section
    raise ToolError(
        "not_read",
        f"read the whole section first: lines {current.start + 1}-{current.end}. "
        "Nothing was changed.",
    )


async def _find(run: Run, lines: tuple[str, ...], args: EditSection) -> Section:
    sections = await run.outline.sections(lines)
    if sections is None:
        raise ToolError("no_outline", "the document nests too deep; use replace_lines.")
    if args.label.strip():
        return by_label(sections, args.label)
    return by_heading(sections, args.heading)


async def _has_heading(run: Run, new: str, level: int) -> bool:
    sections = await run.outline.sections(new.split("\n"))
    return any(item.level <= level for item in sections or ())


def _whole(seen: Snapshot, section: Section, new: str) -> Edit:
    """The heading and all below it; a section that goes takes the blank lines after it along."""
    if new:
        return _rows(seen, section.start, section.end, new)
    stop = section.end
    while stop < len(seen.lines) and not seen.lines[stop].strip():
        stop += 1
    start = seen.line_starts[section.start]
    if stop < len(seen.lines):
        return Edit(start=start, end=seen.line_starts[stop], new="")
    return Edit(start=max(0, start - 1), end=len(seen.text), new="")


def _below_heading(seen: Snapshot, section: Section, new: str) -> Edit:
    """What stands below the heading; the blank lines under it stay."""
    first = section.start + 1
    while first < section.end and not seen.lines[first].strip():
        first += 1
    if first < section.end:
        return _rows(seen, first, section.end, new)
    end = seen.line_starts[section.start] + len(seen.lines[section.start])
    return Edit(start=end, end=end, new=f"\n\n{new}")


def _rows(seen: Snapshot, start: int, end: int, new: str) -> Edit:
    stop = seen.line_starts[end - 1] + len(seen.lines[end - 1])
    return Edit(start=seen.line_starts[start], end=stop, new=new)


SECTION_TOOL = Tool(
    name="edit_section",
    description=(
        "Rewrite one section: from its heading up to the next heading of its level. Read it "
        "whole before. Code at its end for what follows (a bibliography, a page break) stays."
    ),
    arguments=EditSection,
    kind="edit",
    labels=Labels(running="preparing the change"),
    perform=edit_section,
)
