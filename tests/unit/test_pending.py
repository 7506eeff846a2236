from hypothesis import given
from hypothesis import strategies as st

from typstai.domain.edit import LineChange, apply_changes
from typstai.domain.pending import compose, final_lines

CURRENT = ("a", "b", "c", "d")
HUNK = LineChange(row0=1, old=("b",), new=("B1", "B2"))


def changes_of(data: st.DataObject, lines: tuple[str, ...], mark: str) -> list[LineChange]:
    """Random changes that neither overlap nor touch."""
    found: list[LineChange] = []
    row = 0
    while row < len(lines):
        row += data.draw(st.integers(1, 3))
        count = data.draw(st.integers(0, 2))
        if row + count > len(lines):
            break
        new = tuple(mark for _ in range(data.draw(st.integers(0 if count else 1, 2))))
        found.append(LineChange(row0=row, old=lines[row : row + count], new=new))
        row += count + 1
    return found


def test_an_edit_elsewhere_leaves_the_pending_hunk_alone() -> None:
    edit = LineChange(row0=4, old=("d",), new=("D",))
    (composed,) = compose(CURRENT, [HUNK], [edit])
    assert composed.change == LineChange(row0=3, old=("d",), new=("D",))
    assert composed.takes_over == ()


def test_an_edit_of_pending_lines_takes_the_hunk_over() -> None:
    edit = LineChange(row0=2, old=("B2",), new=("B3",))
    (composed,) = compose(CURRENT, [HUNK], [edit])
    assert composed.change == LineChange(row0=1, old=("b",), new=("B1", "B3"))
    assert composed.takes_over == (0,)


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=10), st.data())
def test_what_is_left_pending_and_the_new_changes_give_the_edited_text(
    letters: list[str], data: st.DataObject
) -> None:
    current = tuple(letters)
    hunks = changes_of(data, current, "H")
    final = final_lines(current, hunks)
    edits = changes_of(data, final, "E")
    composed = compose(current, hunks, edits)
    taken = {index for item in composed for index in item.takes_over}
    left = [hunk for index, hunk in enumerate(hunks) if index not in taken]
    together = [*left, *(item.change for item in composed)]
    assert apply_changes(current, together) == apply_changes(final, edits)
