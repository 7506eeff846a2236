"""Random documents, proposals, edits and decisions in a real Neovim, against a simple model.

The model knows no marks: it holds the text as lines with identities, so it can say
which lines the user touched and what must stand in the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from editor import Editor, start_editor
from reviewing import Change, Part, call, fill, propose, record_calls, told
from typstai.domain.proposal import Hunk
from typstai.domain.sentences import by_sentence

COMMON = settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)

WORDS = [
    "a",
    "the",
    "fox",
    "naïve",
    "cafe\u0301",
    "日本語",
    "👩‍👩‍👧",
    "𝔘",
    "\t",
    "  ",
    "#strong[x]",
    "\u2028",
    "_",
    "",
]
any_line = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\n\x00"), max_size=12
)
prose = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
sentence = st.lists(st.sampled_from(WORDS), max_size=3).map(lambda words: "Ä" + " ".join(words))
end = st.sampled_from([". ", "! ", "?  ", "… ", ".” ", "。", "."])
paragraph = st.lists(st.tuples(sentence, end).map("".join), min_size=1, max_size=5).map("".join)
lines = st.one_of(
    prose, paragraph, paragraph, st.sampled_from(["", "same", "}", "Ä. Ä. "]), any_line
)
documents = st.lists(lines, min_size=1, max_size=12)


@pytest.fixture(scope="module")
def child(nvim_binary: str) -> Iterator[Editor]:
    """One Neovim for all examples, each in a buffer of its own."""
    with start_editor(nvim_binary) as started:
        yield started


names = (f"p{number}" for number in count())


def new_buffer(editor: Editor, text: list[str]) -> str:
    """Show the text in a buffer of its own; a name that no proposal had yet."""
    editor.nvim.command("enew!")
    record_calls(editor)
    fill(editor, text)
    return next(names)


def refine(editor: Editor, old: list[str], new: list[str]) -> list[Change | Part]:
    """The change in hunks of whole lines and of single sentences."""
    found = editor.lua(
        "return require('typstai.text.diff').refine(...)",
        {"changes": [{"row0": 0, "old": old, "new": new}]},
    )
    hunks = [
        Hunk(id="", row0=hunk["row0"], old=tuple(hunk["old"]), new=tuple(hunk["new"]))
        for hunk in found
    ]
    return [
        (hunk.row0, list(hunk.old), list(hunk.new))
        if hunk.byte_col is None
        else (hunk.row0, hunk.byte_col, hunk.old[0], hunk.new[0])
        for hunk in by_sentence(hunks)
    ]


def undo(editor: Editor) -> None:
    editor.nvim.command("silent undo")


def close(editor: Editor) -> None:
    call(editor, "reject_all")
    editor.nvim.command("bwipeout!")


@COMMON
@given(old=documents, new=documents)
def test_accepting_everything_gives_the_proposed_text_in_one_undo_step(
    child: Editor, old: list[str], new: list[str]
) -> None:
    name = new_buffer(child, old)
    hunks = refine(child, old, new)
    if hunks:
        propose(child, *hunks, name=name)
        assert child.lines() == old
        call(child, "accept_all")
        assert child.lines() == new
        undo(child)
    assert child.lines() == old
    close(child)


@COMMON
@given(old=documents, new=documents, data=st.data())
def test_hunks_decided_in_any_order_give_what_was_decided(
    child: Editor, old: list[str], new: list[str], data: st.DataObject
) -> None:
    name = new_buffer(child, old)
    hunks = refine(child, old, new)
    order = data.draw(st.permutations(range(len(hunks))))
    accepted = data.draw(st.sets(st.sampled_from(range(len(hunks))))) if hunks else set[int]()
    if hunks:
        propose(child, *hunks, name=name)
    for index in order:
        method = "accept" if index in accepted else "reject"
        call(child, method, name, {"hunk": f"h{index + 1}"})
    assert child.lines() == expected(old, [hunks[index] for index in sorted(accepted)])
    for _ in accepted:
        undo(child)
    assert child.lines() == old
    close(child)


def expected(old: list[str], hunks: list[Change | Part]) -> list[str]:
    text = list(old)
    for hunk in reversed(hunks):
        match hunk:
            case (row0, before, after):
                text[row0 : row0 + len(before)] = after
            case (row0, byte_col, before, after):
                line = text[row0].encode()
                head, tail = line[:byte_col], line[byte_col + len(before.encode()) :]
                text[row0] = (head + after.encode() + tail).decode()
    return text or [""]


edits = st.one_of(
    st.tuples(st.just("type"), st.integers(0, 30), st.sampled_from(["mine ", "日", "\u0301"])),
    st.tuples(st.just("open"), st.integers(0, 30), st.sampled_from(["mine", "", "same"])),
    st.tuples(st.just("delete"), st.integers(0, 30), st.just("")),
    st.tuples(st.just("undo"), st.just(0), st.just("")),
    st.tuples(st.just("redo"), st.just(0), st.just("")),
    st.tuples(st.just("accept"), st.integers(0, 30), st.just("")),
    st.tuples(st.just("reject"), st.integers(0, 30), st.just("")),
)


@settings(COMMON, max_examples=150)
@given(old=documents, new=documents, steps=st.lists(edits, max_size=14))
def test_nothing_is_applied_that_was_not_pending_and_nothing_typed_is_lost(
    child: Editor, old: list[str], new: list[str], steps: list[tuple[str, int, str]]
) -> None:
    name = new_buffer(child, old)
    hunks = refine(child, old, new)
    if hunks:
        propose(child, *hunks, name=name)
    for step in steps:
        play(child, name, step)
    before, pending = child.lines(), pending_hunks(child)
    call(child, "accept_all")
    assert child.lines() == expected(before, pending)
    if pending:
        undo(child)
        assert child.lines() == before
    assert len(told(child)) == (1 if hunks else 0)
    close(child)


def listed_change(hunk: dict[str, Any]) -> Change | Part:
    if "start_col" in hunk:
        return hunk["start"], hunk["start_col"], hunk["old"][0], hunk["new"][0]
    return hunk["start"], hunk["old"], hunk["new"]


def pending_hunks(editor: Editor) -> list[Change | Part]:
    """The pending hunks where the listing says they are; their old lines must stand there."""
    text = editor.lines()
    found: list[Change | Part] = []
    for item in call(editor, "list"):
        for hunk in item["hunks"]:
            if hunk["state"] == "pending":
                stand = text[hunk["start"] : hunk["finish"]]
                if "start_col" in hunk:
                    part = stand[0].encode()[hunk["start_col"] : hunk["finish_col"]]
                    stand = [part.decode()]
                assert stand == hunk["old"]
                found.append(listed_change(hunk))
    return found


def play(editor: Editor, name: str, step: tuple[str, int, str]) -> None:
    """One step of the user's; a decision changes exactly what it decides."""
    action, number, text = step
    column_number = number * 7
    row = number % len(editor.lines())
    match action:
        case "type":
            line = editor.lines()[row]
            column = len(line[: column_number % (len(line) + 1)].encode())
            editor.nvim.api.buf_set_text(0, row, column, row, column, [text])
        case "open":
            editor.nvim.funcs.append(row, text)
        case "delete":
            editor.nvim.command(f"silent {row + 1}delete _")
        case "undo" | "redo":
            editor.nvim.command(f"silent {action}")
        case _:
            decide(editor, action, name, number)


def decide(editor: Editor, action: str, name: str, number: int) -> None:
    listed = [hunk for item in call(editor, "list") for hunk in item["hunks"]]
    if not listed:
        return
    hunk = listed[number % len(listed)]
    before = editor.lines()
    call(editor, action, name, {"hunk": hunk["id"]})
    applied: list[Change | Part] = []
    if action == "accept" and hunk["state"] == "pending":
        applied = [listed_change(hunk)]
    assert editor.lines() == expected(before, applied)
