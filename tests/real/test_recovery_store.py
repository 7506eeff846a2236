"""Checkpoints, snapshots and notes on a real database: taken over once, bounded, kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from typstai.domain import checkpoint
from typstai.domain.chat import AssistantTurn, UserTurn
from typstai.domain.checkpoint import text_hash
from typstai.errors import StorageError
from typstai.storage import journal
from typstai.storage.chats import ChatStore
from typstai.storage.database import Database
from typstai.storage.recovery import RecoveryStore

DOCUMENT = "/thesis/main.typ"
PACKAGE_PARENT = str(Path(journal.__file__).parents[2])

TAKE_OVER = """
import asyncio, os, signal, sys
from pathlib import Path
from typstai.storage import journal, recovery
from typstai.storage.database import Database
from typstai.storage.recovery import RecoveryStore

def die(*args):
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    database = await Database.open(Path(sys.argv[1]))
    if sys.argv[2] == "before the commit":
        recovery._drop_snapshots = die
    elif sys.argv[2] == "before the records go":
        journal.Journal.discard = die
    await RecoveryStore(database).take_over()
    database.close()

asyncio.run(main())
"""


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(tmp_path / "typstai")
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database) -> RecoveryStore:
    return RecoveryStore(database)


@pytest.fixture
def folder(database: Database) -> Path:
    made = database.folder / "journal"
    made.mkdir(mode=0o700)
    return made


_count = 0


def record(
    folder: Path,
    kind: str = "edit",
    text: str | None = "before",
    after: str = "after",
    **fields: Any,
) -> Path:
    """Write a record as Neovim does; `text` is what stands in it, or None for no text."""
    global _count
    _count += 1
    body = (text or "").encode()
    if text is not None:
        fields["bytes"] = len(body)
    header = {
        "id": f"{_count:010d}", "kind": kind, "document": DOCUMENT, "at": float(_count),
        "after": after, "chat": "c1", "run": "r1", **fields,
    }  # fmt: skip
    path = folder / f"{header['id']}.record"
    path.write_bytes(json.dumps(header).encode() + b"\n" + body)
    return path


async def rows(database: Database, table: str) -> list[Any]:
    query = f"SELECT * FROM {table}"
    return await database.read(lambda db: db.execute(query).fetchall())


async def test_records_are_taken_over_in_their_order_and_removed(
    store: RecoveryStore, folder: Path
) -> None:
    record(folder, text="0", after="h1")
    record(folder, text=None, before="h1", after="h2")
    assert await store.take_over() == {"c1"}
    assert list(folder.iterdir()) == []
    (kept,) = await store.checkpoints("c1")
    assert (kept.before, kept.left, kept.kept) == (text_hash(b"0"), ("h1", "h2"), True)
    assert await store.bodies(["r1"]) == {("r1", DOCUMENT): b"0"}
    assert await store.take_over() == frozenset()


async def test_a_record_that_is_found_again_changes_nothing(
    store: RecoveryStore, database: Database, folder: Path
) -> None:
    paths = [
        record(folder, text="0", after="h1"),
        record(folder, "revert", text=None, before="h1", after=text_hash(b"0")),
        record(folder, "restore", text="live", snapshot=1, chat="", run=""),
    ]
    copies = {path: path.read_bytes() for path in paths}
    await store.take_over()
    tables = ("checkpoints", "writes", "snapshots", "notes")
    before = {table: await rows(database, table) for table in tables}
    assert all(before.values())
    for path, data in copies.items():
        path.write_bytes(data)
    await store.take_over()
    assert {table: await rows(database, table) for table in tables} == before


@pytest.mark.parametrize("point", ["before the commit", "before the records go"])
async def test_a_process_killed_while_taking_over_leaves_everything_to_the_next(
    store: RecoveryStore, database: Database, folder: Path, point: str
) -> None:
    record(folder, text="0", after="h1")
    record(folder, "revert", text=None, before="h1", after=text_hash(b"0"))
    argv = [sys.executable, "-c", TAKE_OVER, str(database.folder), point]
    environment = {**os.environ, "PYTHONPATH": PACKAGE_PARENT, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(argv, env=environment, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert len(list(folder.iterdir())) == 2
    await store.take_over()
    assert list(folder.iterdir()) == []
    (kept,) = await store.checkpoints("c1")
    assert (kept.left, kept.reverted) == (("h1",), True)
    assert len(await store.notes("c1")) == 1


async def test_two_processes_taking_over_at_once_store_each_record_once(
    store: RecoveryStore, database: Database, folder: Path
) -> None:
    for number in range(40):
        record(folder, text=None, before=f"h{number}", after=f"h{number + 1}")
    argv = [sys.executable, "-c", TAKE_OVER, str(database.folder), ""]
    environment = {**os.environ, "PYTHONPATH": PACKAGE_PARENT, "PYTHONDONTWRITEBYTECODE": "1"}
    both = [subprocess.Popen(argv, env=environment) for _ in range(2)]
    assert [process.wait(timeout=60) for process in both] == [0, 0]
    assert len(await rows(database, "writes")) == 40
    assert list(folder.iterdir()) == []


async def test_a_damaged_record_is_set_aside_and_the_others_are_taken_over(
    store: RecoveryStore, folder: Path
) -> None:
    broken = [record(folder), record(folder, document="/b.typ"), record(folder)]
    broken[0].write_bytes(b"{")
    broken[1].write_bytes(broken[1].read_bytes() + b" more")
    broken[2].write_bytes(b"\xff\n")
    record(folder, run="r2", text="0", after="h1")
    await store.take_over()
    assert [item.run for item in await store.checkpoints()] == ["r2"]
    assert sorted(path.name for path in folder.iterdir()) == [
        f"{path.stem}.damaged" for path in broken
    ]


async def test_half_a_record_is_removed_once_its_writer_must_be_gone(
    store: RecoveryStore, folder: Path
) -> None:
    old, young = folder / "old.part", folder / "young.part"
    for path in (old, young):
        path.write_bytes(b"half")
    long_ago = time.time() - journal.ABANDONED_SECONDS - 1
    os.utime(old, (long_ago, long_ago))
    await store.take_over()
    assert list(folder.iterdir()) == [young]


async def test_no_journal_is_nothing_to_take_over(store: RecoveryStore) -> None:
    assert await store.take_over() == frozenset()


async def test_five_checkpoints_are_kept_and_the_oldest_gives_up_its_text(
    store: RecoveryStore, folder: Path
) -> None:
    for number in range(7):
        record(folder, run=f"r{number}", text=f"text {number}", after=f"h{number}")
    await store.take_over()
    kept = [item.kept for item in await store.checkpoints()]
    assert kept == [False, False, True, True, True, True, True]
    assert set(await store.bodies([f"r{n}" for n in range(7)])) == {
        (f"r{n}", DOCUMENT) for n in range(2, 7)
    }


async def test_all_checkpoints_together_keep_within_four_mebibytes(
    store: RecoveryStore, folder: Path
) -> None:
    half = checkpoint.CHECKPOINTS.body_bytes // 2
    for number in range(3):
        record(folder, run=f"r{number}", text="x" * half, after=f"h{number}")
    await store.take_over()
    assert [item.kept for item in await store.checkpoints()] == [False, True, True]


async def test_six_snapshots_are_kept_within_four_mebibytes(store: RecoveryStore) -> None:
    for number in range(8):
        await store.add_automatic("c1", f"r{number}", DOCUMENT, b"%d" % number, float(number))
    assert [item.run for item in await store.snapshots()] == [f"r{n}" for n in range(7, 1, -1)]
    half = b"x" * (checkpoint.SNAPSHOTS.body_bytes // 2)
    await store.add_automatic("c1", "r8", "/b.typ", half, 8.0)
    await store.add_automatic("c1", "r9", "/c.typ", half, 9.0)
    assert [item.run for item in await store.snapshots()] == ["r9", "r8"]


async def test_a_text_that_alone_is_over_the_limit_is_no_snapshot(store: RecoveryStore) -> None:
    await store.add_automatic("c1", "r1", DOCUMENT, b"small", 1.0)
    too_large = b"x" * (checkpoint.SNAPSHOTS.body_bytes + 1)
    assert await store.add_automatic("c1", "r2", DOCUMENT, too_large, 2.0) == 0
    assert [item.run for item in await store.snapshots()] == ["r1"]


async def test_an_edit_ends_the_automatic_snapshots_of_its_document_alone(
    store: RecoveryStore, folder: Path
) -> None:
    await store.add_automatic("c1", "r0", DOCUMENT, b"a", 0.5)
    await store.add_automatic("c2", "r0", "/other.typ", b"b", 0.5)
    record(folder, "restore", text="kept", chat="", run="", at=0.7)
    record(folder, at=1.0)
    await store.take_over()
    assert [(item.kind, item.document) for item in await store.snapshots()] == [
        ("before_restore", DOCUMENT),
        ("automatic", "/other.typ"),
    ]


async def test_deleting_a_chat_keeps_only_what_stood_before_a_restore(
    store: RecoveryStore, database: Database, folder: Path
) -> None:
    chats = ChatStore(database)
    chat = (await chats.create("/thesis")).id
    record(folder, chat=chat, at=1.0)
    record(folder, "revert", text=None, chat=chat, before="after")
    await store.take_over()
    await store.add_automatic(chat, "r1", DOCUMENT, b"a", 1e9)
    record(folder, "restore", text="kept", chat="", run="")
    await store.take_over()
    await chats.delete(chat)
    assert await store.checkpoints() == ()
    assert await store.notes(chat) == ()
    (kept,) = await store.snapshots()
    assert (kept.kind, kept.body) == ("before_restore", b"kept")


async def test_a_checkpoint_of_a_chat_that_is_not_in_the_database_is_kept(
    store: RecoveryStore, folder: Path
) -> None:
    record(folder, chat="lost", text="precious")
    await store.take_over()
    assert await store.bodies(["r1"]) == {("r1", DOCUMENT): b"precious"}


async def test_a_note_names_the_question_and_is_told_once(
    store: RecoveryStore, database: Database, folder: Path
) -> None:
    chats = ChatStore(database)
    chat = (await chats.create("/thesis")).id
    await chats.save_turn(chat, UserTurn(id="u1", text="Fix\nthe   errors " + "x" * 99))
    await chats.save_turn(chat, AssistantTurn(id="r1", status="complete"))
    record(folder, chat=chat)
    record(folder, "revert", text=None, chat=chat, before="after")
    await store.take_over()
    (news,) = checkpoint.news(await store.notes(chat))
    assert news.text.startswith("The edits of your answer to “Fix the errors xxx")
    assert news.text.endswith("…” were reverted; read the document again.")
    await store.told([news])
    assert checkpoint.news(await store.notes(chat)) == ()


async def test_a_note_is_over_once_the_chat_has_edited_the_document_again(
    store: RecoveryStore, folder: Path
) -> None:
    record(folder, at=1.0)
    record(folder, "revert", text=None, before="after", after="before", at=2.0)
    await store.take_over()
    await store.told(checkpoint.news(await store.notes("c1")))
    record(folder, run="r2", text="before", after="after", at=3.0)
    await store.take_over()
    assert await store.notes("c1") == ()


async def test_a_restore_is_told_to_the_chats_that_know_the_document(
    store: RecoveryStore, folder: Path
) -> None:
    record(folder, chat="c1", at=1.0)
    record(folder, chat="c2", run="r2", document="/other.typ")
    await store.take_over()
    record(folder, "restore", text="live", chat="", run="")
    await store.take_over()
    (note,) = await store.notes("c1")
    assert note.text == checkpoint.restored_note("main.typ")
    assert await store.notes("c2") == ()


async def test_what_other_chats_left_in_a_document_is_known(
    store: RecoveryStore, folder: Path
) -> None:
    record(folder, chat="c1", run="r1", after="h1")
    record(folder, chat="c2", run="r2", after="h2")
    await store.take_over()
    (mine,) = await store.checkpoints("c1")
    assert mine.others == ("h2",)


async def test_a_snapshot_that_is_gone_says_so(store: RecoveryStore) -> None:
    with pytest.raises(StorageError, match="snapshot is gone"):
        await store.snapshot(7)
