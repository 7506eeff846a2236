"""Fixes for compiler errors: applied, the error is gone; in doubt, there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled import Compiled, apply
from typstai.domain.diagnostic import Diagnostic, Fix
from typstai.typst.names import compiler_names, edit_distance, nearest
from typstai.typst.quickfix import known_fix

FIXED = [
    ("#strnog[x]", "#strong[x]"),
    ("日é #pagebrek()", "日é #pagebreak()"),
    ("#Text[x]", "#text[x]"),
    ("#let colour = red; #text(fill: coluor)[x]", "#let colour = red; #text(fill: colour)[x]"),
    ("#align(centre)[x]", "#align(center)[x]"),
    ("#True", "#true"),
    ("#null", "#none"),
    ("#let x = 3; #let y = 2; #(x-y)", "#let x = 3; #let y = 2; #(x - y)"),
    ("#sin(1)", "#calc.sin(1)"),
    ("$alhpa$", "$alpha$"),
    ("$xy$", "$x y$"),
    ("$v_speed$", '$v_"speed"$'),
    ("#calc.sine(1)", "#calc.sin(1)"),
    ('#"abc".repalce("a", "b")', '#"abc".replace("a", "b")'),
    ("#text(siez: 3pt)[x]", "#text(size: 3pt)[x]"),
    ("#set text(siez: 3pt)", "#set text(size: 3pt)"),
    ("#text(color: red)[x]", "#text(fill: red)[x]"),
    ("#table(colums: 2)[a]", "#table(columns: 2)[a]"),
    ("#let f(a, colour: red) = a\n#f(1, color: blue)",
     "#let f(a, colour: red) = a\n#f(1, colour: blue)"),
    ("#text(size: 12)[x]", "#text(size: 12pt)[x]"),
    ("#let x = 5 pt", "#let x = 5pt"),
    ("#h(3 cm)", "#h(3cm)"),
    ('#text(weight: "bould")[x]', '#text(weight: "bold")[x]'),
    ("#{ #let x = 1 }", "#{ let x = 1 }"),
    ("#if !true [a]", "#if not true [a]"),
    ("#{true && false}", "#{true and false}"),
    ("#{true || false}", "#{true or false}"),
    ("#{if true {1} elif false {2}}", "#{if true {1} else if false {2}}"),
    ("#for x of (1, 2) []", "#for x in (1, 2) []"),
    ("#let let = 1", "#let let_ = 1"),
    ("a ] b", "a \\] b"),
    ("#(1 2)", "#(1, 2)"),
    ("#table(columns: 2, [a] [b])", "#table(columns: 2, [a], [b])"),
    ("#set text(12pt", "#set text(12pt)"),
    ("#text[bold", "#text[bold]"),
    ('#link("x"[y]', '#link("x")[y]'),
    ("#text(size: 12pt[bold]", "#text(size: 12pt)[bold]"),
    ("#figure(\n  rect(),\n  caption: [x]\n\nNext",
     "#figure(\n  rect(),\n  caption: [x]\n)\n\nNext"),
    ("#figure(\r\n  rect(),\r\n\r\nNext", "#figure(\r\n  rect(),\n)\r\n\r\nNext"),
    ("the value $x is large", "the value $x$ is large"),
    ("we have $x + y = 3, and then", "we have $x + y = 3$, and then"),
    ("$ x^2", "$ x^2 $"),
    ("*bold text", "*bold text*"),
    ("5 * 3", "5 \\* 3"),
    ("`code here", "`code here`"),
    ('#let x = "abc\n', '#let x = "abc"\n'),
    ("#set heading(numbering: \"1.\")\n= A <sec:intro>\nsee @sec:itro",
     "#set heading(numbering: \"1.\")\n= A <sec:intro>\nsee @sec:intro"),
    ("#set heading(numbering: \"1.\")\n= A <sec:intro>\nsee #ref(<intro>)",
     "#set heading(numbering: \"1.\")\n= A <sec:intro>\nsee #ref(<sec:intro>)"),
]  # fmt: skip

IN_DOUBT = [
    "#rect(width: 50)",  # points or percent
    "#let x = 5px",  # not the size of a point
    "#f",
    "#foo[x]",
    "#set text(fill: \"red\")",
    "#let x = 1; #(x-y)",
    "= A <fig:1>\n@fig:2",
    "#image(\"nofile.png\")",
    "#lorem(\"10\")",
    "*A line of a great many words that was hardly meant to be bold",
    "#text(fill: red, color: blue)[x]",
    "#rect(1 +)",
    "$abc$",
]  # fmt: skip


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiled:
    monkeypatch.chdir(tmp_path)
    return Compiled()


def first_fix(text: str, errors: list[Diagnostic]) -> Fix | None:
    return next(filter(None, (known_fix(text, item) for item in errors)), None)


@pytest.mark.parametrize(("text", "fixed"), FIXED, ids=[case[0][:30] for case in FIXED])
def test_after_the_fix_the_compiler_has_no_error(compiled: Compiled, text: str, fixed: str) -> None:
    errors = compiled.errors(text)
    fix = first_fix(text, errors)
    assert errors
    assert fix is not None
    assert apply(text, fix) == fixed
    assert [item for item in compiled.errors(fixed) if "numbering" not in item.message] == []


@pytest.mark.parametrize("text", IN_DOUBT)
def test_in_doubt_there_is_no_fix(compiled: Compiled, text: str) -> None:
    errors = compiled.errors(text)
    assert errors
    assert first_fix(text, errors) is None


def test_an_unknown_font_is_not_replaced(compiled: Compiled) -> None:
    text = '#set text(font: "Libertinus Serifs")\nx'
    (warning,) = compiled.diagnose(text)
    assert known_fix(text, warning) is None


def test_labels_of_other_files_and_citation_keys_count(compiled: Compiled) -> None:
    text = "See @knuht1984tex."
    (error,) = compiled.errors(text)
    assert known_fix(text, error) is None
    fix = known_fix(
        "See @knuht1984tex.", compiled.errors("See @knuht1984tex.")[0], ["knuth1984tex"]
    )
    assert fix is not None
    assert fix.new == "knuth1984tex"


def test_the_title_says_what_the_fix_does(compiled: Compiled) -> None:
    text = "#strnog[x]"
    fix = known_fix(text, compiled.errors(text)[0])
    assert fix is not None
    assert fix.title == "write strong instead of strnog"


def test_a_place_beyond_the_text_gives_no_error() -> None:
    item = Diagnostic(path="a.typ", severity="error", message="unclosed delimiter", row0=9)
    assert known_fix("x", item) is None


def test_names_come_from_the_installed_compiler(compiled: Compiled) -> None:
    names = compiler_names()
    for name in sorted(names.callable | names.values):
        assert compiled.errors(f"#let _ = {name}") == [], name


@pytest.mark.parametrize(
    ("left", "right", "errors"),
    [
        ("abc", "abc", 0),
        ("abc", "acb", 1),
        ("", "ab", 2),
        ("strnog", "strong", 1),
        ("ca", "abc", 3),
    ],
)
def test_a_swap_of_neighbours_is_one_error(left: str, right: str, errors: int) -> None:
    assert edit_distance(left, right) == errors


def test_a_word_between_two_candidates_means_neither() -> None:
    assert nearest("headinx", ["heading", "headink"]) is None
    assert nearest("rest", ["rect", "text"]) is None


MESSAGES = st.sampled_from(
    ["unknown variable: strnog", "unexpected argument: siez", "unclosed delimiter",
     "unclosed string", "unclosed raw text", "label `<a:b>` does not exist in the document",
     "module `calc` does not contain `sine`", "type string has no method `repalce`",
     "expected comma", "expected keyword `in`", "expected length, found integer",
     "expected \"left\" or \"right\", found string", "unexpected closing bracket"]
)  # fmt: skip
SOURCES = st.lists(
    st.sampled_from(
        [*'#([{$*_"`)]}<>é日 \n', "strnog", "siez: 1", "let x = ", "\r\n", "of", "text"]
    ),
    max_size=25,
).map("".join)


@given(text=SOURCES, message=MESSAGES, row0=st.integers(0, 3), col=st.integers(0, 9))
def test_any_error_anywhere_gives_a_fix_inside_the_text_or_none(
    text: str, message: str, row0: int, col: int
) -> None:
    item = Diagnostic(
        path="a.typ", severity="error", message=message,
        row0=row0, byte_col=col, end_row0=row0, end_byte_col=col + 3,
    )  # fmt: skip
    fix = known_fix(text, item)
    if fix is not None:
        assert apply(text, fix) != text
