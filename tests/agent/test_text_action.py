"""A text action from passage to proposal: what lands, what is told, what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from acting import Answer, act, template
from typstai.domain.action import Applied, Empty, EmptyReason, Failed, Stale, result_to_dict
from typstai.domain.spelling import Mistake
from typstai.editor.memory import MemoryEditor
from typstai.errors import ModelError
from typstai.writing.templates import custom

THESIS = """\
= Results <sec-results>

The effect is *rather* strong @fig-one, and costs \\$5 in 42 cases #footnote[As noted by @knuth.].
See $x^2$ and `run()` at https://a.org/b.

#set text(red)
#figure(image("a.png"), caption: [A map of the town]) <fig-one>

- first item
- second item

Last paragraph.
"""
EFFECT = THESIS.split("\n\n")[1]


def test_a_good_answer_lands_with_all_markup_byte_for_byte() -> None:
    def rephrased(target: str) -> str:
        return target.replace("is *rather* strong", "was *quite* strong")

    acted = act(THESIS, rephrased)
    assert acted.result == Applied(proposal=acted.proposals[0].id, changes=1, warnings=())
    assert acted.accepted == THESIS.replace("is *rather* strong", "was *quite* strong")


def test_lines_that_change_apart_are_decided_apart() -> None:
    acted = act(THESIS, lambda t: t.replace("rather", "quite").replace("See", "Look at"), on=EFFECT)
    assert [hunk.row0 for hunk in acted.hunks] == [2, 3]


def test_a_change_over_a_line_end_is_one_decision() -> None:
    text = "It is shown in the first\ntable that it rains,\nand so it is."
    acted = act(text, "It is shown in a\nchart that it rains,\nand so it is.")
    assert [(hunk.row0, len(hunk.old)) for hunk in acted.hunks] == [(0, 2)]


def test_only_the_selected_words_of_a_line_change() -> None:
    acted = act("one two three four", "2 3", on="two three")
    assert acted.accepted == "one 2 3 four"


def test_white_space_around_the_selection_stays() -> None:
    text = "before\n\n  some words here  \n\nafter"
    acted = act(text, "\n\nother words here\n", on="\n  some words here  \n")
    assert acted.accepted == text.replace("some", "other")


WARNED: list[tuple[str, Callable[[str], str], str]] = [
    ("a dropped reference", lambda t: t.replace("strong ⟦1⟧,", "clear"), "drops @fig-one"),
    ("a changed number", lambda t: t.replace("42", "43"), "42 → 43"),
    ("an invented reference", lambda t: f"{t} See @made-up.", "adds @made-up"),
    ("a lost footnote", lambda t: t.replace("⟦3⟧As noted by ⟦4⟧.⟦5⟧", "as ⟦4⟧ says"),
     "drops #footnote["),
    ("a lost formula", lambda t: t.replace("See ⟦6⟧ and", "Now see"), "drops $x^2$"),
    ("a lost address", lambda t: t.replace(" at ⟦8⟧.", " there, at last."),
     "drops https://a.org/b"),
    ("new code", lambda t: t.replace("*rather*", "#strong[rather]"), "adds #strong["),
    ("a LaTeX environment",
     lambda t: t + "\n\n\\begin{figure}x\\end{figure}",
     "This is a LaTeX environment (figure), not Typst."),
]  # fmt: skip


@pytest.mark.parametrize(("change", "warning"), [case[1:] for case in WARNED],
                         ids=[case[0] for case in WARNED])  # fmt: skip
def test_what_an_answer_lost_or_made_up_is_told_and_marked(
    change: Callable[[str], str], warning: str
) -> None:
    acted = act(THESIS, change, on=EFFECT)
    assert isinstance(acted.result, Applied)
    assert warning in acted.result.warnings
    assert f"! {warning}" in acted.proposals[0].verdict
    assert acted.result.warnings


def test_a_lost_heading_or_item_is_told() -> None:
    text = "= Title\n\nSome words.\n\n- one\n- two\n- three"
    acted = act(text, "Other words.\n\n- one\n- two and three")
    assert isinstance(acted.result, Applied)
    assert acted.result.warnings == ("drops a heading", "drops a list item")


def test_the_hunk_that_lost_something_is_the_one_that_is_marked() -> None:
    acted = act(
        THESIS, lambda t: t.replace("strong ⟦1⟧,", "clear").replace("See", "Look at"), on=EFFECT
    )
    assert [hunk.reason for hunk in acted.hunks] == ["! drops @fig-one", ""]


CURED = [
    ("**quite** strong", "*quite* strong"),
    ("\\textbf{quite} strong", "*quite* strong"),
    ("quite [strong](https://x.org/a)", 'quite #link("https://x.org/a")[strong]'),
]


@pytest.mark.parametrize(("leak", "typst"), CURED)
def test_markdown_and_latex_in_an_answer_become_typst(leak: str, typst: str) -> None:
    acted = act("It is rather strong here.", f"It is {leak} here.")
    assert acted.accepted == f"It is {typst} here."


def test_markdown_that_the_writer_wrote_stays_as_it_is() -> None:
    acted = act("It is **rather** strong.", "It was **rather** strong.")
    assert acted.accepted == "It was **rather** strong."


def test_a_translation_may_write_numbers_and_quotes_its_own_way() -> None:
    acted = act(
        'It was 3.5 or "so" in 1,000 runs.',
        "Es waren 3,5 oder „etwa“ in 1.000 Läufen.",
        action="translate",
        language="German",
    )
    assert isinstance(acted.result, Applied)
    assert acted.result.warnings == ()


CONTINUED = [
    ("It rains", "and it pours.", "It rains and it pours."),
    ("It rains.", "It pours.", "It rains. It pours."),
    ("It rains.\nIt snows.", "It pours. It stops.", "It rains.\nIt snows.\nIt pours.\nIt stops."),
    ("= Rain", "It pours.", "= Rain\n\nIt pours."),
    ("It rains. And so it goes on.", "It rains. And so it goes on. It pours.",
     "It rains. And so it goes on. It pours."),
    ("See @a.", "Yet ⟦1⟧ differs.", "See @a. Yet @a differs."),
    ("A #footnote[note] here.", "More ⟦1⟧ of it ⟦2⟧.", "A #footnote[note] here. More of it."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "answer", "whole"), CONTINUED)
def test_what_continues_a_passage_is_joined_as_it_is_written(
    text: str, answer: str, whole: str
) -> None:
    acted = act(f"{text}\n\nThe end.", answer, on=text, action="continue")
    assert acted.accepted == f"{whole}\n\nThe end."


def test_sources_and_numbers_that_a_continuation_makes_up_are_told() -> None:
    acted = act("It rains @a, 5 times.", "So says @b, 5 or 6 times, not @a.", action="continue")
    assert isinstance(acted.result, Applied)
    assert acted.result.warnings == ("adds @b", "adds 6")


def test_continuing_reads_what_comes_before_and_after() -> None:
    acted = act("one\n\ntwo\n\nthree", "more", on="two", action="continue")
    fragments, _ = acted.asked[0]
    assert (fragments.before, fragments.after) == ("one", "three")


EMPTY: list[tuple[str, EmptyReason | None]] = [
    ("", "no-content"),
    (" \n\n ", "no-content"),
    ("#set text(red)\n#let x = [hi there]", None),
    ("#set text(red)\n\n#x", "no-target"),
    ("$ a + b $", "no-target"),
    ("```\nwords here\n```", "no-target"),
    ("// words here", "no-target"),
    ("@a @b <c>", "no-target"),
    ("42 -- 43", "no-target"),
]


@pytest.mark.parametrize(("text", "reason"), EMPTY)
def test_without_prose_no_model_is_asked(text: str, reason: EmptyReason | None) -> None:
    acted = act(text, "other words")
    if reason is None:
        assert isinstance(acted.result, Applied)
    else:
        assert acted.result == Empty(reason=reason)
        assert acted.asked == []


@pytest.mark.parametrize("answer", ["", "  \n ", "<think>I cannot", "\x00"])
def test_an_answer_without_text_is_no_output(answer: str) -> None:
    acted = act("Some text here.", answer)
    assert acted.result == Empty(reason="no-output")
    assert acted.proposals == []


@pytest.mark.parametrize("answer", [
    "Some text\nhere.", '"Some text here."', "```\nSome text here.\n```", "Some text here.  ",
    "Here is the text:\n\nSome text here.",
])  # fmt: skip
def test_the_same_text_in_other_wrapping_is_no_change(answer: str) -> None:
    assert act("Some text here.", answer).result == Empty(reason="no-change")


REFUSED: list[tuple[str, Answer, str]] = [
    ("a novel", lambda t: "It was a dark and stormy night. " * 99, "nothing was proposed"),
    ("a failure of the model", ModelError("It is down."), "It is down."),
]


@pytest.mark.parametrize(("answer", "error"), [case[1:] for case in REFUSED],
                         ids=[case[0] for case in REFUSED])  # fmt: skip
def test_a_failed_answer_is_told_and_changes_nothing(answer: Answer, error: str) -> None:
    acted = act("Some text here.", answer)
    assert isinstance(acted.result, Failed)
    assert error in acted.result.error
    assert acted.proposals == []


def test_a_bug_ends_in_a_result_too() -> None:
    def broken(_: str) -> str:
        raise ZeroDivisionError

    acted = act("Some text here.", broken)
    assert isinstance(acted.result, Failed)
    assert "ZeroDivisionError" in acted.result.error


def test_a_bracket_that_belongs_to_text_outside_must_come_back() -> None:
    acted = act("A #footnote[first note] here.", "Quite another remark", on="note] here")
    assert isinstance(acted.result, Failed)
    assert "select whole sentences" in acted.result.error


def test_a_passage_that_is_too_long_costs_no_request() -> None:
    acted = act("some words\n" * 6364, "x")
    assert acted.result == Failed(
        error="The selection has 70,004 characters; at most 64,000 at once."
    )
    assert acted.asked == []


def test_too_many_changes_are_refused() -> None:
    text = "\n".join(f"{n} word\n" for n in range(300))
    acted = act(text, lambda t: t.replace("word", "term"))
    assert isinstance(acted.result, Failed)
    assert "select less" in acted.result.error


def test_a_read_only_document_is_refused_at_once() -> None:
    acted = act("Some text here.", "Other text here.", modifiable=False)
    assert acted.result == Failed(error="The document is read-only.")
    assert acted.asked == []


def test_a_passage_that_the_writer_changed_is_stale() -> None:
    def typed(editor: MemoryEditor, bufnr: int) -> None:
        editor.replace_lines(bufnr, 0, 1, ["Some more text here."])

    acted = act("Some text here.", "Other text here.", meanwhile=typed)
    assert acted.result == Stale()
    assert acted.proposals == []


def test_the_whole_document_is_worked_on_at_once() -> None:
    acted = act(THESIS, lambda t: t.replace("first item", "item one").replace("town", "city"))
    assert acted.accepted == THESIS.replace("first item", "item one").replace("town", "city")
    assert len(acted.hunks) == 2


def test_cancelling_ends_as_aborted() -> None:
    def cancel(_: str) -> str:
        raise asyncio.CancelledError

    assert act("Some text here.", cancel).result == Failed(aborted=True)


MISTAKES = [
    Mistake(start=0, end=3, message="typo", choices=("The",), kind="grammar"),
    Mistake(start=4, end=9, message="spelling", choices=("quick",), kind="spelling"),
    Mistake(start=10, end=13, message="style", choices=("vulpine",), kind="style"),
    Mistake(start=14, end=19, message="spelling", choices=("Jump",), kind="spelling"),
    Mistake(start=21, end=24, message="spelling", choices=("rat",), kind="spelling"),
]
SLIPS = "Teh quikc fox Zagol `cta`."


def test_rules_correct_slips_and_leave_names_taste_and_code() -> None:
    acted = act(SLIPS, None, action="fix", mistakes=MISTAKES)
    assert acted.accepted == "The quick fox Zagol `cta`."


def test_a_word_that_the_document_uses_all_the_time_is_no_slip() -> None:
    text = "A quikc fox. quikc, quikc."
    mistake = Mistake(start=2, end=7, message="spelling", choices=("quick",))
    acted = act(text, None, action="fix", mistakes=[mistake])
    assert acted.result == Empty(reason="no-change")


def test_suspicions_are_hints_for_a_model() -> None:
    acted = act(SLIPS, "The quick fox Zagol ⟦1⟧.", action="fix", mistakes=MISTAKES)
    assert "<hints>\nTeh → The (typo)\nquikc → quick (spelling)" in acted.asked[0][1].message
    assert acted.accepted == "The quick fox Zagol `cta`."


def test_without_a_model_only_fixing_is_possible() -> None:
    assert isinstance(act("Some text.", None).result, Failed)
    assert isinstance(act("Text ohne Englisch.", None, action="fix").result, Failed)


def test_personal_data_is_masked_everywhere_under_one_number_each() -> None:
    text = (
        "Ada King (born 1815) and Bob met at\n"
        "ada.king@example.org; Ada King has\n"
        'account DE89 3704 0044 0532 0130 00. #call("+49 30 1234567") @Bob'
    )
    answer = '```json\n[{"text": "Ada King", "kind": "NAME"}, {"text": "Bob", "kind": "NAME"}]\n```'
    acted = act(text, answer, action="redact")
    assert acted.accepted == (
        "█NAME 1█ (born 1815) and █NAME 2█ met at\n"
        "█EMAIL 1█; █NAME 1█ has\n"
        'account █ACCOUNT 1█. #call("█PHONE 1█") @Bob'
    )


def test_redacting_sends_nothing_but_the_passage() -> None:
    acted = act("secret before\n\nAda is here.\n\nsecret after", "[]", on="Ada is here.",
                action="redact")  # fmt: skip
    fragments, prompt = acted.asked[0]
    assert "secret" not in f"{fragments}{prompt}"
    assert acted.result == Empty(reason="no-change")


@pytest.mark.parametrize("answer", ["no JSON", "[1, 2]", '[{"text": 3}]', '[{"text": "x"}]', "[["])
def test_an_unreadable_list_of_entities_masks_what_patterns_find(answer: str) -> None:
    acted = act("Write to a.b@example.org now.", answer, action="redact")
    assert acted.accepted == "Write to █EMAIL 1█ now."


def test_an_own_action_may_write_new_paragraphs() -> None:
    own = custom("list", "List", "As a list.")
    acted = act("One and two.\n\nRest.", "- one\n- two", on="One and two.", action=own)
    assert acted.accepted == "- one\n- two\n\nRest."


def test_results_cross_the_door_as_plain_tables() -> None:
    applied = Applied(proposal="p", changes=2, warnings=("drops @a",))
    assert result_to_dict(applied) == {
        "status": "applied", "reason": "", "warnings": ["drops @a"], "proposal": "p", "changes": 2,
    }  # fmt: skip
    assert result_to_dict(Stale())["status"] == "stale"
    assert result_to_dict(Empty(reason="no-target"))["reason"] == "no-target"
    assert result_to_dict(Failed(aborted=True))["reason"] == "aborted"
    assert template("ask").parameter == "instructions"
