"""A model endpoint for tests: a real HTTP server on loopback whose replies are scripted.

    with Endpoint() as endpoint:
        endpoint.reply(answer("Hello ", "world"))                 # to the first request
        endpoint.reply(tool_calls(("read_document", {"start_line": 1})))  # to the second
        endpoint.reply(delta("Hel"), Wait("go"), delta("lo"), finish(), DONE)  # stops half-way
        endpoint.reply(failure(401, "bad key"))
        endpoint.reply(delta("Hel"), Reset())                     # breaks the connection

        ...give endpoint.url ("http://127.0.0.1:PORT/v1") to the plugin and make it send...

        endpoint.wait_requests(1)[0].body["messages"]   # what arrived, as JSON
        endpoint.wait_reached("go")                     # the third reply now stands at Wait("go")
        endpoint.release("go")                          # and goes on
        endpoint.requests[0].connection.wait_closed()   # the client hung up

A reply is a list of steps: an optional `Head` first, then bytes (each is one
chunk of the body, sent at once), `Wait`, and optionally `Close`, `Reset` or
`Raw`. A reply that begins with `Raw` is sent as it is, head and all. Replies
are used in order, one for each request; a request for which none is left gets
status 500 and a sentence saying so. Requests that hold the text given to
`reply(..., to="text")` take their reply first, in whatever order they come.

The server runs on a thread with a loop of its own, so tests that drive Neovim
synchronously can use it. Every `wait_…` blocks, at most `BOUND_SECONDS`, and
then fails; in an async test call it through `asyncio.to_thread`.
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

BOUND_SECONDS = 30.0


@dataclass(frozen=True)
class Head:
    """Status and headers; a `content-length` among them turns chunked encoding off."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Wait:
    """Go on when the test calls `release(name)`."""

    name: str


@dataclass(frozen=True)
class Raw:
    """Bytes as they are, outside of chunked encoding."""

    data: bytes


@dataclass(frozen=True)
class Close:
    """Close the connection here, in the middle of the body."""


@dataclass(frozen=True)
class Reset:
    """Reset the connection (RST) here."""


Step: TypeAlias = Head | bytes | Wait | Raw | Close | Reset


@dataclass(eq=False)
class Connection:
    """One TCP connection of a client."""

    number: int
    _closed: threading.Event = field(default_factory=threading.Event)
    _heard: threading.Event = field(default_factory=threading.Event)

    @property
    def closed(self) -> bool:
        """Whether the client has hung up."""
        return self._closed.is_set()

    def wait_closed(self) -> None:
        """Block until the client hung up."""
        assert self._closed.wait(BOUND_SECONDS), "the client never closed the connection"

    def wait_heard(self) -> None:
        """Block until the client sent its first bytes: a request, or the start of TLS."""
        assert self._heard.wait(BOUND_SECONDS), "the client never sent anything"

    def mark_closed(self) -> None:
        self._closed.set()

    def mark_heard(self) -> None:
        self._heard.set()


@dataclass(frozen=True, eq=False)
class Request:
    """A request as it arrived; header names in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    connection: Connection

    @property
    def body(self) -> Any:
        """The JSON value of the body."""
        return json.loads(self.raw)


# --- steps in the dialect of chat completions ---------------------------------------------------

DONE = b"data: [DONE]\n\n"
USAGE = {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}


def event(payload: Any) -> bytes:
    """One server-sent event."""
    return b"data: " + json.dumps(payload, ensure_ascii=False).encode() + b"\n\n"


def chunk(delta: Mapping[str, Any], finish_reason: str | None = None, **extra: Any) -> bytes:
    """One `chat.completion.chunk`."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return event({"id": "c", "object": "chat.completion.chunk", "choices": [choice], **extra})


def delta(text: str) -> bytes:
    """A piece of the answer."""
    return chunk({"content": text})


def thought(text: str) -> bytes:
    """A piece of reasoning."""
    return chunk({"reasoning_content": text})


def call_delta(index: int, arguments: str, *, id: str = "", name: str = "") -> bytes:
    """A piece of a tool call; `id` and `name` belong in its first piece."""
    function = {"arguments": arguments} | ({"name": name} if name else {})
    call = {"index": index, "function": function} | ({"id": id, "type": "function"} if id else {})
    return chunk({"tool_calls": [call]})


def finish(reason: str = "stop") -> bytes:
    """The last chunk, with the usage."""
    return chunk({}, reason, usage=USAGE)


def answer(*texts: str) -> list[Step]:
    """A whole answer in words, one chunk for each text."""
    return [*(delta(text) for text in texts), finish(), DONE]


def tool_calls(*calls: tuple[str, Any], text: str = "", first: int = 1) -> list[Step]:
    """A whole answer that calls tools: `(name, arguments)`, with ids `call_1`, `call_2`, …"""
    steps: list[Step] = [delta(text)] if text else []
    for index, (name, arguments) in enumerate(calls):
        steps.append(call_delta(index, "", id=f"call_{first + index}", name=name))
        encoded = arguments if isinstance(arguments, str) else json.dumps(arguments)
        steps.append(call_delta(index, encoded))
    return [*steps, finish("tool_calls"), DONE]


def body(data: bytes, status: int = 200, **headers: str) -> list[Step]:
    """A plain body; header names with `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    length = {"content-length": str(len(data))}
    return [Head(status, {"content-type": "application/json", **length, **named}), data]


def failure(status: int, message: str, **headers: str) -> list[Step]:
    """An error as OpenAI sends it."""
    return body(json.dumps({"error": {"message": message}}).encode(), status, **headers)


# --- the server ---------------------------------------------------------------------------------


class Endpoint:
    """The server; a context manager. See the module's docstring."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self.requests: list[Request] = []
        self.connections: list[Connection] = []
        self.port = 0
        self._replies: deque[list[Step]] = deque()
        self._addressed: list[tuple[bytes, list[Step]]] = []
        self._changed = threading.Condition()
        self._reached: set[str] = set()
        self._gates: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def origin(self) -> str:
        """`http://127.0.0.1:PORT`, or https with TLS."""
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The base URL to configure, with `/v1`."""
        return f"{self.origin}/v1"

    def reply(self, *steps: Step | Iterable[Step], to: str = "") -> None:
        """Prepare the reply to the next request, or to the next that holds the text `to`."""
        flat: list[Step] = []
        for step in steps:
            if isinstance(step, Head | bytes | Wait | Raw | Close | Reset):
                flat.append(step)
            else:
                flat.extend(step)
        if to:
            self._addressed.append((to.encode(), flat))
        else:
            self._replies.append(flat)

    def release(self, name: str) -> None:
        """Let the reply that stands at, or will come to, `Wait(name)` go on."""
        self._loop.call_soon_threadsafe(lambda: self._gate(name).set())

    def wait_requests(self, count: int) -> list[Request]:
        """Block until `count` requests arrived; all of them."""
        self._until(lambda: len(self.requests) >= count, f"{count} requests")
        return self.requests

    def wait_connections(self, count: int) -> list[Connection]:
        """Block until `count` connections were opened; all of them."""
        self._until(lambda: len(self.connections) >= count, f"{count} connections")
        return self.connections

    def wait_reached(self, name: str) -> None:
        """Block until a reply stands at `Wait(name)`: all before it was sent."""
        self._until(lambda: name in self._reached, f"Wait({name!r})")

    def __enter__(self) -> Endpoint:
        self._thread.start()
        self._run(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._shut())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(BOUND_SECONDS)
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(BOUND_SECONDS)

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, BOUND_SECONDS), f"never came: {what}"

    def _note(self, change: Callable[[], object]) -> None:
        with self._changed:
            change()
            self._changed.notify_all()

    def _gate(self, name: str) -> asyncio.Event:
        return self._gates.setdefault(name, asyncio.Event())

    async def _open(self) -> None:
        self._server = await self._loop.create_server(self._accept, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _shut(self) -> None:
        # Begun before closing: Python 3.11 would not wait for open connections otherwise.
        closed = asyncio.ensure_future(self._server.wait_closed())
        await asyncio.sleep(0)
        self._server.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await closed

    def _accept(self) -> asyncio.StreamReaderProtocol:
        connection = Connection(len(self.connections) + 1)
        self._note(lambda: self.connections.append(connection))
        return _Watched(connection, self._start)

    def _start(
        self, connection: Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = self._loop.create_task(self._serve(connection, reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(
        self, connection: Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while True:
                request = await _read_request(reader, connection)
                steps = self._take(request)
                self._note(lambda request=request: self.requests.append(request))
                await self._play(steps, writer)
        except (OSError, EOFError):
            pass  # the client hung up, or a step ended the connection
        except asyncio.CancelledError:
            writer.transport.abort()  # the farewell of TLS would wait for the client's
            raise
        finally:
            writer.close()

    def _take(self, request: Request) -> list[Step]:
        for item in self._addressed:
            if item[0] in request.raw:
                self._addressed.remove(item)
                return item[1]
        if self._replies:
            return self._replies.popleft()
        return failure(500, "the test prepared no reply to this request")

    async def _play(self, steps: list[Step], writer: asyncio.StreamWriter) -> None:
        first = steps[0] if steps else None
        head = first if isinstance(first, Head) else Head()
        raw = isinstance(first, Raw)
        chunked = not raw and not any(name.lower() == "content-length" for name in head.headers)
        if not raw:
            writer.write(_head_bytes(head, chunked))
        for step in steps:
            await self._step(step, chunked, writer)
        if chunked:
            writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def _step(self, step: Step, chunked: bool, writer: asyncio.StreamWriter) -> None:
        match step:
            case bytes():
                writer.write(b"%x\r\n%b\r\n" % (len(step), step) if chunked and step else step)
            case Raw(data):
                writer.write(data)
            case Wait(name):
                await writer.drain()
                self._note(lambda: self._reached.add(name))
                await self._gate(name).wait()
            case Close() | Reset():
                await writer.drain()
                if isinstance(step, Reset):
                    _reset_on_close(writer)
                raise EOFError
            case Head():
                pass
        await writer.drain()


class _Watched(asyncio.StreamReaderProtocol):
    """Tells when the client hangs up, also while the server is writing or waiting."""

    def __init__(
        self,
        connection: Connection,
        start: Callable[[Connection, asyncio.StreamReader, asyncio.StreamWriter], None],
    ) -> None:
        reader = asyncio.StreamReader()
        super().__init__(reader, lambda reader, writer: start(connection, reader, writer))
        self._connection = connection

    def data_received(self, data: bytes) -> None:
        self._connection.mark_heard()
        super().data_received(data)

    def eof_received(self) -> bool | None:
        self._connection.mark_closed()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection.mark_closed()
        super().connection_lost(exc)


async def _read_request(reader: asyncio.StreamReader, connection: Connection) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method=method, path=path, headers=headers, raw=raw, connection=connection)


def _head_bytes(head: Head, chunked: bool) -> bytes:
    headers = {"content-type": "text/event-stream", **head.headers}
    if chunked:
        headers["transfer-encoding"] = "chunked"
    lines = [f"HTTP/1.1 {head.status} Scripted"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _reset_on_close(writer: asyncio.StreamWriter) -> None:
    raw: socket.socket = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
