"""Keeps the turns of one chat in the store: those that grow, and those that are whole."""

from __future__ import annotations

from ..domain.chat import AssistantTurn, Turn
from ..storage.chats import ChatStore
from ..storage.saver import TurnSaver


class ChatRecorder:
    """Implements the agent's `Recorder` over the store."""

    def __init__(self, store: ChatStore, chat: str) -> None:
        self._store = store
        self._chat = chat
        self._saver: TurnSaver | None = None

    async def save(self, turn: Turn) -> None:
        if self._saver is not None and isinstance(turn, AssistantTurn):
            saver, self._saver = self._saver, None
            await saver.finish(turn)
        else:
            await self._store.save_turn(self._chat, turn)

    def begin(self, turn: AssistantTurn) -> None:
        self._saver = TurnSaver(self._store, self._chat)
        self._saver.begin(turn)

    def save_soon(self, turn: AssistantTurn) -> None:
        if self._saver is None:
            self._saver = TurnSaver(self._store, self._chat)
        self._saver.save(turn)
