"""Known providers as data: where they are, which variable holds the key, what is odd about them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirks:
    """How a provider's dialect of chat completions differs; the defaults are OpenAI's own."""

    call_ids: Literal["short", "nine"] = "short"
    """`short`: up to 40 letters, digits, `_`, `-`. `nine`: exactly nine letters and digits."""
    stream_options: bool = True
    """Whether usage may be asked for; others send it unasked, or refuse the field."""
    limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    parallel_calls: bool | None = None
    """Sent as `parallel_tool_calls`; None: the field is left out."""
    user_after_tool: bool = True
    """Whether a user message may follow a tool's result without an answer between them."""
    replays_reasoning: bool = False
    """Whether each answer must come back with its `reasoning_content`, if only an empty one."""
    signed_calls: bool = False
    """Whether the first call of an answer must carry a thought signature."""
    image_form: Literal["object", "string"] = "object"
    lists_with: Literal["bearer", "x-api-key"] = "bearer"
    """How the list of models wants the key."""


def learned(quirks: Quirks, refusal: str) -> Quirks | None:
    """The quirks that a refusal in words gives away; None when it names nothing we can change."""
    if "stream_options" in refusal and quirks.stream_options:
        return replace(quirks, stream_options=False)
    if "parallel_tool_calls" in refusal and quirks.parallel_calls is not None:
        return replace(quirks, parallel_calls=None)
    if "max_completion_tokens" in refusal:
        other = quirks.limit_field == "max_tokens"
        return replace(quirks, limit_field="max_completion_tokens") if other else None
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """One provider, or one kind of local server."""

    base_url: str
    key_variable: str = ""
    """Empty for local servers, which want no key."""
    model: str = ""
    """What to ask for when the user named no model; empty: the first that the server lists."""
    vision: bool = False
    """Whether that model sees."""
    quirks: Quirks = Quirks()

    @property
    def host(self) -> str:
        """Host name alone."""
        return urlsplit(self.base_url).hostname or ""

    @property
    def is_local(self) -> bool:
        return not self.key_variable


PRESETS: Mapping[str, Preset] = MappingProxyType({
    "openai": Preset(
        base_url="https://api.openai.com/v1",
        key_variable="OPENAI_API_KEY",
        model="gpt-5.4-mini",
        vision=True,
        quirks=Quirks(limit_field="max_completion_tokens"),
    ),
    "anthropic": Preset(
        base_url="https://api.anthropic.com/v1",
        key_variable="ANTHROPIC_API_KEY",
        model="claude-sonnet-4-6",
        vision=True,
        quirks=Quirks(lists_with="x-api-key"),
    ),
    "gemini": Preset(
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_variable="GEMINI_API_KEY",
        model="gemini-flash-latest",
        vision=True,
        quirks=Quirks(signed_calls=True),
    ),
    "openrouter": Preset(
        base_url="https://openrouter.ai/api/v1",
        key_variable="OPENROUTER_API_KEY",
        model="openrouter/auto",
    ),
    "mistral": Preset(
        base_url="https://api.mistral.ai/v1",
        key_variable="MISTRAL_API_KEY",
        model="mistral-medium-latest",
        vision=True,
        quirks=Quirks(
            call_ids="nine", stream_options=False, user_after_tool=False, image_form="string"
        ),
    ),
    "deepseek": Preset(
        base_url="https://api.deepseek.com/v1",
        key_variable="DEEPSEEK_API_KEY",
        model="deepseek-v4-flash",
        quirks=Quirks(replays_reasoning=True),
    ),
    "groq": Preset(
        base_url="https://api.groq.com/openai/v1",
        key_variable="GROQ_API_KEY",
        model="openai/gpt-oss-120b",
        quirks=Quirks(limit_field="max_completion_tokens"),
    ),
    "xai": Preset(
        base_url="https://api.x.ai/v1",
        key_variable="XAI_API_KEY",
        model="grok-4.3",
        vision=True,
        quirks=Quirks(limit_field="max_completion_tokens"),
    ),
    "ollama": Preset(base_url="http://127.0.0.1:11434/v1"),
    "lmstudio": Preset(base_url="http://127.0.0.1:1234/v1"),
    "llamacpp": Preset(
        base_url="http://127.0.0.1:8080/v1", quirks=Quirks(parallel_calls=True)
    ),
    "vllm": Preset(base_url="http://127.0.0.1:8000/v1"),
})  # fmt: skip


def of_host(base_url: str) -> str:
    """Name of the preset at that host; "" when it is none of them, or on this machine."""
    try:
        host = urlsplit(base_url).hostname or ""
    except ValueError:
        return ""
    for name, preset in PRESETS.items():
        if not preset.is_local and host == preset.host:
            return name
    return ""


def address(name: str) -> str:
    """Where the preset is served: Ollama's own variable may have moved it on this machine."""
    moved = os.environ.get("OLLAMA_HOST", "") if name == "ollama" else ""
    if not moved:
        return PRESETS[name].base_url
    parts = urlsplit(moved if "://" in moved else f"http://{moved}")
    host = "127.0.0.1" if parts.hostname in (None, "0.0.0.0", "::") else parts.hostname
    return f"{parts.scheme}://{host}:{parts.port or 11434}/v1"
