"""The SQLite file of the store: opening, migrating, transactions, failures.

All SQLite work runs on one thread that the `Database` owns, in the order in
which it was asked for; the asyncio side awaits it. What is stored is the
concern of the modules that hand in the work.

Commits are synced to disk (`synchronous = FULL`): a process killed at any time
loses nothing that was committed, and neither does a machine that loses power.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from ..errors import StorageError
from ..log import logger
from .owner import Owner
from .schema import LATEST, MIGRATIONS

FILE_NAME = "chats.sqlite3"
BUSY_TIMEOUT_MS = 5_000
CHECKED_AT_OPEN_BYTES = 32 * 1024 * 1024
"""A larger file is checked only after reading it has failed, so that opening stays quick."""

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_DENIED = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)


class Database:
    """One open database. Every method raises StorageError, and nothing else, on failure."""

    owner: Owner
    """This process, as the writer of running turns."""
    set_aside: Path | None = None
    """Where a damaged file was moved to when this one was opened, to be told to the user."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        self._suspect = folder / "suspect"
        """Exists once reading has met damage, until the whole file was checked."""
        self._connection: sqlite3.Connection
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="typstai-store")
        self._closed = False

    @classmethod
    async def open(cls, folder: Path) -> Database:
        """Open the database in `folder`, made and migrated as needed."""
        database = cls(folder)
        try:
            await _outcome(database._worker.submit(database._guarded, database._start))
        except BaseException:
            database._worker.shutdown(wait=False)
            raise
        return database

    async def read(self, work: Work[T]) -> T:
        """Run `work` on one consistent state of the database."""
        return await _outcome(self._submit("BEGIN", work))

    async def write(self, work: Work[T]) -> T:
        """Run `work` as one transaction; it is finished even if the caller is cancelled."""
        return await _outcome(self.submit_write(work))

    def submit_write(self, work: Work[T]) -> Future[T]:
        """Queue a write without waiting, for callers that cannot await."""
        return self._submit("BEGIN IMMEDIATE", work)

    def close(self) -> None:
        """Finish the pending writes, then close. Blocks; calling it twice does no harm."""
        if self._closed:
            return
        self._closed = True
        self._worker.submit(self._stop)
        self._worker.shutdown(wait=True)

    def _submit(self, begin: str, work: Work[T]) -> Future[T]:
        if self._closed:
            raise StorageError("The chat store is closed.")
        return self._worker.submit(self._guarded, lambda: self._transaction(begin, work))

    def _transaction(self, begin: str, work: Work[T]) -> T:
        self._connection.execute(begin)
        try:
            result = work(self._connection)
            self._connection.execute("COMMIT")
        except BaseException:
            # SQLite itself has rolled back after some errors (a full disk, for one).
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        return result

    def _guarded(self, work: Callable[[], T]) -> T:
        """Translate every failure of SQLite and of the file system into one sentence."""
        try:
            return work()
        except sqlite3.Error as error:
            logger.warning("the chat database failed", exc_info=error)
            if _code(error) in _DAMAGE:
                self._suspect_damage()
            raise StorageError(self._sentence(error)) from error
        except OSError as error:
            logger.warning("the chat database failed", exc_info=error)
            reason = f"The chats cannot be stored in {self.folder}: {error.strerror}."
            raise StorageError(reason) from error

    def _suspect_damage(self) -> None:
        with suppress(OSError):
            self._suspect.touch()

    def _start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        _restrict(self.folder, 0o700)
        with self._alone():
            self.owner = Owner(self.folder / "owners")
            try:
                self._connection = self._open_or_set_aside()
            except BaseException:
                self.owner.close()
                raise

    def _stop(self) -> None:
        try:
            self._connection.close()
            self.owner.close()
        except (sqlite3.Error, OSError):
            logger.exception("the chat database did not close")

    @contextmanager
    def _alone(self) -> Generator[None]:
        """Keep other processes from opening or migrating at the same moment."""
        descriptor = os.open(self.folder / "open.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _open_or_set_aside(self) -> sqlite3.Connection:
        try:
            connection = self._open_file()
        except sqlite3.DatabaseError as error:
            if _code(error) not in _DAMAGE:
                raise
            logger.warning("the chat database is damaged", exc_info=error)
            self.set_aside = self._move_away()
            connection = self._open_file()
        self._suspect.unlink(missing_ok=True)
        return connection

    def _open_file(self) -> sqlite3.Connection:
        if not self.path.exists():
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        for path in self._files():
            _restrict(path, 0o600)
        connection = sqlite3.connect(self.path, isolation_level=None)
        try:
            _prepare(connection, check=self._suspect.exists() or self._is_small())
        except BaseException:
            connection.close()
            raise
        return connection

    def _is_small(self) -> bool:
        return sum(map(_size, self._files())) <= CHECKED_AT_OPEN_BYTES

    def _files(self) -> list[Path]:
        """The database and, where they exist, its log and index; SQLite copies its mode to them."""
        return [path for suffix in ("", "-wal", "-shm") if (path := _beside(self.path, suffix))]

    def _move_away(self) -> Path:
        if self.owner.others():
            # Closing the old file, they would delete the new one's log, which has its name.
            raise StorageError(
                "The chat database is damaged and open in another Neovim: close it, then try again."
            )
        stamp = time.strftime("%Y%m%d-%H%M%S")
        target = self.path.with_name(f"chats.damaged-{stamp}.sqlite3")
        count = 1
        while target.exists():
            count += 1
            target = self.path.with_name(f"chats.damaged-{stamp}-{count}.sqlite3")
        for path in reversed(self._files()):
            path.rename(target.with_name(target.name + path.name.removeprefix(FILE_NAME)))
        return target

    def _sentence(self, error: sqlite3.Error) -> str:
        code = _code(error)
        if code in _DAMAGE:
            return (
                f"The chat database in {self.folder} is damaged: restart Neovim to start a new one."
            )
        if code in _DENIED:
            return f"The chats cannot be stored: make {self.folder} and its files writable."
        if code == sqlite3.SQLITE_FULL:
            return f"The chat was not stored: the disk of {self.folder} is full."
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return "The chat was not stored: another Neovim holds the chat database; try again."
        return f"The chat database in {self.folder} failed ({error}): see :TypstAI log."


def _prepare(connection: sqlite3.Connection, *, check: bool) -> None:
    """Check, configure and migrate; a database of a newer version is not written to."""
    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
    _refuse_newer(_version(connection))
    if check:
        _check(connection)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    if _version(connection) < LATEST:
        _migrate(connection)


def _check(connection: sqlite3.Connection) -> None:
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        error = sqlite3.DatabaseError(verdict)
        error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise error


def _migrate(connection: sqlite3.Connection) -> None:
    """All missing migrations in one transaction; none twice, whoever else migrates."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection)
        _refuse_newer(version)
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {LATEST}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def _refuse_newer(version: int) -> None:
    if version > LATEST:
        raise StorageError(
            f"The chat database is of version {version}, newer than {LATEST}: update typstai.nvim."
        )


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary result code; 0 when the error did not come from SQLite."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _restrict(path: Path, mode: int) -> None:
    with suppress(FileNotFoundError):
        if path.stat().st_mode & 0o777 != mode:
            path.chmod(mode)


def _size(path: Path) -> int:
    """In bytes; another process that closes the database may just have removed its log."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _beside(path: Path, suffix: str) -> Path | None:
    found = path.with_name(path.name + suffix)
    return found if found.exists() else None


async def _outcome(future: Future[T]) -> T:
    """Await work of the thread. Cancelling the wait never takes a queued write back."""
    return await asyncio.shield(asyncio.wrap_future(future))
