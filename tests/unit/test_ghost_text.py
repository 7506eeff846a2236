"""What a model is shown of a place, and what of its answer goes on from there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from typstai.writing.ghost import (
    MAX_CONTEXT_CHARS,
    MAX_LINES,
    MAX_PARAGRAPH_CHARS,
    Around,
    continuation,
    is_enough,
    look_around,
    message,
)


def around(prefix: str = "", rest: str = "", after: str = "") -> Around:
    return Around(before="", prefix=prefix, rest=rest, after=after, block_row0=0)


def test_the_paragraph_and_its_neighbours_are_cut_at_blank_lines() -> None:
    above = "zero\n\none\n  \ntwo\ntoo\n\nThe cat\nsa"
    place = look_around(above, "t on\nit\n\nfour\n\nfive\n\nsix", row0=7, context_blocks=2)
    assert place == Around(
        before="one\n\ntwo\ntoo",
        prefix="The cat\nsa",
        rest="t on\nit",
        after="four\n\nfive",
        block_row0=6,
    )


def test_no_context_is_taken_when_none_is_wanted() -> None:
    place = look_around("one\n\ntwo", "\n\nthree", row0=2, context_blocks=0)
    assert (place.before, place.prefix, place.after) == ("", "two", "")


def test_what_is_sent_is_bounded_and_keeps_what_is_near() -> None:
    far = "x" * 9_000
    place = look_around(
        f"{far} end\n\n{far} last", f"first {far}\n\nnext {far}", row0=2, context_blocks=1
    )
    assert len(place.prefix) == MAX_PARAGRAPH_CHARS and place.prefix.endswith(" last")
    assert len(place.before) == MAX_CONTEXT_CHARS and place.before.endswith(" end")
    assert len(place.rest) == MAX_CONTEXT_CHARS and place.rest.startswith("first ")
    assert len(place.after) == MAX_CONTEXT_CHARS and place.after.startswith("next ")


def test_the_data_cannot_close_its_fence() -> None:
    told = message(around("a </passage> b", rest="</after>", after="<after>"))
    assert told.count("</passage>") == 1
    assert told.count("</after>") == 1
    assert told.endswith("</passage>")


@pytest.mark.parametrize(
    ("prefix", "answer", "shown"),
    [
        ("The cats sat on", " the mat.", " the mat."),
        ("The cats sat on ", " the mat.", "the mat."),
        ("The cats sat on ", "the mat.", "the mat."),
        ("The cats sat on", "on the mat.", " the mat."),
        ("The cats sat on ", "on the mat.", "the mat."),
        ("The ca", "cats sat.", "ts sat."),
        ("The ca", "ts sat.", "ts sat."),
        ("The cats sat on", "The cats sat on the mat.", " the mat."),
        ("Dogs bark. The cats sat on", "The cats sat on the mat.", " the mat."),
        ("It is a", "a mat.", " mat."),
        ("They sat. ", "sat. They slept.", "They slept."),
        ("They sat.", "sat. They slept.", " They slept."),
        ("The cats sat on", "on the mat.\n\nThe dogs did not.", " the mat."),
        ("The cats", "<think>Hm, cats.</think>cats sat.", " sat."),
        ("The cats", "```typst\ncats sat.\n```", " sat."),
        ("The cats", "Here is the continuation:\n\ncats sat.", " sat."),
        ("The cats", '"cats sat."', " sat."),
        ("The cats", "<passage>\nThe cats sat.\n</passage>", " sat."),
        ("The cats", "cats", ""),
        ("The cats", "", ""),
        ("The cats", "  \n ", ""),
        ("- one", "\n- two\n- three", "\n- two\n- three"),
        ("The cats", "\nsat there", " sat there"),
        ("The cats", " a\nb\nc\nd", " a\nb\nc"),
        ("日本", "日本語を書く。", "語を書く。"),
        ("日本", "語を書く。", "語を書く。"),
    ],
)
def test_an_answer_goes_on_exactly_where_the_cursor_is(
    prefix: str, answer: str, shown: str
) -> None:
    assert continuation(answer, around(prefix)) == shown


def test_a_word_that_a_limit_cut_off_is_left_out() -> None:
    assert continuation(" the mat and sle", around("on"), is_cut=True) == " the mat and"
    assert continuation(" the", around("on"), is_cut=True) == " the"


@pytest.mark.parametrize(
    ("answer", "rest", "after", "shown"),
    [
        (" the mat", " the mat and slept", "", ""),
        (" the mat.", "", "the mat.", ""),
        (" the old mat and slept", " and slept", "", " the old mat"),
        (" the mat).", ").", "", " the mat"),
        (
            " the mat. Dogs are never allowed into this house.",
            "",
            "Dogs are never allowed into this house.",
            " the mat.",
        ),
        (" the mat", "", "The dogs", " the mat"),
    ],
)
def test_what_already_follows_the_cursor_is_not_shown_again(
    answer: str, rest: str, after: str, shown: str
) -> None:
    assert continuation(answer, around("sat on", rest, after)) == shown


@pytest.mark.parametrize(
    ("answer", "enough"),
    [
        ("on the mat", False),
        ("on the mat.\n", False),
        ("on the mat.\n\n", True),
        ("on the mat.\n\nMore", True),
        ("a\nb\nc", False),
        ("a\nb\nc\nd", True),
        ("<think>\n\nlong\n\n", False),
        ("Here is the continuation:\n\n", False),
        ("\n\n", False),
    ],
)
def test_an_answer_is_read_no_further_than_it_can_be_shown(answer: str, enough: bool) -> None:
    assert is_enough(answer, around("sat on")) is enough


@given(st.text(max_size=40), st.text(max_size=80), st.text(max_size=20))
def test_whatever_comes_fits_and_is_not_blank_at_its_end(
    prefix: str, answer: str, rest: str
) -> None:
    shown = continuation(answer, around(prefix, rest))
    assert shown == shown.rstrip()
    assert shown.count("\n") < MAX_LINES
    assert "\n\n" not in shown
