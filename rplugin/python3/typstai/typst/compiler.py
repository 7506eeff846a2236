"""The Typst compiler behind a process that may hang, crash or run out of memory."""

from __future__ import annotations

import asyncio
import shutil
import signal
import tempfile
from dataclasses import dataclass

from ..domain.diagnostic import CheckResult
from ..domain.preview import PagePreview
from ..errors import CompilerError
from .process import WorkerEnded, WorkerProcess
from .protocol import Job, Reply, WorkerSettings, decode_reply, encode

TIMEOUT_S = 20.0
MEMORY_MIB = 4096
RECYCLE_MIB = 1536
"""Resident memory at which a worker is replaced after its answer; a fresh one takes 50."""

_SHUT_DOWN = CheckResult(status="unavailable", note="The compiler was shut down.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilerOptions:
    """How to compile; the defaults suit a project without settings."""

    main: str = ""
    """The main file, relative to the root; found by itself when empty."""
    timeout_s: float = TIMEOUT_S
    memory_mib: int = MEMORY_MIB
    recycle_mib: int = RECYCLE_MIB
    package_path: str = ""
    """Folder of installed packages, `namespace/name/version`; the user's own when empty."""
    font_paths: tuple[str, ...] = ()
    allow_download: bool = False


class TypstCompiler:
    """`Checker` and `PageRenderer` over one worker process, started with the first of them.

    Checks and pages are served one after the other. A cancelled check that has begun runs
    on (killing it would throw away the warm compiler, which costs more than the
    rest of the compilation), its result is dropped, and the next check waits for
    it, at most until its time is up.
    """

    def __init__(self, options: CompilerOptions | None = None) -> None:
        self._options = options or CompilerOptions()
        self._turn = asyncio.Lock()
        self._running: asyncio.Task[Reply] | None = None
        self._worker: WorkerProcess | None = None
        self._folder = ""
        self._closed = False

    @property
    def worker_pid(self) -> int | None:
        """Process id of the worker, None while there is none."""
        return self._worker.pid if self._worker else None

    async def check(self, *, root: str, path: str, overlay: dict[str, str]) -> CheckResult:
        """Compile the project that `path` (absolute) belongs to, with `overlay` on top.

        Never raises for a document's sake; see `Checker.check`.
        """
        return (await self._reply(Job(root=root, path=path, overlay=overlay))).result

    async def render(
        self, *, root: str, path: str, overlay: dict[str, str], row0: int, byte_col: int
    ) -> PagePreview:
        """Draw the page of a place; see `PageRenderer.render`."""
        job = Job(root=root, path=path, overlay=overlay, cursor=(row0, byte_col))
        reply = await self._reply(job)
        return reply.page or PagePreview(note=_why(reply.result))

    async def _reply(self, job: Job) -> Reply:
        async with self._turn:
            if self._running is not None:
                await asyncio.wait({self._running})
            if self._closed:
                return _without_page(_SHUT_DOWN)
            running = self._running = asyncio.create_task(self._serve(encode(job)))
            await asyncio.wait({running})
            return _without_page(_SHUT_DOWN) if running.cancelled() else running.result()

    async def close(self) -> None:
        """End the worker and remove its files; later checks are unavailable."""
        self._closed = True
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait({self._running})
        await self._stop()

    async def _serve(self, job: bytes) -> Reply:
        try:
            return await self._ask(job)
        except CompilerError as error:
            result = CheckResult(status="unavailable", note=str(error))
        except TimeoutError:
            await self._stop()
            seconds = f"{self._options.timeout_s:g} s"
            note = f"Typst was stopped after {seconds}: the document takes too long to compile."
            result = CheckResult(status="timeout", note=note)
        except WorkerEnded as ended:
            await self._stop()
            result = self._crashed(ended.code)
        except OSError as error:
            note = f"There is no room for temporary files: {error.strerror}."
            result = CheckResult(status="unavailable", note=note)
        return _without_page(result)

    async def _ask(self, job: bytes) -> Reply:
        try:
            answer = await self._bounded(job)
        except WorkerEnded as ended:
            if ended.code != -signal.SIGKILL:
                raise
            await self._stop()  # someone else killed it: that says nothing about the document
            answer = await self._bounded(job)
        reply = decode_reply(answer)
        if reply.rss_mib > self._options.recycle_mib or reply.result.status == "crashed":
            await self._stop()
        return reply

    async def _bounded(self, job: bytes) -> bytes:
        async with asyncio.timeout(self._options.timeout_s):
            if self._worker is None:
                self._worker = await self._start()
            return await self._worker.ask(job)

    async def _start(self) -> WorkerProcess:
        options = self._options
        self._folder = tempfile.mkdtemp(prefix="typstai-")
        settings = WorkerSettings(
            folder=self._folder,
            memory_mib=options.memory_mib,
            main=options.main,
            package_path=options.package_path,
            font_paths=options.font_paths,
            allow_download=options.allow_download,
        )
        return await WorkerProcess.start(encode(settings), network=options.allow_download)

    async def _stop(self) -> None:
        worker, self._worker = self._worker, None
        folder, self._folder = self._folder, ""
        if worker is not None:
            await worker.kill()
        if folder:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def _crashed(self, code: int) -> CheckResult:
        if code == -signal.SIGABRT:
            note = f"Typst needs more than {self._options.memory_mib} MiB for this document."
            return CheckResult(status="crashed", note=note)
        if code > 0:
            note = "The Typst worker could not start; see :checkhealth typstai."
            return CheckResult(status="unavailable", note=note)
        return CheckResult(status="crashed", note=f"Typst crashed (signal {-code}).")


def _without_page(result: CheckResult) -> Reply:
    return Reply(result=result, rss_mib=0)


def _why(result: CheckResult) -> str:
    """Why no page was drawn, in one sentence."""
    errors = [item for item in result.diagnostics if item.severity == "error"]
    if result.note or not errors:
        return result.note or "The document could not be drawn."
    first = errors[0]
    place = f" ({first.path}:{first.row0 + 1})" if first.path else ""
    return f"The document does not compile: {first.message.rstrip('.')}{place}."
