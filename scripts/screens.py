"""Makes the pictures of the README from the real plugin, on a real terminal grid.

    .venv/bin/python scripts/screens.py            # all pictures, into doc/img
    .venv/bin/python scripts/screens.py thesis     # some

A scene opens a fresh copy of the sample thesis in Neovim and works with it as a user would: keys
in, screen out. It waits for what it wants to show; the picture is taken when drawing has ended.
Chats are answered by the offline model, prose by a server on loopback that has the answer ready.
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

from endpoint import Endpoint, answer  # noqa: E402  (the tests' folder is not a package)
from terminal import Terminal  # noqa: E402

PICTURES = ROOT / "doc" / "img"
COLUMNS, LINES = 120, 32
QUIET_SECONDS = 0.2
WRITER = """
require("typstai").setup({
  models = { { name = "offline" }, { name = "writer", base_url = "%s", model = "writer" } },
  default_model = "offline", actions = { model = "writer" }, autocomplete = { model = "writer" },
})
"""


def thesis(terminal: Terminal, model: Endpoint) -> None:
    """The sample thesis as it opens."""
    del model
    terminal.wait_for("= Methods <sec-methods>")


def chat(terminal: Terminal, model: Endpoint) -> None:
    """A run of the offline model that waits for a decision, its hunks in the buffer."""
    thesis(terminal, model)
    terminal.send(":TypstAI\r")
    terminal.wait_for("> ")
    terminal.send("Fix the errors in this chapter\x13")
    terminal.wait_for("waiting", seconds=30)


def review(terminal: Terminal, model: Endpoint) -> None:
    """The same, with the cursor on a hunk and its keys shown."""
    chat(terminal, model)
    terminal.send("\x1b\x17h]c")
    terminal.wait_for("1/2")


def action(terminal: Terminal, model: Endpoint) -> None:
    """A paragraph rephrased: which of its words would change, sentence by sentence."""
    thesis(terminal, model)
    model.reply(answer(REPHRASED))
    terminal.send("28G\\wrip")
    terminal.wait_for("changes proposed")
    terminal.send("]czz")
    terminal.wait_for("1/3")


def ghost(terminal: Terminal, model: Endpoint) -> None:
    """Ghost text behind the cursor."""
    thesis(terminal, model)
    model.reply(answer(" on dry days, and by 2 % in the rain."))
    terminal.send(":TypstAI ghost on\r24Go\rThe two counts differed by 3 %")
    terminal.wait_for("in the rain")


REPHRASED = """\
Tubes miss riders who cross side by side.
Two people therefore counted by hand for one hour on each of two mornings.
They saw 486 bicycles where the counter had 471, so it overlooks about 3 % of the riders.
The counts below were **not** corrected for this, since the share was the same on dry and wet \
mornings.\
"""
SCENES: dict[str, Callable[[Terminal, Endpoint], None]] = {
    "thesis": thesis, "chat": chat, "review": review, "action": action, "ghost": ghost,
}  # fmt: skip
"""By the name of the picture: leads the terminal to the screen that is drawn."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the pictures of the README.")
    parser.add_argument("scene", nargs="*", choices=[[], *SCENES], help="all when none is named")
    for name in parser.parse_args().scene or SCENES:
        with Endpoint() as model, opened(model) as terminal:
            SCENES[name](terminal, model)
            while terminal.read(QUIET_SECONDS):
                pass
            terminal.png(PICTURES / f"{name}.png")
        print(f"doc/img/{name}.png")


@contextmanager
def opened(model: Endpoint) -> Generator[Terminal]:
    """The sample thesis in Neovim with folders of its own, and a model for prose."""
    with tempfile.TemporaryDirectory(prefix="typstai-screens-") as folder:
        copy = Path(folder) / "thesis"
        shutil.copytree(ROOT / "examples" / "thesis", copy)
        xdg = {f"XDG_{name}_HOME": f"{folder}/xdg" for name in ("CONFIG", "DATA", "STATE", "CACHE")}
        argv = [
            _nvim(), "--clean", "-n", "-i", "NONE",
            "--cmd", f"set runtimepath^={ROOT}",
            "--cmd", f"let g:typstai_python = '{sys.executable}'",
            "--cmd", "lua " + " ".join((WRITER % model.url).split()),
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
