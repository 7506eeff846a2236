"""Edits as values: overlap, application, and the whole lines they amount to."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from typstai.domain.document import Snapshot
from typstai.domain.edit import Edit, LineChange, apply_edits, line_changes, overlapping

texts = st.text(st.sampled_from("ab\n日\u0301 "), max_size=40)


def snapshot(text: str) -> Snapshot:
    return Snapshot(bufnr=1, path="", tick=1, lines=tuple(text.split("\n")))


def edit(start: int, end: int, new: str) -> Edit:
    return Edit(start=start, end=end, new=new)


@st.composite
def texts_with_edits(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    text = draw(texts)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return text, [edit(start, end, draw(texts)) for start, end in pairs]


def applied(lines: tuple[str, ...], changes: tuple[LineChange, ...]) -> str:
    result = list(lines)
    for change in reversed(changes):
        end = change.row0 + len(change.old)
        assert tuple(result[change.row0 : end]) == change.old
        result[change.row0 : end] = change.new
    return "\n".join(result)


def test_edits_are_given_in_offsets_of_the_text_before_any() -> None:
    assert apply_edits("one two three", [edit(8, 13, "3"), edit(0, 3, "1")]) == "1 two 3"


def test_edits_that_share_text_overlap_and_neighbours_do_not() -> None:
    first, second = edit(0, 4, "x"), edit(3, 5, "y")
    assert overlapping([second, first]) == (first, second)
    assert overlapping([edit(0, 3, "x"), edit(3, 5, "y")]) is None


def test_two_insertions_at_one_place_overlap() -> None:
    assert overlapping([edit(2, 2, "x"), edit(2, 2, "y")]) is not None
    assert overlapping([edit(2, 2, "x"), edit(2, 4, "y")]) is None


def test_a_change_of_a_word_is_a_change_of_its_line() -> None:
    changes = line_changes(snapshot("one\ntwo\nthree"), [edit(4, 7, "2")])
    assert changes == (LineChange(row0=1, old=("two",), new=("2",)),)


def test_edits_on_one_line_are_one_change() -> None:
    changes = line_changes(snapshot("a b c\nd"), [edit(0, 1, "A"), edit(4, 5, "C")])
    assert changes == (LineChange(row0=0, old=("a b c",), new=("A b C",)),)


def test_edits_that_meet_on_a_line_are_one_change() -> None:
    changes = line_changes(snapshot("one\ntwo\nthree"), [edit(1, 5, "-"), edit(6, 9, "+")])
    assert changes == (LineChange(row0=0, old=("one", "two", "three"), new=("o-w+hree",)),)


def test_an_edit_that_changes_nothing_is_no_change() -> None:
    assert line_changes(snapshot("one\ntwo"), [edit(0, 3, "one")]) == ()


def test_everything_can_go_and_an_empty_text_be_filled() -> None:
    (gone,) = line_changes(snapshot("one\ntwo"), [edit(0, 7, "")])
    assert (gone.old, gone.new) == (("one", "two"), ("",))
    (filled,) = line_changes(snapshot(""), [edit(0, 0, "one\ntwo")])
    assert (filled.old, filled.new) == (("",), ("one", "two"))


@given(texts_with_edits())
def test_changes_of_lines_amount_to_the_edits(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    taken = snapshot(text)
    assert overlapping(edits) is None
    changes = line_changes(taken, edits)
    assert applied(taken.lines, changes) == apply_edits(text, edits)
    rows = [change.row0 for change in changes]
    assert rows == sorted(set(rows))
