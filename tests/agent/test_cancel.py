"""A run can be stopped in every phase: the server sees it, and nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from chatting import Chat
from endpoint import Endpoint, Step, Wait, answer, call_delta, delta, failure, thought, tool_calls
from typstai.agent.providers.client import HttpClients
from typstai.agent.providers.keys import CommandKey
from typstai.domain.chat import ToolUse


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with Endpoint() as started:
        yield started


@pytest.fixture
async def clients() -> AsyncIterator[HttpClients]:
    made = HttpClients()
    yield made
    await made.aclose()


def connections_to(port: int) -> int:
    """How many connections of this process lead to that port."""
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("open connections are counted on Linux only")
    return sum(_leads_to(int(entry.name), port) for entry in folder.iterdir())


def _leads_to(number: int, port: int) -> bool:
    try:
        with socket.socket(fileno=os.dup(number)) as found:
            return found.family == socket.AF_INET and found.getpeername()[1] == port
    except OSError:  # no socket, or not connected
        return False


async def settled() -> None:
    """Let callbacks of closed connections run."""
    for _ in range(5):
        await asyncio.sleep(0)


Reached = Callable[[Chat, Endpoint], Awaitable[None]]


def at(name: str) -> Reached:
    async def reached(chat: Chat, server: Endpoint) -> None:
        await asyncio.to_thread(server.wait_reached, name)

    return reached


async def in_tool(chat: Chat, server: Endpoint) -> None:
    await chat.stage.entered.wait()


async def asked(chat: Chat, server: Endpoint) -> None:
    while not chat.editor.questions:
        await asyncio.sleep(0)


async def counting(chat: Chat, server: Endpoint) -> None:
    await chat.noticed.wait()


PHASES: dict[str, tuple[list[Step], Reached]] = {
    "before the first byte": ([Wait("gate")], at("gate")),
    "before the first event": ([b": hold the line\n\n", Wait("gate")], at("gate")),
    "in reasoning": ([thought("Hm"), Wait("gate")], at("gate")),
    "in text": ([delta("Half"), Wait("gate")], at("gate")),
    "in arguments": (
        [call_delta(0, '{"a', id="c1", name="echo"), Wait("gate")],
        at("gate"),
    ),
    "in a tool": (tool_calls(("wait", {})), in_tool),
    "in an approval": (tool_calls(("approve", {})), asked),
    "in a countdown": (failure(503, "down", retry_after="60"), counting),
}


@pytest.mark.parametrize("phase", PHASES)
async def test_a_run_stops_at_once_and_leaves_nothing(
    phase: str, server: Endpoint, clients: HttpClients
) -> None:
    steps, reached = PHASES[phase]
    chat = Chat(server, clients)
    tasks = asyncio.all_tasks()
    server.reply(*steps)
    await chat.begin()
    await reached(chat, server)
    async with asyncio.timeout(2):
        await chat.conversation.stop()
    turn = chat.answer()
    assert turn.status == "cancelled"
    assert chat.finished.is_set()
    assert not chat.conversation.running
    assert all(use.state == "cancelled" for use in turn.segments if isinstance(use, ToolUse))
    assert chat.editor.questions == {}
    assert chat.stage.left.is_set() == chat.stage.entered.is_set()
    if steps[-1] == Wait("gate"):
        await asyncio.to_thread(server.requests[0].connection.wait_closed)
    assert len(server.requests) == 1
    await clients.aclose()
    await settled()
    assert asyncio.all_tasks() == tasks
    assert connections_to(server.port) == 0


async def test_a_run_stops_while_it_connects(clients: HttpClients) -> None:
    """A full backlog leaves the handshake unanswered: the connection never opens."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        address = deaf.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(address)
        with Endpoint() as unused:
            url = f"http://127.0.0.1:{address[1]}/v1"
            chat = Chat(unused, clients, base_url=url)
            tasks = asyncio.all_tasks()
            await chat.begin()
            await settled()
            async with asyncio.timeout(2):
                await chat.conversation.stop()
            assert chat.answer().status == "cancelled"
            await settled()
            assert asyncio.all_tasks() == tasks
        for filler in fillers:
            filler.close()


async def test_a_run_stops_while_a_command_looks_for_the_key(
    server: Endpoint, clients: HttpClients, tmp_path: Path
) -> None:
    told = tmp_path / "pid"
    source = f"import os, time; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    chat = Chat(server, clients, key=CommandKey(argv=(sys.executable, "-c", source)))
    await chat.begin()
    while not (told.exists() and told.read_text()):
        await asyncio.sleep(0.01)
    await chat.conversation.stop()
    assert chat.answer().status == "cancelled"
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)
    assert server.connections == []


async def test_after_a_stop_the_chat_goes_on_with_what_was_there(
    server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients)
    server.reply(delta("Half"), Wait("gate"))
    server.reply(answer("Whole."))
    await chat.begin("First.")
    while not chat.shown("segment"):
        await asyncio.sleep(0)
    await chat.conversation.stop()
    assert (await chat.run("Second.")).status == "complete"
    sent = server.requests[1].body["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
    assert sent[2]["content"] == "Half"


async def test_a_stop_before_the_run_has_begun_is_a_stop(
    server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients)
    server.reply(Wait("gate"))
    await chat.begin()
    await chat.conversation.stop()
    assert chat.answer().status == "cancelled"
    assert not chat.conversation.running


async def test_stopping_twice_ends_the_run_once(server: Endpoint, clients: HttpClients) -> None:
    chat = Chat(server, clients)
    server.reply(tool_calls(("wait", {})))
    await chat.begin()
    await chat.stage.entered.wait()
    await asyncio.gather(chat.conversation.stop(), chat.conversation.stop())
    assert len(chat.shown("finish")) == 1
    assert chat.memory.saved[-1] == chat.answer()
    assert chat.answer().status == "cancelled"
