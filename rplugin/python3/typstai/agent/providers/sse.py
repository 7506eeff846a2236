"""Decodes server-sent events from bytes: no I/O, no JSON, no idea what an event means.

Lines end with CR, LF or CRLF and nothing else. Text decoders also split at
U+2028 and its kin, which stand unescaped inside JSON strings, so the stream is
cut as bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...errors import StreamError

MAX_STREAM_BYTES = 4 * 1024 * 1024
MAX_LINE_BYTES = 2 * 1024 * 1024
"""Room for a whole document as arguments in one event, escaped twice."""

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its type ("" when the server gave none) and its data, lines joined by LF."""

    type: str
    data: bytes


class SSEDecoder:
    """Feed it what arrives, cut anywhere; get the events that are complete."""

    def __init__(self) -> None:
        self._received = 0
        self._line = bytearray()
        self._start = b""
        self._at_start = True
        self._after_cr = False
        self._type = ""
        self._data: list[bytes] = []

    def feed(self, data: bytes) -> list[Event]:
        """Events completed by these bytes; `StreamError` when a cap is passed."""
        self._received += len(data)
        if self._received > MAX_STREAM_BYTES:
            raise StreamError(f"the stream is longer than {MAX_STREAM_BYTES} bytes")
        events: list[Event] = []
        for line in self._lines(self._without_bom(data)):
            if line:
                self._field(line)
            elif self._data:
                events.append(self._dispatch())
            else:
                self._type = ""
        return events

    def finish(self) -> list[Event]:
        """The event that the end of the stream completes, as some servers leave it."""
        rest = self._start + bytes(self._line)
        self._line.clear()
        if rest:
            self._field(rest)
        return [self._dispatch()] if self._data else []

    def _without_bom(self, data: bytes) -> bytes:
        if not self._at_start:
            return data
        self._start += data
        if len(self._start) < len(_BOM) and _BOM.startswith(self._start):
            return b""
        self._at_start = False
        whole, self._start = self._start, b""
        return whole.removeprefix(_BOM)

    def _lines(self, data: bytes) -> list[bytes]:
        if not data:
            return []
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
            if not data:
                self._after_cr = False
                return []
        self._after_cr = data.endswith(b"\r")
        first, *lines = _LINE_END.split(data)
        self._line += first
        if len(self._line) > MAX_LINE_BYTES or any(len(line) > MAX_LINE_BYTES for line in lines):
            raise StreamError(f"the stream has a line longer than {MAX_LINE_BYTES} bytes")
        if not lines:
            return []
        complete = [bytes(self._line), *lines[:-1]]
        self._line = bytearray(lines[-1])
        return complete

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._type = value.decode("utf-8", "replace")

    def _dispatch(self) -> Event:
        event = Event(self._type, b"\n".join(self._data))
        self._type, self._data = "", []
        return event
