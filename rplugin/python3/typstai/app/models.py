"""The models one can choose from: configured, found, listed by a server, or built in.

Built on first use. Nothing here waits for a server but `ready` (a third of a
second at most, once) and `offered`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..agent.providers import local, offline
from ..agent.providers.base import Model, Price
from ..agent.providers.client import HttpClients
from ..agent.providers.openai import OpenAIModel
from ..agent.providers.presets import PRESETS
from ..agent.providers.text_tools import TextTools
from ..errors import SettingsError, TypstAIError
from ..local.server import LocalServer, find_packages
from ..settings import ModelOption, Settings, ToolForm
from . import discovery
from .endpoints import endpoint_of, sees

LIST_SECONDS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A model, how much of the chat it can be sent, and what is known of it."""

    model: Model
    context_window: int | None = None
    vision: bool = False
    price: Price | None = None
    trusted_for_personal_data: bool = True
    """By the user's word, or because it is on this machine."""


class Models:
    """Every configured model by name; without any, those that were found; the offline model,
    which is always there; and the small local one where its packages are installed.
    """

    def __init__(self, settings: Settings) -> None:
        found = () if settings.models else discovery.with_keys()
        self._options = {option.name: option for option in (*settings.models, *found)}
        self._searches = not settings.models
        self._search: asyncio.Task[None] | None = None
        self._built: dict[str, Choice] = {}
        self._servers: dict[str, OpenAIModel] = {}
        self._clients: HttpClients | None = None
        packages = find_packages()
        self._local = LocalServer(packages) if packages else None
        self._chosen = settings.default_model

    @property
    def current(self) -> str:
        """Name of the model that answers: the chosen one, else the first there is."""
        return self._chosen or next(iter(self._options), offline.NAME)

    @property
    def names(self) -> list[str]:
        """In the order of the options, the built-in ones last; each name once."""
        built_in = (offline.NAME, *((local.NAME,) if self._local else ()))
        return list(dict.fromkeys((*self._options, *built_in)))

    def start(self, changed: Callable[[], None]) -> None:
        """Begin to look for local servers, if no model is configured; does not wait."""
        if self._searches:
            self._search = asyncio.create_task(self._find(changed), name="find local servers")

    async def ready(self) -> None:
        """Wait until it is known which local servers answer."""
        if self._search is not None:
            await asyncio.wait([self._search])

    async def offered(self) -> dict[str, Any]:
        """`{names, current, live, problems}`: `live` are the names that servers list now.

        A server that lists none, or not in time, is a sentence in `problems`.
        """
        await self.ready()
        asked = [name for name in self._options if self._may_list(name)]
        answers = await asyncio.gather(*map(self._listed, asked))
        problems = [answer for answer in answers if isinstance(answer, str)]
        live = [name for answer in answers if isinstance(answer, list) for name in answer]
        return {"names": self.names, "current": self.current, "live": live, "problems": problems}

    def may_have(self, name: str) -> bool:
        """Whether there is such a model, as far as can be told without asking a server."""
        may_answer = self._searches and name in PRESETS and PRESETS[name].is_local
        return name in self.names or may_answer or bool(self._entries_of(name))

    def choose(self, name: str) -> None:
        """Use `name`, or `ENTRY/MODEL` of a server's list. Raises `SettingsError`."""
        self._know(name)
        self._chosen = name

    def choose_tools(self, form: ToolForm) -> None:
        """How the current model is told of tools from now on. Raises `SettingsError`."""
        name = self.current
        option = self._options.get(name)
        if option is None:
            raise SettingsError(f"The built-in model {name} needs no other form of tools.")
        self._options[name] = option.model_copy(update={"tools": form})
        self._built.pop(name, None)

    def get(self, name: str = "") -> Choice:
        """That model, else the current one.

        Raises `SettingsError` when it is unknown or badly configured.
        """
        name = name or self.current
        if name not in self._built:
            self._know(name)
            option = self._options.get(name)
            self._built[name] = self._build(option) if option else self._built_in(name)
        return self._built[name]

    async def close(self) -> None:
        """Close every connection, and end the local server."""
        if self._search is not None:
            self._search.cancel()
            await asyncio.wait([self._search])
        if self._clients is not None:
            await self._clients.aclose()
        if self._local is not None:
            await self._local.stop()

    async def _find(self, changed: Callable[[], None]) -> None:
        found = await discovery.local_servers(self._http)
        self._options |= {option.name: option for option in found if option.name not in self.names}
        if found:
            changed()

    async def _listed(self, name: str) -> list[str] | str:
        """What the server of that entry lists besides the entry's own model; or why it does not."""
        try:
            server = self._server(self._options[name])
            listed = await server.list_models(LIST_SECONDS)
        except TypstAIError as error:
            return str(error)
        return [f"{name}/{model}" for model in listed if model != server.model]

    def _may_list(self, name: str) -> bool:
        """Whether its key can be had without asking anyone: only the current one may ask."""
        key = self._options[name].api_key
        return name == self.current or key is None or not (key.cmd or key.keyring)

    def _know(self, name: str) -> None:
        """Make sure that `name` is an entry; one of a server's list becomes one."""
        if name in self.names:
            return
        entries = self._entries_of(name)
        if not entries:
            raise SettingsError(f"No model is named {name!r}. There are: {', '.join(self.names)}.")
        entry = max(entries, key=len)
        unknown = {"price": None, "context_window": None, "vision": None}
        update = {"name": name, "model": name.removeprefix(f"{entry}/"), **unknown}
        self._options[name] = self._options[entry].model_copy(update=update)

    def _entries_of(self, name: str) -> list[str]:
        """The entries of whose server's list the name may be."""
        return [entry for entry in self._options if name.startswith(f"{entry}/")]

    def _built_in(self, name: str) -> Choice:
        """The offline or the local model; the first hands prose to the second."""
        if self._local is None:
            return Choice(model=offline.OfflineModel())
        small = local.LocalModel(self._local.ready, self._http())
        model = small if name == local.NAME else offline.OfflineModel(prose=small)
        return Choice(model=model, context_window=local.CONTEXT_TOKENS)

    def _http(self) -> HttpClients:
        self._clients = self._clients or HttpClients()
        return self._clients

    def _server(self, option: ModelOption) -> OpenAIModel:
        if option.name not in self._servers:
            self._servers[option.name] = OpenAIModel(endpoint_of(option), self._http())
        return self._servers[option.name]

    def _build(self, option: ModelOption) -> Choice:
        server = self._server(option)
        price = option.price
        return Choice(
            model=TextTools(server) if option.tools == "text" else server,
            context_window=option.context_window,
            vision=sees(option),
            price=Price(input=price.input, output=price.output) if price else None,
            trusted_for_personal_data=option.trusted_for_personal_data or server.is_on_this_machine,
        )
