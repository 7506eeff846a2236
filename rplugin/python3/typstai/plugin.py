"""Entry points of the remote plugin: decode, hand over, nothing else.

Lua calls one function, `typstai_call`, by notification; every answer travels
back the same way, so neither side ever waits for the other. The rest of the
package is imported on the first call, where a missing library can still be
told in one sentence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pynvim
from pynvim.plugin.decorators import rpc_export

if TYPE_CHECKING:
    from .app import App

_REPLY = "require('typstai.rpc').reply(...)"


@pynvim.plugin
class TypstAIPlugin:
    """The class that pynvim finds and instantiates on the first call."""

    def __init__(self, nvim: pynvim.Nvim) -> None:
        self._nvim = nvim
        self._app: App | None = None

    @rpc_export("typstai_call")
    def call(self, request_id: int, method: str, params: Any) -> None:
        """Start `method`; the result goes to Lua's `reply(request_id, error, result)`."""
        app = self._ready(request_id)
        if app is not None:
            app.call(request_id, method, params)

    @pynvim.shutdown_hook
    def shutdown(self) -> None:
        """End every task and child process before the host exits."""
        if self._app is not None:
            self._app.close()

    def _ready(self, request_id: int) -> App | None:
        if self._app is not None:
            return self._app
        try:
            from .app import App
        except ImportError as error:
            missing = {"code": "missing_package", "message": str(error)}
            self._nvim.exec_lua(_REPLY, request_id, missing, None, async_=True)
            return None
        self._app = App(self._nvim)
        return self._app
