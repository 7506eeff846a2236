"""Where an offset of a text lies: as a row and byte column, and as a byte offset. Pure."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate


class Places:
    """Positions in one text, for an editor that ends lines at `\\n` only."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self._starts = [0, *accumulate(len(line) + 1 for line in self.lines[:-1])]

    @cached_property
    def _byte_starts(self) -> list[int]:
        lengths = (_byte_length(line) + 1 for line in self.lines[:-1])
        return [0, *accumulate(lengths)]

    def position(self, offset: int) -> tuple[int, int]:
        """Row from 0 and byte column of an offset in code points."""
        row0 = bisect_right(self._starts, offset) - 1
        return row0, _byte_length(self.lines[row0][: offset - self._starts[row0]])

    def byte(self, offset: int) -> int:
        """Offset in bytes of an offset in code points."""
        row0, byte_col = self.position(offset)
        return self._byte_starts[row0] + byte_col

    def at_byte(self, byte: int) -> int:
        """Offset in code points of an offset in bytes."""
        row0 = bisect_right(self._byte_starts, byte) - 1
        return self.offset(row0, byte - self._byte_starts[row0])

    def offset(self, row0: int, byte_col: int) -> int:
        """Offset in code points of a row and byte column; clamped to the text."""
        if row0 >= len(self.lines):
            return len(self.text)
        line = self.lines[row0]
        if not line.isascii():
            byte_col = len(line.encode("utf-8", "replace")[:byte_col].decode("utf-8", "ignore"))
        return self._starts[row0] + min(byte_col, len(line))


def _byte_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
