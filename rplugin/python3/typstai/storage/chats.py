"""Chats and their turns in the database, grouped by project.

Two Neovims may append to one chat: every turn is a row of its own, ordered by
its first save. A running turn belongs to the process that writes it, and only
that process may change it while it lives; when it has died, the turn is read
as interrupted.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeGuard

from ..domain.chat import AssistantTurn, Turn
from ..errors import StorageError
from . import turns
from .database import Database

MAX_CHAT_BYTES = 1024 * 1024
MAX_TITLE_CHARACTERS = 120

_GONE = "This chat is not in the store any more: it was deleted, perhaps in another Neovim."
_RECORD = """
    SELECT id, project, title, created, updated,
           (SELECT count(*) FROM turns WHERE turns.chat = chats.id)
    FROM chats
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRecord:
    """What a list of chats shows. Times are seconds since the epoch."""

    id: str
    project: str
    title: str
    created: float
    updated: float
    turns: int
    """How many turns it has."""


class ChatStore:
    """The chats of all projects. Every method raises StorageError on failure."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def latest(self, project: str) -> ChatRecord | None:
        """The chat of the project that was last written to."""
        records = await self._newest(project, 1)
        return records[0] if records else None

    async def create(self, project: str) -> ChatRecord:
        """A new, empty chat. `project` is the absolute path of its folder."""
        now = time.time()
        chat_id = secrets.token_hex(8)
        record = ChatRecord(
            id=chat_id, project=project, title="", created=now, updated=now, turns=0
        )
        insert = "INSERT INTO chats (id, project, created, updated) VALUES (?, ?, ?, ?)"
        await self._database.write(lambda db: db.execute(insert, (chat_id, project, now, now)))
        return record

    async def load(self, chat_id: str) -> tuple[ChatRecord, tuple[Turn, ...]]:
        """A chat and its turns, oldest first. Running turns of dead processes are interrupted."""
        return await self._database.read(lambda db: self._load(db, chat_id))

    async def save_turn(self, chat_id: str, turn: Turn) -> None:
        """Add the turn, or replace the one of the same id in its place."""
        await self._database.write(lambda db: self._save(db, chat_id, turn))

    def submit_turn(self, chat_id: str, turn: Turn) -> Future[None]:
        """`save_turn` without waiting; closing the database still finishes it."""
        return self._database.submit_write(lambda db: self._save(db, chat_id, turn))

    async def rename(self, chat_id: str, title: str) -> None:
        """Give the chat a title, made one printable line."""
        update = "UPDATE chats SET title = ? WHERE id = ?"
        line = _one_line(title)
        done = await self._database.write(lambda db: db.execute(update, (line, chat_id)).rowcount)
        if not done:
            raise StorageError(_GONE)

    async def delete(self, chat_id: str) -> None:
        """Delete the chat and its turns; one that is gone already is no error."""
        await self._database.write(
            lambda db: db.execute("DELETE FROM chats WHERE id = ?", (chat_id,))
        )

    async def list(self, project: str | None = None) -> tuple[ChatRecord, ...]:
        """The chats of a project, or of all, last written to first."""
        return await self._newest(project, -1)

    async def _newest(self, project: str | None, limit: int) -> tuple[ChatRecord, ...]:
        query = (
            f"{_RECORD} WHERE ?1 IS NULL OR project = ?1 ORDER BY updated DESC, rowid DESC LIMIT ?2"
        )
        rows = await self._database.read(lambda db: db.execute(query, (project, limit)).fetchall())
        return tuple(_record(row) for row in rows)

    def _load(self, db: sqlite3.Connection, chat_id: str) -> tuple[ChatRecord, tuple[Turn, ...]]:
        row = db.execute(f"{_RECORD} WHERE id = ?", (chat_id,)).fetchone()
        if row is None:
            raise StorageError(_GONE)
        rows = db.execute(
            "SELECT id, body, owner FROM turns WHERE chat = ? ORDER BY seq", (chat_id,)
        )
        return _record(row), tuple(self._turn(*stored) for stored in rows)

    def _turn(self, turn_id: str, body: str, owner: str) -> Turn:
        turn = turns.decode(body) or turns.unreadable(turn_id)
        if not _is_running(turn) or self._database.owner.is_alive(owner):
            return turn
        return turns.interrupted(turn)

    def _save(self, db: sqlite3.Connection, chat_id: str, turn: Turn) -> None:
        self._check_owner(db, chat_id, turn.id)
        owner = self._database.owner.id if _is_running(turn) else ""
        _put(db, chat_id, turns.bounded(turn), owner)
        db.execute("UPDATE chats SET updated = ? WHERE id = ?", (time.time(), chat_id))
        self._make_room(db, chat_id, turn.id)

    def _make_room(self, db: sqlite3.Connection, chat_id: str, newest: str) -> None:
        """Reduce old turns, the oldest first and no further than needed, to fit the limit."""
        excess = _bytes_of(db, chat_id) - MAX_CHAT_BYTES
        for level in turns.REDUCTIONS:
            if excess <= 0:
                return
            for seq, body, owner in _reducible(db, chat_id, newest, level):
                turn = turns.decode(body)
                if turn and excess > 0 and not self._database.owner.is_alive(owner):
                    excess -= _reduce(db, seq, turn, level)

    def _check_owner(self, db: sqlite3.Connection, chat_id: str, turn_id: str) -> None:
        if db.execute("SELECT 1 FROM chats WHERE id = ?", (chat_id,)).fetchone() is None:
            raise StorageError(_GONE)
        query = "SELECT owner FROM turns WHERE chat = ? AND id = ?"
        row = db.execute(query, (chat_id, turn_id)).fetchone()
        owners = self._database.owner
        if row and row[0] != owners.id and owners.is_alive(row[0]):
            raise StorageError("Another Neovim is still writing this answer.")


def _is_running(turn: Turn) -> TypeGuard[AssistantTurn]:
    return isinstance(turn, AssistantTurn) and turn.status == "running"


def _put(db: sqlite3.Connection, chat_id: str, turn: Turn, owner: str) -> None:
    body = turns.encode(turn)
    size = len(body.encode())
    statement = """
        INSERT INTO turns (chat, id, body, bytes, owner) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (chat, id) DO UPDATE
        SET body = excluded.body, bytes = excluded.bytes, owner = excluded.owner, trim = 0
    """
    db.execute(statement, (chat_id, turn.id, body, size, owner))


def _bytes_of(db: sqlite3.Connection, chat_id: str) -> int:
    return db.execute("SELECT total(bytes) FROM turns WHERE chat = ?", (chat_id,)).fetchone()[0]


def _reducible(
    db: sqlite3.Connection, chat_id: str, newest: str, level: int
) -> list[tuple[int, str, str]]:
    query = """
        SELECT seq, body, owner FROM turns
        WHERE chat = ? AND id != ? AND trim < ? ORDER BY seq
    """
    return db.execute(query, (chat_id, newest, level)).fetchall()


def _reduce(db: sqlite3.Connection, seq: int, turn: Turn, level: int) -> int:
    """Store the turn reduced to `level`; how many bytes that gave back."""
    body = turns.encode(turns.reduced(turn, level))
    size = len(body.encode())
    (before,) = db.execute("SELECT bytes FROM turns WHERE seq = ?", (seq,)).fetchone()
    update = "UPDATE turns SET body = ?, bytes = ?, trim = ? WHERE seq = ?"
    db.execute(update, (body, size, level, seq))
    return before - size


def _record(row: tuple[str, str, str, float, float, int]) -> ChatRecord:
    chat_id, project, title, created, updated, count = row
    return ChatRecord(
        id=chat_id, project=project, title=title, created=created, updated=updated, turns=count
    )


def _one_line(title: str) -> str:
    printable = "".join(mark if mark.isprintable() else " " for mark in title)
    return " ".join(printable.split())[:MAX_TITLE_CHARACTERS]
