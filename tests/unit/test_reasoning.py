from __future__ import annotations

import pytest

from typstai.agent.providers.base import ReasoningDelta, TextDelta
from typstai.agent.providers.reasoning import ThinkSplitter, content_pieces, plain_text


def split(*pieces: str) -> tuple[str, str]:
    """All reasoning, and all of the answer."""
    splitter = ThinkSplitter()
    found = [piece for text in pieces for piece in splitter.feed(text)] + splitter.finish()
    thought = "".join(piece.text for piece in found if isinstance(piece, ReasoningDelta))
    return thought, "".join(piece.text for piece in found if isinstance(piece, TextDelta))


CASES = [
    ("Plain answer.", ("", "Plain answer.")),
    ("<think>why</think>Answer", ("why", "Answer")),
    ("<think>\nwhy\n</think>\n\nAnswer\n", ("\nwhy\n", "Answer\n")),
    ("Before <think>why</think> after", ("why", "Before  after")),
    ("<think>never closed", ("never closed", "")),
    ("<think>a<think>b</think>c</think>d", ("abc", "d")),
    ("no opening</think>Answer", ("", "no openingAnswer")),
    ("<think>one</think>A<think>two</think>B", ("onetwo", "AB")),
    ("a < b <thin <thinker> </thin", ("", "a < b <thin <thinker> </thin")),
    ("<think></think>x", ("", "x")),
    ("<<think>a<</think>b", ("a<", "<b")),
    ("¿日本語<think>ß</think>😀", ("ß", "¿日本語😀")),
    ("ends with <thi", ("", "ends with <thi")),
    ("", ("", "")),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_reasoning_is_told_from_the_answer(text: str, expected: tuple[str, str]) -> None:
    assert split(text) == expected


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_tags_are_found_wherever_they_are_cut(text: str, expected: tuple[str, str]) -> None:
    assert split(*text) == expected
    for at in range(len(text)):
        assert split(text[:at], text[at:]) == expected


def test_text_that_cannot_be_a_tag_is_not_held_back() -> None:
    splitter = ThinkSplitter()
    assert splitter.feed("a < b") == [TextDelta(text="a < b")]
    assert splitter.feed("a <t") == [TextDelta(text="a ")]
    assert splitter.feed("able>") == [TextDelta(text="<table>")]


def test_many_tags_in_one_piece_take_no_more_than_linear_time() -> None:
    assert split("<think></think>" * 200_000 + "end") == ("", "end")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("why", "why"),
        ({"content": "why"}, "why"),
        ({"text": "why"}, "why"),
        ([{"type": "text", "text": "w"}, {"thinking": [{"text": "hy"}]}], "why"),
        (None, ""),
        (3, ""),
        ({"summary": "x"}, ""),
    ],
)
def test_a_reasoning_field_may_be_text_an_object_or_a_list(value: object, text: str) -> None:
    assert plain_text(value) == text


def test_a_field_nested_without_end_is_cut_off() -> None:
    value: object = "deep"
    for _ in range(5000):
        value = [value]
    assert plain_text(value) == ""


def test_thinking_parts_of_a_content_list_are_reasoning() -> None:
    parts = [{"type": "thinking", "thinking": [{"text": "why"}]}, {"type": "text", "text": "so"}]
    assert content_pieces(parts) == [(True, "why"), (False, "so")]
