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
)
LATEST = len(MIGRATIONS)
