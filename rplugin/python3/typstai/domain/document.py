"""A document as Neovim held it at one moment, and positions in it."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """The text of one buffer at one `changedtick`.

    Lines carry no line ends: Neovim strips them (and the carriage return of
    CRLF files) when it reads a file, and puts them back when it writes.
    """

    bufnr: int
    path: str
    """Absolute path; empty for an unnamed buffer."""
    tick: int
    lines: tuple[str, ...] = field(repr=False)
    modifiable: bool = True
    """False for `nomodifiable` and `readonly` buffers."""

    @cached_property
    def text(self) -> str:
        """The whole text, lines joined by a newline and none at the end."""
        return "\n".join(self.lines)

    @cached_property
    def line_starts(self) -> tuple[int, ...]:
        """Offset in `text`, in code points, at which each line starts."""
        return tuple(accumulate((len(line) + 1 for line in self.lines[:-1]), initial=0))

    def row_at(self, offset: int) -> int:
        """Row, from 0, of the line that holds the code point at `offset`."""
        return bisect_right(self.line_starts, offset) - 1

    def offset_at(self, row0: int, byte_col: int) -> int:
        """Offset in code points of a row and a UTF-8 byte column."""
        prefix = self.lines[row0].encode("utf-8", "surrogateescape")[:byte_col]
        return self.line_starts[row0] + len(prefix.decode("utf-8", "ignore"))
