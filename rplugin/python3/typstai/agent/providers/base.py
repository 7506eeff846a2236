"""What every model is to the agent: a request goes in, stream events come out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from ...domain.tool import ToolCall, ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture as it is sent: PNG, bounded by whoever made it."""

    png: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    text: str
    images: tuple[Image, ...] = ()
    """Only models that see get any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    """One round of the model: what it said and the calls it made (each is answered next)."""

    text: str
    reasoning: str = ""
    """Kept for the few providers that must see it again within the run."""
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMessage:
    """The answer to one call of the assistant message before it."""

    call_id: str
    name: str
    text: str


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    """Empty when the model must answer in words."""
    max_tokens: int | None = None
    """An answer is no longer than this, nor than the model's own limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens, as the provider counted them (`estimated`: as we guess them)."""

    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens cost."""

    input: float
    output: float

    def of(self, usage: Usage) -> float:
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallStarted:
    """A call's name is known; its arguments are still arriving."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The answer is whole: always the last event of a stream that did not fail."""

    calls: tuple[ToolCall, ...]
    finish: Literal["stop", "length", "content_filter"]
    usage: Usage
    remark: str = ""
    """A sentence about it that the user should read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What the user should know while nothing comes; "" when it no longer holds.

    Only models that wait by themselves (`retry.Retrying`) send any.
    """

    text: str


StreamEvent: TypeAlias = TextDelta | ReasoningDelta | ToolCallStarted | Notice | Done


class Model(Protocol):
    """A model the loop can talk to."""

    @property
    def name(self) -> str:
        """The name the user gave it."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Send the request; yields deltas as they arrive and one `Done` at the end.

        Raises `ModelError`; what was yielded before stands. Closing the
        iterator (or cancelling the task) closes the connection.
        """
        ...
