"""Chats as values: turns, their segments, and the plain dicts they travel as.

The dict form is what the store keeps and what crosses the door to Lua
(`typstai.Turn` and `typstai.Segment` in lua/typstai/types.lua). Identity and
order of turns are the store's concern.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal, TypeAlias

RunStatus = Literal["running", "complete", "incomplete", "cancelled", "failed"]
"""`running` only while it runs; a turn ends in exactly one of the other four."""
ToolState = Literal["running", "waiting", "done", "failed", "rejected", "cancelled"]
Mode = Literal["edit", "read"]
Approval = Literal["review", "suggest", "auto"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """What a model thought aloud; shown folded, never sent anywhere else."""

    kind: Literal["reasoning"] = "reasoning"
    round: int = 0
    text: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A piece of the answer, in Markdown."""

    kind: Literal["text"] = "text"
    round: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One tool call and, once it ended, its result."""

    kind: Literal["tool"] = "tool"
    round: int = 0
    id: str = ""
    """The provider's call id."""
    name: str = ""
    arguments: str = "{}"
    """The arguments as JSON text, as the model sent them."""
    state: ToolState = "running"
    label: str = ""
    """What to show after the name on its one line."""
    result: str = ""
    """What the model was told."""
    detail: str = ""
    """What the user can unfold: longer than the label, at most a few screens."""
    proposal: str = ""
    """Id of the proposal this call waits for or ended in."""
    applied: bool = False
    """Whether it wrote into a document."""


Segment: TypeAlias = Reasoning | Text | ToolUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What is kept of an image that was sent: where it came from, and how it looked."""

    path: str = ""
    width: int = 0
    height: int = 0
    thumbnail: str = field(default="", repr=False)
    """A small PNG as base64; empty where none is kept."""
    page: int = 0
    """Of a rendered document, from 1; 0 for an image file."""
    pages: int = 0
    """How many pages that document has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn:
    """What the user sent, and from which file."""

    role: Literal["user"] = "user"
    id: str = ""
    text: str = ""
    file: str = ""
    """Path of the file it was sent from, relative to the project."""
    selections: tuple[Selection, ...] = ()
    images: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()
    """What happened in the editor since the last turn, for the model."""
    at: float = 0.0
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Text the user attached, re-read when sending. Lines from 1, inclusive."""

    path: str = ""
    start_line: int = 1
    end_line: int = 1
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantTurn:
    """One run of the agent. Segments keep the order in which they came."""

    role: Literal["assistant"] = "assistant"
    id: str = ""
    """Also the id of the run."""
    model: str = ""
    status: RunStatus = "running"
    error: str = ""
    """One sentence when it failed; or why it is incomplete."""
    segments: tuple[Segment, ...] = ()
    notes: tuple[str, ...] = ()
    """What the user should know about this answer, a sentence each."""
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    """Whether some of the tokens are a guess of ours."""
    cost: float = 0.0
    """In the currency of the model's price; 0 where no price is known."""
    seconds: float = 0.0
    at: float = 0.0


Turn: TypeAlias = UserTurn | AssistantTurn

_SEGMENTS: dict[str, type[Segment]] = {"reasoning": Reasoning, "text": Text, "tool": ToolUse}


def turn_to_dict(turn: Turn) -> dict[str, Any]:
    """A JSON-shaped dict; `turn_from_dict` is its inverse."""
    return _plain(turn)


def segment_to_dict(segment: Segment) -> dict[str, Any]:
    """A JSON-shaped dict, tagged by `kind`."""
    return _plain(segment)


def replace_segment(turn: AssistantTurn, index: int, segment: Segment) -> AssistantTurn:
    """The turn with another segment at `index`, counted from 0."""
    segments = (*turn.segments[:index], segment, *turn.segments[index + 1 :])
    return replace(turn, segments=segments)


def turn_from_dict(data: Mapping[str, Any]) -> Turn:
    """Build a turn from its dict. Unknown keys are ignored; a wrong tag raises ValueError."""
    match data.get("role"):
        case "user":
            chosen = tuple(_build(Selection, item) for item in data.get("selections", ()))
            images = tuple(_build(Picture, item) for item in data.get("images", ()))
            return replace(
                _build(UserTurn, data), selections=chosen, images=images, notes=_notes(data)
            )
        case "assistant":
            segments = tuple(segment_from_dict(item) for item in data.get("segments", ()))
            return replace(_build(AssistantTurn, data), segments=segments, notes=_notes(data))
        case other:
            raise ValueError(f"a turn cannot have the role {other!r}")


def segment_from_dict(data: Mapping[str, Any]) -> Segment:
    """Build a segment from its dict; a wrong tag raises ValueError."""
    cls = _SEGMENTS.get(str(data.get("kind")))
    if cls is None:
        raise ValueError(f"a segment cannot be of the kind {data.get('kind')!r}")
    return _build(cls, data)


def _notes(data: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(note) for note in data.get("notes", ()))


def _build(cls: type[Any], data: Mapping[str, Any]) -> Any:
    names = {item.name for item in fields(cls)}
    return cls(**{name: data[name] for name in data if name in names})


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value
