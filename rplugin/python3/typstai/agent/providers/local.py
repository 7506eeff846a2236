"""The small model on this machine: an endpoint that is started when it is first asked.

It takes no tools. It is sent words only: a prompt that speaks of tools, and what
tools answered, would fill its small window to no use.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from .base import AssistantMessage, Message, ModelRequest, StreamEvent, UserMessage
from .client import HttpClients
from .endpoint import Endpoint
from .openai import OpenAIModel

NAME = "local"
CONTEXT_TOKENS = 4096
"""Half of its window: it was trained on English, and other languages take more tokens."""
MAX_TOKENS = 256
TEMPERATURE = 0.0
"""Always the likeliest word: a model this small wanders off at every other one."""
_SYSTEM = """\
You are a helpful writing assistant. Answer briefly. Text between <selection> tags is the \
writer's own text."""
_NAMES = re.compile(r"\A<file>\n.*?\n</file>\n|(?<=<selection>\n)[^\n]*:\d+-\d+\n", re.DOTALL)
"""Where the writer is: it cannot open files, and would take their names for the topic."""


class Serving(Protocol):
    """A server that answers now."""

    @property
    def url(self) -> str: ...
    @property
    def key(self) -> str: ...


class LocalModel:
    """Implements `base.Model`. `ready` starts the server when there is none."""

    name = NAME

    def __init__(self, ready: Callable[[], Awaitable[Serving]], clients: HttpClients) -> None:
        self._ready = ready
        self._clients = clients

    async def start(self) -> None:
        """Start its server unless one runs, so that the next answer need not wait for that."""
        await self._ready()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `base.Model.stream`."""
        model = OpenAIModel(_endpoint(await self._ready()), self._clients)
        async with aclosing(model.stream(in_words(request))) as events:
            async for event in events:
                yield event


def in_words(request: ModelRequest) -> ModelRequest:
    """The request without tools, and without the prompt and the messages that need them."""
    system = _SYSTEM if request.tools else request.system
    return replace(request, system=system, messages=tuple(_words(request.messages)), tools=())


def _words(messages: Sequence[Message]) -> list[Message]:
    found: list[Message] = []
    for message in messages:
        match message:
            case UserMessage(text=text):
                found.append(UserMessage(text=_NAMES.sub("", text)))
            case AssistantMessage(text=text) if text.strip():
                found.append(AssistantMessage(text=text))
            case _:
                pass
    return found


def _endpoint(serving: Serving) -> Endpoint:
    return Endpoint(
        name=NAME,
        base_url=f"{serving.url}/v1",
        model=NAME,
        headers={"authorization": f"Bearer {serving.key}"},
        temperature=TEMPERATURE,
        max_tokens=MAX_TOKENS,
    )
