"""From stored turns to the messages a provider accepts.

Every call in the messages has its result, whatever happened to it: a history
with an unanswered call would be refused by every provider for ever after.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from ..domain.chat import AssistantTurn, Reasoning, Text, ToolUse, Turn, UserTurn
from ..domain.tool import ToolCall
from .prompt import fence
from .providers.base import AssistantMessage, Message, ToolMessage, UserMessage

UNANSWERED = "error cancelled: this call did not run; the writer stopped or Neovim ended."
CHARS_PER_TOKEN = 3.5
"""A cautious estimate: prose in European languages has about four."""


def messages(turns: Sequence[Turn]) -> list[Message]:
    """All turns as messages, oldest first."""
    found: list[Message] = []
    for turn in turns:
        match turn:
            case UserTurn():
                found.append(UserMessage(text=user_text(turn)))
            case AssistantTurn():
                found.extend(_rounds(turn))
    return found


def fitting(turns: Sequence[Turn], budget_chars: int) -> tuple[Sequence[Turn], int]:
    """The newest turns that fit, starting with a user's turn, and how many were dropped."""
    kept = len(turns)
    used = 0
    start = len(turns)
    for index in range(len(turns) - 1, -1, -1):
        used += sum(map(size, messages(turns[index : index + 1])))
        if used > budget_chars and start < kept:
            break
        if isinstance(turns[index], UserTurn):
            start = index
    return turns[start:], start


def size(message: Message) -> int:
    """Characters a message weighs."""
    match message:
        case UserMessage() | ToolMessage():
            return len(message.text)
        case AssistantMessage():
            return len(message.text) + sum(len(call.arguments) for call in message.calls)


def user_text(turn: UserTurn) -> str:
    """What the user wrote, after the labelled data that belongs to it."""
    parts: list[str] = []
    if turn.file:
        parts.append(fence("file", turn.file))
    for item in turn.selections:
        place = f"{item.path}:{item.start_line}-{item.end_line}"
        parts.append(fence("selection", f"{place}\n{item.text}"))
    if turn.notes:
        parts.append(fence("editor", "\n".join(turn.notes)))
    return "\n".join((*parts, turn.text))


def _rounds(turn: AssistantTurn) -> Iterable[Message]:
    for _, group in groupby(turn.segments, key=lambda segment: segment.round):
        segments = list(group)
        uses = [item for item in segments if isinstance(item, ToolUse)]
        text = "".join(item.text for item in segments if isinstance(item, Text))
        thought = "".join(item.text for item in segments if isinstance(item, Reasoning))
        if not text and not uses:
            continue
        calls = tuple(ToolCall(id=use.id, name=use.name, arguments=use.arguments) for use in uses)
        yield AssistantMessage(text=text, reasoning=thought, calls=calls)
        for use in uses:
            yield ToolMessage(call_id=use.id, name=use.name, text=use.result or UNANSWERED)
