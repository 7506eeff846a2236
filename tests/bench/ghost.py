"""What ghost text adds to the model's own time and the pause in typing, on a real screen.

From the key to the drawn text, less the pause that both plugins are told to wait for and the time
that the model takes.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles

from editor import Editor

from .neovim import session
from .server import PAUSE_SECONDS, marker, prompt, serving

PEER = "TYPSTAI_BENCH_MINUET"
DEBOUNCE_MS = 100
SAMPLES = 31
WARM_UPS = 3
SEEN_SECONDS = 10.0
ESCAPE = "\x1b"

_DRIVER = Path(__file__).with_name("ghost.lua")


def report(nvim: str) -> int:
    """Print the table; 1 when a row is missing that should be there."""
    print("\n|  | ghost text adds, median | nine in ten |\n| --- | --- | --- |")
    failed = 0
    for plugin, folders in _plugins():
        try:
            times_ms = _added_ms(nvim, plugin, folders)
            worst = quantiles(times_ms, n=10)[-1]
            print(f"| {plugin} | {median(times_ms):.1f} ms | {worst:.1f} ms |", flush=True)
        except Exception as error:  # the other row is worth having all the same
            print(f"| {plugin} | did not run: {str(error).splitlines()[0]:.200} | – |")
            failed = 1
    return failed


def _plugins() -> Iterator[tuple[str, Sequence[Path]]]:
    yield "typstai", ()
    peer = os.environ.get(PEER)
    if peer:
        yield "minuet", [Path(peer) / name for name in ("minuet-ai.nvim", "plenary.nvim")]
    else:
        print(f"(no row of minuet-ai.nvim: {PEER} is not set)")


def _added_ms(nvim: str, plugin: str, folders: Sequence[Path]) -> list[float]:
    with (
        serving() as address,
        tempfile.TemporaryDirectory(prefix="typstai-bench-") as home,
        session(nvim, Path(home), folders) as (terminal, editor),
    ):
        editor.nvim.command(f"luafile {_DRIVER}")
        editor.lua("ghost_bench.setup(...)", plugin, address, DEBOUNCE_MS)
        times_ms: list[float] = []
        for number in range(WARM_UPS + SAMPLES):
            text = prompt(number)
            editor.lua("ghost_bench.line(...)", text[:-1])
            _wait_mode(editor, "i")
            terminal.watch(marker(number))
            typed_ns = time.monotonic_ns()
            terminal.send(text[-1])
            assert terminal.wait_seen(SEEN_SECONDS), "no ghost text was drawn"
            times_ms.append((terminal.seen_ns - typed_ns) / 1e6)
            terminal.send(ESCAPE)
            _wait_mode(editor, "n")
    own_ms = DEBOUNCE_MS + PAUSE_SECONDS * 1000
    return [time_ms - own_ms for time_ms in times_ms[WARM_UPS:]]


def _wait_mode(editor: Editor, mode: str) -> None:
    """Neovim handles keys between these requests, and not while it waits by itself."""
    while editor.nvim.api.get_mode()["mode"] != mode:
        pass
