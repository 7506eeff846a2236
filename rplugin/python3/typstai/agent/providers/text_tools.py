"""A model without function tools: they are described in the prompt, and calls read from its text.

The history is told in the same words, so that nothing of a request needs a
provider that knows tools. What happens to a call afterwards is the same as ever.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from dataclasses import replace
from typing import assert_never

from ...domain.fence import fence
from ...domain.tool import ToolCall, ToolSpec
from .assemble import random_id
from .base import (
    AssistantMessage,
    Done,
    Message,
    Model,
    ModelRequest,
    StreamEvent,
    TextDelta,
    ToolMessage,
    UserMessage,
)
from .calls import is_json_object
from .chunks import as_json
from .text_blocks import EDIT_TOOL
from .text_calls import TextCallSplitter

_HOW = """\
# Tools

To call a tool, write a block of this form, one for each call, at the end of your message:

<tool_call>
{"name": "tool_name", "arguments": {"argument": "value"}}
</tool_call>

Inside of the block stands one JSON object and nothing else. Then stop: the results come in the \
next message. Never write a result yourself."""
_EDIT = """\
To replace text in the document you may write this block instead:

<<<<<<< SEARCH
the exact lines as they are now
=======
the lines that take their place
>>>>>>> REPLACE"""


class TextTools:
    """Implements `base.Model` over one that is never sent a tool."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `base.Model.stream`; `StreamError` when the answer ends inside a call."""
        names = frozenset(tool.name for tool in request.tools)
        splitter = TextCallSplitter(names, random_id)
        async with aclosing(self._model.stream(in_text(request))) as events:
            async for event in events:
                match event:
                    case TextDelta(text=text) if names:
                        for piece in splitter.feed(text):
                            yield piece
                    case Done():
                        is_whole = event.finish == "stop"
                        for piece in splitter.finish(is_whole=is_whole):
                            yield piece
                        calls = (*event.calls, *splitter.calls) if is_whole else ()
                        yield replace(event, calls=calls)
                    case _:
                        yield event


def in_text(request: ModelRequest) -> ModelRequest:
    """The request with its tools in the prompt, and its calls and results as messages of text."""
    system = "\n\n".join((request.system, *_described(request.tools)))
    return ModelRequest(system=system, messages=tuple(_told(request.messages)))


def _described(tools: tuple[ToolSpec, ...]) -> Iterator[str]:
    if not tools:
        return
    yield _HOW
    if any(tool.name == EDIT_TOOL for tool in tools):
        yield _EDIT
    yield "The tools, one a line:\n" + "\n".join(map(_tool, tools))


def _tool(spec: ToolSpec) -> str:
    fields = {"name": spec.name, "description": spec.description}
    return as_json({**fields, "parameters": dict(spec.parameters)})


def _told(messages: Iterable[Message]) -> Iterator[Message]:
    """Results become the user's words, joined with what follows: the sides must alternate."""
    results: list[str] = []
    for message in messages:
        match message:
            case ToolMessage():
                results.append(fence("tool_result", f"{message.name}\n{message.text}"))
            case UserMessage():
                yield replace(message, text="\n\n".join((*results, message.text)))
                results = []
            case AssistantMessage():
                if results:
                    yield UserMessage(text="\n\n".join(results))
                results = []
                yield AssistantMessage(text=_spoken(message))
            case _:
                assert_never(message)
    if results:
        yield UserMessage(text="\n\n".join(results))


def _spoken(message: AssistantMessage) -> str:
    return "\n\n".join(part for part in (message.text, *map(_block, message.calls)) if part)


def _block(call: ToolCall) -> str:
    arguments = call.arguments if is_json_object(call.arguments) else as_json(call.arguments)
    return f'<tool_call>\n{{"name": {as_json(call.name)}, "arguments": {arguments}}}\n</tool_call>'
