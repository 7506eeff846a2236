"""The chat store among real processes: killed in mid-write, racing, out of room."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from typstai.domain.chat import AssistantTurn, Text, UserTurn
from typstai.storage import turns
from typstai.storage.chats import ChatStore
from typstai.storage.database import Database

PACKAGE_PARENT = str(Path(turns.__file__).parents[2])
BOUND_SECONDS = 60

PRELUDE = """
import asyncio, sys
from pathlib import Path
from typstai.domain.chat import AssistantTurn, Text, ToolUse, UserTurn
from typstai.errors import StorageError
from typstai.storage.chats import ChatStore
from typstai.storage.database import Database
from typstai.storage.saver import TurnSaver
folder, chat = Path(sys.argv[1]), sys.argv[2]
"""

STREAM = """
async def main():
    database = await Database.open(folder)
    store = ChatStore(database)
    await store.save_turn(chat, UserTurn(id="u", text="earlier"))
    saver = TurnSaver(store, chat)
    call = ToolUse(id="c", name="edit", state="waiting")
    count = 0
    while True:
        count += 1
        text = Text(text="".join(f"{n} " for n in range(count)))
        saver.save(AssistantTurn(id="a", status="running", segments=(text, call)))
        print(count, flush=True)
        await asyncio.sleep(0.001)
asyncio.run(main())
"""

APPEND = """
async def main():
    database = await Database.open(folder)
    store = ChatStore(database)
    for number in range(200):
        await store.save_turn(chat, UserTurn(id=f"{sys.argv[3]}-{number}", text="x" * 500))
    database.close()
asyncio.run(main())
"""

OPEN = """
async def main():
    print("ready", flush=True)
    sys.stdin.readline()
    database = await Database.open(folder)
    print(database.set_aside)
    await ChatStore(database).create("/thesis")
    database.close()
asyncio.run(main())
"""

FILL = """
import os
if os.geteuid() == 0 and "as-nobody" in sys.argv:
    os.setgroups([])
    os.setuid(65534)
async def main():
    try:
        database = await Database.open(folder)
        store = ChatStore(database)
        for number in range(1_000):
            await store.save_turn(chat, UserTurn(id=f"u{number}", text="x" * 10_000))
            print(number, flush=True)
    except StorageError as error:
        print(error)
asyncio.run(main())
"""


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(tmp_path / "typstai")
    yield opened
    opened.close()


def start(source: str, *args: str, **options: object) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", PRELUDE + source, *args]
    environment = {**os.environ, "PYTHONPATH": PACKAGE_PARENT, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.Popen(
        argv, env=environment, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options,  # type: ignore[call-overload]
    )  # fmt: skip


def output(process: subprocess.Popen[str]) -> list[str]:
    out, _ = process.communicate(timeout=BOUND_SECONDS)
    return out.splitlines()


@pytest.mark.parametrize("states", [1, 50, 400])
async def test_a_kill_while_streaming_keeps_every_message_and_nearly_all_of_the_answer(
    database: Database, states: int
) -> None:
    store = ChatStore(database)
    chat = await store.create("/thesis")
    process = start(STREAM, str(database.folder), chat.id)
    assert process.stdout is not None
    for _ in range(states):
        process.stdout.readline()
    seen_running = await running_turn(store, chat.id)
    os.kill(process.pid, signal.SIGKILL)
    rest = process.stdout.read().split()
    process.communicate(timeout=BOUND_SECONDS)
    last = int(rest[-1]) if rest else states

    _, loaded = await store.load(chat.id)
    assert loaded[0] == UserTurn(id="u", text="earlier")
    (answer,) = loaded[1:] or (None,)
    if states == 1:
        return
    assert seen_running == "running", "while the process lives, its turn is running"
    assert isinstance(answer, AssistantTurn)
    assert (answer.status, answer.error) == ("incomplete", turns.INTERRUPTED)
    text, call = answer.segments
    assert isinstance(text, Text)
    kept = len(text.text.split())
    # States come a millisecond apart or slower, so 200 ms are at most 200 of them.
    assert last - kept <= 200
    assert call.kind == "tool" and (call.state, call.result) == ("cancelled", turns.NO_RESULT)


async def running_turn(store: ChatStore, chat_id: str) -> str:
    _, loaded = await store.load(chat_id)
    return loaded[1].status if len(loaded) > 1 and isinstance(loaded[1], AssistantTurn) else ""


async def test_two_processes_appending_to_one_chat_keep_all_turns_of_both(
    database: Database,
) -> None:
    store = ChatStore(database)
    chat = await store.create("/thesis")
    both = [start(APPEND, str(database.folder), chat.id, name) for name in ("one", "two")]
    for process in both:
        output(process)
        assert process.returncode == 0
    _, loaded = await store.load(chat.id)
    for name in ("one", "two"):
        ids = [turn.id for turn in loaded if turn.id.startswith(name)]
        assert ids == [f"{name}-{number}" for number in range(200)], "in their order"
    assert len(loaded) == 400


@pytest.mark.parametrize("content", [None, b"", b"not a database " * 500])
async def test_many_hosts_may_open_a_new_or_damaged_database_at_once(
    tmp_path: Path, content: bytes | None
) -> None:
    folder = tmp_path / "typstai"
    if content is not None:
        folder.mkdir()
        (folder / "chats.sqlite3").write_bytes(content)
    hosts = [start(OPEN, str(folder), "") for _ in range(4)]
    for host in hosts:
        assert host.stdout is not None and host.stdout.readline() == "ready\n"
    for host in hosts:
        assert host.stdin is not None
        host.stdin.write("go\n")
        host.stdin.flush()
    told = [line for host in hosts for line in output(host)]
    assert [host.returncode for host in hosts] == [0, 0, 0, 0]
    database = await Database.open(folder)
    assert len(await ChatStore(database).list("/thesis")) == 4
    database.close()
    set_aside = list(folder.glob("chats.damaged-*.sqlite3"))
    assert sorted(told) == sorted([*map(str, set_aside), *["None"] * (4 - len(set_aside))])
    assert [path.read_bytes() for path in set_aside] == ([content] if content else [])


async def test_a_disk_that_fills_up_is_told_and_loses_nothing_stored(database: Database) -> None:
    store = ChatStore(database)
    chat = await store.create("/thesis")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))

    lines = output(start(FILL, str(database.folder), chat.id, preexec_fn=limit))
    assert "stored" in lines[-1] or "failed" in lines[-1]
    assert len(lines) > 1
    _, loaded = await store.load(chat.id)
    assert [turn.id for turn in loaded] == [f"u{number}" for number in lines[:-1]]
    assert database.set_aside is None


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="typstai-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize("existing", [False, True])
async def test_a_read_only_folder_is_told_by_name(open_folder: Path, existing: bool) -> None:
    folder = open_folder / "typstai"
    if existing:
        (await Database.open(folder)).close()
    locked = folder if existing else open_folder
    locked.chmod(0o555)
    lines = output(start(FILL, str(folder), "", "as-nobody"))
    locked.chmod(0o755)
    assert len(lines) == 1 and str(folder) in lines[0]
