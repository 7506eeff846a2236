"""Serves ghost text: one request at a time, its answers kept, its failures waited out.

The short way to a model: no chat, no store, no tools.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import msgspec

from ..agent.providers import offline
from ..agent.providers.base import (
    AssistantMessage,
    Done,
    Model,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    UserMessage,
)
from ..agent.providers.local import LocalModel
from ..domain.completion_cache import CompletionCache, Site
from ..errors import ConnectError, ModelError, SettingsError, StatusError, TypstAIError
from ..settings import AutocompleteOptions
from ..typst.zone import is_prose_at
from ..writing.ghost import Around, begun, continuation, is_enough, look_around, message
from ..writing.ghost_template import PLAIN_REQUEST, PLAIN_SYSTEM, SYSTEM
from .models import Models
from .requests import decode

MAX_TOKENS = 96
LOCAL_MAX_TOKENS = 32
"""About a second's work for a processor."""
ONLY_THOUGHT = (
    "only thought and had no room for text; name another model in autocomplete.model, or set its"
    " reasoning_effort."
)
FIRST_PAUSE_S = 5.0
"""After the model was busy, if it did not say for how long; doubles each time."""
LONGEST_PAUSE_S = 300.0
LONGEST_ASKED_S = 3600.0


class Completion(msgspec.Struct, frozen=True):
    """What Lua asks: the text on either side of the cursor, on line `row0` of a buffer."""

    id: int
    bufnr: int
    row0: int
    above: str
    below: str
    filetype: str
    anywhere: bool = False


class Pause:
    """When a model that was busy may be asked again."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until = 0.0
        self._next_s = FIRST_PAUSE_S
        self.reason = ""

    def left_s(self) -> int:
        """Whole seconds to wait; 0 when it may be asked."""
        return max(0, math.ceil(self._until - self._clock()))

    def begin(self, reason: str, asked_s: float | None) -> None:
        seconds = self._next_s if asked_s is None else min(asked_s, LONGEST_ASKED_S)
        self._next_s = min(self._next_s * 2, LONGEST_PAUSE_S)
        self._until = self._clock() + seconds
        self.reason = reason

    def end(self) -> None:
        self._until, self._next_s = 0.0, FIRST_PAUSE_S


class Ghost:
    """Owns the one task that asks. Answers are `{text, reason, seconds?, message?}`."""

    def __init__(
        self,
        options: AutocompleteOptions,
        models: Models,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._options = options
        self._models = models
        self._cache = CompletionCache()
        self._pause = Pause(clock)
        self._wanted = 0
        self._task: asyncio.Task[str] | None = None
        self._starting: asyncio.Task[None] | None = None

    async def complete(self, params: dict[str, Any]) -> dict[str, Any]:
        """What comes next at a place. The request before is given up."""
        asked = decode(Completion, params)
        self._wanted = asked.id
        await self._give_up()
        if self._wanted != asked.id:
            return _nothing("cancelled")
        is_code = asked.filetype == "typst" and not is_prose_at(asked.above, asked.below)
        if is_code and not asked.anywhere:
            return _nothing("not prose")
        around = look_around(
            asked.above,
            asked.below,
            row0=asked.row0,
            context_blocks=self._options.context_blocks,
        )
        known = self._cache.get(_site(asked, around), around.prefix)
        if known is not None:
            return _found(known)
        if self._pause.left_s():
            return _nothing(self._pause.reason, seconds=self._pause.left_s())
        return await self._ask(asked, around)

    async def cancel(self, params: dict[str, Any]) -> None:
        """Give up the request with that `id`, if it is still under way."""
        if self._wanted == params["id"]:
            self._wanted = 0
            await self._give_up()

    async def close(self) -> None:
        """Give up what is under way, and wait for the end of it."""
        await self._give_up()
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])

    async def _give_up(self) -> None:
        """Returns when the connection of the request is closed."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _ask(self, asked: Completion, around: Around) -> dict[str, Any]:
        task = self._task = asyncio.create_task(self._generate(around), name="ghost text")
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
        if task.cancelled():
            return _nothing("cancelled")
        try:
            text = task.result()
        except TypstAIError as error:
            return self._failed(error)
        self._pause.end()
        self._cache.put(_site(asked, around), around.prefix, text)
        return _found(text)

    async def _generate(self, around: Around) -> str:
        model = await self._model()
        request = await self._request(model, around)
        answer, is_cut, has_thought = "", False, False
        async with aclosing(model.stream(request)) as events:
            async for event in events:
                match event:
                    case TextDelta(text=text):
                        answer += text
                    case ReasoningDelta():
                        has_thought = True
                    case Done(finish=finish):
                        is_cut = finish == "length"
                    case _:
                        pass
                if is_enough(answer, around):
                    break
        if has_thought and not answer.strip():
            raise ModelError(f"{model.name} {ONLY_THOUGHT}")
        return continuation(answer, around, is_cut=is_cut)

    async def _request(self, model: Model, around: Around) -> ModelRequest:
        if not isinstance(model, LocalModel):
            told = UserMessage(text=message(around))
            return ModelRequest(system=SYSTEM, messages=(told,), max_tokens=MAX_TOKENS)
        await self._started(model)
        answer = AssistantMessage(text=begun(around))
        return ModelRequest(
            system=PLAIN_SYSTEM,
            messages=(UserMessage(text=PLAIN_REQUEST), answer),
            max_tokens=LOCAL_MAX_TOKENS,
        )

    async def _started(self, model: LocalModel) -> None:
        """Its start takes longer than pauses in typing do: giving up a request must not end it."""
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(model.start(), name="start the local model")
            # Whoever waited may have given up, and the next one tries again.
            self._starting.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._starting)

    async def _model(self) -> Model:
        """Raises `SettingsError`: nothing is completed by a model that was not named for it."""
        name = self._options.model
        if not name or name == offline.NAME:
            raise SettingsError("Ghost text needs a model: set autocomplete.model to a name.")
        await self._models.ready()
        return self._models.get(name).model

    def _failed(self, error: TypstAIError) -> dict[str, Any]:
        match error:
            case SettingsError():
                return _nothing("no model", message=str(error))
            case ConnectError(remedy="wait"):
                self._pause.begin("no connection", None)
                return _nothing(
                    self._pause.reason, seconds=self._pause.left_s(), message=str(error)
                )
            case ModelError(remedy="wait", retry_after=asked_s):
                is_limit = isinstance(error, StatusError) and error.status == 429
                self._pause.begin("rate limited" if is_limit else "busy", asked_s)
                return _nothing(self._pause.reason, seconds=self._pause.left_s())
            case _:
                return _nothing("failed", message=str(error))


def _site(asked: Completion, around: Around) -> Site:
    return Site(
        bufnr=asked.bufnr,
        block_row0=around.block_row0,
        before=around.before,
        after=f"{around.rest}\n\n{around.after}",
    )


def _found(text: str) -> dict[str, Any]:
    return {"text": text, "reason": "" if text else "nothing to add"}


def _nothing(reason: str, **more: Any) -> dict[str, Any]:
    return {"text": "", "reason": reason, **more}
