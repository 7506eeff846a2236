"""Reads the body of an answer from bytes to stream events, whatever form it has. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from ...errors import StreamError
from .assemble import AnswerAssembler, random_id
from .base import StreamEvent
from .sse import MAX_STREAM_BYTES, Event, SSEDecoder

_BLANK = b"\xef\xbb\xbf \t\r\n"
Form = Literal["stream", "document"]


class AnswerReader:
    """Feed it the body as it arrives; it tells a stream from a single JSON document by itself.

    All errors are `StreamError`s whose text continues the sentence "NAME: …".
    """

    def __init__(self, *, input_bytes: int, new_id: Callable[[], str] = random_id) -> None:
        self._decoder = SSEDecoder()
        self._answer = AnswerAssembler(input_bytes=input_bytes, new_id=new_id)
        self._held = bytearray()
        self._form: Form | None = None

    @property
    def done(self) -> bool:
        """Whether the provider said that nothing more comes."""
        return self._answer.done

    @property
    def finished(self) -> bool:
        """Whether the provider said that the answer is whole; its usage may follow."""
        return self._answer.finished

    def feed(self, data: bytes) -> Iterator[StreamEvent]:
        """What these bytes complete, one by one: what stands before an error still comes."""
        if self._form != "stream":
            data = self._hold(data)
        if self._form == "stream":
            yield from self._decoded(self._decoder.feed(data))

    def end(self, cut: StreamError | None = None) -> Iterator[StreamEvent]:
        """What remains, `Done` last. `cut`: why the body may have lost its end, if it may."""
        if self._form == "document":
            yield from self._answer.add_whole(bytes(self._held).strip(_BLANK))
        elif not self.done:
            yield from self._decoded(self._decoder.finish())
        yield from self._answer.end(cut)

    def _hold(self, data: bytes) -> bytes:
        """Keep the data until the form is known, or all of a document; return it for a stream."""
        self._held += data
        if len(self._held) > MAX_STREAM_BYTES:
            raise StreamError(f"the answer is longer than {MAX_STREAM_BYTES} bytes")
        self._form = self._form or _form_of(self._held)
        if self._form != "stream":
            return b""
        held, self._held = bytes(self._held), bytearray()
        return held

    def _decoded(self, events: Iterable[Event]) -> Iterator[StreamEvent]:
        for event in events:
            yield from self._answer.add(event)


def _form_of(start: bytearray) -> Form | None:
    """What the first byte that is not blank says; None while there is none."""
    begin = bytes(start[:64]).lstrip(_BLANK)
    if begin.startswith(b"<"):
        raise StreamError("a web page came instead of an answer")
    if begin.startswith((b"{", b"[")):
        return "document"
    return "stream" if begin or len(start) >= 64 else None
