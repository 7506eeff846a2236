"""Prints the benchmark table; see CONTRIBUTING.md.

Every number of a table was measured in the same minutes on the same machine, so ratios mean
something and seconds alone do not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from . import ghost
from .decode import seconds_for
from .neovim import Measured, measuring, session
from .server import DELTAS, serving

PEER = "TYPSTAI_BENCH_CODECOMPANION"
FLOODS = 3
FIRST_TOKENS = 21
LARGE_ANSWERS = 4
"""Together a little over 1 MiB of text."""

OPENINGS = 5

HEAD = [
    "",
    "first token",
    f"{DELTAS:,} deltas",
    "against decoding",
    "longest stall",
    "slowest key",
    "third / first",
    "1 MiB opened",
]


def main() -> int:
    options = _options()
    if options.only == "ghost":
        return ghost.report(options.nvim)
    decoding = _decoding()
    print(f"Neovim: {options.nvim}\n\n{_line(HEAD)}\n{_line(['---'] * len(HEAD))}")
    print(_line(["reading and decoding alone", "–", f"{decoding:.2f} s", "1.0"]), flush=True)
    failed = 0
    for plugin, folders in _plugins(options.only):
        try:
            print(_row(options.nvim, plugin, folders, decoding), flush=True)
        except Exception as error:  # the other rows are worth having all the same
            print(_line([plugin, f"did not run: {str(error).splitlines()[0]:.200}"]), flush=True)
            failed = 1
    if options.only is None:
        failed |= ghost.report(options.nvim)
    return failed


def _options() -> argparse.Namespace:
    beside = Path(sys.executable).with_name("nvim")
    default = str(beside) if beside.exists() else shutil.which("nvim")
    parser = argparse.ArgumentParser(prog="make bench ARGS=…")
    parser.add_argument("--nvim", default=os.environ.get("TYPSTAI_TEST_NVIM") or default)
    parser.add_argument("--only", choices=["typstai", "codecompanion", "ghost"])
    return parser.parse_args()


def _plugins(only: str | None) -> Iterator[tuple[str, Sequence[Path]]]:
    if only != "codecompanion":
        yield "typstai", ()
    peer = os.environ.get(PEER)
    if peer and only != "typstai":
        yield "codecompanion", sorted(Path(peer).glob("*.nvim"))
    elif only != "typstai":
        print(f"(no row of codecompanion.nvim: {PEER} is not set)\n")


def _decoding() -> float:
    with serving() as address:
        return median(seconds_for(address, number) for number in range(FLOODS + 2))


def _row(nvim: str, plugin: str, folders: Sequence[Path], decoding: float) -> str:
    with serving() as address, measuring(nvim, plugin, address, "first", folders) as measured:
        first_ms = _first_token_ms(measured)
    with serving() as address, measuring(nvim, plugin, address, "flood", folders) as measured:
        runs = [measured.run(typing=True) for _ in range(FLOODS)]
    seconds = median(run.seconds for run in runs)
    cells = [
        plugin,
        f"{first_ms:.1f} ms",
        f"{seconds:.2f} s",
        f"{seconds / decoding:.1f}",
        f"{max(run.stall_ms for run in runs):.0f} ms",
        f"{max(run.key_ms for run in runs):.0f} ms",
        f"{runs[-1].seconds / runs[0].seconds:.2f}",
        f"{_open_ms(nvim):.0f} ms" if plugin == "typstai" else "–",
    ]
    return _line(cells)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join([*cells, *['–'] * (len(HEAD) - len(cells))])} |"


def _open_ms(nvim: str) -> float:
    """A chat of 1 MiB, written in one session and opened in others."""
    with serving() as address, tempfile.TemporaryDirectory(prefix="typstai-bench-") as folder:
        home = Path(folder)
        with session(nvim, home) as (terminal, editor):
            editor.lua("bench.setup(...)", "typstai", address, "large")
            measured = Measured(terminal, editor, address)
            for _ in range(LARGE_ANSWERS):
                measured.run()
        times_ms: list[float] = []
        for _ in range(OPENINGS):
            with session(nvim, home) as (terminal, editor):
                times_ms.append(Measured(terminal, editor, address).open_ms(LARGE_ANSWERS - 1))
        return median(times_ms)


def _first_token_ms(measured: Measured) -> float:
    measured.run()  # starts what starts once
    return median(measured.run().seconds for _ in range(FIRST_TOKENS)) * 1000


if __name__ == "__main__":
    sys.exit(main())
