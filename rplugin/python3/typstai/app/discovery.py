"""What answers without any configuration: providers whose key is set, servers on this machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit

from ..agent.providers import presets
from ..agent.providers.client import HttpClients
from ..agent.providers.listing import first_for_chat
from ..agent.providers.openai import OpenAIModel
from ..agent.providers.presets import PRESETS
from ..errors import TypstAIError
from ..settings import ModelOption
from .endpoints import endpoint_of

CONNECT_SECONDS = 0.3
"""For a server on this machine to take a connection: most do, or refuse, in a millisecond."""

LIST_SECONDS = 1.0
"""For one that listens to list its models, with time to spare on a busy machine."""


def with_keys() -> list[ModelOption]:
    """An entry for each preset whose variable holds a key, in the presets' order."""
    return [
        _entry(name, preset.model)
        for name, preset in PRESETS.items()
        if preset.key_variable and os.environ.get(preset.key_variable, "").strip()
    ]


async def local_servers(clients: Callable[[], HttpClients]) -> list[ModelOption]:
    """An entry for each local server that lists its models in time, with the first of them."""
    names = [name for name, preset in PRESETS.items() if preset.is_local]
    listening = await asyncio.gather(*map(_listens, names))
    found = [name for name, open_ in zip(names, listening, strict=True) if open_]
    if not found:
        return []
    http = clients()
    models = await asyncio.gather(*(_first_model(name, http) for name in found))
    return [_entry(name, model) for name, model in zip(found, models, strict=True) if model]


async def _listens(name: str) -> bool:
    """Whether something listens there: cheap to ask before an HTTP client is built."""
    parts = urlsplit(presets.address(name))
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.close()
        return True
    return False


async def _first_model(name: str, http: HttpClients) -> str:
    model = OpenAIModel(endpoint_of(_entry(name, "unknown")), http)
    with suppress(TypstAIError):
        return first_for_chat(await model.list_models(LIST_SECONDS))
    return ""


def _entry(name: str, model: str) -> ModelOption:
    return ModelOption.model_validate({"name": name, "preset": name, "model": model})
