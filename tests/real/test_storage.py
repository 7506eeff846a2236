"""The chat store on real SQLite files: keeping, ordering, bounding, refusing."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator
from concurrent.futures import Future
from pathlib import Path
from typing import cast

import pytest

from typstai.domain.chat import (
    AssistantTurn,
    Reasoning,
    RunStatus,
    Selection,
    Text,
    ToolUse,
    Turn,
    UserTurn,
)
from typstai.errors import StorageError
from typstai.storage import chats, saver, turns
from typstai.storage.chats import ChatStore
from typstai.storage.database import Database
from typstai.storage.saver import TurnSaver
from typstai.storage.schema import LATEST


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data" / "typstai"


@pytest.fixture
async def database(folder: Path) -> AsyncIterator[Database]:
    opened = await Database.open(folder)
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database) -> ChatStore:
    return ChatStore(database)


def answer(turn_id: str, text: str, *, status: RunStatus = "complete") -> AssistantTurn:
    return AssistantTurn(id=turn_id, segments=(Text(text=text),), status=status)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_a_saved_turn_comes_back_as_it_was(store: ChatStore) -> None:
    chat = await store.create("/thesis")
    asked = UserTurn(
        id="u1", text="Fix “it” \x00\u2028 日本", file="a.typ", at=1.5,
        selections=(Selection(path="a.typ", start_line=2, end_line=3, text="= Hi"),),
    )  # fmt: skip
    call = ToolUse(round=1, id="c1", name="read_document", state="done", result="1 = Hi")
    told = AssistantTurn(
        id="a1", model="m", status="complete", input_tokens=7, at=2.0,
        segments=(Reasoning(text="hm", seconds=0.5), call, Text(round=2, text="Done.")),
    )  # fmt: skip
    await store.save_turn(chat.id, asked)
    await store.save_turn(chat.id, told)
    record, loaded = await store.load(chat.id)
    assert loaded == (asked, told)
    assert (record.id, record.project, record.turns) == (chat.id, "/thesis", 2)


async def test_saving_a_turn_again_keeps_its_place(store: ChatStore) -> None:
    chat = await store.create("/thesis")
    for turn in (answer("a", "1"), answer("b", "2"), answer("a", "3")):
        await store.save_turn(chat.id, turn)
    assert (await store.load(chat.id))[1] == (answer("a", "3"), answer("b", "2"))


async def test_a_chat_survives_closing_and_opening(folder: Path) -> None:
    database = await Database.open(folder)
    store = ChatStore(database)
    chat = await store.create("/thesis")
    waiting = store.submit_turn(chat.id, answer("a", "kept"))
    database.close()
    assert waiting.done()
    database = await Database.open(folder)
    assert (await ChatStore(database).load(chat.id))[1] == (answer("a", "kept"),)
    assert database.set_aside is None
    database.close()


async def test_the_latest_chat_is_the_one_written_to_last(store: ChatStore) -> None:
    assert await store.latest("/thesis") is None
    first, second = await store.create("/thesis"), await store.create("/thesis")
    await store.create("/other")
    assert await store.latest("/thesis") == second
    await store.save_turn(first.id, answer("a", "x"))
    latest = await store.latest("/thesis")
    assert latest is not None and latest.id == first.id


async def test_a_list_has_the_chats_of_one_project_or_of_all(store: ChatStore) -> None:
    ids = [(await store.create(project)).id for project in ("/a", "/b", "/a")]
    assert [record.id for record in await store.list("/a")] == [ids[2], ids[0]]
    assert [record.id for record in await store.list()] == ids[::-1]


async def test_a_title_becomes_one_printable_line(store: ChatStore) -> None:
    chat = await store.create("/thesis")
    await store.rename(chat.id, " Fix\nthe\x00 table\t" + "x" * 500)
    (record,) = await store.list()
    assert record.title.startswith("Fix the table xxx")
    assert len(record.title) == chats.MAX_TITLE_CHARACTERS


async def test_a_deleted_chat_is_gone_with_its_turns_and_says_so(
    store: ChatStore, database: Database
) -> None:
    chat = await store.create("/thesis")
    await store.save_turn(chat.id, answer("a", "x"))
    await store.delete(chat.id)
    await store.delete(chat.id)
    for attempt in (
        store.load(chat.id), store.save_turn(chat.id, answer("b", "y")), store.rename(chat.id, "t")
    ):  # fmt: skip
        with pytest.raises(StorageError, match="deleted"):
            await attempt
    count = await database.read(lambda db: db.execute("SELECT count(*) FROM turns").fetchone())
    assert count == (0,)


async def test_files_and_folder_are_the_users_alone(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o755)
    (folder / "chats.sqlite3").touch(mode=0o644)
    database = await Database.open(folder)
    await ChatStore(database).create("/thesis")
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {"chats.sqlite3", "chats.sqlite3-wal", "chats.sqlite3-shm"} <= {p.name for p in files}
    assert {mode(path) for path in files} == {0o600}
    assert (mode(folder), mode(folder / "owners")) == (0o700, 0o700)
    database.close()


async def test_an_empty_file_of_version_0_is_migrated(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "chats.sqlite3").touch()
    database = await Database.open(folder)
    version = await database.read(lambda db: db.execute("PRAGMA user_version").fetchone())
    assert version == (LATEST,)
    await ChatStore(database).create("/thesis")
    database.close()


async def test_a_database_of_a_newer_version_is_refused_and_left_alone(folder: Path) -> None:
    folder.mkdir(parents=True)
    path = folder / "chats.sqlite3"
    newer = sqlite3.connect(path)
    newer.execute(f"PRAGMA user_version = {LATEST + 1}")
    newer.execute("CREATE TABLE later (x)")
    newer.close()
    before = path.read_bytes()
    with pytest.raises(StorageError, match="newer"):
        await Database.open(folder)
    assert path.read_bytes() == before
    assert not list(folder.glob("*damaged*"))


async def test_a_file_that_is_no_database_is_set_aside_and_kept(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "chats.sqlite3").write_bytes(b"not a database " * 400)
    database = await Database.open(folder)
    assert database.set_aside is not None
    assert database.set_aside.name.startswith("chats.damaged-")
    assert database.set_aside.read_bytes().startswith(b"not a database")
    assert await ChatStore(database).list() == ()
    database.close()


async def test_a_database_with_a_broken_page_is_set_aside_whole(folder: Path) -> None:
    path = await filled(folder)
    damage(path)
    database = await Database.open(folder)
    assert database.set_aside is not None
    assert database.set_aside.read_bytes() == path.with_suffix(".copy").read_bytes()
    assert await ChatStore(database).list() == ()
    database.close()


async def test_damage_met_while_reading_is_told_and_set_aside_at_the_next_start(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await filled(folder)
    damage(path)
    monkeypatch.setattr("typstai.storage.database.CHECKED_AT_OPEN_BYTES", 0)
    database = await Database.open(folder)
    with pytest.raises(StorageError, match="damaged"):
        for record in await ChatStore(database).list():
            await ChatStore(database).load(record.id)
    database.close()
    database = await Database.open(folder)
    assert database.set_aside is not None
    database.close()
    database = await Database.open(folder)
    assert database.set_aside is None
    database.close()


async def test_a_damaged_file_in_use_elsewhere_is_not_moved_away(folder: Path) -> None:
    path = await filled(folder)
    first = await Database.open(folder)
    damage(path)
    with pytest.raises(StorageError, match="another Neovim"):
        await Database.open(folder)
    assert path.exists() and not list(folder.glob("*damaged*"))
    first.close()


async def test_a_full_database_refuses_the_turn_and_keeps_the_others(
    store: ChatStore, database: Database
) -> None:
    chat = await store.create("/thesis")
    await store.save_turn(chat.id, answer("a", "kept"))
    await database.read(lambda db: db.execute("PRAGMA max_page_count = 1").fetchall())
    with pytest.raises(StorageError, match="full"):
        await store.save_turn(chat.id, answer("b", "x" * 200_000))
    assert (await store.load(chat.id))[1] == (answer("a", "kept"),)
    await database.read(lambda db: db.execute("PRAGMA max_page_count = 100000").fetchall())
    await store.save_turn(chat.id, answer("b", "x" * 200_000))


async def test_a_database_locked_by_another_program_is_told_so(
    store: ChatStore, database: Database
) -> None:
    await database.read(lambda db: db.execute("PRAGMA busy_timeout = 1").fetchall())
    other = sqlite3.connect(database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="another Neovim"):
        await store.create("/thesis")
    other.execute("ROLLBACK")
    other.close()
    await store.create("/thesis")


async def test_a_cancelled_wait_does_not_take_the_write_back(
    store: ChatStore, database: Database
) -> None:
    chat = await store.create("/thesis")
    busy = threading.Event()
    first = database.submit_write(lambda db: busy.wait())
    waiting = asyncio.create_task(store.save_turn(chat.id, answer("a", "x")))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    busy.set()
    first.result()
    assert (await store.load(chat.id))[1] == (answer("a", "x"),)


async def test_a_closed_store_says_so(folder: Path) -> None:
    database = await Database.open(folder)
    database.close()
    database.close()
    with pytest.raises(StorageError, match="closed"):
        await ChatStore(database).list()


async def test_an_unreadable_turn_does_not_hide_the_others(
    store: ChatStore, database: Database
) -> None:
    chat = await store.create("/thesis")
    await store.save_turn(chat.id, answer("a", "x"))
    await store.save_turn(chat.id, answer("b", "y"))
    await database.write(lambda db: db.execute("UPDATE turns SET body = '[1]' WHERE id = 'a'"))
    await store.save_turn(chat.id, UserTurn(id="c", text="z" * chats.MAX_CHAT_BYTES))
    _, (first, second, _) = await store.load(chat.id)
    assert first == turns.unreadable("a")
    assert second == answer("b", "y")
    body = await database.read(lambda db: db.execute("SELECT body FROM turns").fetchone())
    assert body == ("[1]",), "nor is it overwritten when room is needed"


async def test_a_lone_surrogate_does_not_stop_a_turn_from_being_kept(store: ChatStore) -> None:
    chat = await store.create("/thesis")
    await store.save_turn(chat.id, answer("a", "x\udcffy"))
    assert (await store.load(chat.id))[1] == (answer("a", "x?y"),)


# Limits (S4)


async def test_tool_details_and_results_are_kept_within_their_limits(store: ChatStore) -> None:
    chat = await store.create("/thesis")
    call = ToolUse(id="c", state="done", result="é" * 60_000, detail="d" * 9_000)
    await store.save_turn(chat.id, AssistantTurn(id="a", status="complete", segments=(call,)))
    _, (turn,) = await store.load(chat.id)
    assert isinstance(turn, AssistantTurn)
    (kept,) = turn.segments
    assert isinstance(kept, ToolUse)
    assert len(kept.detail) == turns.MAX_DETAIL_CHARACTERS
    assert kept.detail.endswith("[cut; 9000 characters]")
    assert len(kept.result.encode()) <= turns.MAX_RESULT_BYTES
    assert kept.result.endswith("[cut; 120000 bytes]")


async def test_a_large_chat_gives_up_old_evidence_and_never_the_users_words(
    store: ChatStore, database: Database
) -> None:
    chat = await store.create("/thesis")
    sent: list[Turn] = []
    for number in range(30):
        call = ToolUse(id="c", state="done", result="r" * 50_000, detail="d" * 4_000)
        sent.append(UserTurn(id=f"u{number}", text=f"{number} " * 2_000))
        sent.append(AssistantTurn(id=f"a{number}", status="complete", segments=(call,)))
    for turn in sent:
        await store.save_turn(chat.id, turn)
    _, loaded = await store.load(chat.id)
    assert [turn.id for turn in loaded] == [turn.id for turn in sent]
    assert [turn for turn in loaded if isinstance(turn, UserTurn)] == sent[::2]
    assert loaded[-1] == sent[-1], "the newest turn is whole"
    assert loaded[1] != sent[1], "the oldest gave up room"
    size = await database.read(lambda db: db.execute("SELECT sum(bytes) FROM turns").fetchone())
    assert size[0] <= chats.MAX_CHAT_BYTES


async def test_old_details_go_before_anything_the_model_was_told(store: ChatStore) -> None:
    chat = await store.create("/thesis")
    for number in range(20):
        call = ToolUse(id="c", state="done", result="r" * 50_000, detail="d" * 4_000)
        turn = AssistantTurn(id=f"a{number}", status="complete", segments=(call,))
        await store.save_turn(chat.id, turn)
    _, loaded = await store.load(chat.id)
    calls = [turn.segments[0] for turn in loaded if isinstance(turn, AssistantTurn)]
    assert all(isinstance(call, ToolUse) and len(call.result) == 50_000 for call in calls)
    details = [len(call.detail) for call in calls if isinstance(call, ToolUse)]
    assert details[0] == 0 and details[-1] == 4_000
    assert details == sorted(details)


# Running turns


async def test_a_running_turn_of_a_live_process_is_left_running(
    folder: Path, store: ChatStore
) -> None:
    chat = await store.create("/thesis")
    running = answer("a", "so far", status="running")
    await store.save_turn(chat.id, running)
    other = await Database.open(folder)
    assert (await ChatStore(other).load(chat.id))[1] == (running,)
    with pytest.raises(StorageError, match="still writing"):
        await ChatStore(other).save_turn(chat.id, answer("a", "mine"))
    other.close()
    assert (await store.load(chat.id))[1] == (running,)


async def test_a_running_turn_of_a_closed_store_is_read_as_interrupted(
    folder: Path, store: ChatStore
) -> None:
    chat = await store.create("/thesis")
    other = await Database.open(folder)
    calls = tuple(
        ToolUse(id=state, name="edit", state=state, result="told" if state == "done" else "")
        for state in ("done", "waiting", "running")
    )
    left = AssistantTurn(id="a", status="running", segments=(Text(text="I"), *calls))
    await ChatStore(other).save_turn(chat.id, left)
    other.close()
    _, (turn,) = await store.load(chat.id)
    assert isinstance(turn, AssistantTurn)
    assert (turn.status, turn.error) == ("incomplete", turns.INTERRUPTED)
    found = [item for item in turn.segments if isinstance(item, ToolUse)]
    assert [item.state for item in found] == ["done", "cancelled", "cancelled"]
    assert [item.result for item in found] == ["told", turns.NO_RESULT, turns.NO_RESULT]
    await store.save_turn(chat.id, turn)
    assert (await store.load(chat.id))[1] == (turn,)


# Saving while an answer streams


class CountedStore(ChatStore):
    """Counts what is written; everything else is real."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.written: list[Turn] = []

    def submit_turn(self, chat_id: str, turn: Turn) -> Future[None]:
        self.written.append(turn)
        return super().submit_turn(chat_id, turn)


async def test_a_stream_is_saved_first_at_once_then_rarely_and_last_always(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saver, "SAVE_INTERVAL_SECONDS", 3600)
    store = CountedStore(database)
    chat = await store.create("/thesis")
    stream = TurnSaver(store, chat.id)
    for count in range(1_000):
        stream.save(answer("a", "x" * count, status="running"))
    assert store.written == [answer("a", "", status="running")]
    await stream.finish(answer("a", "the end"))
    assert (await store.load(chat.id))[1] == (answer("a", "the end"),)
    assert timers() == 0


async def test_the_newest_state_is_saved_when_the_interval_is_over(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saver, "SAVE_INTERVAL_SECONDS", 0.001)
    store = CountedStore(database)
    chat = await store.create("/thesis")
    stream = TurnSaver(store, chat.id)
    states = [answer("a", "x" * count, status="running") for count in range(3)]
    for state in states:
        stream.save(state)
    async with asyncio.timeout(10):
        while (await store.load(chat.id))[1] != (states[-1],):
            pass
    assert store.written == [states[0], states[-1]]
    await stream.finish(states[-1])


async def test_an_abandoned_stream_is_stored_by_the_time_the_database_is_closed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saver, "SAVE_INTERVAL_SECONDS", 3600)
    database = await Database.open(folder)
    store = ChatStore(database)
    chat = await store.create("/thesis")
    stream = TurnSaver(store, chat.id)
    stream.save(answer("a", "first", status="running"))
    stream.save(answer("a", "last", status="running"))
    stream.abandon()
    database.close()
    assert timers() == 0
    database = await Database.open(folder)
    _, (turn,) = await ChatStore(database).load(chat.id)
    assert isinstance(turn, AssistantTurn) and turn.segments == (Text(text="last"),)
    database.close()


async def test_a_failed_last_save_is_raised(database: Database) -> None:
    store = ChatStore(database)
    stream = TurnSaver(store, "no such chat")
    stream.save(answer("a", "x", status="running"))
    with pytest.raises(StorageError, match="deleted"):
        await stream.finish(answer("a", "x"))


def timers() -> int:
    scheduled = cast("list[asyncio.TimerHandle]", vars(asyncio.get_running_loop())["_scheduled"])
    return sum(not timer.cancelled() for timer in scheduled)


async def filled(folder: Path) -> Path:
    """A closed database with enough turns to have inner pages."""
    database = await Database.open(folder)
    store = ChatStore(database)
    chat = await store.create("/thesis")
    for number in range(40):
        await store.save_turn(chat.id, answer(f"a{number}", "x" * 3_000))
    database.close()
    return database.path


def damage(path: Path) -> None:
    """Overwrite pages in the middle of the file; a copy of it is kept beside."""
    content = bytearray(path.read_bytes())
    content[8 * 4096 : 20 * 4096] = b"\xff" * (12 * 4096)
    path.write_bytes(content)
    path.with_suffix(".copy").write_bytes(content)
