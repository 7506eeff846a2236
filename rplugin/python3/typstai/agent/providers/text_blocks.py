"""The blocks in which a model writes calls as text, read piece by piece. No I/O.

A block takes text until it has ended; what then is a call is told by `calls`.
Each piece costs what it is long, however long the block is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Protocol, cast

from .chunks import as_json

EDIT_TOOL = "search_replace"
TAG, TAG_END = "<tool_call>", "</tool_call>"
_TAG_ENDS = re.compile(f"{TAG_END}|{TAG}")
_MAX_TAG_ENDS = 16
"""End tags that may stand inside of arguments."""
_FENCE_END = re.compile(r"(?:```|~~~)[ \t]*")
_MIDDLE = re.compile(r"={5,9}[ \t]*")
_EDIT_END = re.compile(r">{5,9} ?(?:REPLACE|UPDATED).*")
_NAME = re.compile(r'"(?:name|tool|tool_name)"\s*:\s*"([^"\\]{1,64})"')

NamedCall = tuple[str, str]
"""Name and arguments as JSON text."""


class Block(Protocol):
    """A block that was opened."""

    size: int
    """Characters so far."""

    def feed(self, text: str) -> str | None:
        """Take more text; what follows the block once it has ended, else None."""
        ...

    def end(self) -> str | None:
        """The same, now that nothing more comes; None when the block is cut off."""
        ...

    @property
    def text(self) -> str:
        """All of it, as it came."""
        ...

    @property
    def calls(self) -> list[NamedCall]:
        """The calls in a block that has ended; none when it is ordinary text."""
        ...


class TagBlock:
    """`<tool_call>{…}</tool_call>`. It ends at the first end tag that leaves valid JSON before it,
    as arguments may quote the tag; without one, at the first end tag there was.
    """

    def __init__(self, opening: str) -> None:
        self._opening = opening
        self._pieces: list[str] = []
        self._tail = ""
        """The last characters, in which an end tag may have begun."""
        self._ends: list[tuple[int, str]] = []
        """Where end tags stand that leave no JSON before them."""
        self._body = ""
        self.size = 0

    @property
    def text(self) -> str:
        return self._opening + "".join(self._pieces)

    @property
    def calls(self) -> list[NamedCall]:
        return calls_in(parsed(self._body)) or [_damaged(self._body)]

    def feed(self, text: str) -> str | None:
        start = self.size - len(self._tail)
        window = self._tail + text
        self._pieces.append(text)
        self.size += len(text)
        self._tail = window[-len(TAG_END) + 1 :]
        for found in _TAG_ENDS.finditer(window):
            at, tag = start + found.start(), found[0]
            if self._ends and at <= self._ends[-1][0]:
                continue
            if parsed("".join(self._pieces)[:at]) is not None:
                return self._close(at, tag)
            self._ends.append((at, tag))
            if len(self._ends) > _MAX_TAG_ENDS:
                return self._close(*self._ends[0])
        return None

    def end(self) -> str | None:
        if parsed("".join(self._pieces)) is not None:
            return self._close(self.size, "")
        return self._close(*self._ends[0]) if self._ends else None

    def _close(self, at: int, tag: str) -> str:
        whole = "".join(self._pieces)
        self._body = whole[:at]
        return whole[at + len(tag) :] if tag == TAG_END else whole[at:]


class _LineBlock:
    """A block that ends with a line of its own."""

    def __init__(self, opening: str) -> None:
        self._opening = opening
        self._line: list[str] = []
        self.lines: list[str] = []
        """Complete lines, line ends included; the last one ends the block."""
        self.size = 0

    @property
    def text(self) -> str:
        return "".join((self._opening, *self.lines, *self._line))

    def ends_with(self, line: str) -> bool:
        """Whether this line, without its end, ends the block."""
        raise NotImplementedError

    def feed(self, text: str) -> str | None:
        self.size += len(text)
        while (at := text.find("\n")) >= 0:
            self._line.append(text[: at + 1])
            text = text[at + 1 :]
            if self._complete():
                return text
        self._line.append(text)
        return None

    def end(self) -> str | None:
        return "" if self._complete() else None

    def _complete(self) -> bool:
        self.lines.append("".join(self._line))
        self._line = []
        return self.ends_with(self.lines[-1].removesuffix("\n"))


class FenceBlock(_LineBlock):
    """A fenced block of JSON: a call only if it names nothing but offered tools."""

    def __init__(self, opening: str, names: frozenset[str]) -> None:
        super().__init__(opening)
        self._names = names

    def ends_with(self, line: str) -> bool:
        return _FENCE_END.fullmatch(line) is not None

    @property
    def calls(self) -> list[NamedCall]:
        found = calls_in(parsed("".join(self.lines[:-1])))
        return found if all(name in self._names for name, _ in found) else []


class EditBlock(_LineBlock):
    """A search/replace block with conflict markers."""

    def __init__(self, opening: str, names: frozenset[str]) -> None:
        super().__init__(opening)
        self._is_offered = EDIT_TOOL in names
        self._middle = -1
        """Position of the line between the two texts, once it came."""

    def ends_with(self, line: str) -> bool:
        if self._middle < 0 and _MIDDLE.fullmatch(line):
            self._middle = len(self.lines) - 1
        return self._middle >= 0 and _EDIT_END.fullmatch(line) is not None

    @property
    def calls(self) -> list[NamedCall]:
        if not self._is_offered:
            return []
        parts = self.lines[: self._middle], self.lines[self._middle + 1 : -1]
        search, new = ("".join(part).removesuffix("\n") for part in parts)
        return [(EDIT_TOOL, as_json({"search": search, "replace": new}))]


def parsed(text: str) -> Any:
    """The value of the text; None when it is no JSON object or list."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("Any", value) if isinstance(value, dict | list) else None


def calls_in(value: Any) -> list[NamedCall]:
    """The call that a JSON value is, or each in a list of nothing else."""
    return list(_calls_in(value))


def _calls_in(value: Any) -> Iterator[NamedCall]:
    if isinstance(value, list):
        found = [calls_in(item) for item in cast("list[Any]", value)]
        if all(found):
            yield from (call for calls in found for call in calls)
        return
    match value:
        case {"function": {"name": _} as inner}:
            yield from _calls_in(inner)
        case {"name": str(name)} | {"tool": str(name)} | {"tool_name": str(name)} if name:
            yield name, _arguments(cast("dict[str, Any]", value))
        case _:
            pass


def _arguments(call: dict[str, Any]) -> str:
    keys = ("arguments", "parameters", "args", "input")
    value: Any = next((call[key] for key in keys if key in call), cast("Any", {}))
    return value if isinstance(value, str) else as_json(value)


def _damaged(body: str) -> NamedCall:
    """What names a call that is no valid JSON: dispatch refuses it, and the model learns why."""
    name = _NAME.search(body)
    return (name[1] if name else "tool_call"), body.strip()
