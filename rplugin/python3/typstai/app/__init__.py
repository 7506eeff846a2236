"""The composition root: builds the parts, wires them, and owns every task.

Lua's calls arrive in `App.call`; each runs as a task of its own, and its answer
goes back through Lua's `rpc.reply`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from .. import log, settings
from ..editor.bridge import Bridge
from ..editor.nvim import NvimEditor
from ..errors import TypstAIError
from .services import Services

PROTOCOL = 1
"""Version of what crosses the door; `PROTOCOL` in lua/typstai/rpc.lua must be the same."""

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING}


class RefusedError(TypstAIError):
    """A call cannot be served; `code` is stable."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class App:
    """Lives as long as the host. All methods are called on the event loop's thread."""

    def __init__(self, nvim: Any) -> None:
        """`nvim` is pynvim's client, which only the bridge knows how to use."""
        self._bridge = Bridge(nvim)
        self._loop = self._bridge.loop
        self._services: asyncio.Future[Services] = self._loop.create_future()
        self._tasks: set[asyncio.Task[None]] = set()

    def call(self, request_id: int, method: str, params: dict[str, Any]) -> None:
        """Start `method` and return at once; its answer is sent when it is there."""
        task = self._loop.create_task(self._answer(request_id, method, params or {}))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        """End every task, as far as that goes without waiting: the host is about to exit."""
        for task in self._tasks:
            task.cancel()

    async def _answer(self, request_id: int, method: str, params: dict[str, Any]) -> None:
        error: dict[str, str] | None = None
        result: Any = None
        try:
            result = await self._serve(method, params)
        except TypstAIError as failure:
            error = {"code": _code(failure), "message": str(failure)}
        except Exception as failure:
            log.logger.exception("%s failed", method)
            kind = type(failure).__name__
            error = {"code": "internal", "message": f"typstai failed ({kind}). See :TypstAI log."}
        if request_id:
            self._bridge.reply(request_id, error, result)

    async def _serve(self, method: str, params: dict[str, Any]) -> Any:
        if method == "hello":
            return await self._hello(params)
        if method == "shutdown":
            return await self._shutdown()
        services = await asyncio.shield(self._services)
        handler: Callable[[dict[str, Any]], Awaitable[Any]] | None = services.methods.get(method)
        if handler is None:
            raise RefusedError("unknown_method", f"The helper process knows no {method!r}.")
        return await handler(params)

    async def _hello(self, params: dict[str, Any]) -> dict[str, Any]:
        try:
            services = await self._start(params)
        except BaseException as failure:
            if not self._services.done():
                self._services.set_exception(failure)
                self._services.exception()  # retrieved: each waiting call raises it by itself
            raise
        self._services.set_result(services)
        return {"protocol": PROTOCOL, "problems": services.problems()}

    async def _start(self, params: dict[str, Any]) -> Services:
        theirs = params.get("protocol")
        if theirs != PROTOCOL:
            raise RefusedError(
                "wrong_version",
                f"The Lua half speaks version {theirs} and the Python half {PROTOCOL}: update the "
                "plugin, restart Neovim, and run :TypstAI install.",
            )
        options = settings.parse(params["options"])
        log.start(Path(params["log"]), _LEVELS[options.log.level])
        for problem in options.problems:
            log.logger.warning("option %s", problem)
        editor = NvimEditor(self._bridge)
        return await Services.open(Path(params["data"]), options, editor)

    async def _shutdown(self) -> None:
        if self._services.done() and self._services.exception() is None:
            await self._services.result().close()
        self._bridge.exit()


def _code(error: TypstAIError) -> str:
    code = getattr(error, "code", "")
    return code or type(error).__name__.removesuffix("Error").lower()
