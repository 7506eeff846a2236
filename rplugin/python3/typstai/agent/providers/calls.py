"""Puts tool calls together from the pieces in which providers send them.

A piece belongs to the call with its id; without an id, to the newest call with
its index; without either, to the newest call. A piece opens a new call when it
names a function and cannot be the continuation of the call it would belong to.
That covers indexes that are missing or all zero, whole calls in one chunk, one
call per chunk, ids repeated in every piece, and ids that never come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import msgspec

from ...domain.tool import ToolCall
from ...errors import StreamError
from .chunks import CallPiece, SurrogateJoiner, as_json, without_surrogates

MAX_CALLS = 64
MAX_ARGUMENT_CHARACTERS = 256_000
"""Of all calls of one answer together, names and ids included."""


@dataclass(slots=True, kw_only=True, eq=False)
class _OpenCall:
    id: str
    index: int | None
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])
    joiner: SurrogateJoiner = field(default_factory=SurrogateJoiner)

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    @property
    def is_whole(self) -> bool:
        """Whether the arguments are one complete JSON object."""
        last = next((piece for piece in reversed(self.pieces) if piece.strip()), "")
        return last.rstrip().endswith("}") and is_json_object(self.arguments)


class CallAssembler:
    """Collects the pieces of all calls of one answer."""

    def __init__(self, new_id: Callable[[], str]) -> None:
        self._new_id = new_id
        self._calls: list[_OpenCall] = []
        self._characters = 0

    def __bool__(self) -> bool:
        return bool(self._calls)

    @property
    def characters(self) -> int:
        """Characters of names, ids and arguments so far."""
        return self._characters

    def all_whole(self, *, or_empty: bool) -> bool:
        """Whether the arguments of every call are a complete JSON object (or never began)."""
        return all(call.is_whole or (or_empty and not call.pieces) for call in self._calls)

    def add(self, pieces: Iterable[CallPiece]) -> list[str]:
        """Take the calls of one chunk; the names that became known by it."""
        touched: list[_OpenCall] = []
        named: list[str] = []
        for piece in pieces:
            call = self._owner(piece, touched)
            touched.append(call)
            had_name = bool(call.name)
            self._extend(call, piece)
            if call.name and not had_name:
                named.append(call.name)
        return named

    def finish(self) -> tuple[ToolCall, ...]:
        """The calls in the order in which they began; `StreamError` when one has no name."""
        if not all(call.name for call in self._calls):
            raise StreamError("a tool call came without a name; no tool was run")
        return tuple(self._close(call) for call in self._calls)

    def _owner(self, piece: CallPiece, touched: list[_OpenCall]) -> _OpenCall:
        by_id = self._with_id(piece)
        if by_id is not None:
            return _same_call(by_id, piece, touched)
        current = self._newest(piece.index)
        if current is None:
            return self._open(piece)
        if _id(piece):
            return current if _adopts(current, piece) else self._open(piece)
        return self._open(piece) if _begins(piece, current, touched) else current

    def _with_id(self, piece: CallPiece) -> _OpenCall | None:
        wanted = _id(piece)
        return next((call for call in self._calls if wanted and call.id == wanted), None)

    def _newest(self, index: int | None) -> _OpenCall | None:
        fitting = (call for call in reversed(self._calls) if index in (None, call.index))
        return next(fitting, None)

    def _open(self, piece: CallPiece) -> _OpenCall:
        if len(self._calls) == MAX_CALLS:
            raise StreamError(f"more than {MAX_CALLS} tool calls came; none was run")
        if not (_id(piece) or _name(piece)):
            raise StreamError("tool arguments came that belong to no call; no tool was run")
        call = _OpenCall(id=_id(piece), index=piece.index)
        self._calls.append(call)
        return call

    def _extend(self, call: _OpenCall, piece: CallPiece) -> None:
        call.id = call.id or _id(piece)
        call.name = call.name or _name(piece)
        text = call.joiner.feed(_arguments(piece))
        self._characters += len(text) + len(_id(piece)) + len(_name(piece))
        if self._characters > MAX_ARGUMENT_CHARACTERS:
            raise StreamError(
                f"the tool arguments are longer than {MAX_ARGUMENT_CHARACTERS} characters;"
                " no tool was run"
            )
        if text:
            call.pieces.append(text)

    def _close(self, call: _OpenCall) -> ToolCall:
        arguments = (call.arguments + call.joiner.finish()).strip() or "{}"
        return ToolCall(id=call.id or self._new_id(), name=call.name, arguments=arguments)


def is_json_object(text: str) -> bool:
    """Whether the text is exactly one JSON object."""
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return False


def _same_call(call: _OpenCall, piece: CallPiece, touched: list[_OpenCall]) -> _OpenCall:
    """The call this id belongs to, if the piece can continue it."""
    other_index = None not in (piece.index, call.index) and piece.index != call.index
    again = bool(_name(piece) and _arguments(piece)) and call.is_whole
    if other_index or again or call in touched:
        raise StreamError("two tool calls came with the same id; none was run")
    return call


def _adopts(call: _OpenCall, piece: CallPiece) -> bool:
    """Whether a call without an id so far takes the one of this piece."""
    return not call.id and not (call.name and _name(piece))


def _begins(piece: CallPiece, call: _OpenCall, touched: list[_OpenCall]) -> bool:
    """Whether a piece without an id is a call of its own, not a continuation of `call`."""
    name = _name(piece)
    if not name or not call.name:
        return False
    return name != call.name or call in touched or call.is_whole


def _id(piece: CallPiece) -> str:
    return "" if piece.id is None else without_surrogates(str(piece.id))


def _name(piece: CallPiece) -> str:
    return without_surrogates(piece.function.name or "") if piece.function else ""


def _arguments(piece: CallPiece) -> str:
    """Arguments as text; an empty object may be a placeholder for text still to come."""
    value = piece.function.arguments if piece.function else None
    match value:
        case str():
            return value
        case None:
            return ""
        case dict() if not value:
            return ""
        case _:
            return as_json(value)
