"""Tools that propose changes of the document."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from ...domain.document import Snapshot
from ...domain.edit import Edit, line_changes, overlapping
from ...domain.match import Match, find, find_all, refuse_broken_escapes
from ...domain.tool import ToolOutcome
from ...errors import ToolError
from ..review import submit
from ..run import Run
from ..sight import Sight
from .toolset import Arguments, Invocation, Labels, Tool

MAX_EDITS = 128


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n")


UnixText = Annotated[str, AfterValidator(_unix)]
"""Text for a buffer, whose lines end with a newline alone whatever the file's do."""


class ReplaceLines(Arguments):
    start_line: int = Field(ge=1, description="First line, from 1.")
    end_line: int = Field(ge=1, description="Last line, inclusive.")
    new_content: UnixText = Field(description="The new lines; empty deletes the lines.")


class SearchReplace(Arguments):
    search: UnixText = Field(description="Exact text, unique unless told otherwise.")
    replace: UnixText = Field(description="What stands there afterwards; empty deletes it.")
    occurrence: int | None = Field(default=None, ge=1, description="Which occurrence, from 1.")
    all: bool = Field(default=False, description="Replace every occurrence.")


class PatchEdit(Arguments):
    search: UnixText = Field(description="Exact text in the document as it is now.")
    replace: UnixText
    unique: bool = Field(default=True, description="False replaces every occurrence.")


class PatchDocument(Arguments):
    edits: list[PatchEdit] = Field(min_length=1, max_length=MAX_EDITS)


class InsertAtCursor(Arguments):
    text: UnixText = Field(min_length=1)


class ReplaceSelection(Arguments):
    text: UnixText = Field(description="What stands there afterwards; empty deletes the selection.")


async def replace_lines(invocation: Invocation, args: ReplaceLines) -> ToolOutcome:
    refuse_broken_escapes(args.new_content)
    sight = await invocation.run.sight()
    seen = _seen_rows(invocation.run, sight, args)
    return await _submit(invocation, sight, seen, [_lines_edit(seen, args)])


async def search_replace(invocation: Invocation, args: SearchReplace) -> ToolOutcome:
    refuse_broken_escapes(args.replace)
    sight = await invocation.run.sight()
    seen = _seen_texts(invocation.run, sight, [args.search])
    if args.all:
        matches = find_all(seen.text, args.search)
    else:
        matches = [find(seen.text, args.search, occurrence=args.occurrence)]
    edits = [_edit(seen, match, args.replace) for match in matches]
    return await _submit(invocation, sight, seen, edits, _loose_note(matches))


async def patch_document(invocation: Invocation, args: PatchDocument) -> ToolOutcome:
    sight = await invocation.run.sight()
    seen = _seen_texts(invocation.run, sight, [item.search for item in args.edits])
    edits: list[Edit] = []
    matches: list[Match] = []
    for number, item in enumerate(args.edits, start=1):
        found = _patch_matches(seen, number, item)
        matches += found
        edits += [_edit(seen, match, item.replace) for match in found]
    clash = overlapping(edits)
    if clash:
        line = seen.row_at(clash[1].start) + 1
        raise ToolError("overlap", f"two edits change the same text in line {line}; none was made.")
    return await _submit(invocation, sight, seen, edits, _loose_note(matches))


async def insert_at_cursor(invocation: Invocation, args: InsertAtCursor) -> ToolOutcome:
    refuse_broken_escapes(args.text)
    return await _at_place(invocation, "cursor", args.text)


async def replace_selection(invocation: Invocation, args: ReplaceSelection) -> ToolOutcome:
    refuse_broken_escapes(args.text)
    return await _at_place(invocation, "selection", args.text)


async def _at_place(
    invocation: Invocation, what: Literal["cursor", "selection"], text: str
) -> ToolOutcome:
    place = await invocation.run.editor.place(invocation.run.id, what)
    if place is None:
        raise ToolError(f"no_{what}", f"the writer sent no {what}; use another editing tool.")
    if place.changed:
        raise ToolError("stale_selection", "the writer changed the selected text; read it again.")
    sight = await invocation.run.sight_of(place.bufnr)
    now = sight.original
    start = now.offset_at(place.row0, place.byte_col)
    end = now.offset_at(place.end_row0, place.end_byte_col)
    edit = Edit(start=start, end=end, new=text)
    return await _submit(invocation, sight, now, [edit])


async def _submit(
    invocation: Invocation, sight: Sight, seen: Snapshot, edits: list[Edit], note: str = ""
) -> ToolOutcome:
    changes = line_changes(seen, edits)
    return await submit(invocation, sight, base=seen.lines, changes=changes, note=note)


def _seen_rows(run: Run, sight: Sight, args: ReplaceLines) -> Snapshot:
    """The document whose line numbers the model means."""
    path = run.absolute(sight.original)
    lines = run.ledger.base_of_rows(path, args.start_line - 1, args.end_line)
    return sight.final if lines is None else replace(sight.final, lines=lines)


def _seen_texts(run: Run, sight: Sight, texts: list[str]) -> Snapshot:
    """The document in which the model saw these texts."""
    lines = run.ledger.base_of_texts(run.absolute(sight.original), texts)
    return sight.final if lines is None else replace(sight.final, lines=lines)


def _lines_edit(seen: Snapshot, args: ReplaceLines) -> Edit:
    count = len(seen.lines)
    if args.end_line < args.start_line:
        raise ToolError("bad_range", f"end_line {args.end_line} is above the start_line.")
    if args.end_line > count:
        raise ToolError(
            "bad_range",
            f"lines {args.start_line}-{args.end_line} do not exist; there are {count} lines, "
            f"the last is: {seen.lines[-1][:120]}",
        )
    start = seen.line_starts[args.start_line - 1]
    end = seen.line_starts[args.end_line - 1] + len(seen.lines[args.end_line - 1])
    if args.new_content:
        return Edit(start=start, end=end, new=args.new_content.removesuffix("\n"))
    if end < len(seen.text):
        return Edit(start=start, end=end + 1, new="")
    return Edit(start=max(0, start - 1), end=end, new="")


def _patch_matches(seen: Snapshot, number: int, item: PatchEdit) -> list[Match]:
    try:
        refuse_broken_escapes(item.replace)
        if item.unique:
            return [find(seen.text, item.search)]
        return find_all(seen.text, item.search)
    except ToolError as error:
        message = f"edit {number}: {error} None of the edits was made."
        raise ToolError(error.code, message) from error


def _edit(seen: Snapshot, match: Match, new: str) -> Edit:
    # A search that reached over the end of the last line took a line end that is not in the text.
    at_end = match.end == len(seen.text) and new.endswith("\n")
    return Edit(start=match.start, end=match.end, new=new.removesuffix("\n") if at_end else new)


def _loose_note(matches: list[Match]) -> str:
    if all(match.exact for match in matches):
        return ""
    return "note: the text matched except for white space at line edges."


EDIT_TOOLS = (
    Tool(
        name="replace_lines",
        description=(
            "Replace a range of whole lines of the document, by the line numbers that "
            "read_document showed. Empty new_content deletes the lines."
        ),
        arguments=ReplaceLines,
        kind="edit",
        labels=Labels(running="preparing the change"),
        perform=replace_lines,
    ),
    Tool(
        name="search_replace",
        description=(
            "Replace one exact piece of text. It must be unique in the document, unless "
            "occurrence or all is given. May span lines."
        ),
        arguments=SearchReplace,
        kind="edit",
        labels=Labels(running="preparing the change"),
        perform=search_replace,
    ),
    Tool(
        name="patch_document",
        description=(
            "Make several replacements at once, all or none. Each search text is matched against "
            "the document as it is before the patch and must not overlap another."
        ),
        arguments=PatchDocument,
        kind="edit",
        labels=Labels(running="preparing the change"),
        perform=patch_document,
    ),
    Tool(
        name="insert_at_cursor",
        description="Insert text where the writer's cursor was when the message was sent.",
        arguments=InsertAtCursor,
        kind="edit",
        labels=Labels(running="preparing the change"),
        perform=insert_at_cursor,
    ),
    Tool(
        name="replace_selection",
        description="Replace the text that the writer attached as a selection.",
        arguments=ReplaceSelection,
        kind="edit",
        labels=Labels(running="preparing the change"),
        perform=replace_selection,
    ),
)
