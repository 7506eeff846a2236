"""What `:checkhealth` asks of the options: a process of its own that starts nothing else."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any

from .. import settings
from ..agent.providers.keys import EnvKey
from ..errors import SettingsError
from ..settings import ModelOption, Settings
from .endpoints import endpoint_of
from .models import Models
from .services import option_problems


def main() -> None:
    """Read the options as JSON from standard input, write `examine` of them as JSON."""
    print(json.dumps(examine(json.load(sys.stdin))))


def examine(options: Mapping[str, Any]) -> dict[str, Any]:
    """`{problems, models}`: a sentence for each option that is of no use, and what is known of
    each configured model: `{name, where, key, unset, error}`, never a key.
    """
    parsed = settings.parse(options)
    return {
        "problems": [*option_problems(parsed), *_unknown_models(parsed)],
        "models": [_model(option) for option in parsed.models],
    }


def _unknown_models(parsed: Settings) -> list[str]:
    models = Models(parsed)
    chosen = {
        "default_model": parsed.default_model,
        "actions.model": parsed.actions.model,
        "autocomplete.model": parsed.autocomplete.model,
    }
    return [
        f"{option}: no model is named {name!r}. There are: {', '.join(models.names)}."
        for option, name in chosen.items()
        if name and not models.may_have(name)
    ]


def _model(option: ModelOption) -> dict[str, str]:
    found = {"name": option.name, "where": "", "key": "", "unset": "", "error": ""}
    try:
        endpoint = endpoint_of(option)
    except SettingsError as error:
        return {**found, "error": str(error)}
    key = endpoint.key
    is_unset = isinstance(key, EnvKey) and not os.environ.get(key.name)
    return {
        **found,
        "where": endpoint.origin,
        "key": key.describe() if key else "",
        "unset": key.name if isinstance(key, EnvKey) and is_unset else "",
    }
