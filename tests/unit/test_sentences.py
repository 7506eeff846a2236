"""Which hunks a changed line of prose is cut into."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from typstai.domain.edit import apply_changes
from typstai.domain.proposal import Hunk, HunkRef, PendingHunk, by_line, whole_lines
from typstai.domain.sentences import by_sentence, sentences


def cut(old: str, new: str, least_bytes: int = 0) -> list[tuple[int | None, str, str]]:
    hunk = Hunk(id="h1", row0=0, old=(old,), new=(new,))
    found = by_sentence([hunk], least_bytes=least_bytes)
    return [(part.byte_col, part.old[0], part.new[0]) for part in found]


@pytest.mark.parametrize(
    "line",
    [
        "Siehe z. B. Müller und d. h. alle anderen",
        "This holds, e.g. Here it does not",
        "We show it in Fig. A and see cf. Smith et al. Nobody knows",
        "Am 3. Mai kam er",
        "It grew by 1. 5 percent",
        "J. R. R. Tolkien wrote",
        "See (one. Two. Three) here",
        "With $a. B. C$ inside",
        "An *emphasis. That goes* on",
        "and _so. Does this_ one",
        "#footnote[One. Two.] end",
        "an unclosed ( bracket. Then more. And more",
    ],
)
def test_no_cut_is_made_where_no_sentence_ends(line: str) -> None:
    assert sentences(line) == [line]


def test_sentences_end_with_their_quotes_brackets_and_blanks() -> None:
    assert sentences("Preis: 3 €. Gut.") == ["Preis: 3 €. ", "Gut."]
    line = "„Ja!“ Sie ging. (Er nicht.)  Wirklich? *Doch.* Ende… 一二。三四！Last"
    assert sentences(line) == [
        "„Ja!“ ", "Sie ging. ", "(Er nicht.)  ", "Wirklich? ", "*Doch.* ", "Ende… ", "一二。",
        "三四！", "Last",
    ]  # fmt: skip


def test_each_changed_sentence_is_a_hunk_with_its_own_bytes() -> None:
    old = "Schöne Welt. The same. It was bad."
    assert cut(old, "Große Welt. The same. It was good.") == [
        (0, "Schöne Welt.", "Große Welt."),
        (len("Schöne Welt. The same. ".encode()), "It was bad.", "It was good."),
    ]


def test_a_line_of_one_sentence_stays_whole() -> None:
    assert cut("One short line.", "One long line.") == [(None, "One short line.", "One long line.")]


def test_a_short_line_stays_whole_where_only_long_ones_are_cut() -> None:
    old, new = "One. Two.", "One! Two!"
    assert cut(old, new, least_bytes=160) == [(None, old, new)]


def test_code_stays_whole() -> None:
    old, new = '#let a = "One. Two."', '#let a = "One. Three."'
    assert cut(old, new) == [(None, old, new)]


def test_an_inserted_sentence_goes_with_the_one_before_it() -> None:
    assert cut("One here. Two there.", "One here. Quite new. Two there.") == [
        (0, "One here.", "One here. Quite new.")
    ]
    assert cut("One here. Two there.", "Quite new. One here. Two there.") == [
        (0, "One here.", "Quite new. One here.")
    ]


def test_a_deleted_sentence_takes_its_blank_along() -> None:
    assert cut("One here. Gone now. Two there.", "One here. Two there.") == [
        (0, "One here. Gone now.", "One here.")
    ]
    assert cut("One here. Two there. Gone now.", "One here. Two there.") == [
        (10, "Two there. Gone now.", "Two there.")
    ]


WORDS = [
    "the",
    "fox",
    "naïve",
    "日本語",
    "👩‍👩‍👧",
    "𝔘",
    "z. B.",
    "#strong[x]",
    "(a",
    "$x$",
    "_",
    "*",
]
ENDS = [". ", "! ", "? ", "… ", '." ', ".  ", "。", ".", " ", ""]
sentence = st.tuples(st.lists(st.sampled_from(WORDS), max_size=4), st.sampled_from(ENDS)).map(
    lambda pair: " ".join(pair[0]).capitalize() + pair[1]
)
paragraph = st.lists(sentence, max_size=6).map("".join)


@given(old=paragraph, new=paragraph, data=st.data())
def test_all_hunks_of_a_line_make_the_new_line_and_any_of_them_fit(
    old: str, new: str, data: st.DataObject
) -> None:
    assert "".join(sentences(old)) == old
    hunks = by_sentence([Hunk(id="h1", row0=0, old=(old,), new=(new,))])
    assert apply_changes([old], whole_lines([old], hunks)) == (new,)
    for hunk in hunks:
        if hunk.byte_col is not None:
            assert hunk.old[0]
            assert old.encode()[hunk.byte_col :].startswith(hunk.old[0].encode())
    some = [hunk for hunk in hunks if data.draw(st.booleans())]
    assert len(whole_lines([old], some)) == min(len(some), 1)


def test_hunks_of_one_line_are_one_change_of_it() -> None:
    pending = [
        PendingHunk(ref=HunkRef(proposal="p", hunk=f"h{col}"), row0=row0, byte_col=col, old=("a",),
                    new=("b",))
        for row0, col in ((0, None), (1, 0), (1, 2), (2, 0))
    ]  # fmt: skip
    assert by_line(pending) == [[0], [1, 2], [3]]
    changed = apply_changes(["a", "a a", "a"], whole_lines(["a", "a a", "a"], pending))
    assert changed == ("b", "b b", "b")
