"""What a tool declares, and what a call of it brings back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

ToolKind = Literal["read", "annotate", "edit", "config"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """What the model sees of a tool. Static, so that prompts can be cached."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON Schema of the arguments, an object at its root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call as the provider sent it."""

    id: str
    name: str
    arguments: str
    """JSON text, not yet parsed: parsing is fail-closed and happens once, at dispatch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """What a call ended in: text for the model, a line and a detail for the user."""

    text: str
    ok: bool = True
    rejected: bool = False
    label: str = ""
    detail: str = ""
    proposal: str = ""
    """Id of a proposal that is still to be decided."""
    applied: bool = False
    """Whether it wrote into a document."""
