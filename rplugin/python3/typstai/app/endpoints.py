"""From an entry of `models` to the endpoint it means, presets filled in."""

from __future__ import annotations

from ..agent.providers import presets
from ..agent.providers.endpoint import Endpoint
from ..agent.providers.keys import CommandKey, EnvKey, FileKey, KeyringKey, KeySource
from ..agent.providers.presets import PRESETS, Preset
from ..errors import SettingsError
from ..settings import KeyOption, KeyringOption, ModelOption

_GENERIC = Preset(base_url="")


def preset_of(option: ModelOption) -> Preset:
    """The preset that is named, or whose host is; else one that fills nothing."""
    return PRESETS.get(_preset_name(option), _GENERIC)


def endpoint_of(option: ModelOption) -> Endpoint:
    """Raises `SettingsError` for what cannot be used."""
    preset = preset_of(option)
    base_url = option.base_url or presets.address(_preset_name(option))
    model = option.model or preset.model
    if not model:
        raise SettingsError(
            f"The entry {option.name} of models needs a model; :TypstAI model lists what there is."
        )
    return Endpoint(
        name=option.name,
        base_url=base_url,
        model=model,
        key=_key(option.api_key) or _preset_key(preset, base_url, option),
        headers=option.headers,
        temperature=option.temperature,
        max_tokens=option.max_tokens,
        reasoning_effort=option.reasoning_effort,
        timeout=option.timeout,
        allow_insecure_origin=option.allow_insecure_origin or "",
        quirks=preset.quirks,
        proxy=option.proxy or "",
    )


def sees(option: ModelOption) -> bool:
    """Whether the model takes images: as the user says, else as is known of the preset's own."""
    if option.vision is not None:
        return option.vision
    preset = preset_of(option)
    return preset.vision and option.model in ("", preset.model)


def _preset_name(option: ModelOption) -> str:
    return option.preset or presets.of_host(option.base_url)


def _preset_key(preset: Preset, base_url: str, option: ModelOption) -> KeySource | None:
    """The preset's variable, for the preset's own host only: a key goes nowhere else."""
    given = any(name.lower() == "authorization" for name in option.headers)
    elsewhere = presets.of_host(base_url) != _preset_name(option)
    if not preset.key_variable or given or elsewhere:
        return None
    return EnvKey(name=preset.key_variable)


def _key(option: KeyOption | None) -> KeySource | None:
    match option:
        case None:
            return None
        case KeyOption(env=str(name)):
            return EnvKey(name=name)
        case KeyOption(cmd=[*argv]):
            return CommandKey(argv=tuple(argv))
        case KeyOption(file=str(path)):
            return FileKey(path=path)
        case KeyOption(keyring=KeyringOption(service=service, user=user)):
            return KeyringKey(service=service, user=user)
        case _:
            raise SettingsError("api_key needs one of env, cmd, file or keyring.")
