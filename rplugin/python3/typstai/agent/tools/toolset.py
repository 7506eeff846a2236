"""Tools as values: declared, validated once, offered by mode, dispatched fail-closed."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from ... import log
from ...domain.chat import Mode
from ...domain.tool import ToolCall, ToolKind, ToolOutcome, ToolSpec
from ...errors import EditorError, ToolError
from ..run import Run

MAX_ARGUMENT_CHARS = 256_000
MAX_RESULT_BYTES = 64 * 1024
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_RESERVED = ("mcp__",)
"""Prefixes of names that integrations make."""


class Arguments(BaseModel):
    """Base of every tool's arguments: unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What the chat shows after the tool's name."""

    running: str
    complete: str = ""
    confirm: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One call being carried out, and how it tells the screen that it waits."""

    run: Run
    call: ToolCall
    waiting: Callable[..., None]
    """`waiting(label=…, proposal=…)`: the call now waits for the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool and what carries it out. `perform` raises `ToolError` for what the model must know."""

    name: str
    description: str
    arguments: type[Arguments]
    kind: ToolKind
    labels: Labels
    perform: Callable[[Invocation, Any], Awaitable[ToolOutcome]]
    defer: bool = False

    def spec(self) -> ToolSpec:
        schema = self.arguments.model_json_schema()
        return ToolSpec(name=self.name, description=self.description, parameters=_untitled(schema))


class ToolSet:
    """A frozen, ordered set of tools. A bad declaration raises ValueError when it is built."""

    def __init__(self, tools: Iterable[Tool], *, disable: Iterable[str] = ()) -> None:
        chosen = [tool for tool in tools if tool.name not in set(disable)]
        _validate(chosen)
        self._tools = {tool.name: tool for tool in chosen}

    @property
    def names(self) -> tuple[str, ...]:
        """In their fixed order."""
        return tuple(self._tools)

    def specs(self, mode: Mode) -> tuple[ToolSpec, ...]:
        """What the model is offered, in a fixed order."""
        return tuple(tool.spec() for tool in self._tools.values() if _allowed(tool, mode))

    def label(self, name: str) -> str:
        """What to show while the tool runs."""
        tool = self._tools.get(name)
        return tool.labels.running if tool else ""

    async def dispatch(self, invocation: Invocation) -> ToolOutcome:
        """Carry out a call. Never raises for bad input or a failing tool: the text says it."""
        call = invocation.call
        try:
            tool = self._find(call.name, invocation.run.mode)
            outcome = await tool.perform(invocation, _parse(tool, call.arguments))
        except ToolError as error:
            return ToolOutcome(text=error.for_model(), ok=False, label=_first_sentence(str(error)))
        except EditorError as error:
            told = ToolError(error.code, str(error))
            return ToolOutcome(text=told.for_model(), ok=False, label=_first_sentence(str(error)))
        except Exception:
            log.logger.exception("tool %s failed", call.name)
            text = "error internal_error: the tool failed inside typstai; its log says why."
            return ToolOutcome(text=text, ok=False, label="failed inside typstai; see :TypstAI log")
        label = outcome.label or tool.labels.complete
        return replace(outcome, text=_capped(outcome.text), label=label)

    def _find(self, name: str, mode: Mode) -> Tool:
        tool = self._tools.get(name)
        if tool is None:
            close = get_close_matches(name, self._tools, n=3)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise ToolError("unknown_tool", f"there is no tool {name[:64]!r}.{hint}")
        if not _allowed(tool, mode):
            raise ToolError("not_allowed", f"{name} is not available: the writer chose read mode.")
        return tool


def _allowed(tool: Tool, mode: Mode) -> bool:
    return mode == "edit" or tool.kind in ("read", "annotate")


def _validate(tools: Sequence[Tool]) -> None:
    seen: set[str] = set()
    for tool in tools:
        if not _NAME.fullmatch(tool.name) or tool.name.startswith(_RESERVED):
            raise ValueError(f"bad tool name: {tool.name!r}")
        if tool.name in seen:
            raise ValueError(f"two tools are named {tool.name}")
        if not tool.description.strip():
            raise ValueError(f"{tool.name} has no description")
        seen.add(tool.name)


def _parse(tool: Tool, arguments: str) -> Arguments:
    """The arguments, or `ToolError("invalid_arguments")`: nothing half-valid passes."""
    if len(arguments) > MAX_ARGUMENT_CHARS:
        raise ToolError("invalid_arguments", f"more than {MAX_ARGUMENT_CHARS} characters.")
    try:
        value = json.loads(arguments or "{}")
        if not isinstance(value, dict):
            raise ToolError("invalid_arguments", "the arguments must be one JSON object.")
        return tool.arguments.model_validate(value)
    except ValidationError as error:
        problems = (
            f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}"
            for item in error.errors(include_input=False, include_url=False)[:5]
        )
        raise ToolError("invalid_arguments", "; ".join(problems)) from error
    except (ValueError, RecursionError) as error:
        raise ToolError("invalid_arguments", f"not valid JSON: {str(error)[:200]}") from error


def _untitled(schema: Any) -> Any:
    """The schema without pydantic's generated titles, which only cost tokens."""
    if isinstance(schema, dict):
        items = schema.items()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        return {
            key: _untitled(value)
            for key, value in items  # pyright: ignore[reportUnknownVariableType]
            if not (key == "title" and isinstance(value, str))
        }
    if isinstance(schema, list):
        return [_untitled(item) for item in schema]  # pyright: ignore[reportUnknownVariableType]
    return schema


def _capped(text: str) -> str:
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_RESULT_BYTES:
        return text
    return data[:MAX_RESULT_BYTES].decode("utf-8", "ignore") + "\n[cut: the result was longer]"


def _first_sentence(text: str) -> str:
    return text.split("\n", 1)[0].split(". ", 1)[0]
