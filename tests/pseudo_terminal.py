"""A program on a pseudo-terminal: its bytes, its keys and its end. Emulates nothing."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

BOUND_SECONDS = 30.0
"""Longest wait for anything; reaching it is a failure, never a pause."""

_READ_BYTES = 1 << 16


class PseudoTerminal:
    """Runs `argv` with a terminal of its own; `receive` is called with all it writes."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        columns: int = 100,
        lines: int = 30,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.fd, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.process = subprocess.Popen(
            argv,
            stdin=child,
            stdout=child,
            stderr=child,
            cwd=cwd,
            env=_environment(environment),
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(child)
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def receive(self, data: bytes) -> None:
        """What the program wrote; overridden by who wants to see it."""

    def send(self, data: str) -> None:
        """Type the characters; control characters are written as such (`\\r`, `\\x1b`)."""
        view = memoryview(data.encode())
        while view:
            select.select([], [self.fd], [])
            view = view[os.write(self.fd, view) :]

    def wait_until(self, met: Callable[[], bool], seconds: float = BOUND_SECONDS) -> None:
        """Read until `met()`; raises `AssertionError` at the bound or when the program ended."""
        deadline = time.monotonic() + seconds
        while not met():
            assert not self._ended, f"the program ended\n{self.state()}"
            remaining = deadline - time.monotonic()
            assert remaining > 0, f"waited {seconds} s in vain\n{self.state()}"
            self.read(remaining)

    def wait_for_end(self, seconds: float = BOUND_SECONDS) -> int:
        """Read until the program closed its terminal; its exit code."""
        self.wait_until(lambda: self._ended, seconds)
        return self.process.wait(timeout=seconds)

    def read(self, seconds: float) -> bool:
        """Pass on what comes next, waiting at most that long for it; whether anything came."""
        if self._ended or not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, _READ_BYTES)
        except OSError:  # Linux reports a terminal without programs so
            data = b""
        if data:
            self.receive(data)
        else:
            self._ended = True
        return bool(data)

    def state(self) -> str:
        """What a failed wait prints."""
        return f"exit code: {self.process.poll()}"

    def close(self) -> None:
        """Hang up, as a closed terminal window does; kill what stays.

        What the program writes on leaving is still read: it may wait for an answer to it.
        """
        if self.fd < 0:
            return
        _signal_group(self.process.pid, signal.SIGHUP)
        with suppress(AssertionError, subprocess.TimeoutExpired):
            self.wait_for_end()
        os.close(self.fd)
        self.fd = -1
        _signal_group(self.process.pid, signal.SIGKILL)
        self.process.wait()


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    base = {name: value for name, value in os.environ.items() if not name.startswith("NVIM")}
    return base | {"TERM": "xterm-256color", "COLORTERM": "truecolor"} | dict(extra or {})


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _signal_group(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, number)
