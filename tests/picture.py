"""Draws the cells of a terminal as a picture, with the monospaced font inside the Typst compiler.

So a picture is the same on every machine, and no font must be found or installed.
"""

from __future__ import annotations

import io
import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import typst
from PIL import Image

FOREGROUND = "#e0e2ea"
BACKGROUND = "#14161b"
PIXELS_PER_INCH = 108.0
PALETTE_COLOURS = 64

_SOURCE = b"""
#let screen = json(bytes(sys.inputs.screen))
#let (wide, high) = (10pt, 19pt)
#set page(
  width: screen.columns * wide + 2 * wide, height: screen.lines * high + 1.2 * wide,
  margin: (x: wide, y: 0.6 * wide), fill: rgb(screen.background),
)
#set text(
  font: "DejaVu Sans Mono", size: wide / 0.60205, ligatures: false, kerning: false,
  top-edge: 0.928em, bottom-edge: -0.236em, hyphenate: false,
)
#let at(item, body) = place(dx: item.column * wide, dy: item.row * high, body)
#for item in screen.fills {
  at(item, rect(width: item.cells * wide, height: high, fill: rgb(item.colour)))
}
#for item in screen.words {
  at(item, text(
    fill: rgb(item.colour), weight: if item.bold { "bold" } else { "regular" },
    style: if item.italic { "oblique" } else { "normal" }, item.text,
  ))
}
#for item in screen.strokes {
  at(item, move(dy: item.height * high, line(
    length: item.cells * wide, stroke: 1pt + rgb(item.colour),
  )))
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One column of one row; `text` is empty behind a wide character."""

    text: str
    fore: str | None
    back: str | None
    reverse: bool = False
    bold: bool = False
    italic: bool = False
    underline: bool = False
    strike: bool = False

    @property
    def ink(self) -> str:
        return self.fore or (BACKGROUND if self.reverse else FOREGROUND)

    @property
    def paper(self) -> str:
        return self.back or (FOREGROUND if self.reverse else BACKGROUND)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A screen: rows of cells, and row and column of the cursor when it is shown."""

    rows: Sequence[Sequence[Cell]]
    cursor: tuple[int, int] | None


def draw(look: Look, path: Path) -> None:
    """Write the screen to `path` as a PNG with a palette."""
    inputs = {"screen": json.dumps(_screen(look))}
    drawn = typst.compile(
        _SOURCE, format="png", ppi=PIXELS_PER_INCH, sys_inputs=inputs, ignore_system_fonts=True
    )
    assert isinstance(drawn, bytes)
    with Image.open(io.BytesIO(drawn)) as image:
        small = image.convert("RGB").quantize(PALETTE_COLOURS, dither=Image.Dither.NONE)
    path.parent.mkdir(parents=True, exist_ok=True)
    small.save(path, optimize=True)


def _screen(look: Look) -> dict[str, Any]:
    fills = [item for row, cells in enumerate(look.rows) for item in _fills(row, cells)]
    if look.cursor:
        row, column = look.cursor
        fills.append({"row": row, "column": column, "cells": 0.2, "colour": FOREGROUND})
    return {
        "columns": len(look.rows[0]),
        "lines": len(look.rows),
        "background": BACKGROUND,
        "fills": fills,
        "words": [item for row, cells in enumerate(look.rows) for item in _words(row, cells)],
        "strokes": [item for row, cells in enumerate(look.rows) for item in _strokes(row, cells)],
    }


def _fills(row: int, cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Backgrounds that differ from the terminal's own."""
    for colour, group in groupby(enumerate(cells), key=lambda pair: pair[1].paper):
        columns = [column for column, _ in group]
        if colour != BACKGROUND:
            yield {"row": row, "column": columns[0], "cells": len(columns), "colour": colour}


def _words(row: int, cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Runs of one look without blanks; what is not ASCII stands alone, to keep the grid."""
    for (alone, colour, bold, italic), group in groupby(enumerate(cells), key=_pen):
        pairs = list(group)
        if alone == "blank":
            continue
        yield {
            "row": row, "column": pairs[0][0], "colour": colour, "bold": bold, "italic": italic,
            "text": unicodedata.normalize("NFC", "".join(cell.text for _, cell in pairs)),
        }  # fmt: skip


def _pen(pair: tuple[int, Cell]) -> tuple[str, str, bool, bool]:
    column, cell = pair
    if not cell.text.strip():
        return ("blank", "", False, False)
    return ("" if cell.text.isascii() else str(column), cell.ink, cell.bold, cell.italic)


def _strokes(row: int, cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    for name, height in (("underline", 0.92), ("strike", 0.55)):
        for column, cell in enumerate(cells):
            if getattr(cell, name):
                yield {
                    "row": row, "column": column, "cells": 1, "height": height, "colour": cell.ink,
                }  # fmt: skip
