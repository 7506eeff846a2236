"""The stored form of a turn: JSON text, its bounds, and what a crash left of it.

Pure functions; which turn is reduced when is decided by the chat store.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import msgspec

from ..domain.chat import (
    AssistantTurn,
    Picture,
    Reasoning,
    Segment,
    Selection,
    Text,
    ToolUse,
    Turn,
    UserTurn,
    turn_from_dict,
    turn_to_dict,
)

MAX_DETAIL_CHARACTERS = 4_000
MAX_RESULT_BYTES = 64 * 1024
"""What the model was told is needed again on the next turn, so it may be longer."""
KEPT_CHARACTERS = 400
"""Of a result or a selection, once an old turn had to give up room."""
KEPT_ANSWER_CHARACTERS = 2_000

FULL, NO_DETAILS, SHORT_EVIDENCE, SHORT_ANSWER = range(4)
"""How far a turn was reduced. The user's own words are never shortened."""
REDUCTIONS = (NO_DETAILS, SHORT_EVIDENCE, SHORT_ANSWER)

INTERRUPTED = "Neovim or its helper ended during this answer."
UNREADABLE = "This turn could not be read from the chat database."
NO_RESULT = (
    "error interrupted: Neovim or its helper ended before this call had a result; "
    "read the document again to see whether it was carried out."
)


def encode(turn: Turn) -> str:
    """JSON text of the turn. Lone surrogates, which UTF-8 cannot hold, become `?`."""
    plain = turn_to_dict(turn)
    try:
        return msgspec.json.encode(plain).decode()
    except UnicodeEncodeError:
        return msgspec.json.encode(_encodable(plain)).decode()


def decode(body: str) -> Turn | None:
    """The turn of a body, or None when it cannot be read."""
    try:
        return turn_from_dict(msgspec.json.decode(body, type=dict[str, Any]))
    except (ValueError, TypeError, AttributeError):
        return None


def unreadable(turn_id: str) -> AssistantTurn:
    """What to show for a body that cannot be read; the body itself is left as it is."""
    return AssistantTurn(id=turn_id, status="failed", error=UNREADABLE)


def bounded(turn: Turn) -> Turn:
    """The turn with the details and results of its tool calls within their limits."""
    match turn:
        case UserTurn():
            return turn
        case AssistantTurn():
            return replace(turn, segments=tuple(_bounded(item) for item in turn.segments))


def reduced(turn: Turn, level: int) -> Turn:
    """The turn as it is kept at a reduction `level`, each of which includes the ones before."""
    match turn:
        case UserTurn():
            without = replace(turn, images=tuple(_without_thumbnail(i) for i in turn.images))
            return _reduced_selections(without) if level >= SHORT_EVIDENCE else without
        case AssistantTurn():
            return replace(turn, segments=tuple(_reduced(item, level) for item in turn.segments))


def interrupted(turn: AssistantTurn) -> AssistantTurn:
    """What is left of a turn whose process died: incomplete, every call answered."""
    segments = tuple(_answered(segment) for segment in turn.segments)
    return replace(turn, status="incomplete", error=INTERRUPTED, segments=segments)


def _answered(segment: Segment) -> Segment:
    if isinstance(segment, ToolUse) and segment.state in ("running", "waiting"):
        return replace(segment, state="cancelled", result=NO_RESULT)
    return segment


def _bounded(segment: Segment) -> Segment:
    if not isinstance(segment, ToolUse):
        return segment
    detail = _shortened(segment.detail, MAX_DETAIL_CHARACTERS)
    return replace(segment, detail=detail, result=_within_bytes(segment.result))


def _reduced(segment: Segment, level: int) -> Segment:
    match segment:
        case Reasoning():
            return replace(segment, text="") if level >= SHORT_EVIDENCE else segment
        case Text():
            kept = KEPT_ANSWER_CHARACTERS if level >= SHORT_ANSWER else len(segment.text)
            return replace(segment, text=_shortened(segment.text, kept))
        case ToolUse():
            return _reduced_call(replace(segment, detail=""), level)


def _reduced_call(call: ToolUse, level: int) -> ToolUse:
    if level < SHORT_EVIDENCE:
        return call
    # Cut JSON would be refused by a provider when the history is sent again.
    arguments = call.arguments if len(call.arguments) <= KEPT_CHARACTERS else "{}"
    return replace(call, arguments=arguments, result=_shortened(call.result, KEPT_CHARACTERS))


def _without_thumbnail(picture: Picture) -> Picture:
    return replace(picture, thumbnail="")


def _reduced_selections(turn: UserTurn) -> UserTurn:
    return replace(turn, selections=tuple(_reduced_selection(item) for item in turn.selections))


def _reduced_selection(selection: Selection) -> Selection:
    return replace(selection, text=_shortened(selection.text, KEPT_CHARACTERS))


def _shortened(text: str, limit: int) -> str:
    """`text` within `limit` characters, a mark of the cut included."""
    if len(text) <= limit:
        return text
    mark = f"\n[cut; {len(text)} characters]"
    return text[: limit - len(mark)] + mark


def _within_bytes(text: str) -> str:
    """`text` within the limit for results, in UTF-8, a mark of the cut included."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= MAX_RESULT_BYTES:
        return text
    mark = f"\n[cut; {len(encoded)} bytes]"
    return encoded[: MAX_RESULT_BYTES - len(mark)].decode("utf-8", "ignore") + mark


def _encodable(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case list():
            return [_encodable(item) for item in cast("list[Any]", value)]
        case dict():
            items = cast("dict[str, Any]", value).items()
            return {key: _encodable(item) for key, item in items}
        case _:
            return value
