"""One worker process, seen from the host: start it, ask it, end it."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import signal
import sys
from pathlib import Path

from ..errors import CompilerError

_BOOT = """
import sys, types
folder, *paths = sys.argv[1:]
sys.path += paths
package = types.ModuleType("typstai")
package.__path__ = [folder]
sys.modules["typstai"] = package
from typstai.typst.worker import main
main()
"""
"""Imports the worker without the package's entry point, which needs Neovim's client."""

_LIBRARIES = ("typst", "typst_syntax", "msgspec")
_DRAWING = ("pypdfium2", "PIL")
"""Needed for previews only: without them documents are checked all the same."""
_KEPT = ("HOME", "LANG", "PATH", "TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME")
_PROXIES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY")
_NOWHERE = "http://127.0.0.1:9"
"""Nothing listens there; the compiler has no switch of its own for staying offline."""
_MAX_LINE = 1 << 26


class WorkerEnded(Exception):
    """The worker closed its pipe; `code` is its exit status, negative for a signal."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class WorkerProcess:
    """A running worker, leader of its own process group."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        assert process.stdin and process.stdout
        self._stdin, self._stdout = process.stdin, process.stdout

    @classmethod
    async def start(cls, greeting: bytes, *, network: bool) -> WorkerProcess:
        """Start a worker and send it its settings. Raises `CompilerError`."""
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-c", _BOOT, *_folders(),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=environment(network=network),
                start_new_session=True,
                limit=_MAX_LINE,
            )  # fmt: skip
        except OSError as error:
            raise CompilerError(f"The Typst worker could not start: {error}.") from error
        worker = cls(process)
        worker._stdin.write(greeting)
        return worker

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ask(self, line: bytes) -> bytes:
        """Send one line and wait for the answer. Raises `WorkerEnded`."""
        with contextlib.suppress(ConnectionError):
            self._stdin.write(line)
            await self._stdin.drain()
        answer = await self._stdout.readline()
        if not answer.endswith(b"\n"):
            raise WorkerEnded(await self._process.wait())
        return answer

    async def kill(self) -> None:
        """End the whole group at once and wait until it is gone."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._stdin.close()
        await self._process.wait()


def _folders() -> list[str]:
    """The package's own folder, then those that hold the libraries it needs."""
    folders: list[str] = []
    for name in (*_LIBRARIES, *_DRAWING):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            folders.append(str(Path(spec.origin).parent.parent))
        elif name in _LIBRARIES:
            raise CompilerError(f"The Python package {name} is missing; run :TypstAI install.")
    return [str(Path(__file__).parent.parent), *dict.fromkeys(folders)]


def environment(*, network: bool) -> dict[str, str]:
    """No keys, nothing that changes Python, and no way to the network unless allowed."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    kept["MALLOC_ARENA_MAX"] = "4"
    wanted = {*_PROXIES, "NO_PROXY"}
    if network:
        return kept | {k: v for k, v in os.environ.items() if k.upper() in wanted}
    return kept | {name: _NOWHERE for proxy in _PROXIES for name in (proxy, proxy.lower())}
