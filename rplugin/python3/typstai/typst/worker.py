"""The worker process: reads jobs from stdin, checks or draws, writes results to stdout.

It never outlives its host: a thread watches stdin and ends the process when it
closes, also in the middle of a compilation, which does not hold the GIL.
"""

from __future__ import annotations

import os
import queue
import resource
import shutil
import sys
import threading
from typing import BinaryIO

from ..domain.diagnostic import CheckResult
from ..domain.preview import PagePreview
from .checking import Checking
from .protocol import Job, Reply, decode_job, decode_settings, encode

_MIB = 1 << 20


def main() -> None:
    """Serve until stdin closes."""
    replies = _take_stdout()
    settings = decode_settings(sys.stdin.buffer.readline())
    checking = Checking(settings)
    _limit_memory(settings.memory_mib)
    jobs: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    reader = threading.Thread(target=_read, args=(jobs, settings.folder), daemon=True)
    reader.start()
    while True:
        result, page = _serve(checking, decode_job(jobs.get()))
        replies.write(encode(Reply(result=result, page=page, rss_mib=_rss_mib())))
        replies.flush()
        checking.age_cache()


def _serve(checking: Checking, job: Job) -> tuple[CheckResult, PagePreview | None]:
    try:
        if job.cursor is not None:
            return checking.preview(job, job.cursor)
        return checking.check(job), None
    except BaseException as error:  # a panic of the compiler is no Exception
        note = f"The check itself failed ({type(error).__name__}: {error})."
        return CheckResult(status="crashed", note=note), None


def _take_stdout() -> BinaryIO:
    """The pipe to the host, out of reach of anything that prints."""
    mine = os.fdopen(os.dup(1), "wb")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.close(quiet)
    return mine


def _read(jobs: queue.SimpleQueue[bytes], folder: str) -> None:
    for line in sys.stdin.buffer:
        jobs.put(line)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def _limit_memory(memory_mib: int) -> None:
    """Running out of memory must end this process, not the machine's patience."""
    used = _statm(0)
    if used is None:
        return
    limit = used + memory_mib * _MIB
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _rss_mib() -> int:
    """Resident memory; where the kernel does not tell, the most there ever was."""
    now = _statm(1)
    if now is None:
        now = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return now // _MIB


def _statm(index: int) -> int | None:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[index]) * resource.getpagesize()
    except OSError:
        return None
