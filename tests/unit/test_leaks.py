"""Markdown and LaTeX in Typst are found and cured; everything else is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled import Compiled, apply
from typstai.typst import latex
from typstai.typst.leaks import find_leaks

CURED = [
    ("# Title\nText", "= Title\nText"),
    ("## Größe\n### Part", "== Größe\n=== Part"),
    ("a **bold** word", "a *bold* word"),
    ("a **bold\nword** on", "a *bold\nword* on"),
    ("un**re**al", "un#strong[re]al"),
    ("a ***strong*** word", "a *_strong_* word"),
    ("a __bold__ word", "a *bold* word"),
    ("a ~~wrong~~ word", "a #strike[wrong] word"),
    ("see [text](https://a.b/c)", 'see #link("https://a.b/c")[text]'),
    ("![a cat](cat.png)", '#image("cat.png", alt: "a cat")'),
    ("* one\n* two", "- one\n- two"),
    ("Text\n\n* one", "Text\n\n- one"),
    ("| a | b |\n|---|:-:|\n| 1 | 2 |",
     "#table(\n  columns: 2,\n  table.header([a], [b]),\n  [1], [2],\n)"),
    ("\\section{One}", "= One"),
    ("\\subsection{Two \\textbf{x}}", "== Two *x*"),
    ("\\subsection{Two} \\label{sec:two}", "== Two <sec:two>"),
    ("a \\textbf{bold \\emph{and} so} word", "a *bold _and_ so* word"),
    ("\\cite{a,b} and \\cite[p. 3]{c}", "@a @b and @c[p. 3]"),
    ("see \\ref{fig:one}.", "see @fig:one."),
    ("\\href{https://a.b}{\\emph{x}}", '#link("https://a.b")[_x_]'),
    ("x\\footnote{A \\texttt{b}.}", "x#footnote[A `b`.]"),
    ("\\begin{itemize}\n  \\item One\n  \\item \\emph{Two}\n\\end{itemize}", "- One\n- _Two_"),
    ("\\begin{equation}\n  a = \\frac{1}{2}\n\\end{equation}", "$ a = frac(1, 2) $"),
    ("angle \\alpha here", "angle $alpha$ here"),
    ("half \\frac{1}{2} here", "half $frac(1, 2)$ here"),
    ("mass 10^{-5} kg", "mass $10^(-5)$ kg"),
    ("$$x^2 \\cdot y$$", "$ x^2 dot.op y $"),
    ("$\\frac{a}{b}$", "$frac(a, b)$"),
    ("$\\frac{x, y}{\\text{if so}}$", '$frac(x\\, y, "if so")$'),
    ("$\\sqrt[3]{x} \\times \\sqrt{y}$", "$root(3, x) times sqrt(y)$"),
    ("$x_{ij}^{-5}$", "$x_(i j)^(-5)$"),
    ("$2\\pi r$", "$2 pi r$"),
    ("$\\left( \\alpha \\right)$", "$( alpha )$"),
    ("$\\sum_{i=0}^{n} \\hat{x} \\in \\mathbb{R}$", "$sum_(i=0)^(n) hat(x) in bb(R)$"),
    ("set text(size: 12pt)\nHello", "#set text(size: 12pt)\nHello"),
    ('import "lib.typ": *', '#import "lib.typ": *'),
]  # fmt: skip

QUIET = [
    "= Title\n\nA *bold* and _soft_ word, #link(\"a\")[b](c), `**raw**`, @ref, <label>",
    "```md\n# Title\n**bold** [a](https://b.c)\n```",
    "```tex\n\\section{One} $\\frac{a}{b}$\n```",
    "// # Title **bold** \\section{x}\n/* \\textbf{x} */",
    '#let x = "**bold** # not \\\\frac{a}{b} [a](https://b.c)"',
    "#{\n  let a = 2 * 3 * 4\n}",
    "#f[a](https)",
    "$ x_(i) \"text_{a}\" {x | x > 0} $",
    "#table(columns: 2, [*a*], [_b_])",
    "5 * 3 and snake__case__name, C# and \\# and a~b",
    "C:\\text{a} and \\u{1F600} and C:\\times",
    "| not | a table |",
    "set theory is fun; import duties; show me",
    "The set (a, b).",
    "#show: doc => [\n  #set text(size: 1pt)\n  #doc\n]",
    "* bold over\n two lines *",
]  # fmt: skip


def cure(text: str) -> str:
    """Apply the first fix until none is left."""
    for _ in range(50):
        fixes = [leak.fix for leak in find_leaks(text) if leak.fix]
        if not fixes:
            return text
        text = apply(text, fixes[0])
    raise AssertionError(f"never ends: {text}")


@pytest.mark.parametrize(("text", "cured"), CURED, ids=[case[0][:30] for case in CURED])
def test_a_leak_is_cured(text: str, cured: str) -> None:
    assert cure(text) == cured


@pytest.mark.parametrize("text", QUIET)
def test_what_is_typst_is_left_alone(text: str) -> None:
    assert find_leaks(text) == ()


@pytest.mark.parametrize("folder", ["simple-typst-thesis", "tour-of-typst", "templates"])
def test_real_documents_have_no_false_alarm(corpus: Path, folder: str) -> None:
    files = sorted((corpus / folder).rglob("*.typ"))
    found = {str(file): find_leaks(file.read_text(encoding="utf-8")) for file in files}
    assert len(files) > 1
    assert {file: leaks for file, leaks in found.items() if leaks} == {}


def test_a_leak_is_a_warning_of_ours_at_its_place() -> None:
    leak = find_leaks("ü **bold** x\n")[0]
    assert (leak.source, leak.severity) == ("typstai", "warning")
    assert (leak.row0, leak.byte_col, leak.end_byte_col) == (0, 3, 11)
    assert leak.message == "This is Markdown bold, not Typst."


def test_an_unknown_command_is_told_without_a_cure() -> None:
    leak = find_leaks("$\\unknowncommand{x}$")[0]
    assert leak.fix is None


def test_only_the_outermost_of_nested_leaks_is_told() -> None:
    leaks = find_leaks("**[text](https://a.b)**")
    assert len(leaks) == 1


def test_every_translated_symbol_and_function_compiles_without_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    compiled = Compiled()
    formulas = [f"\\{name}" for name in latex.SYMBOLS] + [
        "\\" + name + "{a}" * 2 for name in latex.FUNCTIONS
    ]
    typst = {source: latex.math_to_typst(f"x {source} y") for source in formulas}
    assert None not in typst.values()
    bad = {source: compiled.diagnose(f"${new}$") for source, new in typst.items()}
    assert {source: found for source, found in bad.items() if found} == {}


def test_nesting_without_end_is_refused_not_followed() -> None:
    assert find_leaks("$" + "\\frac{" * 400 + "$") == ()
    assert find_leaks("**a** #" + "(" * 20_000) == ()
    deep = "$" + "\\hat" * 300 + " x$"
    assert all(leak.fix is None or len(leak.fix.new) < 1_000 for leak in find_leaks(deep))


PIECES = (
    r"** __ ~~ # \ { } [ ]( ) $ $$ \frac \textbf \begin{itemize} \end{itemize} \item _{ ^{ a 日 "
    r'" ` ``` // /* #let <a> @b \sqrt[ ] \cite \left * \section'
)
TEXTS = st.lists(st.sampled_from([*PIECES.split(), "\n", "\n\n", " "]), max_size=40)


@given(TEXTS.map("".join))
def test_any_text_is_read_without_an_error_and_fixes_lie_in_it(text: str) -> None:
    for leak in find_leaks(text):
        assert (leak.row0, leak.byte_col) <= (leak.end_row0, leak.end_byte_col)
        if leak.fix:
            apply(text, leak.fix)
