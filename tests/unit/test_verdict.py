from typstai.domain.diagnostic import CheckResult, Diagnostic
from typstai.domain.proposal import Hunk
from typstai.domain.verdict import compare, warning_parts

HUNKS = [Hunk(id="h1", row0=4, old=("x",), new=("y", "z"))]


def result(*errors: tuple[str, int, str], status: str = "checked", note: str = "") -> CheckResult:
    found = tuple(
        Diagnostic(path=path, row0=row0, severity="error", message=message)
        for path, row0, message in errors
    )
    return CheckResult(status=status, diagnostics=found, note=note)  # type: ignore[arg-type]


def test_a_fixed_error_is_counted() -> None:
    verdict = compare(result(("a.typ", 4, "bad")), result(), "a.typ", HUNKS)
    assert verdict.line() == "fixes 1 error, adds none"


def test_an_error_that_only_moved_is_neither_fixed_nor_new() -> None:
    verdict = compare(result(("a.typ", 9, "bad")), result(("a.typ", 10, "bad")), "a.typ", HUNKS)
    assert verdict.line() == "compiles as before"


def test_an_error_in_the_lines_written_is_added() -> None:
    verdict = compare(result(), result(("a.typ", 5, "worse")), "a.typ", HUNKS)
    assert verdict.line() == "adds 1 error"
    assert "a.typ:6: worse" in verdict.for_model()


def test_an_error_elsewhere_is_uncovered_not_added() -> None:
    verdict = compare(result(("a.typ", 4, "bad")), result(("b.typ", 0, "hidden")), "a.typ", HUNKS)
    assert verdict.line() == "fixes 1 error, adds none, uncovers 1 error"


def test_two_equal_errors_of_which_one_is_fixed_count_once() -> None:
    before = result(("a.typ", 4, "bad"), ("a.typ", 9, "bad"))
    verdict = compare(before, result(("a.typ", 10, "bad")), "a.typ", HUNKS)
    assert verdict.fixed == 1


def test_what_could_not_be_checked_is_never_called_clean() -> None:
    verdict = compare(result(), result(status="timeout", note="took too long"), "a.typ", HUNKS)
    assert verdict.line() == "not checked: took too long"


def test_warnings_of_a_kind_share_one_mark_and_one_verb() -> None:
    found = ["drops @a", "drops @b", "42 → 43", "adds #f", "adds #g"]
    assert warning_parts(found) == ["! drops @a, @b", "! 42 → 43", "! adds #f, #g"]
