import pytest
from hypothesis import given
from hypothesis import strategies as st

from typstai.domain.match import find, find_all, refuse_broken_escapes, unique_excerpt
from typstai.errors import ToolError

TEXT = "one\ntwo two\n  three\nfour"


def code_of(text: str, search: str, occurrence: int | None = None) -> str:
    with pytest.raises(ToolError) as caught:
        find(text, search, occurrence=occurrence)
    return caught.value.code


def test_a_unique_text_is_found_where_it_stands() -> None:
    match = find(TEXT, "three")
    assert TEXT[match.start : match.end] == "three"
    assert match.exact


def test_a_text_that_occurs_twice_is_refused_with_its_lines() -> None:
    with pytest.raises(ToolError, match=r"2 times \(lines 2, 2\)"):
        find(TEXT, "two")


def test_an_occurrence_can_be_chosen() -> None:
    assert find(TEXT, "two", occurrence=2).start == TEXT.rindex("two")
    assert code_of(TEXT, "two", 3) == "no_such_occurrence"


def test_an_empty_search_is_refused() -> None:
    assert code_of(TEXT, "  \n") == "empty_search"


def test_a_miss_quotes_the_nearest_real_lines() -> None:
    with pytest.raises(ToolError, match=r"3:   three") as caught:
        find(TEXT, "threee")
    assert caught.value.code == "not_found"


def test_white_space_at_line_edges_is_forgiven_and_said() -> None:
    match = find(TEXT, "two two\nthree")
    assert TEXT[match.start : match.end] == "two two\n  three"
    assert not match.exact


def test_a_similar_line_is_never_taken_for_the_one_asked_for() -> None:
    assert code_of("The value is 12 cm.", "The value is 13 cm.") == "not_found"


def test_two_loose_matches_are_ambiguous() -> None:
    assert code_of("a\n b\na\n\tb", "a\nb") == "ambiguous"


def test_the_end_of_the_document_counts_as_a_line_end() -> None:
    match = find("first\nlast", "last\n")
    assert (match.start, match.end, match.exact) == (6, 10, True)


@given(st.text(max_size=60), st.data())
def test_every_excerpt_is_found_where_it_was_taken(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    excerpt = text[start:end]
    if not excerpt.strip():
        return
    assert all(text[match.start : match.end] == excerpt for match in find_all(text, excerpt))


BROKEN = [
    "a \times b", "\frac", "\x08eta", "\theta", "nul\x00", "\rho", "$\nabla f$", "$x\to y$",
    "\text{a}",
]  # fmt: skip


@pytest.mark.parametrize("text", BROKEN)
def test_an_escape_that_ate_a_backslash_is_refused(text: str) -> None:
    with pytest.raises(ToolError, match="backslash"):
        refuse_broken_escapes(text)


ORDINARY = ["plain\n\ttabbed", "a\r\nb", "日本語 é 👩‍👩‍👧", "a\n\tan apple\n\to be"]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_not_suspected(text: str) -> None:
    refuse_broken_escapes(text)


@given(st.text(alphabet="ab\n", min_size=1, max_size=40), st.data())
def test_a_widened_excerpt_occurs_only_once(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start, len(text)))
    first, last = unique_excerpt(text, start, end)
    assert first <= start
    assert last >= end
    excerpt = text[first:last]
    assert text.find(excerpt) == text.rfind(excerpt) == first
