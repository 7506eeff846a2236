"""A disk that is really full, or a limit on the size of files: no edit without its text kept."""

from __future__ import annotations

import re
import resource
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from editor import Editor, start_editor
from reviewing import call, fill, propose, record_calls, states

LONG = ["one", *(f"line {number} of a long document" for number in range(20_000))]
"""More than any of the limits."""
LIMIT = 64 * 1024


class Disk:
    """Where the plugin keeps its data, the Neovim that does, and how to make room for more."""

    def __init__(self, editor: Editor, data: Path, make_room: Callable[[], None]) -> None:
        self.editor, self.data, self.make_room = editor, data, make_room
        editor.lua("vim.g.typstai_data = ...", str(data))
        record_calls(editor)

    def files(self, folder: str) -> list[str]:
        return sorted(path.name for path in (self.data / folder).glob("*"))


def limited(nvim_binary: str, tmp_path: Path) -> Iterator[Disk]:
    """A Neovim that may not write longer files; it must not die of the signal for it."""
    wrapper = tmp_path / "nvim"
    wrapper.write_text(f"#!/bin/sh\ntrap '' XFSZ\nexec {nvim_binary} \"$@\"\n", encoding="utf-8")
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)

    def limit(size: int) -> None:
        resource.prlimit(editor.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    with start_editor(str(wrapper)) as editor:
        limit(LIMIT)
        yield Disk(editor, tmp_path / "data", lambda: limit(resource.RLIM_INFINITY))


def full(nvim_binary: str, tmp_path: Path) -> Iterator[Disk]:
    """A file system of its own with next to no room."""
    data = tmp_path / "disk"
    data.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={LIMIT}", "typstai", str(data)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system is not allowed here")

    def grow() -> None:
        subprocess.run(["mount", "-o", "remount,size=16m", str(data)], check=True)

    try:
        with start_editor(nvim_binary) as editor:
            yield Disk(editor, data, grow)
    finally:
        subprocess.run(["umount", "--lazy", str(data)], check=True)


@pytest.fixture(params=[limited, full], ids=["limit", "disk"])
def disk(request: pytest.FixtureRequest, nvim_binary: str, tmp_path: Path) -> Iterator[Disk]:
    if not hasattr(resource, "prlimit"):
        pytest.skip("limits of a running process are set on Linux only")
    yield from request.param(nvim_binary, tmp_path)


def test_an_edit_whose_text_cannot_be_kept_is_not_made_until_there_is_room(disk: Disk) -> None:
    editor = disk.editor
    fill(editor, LONG)
    propose(editor, (0, ["one"], ["1"]))
    _, err = editor.lua("return { require('typstai.proposals').accept('p1') }")
    assert err["code"] == "not_stored"
    told = re.match(
        r"The edit was not made: the text before it cannot be stored \((.*)\)\.$", err["message"]
    )
    assert told and told[1] in ("no space left on device", "file too large")
    assert (editor.lines(), states(editor)) == (LONG, ["pending"])
    assert disk.files("journal") == []
    disk.make_room()
    assert call(editor, "accept", "p1") == {"accepted": 1, "stale": 0}
    assert editor.lines()[0] == "1"
    (record,) = (disk.data / "journal").glob("*.record")
    assert record.read_text(encoding="utf-8").partition("\n")[2] == "\n".join(LONG)


def test_a_proposal_that_cannot_be_kept_for_later_is_shown_all_the_same_and_said(
    disk: Disk,
) -> None:
    editor = disk.editor
    fill(editor, LONG)
    propose(editor, (0, LONG, [f"{line}, reworded" for line in LONG]))
    assert states(editor) == ["pending"]
    editor.wait_for(
        "vim.fn.execute('messages'):find('Proposed changes will be forgotten', 1, true)"
    )
    assert disk.files("proposals") == []
    disk.make_room()
    assert call(editor, "edit", "p1", "h1", "all of it") is True
    assert len(disk.files("proposals")) == 1
