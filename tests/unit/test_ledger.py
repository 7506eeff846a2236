from typstai.domain.edit import LineChange
from typstai.domain.ledger import MAX_READS, Ledger

PATH = "/p/a.typ"
LINES = tuple(f"line {number}" for number in range(10))


def test_an_unread_document_has_no_base() -> None:
    ledger = Ledger()
    assert ledger.base_of_rows(PATH, 0, 1) is None
    assert ledger.base_of_texts(PATH, ["line 1"]) is None


def test_only_the_part_that_was_shown_counts() -> None:
    ledger = Ledger()
    ledger.shown(PATH, LINES, 2, 5)
    assert ledger.base_of_rows(PATH, 2, 5) == LINES
    assert ledger.base_of_rows(PATH, 4, 6) is None
    assert ledger.base_of_texts(PATH, ["line 3\n"]) == LINES
    assert ledger.base_of_texts(PATH, ["line 3", "line 7"]) is None


def test_the_newest_read_wins() -> None:
    ledger = Ledger()
    newer = ("new", *LINES)
    ledger.shown(PATH, LINES, 0, 10)
    ledger.shown(PATH, newer, 0, 11)
    assert ledger.base_of_rows(PATH, 0, 3) == newer


def test_the_model_knows_what_it_wrote_itself() -> None:
    ledger = Ledger()
    ledger.shown(PATH, LINES, 0, 10)
    ledger.wrote(PATH, LINES, [LineChange(row0=1, old=("line 1",), new=("x", "y"))])
    assert ledger.base_of_texts(PATH, ["x\ny\nline 2"]) == ("line 0", "x", "y", *LINES[2:])
    assert ledger.base_of_rows(PATH, 0, 11) is not None


def test_a_read_that_its_own_edit_contradicts_is_forgotten() -> None:
    ledger = Ledger()
    ledger.shown(PATH, ("other 0", "other 1"), 0, 2)
    ledger.shown(PATH, LINES, 0, 10)
    ledger.wrote(PATH, LINES, [LineChange(row0=0, old=LINES[:2], new=("x",))])
    assert ledger.base_of_texts(PATH, ["other 1"]) is None


def test_old_reads_are_forgotten_first() -> None:
    ledger = Ledger()
    ledger.shown(PATH, ("first",), 0, 1)
    for _ in range(MAX_READS):
        ledger.shown(PATH, LINES, 0, 10)
    assert ledger.base_of_texts(PATH, ["first"]) is None
