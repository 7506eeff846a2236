"""Finds tool calls in the text of an answer, however it is cut into pieces. No I/O.

Three forms: `<tool_call>{…}</tool_call>`, a fenced block of JSON that names an
offered tool, and a search/replace block with conflict markers. What is a call
is taken out of the text; everything else passes through, late only while it
may still become one. Inside of other fenced blocks only search/replace blocks
count: what a model quotes there is often the document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, cast

from ...domain.tool import ToolCall
from ...errors import StreamError
from .base import TextDelta, ToolCallStarted
from .calls import MAX_ARGUMENT_CHARACTERS, MAX_CALLS
from .chunks import as_json

EDIT_TOOL = "search_replace"
_TAG, _TAG_END = "<tool_call>", "</tool_call>"
_SEARCH = r"(?<=\n)(?P<search><{5,9} ?(?:SEARCH|ORIGINAL)[^\n]*\n)"
_OPENING = re.compile(
    r"(?P<tag><tool_call>\s*(?=[{\[]))"
    r"|(?<=\n)(?P<fence>(?:```|~~~)(?P<info>[^\n`]*)\n)"
    rf"|{_SEARCH}"
)
_QUOTED = re.compile(rf"(?<=\n)(?P<end>(?:```|~~~)[ \t]*\n)|{_SEARCH}")
_TAG_ENDS = re.compile(f"{_TAG_END}|{_TAG}")
_FENCE_END = re.compile(r"(?<=\n)(?:```|~~~)[ \t]*(?:\n|\Z)")
_EDIT = re.compile(
    r"(?P<search>.*?)(?<=\n)={5,9}[ \t]*\n"
    r"(?P<replace>.*?)(?<=\n)>{5,9} ?(?:REPLACE|UPDATED)[^\n]*(?:\n|\Z)",
    re.DOTALL,
)
_PARTIAL_LINE = re.compile(r"`{1,2}|~{1,2}|(?:```|~~~)[^\n`]*|<{1,4}|<{5,9}[^\n]*")
_CALL_INFO = frozenset({"", "json", "tool_call", "tool", "tool_code", "tool_use", "function"})
_LONGEST_OPENING = 200
"""Characters of a line, or of white space, that may still become the beginning of a call."""
_MAX_TAG_ENDS = 16
"""End tags that may stand inside of arguments."""
_NAME = re.compile(r'"(?:name|tool|tool_name)"\s*:\s*"([^"\\]{1,64})"')

_Mode = Literal["text", "tag", "fence", "quoted", "search"]
Piece = TextDelta | ToolCallStarted


class TextCallSplitter:
    """Feed it the text of one answer; it gives back what is to be shown, and the calls."""

    def __init__(self, names: frozenset[str], new_id: Callable[[], str]) -> None:
        self._names = names
        self._new_id = new_id
        self._mode: _Mode = "text"
        self._before = "\n"
        """The last character that left `_held`: whether that begins a line."""
        self._held = ""
        self._opening = ""
        self._fresh = ""
        """What was not yet searched for the end of a block."""
        self._ends: list[re.Match[str]] = []
        """End tags that leave no JSON before them."""
        self._ended = False
        self.calls: list[ToolCall] = []
        """Whole calls so far, in their order."""

    def feed(self, text: str) -> Iterator[Piece]:
        """What is certain now. Raises `StreamError` when a cap is passed."""
        self._held += text
        self._fresh = text
        while (pieces := self._step()) is not None:
            yield from pieces

    def finish(self, *, is_whole: bool) -> Iterator[Piece]:
        """What was held back. `StreamError` when a whole answer ends inside a call."""
        self._ended = True
        yield from self.feed("")
        rest, self._held = self._opening + self._held, ""
        inside = self._mode in ("tag", "search")
        self._opening, self._mode = "", "text"
        if inside and is_whole:
            raise StreamError("the answer broke off inside a tool call; no tool was run")
        if rest:
            yield TextDelta(text=rest)

    def _step(self) -> list[Piece] | None:
        """One move of the reader; None when it needs more text."""
        match self._mode:
            case "text":
                return self._in_text(_OPENING)
            case "quoted":
                return self._in_text(_QUOTED)
            case "tag":
                return self._in_tag()
            case "fence":
                return self._in_fence()
            case "search":
                return self._in_edit()

    def _in_text(self, pattern: re.Pattern[str]) -> list[Piece] | None:
        found = pattern.search(self._before + self._held, 1 if self._before else 0)
        if found is None:
            return self._pass(len(self._held) - (0 if self._ended else self._uncertain()))
        start = found.start() - len(self._before)
        pieces = self._pass(start) or []
        opening = found[0]
        kind = found.lastgroup if found.lastgroup != "info" else "fence"
        if kind == "end" or (kind == "fence" and not self._may_hold_call(found["info"])):
            self._mode = "text" if kind == "end" else "quoted"
            return [*pieces, *(self._pass(len(opening)) or [])]
        self._take(len(opening))
        self._opening, self._fresh = opening, self._held
        self._mode = cast("_Mode", kind)
        return pieces

    def _may_hold_call(self, info: str) -> bool:
        return info.strip().lower() in _CALL_INFO

    def _uncertain(self) -> int:
        """How many characters at the end may be the beginning of a call."""
        held = len(self._partial_tag()) if self._mode == "text" else 0
        text = self._before + self._held
        line = text[text.rfind("\n") + 1 :]
        begins_here = "\n" in text
        if line and begins_here and len(line) <= _LONGEST_OPENING and _PARTIAL_LINE.fullmatch(line):
            held = max(held, min(len(line), len(self._held)))
        return held

    def _partial_tag(self) -> str:
        start = self._held.rfind("<")
        tail = self._held[start:] if start >= 0 else ""
        waits = tail.startswith(_TAG) and not tail[len(_TAG) :].strip()
        may_open = _TAG.startswith(tail) or (waits and len(tail) <= _LONGEST_OPENING)
        return tail if tail and may_open else ""

    def _in_tag(self) -> list[Piece] | None:
        """Up to the first end tag that leaves valid JSON before it: arguments may quote the tag."""
        if self._may_end(">"):
            for end in _TAG_ENDS.finditer(self._held, self._ends[-1].end() if self._ends else 0):
                if _json(self._held[: end.start()]) is not None:
                    return self._close_tag(end.start(), end[0])
                self._ends.append(end)
        if self._ended and _json(self._held) is not None:
            return self._close_tag(len(self._held), "")
        if self._ends and (self._ended or len(self._ends) > _MAX_TAG_ENDS):
            return self._close_tag(self._ends[0].start(), self._ends[0][0])
        return self._wait()

    def _close_tag(self, length: int, end: str) -> list[Piece]:
        body = self._take(length)
        if end == _TAG_END:
            self._take(len(end))
        self._leave()
        found = list(_calls_in(_json(body))) or [_damaged(body)]
        return [self._add(name, arguments) for name, arguments in found]

    def _in_fence(self) -> list[Piece] | None:
        end = _FENCE_END.search("\n" + self._held, 1) if self._may_end("`~\n") else None
        if end is None or not self._whole_line(end):
            return self._wait()
        body, opening = self._held[: end.start() - 1], self._opening
        found = list(_calls_in(_json(body)))
        if found and all(name in self._names for name, _ in found):
            self._take(end.end() - 1)
            self._leave()
            return [self._add(name, arguments) for name, arguments in found]
        text = opening + self._take(end.end() - 1)
        self._leave()
        return [TextDelta(text=text)]

    def _whole_line(self, end: re.Match[str]) -> bool:
        return end[0].endswith("\n") or self._ended

    def _in_edit(self) -> list[Piece] | None:
        found = _EDIT.match("\n" + self._held, 1) if self._may_end(">\n") else None
        if found is None or not self._whole_line(found):
            return self._wait()
        opening, text = self._opening, self._take(found.end() - 1)
        self._leave()
        if EDIT_TOOL not in self._names:
            return [TextDelta(text=opening + text)]
        sides = {side: found[side].removesuffix("\n") for side in ("search", "replace")}
        return [self._add(EDIT_TOOL, as_json(sides))]

    def _may_end(self, characters: str) -> bool:
        """Whether the newest piece can have brought the end: looking is dear in a long block."""
        return self._ended or any(character in self._fresh for character in characters)

    def _leave(self) -> None:
        self._mode, self._opening, self._ends = "text", "", []

    def _add(self, name: str, arguments: str) -> Piece:
        if len(self.calls) == MAX_CALLS:
            raise StreamError(f"more than {MAX_CALLS} tool calls came; none was run")
        self.calls.append(ToolCall(id=self._new_id(), name=name, arguments=arguments))
        return ToolCallStarted(name=name)

    def _wait(self) -> None:
        if len(self._held) > MAX_ARGUMENT_CHARACTERS:
            raise StreamError(
                f"the tool arguments are longer than {MAX_ARGUMENT_CHARACTERS} characters;"
                " no tool was run"
            )

    def _pass(self, length: int) -> list[Piece] | None:
        text = self._take(length)
        return [TextDelta(text=text)] if text else None

    def _take(self, length: int) -> str:
        text, self._held = self._held[:length], self._held[length:]
        self._before = text[-1:] or self._before
        return text


def holds_calls(text: str, names: frozenset[str]) -> bool:
    """Whether a whole answer writes calls of these tools as text."""
    splitter = TextCallSplitter(names, lambda: "")
    try:
        for _ in (*splitter.feed(text), *splitter.finish(is_whole=True)):
            pass
    except StreamError:
        return False
    return any(call.name in names for call in splitter.calls)


def _json(text: str) -> Any:
    """The value of the text; None when it is no JSON object or list."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("Any", value) if isinstance(value, dict | list) else None


def _calls_in(value: Any) -> Iterator[tuple[str, str]]:
    """Name and arguments (as JSON text) of the call, or of each in a list of nothing else."""
    if isinstance(value, list):
        found = [list(_calls_in(item)) for item in cast("list[Any]", value)]
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


def _damaged(body: str) -> tuple[str, str]:
    """What names a call that is no valid JSON: dispatch refuses it, and the model learns why."""
    name = _NAME.search(body)
    return (name[1] if name else "tool_call"), body.strip()
