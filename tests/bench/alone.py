"""What has no peer to be compared with: start and end, a long chat, and memory."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from editor import ROOT, start_editor
from pseudo_terminal import PseudoTerminal

from .neovim import Measured, measuring, session
from .server import serving

STARTS = 11
OPENINGS = 5
FLOODS = 3
LEAVINGS = 11
ANSWERS = 5
LARGE_ANSWERS = 4
"""Together a little over 1 MiB of text."""


def report(nvim: str) -> int:
    """Print the table, line by line."""
    print("\n| typstai alone | |\n| --- | --- |")
    for label, figure in _lines(nvim):
        print(f"| {label} | {figure} |", flush=True)
    return 0


def _lines(nvim: str) -> Iterator[tuple[str, str]]:
    yield "plugin file at start", f"{_start_ms(nvim):.2f} ms"
    with serving() as address, tempfile.TemporaryDirectory(prefix="typstai-bench-") as folder:
        new_seconds = _flood_seconds(nvim, Path(folder), address)
    with serving() as address, tempfile.TemporaryDirectory(prefix="typstai-bench-") as folder:
        home = Path(folder)
        _fill(nvim, home, address)
        yield "chat of 1 MiB opened", f"{_open_ms(nvim, home, address):.0f} ms"
        ratio = _flood_seconds(nvim, home, address) / new_seconds
        yield "an answer in it / in a new chat", f"{ratio:.2f}"
    with serving() as address, tempfile.TemporaryDirectory(prefix="typstai-bench-") as folder:
        yield from _memory(nvim, Path(folder), address)
    with tempfile.TemporaryDirectory(prefix="typstai-bench-") as folder:
        yield "leaving Neovim, host running", f"{_leave_ms(nvim, folder):.0f} ms"


def _start_ms(nvim: str) -> float:
    with tempfile.TemporaryDirectory(prefix="typstai-bench-") as folder:
        times = Path(folder) / "times"
        argv = [
            nvim, "--clean", "-n", "-i", "NONE", "--cmd", f"set runtimepath^={ROOT}",
            "--startuptime", str(times), "+qall!",
        ]  # fmt: skip
        for _ in range(STARTS):
            with PseudoTerminal(argv) as terminal:
                terminal.wait_for_end()
        # clock, time with what it sources, time of its own
        pattern = rf"^\S+ +\S+ +(\S+): sourcing {re.escape(str(ROOT))}/plugin/"
        found = re.findall(pattern, times.read_text(encoding="utf-8"), re.MULTILINE)
    return median(map(float, found))


def _fill(nvim: str, home: Path, address: str) -> None:
    """Keep a chat of 1 MiB for the sessions to come."""
    with measuring(nvim, "typstai", address, "large", home=home) as measured:
        for _ in range(LARGE_ANSWERS):
            measured.run()


def _open_ms(nvim: str, home: Path, address: str) -> float:
    times_ms: list[float] = []
    for _ in range(OPENINGS):
        with session(nvim, home) as (terminal, editor):
            times_ms.append(Measured(terminal, editor, address).open_ms(LARGE_ANSWERS - 1))
    return median(times_ms)


def _leave_ms(nvim: str, data: str) -> float:
    """Without a terminal: Neovim's own farewell to one takes a second where none answers it."""
    times_ms: list[float] = []
    for _ in range(LEAVINGS):
        with start_editor(nvim) as editor:
            editor.lua("vim.g.typstai_data = ...", data)
            editor.lua("require('typstai.host').channel()")
            editor.wait_for("require('typstai.host').state == 'running'")
            began_ns = time.monotonic_ns()
            editor.nvim.command("qall!", async_=True)
            editor.process.wait()
            times_ms.append((time.monotonic_ns() - began_ns) / 1e6)
    return median(times_ms)


def _flood_seconds(nvim: str, home: Path, address: str) -> float:
    with measuring(nvim, "typstai", address, "flood", home=home) as measured:
        return median(measured.run().seconds for _ in range(FLOODS))


def _memory(nvim: str, home: Path, address: str) -> Iterator[tuple[str, str]]:
    with measuring(nvim, "typstai", address, "first", home=home) as measured:
        host = measured.host()
        yield "host's memory, chat open", f"{_resident_mib(host):.0f} MiB"
        for _ in range(ANSWERS):
            measured.run()
        measured.check(home / "main.typ")
        yield "after some answers and a check", f"{_resident_mib(host):.0f} MiB"
        yield "compiler's memory", f"{_resident_mib(_only_child(host)):.0f} MiB"


def _resident_mib(process: int) -> float:
    return int(_ps("-o", "rss=", "-p", str(process))) / 1024


def _only_child(process: int) -> int:
    pairs = [line.split() for line in _ps("-A", "-o", "ppid=,pid=").splitlines()]
    (child,) = [int(pid) for parent, pid in pairs if int(parent) == process]
    return child


def _ps(*options: str) -> str:
    return subprocess.run(["ps", *options], check=True, capture_output=True, text=True).stdout
