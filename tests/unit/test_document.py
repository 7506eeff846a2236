"""Positions in a snapshot: rows, offsets in code points, byte columns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from typstai.domain.document import Snapshot

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def snapshot(text: str) -> Snapshot:
    return Snapshot(bufnr=1, path="", tick=1, lines=tuple(text.split("\n")))


def test_only_a_newline_ends_a_line() -> None:
    taken = snapshot("a\u2028b\x85c\x0bd\re\nf")
    assert taken.lines == ("a\u2028b\x85c\x0bd\re", "f")
    assert taken.text == "a\u2028b\x85c\x0bd\re\nf"


def test_line_starts_count_code_points() -> None:
    assert snapshot("日本\n\ne\u0301x").line_starts == (0, 3, 4)
    assert snapshot("").line_starts == (0,)


@pytest.mark.parametrize(("offset", "row"), [(0, 0), (2, 0), (3, 1), (4, 2), (7, 2)])
def test_an_offset_lies_on_the_line_that_holds_it(offset: int, row: int) -> None:
    assert snapshot("日本\n\ne\u0301x").row_at(offset) == row


@pytest.mark.parametrize(
    ("byte_col", "offset"), [(0, 3), (3, 4), (7, 5), (8, 6), (99, 6), (1, 3), (5, 4)]
)
def test_a_byte_column_becomes_an_offset_and_never_splits_a_character(
    byte_col: int, offset: int
) -> None:
    assert snapshot("ab\n日🙂x").offset_at(1, byte_col) == offset


@given(texts)
def test_rows_and_byte_columns_lead_back_to_every_offset(text: str) -> None:
    taken = snapshot(text)
    for offset in range(len(text) + 1):
        row = taken.row_at(offset)
        prefix = text[taken.line_starts[row] : offset]
        assert taken.offset_at(row, len(prefix.encode())) == offset
