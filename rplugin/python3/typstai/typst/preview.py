"""Finds the page on which a place of the source is, and draws it. Runs in the worker.

The compiler does not tell where a place of the source ends up, so invisible
marks are put before it and asked for their page. They stand only where they
change nothing: before a word, a heading or a call, and never glued to the text
before them.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import typst

from ..domain.preview import PagePreview
from .syntax import Node, Tree, parse

if TYPE_CHECKING:
    from PIL.Image import Image as Pixels

POINTS_PER_INCH = 72
RESOLUTION_PPI = 144
LONGEST_SIDE = 1568
"""Pixels: models scale larger images down to about this themselves."""

LOST = "The page of the cursor is not known; this is page 1."

_LABEL = "typstai-preview-"
_MARKED = frozenset(
    ("text", "strong content", "emphasized content", "reference", "equation", "link")
)
_SILENT = frozenset((
    "`let` expression", "`set` expression", "`show` expression", "`import` expression",
))  # fmt: skip
_OPAQUE = _SILENT | {"closure", "named pair", "heading", "equation"}
"""What stands in them may appear elsewhere, often, or never."""


def mark(text: str, row0: int, byte_col: int) -> tuple[str, int]:
    """The text with marks before the place, and how many, the outermost first.

    `row0` and `byte_col` count from 0 and may lie beyond the end of the text.
    """
    tree = parse(text)
    if tree is None:
        return text, 0
    data = text.encode()
    marked = _marked(tree, data, _offset(data, row0, byte_col))
    for number, node in reversed([*enumerate(marked)]):
        end = "\n" if node.kind == "heading" else ""  # it must begin its line
        inserted = f"#metadata(none)<{_LABEL}{number}>{end}".encode()
        data = data[: node.start] + inserted + data[node.start :]
    return data.decode(), len(marked)


def page_of_marks(compiler: typst.Compiler, count: int) -> int | None:
    """The page, from 1, of the innermost mark that is on one."""
    expression = (
        f'range({count}).rev().map(i => query(label("{_LABEL}" + str(i))))'
        ".flatten().map(it => it.location().page()).at(0, default: 0)"
    )
    return int(compiler.eval(expression)) or None


def draw(pdf: bytes, number: int, note: str = "") -> PagePreview:
    """The page of the PDF as a PNG within bounds."""
    import pypdfium2

    document: Any  # the library's types say less than it takes
    with pypdfium2.PdfDocument(pdf) as document:
        page = document[number - 1]
        scale = min(RESOLUTION_PPI / POINTS_PER_INCH, LONGEST_SIDE / max(page.get_size()))
        picture: Pixels = page.render(scale=scale).to_pil().convert("RGB")
        picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))  # sizes are rounded up
        target = io.BytesIO()
        picture.save(target, "PNG")
        return PagePreview(png=target.getvalue(), number=number, count=len(document), note=note)


def _offset(data: bytes, row0: int, byte_col: int) -> int:
    """The byte of a place, the last one at most."""
    lines = data.split(b"\n")
    if row0 >= len(lines):
        return max(0, len(data) - 1)
    before = sum(len(line) + 1 for line in lines[:row0])
    return min(before + min(byte_col, len(lines[row0])), max(0, len(data) - 1))


def _marked(tree: Tree, data: bytes, byte: int) -> Sequence[Node]:
    """What a mark can stand before: in the document itself, and in the passage of the place."""
    found: list[Node] = []
    for node in tree.path_at(byte):
        if node.kind in _OPAQUE:
            break
        if node.kind == "markup" and (last := _last(tree.children(node), data, byte)):
            found.append(last)
    return found if len(found) < 2 else sorted((found[0], found[-1]), key=lambda node: node.start)


def _last(children: Sequence[Node], data: bytes, byte: int) -> Node | None:
    """The last before the byte; in front of all that is seen, the first after it."""
    nodes = [
        node
        for node, following in zip_longest(children, children[1:])
        if _can_follow_a_mark(node, following) and _stands_apart(node.start, data)
    ]
    before = [node for node in nodes if node.start <= byte]
    return before[-1] if before else next(iter(nodes), None)


def _can_follow_a_mark(node: Node, following: Node | None) -> bool:
    if node.kind == "hash":
        return following is not None and following.kind not in _SILENT
    return node.kind in _MARKED or node.kind == "heading"


def _stands_apart(place: int, data: bytes) -> bool:
    return place == 0 or data[place - 1 : place] in (b" ", b"\t", b"\n", b"[")
