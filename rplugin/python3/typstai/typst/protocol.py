"""What the host and the worker say to each other: one line of JSON each way."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec

from ..domain.diagnostic import CheckResult
from ..domain.preview import PagePreview


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """What a worker is started with, as its first line."""

    folder: str
    """An empty folder for shadows of projects; the worker removes it when the host is gone."""
    memory_mib: int
    """Address space beyond what the libraries take; the kernel refuses more."""
    main: str
    package_path: str
    font_paths: tuple[str, ...]
    allow_download: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One check, or with a `cursor` one page to draw; paths are absolute."""

    root: str
    path: str
    overlay: dict[str, str]
    cursor: tuple[int, int] | None = None
    """A place in `path`, row and byte column from 0: its page is drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The result of one job, and the memory the worker holds after it."""

    result: CheckResult
    rss_mib: int
    page: PagePreview | None = None
    """What was drawn; None for a check, and for a document that does not compile."""


def encode(message: WorkerSettings | Job | Reply) -> bytes:
    """The message as one line."""
    try:
        return msgspec.json.encode(message) + b"\n"
    except UnicodeEncodeError:
        assert isinstance(message, Job)
        return encode(_without_surrogates(message))


def _without_surrogates(job: Job) -> Job:
    """Bytes that were no UTF-8 become question marks; the compiler would refuse the file."""
    texts = {path: text.encode("utf-8", "replace").decode() for path, text in job.overlay.items()}
    return replace(job, overlay=texts)


def decode_settings(line: bytes) -> WorkerSettings:
    return msgspec.json.decode(line, type=WorkerSettings)


def decode_job(line: bytes) -> Job:
    return msgspec.json.decode(line, type=Job)


def decode_reply(line: bytes) -> Reply:
    return msgspec.json.decode(line, type=Reply)
