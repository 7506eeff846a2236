from hypothesis import given
from hypothesis import strategies as st

from typstai.domain.edit import LineChange, apply_changes
from typstai.domain.merge import carry, merge

BASE = ("one", "two", "three", "four", "five")
LINES = st.lists(st.sampled_from(["a", "b", "c d", "e f g", ""]), max_size=8).map(tuple)


def test_a_change_lands_beside_what_the_user_typed_since() -> None:
    current = ("zero", "one", "two", "three", "four", "FIVE")
    merged = merge(base=BASE, edited=("one", "2", "three", "four", "five"), current=current)
    assert merged.clashes == ()
    assert apply_changes(current, merged.changes) == ("zero", "one", "2", "three", "four", "FIVE")


def test_a_change_of_what_the_user_changed_is_a_clash_and_the_users_text_stays() -> None:
    current = ("one", "TWO", "three", "four", "five")
    merged = merge(base=BASE, edited=("one", "2", "three", "four", "five"), current=current)
    assert merged.changes == ()
    (clash,) = merged.clashes
    assert (clash.row0, clash.old, clash.new) == (1, ("TWO",), ("2",))


def test_different_words_of_one_long_line_merge() -> None:
    base = ("We measured it twice and found a small effect in the second run.",)
    edited = ("We measured it twice and found a tiny effect in the second run.",)
    current = ("Yesterday we measured it twice and found a small effect in the second run.",)
    merged = merge(base=base, edited=edited, current=current)
    assert apply_changes(current, merged.changes) == (
        "Yesterday we measured it twice and found a tiny effect in the second run.",
    )


def test_the_same_word_of_one_line_clashes() -> None:
    merged = merge(base=("a small effect",), edited=("a tiny effect",), current=("a huge effect",))
    assert merged.changes == ()
    assert len(merged.clashes) == 1


def test_a_change_the_user_made_too_is_nothing_to_do() -> None:
    edited = ("one", "2", "three", "four", "five")
    merged = merge(base=BASE, edited=edited, current=edited)
    assert (merged.changes, merged.clashes) == ((), ())


@given(LINES, LINES)
def test_without_typing_the_whole_edit_lands(
    base: tuple[str, ...], edited: tuple[str, ...]
) -> None:
    merged = merge(base=base, edited=edited, current=base)
    assert merged.clashes == ()
    assert apply_changes(base, merged.changes) == edited


@given(LINES, LINES, LINES)
def test_what_the_user_wrote_is_where_a_clash_says(
    base: tuple[str, ...], edited: tuple[str, ...], current: tuple[str, ...]
) -> None:
    merged = merge(base=base, edited=edited, current=current)
    for change in (*merged.changes, *merged.clashes):
        assert current[change.row0 : change.row0 + len(change.old)] == change.old


@given(LINES, LINES)
def test_without_an_edit_nothing_is_done(base: tuple[str, ...], current: tuple[str, ...]) -> None:
    merged = merge(base=base, edited=base, current=current)
    assert (merged.changes, merged.clashes) == ((), ())


def test_changes_of_an_unchanged_text_are_carried_over_at_their_smallest() -> None:
    change = LineChange(row0=1, old=("two", "three", "four"), new=("two", "3", "four"))
    merged = carry([change], base=BASE, current=BASE)
    assert merged.changes == (LineChange(row0=2, old=("three",), new=("3",)),)
