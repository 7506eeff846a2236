"""The Neovim that is measured: its screen on a real terminal, its inside by RPC."""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from editor import ROOT, Editor, _attach, _close
from pseudo_terminal import PseudoTerminal

from .server import began_ns, marker, prompt

_DRIVER = Path(__file__).with_name("driver.lua")
RUN_SECONDS = 30.0
_KEY = "\x1b[15~"  # <F5>
_KEY_EVERY_NS = 10_000_000

_MOVES = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]")
"""Neovim puts the cursor right behind letters whose width terminals may disagree about."""
_TAIL_BYTES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One answer, from its first byte sent to its marker on the screen."""

    seconds: float
    stall_ms: float
    """Longest time in which the loop did not turn."""
    key_ms: float
    """Longest time from typing a key to its being handled; 0 when none was typed."""


class _Watcher(PseudoTerminal):
    """Notes when a text first appears in what is written to the terminal."""

    seen_ns = 0
    _wanted = b""
    _tail = b""

    def watch(self, text: str) -> None:
        self._wanted, self.seen_ns, self._tail = text.encode(), 0, b""

    def receive(self, data: bytes) -> None:
        if self.seen_ns or not self._wanted:
            return
        drawn = self._tail + data
        if self._wanted in _MOVES.sub(b"", drawn):
            self.seen_ns = time.monotonic_ns()
        self._tail = drawn[-_TAIL_BYTES:]


class Measured:
    """One plugin in one Neovim; answers are numbered from 0 and each is asked for once."""

    def __init__(self, terminal: _Watcher, editor: Editor, address: str) -> None:
        self._terminal = terminal
        self._editor = editor
        self._address = address
        self._number = 0

    def run(self, *, typing: bool = False) -> Run:
        """Send, and wait until the answer's marker is on the screen and the run is over."""
        number, self._number = self._number, self._number + 1
        self._terminal.watch(marker(number))
        self._editor.lua("bench.send(...)", prompt(number))
        typed_ns = self._until_seen(typing)
        result = self._result()
        # The last key may have been typed after the end.
        keys = zip(typed_ns, result["keys_ns"], strict=False)
        return Run(
            seconds=(self._terminal.seen_ns - began_ns(self._address, number)) / 1e9,
            stall_ms=result["stall_ms"],
            key_ms=max((handled - typed for typed, handled in keys), default=0) / 1e6,
        )

    def _until_seen(self, typing: bool) -> list[int]:
        """Read the terminal until the marker is drawn; when each key was typed meanwhile."""
        typed_ns: list[int] = []
        deadline = time.monotonic() + RUN_SECONDS
        while not self._terminal.seen_ns:
            assert time.monotonic() < deadline, f"no marker in {RUN_SECONDS} s"
            now_ns = time.monotonic_ns()
            if typing and (not typed_ns or now_ns - typed_ns[-1] > _KEY_EVERY_NS):
                typed_ns.append(now_ns)
                self._terminal.send(_KEY)
            self._terminal.read(_KEY_EVERY_NS / 1e9)
        return typed_ns

    def reopen_ms(self) -> float:
        return self._editor.lua("return bench.reopen_ms()")

    def _result(self) -> Any:
        """What the driver measured, once the run is over; the terminal is read meanwhile."""
        while (result := self._editor.lua("return bench.result()")) is None:
            self._terminal.read(0.05)
        return result


@contextmanager
def measuring(
    binary: str, plugin: str, address: str, model: str, folders: Sequence[Path] = ()
) -> Generator[Measured]:
    """A fresh Neovim of 120 × 40 with the plugin's chat open."""
    with tempfile.TemporaryDirectory(prefix="typstai-bench-") as folder:
        socket = str(Path(folder) / "nvim.sock")
        paths = ",".join(str(path) for path in (ROOT, *folders))
        argv = [
            binary, "--clean", "-n", "-i", "NONE", "--listen", socket,
            "--cmd", f"set runtimepath^={paths}",
            "--cmd", f"let g:typstai_python = '{sys.executable}'",
            "-c", "set termguicolors", "-c", f"luafile {_DRIVER}",
        ]  # fmt: skip
        names = ("CONFIG", "DATA", "STATE", "CACHE")
        xdg = {f"XDG_{name}_HOME": f"{folder}/{name.lower()}" for name in names}
        with _Watcher(argv, columns=120, lines=40, cwd=Path(folder), environment=xdg) as terminal:
            nvim = _attach(terminal.process, socket)
            try:
                editor = Editor(nvim, terminal.process)
                editor.lua("bench.setup(...)", plugin, address, model)
                yield Measured(terminal, editor, address)
            finally:
                _close(nvim)
