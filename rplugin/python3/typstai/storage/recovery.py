"""Checkpoints, snapshots and notes in the database.

What Neovim recorded is taken over as often as it is found: every row carries the
id of its record, so that nothing is stored twice.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..domain import checkpoint as domain
from ..domain.chat import UserTurn
from ..domain.checkpoint import Checkpoint, News, Note, SnapshotKind, Told, Write, text_hash
from ..errors import StorageError
from . import turns
from .database import Database
from .journal import Journal, Record

MAX_QUESTION_CHARACTERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRecord:
    """A text that can be put back. `body` has its lines joined by a newline."""

    id: int
    kind: SnapshotKind
    chat: str
    run: str
    document: str
    hash: str
    at: float
    body: bytes


class RecoveryStore:
    """Every method raises StorageError on failure."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._journal = Journal(database.folder / "journal")
        self._taking_over = asyncio.Lock()

    async def take_over(self) -> frozenset[str]:
        """Move the journal into the database; the ids of the chats it was about."""
        async with self._taking_over:
            records = await asyncio.to_thread(self._journal.read)
            if records:
                await self.store(records)
                await asyncio.to_thread(self._journal.discard, records)
        return frozenset(record.header.chat for record in records) - {""}

    async def store(self, records: Sequence[Record]) -> None:
        """Store records in one transaction; those that are stored already stay as they are."""
        await self._database.write(lambda db: _store(db, records))

    async def checkpoints(self, chat: str | None = None) -> tuple[Checkpoint, ...]:
        """The checkpoints of a chat, or of all, oldest first, also those without their text."""
        return await self._database.read(lambda db: _checkpoints(db, chat))

    async def chat_of(self, run: str) -> str:
        """The chat of a run that wrote something; empty when there is none."""
        query = "SELECT chat FROM checkpoints WHERE run = ?"
        row = await self._database.read(lambda db: db.execute(query, (run,)).fetchone())
        return row[0] if row else ""

    async def bodies(self, runs: Sequence[str]) -> dict[tuple[str, str], bytes]:
        """The texts before these runs, by run and document, where they are kept."""
        marks = ", ".join("?" * len(runs))
        query = f"""
            SELECT run, document, body FROM checkpoints
            WHERE run IN ({marks}) AND body IS NOT NULL
        """
        rows = await self._database.read(lambda db: db.execute(query, tuple(runs)).fetchall())
        return {(run, document): bytes(body) for run, document, body in rows}

    async def question(self, chat: str, run: str) -> str:
        """What the user asked for a run, as one short line; empty when that is not known."""
        return await self._database.read(lambda db: _question(db, chat, run))

    async def add_automatic(
        self, chat: str, run: str, document: str, body: bytes, at: float
    ) -> int:
        """Store the state after a run; its id, or 0 when it alone is over the limit.

        An older one of the same text gives way.
        """
        if len(body) > domain.SNAPSHOTS.body_bytes:
            return 0
        return await self._database.write(
            lambda db: _add_automatic(db, chat, run, document, body, at)
        )

    async def snapshots(self, document: str | None = None) -> tuple[SnapshotRecord, ...]:
        """The snapshots of a document, or of all, newest first."""
        query = f"{_SNAPSHOT} WHERE ?1 IS NULL OR document = ?1 ORDER BY at DESC, id DESC"
        rows = await self._database.read(lambda db: db.execute(query, (document,)).fetchall())
        return tuple(_snapshot(row) for row in rows)

    async def unnamed(self, project: str) -> tuple[SnapshotRecord, ...]:
        """The snapshots that chats of a project left of buffers without a name, newest first."""
        query = f"""
            {_SNAPSHOT} WHERE document LIKE 'buffer:%'
            AND chat IN (SELECT id FROM chats WHERE project = ?) ORDER BY at DESC, id DESC
        """
        rows = await self._database.read(lambda db: db.execute(query, (project,)).fetchall())
        return tuple(_snapshot(row) for row in rows)

    async def automatic(self, chat: str) -> dict[str, int]:
        """The automatic snapshots of a chat: their ids by run."""
        query = "SELECT run, id FROM snapshots WHERE kind = 'automatic' AND chat = ?"
        return dict(await self._database.read(lambda db: db.execute(query, (chat,)).fetchall()))

    async def snapshot(self, snapshot_id: int) -> SnapshotRecord:
        query = f"{_SNAPSHOT} WHERE id = ?"
        row = await self._database.read(lambda db: db.execute(query, (snapshot_id,)).fetchone())
        if row is None:
            raise StorageError("This snapshot is gone: newer ones have taken its room.")
        return _snapshot(row)

    async def drop_diverged(self, chat: str, document: str, live_hash: str) -> None:
        """Drop the chat's automatic snapshots of a document that now reads differently."""
        delete = """
            DELETE FROM snapshots
            WHERE kind = 'automatic' AND chat = ? AND document = ? AND hash != ?
        """
        await self._database.write(lambda db: db.execute(delete, (chat, document, live_hash)))

    async def notes(self, chat: str) -> tuple[Note, ...]:
        """What was put back in the documents of a chat, oldest first, as long as it matters."""
        query = """
            SELECT seq, text, document, before, after, told, undone FROM notes
            WHERE chat = ? AND told < ? ORDER BY seq
        """
        args = (chat, _OVER)
        rows = await self._database.read(lambda db: db.execute(query, args).fetchall())
        return tuple(_note_of(row) for row in rows)

    async def saw(self, notes: Sequence[Note]) -> None:
        """Whether each of these notes is undone now."""
        update = "UPDATE notes SET undone = ? WHERE seq = ?"
        pairs = [(note.undone, note.seq) for note in notes]
        await self._database.write(lambda db: db.executemany(update, pairs))

    async def told(self, news: Sequence[News]) -> None:
        """These news stand in a turn of their chat now."""
        update = "UPDATE notes SET told = ? WHERE seq = ?"
        pairs = [(_TOLD.index(item.told), item.seq) for item in news]
        await self._database.write(lambda db: db.executemany(update, pairs))


_TOLD: tuple[Told, ...] = ("nothing", "done", "undone")
_OVER = len(_TOLD)
"""A later edit of the same chat was made on what the note had told."""


def _store(db: sqlite3.Connection, records: Sequence[Record]) -> None:
    for record in records:
        match record.header.kind:
            case "edit":
                _store_edit(db, record)
            case "revert":
                _store_revert(db, record)
            case "restore":
                _store_restore(db, record)
    _drop_checkpoints(db)
    _drop_snapshots(db)


def _store_edit(db: sqlite3.Connection, record: Record) -> None:
    header = record.header
    if record.body is not None:
        insert = """
            INSERT OR IGNORE INTO checkpoints (chat, run, document, hash, body, at)
            VALUES (?, ?, ?, ?, ?, ?)
        """
        known = (header.chat, header.run, header.document, record.before)
        db.execute(insert, (*known, record.body, header.at))
    insert = """
        INSERT OR IGNORE INTO writes (record, chat, run, document, before, after)
        VALUES (?, ?, ?, ?, ?, ?)
    """
    place = (header.id, header.chat, header.run, header.document)
    db.execute(insert, (*place, record.before, header.after))
    update = """
        UPDATE checkpoints SET reverted = NULL WHERE run = ? AND document = ? AND reverted < ?
    """
    db.execute(update, (header.run, header.document, header.at))
    delete = "DELETE FROM snapshots WHERE kind = 'automatic' AND document = ? AND at < ?"
    db.execute(delete, (header.document, header.at))
    over = """
        UPDATE notes SET told = ? WHERE chat = ? AND document = ? AND record < ?
        AND (told != 0 OR undone)
    """
    db.execute(over, (_OVER, header.chat, header.document, header.id))


def _store_revert(db: sqlite3.Connection, record: Record) -> None:
    header = record.header
    update = "UPDATE checkpoints SET reverted = ? WHERE run = ? AND document = ?"
    db.execute(update, (header.at, header.run, header.document))
    question = _question(db, header.chat, header.run) or "an earlier message"
    note = domain.reverted_note(question)
    again = "UPDATE notes SET told = ? WHERE chat = ? AND text = ? AND record < ?"
    db.execute(again, (_OVER, header.chat, note, header.id))
    _note(db, record, header.chat, note)


def _store_restore(db: sqlite3.Connection, record: Record) -> None:
    header = record.header
    insert = """
        INSERT OR IGNORE INTO snapshots (record, kind, document, hash, body, at)
        VALUES (?, 'before_restore', ?, ?, ?, ?)
    """
    body = record.body or b""
    db.execute(insert, (header.id, header.document, record.before, body, header.at))
    concerned = """
        SELECT chat FROM checkpoints WHERE document = ?1
        UNION SELECT chat FROM snapshots WHERE document = ?1 AND chat != ''
    """
    note = domain.restored_note(Path(header.document).name)
    for (chat,) in db.execute(concerned, (header.document,)).fetchall():
        _note(db, record, chat, note)


def _note(db: sqlite3.Connection, record: Record, chat: str, text: str) -> None:
    insert = """
        INSERT OR IGNORE INTO notes (record, chat, text, document, before, after)
        VALUES (?, ?, ?, ?, ?, ?)
    """
    header = record.header
    db.execute(insert, (header.id, chat, text, header.document, record.before, header.after))


def _note_of(row: tuple[int, str, str, str, str, int, int]) -> Note:
    seq, text, document, before, after, told, undone = row
    return Note(
        seq=seq, text=text, document=document, before=before, after=after,
        told=_TOLD[told], undone=bool(undone),
    )  # fmt: skip


def _drop_checkpoints(db: sqlite3.Connection) -> None:
    query = "SELECT seq, length(body), run, document FROM checkpoints WHERE body IS NOT NULL"
    rows = db.execute(f"{query} ORDER BY seq").fetchall()
    gone = rows[: domain.surplus([row[1] for row in rows], domain.CHECKPOINTS)]
    for seq, _, run, document in gone:
        db.execute("UPDATE checkpoints SET body = NULL WHERE seq = ?", (seq,))
        db.execute("DELETE FROM writes WHERE run = ? AND document = ?", (run, document))


def _drop_snapshots(db: sqlite3.Connection) -> None:
    rows = db.execute("SELECT id, length(body) FROM snapshots ORDER BY at, id").fetchall()
    for row in rows[: domain.surplus([size for _, size in rows], domain.SNAPSHOTS)]:
        db.execute("DELETE FROM snapshots WHERE id = ?", (row[0],))


def _checkpoints(db: sqlite3.Connection, chat: str | None) -> tuple[Checkpoint, ...]:
    query = """
        SELECT chat, run, document, hash, body IS NOT NULL, reverted IS NOT NULL
        FROM checkpoints WHERE ?1 IS NULL OR chat = ?1 ORDER BY seq
    """
    return tuple(_checkpoint(db, row) for row in db.execute(query, (chat,)).fetchall())


def _checkpoint(db: sqlite3.Connection, row: tuple[str, str, str, str, int, int]) -> Checkpoint:
    chat, run, document, before, kept, reverted = row
    return Checkpoint(
        run=run,
        chat=chat,
        document=document,
        before=before,
        kept=bool(kept),
        reverted=bool(reverted),
        writes=_writes(db, run, document) if kept else (),
        others=_others(db, chat, document) if kept else (),
    )


def _writes(db: sqlite3.Connection, run: str, document: str) -> tuple[Write, ...]:
    query = "SELECT before, after FROM writes WHERE document = ? AND run = ? ORDER BY seq"
    rows = db.execute(query, (document, run)).fetchall()
    return tuple(Write(before=before, after=after) for before, after in rows)


def _others(db: sqlite3.Connection, chat: str, document: str) -> tuple[str, ...]:
    query = "SELECT after FROM writes WHERE document = ? AND chat != ?"
    return tuple(after for (after,) in db.execute(query, (document, chat)).fetchall())


def _question(db: sqlite3.Connection, chat: str, run: str) -> str:
    query = """
        SELECT body FROM turns WHERE chat = ?1
        AND seq < (SELECT seq FROM turns WHERE chat = ?1 AND id = ?2) ORDER BY seq DESC LIMIT 1
    """
    row = db.execute(query, (chat, run)).fetchone()
    turn = turns.decode(row[0]) if row else None
    if not isinstance(turn, UserTurn):
        return ""
    line = " ".join(turn.text.split())
    cut = line[: MAX_QUESTION_CHARACTERS - 1].rstrip() + "…"
    return f"“{line if len(line) <= MAX_QUESTION_CHARACTERS else cut}”"


def _add_automatic(
    db: sqlite3.Connection, chat: str, run: str, document: str, body: bytes, at: float
) -> int:
    hashed = text_hash(body)
    delete = "DELETE FROM snapshots WHERE kind = 'automatic' AND document = ? AND hash = ?"
    db.execute(delete, (document, hashed))
    insert = """
        INSERT INTO snapshots (kind, chat, run, document, hash, body, at)
        VALUES ('automatic', ?, ?, ?, ?, ?, ?)
    """
    new_id = db.execute(insert, (chat, run, document, hashed, body, at)).lastrowid or 0
    _drop_snapshots(db)
    return new_id


_SNAPSHOT = "SELECT id, kind, chat, run, document, hash, at, body FROM snapshots"


def _snapshot(row: tuple[int, SnapshotKind, str, str, str, str, float, bytes]) -> SnapshotRecord:
    snapshot_id, kind, chat, run, document, hashed, at, body = row
    return SnapshotRecord(
        id=snapshot_id, kind=kind, chat=chat, run=run, document=document,
        hash=hashed, at=at, body=bytes(body),
    )  # fmt: skip
