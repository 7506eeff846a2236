"""From stored turns to the messages a provider accepts, whatever happened to the turns.

Every call has its result right after it and an id of its own, no two messages
of one side follow each other, and nothing is empty: a history that breaks one
of these would be refused by some provider for ever after.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from ..domain.chat import AssistantTurn, Picture, Reasoning, Text, ToolUse, Turn, UserTurn
from ..domain.fence import fence
from ..domain.tool import ToolCall
from .providers.base import AssistantMessage, Image, Message, ToolMessage, UserMessage

UNANSWERED = "error cancelled: this call did not run; the writer stopped or Neovim ended."
CHARS_PER_TOKEN = 3.5
"""A cautious estimate: prose in European languages has about four."""
IMAGE_CHARS = 6_000
"""What an image weighs: providers count about 1,600 tokens for one of the size we send."""


def messages(
    turns: Sequence[Turn],
    *,
    images: Mapping[str, tuple[Image, ...]] | None = None,
    left_out: int = 0,
) -> list[Message]:
    """All turns as messages, oldest first.

    `images` by id of the user's turn: those that are sent. `left_out`: how many
    earlier turns are missing. The reasoning of a turn that still runs is kept.
    """
    found: list[Message] = []
    ids = _Ids()
    for turn in turns:
        match turn:
            case UserTurn():
                sent = (images or {}).get(turn.id, ())
                found.append(UserMessage(text=user_text(turn, seen=bool(sent)), images=sent))
            case AssistantTurn():
                found.extend(_rounds(turn, ids))
    if left_out and found and isinstance(found[0], UserMessage):
        told = fence("editor", f"{left_out} earlier messages of this chat are not shown to you.")
        found[0] = replace(found[0], text=f"{told}\n{found[0].text}")
    return _alternating(found)


def fitting(turns: Sequence[Turn], budget_chars: int) -> tuple[Sequence[Turn], int]:
    """The newest turns that fit, starting with a user's turn, and how many were dropped."""
    kept = len(turns)
    used = 0
    start = len(turns)
    for index in range(len(turns) - 1, -1, -1):
        used += weight(turns[index])
        if used > budget_chars and start < kept:
            break
        if isinstance(turns[index], UserTurn):
            start = index
    return turns[start:], start


def halved(turns: Sequence[Turn]) -> tuple[Sequence[Turn], int]:
    """The newer half by weight, from a user's turn on, and how many were dropped (perhaps 0)."""
    return fitting(turns, sum(map(weight, turns)) // 2)


def weight(turn: Turn) -> int:
    """Characters a turn weighs in a request."""
    pictures = len(turn.images) if isinstance(turn, UserTurn) else 0
    return sum(map(size, messages([turn]))) + pictures * IMAGE_CHARS


def size(message: Message) -> int:
    """Characters of the text of a message."""
    match message:
        case UserMessage() | ToolMessage():
            return len(message.text)
        case AssistantMessage():
            return len(message.text) + sum(len(call.arguments) for call in message.calls)


def user_text(turn: UserTurn, *, seen: bool = False) -> str:
    """What the user wrote, after the labelled data that belongs to it.

    `seen`: whether its images are sent along.
    """
    parts: list[str] = []
    if turn.file:
        parts.append(fence("file", turn.file))
    for item in turn.selections:
        place = f"{item.path}:{item.start_line}-{item.end_line}"
        parts.append(fence("selection", f"{place}\n{item.text}"))
    parts.extend(
        fence("page" if item.page else "image", _picture(item, seen)) for item in turn.images
    )
    if turn.notes:
        parts.append(fence("editor", "\n".join(turn.notes)))
    return "\n".join((*parts, turn.text))


def _picture(picture: Picture, seen: bool) -> str:
    sent = "attached" if seen else "shown in an earlier request, not attached again"
    page = f"page {picture.page} of {picture.pages}, rendered; " if picture.page else ""
    return f"{picture.path} ({page}{picture.width} x {picture.height} pixels, {sent})"


class _Ids:
    """Gives each call an id that no earlier call of the history has."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, call_id: str) -> str:
        fresh, number = call_id, 1
        while fresh in self._taken:
            number += 1
            fresh = f"{call_id}-{number}"
        self._taken.add(fresh)
        return fresh


def _rounds(turn: AssistantTurn, ids: _Ids) -> Iterable[Message]:
    for _, group in groupby(turn.segments, key=lambda segment: segment.round):
        segments = list(group)
        # A call without an id never came whole: it cannot be told, and it did not run.
        uses = [item for item in segments if isinstance(item, ToolUse) and item.id]
        uses = [replace(use, id=ids.of(use.id)) for use in uses]
        text = "".join(item.text for item in segments if isinstance(item, Text))
        thought = "".join(item.text for item in segments if isinstance(item, Reasoning))
        if not text.strip() and not uses:
            continue
        calls = tuple(ToolCall(id=use.id, name=use.name, arguments=use.arguments) for use in uses)
        replayed = thought if turn.status == "running" else ""
        yield AssistantMessage(text=text, reasoning=replayed, calls=calls)
        for use in uses:
            yield ToolMessage(call_id=use.id, name=use.name, text=use.result or UNANSWERED)


def _alternating(found: Iterable[Message]) -> list[Message]:
    """Neighbours of one side as one message: a failed run leaves two requests in a row."""
    joined: list[Message] = []
    for message in found:
        match joined[-1] if joined else None, message:
            case UserMessage() as first, UserMessage() as second:
                text = f"{first.text}\n\n{second.text}"
                joined[-1] = UserMessage(text=text, images=(*first.images, *second.images))
            case AssistantMessage(calls=()) as first, AssistantMessage() as second:
                joined[-1] = replace(second, text=f"{first.text}\n\n{second.text}".rstrip())
            case _:
                joined.append(message)
    return joined
