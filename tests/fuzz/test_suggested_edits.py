"""The real tools over the double, while the writer types and decides, in any order.

The `final` text, as the model reads it, must follow from the buffer and what is pending;
an edit of it must change that text exactly as asked, and the buffer not at all.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from typstai.agent.run import Run, Target
from typstai.agent.tools.builtin import builtin_tools
from typstai.agent.tools.toolset import Invocation
from typstai.domain.diagnostic import CheckResult
from typstai.domain.edit import LineChange, apply_changes
from typstai.domain.ledger import Ledger
from typstai.domain.proposal import PendingHunk
from typstai.domain.tool import ToolCall, ToolOutcome
from typstai.editor.memory import MemoryEditor
from typstai.typst.findings import TypstLeaks
from typstai.typst.outline import TypstOutline
from typstai.typst.project import DiskFiles
from typstai.typst.reference import Reference

line = st.sampled_from([
    "", "one", "two words", "same", "same", "naïve 日本語", "  indented", "}", "= Top", "== Below",
])  # fmt: skip
texts = st.lists(line, min_size=1, max_size=8)
number = st.integers(0, 20)
TOOLS = builtin_tools()


def title_of(line: str) -> str:
    """The title of a heading; empty when it has none, or is none."""
    heading = re.match(r"=+ +(.*)", line)
    return heading[1].strip() if heading else ""


def section_end(lines: Sequence[str], start: int) -> int:
    """Row after the last line of a section that is not blank."""
    level = len(lines[start]) - len(lines[start].lstrip("="))
    end = start + 1
    while end < len(lines) and not re.match(rf"={{1,{level}}}(?: |$)", lines[end]):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    return end


class Compiles:
    """A checker that finds nothing."""

    async def check(self, *, root: str, path: str, overlay: dict[str, str]) -> CheckResult:
        return CheckResult(status="checked")


class Loop:
    """One event loop for all stories."""

    runner: asyncio.Runner


@pytest.fixture(scope="module", autouse=True)
def loop() -> Iterator[None]:
    with asyncio.Runner() as runner:
        Loop.runner = runner
        yield


def nobody_waits(**_: str) -> None:
    pass


class Suggesting(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.editor = MemoryEditor()
        self.typed: list[str] = []

    @initialize(text=texts)
    def begin(self, text: list[str]) -> None:
        self.bufnr = self.editor.add("\n".join(text), path="/p/main.typ")
        self.editor.add("", path="/p/other.typ")
        self.ledger = Ledger()

    def _call(self, name: str, **arguments: Any) -> ToolOutcome:
        run = Run(
            id="run", chat="chat", root="/p", mode="edit", approval="suggest",
            target=Target(bufnr=self.bufnr), editor=self.editor, checker=Compiles(),
            leaks=TypstLeaks(), files=DiskFiles(), docs=Reference(), outline=TypstOutline(),
            ledger=self.ledger, tool_rounds=1,
        )  # fmt: skip
        call = ToolCall(id="call", name=name, arguments=json.dumps(arguments))
        invocation = Invocation(run=run, call=call, waiting=nobody_waits)
        return Loop.runner.run(TOOLS.dispatch(invocation))

    @property
    def lines(self) -> tuple[str, ...]:
        return self.editor.lines(self.bufnr)

    @property
    def pending(self) -> list[PendingHunk]:
        return list(Loop.runner.run(self.editor.pending(self.bufnr, "chat")))

    @property
    def final(self) -> tuple[str, ...]:
        changes = [LineChange(row0=item.row0, old=item.old, new=item.new) for item in self.pending]
        return apply_changes(self.lines, changes) or ("",)

    @rule(row=number, rows=st.integers(0, 2), new=texts)
    def type(self, row: int, rows: int, new: list[str]) -> None:
        """The writer replaces a few lines by others; each has a mark of its own."""
        first = row % (len(self.lines) + 1)
        marked = [f"{text}\ue000{len(self.typed) + i}" for i, text in enumerate(new)]
        for gone in self.lines[first : first + rows]:
            self.typed = [text for text in self.typed if text != gone]
        self.editor.replace_lines(self.bufnr, first, min(first + rows, len(self.lines)), marked)
        self.typed += marked

    @rule(row=number, start=number, end=number, new=st.sampled_from(["", "new", "a\nb", "\n."]))
    def search(self, row: int, start: int, end: int, new: str) -> None:
        """An edit on the text as it is now reads as asked afterwards."""
        self.ledger = Ledger()
        before, buffer = "\n".join(self.final), self.lines
        wanted = self.final[row % len(self.final)]
        first, last = sorted((start % (len(wanted) + 1), end % (len(wanted) + 1)))
        part = wanted[first:last]
        outcome = self._call("search_replace", search=part, replace=new)
        assert self.lines == buffer
        after = "\n".join(self.final)
        assert after == (before.replace(part, new) if outcome.ok else before)

    @rule(row=number, rows=st.integers(0, 3), new=texts, read=st.booleans())
    def replace(self, row: int, rows: int, new: list[str], read: bool) -> None:
        """The same by line numbers, of which the model has just read the text, or has not."""
        self.ledger = Ledger()
        if read:
            self._call("read_document")
        before, buffer = self.final, self.lines
        first = row % len(before)
        last = min(first + rows + 1, len(before))
        content = "\n".join(new) + "\n"
        arguments = {"start_line": first + 1, "end_line": last, "new_content": content}
        outcome = self._call("replace_lines", **arguments)
        assert self.lines == buffer
        assert self.final == ((*before[:first], *new, *before[last:]) if outcome.ok else before)

    @rule(rows=st.lists(number, min_size=1, max_size=4), new=st.sampled_from(["X", "X\nY"]))
    def patch(self, rows: list[int], new: str) -> None:
        """All edits of a patch are made, or none."""
        self.ledger = Ledger()
        before, buffer = self.final, self.lines
        edits = [{"search": before[row % len(before)], "replace": new} for row in rows]
        outcome = self._call("patch_document", edits=edits)
        assert self.lines == buffer
        text = "\n".join(before)
        places = sorted((text.find(edit["search"]), len(edit["search"])) for edit in edits)
        for start, length in reversed(places if outcome.ok else []):
            text = text[:start] + new + text[start + length :]
        assert "\n".join(self.final) == text

    @rule(which=number, new=st.sampled_from(["= New", "= New\n\ntext", "= Top\n- a\n- b", ""]))
    def section(self, which: int, new: str) -> None:
        """A section whose title stands once is replaced, and nothing else is."""
        self.ledger = Ledger()
        self._call("read_document")
        before, buffer = self.final, self.lines
        headings = [row for row, text in enumerate(before) if title_of(text)]
        if not headings:
            return
        start = headings[which % len(headings)]
        end = section_end(before, start)
        outcome = self._call("edit_section", heading=before[start], new_content=new)
        assert self.lines == buffer
        is_alone = (
            sum(before[row].strip("= ") == before[start].strip("= ") for row in headings) == 1
        )
        assert outcome.ok == (is_alone and "\n".join(before[start:end]) != new)
        while not new and end < len(before) and not before[end].strip():
            end += 1
        wanted = (*before[:start], *(new.split("\n") if new else ()), *before[end:]) or ("",)
        assert self.final == (wanted if outcome.ok else before)

    @rule(row=number, new=st.sampled_from(["", "stale sight", "a\nb"]))
    def edit_on_an_old_sight(self, row: int, new: str) -> None:
        """What the model read may be long gone: whatever comes of it, nothing is applied."""
        buffer = self.lines
        self._call("replace_lines", start_line=row + 1, end_line=row + 1, new_content=new)
        assert self.lines == buffer

    @rule()
    def read(self) -> None:
        outcome = self._call("read_document")
        shown = [f"{number}: {text}" for number, text in enumerate(self.final, start=1)]
        assert "\n".join(shown) in outcome.text

    @rule(index=number, accept=st.booleans())
    def decide(self, index: int, accept: bool) -> None:
        pending = self.pending
        if not pending:
            return
        chosen = pending[index % len(pending)]
        before = self.lines
        if not accept:
            self.editor.reject(chosen.ref.proposal, chosen.ref.hunk)
            assert self.lines == before
            return
        for gone in chosen.old:
            self.typed = [text for text in self.typed if text != gone]
        self.editor.accept(chosen.ref.proposal, chosen.ref.hunk)
        change = LineChange(row0=chosen.row0, old=chosen.old, new=chosen.new)
        assert self.lines == (apply_changes(before, [change]) or ("",))

    @invariant()
    def nothing_typed_is_lost(self) -> None:
        if hasattr(self, "bufnr"):
            text = "\n".join(self.lines)
            assert [typed for typed in self.typed if typed not in text] == []

    @invariant()
    def pending_hunks_fit_and_do_not_overlap(self) -> None:
        if not hasattr(self, "bufnr"):
            return
        free = 0
        for item in self.pending:
            assert item.row0 >= free
            free = item.row0 + len(item.old)
            assert self.lines[item.row0 : free] == item.old


def test_suggestions_compose_with_typing_and_with_each_other_in_any_order() -> None:
    run_state_machine_as_test(
        Suggesting, settings=settings(max_examples=250, stateful_step_count=20, deadline=None)
    )
