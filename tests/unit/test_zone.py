"""Where in a Typst document a typed word would be prose."""

import pytest

from typstai.typst.syntax import MAX_NESTING
from typstai.typst.zone import is_prose_at

PROSE = [
    "Plain words",
    "= A heading",
    "- an item",
    "/ Term: its",
    "after $x + y$",
    "after `raw` and",
    "after #strong[bold] and",
    "*bold wor",
    "#strong[bold wor",
    '#figure(\n  image("a.png"),\n  caption: [A plot of',
    "#show: doc => conf(title: [My first",
    "#footnote[See the",
    "```\nraw\n```\nText",
    "(in brackets",
    "costs 5\\$ and",
    "日本語 #emph[é] 𝒳",
]
OTHER = [
    "Let $x + y",
    "$ a + b\n  = c",
    "See `raw",
    "```py\nfoo = 1",
    "#let x = 5",
    "#let x = 5em ",
    "#let f(x) = {\n  let y = 1\n  y",
    '#set text(lang: "de")',
    '#set text(lang: "de',
    '#import "a.typ": b',
    '#image("a.png")',
    "#pagebreak() ",
    "#figure(\n  image(",
    "#foo",
    "see @ref",
    "= Heading <lab",
    "// a comment",
    "text /* a comment",
    "https://typst.app/do",
    "é $𝒳",
]


@pytest.mark.parametrize("below", ["", "\n\nMore.\n", "]\n"])
@pytest.mark.parametrize("above", PROSE)
def test_prose_is_found(above: str, below: str) -> None:
    assert is_prose_at(f"Before.\n\n{above}", below)


@pytest.mark.parametrize("below", ["", "\n\nMore.\n"])
@pytest.mark.parametrize("above", OTHER)
def test_what_is_no_prose_is_found(above: str, below: str) -> None:
    assert not is_prose_at(f"Before.\n\n{above}", below)


def test_a_text_that_nests_too_deep_counts_as_none() -> None:
    assert not is_prose_at("(" * (MAX_NESTING + 1), "")
