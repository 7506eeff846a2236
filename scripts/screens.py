"""Makes the pictures of the README from the real plugin, on a real terminal grid.

    .venv/bin/python scripts/screens.py            # all pictures, into doc/img
    .venv/bin/python scripts/screens.py thesis     # some

A scene opens a fresh copy of the sample thesis in Neovim and works with it as a user would: keys
in, screen out. It waits for what it wants to show; the picture is taken when drawing has ended.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from terminal import Terminal  # noqa: E402  (the tests' folder is not a package)

PICTURES = ROOT / "doc" / "img"
COLUMNS, LINES = 120, 32
QUIET_SECONDS = 0.2


def thesis(terminal: Terminal) -> None:
    """The sample thesis as it opens."""
    terminal.wait_for("= Methods <sec-methods>")


def chat(terminal: Terminal) -> None:
    """A run of the offline model that waits for a decision, its hunks in the buffer."""
    thesis(terminal)
    terminal.send(":TypstAI\r")
    terminal.wait_for("> ")
    terminal.send("Fix the errors in this chapter\x13")
    terminal.wait_for("waiting", seconds=30)


def review(terminal: Terminal) -> None:
    """The same, with the cursor on a hunk and its keys shown."""
    chat(terminal)
    terminal.send("\x1b\x17h]c")
    terminal.wait_for("1/2")


SCENES: dict[str, Callable[[Terminal], None]] = {"thesis": thesis, "chat": chat, "review": review}
"""By the name of the picture: leads the terminal to the screen that is drawn."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the pictures of the README.")
    parser.add_argument("scene", nargs="*", choices=[[], *SCENES], help="all when none is named")
    for name in parser.parse_args().scene or SCENES:
        with opened() as terminal:
            SCENES[name](terminal)
            while terminal.read(QUIET_SECONDS):
                pass
            terminal.png(PICTURES / f"{name}.png")
        print(f"doc/img/{name}.png")


@contextmanager
def opened() -> Generator[Terminal]:
    """The sample thesis in Neovim, with folders of its own and the plugin's defaults."""
    with tempfile.TemporaryDirectory(prefix="typstai-screens-") as folder:
        copy = Path(folder) / "thesis"
        shutil.copytree(ROOT / "examples" / "thesis", copy)
        xdg = {f"XDG_{name}_HOME": f"{folder}/xdg" for name in ("CONFIG", "DATA", "STATE", "CACHE")}
        argv = [
            _nvim(), "--clean", "-n", "-i", "NONE",
            "--cmd", f"set runtimepath^={ROOT}",
            "--cmd", f"let g:typstai_python = '{sys.executable}'",
            "-c", "set number termguicolors linebreak noruler noshowcmd",
            "chapters/methods.typ",
        ]  # fmt: skip
        with Terminal(argv, columns=COLUMNS, lines=LINES, cwd=copy, environment=xdg) as terminal:
            yield terminal


def _nvim() -> str:
    beside = Path(sys.executable).with_name("nvim")
    if beside.exists():
        return str(beside)
    found = subprocess.run(["sh", ROOT / "scripts" / "nvim"], capture_output=True, text=True)
    return found.stdout.strip()


if __name__ == "__main__":
    main()
