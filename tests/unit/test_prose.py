"""What of Typst is prose; masking the rest, restoring it, and keeping the writer's lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from typstai.domain.prose import context_around, is_english, split_blocks
from typstai.typst.prose import TypstProse
from typstai.writing.placeholders import Masked, fill, mask, repair
from typstai.writing.reflow import reflow

READER = TypstProse()
MASKED = [
    ("Plain *bold* and _slanted_ -- text.", "Plain *bold* and _slanted_ -- text."),
    ("= Title <sec>", "= Title ⟦1⟧"),
    ("as @fig-one[p. 3] and @b.", "as ⟦1⟧ and ⟦2⟧."),
    ("so $x^2$ and `y` stand", "so ⟦1⟧ and ⟦2⟧ stand"),
    (r"costs \$5 here", "costs ⟦1⟧5 here"),
    ("a\\\nb", "a⟦1⟧\nb"),
    ("see https://a.org/x now", "see ⟦1⟧ now"),
    ("text // note\nmore", "text ⟦1⟧\nmore"),
    ("a #footnote[with *text* @a] b", "a ⟦1⟧with *text* ⟦2⟧⟦3⟧ b"),
    ('#figure(image("a.png"), caption: [A cat]) <fig>', "⟦1⟧A cat⟦2⟧"),
    ("#table(columns: 2, [One], [Two])", "⟦1⟧One⟦2⟧Two⟦3⟧"),
    ("- item\n+ item\n/ Term: what", "- item\n+ item\n/ Term: what"),
    ("#set text(red)\n#let x = 1\n\nProse", "⟦1⟧\n\nProse"),
    ("#show: doc.with(title: [T])\nProse", "⟦1⟧\nProse"),
    ('#link("https://a.org")[the *site*]', "⟦1⟧the *site*⟦2⟧"),
    ("#if true [yes] else [no]", "⟦1⟧yes⟦2⟧no⟦3⟧"),
    ("#x is #x.y and #f(1)", "⟦1⟧ is ⟦2⟧ and ⟦3⟧"),
    ("日本 @ref 語 `é`", "日本 ⟦1⟧ 語 ⟦2⟧"),
]


def masked(text: str, start: int = 0, end: int | None = None) -> Masked:
    pieces = READER.pieces(text, start, len(text) if end is None else end)
    assert pieces is not None
    return mask(text, pieces)


@pytest.mark.parametrize(("text", "shown"), MASKED)
def test_a_model_sees_prose_and_placeholders(text: str, shown: str) -> None:
    found = masked(text)
    assert found.text == shown
    assert fill(found.text, found) == text


def test_what_stands_in_raw_text_or_a_formula_is_no_prose() -> None:
    text = "a ```\nraw words\n``` $ #text[x] $"
    found = READER.pieces(text, text.index("raw"), text.index("raw") + 9)
    assert found is not None
    assert [piece.kind for piece in found] == ["raw"]


def test_prose_within_a_show_rule_is_prose_when_it_alone_is_selected() -> None:
    text = "#show: doc.with(abstract: [We measure rain.])"
    start = text.index("We")
    found = READER.pieces(text, start, start + len("We measure rain."))
    assert found is not None
    assert [piece.kind for piece in found] == ["prose"]


def test_placeholders_do_not_clash_with_what_the_writer_wrote() -> None:
    found = masked("a ⟦1⟧ b @c")
    assert found.text == "a ⟦1⟧ b ⟪1⟫"
    assert fill(found.text, found) == "a ⟦1⟧ b @c"


def test_a_text_that_nests_too_deep_is_not_read() -> None:
    assert READER.pieces("#f(" * 300, 0, 9) is None


@given(st.text(st.sampled_from("ab .,#[](){}$`@<>\\*_=-+/\n\"'é⟦1⟧:"), max_size=80))
def test_masking_and_filling_any_text_gives_it_back(text: str) -> None:
    found = masked(text)
    assert fill(found.text, found) == text


FOOTNOTE = "So it is #footnote[see @a] in `x` and @b, always."
"""Masked: So it is ⟦1⟧see ⟦2⟧⟦3⟧ in ⟦4⟧ and ⟦5⟧, always."""
REPAIRED = [
    ("in order", "It is so ⟦1⟧see ⟦2⟧⟦3⟧, in ⟦4⟧ and ⟦5⟧.",
     "It is so #footnote[see @a], in `x` and @b."),
    ("moved", "In ⟦4⟧ and ⟦5⟧ it is so ⟦1⟧see ⟦2⟧⟦3⟧.",
     "In `x` and @b it is so #footnote[see @a]."),
    ("blanks within", "So ⟦ 1 ⟧see ⟦2⟧⟦3⟧ in ⟦ 4⟧ and ⟦5 ⟧.",
     "So #footnote[see @a] in `x` and @b."),
    ("other brackets", "So ⟦1⟧see ⟦2⟧⟦3⟧ in [[4]] and {5}.",
     "So #footnote[see @a] in `x` and @b."),
    ("the original in its place", "So ⟦1⟧see @a⟦3⟧ in `x` and ⟦5⟧.",
     "So #footnote[see @a] in `x` and @b."),
    ("side by side twice", "So ⟦1⟧see ⟦2⟧⟦3⟧ in ⟦4⟧ and ⟦5⟧ ⟦5⟧.",
     "So #footnote[see @a] in `x` and @b."),
    ("lost between the same words", "So it is ⟦1⟧see ⟦2⟧⟦3⟧ in and ⟦5⟧.",
     "So it is #footnote[see @a] in `x` and @b."),
    ("a wrong number", "So ⟦1⟧see ⟦2⟧⟦3⟧ in ⟦4⟧ and ⟦9⟧.",
     "So #footnote[see @a] in `x` and @b."),
    ("running into a word", "So ⟦1⟧see ⟦2⟧⟦3⟧ in ⟦4⟧ and ⟦5⟧s.",
     "So #footnote[see @a] in `x` and @b s."),
    ("a bracket lost between the same words", "So ⟦1⟧see ⟦2⟧ in ⟦4⟧ and ⟦5⟧.",
     "So #footnote[see @a] in `x` and @b."),
    ("half of a footnote lost", "So ⟦1⟧as in ⟦2⟧ or ⟦4⟧ and ⟦5⟧.",
     "So as in @a or `x` and @b."),
    ("a footnote inside out", "So ⟦3⟧see ⟦2⟧⟦1⟧ in ⟦4⟧ and ⟦5⟧.",
     "So see @a in `x` and @b."),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "text"), [case[1:] for case in REPAIRED],
                         ids=[case[0] for case in REPAIRED])  # fmt: skip
def test_an_answer_is_put_right_where_it_is_certain_what_was_meant(answer: str, text: str) -> None:
    found = masked(FOOTNOTE)
    assert fill(repair(answer, found).text, found) == text


def test_a_torn_table_is_refused() -> None:
    found = masked("#table(columns: 2, [One], [Two])")
    assert "tore #table apart" in repair("⟦1⟧Eins, Zwei und Drei⟦3⟧", found).refusal


def test_a_placeholder_at_an_end_is_put_back_there() -> None:
    found = masked("@a says so, and so does @b")
    assert fill(repair("It says that, as others do", found).text, found) == (
        "@a It says that, as others do @b"
    )


def test_a_bracket_whose_partner_is_not_selected_must_come_back() -> None:
    text = "a #footnote[note] b"
    found = masked(text, text.index("note]"))
    assert found.text == "note⟦1⟧ b"
    assert repair("Quite another", found).refusal
    assert not repair("Note⟦1⟧ and b", found).refusal


def test_a_comment_keeps_its_line_end() -> None:
    found = masked("one // why\ntwo")
    assert fill("one ⟦1⟧ two", found) == "one // why\n two"


def test_a_line_break_keeps_its_blank() -> None:
    found = masked("one \\\ntwo")
    assert fill("one ⟦1⟧two", found) == "one \\ two"


WRAPPED = """\
The results of the first experiment show that
the effect is rather strong in most of the cases
that we have looked at, and weak in others."""
REFLOWED = [
    ("one word in joined lines",
     "The results of the first experiment show that the effect is quite strong in most of the "
     "cases that we have looked at, and weak in others.",
     WRAPPED.replace("rather", "quite")),
    ("words left out",
     "The results of the experiment show that the effect is strong in most of the cases that we "
     "have looked at, and weak in others.",
     WRAPPED.replace("first ", "").replace("rather ", "")),
    ("a line grown too long is broken alone",
     "The results of the first experiment, which we made in spring, show that the effect is rather "
     "strong in most of the cases that we have looked at, and weak in others.",
     WRAPPED.replace("The results of the first experiment show that",
                     "The results of the first experiment, which we\nmade in spring, show that")),
]  # fmt: skip


@pytest.mark.parametrize(("answer", "text"), [case[1:] for case in REFLOWED],
                         ids=[case[0] for case in REFLOWED])  # fmt: skip
def test_lines_stay_where_words_stay(answer: str, text: str) -> None:
    assert reflow(WRAPPED, answer) == text


def test_one_sentence_a_line_stays_so() -> None:
    assert reflow("One.\nTwo is here.\nThree.", "One. Two was here. And it left. Three.") == (
        "One.\nTwo was here.\nAnd it left.\nThree."
    )


def test_a_long_line_stays_one_line() -> None:
    assert reflow("One long line. Of two sentences.", "One line.\nOf two\nsentences.") == (
        "One line. Of two sentences."
    )


def test_items_and_paragraphs_keep_their_own_lines() -> None:
    original = "= Title\n\n- one item that\n  goes on\n- two\n\nEnd."
    answer = "= Title\n- one item which\n  goes on\n- two of them\nEnd."
    assert reflow(original, answer) == (
        "= Title\n\n- one item which\n  goes on\n- two of them\n\nEnd."
    )


@given(st.text(st.sampled_from("ab .\n-="), max_size=60).map(str.strip))
def test_an_unchanged_text_is_laid_out_as_it_was(text: str) -> None:
    assert reflow(text, text) == text


@given(
    st.text(st.sampled_from("ab .\n-="), max_size=60).map(str.strip),
    st.text(st.sampled_from("ab .\n-="), max_size=60).map(str.strip),
)
def test_laying_out_neither_loses_nor_adds_a_word(original: str, answer: str) -> None:
    assert reflow(original, answer).split() == answer.split()


@given(st.text(st.sampled_from("ab \n-=+/1."), max_size=60))
def test_blocks_joined_are_the_text(text: str) -> None:
    assert "".join(split_blocks(text)) == text


def test_context_is_whole_paragraphs_on_either_side() -> None:
    text = "one\n\ntwo\n\nthree four five\n\nsix\n\nseven"
    start, end = text.index("four"), text.index("four") + 4
    assert context_around(text, start, end, 1) == ("two\n\nthree ", " five\n\nsix")
    assert context_around(text, start, end, 0) == ("three ", " five")


def test_english_is_told_from_other_languages() -> None:
    assert is_english("This is the first of the two results that we have.")
    assert not is_english("Dies ist das erste der beiden Ergebnisse, die wir haben.")
    assert not is_english("Ceci est le premier des deux résultats que nous avons.")
    assert not is_english("")
