"""The options as frozen models, parsed once from the plain table that Lua sends.

A wrong option is a line in `problems`, never a crash: the rest keeps working
with its default. Only `app` reads settings; everything else is passed values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)


def _list(value: Any) -> Any:
    """An empty Lua table arrives as a list or as a map: both mean "nothing"."""
    return [] if value == {} else value


def _map(value: Any) -> Any:
    return {} if value == [] else value


class _Options(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)


PresetName = Literal[
    "openai", "anthropic", "gemini", "openrouter", "mistral", "deepseek", "groq", "xai",
    "ollama", "lmstudio", "llamacpp", "vllm",
]  # fmt: skip
"""Names of `agent.providers.presets.PRESETS`; a test holds the two together."""


ToolForm = Literal["native", "text"]
"""Whether a model is told of tools by its provider, or in the prompt."""


class KeyringOption(_Options):
    service: str = Field(min_length=1)
    user: str = Field(min_length=1)


class KeyOption(_Options):
    """Where a key comes from: exactly one of the four."""

    env: str | None = None
    cmd: list[str] | None = None
    file: str | None = None
    keyring: KeyringOption | None = None


class PriceOption(_Options):
    """What a million tokens cost."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)


class ModelOption(_Options):
    """One entry of `models`. A preset fills an empty `base_url`, `model`, `api_key`, `vision`."""

    name: str = Field(min_length=1)
    preset: PresetName | None = None
    base_url: str
    model: str
    api_key: KeyOption | None = None
    vision: bool | None = None
    tools: ToolForm = "native"
    price: PriceOption | None = None
    reasoning_effort: str | None = None
    allow_insecure_origin: str | None = None
    headers: Annotated[dict[str, str], BeforeValidator(_map)] = {}
    temperature: float | None = None
    max_tokens: int | None = Field(default=None, gt=0)
    context_window: int | None = Field(default=None, gt=0)
    timeout: float = Field(default=300, gt=0)
    proxy: str | None = None
    trusted_for_personal_data: bool = False

    @model_validator(mode="before")
    @classmethod
    def _preset_may_fill(cls, value: Any) -> Any:
        match value:
            case {"preset": _, **fields}:
                return {"base_url": "", "model": "", **fields, "preset": value["preset"]}
            case _:
                return value


class CustomAction(_Options):
    """One entry of `actions.custom`."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")
    title: str = ""
    prompt: str = Field(min_length=1, max_length=8_000)


class ActionOptions(_Options):
    model: str = ""
    context_blocks: int = Field(default=2, ge=0, le=20)
    redact: bool = False
    custom: Annotated[tuple[CustomAction, ...], BeforeValidator(_list)] = ()


class TransportOptions(_Options):
    """`action_transport`; an empty `url` means that models answer."""

    url: str = ""
    headers: Annotated[dict[str, str], BeforeValidator(_map)] = {}
    timeout_ms: int = Field(default=60_000, ge=0)


class ToolOptions(_Options):
    disable: Annotated[list[str], BeforeValidator(_list)] = []


class TypstOptions(_Options):
    main: str = ""
    root: str = ""
    packages: str = ""
    font_paths: Annotated[list[str], BeforeValidator(_list)] = []
    timeout: float = Field(default=20, gt=0)
    memory: int = Field(default=4096, ge=256)
    diagnostics: bool = True
    """Lua's concern; here so that the table may hold it."""
    markers: Annotated[list[str], BeforeValidator(_list)] = []


class LimitOptions(_Options):
    tool_rounds: int = Field(default=32, ge=1, le=1000)
    decision_timeout: float = Field(default=0, ge=0)
    """Seconds; 0 waits for ever."""


class AutocompleteOptions(_Options):
    """Ghost text; where it is on is decided in Lua."""

    enabled: bool = False
    model: str = ""
    debounce: int = Field(default=300, ge=0)
    context_blocks: int = Field(default=2, ge=0)
    filetypes: Annotated[list[str], BeforeValidator(_list)] = ["typst"]
    projects: Annotated[list[str], BeforeValidator(_list)] = []


class LogOptions(_Options):
    level: Literal["debug", "info", "warn"] = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything the user can set that the Python half needs."""

    models: tuple[ModelOption, ...] = ()
    default_model: str = ""
    mode: Literal["edit", "read"] = "edit"
    approval: Literal["review", "suggest", "auto"] = "review"
    system_prompt: str = ""
    actions: ActionOptions = ActionOptions()
    action_transport: TransportOptions = TransportOptions()
    tools: ToolOptions = ToolOptions()
    typst: TypstOptions = TypstOptions()
    limits: LimitOptions = LimitOptions()
    log: LogOptions = LogOptions()
    autocomplete: AutocompleteOptions = AutocompleteOptions()
    problems: tuple[str, ...] = ()
    """One sentence for each option that could not be used."""


_Section = TypeVar("_Section", bound=_Options)


def parse(options: Mapping[str, Any]) -> Settings:
    """Settings from the table of `setup()`; problems are collected, not raised."""
    problems: list[str] = []
    mode, approval = options.get("mode"), options.get("approval")
    return Settings(
        models=_models(options.get("models") or [], problems),
        default_model=str(options.get("default_model") or ""),
        mode="edit" if mode == "edit" else "read",
        approval=approval if approval in ("suggest", "auto") else "review",
        system_prompt=str(options.get("system_prompt") or ""),
        actions=_section(ActionOptions, "actions", options, problems),
        action_transport=_section(TransportOptions, "action_transport", options, problems),
        tools=_section(ToolOptions, "tools", options, problems),
        typst=_section(TypstOptions, "typst", options, problems),
        limits=_section(LimitOptions, "limits", options, problems),
        log=_section(LogOptions, "log", options, problems),
        autocomplete=_section(AutocompleteOptions, "autocomplete", options, problems),
        problems=tuple(problems),
    )


def _models(
    entries: Sequence[Any] | Mapping[str, Any], problems: list[str]
) -> tuple[ModelOption, ...]:
    if isinstance(entries, Mapping):
        problems.append("models: must be a list of tables.")
        return ()
    found: dict[str, ModelOption] = {}
    for index, entry in enumerate(entries, start=1):
        option = _validated(ModelOption, f"models[{index}]", entry, problems)
        if option is None:
            continue
        if option.name in found:
            problems.append(f"models[{index}].name: {option.name!r} is used twice.")
        else:
            found[option.name] = option
    return tuple(found.values())


def _section(
    cls: type[_Section], name: str, options: Mapping[str, Any], problems: list[str]
) -> _Section:
    return _validated(cls, name, _map(options.get(name) or {}), problems) or cls()


def _validated(cls: type[_Section], path: str, value: Any, problems: list[str]) -> _Section | None:
    try:
        return cls.model_validate(value)
    except ValidationError as error:
        for item in error.errors(include_input=False, include_url=False):
            where = ".".join((path, *(str(part) for part in item["loc"])))
            problems.append(f"{where}: {item['msg']}.")
        return None
