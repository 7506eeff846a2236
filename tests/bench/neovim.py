"""The Neovim that is measured: its screen on a real terminal, its inside by RPC."""

from __future__ import annotations

import re
import sys
import tempfile
import threading
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
_KEY_EVERY_SECONDS = 0.01
_RESULT_EVERY_SECONDS = 0.02

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
    """Notes when a text first appears in what is written to the terminal.

    A thread reads all the time, also while an RPC call blocks: a terminal that nobody reads stops
    Neovim's drawing.
    """

    seen_ns = 0
    _wanted = b""
    _tail = b""

    def watch(self, text: str) -> None:
        self._seen = threading.Event()
        self._wanted, self.seen_ns, self._tail = text.encode(), 0, b""

    def wait_seen(self, seconds: float) -> bool:
        """Whether the text appeared in that time."""
        return self._seen.wait(seconds)

    def receive(self, data: bytes) -> None:
        if self.seen_ns or not self._wanted:
            return
        drawn = self._tail + data
        if self._wanted in _MOVES.sub(b"", drawn):
            self.seen_ns = time.monotonic_ns()
            self._seen.set()
        self._tail = drawn[-_TAIL_BYTES:]

    @contextmanager
    def being_read(self) -> Generator[None]:
        stop = threading.Event()

        def pump() -> None:
            while not stop.is_set():
                self.read(0.02)

        reader = threading.Thread(target=pump)
        reader.start()
        try:
            yield
        finally:
            stop.set()
            reader.join()


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

    def open_ms(self, number: int) -> float:
        """Open the chat of an earlier session; until the marker of that answer is on the screen."""
        self.start_host()
        self._terminal.watch(marker(number))
        began_ns = time.monotonic_ns()
        self._editor.lua("bench.open_chat()")
        assert self._terminal.wait_seen(RUN_SECONDS), "the chat was not restored"
        return (self._terminal.seen_ns - began_ns) / 1e6

    def start_host(self) -> None:
        """Start the host of `typstai`, and wait until it answers."""
        self._editor.lua("bench.start_host()")
        self._editor.wait_for("require('typstai.host').state == 'running'")

    def host(self) -> int:
        """The process of the host of `typstai`."""
        return self._editor.lua("return require('typstai.host').pid")

    def check(self, path: Path) -> None:
        """Open a Typst file, and wait until the compiler has read it."""
        self._editor.record("TypstAIDiagnostics")
        self._editor.open(path, "= Riders\n")
        self._editor.seen("TypstAIDiagnostics")

    def _until_seen(self, typing: bool) -> list[int]:
        """Wait until the marker is drawn; when each key was typed meanwhile."""
        typed_ns: list[int] = []
        deadline = time.monotonic() + RUN_SECONDS
        while not self._terminal.wait_seen(_KEY_EVERY_SECONDS):
            assert time.monotonic() < deadline, f"no marker in {RUN_SECONDS} s"
            if typing:
                typed_ns.append(time.monotonic_ns())
                self._terminal.send(_KEY)
        return typed_ns

    def _result(self) -> Any:
        """What the driver measured, once the run is over.

        Neovim itself must not wait for it: keys typed last would be handled after that.
        """
        deadline = time.monotonic() + RUN_SECONDS
        while (result := self._editor.lua("return bench.result()")) is None:
            assert time.monotonic() < deadline, f"no end in {RUN_SECONDS} s"
            time.sleep(_RESULT_EVERY_SECONDS)
        return result


@contextmanager
def measuring(
    binary: str,
    plugin: str,
    address: str,
    model: str,
    folders: Sequence[Path] = (),
    *,
    home: Path | None = None,
) -> Generator[Measured]:
    """A fresh Neovim of 120 × 40 with the plugin's chat open; nothing is stored but in `home`."""
    with (
        tempfile.TemporaryDirectory(prefix="typstai-bench-") as fresh,
        session(binary, home or Path(fresh), folders) as (terminal, editor),
    ):
        editor.lua("bench.setup(...)", plugin, address, model)
        yield Measured(terminal, editor, address)


@contextmanager
def session(
    binary: str, home: Path, folders: Sequence[Path] = ()
) -> Generator[tuple[_Watcher, Editor]]:
    """A Neovim whose project, configuration and data are in `home`."""
    with tempfile.TemporaryDirectory(prefix="typstai-bench-") as folder:
        socket = str(Path(folder) / "nvim.sock")
        paths = ",".join(str(path) for path in (ROOT, *folders))
        argv = [
            binary, "--clean", "-n", "-i", "NONE", "--listen", socket,
            "--cmd", f"set runtimepath^={paths}",
            "--cmd", f"let g:typstai_python = '{sys.executable}'",
            "-c", "set termguicolors",
        ]  # fmt: skip
        names = ("CONFIG", "DATA", "STATE", "CACHE")
        xdg = {f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in names}
        with (
            _Watcher(argv, columns=120, lines=40, cwd=home, environment=xdg) as terminal,
            terminal.being_read(),
        ):
            nvim = _attach(terminal.process, socket)
            try:
                while not nvim.vvars["vim_did_enter"]:  # it listens long before
                    pass
                nvim.command(f"luafile {_DRIVER}")
                yield terminal, Editor(nvim, terminal.process)
            finally:
                _close(nvim)
