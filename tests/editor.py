"""Drives a real Neovim as a child process."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pynvim

ROOT = Path(__file__).resolve().parent.parent
BOUND_MS = 30_000
"""Longest wait for anything; reaching it is a failure, never a pause."""


class Editor:
    """One embedded Neovim, with the few verbs that tests need."""

    def __init__(self, nvim: pynvim.Nvim, process: subprocess.Popen[bytes]) -> None:
        self.nvim = nvim
        self.process = process

    def lua(self, source: str, *args: Any) -> Any:
        """Run Lua; arguments are `...`."""
        return self.nvim.exec_lua(source, *args)

    def feed(self, keys: str) -> None:
        """Type keys as a user would (`<CR>` notation), and wait until they are processed."""
        self.nvim.api.input(keys)
        self._wait_until_taken(keys)

    def press(self, keys: str) -> None:
        """Type keys that are taken when Neovim comes to them, and wait until they are processed.

        For `<C-c>`: typed as in `feed` while Neovim is at work, it is Vim's interrupt and no key.
        """
        self.nvim.api.feedkeys(self.nvim.replace_termcodes(keys), "t", False)
        self._wait_until_taken(keys)

    def _wait_until_taken(self, keys: str) -> None:
        deadline = time.monotonic() + BOUND_MS / 1000
        while self.lua("return vim.fn.getchar(1)") != 0:
            assert time.monotonic() < deadline, f"keys were never taken: {keys}\n{self.state()}"

    def wait_for(self, condition: str, *args: Any) -> Any:
        """Wait until the Lua expression is truthy, and return its value."""
        source = f"""
            local args, value = {{...}}, nil
            local check = function(...) return {condition} end
            local met = vim.wait({BOUND_MS}, function()
              value = check(unpack(args))
              return value and true or false
            end, 5)
            return {{ met, value }}
        """
        met, value = self.lua(source, *args)
        assert met, f"never became true: {condition}\n{self.state()}"
        return value

    def record(self, *names: str) -> None:
        """Keep the data of these `User` events in `_G.seen[name]`."""
        self.lua(
            """
            _G.seen = _G.seen or {}
            for _, name in ipairs({...}) do
              _G.seen[name] = {}
              vim.api.nvim_create_autocmd("User", { pattern = name, callback = function(event)
                table.insert(_G.seen[name], event.data or {})
              end })
            end
            """,
            *names,
        )

    def seen(self, name: str, count: int = 1) -> list[Any]:
        """Wait until `count` recorded events of that name came; all of them."""
        self.wait_for("#_G.seen[select(1, ...)] >= select(2, ...)", name, count)
        return self.lua("return _G.seen[...]", name)

    def open(self, path: Path, text: str | None = None) -> int:
        """Edit a file (written first, when text is given); its buffer number."""
        if text is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        self.nvim.command(f"edit {self.nvim.funcs.fnameescape(str(path))}")
        return self.nvim.api.get_current_buf().number

    def lines(self, bufnr: int = 0) -> list[str]:
        return self.nvim.api.buf_get_lines(bufnr, 0, -1, True)

    def messages(self) -> str:
        return self.nvim.funcs.execute("messages")

    def state(self) -> str:
        """What a failed wait prints."""
        return f"messages: {self.messages()}\nbuffer: {self.lines()[:40]}"


@contextmanager
def start_editor(binary: str, *extra: str) -> Generator[Editor]:
    """A child Neovim with this repository on its runtime path."""
    with tempfile.TemporaryDirectory(prefix="typstai-") as folder:
        address = str(Path(folder) / "nvim.sock")
        argv = [
            binary, "--headless", "--clean", "-n", "-i", "NONE", "--listen", address,
            "--cmd", f"set runtimepath^={ROOT}",
            "--cmd", f"let g:typstai_python = '{sys.executable}'",
            *extra,
        ]  # fmt: skip
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
        try:
            nvim = _attach(process, address)
            try:
                yield Editor(nvim, process)
            finally:
                _quit(nvim, process)
        finally:
            process.kill()
            process.wait()


def _attach(process: subprocess.Popen[bytes], address: str) -> pynvim.Nvim:
    deadline = time.monotonic() + BOUND_MS / 1000
    while not _listens(address):
        assert process.poll() is None, "Neovim ended before it listened"
        assert time.monotonic() < deadline, "Neovim does not listen"
        time.sleep(0.002)
    return pynvim.attach("socket", path=address)


def _listens(address: str) -> bool:
    """Whether a connection is taken; the socket's file is there a moment earlier."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(address) == 0


def _quit(nvim: pynvim.Nvim, process: subprocess.Popen[bytes]) -> None:
    try:
        if process.poll() is None:
            nvim.command("qall!", async_=True)
            process.wait(timeout=BOUND_MS / 1000)
    finally:
        _close(nvim)


def _close(nvim: pynvim.Nvim) -> None:
    """Close the client; pynvim alone would leak its socket and its event loop."""
    loop = nvim.loop
    event_loop: Any = nvim._session._async_session._msgpack_stream.loop
    event_loop._transport.abort()
    loop.call_soon(loop.stop)
    loop.run_forever()
    nvim.close()
