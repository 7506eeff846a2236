"""Saves a streaming turn often enough, and no more often than that."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

from ..domain.chat import Turn
from ..errors import StorageError
from ..log import logger
from .chats import ChatStore

SAVE_INTERVAL_SECONDS = 0.15
"""A crash may lose 200 ms of an answer; a quarter of that is left for the write itself."""


class TurnSaver:
    """Keeps the newest state of one turn in the store while it grows.

    The first state is written at once, later ones at most once an interval,
    the last one always. Belongs to one run, on the event loop's thread.
    """

    def __init__(self, store: ChatStore, chat_id: str) -> None:
        self._store = store
        self._chat_id = chat_id
        self._unsaved: Turn | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._write: Future[None] | None = None

    def begin(self, turn: Turn) -> None:
        """Have the turn written while nothing is in it yet; what comes first waits no interval."""
        self._unsaved = turn
        self._submit()

    def save(self, turn: Turn) -> None:
        """Have `turn` written soon; a newer state may take its place. Does not wait."""
        self._unsaved = turn
        if self._timer is None:
            self._submit()
            self._wait_an_interval()

    async def finish(self, turn: Turn) -> None:
        """Write the last state and wait until it is stored; no `save` may follow.

        Raises StorageError.
        """
        self._stop_timer()
        self._unsaved = None
        await self._store.save_turn(self._chat_id, turn)

    def abandon(self) -> None:
        """Queue what is unsaved without waiting, for a host that is about to close."""
        self._stop_timer()
        self._submit()

    def _wait_an_interval(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(SAVE_INTERVAL_SECONDS, self._interval_over)

    def _interval_over(self) -> None:
        self._timer = None
        if self._unsaved is None:
            return
        if self._write is None or self._write.done():
            self._submit()
        # While a slow disk is still busy with the last state, newer ones wait for it.
        self._wait_an_interval()

    def _submit(self) -> None:
        turn, self._unsaved = self._unsaved, None
        if turn is None:
            return
        try:
            self._write = self._store.submit_turn(self._chat_id, turn)
        except StorageError as error:
            logger.warning("an answer is not being saved: %s", error)
            return
        self._write.add_done_callback(_report)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _report(write: Future[None]) -> None:
    """A state that failed is covered by the last one, which raises; until then, the log."""
    error = write.exception()
    if error is not None:
        logger.warning("a part of an answer was not saved: %s", error)
