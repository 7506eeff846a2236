"""A model that tries again by itself when its endpoint is busy or out of reach.

Only a request of which nothing has come yet is repeated: what was streamed is
never streamed twice. The wait is told second by second and ends at once when
the stream is closed.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from itertools import count

from ...errors import ConnectError, ModelError
from .base import Model, ModelRequest, Notice, StreamEvent

MAX_RETRIES = 4
MAX_CONNECTS = 2
"""Tries after no connection could be had: a server that is not there is soon told."""
FIRST_SECONDS = 1.0
"""Doubles with each try."""
LONGEST_SECONDS = 20.0
LONGEST_ASKED_SECONDS = 120.0
"""A server that asks for more than this is not waited for."""
_SPREAD_SECONDS = 0.5
"""Of a time the server asked for, so that not all its clients come back together."""


class Retrying:
    """Implements `base.Model` over another."""

    def __init__(
        self,
        model: Model,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._model = model
        self._sleep = sleep
        self._chance = chance

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `base.Model.stream`; `Notice` events tell of waits between tries."""
        for attempt in count(1):
            begun = False
            try:
                async with aclosing(self._model.stream(request)) as events:
                    async for event in events:
                        begun = True
                        yield event
                return
            except ModelError as error:
                seconds = wait_seconds(error, attempt, self._chance())
                if begun or seconds is None:
                    raise
                failure = error
            async with aclosing(self._countdown(seconds, attempt, failure)) as notices:
                async for notice in notices:
                    yield notice

    async def _countdown(
        self, seconds: float, attempt: int, error: ModelError
    ) -> AsyncGenerator[Notice, None]:
        left, most = seconds, _most_tries(error)
        while left > 0:
            whole = math.ceil(left)
            yield Notice(text=f"Trying again in {whole} s ({attempt} of {most}): {error}")
            await self._sleep(left - (whole - 1))
            left = whole - 1
        yield Notice(text="")


def wait_seconds(error: ModelError, attempt: int, chance: float) -> float | None:
    """How long to wait before try number `attempt + 1`; None when there is to be none.

    `chance` is from 0 to below 1.
    """
    if error.remedy != "wait" or attempt > _most_tries(error):
        return None
    if error.retry_after is not None:
        asked = error.retry_after + chance * _SPREAD_SECONDS
        return asked if error.retry_after <= LONGEST_ASKED_SECONDS else None
    longest = min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** (attempt - 1))
    return longest * (1 + chance) / 2


def _most_tries(error: ModelError) -> int:
    return MAX_CONNECTS if isinstance(error, ConnectError) else MAX_RETRIES
