"""The models one can choose from, built from the options on first use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..agent.providers import local, offline
from ..agent.providers.base import Model
from ..agent.providers.client import HttpClients
from ..errors import SettingsError
from ..local.server import LocalServer, find_packages
from ..settings import KeyOption, ModelOption, Settings

if TYPE_CHECKING:
    from ..agent.providers.keys import KeySource


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A model and how much of the chat it can be sent."""

    model: Model
    context_window: int | None = None
    trusted_for_personal_data: bool = True
    """By the user's word, or because it is on this machine."""


class Models:
    """Every configured model by name; the offline model, which is always there; and the small
    local one where its packages are installed.
    """

    def __init__(self, settings: Settings) -> None:
        self._options = {option.name: option for option in settings.models}
        self._built: dict[str, Choice] = {}
        self._clients: HttpClients | None = None
        packages = find_packages()
        self._server = LocalServer(packages) if packages else None
        first = next(iter(self._options), offline.NAME)
        self.current = settings.default_model or first

    @property
    def names(self) -> list[str]:
        """In the order of the options, the built-in ones last; each name once."""
        built_in = (offline.NAME, *((local.NAME,) if self._server else ()))
        return list(dict.fromkeys((*self._options, *built_in)))

    def choose(self, name: str) -> None:
        """Use `name` from now on. Raises `SettingsError` for an unknown name."""
        self._check(name)
        self.current = name

    def get(self, name: str = "") -> Choice:
        """That model, else the current one.

        Raises `SettingsError` when it is unknown or badly configured.
        """
        name = name or self.current
        if name not in self._built:
            self._check(name)
            option = self._options.get(name)
            self._built[name] = self._build(option) if option else self._built_in(name)
        return self._built[name]

    async def close(self) -> None:
        """Close every connection, and end the local server."""
        if self._clients is not None:
            await self._clients.aclose()
        if self._server is not None:
            await self._server.stop()

    def _built_in(self, name: str) -> Choice:
        """The offline or the local model; the first hands prose to the second."""
        if self._server is None:
            return Choice(model=offline.OfflineModel())
        small = local.LocalModel(self._server.ready, self._http)
        model = small if name == local.NAME else offline.OfflineModel(prose=small)
        return Choice(model=model, context_window=local.CONTEXT_TOKENS)

    def _check(self, name: str) -> None:
        if name not in self.names:
            raise SettingsError(f"No model is named {name!r}. There are: {', '.join(self.names)}.")

    @property
    def _http(self) -> HttpClients:
        self._clients = self._clients or HttpClients()
        return self._clients

    def _build(self, option: ModelOption) -> Choice:
        from ..agent.providers.endpoint import Endpoint
        from ..agent.providers.openai import OpenAIModel

        endpoint = Endpoint(
            name=option.name,
            base_url=option.base_url,
            model=option.model,
            key=_key(option.api_key),
            headers=option.headers,
            temperature=option.temperature,
            max_tokens=option.max_tokens,
            reasoning_effort=option.reasoning_effort,
            timeout=option.timeout,
            allow_insecure_origin=option.allow_insecure_origin or "",
            proxy=option.proxy or "",
        )
        model = OpenAIModel(endpoint, self._http)
        return Choice(
            model=model,
            context_window=option.context_window,
            trusted_for_personal_data=option.trusted_for_personal_data or endpoint.is_loopback,
        )


def _key(option: KeyOption | None) -> KeySource | None:
    from ..agent.providers.keys import CommandKey, EnvKey, FileKey

    match option:
        case None:
            return None
        case KeyOption(env=str(name)):
            return EnvKey(name=name)
        case KeyOption(cmd=[*argv]):
            return CommandKey(argv=tuple(argv))
        case KeyOption(file=str(path)):
            return FileKey(path=path)
        case _:
            raise SettingsError("api_key needs one of env, cmd or file.")
