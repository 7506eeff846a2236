"""How wide the compiler draws characters, so that its carets can be read. Pure.

Its rules are those of a terminal: wide characters take two columns, marks none,
a tab goes to the next even column. `_ODD` holds the living scripts in which
that differs from what Unicode's categories say.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right

TAB_WIDTH = 2

_ODD = (
    (0x0600, 0x0604, 1), (0x06DD, 0x06DD, 1), (0x09BE, 0x09BE, 0), (0x09D7, 0x09D7, 0),
    (0x0B3E, 0x0B3E, 0), (0x0B57, 0x0B57, 0), (0x0BBE, 0x0BBE, 0), (0x0BD7, 0x0BD7, 0),
    (0x0CC0, 0x0CC0, 0), (0x0CC2, 0x0CC2, 0), (0x0CC7, 0x0CC8, 0), (0x0CCA, 0x0CCB, 0),
    (0x0CD5, 0x0CD6, 0), (0x0D3E, 0x0D3E, 0), (0x0D4E, 0x0D4E, 0), (0x0D57, 0x0D57, 0),
    (0x0DCF, 0x0DCF, 0), (0x0DDF, 0x0DDF, 0), (0x1160, 0x11FF, 0), (0x17A4, 0x17A4, 2),
    (0x17D8, 0x17D8, 3), (0x1B35, 0x1B35, 0), (0x1B3B, 0x1B3B, 0), (0x1B3D, 0x1B3D, 0),
    (0x1B43, 0x1B44, 0), (0x2630, 0x2637, 2), (0x268A, 0x268F, 2), (0x302E, 0x302F, 0),
    (0x3164, 0x3164, 0), (0x4DC0, 0x4DFF, 2), (0xD7B0, 0xD7FB, 0), (0xFFA0, 0xFFA0, 0),
)  # fmt: skip
_ODD_FIRST = tuple(first for first, _, _ in _ODD)


def char_width(char: str) -> int:
    """Columns that one character other than a tab takes."""
    if char.isascii():
        return int(char.isprintable())
    code = ord(char)
    first, last, width = _ODD[max(0, bisect_right(_ODD_FIRST, code) - 1)]
    if first <= code <= last:
        return width
    if unicodedata.category(char) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def advance(line: str, col: int, width: int) -> int:
    """Column, in code points, that lies `width` terminal columns after `col`.

    Marks that take no room belong to the character before them.
    """
    if line.isascii() and "\t" not in line:
        return min(len(line), col + width)
    at = goal = _offset(line, col)
    goal += width
    while col < len(line) and (at < goal or char_width_at(line[col], at) == 0):
        at += char_width_at(line[col], at)
        col += 1
    return col


def char_width_at(char: str, at: int) -> int:
    """Columns that a character takes when it stands at terminal column `at`."""
    return TAB_WIDTH - at % TAB_WIDTH if char == "\t" else char_width(char)


def _offset(line: str, col: int) -> int:
    at = 0
    for char in line[:col]:
        at += char_width_at(char, at)
    return at
