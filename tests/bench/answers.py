"""What an answer costs on its way to the screen, side by side with a peer."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from .decode import seconds_for
from .neovim import Measured, measuring
from .server import DELTAS, serving

PEER = "TYPSTAI_BENCH_CODECOMPANION"
FLOODS = 3
FIRST_TOKENS = 21
HEAD = [
    "",
    "first token",
    f"{DELTAS:,} deltas",
    "against decoding",
    "longest stall",
    "slowest key",
    "third / first",
]


def report(nvim: str) -> int:
    """Print the table; 1 when a row is missing that should be there."""
    decoding = _decoding()
    print(f"\n{_line(HEAD)}\n{_line(['---'] * len(HEAD))}")
    print(_line(["reading and decoding alone", "–", f"{decoding:.2f} s", "1.0"]), flush=True)
    failed = 0
    for plugin, folders in _plugins():
        try:
            print(_row(nvim, plugin, folders, decoding), flush=True)
        except Exception as error:  # the other row is worth having all the same
            print(_line([plugin, f"did not run: {str(error).splitlines()[0]:.200}"]), flush=True)
            failed = 1
    return failed


def _plugins() -> Iterator[tuple[str, Sequence[Path]]]:
    yield "typstai", ()
    peer = os.environ.get(PEER)
    if peer:
        yield "codecompanion", sorted(Path(peer).glob("*.nvim"))
    else:
        print(f"(no row of codecompanion.nvim: {PEER} is not set)")


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
    ]
    return _line(cells)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join([*cells, *['–'] * (len(HEAD) - len(cells))])} |"


def _first_token_ms(measured: Measured) -> float:
    measured.run()  # starts what starts once
    return median(measured.run().seconds for _ in range(FIRST_TOKENS)) * 1000
