"""The tables of the store, one migration a version; migrations are never edited.

`turns.seq` orders the turns of a chat by their first save, and is the row id
that a full-text index refers to.
"""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE chats (
            id TEXT PRIMARY KEY NOT NULL,
            project TEXT NOT NULL,
            title TEXT NOT NULL DEFAULT '',
            created REAL NOT NULL,
            updated REAL NOT NULL
        )
        """,
        "CREATE INDEX chats_of_project ON chats (project, updated)",
        """
        CREATE TABLE turns (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            chat TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
            id TEXT NOT NULL,
            body TEXT NOT NULL,
            bytes INTEGER NOT NULL,
            trim INTEGER NOT NULL DEFAULT 0,
            owner TEXT NOT NULL DEFAULT '',
            UNIQUE (chat, id)
        )
        """,
    ),
    (
        # No foreign keys: what a run wrote is kept even when its chat's row is lost with a
        # damaged database. `body` is NULL once it had to give up its room.
        """
        CREATE TABLE checkpoints (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            chat TEXT NOT NULL,
            run TEXT NOT NULL,
            document TEXT NOT NULL,
            hash TEXT NOT NULL,
            body BLOB,
            at REAL NOT NULL,
            reverted REAL,
            UNIQUE (run, document)
        )
        """,
        "CREATE INDEX checkpoints_of_chat ON checkpoints (chat)",
        """
        CREATE TABLE writes (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            record TEXT NOT NULL UNIQUE,
            chat TEXT NOT NULL,
            run TEXT NOT NULL,
            document TEXT NOT NULL,
            before TEXT NOT NULL,
            after TEXT NOT NULL
        )
        """,
        "CREATE INDEX writes_of_document ON writes (document)",
        """
        CREATE TABLE snapshots (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            record TEXT UNIQUE,
            kind TEXT NOT NULL,
            chat TEXT NOT NULL DEFAULT '',
            run TEXT NOT NULL DEFAULT '',
            document TEXT NOT NULL,
            hash TEXT NOT NULL,
            body BLOB NOT NULL,
            at REAL NOT NULL
        )
        """,
        """
        CREATE TABLE notes (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            record TEXT NOT NULL,
            chat TEXT NOT NULL,
            text TEXT NOT NULL,
            told INTEGER NOT NULL DEFAULT 0,
            UNIQUE (record, chat)
        )
        """,
        """
        CREATE TRIGGER recovery_of_deleted_chat AFTER DELETE ON chats BEGIN
            DELETE FROM checkpoints WHERE chat = old.id;
            DELETE FROM writes WHERE chat = old.id;
            DELETE FROM notes WHERE chat = old.id;
            DELETE FROM snapshots WHERE chat = old.id AND kind != 'before_restore';
        END
        """,
    ),
    (
        "ALTER TABLE notes ADD COLUMN document TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE notes ADD COLUMN before TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE notes ADD COLUMN after TEXT NOT NULL DEFAULT ''",
    ),
    ("ALTER TABLE notes ADD COLUMN undone INTEGER NOT NULL DEFAULT 0",),
)
LATEST = len(MIGRATIONS)
