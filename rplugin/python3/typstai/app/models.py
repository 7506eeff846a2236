"""The models one can choose from, built from the options on first use."""

from __future__ import annotations

from dataclasses import dataclass

from ..agent.providers import offline
from ..agent.providers.base import Model
from ..errors import SettingsError
from ..settings import ModelOption, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A model and what the history may weigh for it."""

    model: Model
    context_window: int | None = None


class Models:
    """Every configured model by name, and the offline model, which is always there."""

    def __init__(self, settings: Settings) -> None:
        self._options = {option.name: option for option in settings.models}
        self._built: dict[str, Choice] = {offline.NAME: Choice(model=offline.OfflineModel())}
        first = next(iter(self._options), offline.NAME)
        self.current = settings.default_model or first

    @property
    def names(self) -> list[str]:
        """In the order of the options, the offline model last."""
        return [*self._options, offline.NAME]

    def choose(self, name: str) -> None:
        """Use `name` from now on. Raises `SettingsError` for an unknown name."""
        self._known(name)
        self.current = name

    def get(self) -> Choice:
        """The current model. Raises `SettingsError` when its name is unknown."""
        name = self.current
        if name not in self._built:
            self._known(name)
            self._built[name] = _build(self._options[name])
        return self._built[name]

    async def close(self) -> None:
        """Close the connections of every model that was used."""
        from ..agent.providers.client import close_all

        await close_all()

    def _known(self, name: str) -> None:
        if name not in self.names:
            raise SettingsError(f"No model is named {name!r}. There are: {', '.join(self.names)}.")


def _build(option: ModelOption) -> Choice:
    # Imported on the first send: httpx alone costs a tenth of a second.
    from ..agent.providers.openai import OpenAIModel

    return Choice(model=OpenAIModel(option), context_window=option.context_window)
