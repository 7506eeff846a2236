"""Messages on a real terminal: short ones on their line, long ones whole, none waits for a key."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from editor import ROOT
from terminal import Terminal

LONG = "The " + " ".join(f"word{number}" for number in range(40)) + " ends."
SHOW = "lua require('typstai.message').show({ message = '%s' })"


@contextmanager
def document(binary: str, folder: Path, *settings: str) -> Generator[Terminal]:
    path = folder / "text.typ"
    path.write_text("one\ntwo\nthree\n", encoding="utf-8")
    extra = [item for setting in settings for item in ("-c", setting)]
    argv = [
        binary, "--clean", "-n", "-i", "NONE", "--cmd", f"set runtimepath^={ROOT}",
        "-c", f"nnoremap M <Cmd>{SHOW % LONG}<CR>", "-c", f"inoremap M <Cmd>{SHOW % LONG}<CR>",
        "-c", f"nnoremap S <Cmd>{SHOW % 'It is short.'}<CR>", *extra, str(path),
    ]  # fmt: skip
    with Terminal(argv, columns=80, lines=16) as terminal:
        terminal.wait_for("three")
        yield terminal


def words(text: str) -> str:
    return "".join(text.split())


def is_whole(text: str) -> bool:
    return words(LONG) in words(text)


def height(terminal: Terminal, expected: int) -> None:
    terminal.send(":echo 'height' &cmdheight\r")
    terminal.wait_for(f"height {expected}")


@pytest.mark.parametrize("settings", ["set cmdheight=1", "set cmdheight=2", "set laststatus=3"])
def test_a_long_message_is_shown_whole_and_takes_no_key(
    nvim_binary: str, tmp_path: Path, settings: str
) -> None:
    with document(nvim_binary, tmp_path, settings) as terminal:
        terminal.send("M")
        terminal.wait_for(is_whole)
        assert "Press ENTER" not in terminal.text()
        terminal.send("jx")
        terminal.wait_for("\nwo")
        height(terminal, 2 if "cmdheight=2" in settings else 1)


def test_a_long_message_does_not_stop_who_is_typing(nvim_binary: str, tmp_path: Path) -> None:
    with document(nvim_binary, tmp_path) as terminal:
        terminal.send("iM")
        terminal.wait_for(is_whole)
        terminal.send("mine ")
        terminal.wait_for("mine one")
        terminal.send("\x1b")
        terminal.wait_for(lambda text: "INSERT" not in text)
        assert "Press ENTER" not in terminal.text()
        height(terminal, 1)


def test_a_short_message_leaves_the_command_line_as_high_as_it_is(
    nvim_binary: str, tmp_path: Path
) -> None:
    with document(nvim_binary, tmp_path) as terminal:
        terminal.send("S")
        terminal.wait_for("It is short.")
        height(terminal, 1)


def test_a_height_that_the_user_sets_meanwhile_stays(nvim_binary: str, tmp_path: Path) -> None:
    with document(nvim_binary, tmp_path) as terminal:
        terminal.send("M")
        terminal.wait_for(is_whole)
        terminal.send(":set cmdheight=3\r")
        terminal.send("jk")
        height(terminal, 3)


def test_another_notifier_is_given_no_room(nvim_binary: str, tmp_path: Path) -> None:
    echo = "vim.api.nvim_echo({ { 'told ' .. #message } }, false, {})"
    notify = f"lua vim.notify = function(message) {echo} end"
    with document(nvim_binary, tmp_path, notify) as terminal:
        terminal.send("M")
        terminal.wait_for(f"told {len(LONG)}")
        height(terminal, 1)
