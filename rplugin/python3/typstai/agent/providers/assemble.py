"""Turns the events of one answer into deltas and finished calls.

Knows the dialects of chat completions and no network. The rule for calls is
fail-closed: they are handed out only when the answer is known to be whole. An
answer is *finished* when a finish reason or `[DONE]` came. Without either, it
is accepted if the body ended in order and every call has its arguments. An
event that could not be read after a call began may have held a piece of it, so
no call of that answer counts. Cut by length
or by a content filter, it is `Done` without calls: the last may be half.
Arguments that are not valid JSON in an answer that the provider calls complete
are the model's mistake; they are handed out, and dispatch refuses them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from typing import Literal

from ...domain.tool import ToolCall
from ...errors import StreamError
from .base import Done, ReasoningDelta, StreamEvent, TextDelta, ToolCallStarted, Usage
from .calls import CallAssembler
from .chunks import (
    Choice,
    Chunk,
    Piece,
    SurrogateJoiner,
    error_text,
    parse_chunk,
    provider_error,
    stray_error,
    token_counts,
)
from .reasoning import ThinkSplitter, content_pieces, plain_text
from .sse import Event

MAX_TEXT_BYTES = 1024 * 1024
MAX_MALFORMED_EVENTS = 16
BYTES_PER_TOKEN = 4
"""For estimates only: about right for English, and for Chinese by its three bytes."""

Finish = Literal["stop", "length", "content_filter"]

_FINISH: dict[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "refusal": "content_filter",
}


def random_id() -> str:
    """An id for a call that came without one: nine letters and digits, as Mistral wants."""
    return secrets.token_hex(5)[:9]


class AnswerAssembler:
    """Takes the events of one stream, or one whole answer; yields what they mean."""

    def __init__(self, *, input_bytes: int, new_id: Callable[[], str] = random_id) -> None:
        self._input_bytes = input_bytes
        self._calls = CallAssembler(new_id)
        self._think = ThinkSplitter()
        self._text = SurrogateJoiner()
        self._reasoning = SurrogateJoiner()
        self._text_bytes = 0
        self._malformed = 0
        self._lost_in_call = False
        self._seen_choice = False
        self._finish = ""
        self._tokens: tuple[int, int] | None = None
        self.done = False
        """Whether `[DONE]` came: nothing that follows counts."""

    @property
    def finished(self) -> bool:
        """Whether the provider said that the answer is whole."""
        return self.done or bool(self._finish)

    def add(self, event: Event) -> Iterator[StreamEvent]:
        """Deltas of one server-sent event; `StreamError` when it carries an error."""
        data = event.data.strip()
        if self.done or not data:
            return
        if data == b"[DONE]":
            self.done = True
            return
        chunk = parse_chunk(data)
        if event.type == "error" or chunk is None or chunk.is_empty:
            self._check_stray(event.type, data, chunk)
        if chunk:
            yield from self._chunk(chunk)

    def add_whole(self, data: bytes) -> Iterator[StreamEvent]:
        """Deltas of an answer that came as one JSON document, not as a stream."""
        chunk = parse_chunk(data)
        if chunk is None or chunk.is_empty:
            raise stray_error(data) or StreamError("the answer is JSON, but not a chat completion")
        yield from self._chunk(chunk)
        self.done = True

    def end(self, cut: StreamError | None = None) -> Iterator[StreamEvent]:
        """What remains, and `Done`; `StreamError` when the answer is not whole.

        `cut`: why the body may have lost its end; None when it ended as the protocol promised.
        """
        yield from self._rest()
        if cut and not self.finished:
            raise cut
        if not self._seen_choice:
            raise StreamError("nothing came that is an answer")
        finish = _FINISH.get(self._finish.lower(), "stop")
        calls = self._whole_calls() if finish == "stop" else ()
        yield Done(calls=calls, finish=finish, usage=self._counted())

    def _chunk(self, chunk: Chunk) -> Iterator[StreamEvent]:
        if chunk.error:
            raise provider_error(chunk.error)
        self._tokens = token_counts(chunk.usage) or self._tokens
        for choice in chunk.choices or ():
            if not choice.index:
                yield from self._choice(choice)

    def _choice(self, choice: Choice) -> Iterator[StreamEvent]:
        self._seen_choice = True
        if choice.error or choice.finish_reason == "error":
            raise provider_error(choice.error or "the provider reported an error")
        piece = choice.delta or choice.message
        if piece is not None:
            yield from self._piece(piece)
        self._finish = choice.finish_reason or self._finish

    def _piece(self, piece: Piece) -> Iterator[StreamEvent]:
        reasoning = piece.reasoning_content or piece.reasoning or piece.thinking
        yield from self._thought(plain_text(reasoning))
        for is_reasoning, text in content_pieces(piece.content):
            yield from self._thought(text) if is_reasoning else self._said(text)
        yield from self._said(plain_text(piece.refusal))
        for name in self._calls.add(piece.tool_calls or ()):
            yield ToolCallStarted(name=name)

    def _said(self, text: str) -> list[TextDelta | ReasoningDelta]:
        return self._think.feed(self._bounded(self._text.feed(text))) if text else []

    def _thought(self, text: str) -> list[ReasoningDelta]:
        text = self._bounded(self._reasoning.feed(text)) if text else ""
        return [ReasoningDelta(text=text)] if text else []

    def _bounded(self, text: str) -> str:
        self._text_bytes += len(text.encode())
        if self._text_bytes > MAX_TEXT_BYTES:
            raise StreamError(f"the text is longer than {MAX_TEXT_BYTES} bytes")
        return text

    def _rest(self) -> Iterator[StreamEvent]:
        alone = self._reasoning.finish()
        if alone:
            yield ReasoningDelta(text=alone)
        yield from self._think.feed(self._text.finish())
        yield from self._think.finish()

    def _check_stray(self, type_: str, data: bytes, chunk: Chunk | None) -> None:
        """An event that is no chunk: an error, a harmless extra, or damage."""
        error = stray_error(data)
        if type_ == "error":
            error = error or StreamError(error_text(data.decode("utf-8", "replace")))
        if error:
            raise error
        if chunk is None:
            self._note_damage()

    def _note_damage(self) -> None:
        self._malformed += 1
        self._lost_in_call = self._lost_in_call or bool(self._calls)
        if self._malformed > MAX_MALFORMED_EVENTS:
            raise StreamError(f"more than {MAX_MALFORMED_EVENTS} events were malformed")

    def _whole_calls(self) -> tuple[ToolCall, ...]:
        if self._calls and not self._calls_are_whole():
            raise StreamError("the answer broke off inside a tool call; no tool was run")
        return self._calls.finish()

    def _calls_are_whole(self) -> bool:
        if self._lost_in_call:
            return False
        return bool(self._finish) or self._calls.all_whole(or_empty=self.done)

    def _counted(self) -> Usage:
        if self._tokens:
            return Usage(input_tokens=self._tokens[0], output_tokens=self._tokens[1])
        written = self._text_bytes + self._calls.characters
        return Usage(
            input_tokens=estimate_tokens(self._input_bytes),
            output_tokens=estimate_tokens(written),
            estimated=True,
        )


def estimate_tokens(size_bytes: int) -> int:
    """Tokens in a text of so many UTF-8 bytes, roughly, rounded up."""
    return -(-size_bytes // BYTES_PER_TOKEN)
