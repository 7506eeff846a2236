"""What a change of prose lost, altered or brought in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from typstai.domain.integrity import compare

CHANGES = [
    ("as @fig-one shows", "as it shows", ["drops @fig-one"]),
    ("it shows", "as @fig-one shows", ["adds @fig-one"]),
    ("see @a and @b.", "see @b.", ["drops @a"]),
    ("see @a twice, @a.", "see @a.", ["drops @a"]),
    ("see @old.", "see @new.", ["@old → @new"]),
    ("as #cite(<knuth>) says", "as Knuth says", ["drops #cite(<knuth>)"]),
    ("= Title <sec>", "= Title", ["drops <sec>"]),
    ("= Title <sec-a>", "= Title <sec-b>", ["<sec-a> → <sec-b>"]),
    ("so $x^2$ grows", "so $x^3$ grows", ["$x^2$ → $x^3$"]),
    ("call `run()` now", "call it now", ["drops `run()`"]),
    ("at https://a.org/b?c=1, see", "there, see", ["drops https://a.org/b?c=1"]),
    ('He said "never again".', 'He said "not again".', ['"never again" → "not again"']),
    ("Er sagte „nie wieder“.", "Er sagte das.", ['drops "nie wieder"']),
    ("42 runs", "43 runs", ["42 → 43"]),
    ("42 runs", "many runs", ["drops 42"]),
    ("12 May 2024", "12 May 2025", ["2024 → 2025"]),
    ("between 2-3 and 0.5mm", "between 2-4 and 0.5mm", ["3 → 4"]),
    ("at -5 degrees", "at 5 degrees", ["-5 → 5"]),
    ("50% of it", "50 of it", ["50% → 50"]),
    ("1 and 2", "1, 2, 3 and 4", ["adds 3", "adds 4"]),
    ("The DNA and its DNA-Test", "The molecule and its test", ["drops DNA"]),
    ("two PDFs", "two files", ["drops PDFs"]),
    ("set in LaTeX by McCarthy", "set by someone", ["drops LaTeX", "drops McCarthy"]),
    ("Die DNA des Virus", "Das Erbgut des Virus", ["drops DNA"]),
    ("as the work of Alan Turing shows", "as earlier work shows", ["drops Alan Turing"]),
    ("shown by the late Alan\nTuring, in 1936", "shown in 1936", ["drops Alan Turing"]),
    ("the senator Joseph McCarthy", "the senator", ["drops Joseph McCarthy"]),
]
SAME = [
    ("as @fig-one shows, 42 of them", "42 of them, as shown in @fig-one"),
    ("3.5 and 1,000 and 1,234.5", "3,5 und 1.000 und 1.234,5"),
    ("1,000 runs", "1000 runs"),
    ("50 % of it", "50% of it"),
    ("three runs", "3 runs"),
    ("3 Läufe", "drei Läufe"),
    ('the "old way" of it', "die „old way“ davon"),
    ("a `x`  and $a\n+ b$", "a `x` and $a + b$"),
    ("mail me@home.org", "mail me@home.org now"),
    (r"costs \$5 and \@home", r"it costs \$5, \@home"),
    ("heading 1.2.3 in v1.2", "v1.2, in heading 1.2.3"),
]
NO_NAME_LOST = [
    ("the work of Alan Turing on it", "the work of Turing on it"),
    ("the use of Machine Learning", "the use of machine learning"),
    ("about the PDFs and the DNA", "about the PDF and dnas"),
    ("in the DNA of it, DNA that", "in the DNA of it, which"),
    ("Alan Turing is the first.", "He is the first."),
    ("It ended. Last Summer Rain is rare.", "It ended. Rain is rare."),
    ("= A Study of Alan Turing and DNA", "= A study"),
    ("with #link(target) and `HTTP` // TODO: ask NASA", "with #link(target) and `HTTP`"),
    ('#image("DNA.png") of the thing', "#image(name) of the thing"),
    ("in chapter II of the book, DO NOT READ", "in the book, do not go on"),
    ("TODO the rest", "the rest"),
    ("TEh way of it", "The way of it"),
    ("Die StudentInnen und LehrerInnen", "Alle, die dort lernen"),
    ("Das wird für Ende März von Herrn Müller erwartet.", "Das wird zum Frühling erwartet."),
    ("Die Messung wird an der Stadt Berlin gezeigt.", "Die Messung wird dort gezeigt."),
    ("gegen Ende März", "im Frühling"),
]


@pytest.mark.parametrize(("before", "after", "lines"), CHANGES)
def test_a_changed_fact_is_named(before: str, after: str, lines: list[str]) -> None:
    assert [finding.line() for finding in compare(before, after)] == lines


@pytest.mark.parametrize(("before", "after"), SAME)
def test_other_words_for_the_same_facts_are_no_finding(before: str, after: str) -> None:
    assert compare(before, after) == ()
    assert compare(after, before) == ()


@pytest.mark.parametrize(("before", "after"), NO_NAME_LOST)
def test_words_that_are_no_lost_name_are_no_finding(before: str, after: str) -> None:
    assert [item.line() for item in compare(before, after) if item.kind == "name"] == []


def test_numbers_in_formulas_and_code_belong_to_them() -> None:
    assert [finding.line() for finding in compare("$1 + 2$ `3`", "$1 + 2$")] == ["drops `3`"]


def test_a_long_fact_is_shortened() -> None:
    (finding,) = compare(f'"{"long quote " * 9}".', "")
    line = finding.line()
    assert len(line) <= len("drops ") + 40
    assert line.endswith("…")


@given(st.text(st.sampled_from('ab 1.,5%$`@<>"“”„#[]\n-é'), max_size=60))
def test_no_text_differs_from_itself(text: str) -> None:
    assert compare(text, text) == ()


@given(st.text(max_size=80), st.text(max_size=80))
def test_what_is_dropped_one_way_is_added_the_other(before: str, after: str) -> None:
    there, back = (
        [item for item in compare(*texts) if item.kind != "name"]  # a new name is no finding
        for texts in ((before, after), (after, before))
    )
    assert {(item.kind, item.before, item.after) for item in there} == {
        (item.kind, item.after, item.before) for item in back
    }
