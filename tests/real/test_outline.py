"""Sections of real documents, by Typst's own parser."""

from pathlib import Path

import pytest

from typstai.domain.outline import Section
from typstai.typst.outline import TypstOutline

TEXT = """\
= One <a>
text
#figure[
= inside
] <b>
== *Bold* title
=== Deep
== Bare

= Two // why
text <c>
#pagebreak()
#set page(
  flipped: true)
// done
=
"""


async def sections(text: str) -> list[Section]:
    found = await TypstOutline().sections(text.split("\n"))
    assert found is not None
    return list(found)


async def test_headings_are_found_with_their_titles_labels_and_rows() -> None:
    assert [item.level for item in await sections(TEXT)] == [1, 2, 3, 2, 1, 1]
    assert [(item.path, item.label, item.start, item.end) for item in await sections(TEXT)] == [
        (("One",), "a", 0, 8),
        (("One", "*Bold* title"), "", 5, 7),
        (("One", "*Bold* title", "Deep"), "", 6, 7),
        (("One", "Bare"), "", 7, 8),
        (("Two",), "", 9, 11),
        (("",), "", 15, 16),
    ]


@pytest.mark.parametrize("text", ["", "no heading", "\n\n", "$= x$", "// = A", "`= A`", "x = y"])
async def test_a_text_without_headings_has_no_sections(text: str) -> None:
    assert await sections(text) == []


async def test_characters_of_many_bytes_move_no_row() -> None:
    (first, second) = await sections("日本語 👩‍👩‍👧\n= Ü\n𝔘\n\n= B")
    assert (first.title, first.start, first.end) == ("Ü", 1, 3)
    assert (second.start, second.end) == (4, 5)


async def test_every_section_of_the_corpus_begins_with_its_heading(corpus: Path) -> None:
    count = 0
    for path in sorted(corpus.rglob("*.typ")):
        text = path.read_text(encoding="utf-8", errors="replace")
        lines = text.split("\n")
        for item in await TypstOutline().sections(lines) or ():
            count += 1
            assert "=" in lines[item.start], (path, item)
            assert item.title.split("\n")[0] in lines[item.start]
            assert item.start < item.end <= len(lines)
            assert lines[item.end - 1].strip()
    assert count > 300
