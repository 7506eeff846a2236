"""A real terminal in a test: a program on a pseudo-terminal, and the screen it drew."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyte

from picture import Cell, Look, draw
from pseudo_terminal import BOUND_SECONDS, PseudoTerminal

_STRING = re.compile(rb"\x1b[PX^_].*?\x1b\\", re.DOTALL)
"""Control strings (requests for capabilities, graphics), which pyte would print."""
_PRIVATE = re.compile(rb"\x1b\[[<=>][0-9;:]*[ -/]*[@-~]")
"""Private sequences (keyboard protocols), which pyte takes for colours."""
_PENS = re.compile(rb"\x1b\[([0-9;:]*)m")
_UNFINISHED = re.compile(rb"\x1b(?:[PX^_](?:(?!\x1b\\).)*|\[[0-9;:<=>?]*[ -/]*)?\Z", re.DOTALL)


class Terminal(PseudoTerminal):
    """Runs `argv` in a true-colour terminal of `columns` × `lines` and keeps its screen."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        columns: int = 100,
        lines: int = 30,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(argv, columns=columns, lines=lines, cwd=cwd, environment=environment)
        self.screen = pyte.Screen(columns, lines)
        self.screen.write_process_input = self.send
        self._stream = pyte.ByteStream(self.screen)
        self._held = b""

    def receive(self, data: bytes) -> None:
        data = self._held + data
        cut = _UNFINISHED.search(data)
        self._held = data[cut.start() :] if cut else b""
        self._stream.feed(_plain(data[: cut.start()] if cut else data))

    def wait_for(self, wanted: str | Callable[[str], bool], seconds: float = BOUND_SECONDS) -> None:
        """Read until the screen's text contains `wanted`, or `wanted(text)` holds."""

        def met() -> bool:
            text = self.text()
            return wanted in text if isinstance(wanted, str) else wanted(text)

        self.wait_until(met, seconds)

    def text(self) -> str:
        """The screen, one line a row, without trailing blanks."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    def state(self) -> str:
        return f"{super().state()}\n{self.text()}"

    def look(self) -> Look:
        """What is on the screen now, cell by cell."""
        rows = [
            [_cell(self.screen.buffer[row][column]) for column in range(self.screen.columns)]
            for row in range(self.screen.lines)
        ]
        cursor = None if self.screen.cursor.hidden else self.screen.cursor
        return Look(rows=rows, cursor=(cursor.y, cursor.x) if cursor else None)

    def png(self, path: Path) -> None:
        """Draw the screen as a small picture."""
        draw(self.look(), path)


def _plain(data: bytes) -> bytes:
    """The same output in the sequences that pyte knows."""
    data = _STRING.sub(b"", data)
    data = _PRIVATE.sub(b"", data)
    return _PENS.sub(lambda match: b"\x1b[" + _pens(match[1]) + b"m", data)


def _pens(parameters: bytes) -> bytes:
    """Colon forms as semicolon forms; colours of underlines left out."""
    kept: list[bytes] = []
    groups = iter(parameters.split(b";"))
    for group in groups:
        head, *rest = group.split(b":")
        if head == b"58":
            _skip_colour(rest, groups)
        elif head in (b"38", b"48") and rest:
            kept += [head, *(part for part in rest if part)]
        elif head == b"4" and rest:
            kept.append(b"24" if rest[0] == b"0" else b"4")
        else:
            kept.append(head)
    return b";".join(kept) if kept or not parameters else b"59"


def _skip_colour(rest: list[bytes], groups: Any) -> None:
    if not rest:
        for _ in range({b"5": 1, b"2": 3}.get(next(groups, b""), 0)):
            next(groups, None)


def _cell(char: Any) -> Cell:
    fore, back = _colour(char.fg), _colour(char.bg)
    return Cell(
        text=char.data,
        fore=back if char.reverse else fore,
        back=fore if char.reverse else back,
        reverse=char.reverse,
        bold=char.bold,
        italic=char.italics,
        underline=char.underscore,
        strike=char.strikethrough,
    )


_NAMED = {
    "black": "#1d1f21", "red": "#cc6666", "green": "#b5bd68", "brown": "#f0c674",
    "blue": "#81a2be", "magenta": "#b294bb", "cyan": "#8abeb7", "white": "#c5c8c6",
    "brightblack": "#666666", "brightred": "#d54e53", "brightgreen": "#b9ca4a",
    "brightbrown": "#e7c547", "brightyellow": "#e7c547", "brightblue": "#7aa6da",
    "brightmagenta": "#c397d8", "bfightmagenta": "#c397d8", "brightcyan": "#70c0b1",
    "brightwhite": "#eaeaea",
}  # fmt: skip


def _colour(name: str) -> str | None:
    """A colour as `#rrggbb`; None is the terminal's own."""
    if name == "default":
        return None
    return _NAMED.get(name, f"#{name}")
