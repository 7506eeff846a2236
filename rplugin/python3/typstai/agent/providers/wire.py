"""Writes a request as the JSON body of a chat completion, in the dialect of its provider."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, assert_never

from ...domain.tool import ToolCall, ToolSpec
from .base import AssistantMessage, Image, Message, ModelRequest, ToolMessage, UserMessage
from .calls import is_json_object
from .endpoint import Endpoint
from .presets import Quirks

BRIDGE = "Understood."
"""What stands between a tool's result and the user's words where a provider wants an answer."""
UNSIGNED = "skip_thought_signature_validator"
"""The signature that Gemini takes for calls whose own is not known."""
_NINE_ID = re.compile(r"[A-Za-z0-9]{9}")
_SHORT_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def request_body(endpoint: Endpoint, request: ModelRequest) -> bytes:
    """The body as UTF-8. Characters that UTF-8 cannot hold (from broken files) become `?`."""
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": list(_messages(request, endpoint.quirks)),
        "stream": True,
        **_options(endpoint, request),
    }
    if request.tools:
        body["tools"] = [_tool(spec) for spec in request.tools]
        if endpoint.quirks.parallel_calls is not None:
            body["parallel_tool_calls"] = endpoint.quirks.parallel_calls
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _options(endpoint: Endpoint, request: ModelRequest) -> dict[str, Any]:
    options = {
        "stream_options": {"include_usage": True} if endpoint.quirks.stream_options else None,
        "temperature": endpoint.temperature,
        endpoint.quirks.limit_field: _limit(endpoint.max_tokens, request.max_tokens),
        "reasoning_effort": endpoint.reasoning_effort,
    }
    return {name: value for name, value in options.items() if value is not None}


def _limit(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def _messages(request: ModelRequest, quirks: Quirks) -> Iterator[dict[str, Any]]:
    if request.system:
        yield {"role": "system", "content": request.system}
    before: Message | None = None
    for message in request.messages:
        if _is_empty(message):
            continue
        if _needs_bridge(before, message, quirks):
            yield {"role": "assistant", "content": BRIDGE}
        yield _message(message, quirks)
        before = message


def _needs_bridge(before: Message | None, message: Message, quirks: Quirks) -> bool:
    after_tool = isinstance(before, ToolMessage) and isinstance(message, UserMessage)
    return after_tool and not quirks.user_after_tool


def _is_empty(message: Message) -> bool:
    """Whether it is an answer that was stopped before it began; some providers refuse those."""
    match message:
        case AssistantMessage(text=text, calls=()):
            return not text.strip()
        case _:
            return False


def _message(message: Message, quirks: Quirks) -> dict[str, Any]:
    match message:
        case UserMessage():
            return {"role": "user", "content": _user_content(message, quirks)}
        case AssistantMessage():
            return _assistant(message, quirks)
        case ToolMessage():
            call_id = _call_id(message.call_id, quirks)
            return {"role": "tool", "tool_call_id": call_id, "content": message.text}
        case _:
            assert_never(message)


def _user_content(message: UserMessage, quirks: Quirks) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.text
    return [{"type": "text", "text": message.text}, *_images(message.images, quirks)]


def _images(images: Iterable[Image], quirks: Quirks) -> Iterator[dict[str, Any]]:
    for image in images:
        url = "data:image/png;base64," + base64.b64encode(image.png).decode()
        value = url if quirks.image_form == "string" else {"url": url}
        yield {"type": "image_url", "image_url": value}


def _assistant(message: AssistantMessage, quirks: Quirks) -> dict[str, Any]:
    found: dict[str, Any] = {"role": "assistant", "content": message.text}
    if message.calls:
        found["content"] = message.text or None
        found["tool_calls"] = [_call(call, quirks) for call in message.calls]
        if quirks.signed_calls:
            found["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": UNSIGNED}}
    if quirks.replays_reasoning:
        found["reasoning_content"] = message.reasoning
    return found


def _call(call: ToolCall, quirks: Quirks) -> dict[str, Any]:
    name = _NOT_IN_NAMES.sub("_", call.name)[:64] or "unknown"
    function = {"name": name, "arguments": _valid_arguments(call.arguments)}
    return {"id": _call_id(call.id, quirks), "type": "function", "function": function}


def _call_id(call_id: str, quirks: Quirks) -> str:
    """The id, or one made from it where another provider's form would be refused."""
    allowed = _NINE_ID if quirks.call_ids == "nine" else _SHORT_ID
    if allowed.fullmatch(call_id):
        return call_id
    return hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:9]


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
