"""A model that replays prepared turns: for tests and demonstrations."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence

from ...errors import ModelError
from .base import Done, ModelRequest, StreamEvent, Usage

ScriptedTurn = Sequence[StreamEvent | ModelError]
"""What one request is answered with; an error is raised where it stands."""


class ScriptedModel:
    """Answers the first request with the first turn, and so on.

    A turn that ends neither in `Done` nor in an error is given a plain `Done`.
    A request beyond the last turn raises `ModelError`.
    """

    def __init__(self, turns: Iterable[ScriptedTurn], *, name: str = "scripted") -> None:
        self._turns = iter([tuple(turn) for turn in turns])
        self._name = name
        self.requests: list[ModelRequest] = []
        """What was asked so far."""

    @property
    def name(self) -> str:
        return self._name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Replay the next turn."""
        self.requests.append(request)
        turn = next(self._turns, None)
        if turn is None:
            raise ModelError(f"The script of model {self._name} has no further turn.")
        for event in turn:
            if isinstance(event, ModelError):
                raise event
            yield event
        if not (turn and isinstance(turn[-1], Done)):
            yield Done(calls=(), finish="stop", usage=Usage())
