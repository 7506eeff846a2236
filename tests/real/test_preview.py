"""The page under the cursor: found by marks, drawn within bounds, from unsaved text."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PIL import Image as pillow

from typstai.domain.preview import PagePreview
from typstai.typst.compiler import CompilerOptions, TypstCompiler
from typstai.typst.preview import LONGEST_SIDE, mark

SMALL = "#set page(width: 200pt, height: 100pt)\n"
PAGES = f"{SMALL}One\n\n#pagebreak()\n= Two\nText\n#pagebreak()\nX\n"


@pytest.fixture
async def compiler() -> AsyncIterator[TypstCompiler]:
    made = TypstCompiler()
    yield made
    await made.close()


async def at(
    compiler: TypstCompiler, root: Path, text: str, row0: int, byte_col: int = 0,
    name: str = "main.typ", **files: str,
) -> PagePreview:  # fmt: skip
    """The page of a place in `name`, whose unsaved text is `text`."""
    for file, content in files.items():
        (root / f"{file}.typ").write_text(content, encoding="utf-8")
    path = str(root / name)
    overlay = {path: text}
    return await compiler.render(
        root=str(root), path=path, overlay=overlay, row0=row0, byte_col=byte_col
    )


def pixels(page: PagePreview) -> pillow.Image:
    return pillow.open(io.BytesIO(page.png), formats=["PNG"])


async def test_the_page_under_the_cursor_is_drawn(compiler: TypstCompiler, tmp_path: Path) -> None:
    pages = [await at(compiler, tmp_path, PAGES, row0) for row0 in (1, 5, 7)]
    assert [(page.number, page.count, page.note) for page in pages] == [
        (1, 3, ""), (2, 3, ""), (3, 3, "")
    ]  # fmt: skip
    assert {pixels(page).size for page in pages} == {(400, 200)}
    assert len({page.png for page in pages}) == 3


async def test_marks_leave_the_picture_as_it_was(compiler: TypstCompiler, tmp_path: Path) -> None:
    text = (
        '#set heading(numbering: "1.")\n= Head <a>\n- one\n- two *b*\n+ first\n+ second\n\n'
        "A word (x), $x$ @a.\n#table([a], [b])\n"
    )
    plain = await at(compiler, tmp_path, text, 0)
    for row0 in range(9):
        for byte_col in (0, 3, 8):
            assert (await at(compiler, tmp_path, text, row0, byte_col)).png == plain.png


@pytest.mark.parametrize(
    ("text", "row0", "page"),
    [
        ("#let a = [x]\n#set page(width: 99pt)\n= Head", 0, 1),
        ("x\n#pagebreak()\n= Heading\n", 2, 2),
        ("#outline()\n#pagebreak()\n= Heading *two*\ntext", 2, 2),
        ("x\n#pagebreak()\n- item ö\n- item", 3, 2),
        ("x\n#pagebreak()\n#table(\n  [a],\n  [b],\n)", 4, 2),
        ("x\n#[\n#pagebreak()\nwithin\n]\ny", 3, 2),
        ("x\n#pagebreak()\n#hide[]#let f(x) = [\n  often\n]\nend", 4, 2),
        ("x\n#pagebreak()\n#figure([body], caption: [\n  cap\n])", 3, 2),
        ("x\n#pagebreak()\n$ a + b $\n", 2, 2),
        ("x\n#pagebreak()\nhttps://a.b/c) d", 2, 2),
        ("x\n#pagebreak()\n/* a */ y // z\n", 99, 2),
        ("", 0, 1),
    ],
)
async def test_the_page_is_found_from_any_place(
    compiler: TypstCompiler, tmp_path: Path, text: str, row0: int, page: int
) -> None:
    assert (await at(compiler, tmp_path, text, row0, 2)).number == page


async def test_a_chapter_is_found_in_its_main_file(compiler: TypstCompiler, tmp_path: Path) -> None:
    (tmp_path / "typst.toml").touch()
    main = '#include "one.typ"\n#pagebreak()\n#include "two.typ"\n'
    page = await at(
        compiler, tmp_path, "= Two\nunsaved\n", 1, name="two.typ", main=main, one="x", two="y"
    )
    assert (page.number, page.count, page.note) == (2, 2, "")


async def test_text_that_is_on_no_page_shows_page_1_and_says_so(
    compiler: TypstCompiler, tmp_path: Path
) -> None:
    page = await at(compiler, tmp_path, "#let a = [\n unseen\n]\n", 1)
    assert page.png
    assert page.number == 1
    assert "page 1" in page.note


async def test_a_broken_document_is_one_sentence(compiler: TypstCompiler, tmp_path: Path) -> None:
    page = await at(compiler, tmp_path, "text\n\n#nothing\n", 0)
    assert not page.png
    assert page.note == "The document does not compile: unknown variable: nothing (main.typ:3)."


async def test_a_page_is_drawn_within_bounds(compiler: TypstCompiler, tmp_path: Path) -> None:
    for size in ("width: 9000pt, height: 400pt", "width: 100pt, height: 100000pt"):
        page = await at(compiler, tmp_path, f"#set page({size})\nx", 1)
        assert 1 <= min(pixels(page).size) <= max(pixels(page).size) <= LONGEST_SIDE


async def test_an_endless_document_is_stopped_and_the_next_page_is_drawn(tmp_path: Path) -> None:
    impatient = TypstCompiler(CompilerOptions(timeout_s=2))
    endless = "#for i in range(100000) { for j in range(10000) { if j < 0 { j } } }"
    assert "stopped after 2 s" in (await at(impatient, tmp_path, endless, 0)).note
    assert (await at(impatient, tmp_path, "x", 0)).png
    await impatient.close()


async def test_a_check_and_a_page_share_one_worker(compiler: TypstCompiler, tmp_path: Path) -> None:
    await at(compiler, tmp_path, "x", 0)
    worker = compiler.worker_pid
    path = str(tmp_path / "main.typ")
    result = await compiler.check(root=str(tmp_path), path=path, overlay={path: "#nothing"})
    assert [item.severity for item in result.diagnostics] == ["error"]
    assert compiler.worker_pid == worker


def test_a_text_that_nests_too_deep_is_left_without_marks() -> None:
    deep = "[" * 1000
    assert mark(deep, 0, 0) == (deep, 0)
