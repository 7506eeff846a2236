"""English spelling and grammar by Harper, which reads Typst; in a process of its own.

Harper takes a second to load and 150 MB to hold, so it starts with the first
question and ends when none came for a while.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..domain.prose import is_english
from ..domain.spelling import Mistake, MistakeKind
from ..log import logger

ANSWER_SECONDS = 20.0
IDLE_SECONDS = 300.0
_MAX_LINE = 1 << 24
_KEPT = ("HOME", "LANG", "PATH", "TMPDIR")
_KINDS: dict[str, MistakeKind] = {
    "Spelling": "spelling",
    "Enhancement": "style",
    "Readability": "style",
    "Redundancy": "style",
    "Regionalism": "style",
    "Style": "style",
}
"""What is none of these is a slip of grammar."""


class HarperSpeller:
    """Implements `Speller` for English; other languages are not checked."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._idle: asyncio.TimerHandle | None = None

    async def mistakes(self, text: str) -> Sequence[Mistake] | None:
        if not is_english(text) or importlib.util.find_spec("harper") is None:
            return None
        async with self._turn:
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    found = await self._ask(text)
            except (OSError, EOFError, ValueError, TimeoutError) as error:
                logger.warning("harper did not answer: %r", error)
                await self.close()
                return None
            except asyncio.CancelledError:
                await self.close()  # its answer would be taken for that to the next question
                raise
        self._rest()
        return [_mistake(item) for item in found]

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if self._idle is not None:
            self._idle.cancel()
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _ask(self, text: str) -> list[Any]:
        if self._process is None:
            self._process = await _start()
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin and stdout
        stdin.write(json.dumps(text).encode() + b"\n")
        await stdin.drain()
        line = await stdout.readline()
        if not line:
            raise EOFError("the process ended")
        return json.loads(line)

    def _rest(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._end_idle)

    def _end_idle(self) -> None:
        process = self._process
        if process is not None and process.stdin and not self._turn.locked():
            self._process = None
            process.stdin.close()


async def _start() -> asyncio.subprocess.Process:
    spec = importlib.util.find_spec("harper")
    assert spec is not None and spec.origin is not None
    return await asyncio.create_subprocess_exec(
        sys.executable, "-I", str(Path(__file__).with_name("harper_worker.py")),
        str(Path(spec.origin).parent.parent),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={name: os.environ[name] for name in _KEPT if name in os.environ},
        start_new_session=True,
        limit=_MAX_LINE,
    )  # fmt: skip


def _mistake(item: Any) -> Mistake:
    start, end, kind, message, choices = item
    return Mistake(
        start=start,
        end=end,
        kind=_KINDS.get(kind, "grammar"),
        message=message,
        choices=tuple(choices),
    )
