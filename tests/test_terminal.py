"""The terminal used by other tests and by the pictures."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PIL import Image

from processes import wait_gone
from terminal import Terminal

GLYPHS = "▸ ✓ ◆ ◇ ✗ ⋯ ▎ ● ─ │ ┌ ┘ ⠋ … × –"


def _python(source: str) -> list[str]:
    return [sys.executable, "-c", source]


def test_the_screen_shows_what_a_program_drew() -> None:
    source = r"print('one\ntwo \x1b[4CX'); print('日本|'); input()"
    with Terminal(_python(source), columns=20, lines=5) as terminal:
        terminal.wait_for("日本|")
        assert terminal.text() == "one\ntwo     X\n日本|\n\n"


def test_keys_reach_the_program_and_its_end_is_seen() -> None:
    with Terminal(_python("print('got', input()); raise SystemExit(3)")) as terminal:
        terminal.send("hello\r")
        terminal.wait_for("got hello")
        assert terminal.wait_for_end() == 3


def test_a_wait_in_vain_fails_with_the_screen() -> None:
    with Terminal(_python("print('something else'); input()")) as terminal:
        terminal.wait_for("something")
        with pytest.raises(AssertionError, match="something else"):
            terminal.wait_for("never", seconds=0.05)


def test_colours_and_pens_survive_modern_sequences() -> None:
    source = (
        r"print('\x1b[>4;2m\x1bP+q4d73\x1b\\a\x1b[38:2:1:2:3mb\x1b[0m"
        r"\x1b[4:3;58:2::255:0:0mc\x1b[4:0md\x1b[58;2;4;9;9me\x1b[7mf\x1b[0;9;3mg'); input()"
    )
    with Terminal(_python(source), columns=20, lines=2) as terminal:
        terminal.wait_for("abcdefg")
        a, b, c, d, e, f, g = terminal.look().rows[0][:7]
        assert (a.underline, a.fore, b.fore) == (False, None, "#010203")
        assert (c.underline, d.underline, e.underline, e.strike) == (True, False, False, False)
        assert f.reverse and f.ink != f.paper
        assert (g.strike, g.italic, g.reverse) == (True, True, False)


def test_a_sequence_split_over_two_writes_is_one_sequence() -> None:
    with Terminal(_python("input()"), columns=20, lines=2) as terminal:
        for byte in b"\x1b[38:2:9:8:7mx\x1bPq\x1b\\y":
            terminal.receive(bytes([byte]))
        assert terminal.text().startswith("xy")
        assert terminal.look().rows[0][0].fore == "#090807"


def test_closing_ends_the_program_and_its_children() -> None:
    source = "import subprocess; print(subprocess.Popen(['sleep', '600']).pid, 'up'); input()"
    with Terminal(_python(source)) as terminal:
        terminal.wait_for("up")
        child = int(terminal.text().split()[0])
    assert terminal.process.returncode is not None
    wait_gone(child)


def test_a_picture_shows_every_glyph_in_its_cell(tmp_path: Path) -> None:
    with Terminal(_python(f"print({GLYPHS!r}); input()"), columns=40, lines=2) as terminal:
        terminal.wait_for("×")
        terminal.png(tmp_path / "glyphs.png")
    with Image.open(tmp_path / "glyphs.png") as image:
        assert image.mode == "P"
        cell = image.width / 42
        edges = [((i + 1) * cell + 2, (i + 2) * cell - 2) for i in range(len(GLYPHS))]
        boxes = [image.crop((int(a), 0, int(b), image.height // 2)) for a, b in edges]
    inked = [len(box.convert("RGB").getcolors() or []) > 1 for box in boxes]
    assert inked == [not glyph.isspace() for glyph in GLYPHS]


def test_neovim_draws_a_true_colour_screen(nvim_binary: str, tmp_path: Path) -> None:
    argv = [nvim_binary, "--clean", "-n", "-c", "set termguicolors", str(tmp_path / "a.lua")]
    with Terminal(argv, columns=60, lines=12) as terminal:
        terminal.wait_for("a.lua")
        terminal.send('ilocal x = "déjà"')
        terminal.wait_for('local x = "déjà"')
        terminal.wait_for("INSERT")
        colours = {cell.fore for cell in terminal.look().rows[0][:16]}
        assert len(colours) > 1
        terminal.png(tmp_path / "nvim.png")
        terminal.send("\x1b:qa!\r")
        assert terminal.wait_for_end() == 0
