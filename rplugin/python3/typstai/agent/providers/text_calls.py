"""Finds tool calls in the text of an answer, however it is cut into pieces. No I/O.

Three forms: `<tool_call>{…}</tool_call>`, a fenced block of JSON that names an
offered tool, and a search/replace block with conflict markers. What is a call
is taken out of the text; everything else passes through, late only while it
may still become one. Inside of other fenced blocks only search/replace blocks
count: what a model quotes there is often the document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ...domain.tool import ToolCall
from ...errors import StreamError
from .base import TextDelta, ToolCallStarted
from .calls import MAX_ARGUMENT_CHARACTERS, MAX_CALLS
from .text_blocks import TAG, Block, EditBlock, FenceBlock, TagBlock

# No opening holds another one, or it would depend on the cut which of them is seen first.
_SEARCH = r"(?<=\n)(?P<search><{5,9} ?(?:SEARCH|ORIGINAL)[^\n<]*\n)"
_OPENING = re.compile(
    r"(?P<tag><tool_call>\s*(?=[{\[]))"
    r"|(?<=\n)(?P<fence>(?:```|~~~)(?P<info>[^\n`<]*)\n)"
    rf"|{_SEARCH}"
)
_QUOTED = re.compile(rf"(?<=\n)(?P<end>(?:```|~~~)[ \t]*\n)|{_SEARCH}")
_PARTIAL_LINE = re.compile(r"`{1,2}|~{1,2}|(?:```|~~~)[^\n`<]*|<{1,4}|<{5,9}[^\n<]*")
_LONGEST_OPENING = 200
"""Characters of a line, or of white space, that may still become the beginning of a call."""
_CALL_INFO = frozenset({"", "json", "tool_call", "tool", "tool_code", "tool_use", "function"})

Piece = TextDelta | ToolCallStarted


class TextCallSplitter:
    """Feed it the text of one answer; it gives back what is to be shown, and the calls."""

    def __init__(self, names: frozenset[str], new_id: Callable[[], str]) -> None:
        self._names = names
        self._new_id = new_id
        self._block: Block | None = None
        self._is_quoting = False
        self._before = "\n"
        """The last character that left `_held`: whether that begins a line."""
        self._held = ""
        self._ended = False
        self.calls: list[ToolCall] = []
        """Whole calls so far, in their order."""

    def feed(self, text: str) -> Iterator[Piece]:
        """What is certain now. Raises `StreamError` when a cap is passed."""
        self._held += text
        while True:
            if self._block is not None:
                rest, self._held = self._block.feed(self._held), ""
                if rest is None:
                    self._check_size(self._block)
                    return
                yield from self._close(self._block, rest)
            yield from self._in_text()
            if self._block is None:
                return

    def finish(self, *, is_whole: bool) -> Iterator[Piece]:
        """What was held back. `StreamError` when a whole answer ends inside a call."""
        self._ended = True
        yield from self.feed("")
        while self._block is not None:
            rest = self._block.end()
            if rest is None:
                yield from self._cut_off(self._block, is_whole)
                return
            yield from self._close(self._block, rest)
            yield from self.feed("")

    def _cut_off(self, block: Block, is_whole: bool) -> Iterator[Piece]:
        self._block = None
        if is_whole and not isinstance(block, FenceBlock):
            raise StreamError("the answer broke off inside a tool call; no tool was run")
        yield TextDelta(text=block.text)

    def _close(self, block: Block, rest: str) -> Iterator[Piece]:
        self._block, self._held = None, rest
        calls = block.calls
        if not calls:
            yield TextDelta(text=block.text)
        for name, arguments in calls:
            yield self._add(name, arguments)
        self._before = "\n" if not isinstance(block, TagBlock) else ">"

    def _in_text(self) -> Iterator[Piece]:
        """Pass text on up to where a block begins, or may begin."""
        while self._block is None:
            pattern = _QUOTED if self._is_quoting else _OPENING
            found = pattern.search(self._before + self._held, len(self._before))
            if found is None:
                yield from self._pass(len(self._held) - self._uncertain())
                return
            yield from self._pass(found.start() - len(self._before))
            self._open(found)
            if self._block is None:
                yield from self._pass(len(found[0]))
            else:
                self._take(len(found[0]))

    def _open(self, found: re.Match[str]) -> None:
        """Begin the block that was found; other fences only change what counts inside."""
        kinds = found.groupdict()
        if kinds.get("tag"):
            self._block = TagBlock(found[0])
        elif kinds.get("search"):
            self._block = EditBlock(found[0], self._names)
        elif kinds.get("fence") and kinds["info"].strip().lower() in _CALL_INFO:
            self._block = FenceBlock(found[0], self._names)
        else:
            self._is_quoting = not self._is_quoting

    def _uncertain(self) -> int:
        """How many characters at the end may be the beginning of a call."""
        if self._ended:
            return 0
        tag = 0 if self._is_quoting else len(self._partial_tag())
        before, _, line = (self._before + self._held).rpartition("\n")
        begins = len(before) < len(self._before + self._held) - len(line)
        if begins and line and len(line) <= _LONGEST_OPENING and _PARTIAL_LINE.fullmatch(line):
            return max(tag, min(len(line), len(self._held)))
        return tag

    def _partial_tag(self) -> str:
        start = self._held.rfind("<")
        tail = self._held[start:] if start >= 0 else ""
        waits = tail.startswith(TAG) and not tail[len(TAG) :].strip()
        may_open = TAG.startswith(tail) or (waits and len(tail) <= _LONGEST_OPENING)
        return tail if tail and may_open else ""

    def _add(self, name: str, arguments: str) -> Piece:
        if len(self.calls) == MAX_CALLS:
            raise StreamError(f"more than {MAX_CALLS} tool calls came; none was run")
        self.calls.append(ToolCall(id=self._new_id(), name=name, arguments=arguments))
        return ToolCallStarted(name=name)

    def _check_size(self, block: Block) -> None:
        if block.size > MAX_ARGUMENT_CHARACTERS:
            raise StreamError(
                f"the tool arguments are longer than {MAX_ARGUMENT_CHARACTERS} characters;"
                " no tool was run"
            )

    def _pass(self, length: int) -> Iterator[Piece]:
        text = self._take(length)
        if text:
            yield TextDelta(text=text)

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
