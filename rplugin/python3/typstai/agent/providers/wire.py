"""Writes a request as the JSON body of a chat completion."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, assert_never

from ...domain.tool import ToolCall, ToolSpec
from .base import AssistantMessage, Message, ModelRequest, ToolMessage, UserMessage
from .calls import is_json_object
from .endpoint import Endpoint


def request_body(endpoint: Endpoint, request: ModelRequest) -> bytes:
    """The body as UTF-8. Characters that UTF-8 cannot hold (from broken files) become `?`."""
    body = {
        "model": endpoint.model,
        "messages": list(_messages(request)),
        "stream": True,
        "stream_options": {"include_usage": True},
        **_options(endpoint),
    }
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _options(endpoint: Endpoint) -> dict[str, Any]:
    options = {
        "temperature": endpoint.temperature,
        "max_tokens": endpoint.max_tokens,
        "reasoning_effort": endpoint.reasoning_effort,
    }
    return {name: value for name, value in options.items() if value is not None}


def _messages(request: ModelRequest) -> Iterator[dict[str, Any]]:
    if request.system:
        yield {"role": "system", "content": request.system}
    for message in request.messages:
        if not _is_empty(message):
            yield _message(message)


def _is_empty(message: Message) -> bool:
    """Whether it is an answer that was stopped before it began; some providers refuse those."""
    match message:
        case AssistantMessage(text=text, calls=()):
            return not text.strip()
        case _:
            return False


def _message(message: Message) -> dict[str, Any]:
    match message:
        case UserMessage():
            return {"role": "user", "content": message.text}
        case AssistantMessage():
            return _assistant(message)
        case ToolMessage():
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.text}
        case _:
            assert_never(message)


def _assistant(message: AssistantMessage) -> dict[str, Any]:
    if not message.calls:
        return {"role": "assistant", "content": message.text}
    calls = [_call(call) for call in message.calls]
    return {"role": "assistant", "content": message.text or None, "tool_calls": calls}


def _call(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": _valid_arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


def _valid_arguments(arguments: str) -> str:
    """The arguments, or an object that quotes them: providers refuse a history with bad JSON."""
    if is_json_object(arguments):
        return arguments
    return json.dumps({"invalid_json": arguments}, ensure_ascii=False)


def _tool(spec: ToolSpec) -> dict[str, Any]:
    function = {
        "name": spec.name,
        "description": spec.description,
        "parameters": dict(spec.parameters),
    }
    return {"type": "function", "function": function}
