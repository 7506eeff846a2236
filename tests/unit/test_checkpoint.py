"""Which runs a revert takes back, which texts a run left, and what gives up its room."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from typstai.domain import checkpoint
from typstai.domain.checkpoint import Checkpoint, Limits, Note, Write

LIMITS = Limits(count=3, body_bytes=100)


def made(
    run: str = "r1",
    document: str = "/a.typ",
    *writes: str,
    kept: bool = True,
    reverted: bool = False,
) -> Checkpoint:
    """A checkpoint of the text `0`, and writes given as `before>after`."""
    pairs = [write.split(">") for write in writes]
    return Checkpoint(
        run=run, chat="c", document=document, before="0", kept=kept, reverted=reverted,
        writes=tuple(Write(before=before, after=after) for before, after in pairs),
    )  # fmt: skip


def test_a_run_left_every_text_that_holds_its_writes_alone() -> None:
    item = made("r1", "/a.typ", "0>1", "1>2")
    assert (item.left, item.interrupted) == (("1", "2"), False)


def test_a_write_after_something_else_is_not_what_the_run_left() -> None:
    item = made("r1", "/a.typ", "0>1", "x>2", "2>3")
    assert (item.left, item.interrupted) == (("1",), True)


def test_a_write_after_an_undo_of_the_runs_own_writes_continues_the_chain() -> None:
    assert made("r1", "/a.typ", "0>1", "0>2", "1>3").left == ("1", "2", "3")


def test_a_cascade_goes_from_the_newest_run_down_to_the_one_that_is_meant() -> None:
    items = [made("r1"), made("r2"), made("r2", "/b.typ"), made("r3")]
    steps = checkpoint.cascade("r2", items)
    assert [(step.run, [item.document for item in step.checkpoints]) for step in steps] == [
        ("r3", ["/a.typ"]),
        ("r2", ["/a.typ", "/b.typ"]),
    ]


def test_a_run_that_wrote_nothing_has_no_cascade() -> None:
    assert checkpoint.cascade("r9", [made("r1")]) == ()


@pytest.mark.parametrize(
    ("items", "state"),
    [
        ([made()], "available"),
        ([made(), made(document="/b.typ", kept=False)], "lapsed"),
        ([made(reverted=True)], "reverted"),
        ([made(reverted=True), made(document="/b.typ")], "available"),
        ([], "lapsed"),
    ],
)
def test_a_receipt_says_the_least_that_holds_for_all_documents(
    items: list[Checkpoint], state: str
) -> None:
    assert checkpoint.state(items) == state


@given(st.lists(st.integers(0, 150)))
def test_what_stays_is_within_the_limits_and_no_more_goes_than_must(sizes: list[int]) -> None:
    gone = checkpoint.surplus(sizes, LIMITS)
    stays = sizes[gone:]
    assert len(stays) <= LIMITS.count and sum(stays) <= LIMITS.body_bytes
    if gone:
        more = sizes[gone - 1 :]
        assert len(more) > LIMITS.count or sum(more) > LIMITS.body_bytes


C, B, A = "third", "second", "first"
REVERTS = [
    Note(seq=1, text="1; x", document="/a.typ", before=C, after=B),
    Note(seq=2, text="2; x", document="/a.typ", before=B, after=A),
]


@pytest.mark.parametrize(
    ("live", "undone"),
    [(A, [False, False]), (B, [False, True]), (C, [True, True]), ("typed", [False, False])],
)
def test_of_reverts_that_followed_each_other_the_text_tells_which_were_undone(
    live: str, undone: list[bool]
) -> None:
    seen = checkpoint.seen(REVERTS, {"/a.typ": live})
    assert [note.undone for note in seen] == undone
    again = checkpoint.seen(seen, {"/a.typ": "typed since"})
    assert [note.undone for note in again] == undone
    assert [note.undone for note in checkpoint.seen(again, {"/a.typ": A})] == [False, False]


def test_the_model_is_told_of_each_change_once_and_of_none_that_it_never_knew() -> None:
    note = REVERTS[0]
    told = [
        [
            (news.told, news.text)
            for news in checkpoint.news([replace(note, told=told, undone=undone)])
        ]
        for told in ("nothing", "done", "undone")
        for undone in (False, True)
    ]
    since = "1, but the writer has undone that since; read the document again."
    assert told == [[("done", "1; x")], [], [], [("undone", since)], [("done", "1; x")], []]


def test_a_line_break_and_a_nul_give_different_hashes() -> None:
    assert checkpoint.text_hash(b"a\nb") == hashlib.sha256(b"2\na\nb").hexdigest()
    assert checkpoint.text_hash(b"a\0b") == hashlib.sha256(b"1\na\nb").hexdigest()
