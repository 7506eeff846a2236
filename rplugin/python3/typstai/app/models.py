"""The models one can choose from, built from the options on first use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..agent.providers import offline
from ..agent.providers.base import Model
from ..errors import SettingsError
from ..settings import KeyOption, ModelOption, Settings

if TYPE_CHECKING:
    from ..agent.providers.client import HttpClients
    from ..agent.providers.keys import KeySource


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A model and how much of the chat it can be sent."""

    model: Model
    context_window: int | None = None


class Models:
    """Every configured model by name, and the offline model, which is always there."""

    def __init__(self, settings: Settings) -> None:
        self._options = {option.name: option for option in settings.models}
        self._built: dict[str, Choice] = {offline.NAME: Choice(model=offline.OfflineModel())}
        self._clients: HttpClients | None = None
        first = next(iter(self._options), offline.NAME)
        self.current = settings.default_model or first

    @property
    def names(self) -> list[str]:
        """In the order of the options, the offline model last."""
        return [*self._options, offline.NAME]

    def choose(self, name: str) -> None:
        """Use `name` from now on. Raises `SettingsError` for an unknown name."""
        self._check(name)
        self.current = name

    def get(self) -> Choice:
        """The current model. Raises `SettingsError` when it is unknown or badly configured."""
        name = self.current
        if name not in self._built:
            self._check(name)
            self._built[name] = self._build(self._options[name])
        return self._built[name]

    async def close(self) -> None:
        """Close every connection."""
        if self._clients is not None:
            await self._clients.aclose()

    def _check(self, name: str) -> None:
        if name not in self.names:
            raise SettingsError(f"No model is named {name!r}. There are: {', '.join(self.names)}.")

    def _build(self, option: ModelOption) -> Choice:
        # Imported on the first send: httpx alone costs a tenth of a second.
        from ..agent.providers.client import HttpClients
        from ..agent.providers.endpoint import Endpoint
        from ..agent.providers.openai import OpenAIModel

        self._clients = self._clients or HttpClients()
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
        model = OpenAIModel(endpoint, self._clients)
        return Choice(model=model, context_window=option.context_window)


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
