"""The compiler's text becomes values with exact places."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled import Compiled
from typstai.domain.diagnostic import Diagnostic
from typstai.typst.diagnostics import parse_diagnostics


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiled:
    monkeypatch.chdir(tmp_path)
    return Compiled()


def spot(text: str, item: Diagnostic) -> str:
    """The text that a finding stands under."""
    lines = text.encode().split(b"\n")
    if item.row0 == item.end_row0:
        return lines[item.row0][item.byte_col : item.end_byte_col].decode()
    first, last = lines[item.row0][item.byte_col :], lines[item.end_row0][: item.end_byte_col]
    return b"\n".join((first, *lines[item.row0 + 1 : item.end_row0], last)).decode()


PLACES = [
    ("a plain line", "#strnog[x]", "strnog"),
    ("after tabs", "\tab\t#strnog[x]\t", "strnog"),
    ("over tabs", '#text(size: "\ta\tbc\t\t")[x]', '"\ta\tbc\t\t"'),
    ("over a tab at an odd column", ' #text(size: "\ta\tbc\t")[x]', '"\ta\tbc\t"'),
    ("after wide characters", "日本語 ¿é#strnog[x]", "strnog"),
    ("after an emoji family", "👨‍👩‍👧‍👦 e\u0301 #strnog[x]", "strnog"),
    ("over an emoji family", '#text(size: "👨‍👩‍👧‍👦 日 é")[x]', '"👨‍👩‍👧‍👦 日 é"'),
    ("over combining marks", '#text(size: "e\u0301e\u0301")[x]', '"e\u0301e\u0301"'),
    ("over Tamil and Hangul jamo", '#text(size: "தொ ᄀᆞ x")[x]', '"தொ ᄀᆞ x"'),
    ("over hexagrams, wide in a terminal", '#text(size: "䷀䷀")[x]', '"䷀䷀"'),
    ("in a CRLF file", "one\r\ntwo #strnog[x]\r\nthree", "strnog"),
    ("over two lines", '#let x = ("a\n b" + 1)', '"a\n b" + 1'),
    ("over indented lines", '#text(\n  size: ("a",\n\t"b"),\n)[x]', '("a",\n\t"b")'),
    ("after a line separator", "a\u2028b #strnog[x]", "strnog"),
    ("after a form feed", "a\x0cb\n #strnog[x]", "strnog"),
    ("at nothing", "#let", ""),
]


@pytest.mark.parametrize(
    ("text", "under"), [case[1:] for case in PLACES], ids=[c[0] for c in PLACES]
)
def test_the_first_error_stands_under_the_right_text(
    compiled: Compiled, text: str, under: str
) -> None:
    assert spot(text, compiled.diagnose(text)[0]) == under


def test_an_editor_that_ends_lines_at_newlines_only_gets_its_own_rows(compiled: Compiled) -> None:
    first = compiled.diagnose("a\u2028b #strnog[x]")[0]
    assert (first.row0, first.byte_col) == (0, len("a\u2028b #".encode()))


def test_a_missing_thing_is_a_point_and_a_wrong_one_is_a_range(compiled: Compiled) -> None:
    missing, wrong = compiled.diagnose("#(1 2)")[0], compiled.diagnose("#if 1 [] else 2")[0]
    assert (missing.byte_col, missing.end_byte_col) == (3, 3)
    assert wrong.message.startswith("expected")


def test_all_errors_come_and_warnings_too(compiled: Compiled) -> None:
    found = compiled.diagnose('#set text(font: "Nope Font")\n@one @two')
    assert [(item.severity, item.row0) for item in found] == [
        ("warning", 0), ("error", 1), ("error", 1),
    ]  # fmt: skip


def test_hints_and_the_trace_belong_to_their_error(compiled: Compiled) -> None:
    found = compiled.diagnose('#let f(x) = {\n  x + 1\n}\n#f("a")')
    assert found[0].trace == ("main.typ:4:2: while calling `f`",)
    assert compiled.diagnose("#text(size: 12)[x]")[0].hints == (
        "a length needs a unit - did you mean 12pt?",
    )


def test_a_hint_of_several_lines_stays_one_hint(compiled: Compiled) -> None:
    text = (
        '#context { let n = counter("k").final().first()\n'
        'for _ in range(n + 1) { counter("k").step() } }'
    )
    hints = [hint for item in compiled.diagnose(text) for hint in item.hints]
    assert any("- run 1: 0\n" in hint for hint in hints)


def test_an_error_in_an_included_file_names_that_file(compiled: Compiled) -> None:
    first = compiled.diagnose('#include "part.typ"', part="= A\n#strnog")[0]
    assert (first.path, first.row0, first.byte_col) == ("part.typ", 1, 1)
    assert first.trace == ("main.typ:1:2: while including `part.typ`",)


def test_a_panic_cannot_forge_a_diagnostic(compiled: Compiled) -> None:
    forged = r"a\n\n  ┌─ other.typ:1:1\n\nerror: b\n  ┌─ other.typ:9:9\n  = hint: c"
    found = compiled.diagnose(f'#panic("{forged}")')
    assert [item.path for item in found] == ["main.typ"]
    assert found[0].message.startswith("panicked with: a\n")
    assert found[0].hints == ()


def test_a_finding_without_a_place_has_an_empty_path() -> None:
    found = parse_diagnostics("error: no place\n = hint: look around\n", source_of=lambda _: None)
    assert found == (
        Diagnostic(path="", severity="error", message="no place", hints=("look around",)),
    )


def test_a_file_that_cannot_be_read_still_gives_a_place() -> None:
    text = "error: odd\n  ┌─ @preview/x:1.0.0/lib.typ:3:4\n  │\n3 │ let é = 1\n  │     ^\n"
    item = parse_diagnostics(text, source_of=lambda _: None)[0]
    assert (item.path, item.row0, item.byte_col, item.end_byte_col) == (
        "@preview/x:1.0.0/lib.typ", 2, 4, 6,
    )  # fmt: skip


def test_empty_text_has_no_findings() -> None:
    assert parse_diagnostics("", source_of=lambda _: None) == ()


LINES = st.sampled_from(
    ["error: a", "warning: b", "help: while calling `f`", "  ┌─ main.typ:2:3", "  ┌─ x:999:999",
     "  │", "2 │ é日\tb", "  │  ^^^", "  │ ╭──^", "3 │ │ x", "  │ ╰──^", "  = hint: c", "", "    d"]
)  # fmt: skip


@given(st.lists(LINES, max_size=25).map("\n".join))
def test_any_output_is_read_without_an_error(output: str) -> None:
    for item in parse_diagnostics(output, source_of={"main.typ": "a\nb é日\tb\nc"}.get):
        assert (item.row0, item.byte_col) >= (0, 0)
