"""The records that Neovim wrote before it changed a document, until they are taken over.

Files only: the same record may be read any number of times, by several processes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from ..domain.checkpoint import text_hash
from ..errors import StorageError
from ..log import logger

ABANDONED_SECONDS = 3600
"""A record is written within one call; half of one that is this old has no writer any more."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The first line of a record."""

    id: str
    kind: Literal["edit", "revert", "restore"]
    document: str
    at: float
    """Seconds since the epoch."""
    after: str
    """Hash of the text that the write leaves."""
    before: str = ""
    """Hash of the text before, where that text does not follow."""
    bytes: int | None = None
    """Length of the text before, where it follows."""
    chat: str = ""
    run: str = ""
    snapshot: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    header: Header
    before: str
    """Hash of the text before."""
    body: bytes | None
    """The text before, lines joined by a newline."""


class Journal:
    """The folder of records. Methods block, and raise StorageError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> tuple[Record, ...]:
        """All records, in the order in which they were made; damaged ones are set aside."""
        try:
            self._sweep()
            paths = sorted(self._folder.glob("*.record"))
            found = [self._read(path) for path in paths]
        except OSError as error:
            raise StorageError(
                f"What was recorded in {self._folder} cannot be read: {error.strerror}."
            ) from error
        return tuple(record for record in found if record is not None)

    def discard(self, records: Iterable[Record]) -> None:
        """Remove records that are safe elsewhere; one that stays is taken over again."""
        for record in records:
            path = self._folder / f"{record.header.id}.record"
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                logger.warning("%s stays: %s", path, error)

    def _read(self, path: Path) -> Record | None:
        try:
            line, _, body = path.read_bytes().partition(b"\n")
        except FileNotFoundError:  # another process has just taken it over
            return None
        try:
            header = msgspec.json.decode(line, type=Header)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return _set_aside(path, error)
        if header.id != path.stem or len(body) != (header.bytes or 0):
            return _set_aside(path, "its content is not what was written")
        if header.bytes is None:
            return Record(header=header, before=header.before, body=None)
        return Record(header=header, before=text_hash(body), body=body)

    def _sweep(self) -> None:
        """Remove what a process that was killed left half written."""
        for path in self._folder.glob("*.part"):
            with suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > ABANDONED_SECONDS:
                    path.unlink()


def _set_aside(path: Path, why: object) -> None:
    logger.error("record %s is damaged and set aside: %s", path, why)
    with suppress(FileNotFoundError):
        path.rename(path.with_suffix(".damaged"))
