"""Real proxies for tests, on loopback: HTTP (forwarding and CONNECT) and SOCKS 5.

Every host name leads to the one upstream port that the test gives: names in tests do
not exist, and a proxy is who resolves them. What came from the client is kept as bytes.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self


@dataclass
class Proxy:
    """Listens while it is entered; the HTTP kind."""

    upstream: int
    refusal: str = ""
    """Status line after which every request is refused, such as `407 Authentication`."""
    received: bytearray = field(default_factory=bytearray)
    """All that clients sent, tunnelled bytes too."""
    heads: list[str] = field(default_factory=list[str])
    """Request line and headers of each request to the proxy itself."""

    scheme = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.address}"

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        self._tasks = set[asyncio.Task[None]]()
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(OSError, EOFError):
                await self._serve(reader, writer)
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.received += head
        self.heads.append(head.decode("latin-1"))
        if self.refusal:
            writer.write(f"HTTP/1.1 {self.refusal}\r\ncontent-length: 0\r\n\r\n".encode())
            await writer.drain()
        elif head.startswith(b"CONNECT "):
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await self._tunnel(reader, writer, b"")
        else:
            await self._tunnel(reader, writer, head)

    async def _tunnel(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bytes
    ) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.upstream)
        far_writer.write(first)
        try:
            there = asyncio.ensure_future(self._pump(reader, far_writer, self.received))
            back = asyncio.ensure_future(self._pump(far_reader, writer, bytearray()))
            await asyncio.wait([there, back], return_when=asyncio.FIRST_COMPLETED)
            there.cancel()
            back.cancel()
        finally:
            far_writer.close()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, copy: bytearray
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                copy += data
                writer.write(data)
                await writer.drain()


@dataclass
class SocksProxy(Proxy):
    """SOCKS 5 without a password; `heads` holds `HOST:PORT` of each connection."""

    scheme = "socks5"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        version, methods = await reader.readexactly(2)
        if version != 5:
            return
        await reader.readexactly(methods)
        writer.write(b"\x05\x00")
        _, _, _, kind = await reader.readexactly(4)
        length = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
        host = await reader.readexactly(length)
        port = int.from_bytes(await reader.readexactly(2))
        name = host.decode("ascii", "replace") if kind == 3 else f"address {host.hex()}"
        self.heads.append(f"{name}:{port}")
        code = b"\x02" if self.refusal else b"\x00"
        writer.write(b"\x05" + code + b"\x00\x01" + bytes(6))
        await writer.drain()
        if not self.refusal:
            await self._tunnel(reader, writer, b"")
