"""Awaitable calls from asyncio into Neovim.

pynvim sends requests from greenlets, and a coroutine is not in one: the call
would die inside pynvim. So each request is carried into a greenlet by
`async_call`, and its result comes back through a future. This is the only file
that knows about it. Context variables do not cross the bridge.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from typing import Any, NoReturn

import pynvim

from ..errors import EditorError

_DISPATCH = "return require('typstai.rpc').dispatch(...)"
_REPLY = "require('typstai.rpc').reply(...)"
"""The only Lua source this package ever sends; arguments travel as values."""


class Bridge:
    """Calls `typstai.rpc.dispatch(name, args)` in Neovim, in order, from any task."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self._nvim = nvim
        self.loop: asyncio.AbstractEventLoop = nvim.loop

    async def call(self, name: str, args: Mapping[str, Any]) -> Any:
        """Result of the Lua function `name`; raises `EditorError` when it refuses."""
        answer: asyncio.Future[Any] = self.loop.create_future()
        self._nvim.async_call(self._request, answer, name, dict(args))
        return _unwrap(name, await answer)

    def send(self, name: str, args: Mapping[str, Any]) -> None:
        """Call without waiting; errors go to Lua's own log."""
        self._nvim.exec_lua(_DISPATCH, name, dict(args), async_=True)

    def reply(self, request_id: int, error: Mapping[str, str] | None, result: Any) -> None:
        """Answer a call that came from Lua; does not wait."""
        self._nvim.exec_lua(_REPLY, request_id, error, result, async_=True)

    def exit(self) -> NoReturn:
        """End the process, in which nothing is left to do: Neovim waits for that.

        Taking down an interpreter with all that it has loaded takes longer than the rest.
        """
        logging.shutdown()
        os._exit(0)

    def _request(self, answer: asyncio.Future[Any], name: str, args: dict[str, Any]) -> None:
        try:
            result = self._nvim.exec_lua(_DISPATCH, name, args)
        except Exception as error:  # any failure belongs to whoever awaits the answer
            if not answer.done():
                answer.set_exception(EditorError("editor_failed", f"{name}: {error}"))
        else:
            if not answer.done():
                answer.set_result(result)


def _unwrap(name: str, reply: Any) -> Any:
    match reply:
        case {"error": {"code": str(code), "message": str(message)}}:
            raise EditorError(code, message)
        case {"result": result}:
            return result
        case None | []:  # a result of nil: the Lua table that should hold it is empty
            return None
        case other:
            raise EditorError("editor_failed", f"{name}: unexpected answer {other!r:.200}")
