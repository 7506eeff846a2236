from __future__ import annotations

import json
from typing import Any

import pytest

from typstai.agent.providers.base import (
    AssistantMessage,
    Message,
    ModelRequest,
    ToolMessage,
    UserMessage,
)
from typstai.agent.providers.endpoint import Endpoint
from typstai.agent.providers.wire import request_body
from typstai.domain.tool import ToolCall, ToolSpec

ENDPOINT = Endpoint(name="mine", base_url="https://a/v1", model="gpt")


def body(*messages: Message, system: str = "Be brief.", endpoint: Endpoint = ENDPOINT) -> Any:
    return json.loads(request_body(endpoint, ModelRequest(system=system, messages=messages)))


def replayed(arguments: str) -> Any:
    """The arguments of a call in the history, as the provider will read them."""
    call = ToolCall(id="c1", name="f", arguments=arguments)
    sent = body(AssistantMessage(text="", calls=(call,)))["messages"][1]["tool_calls"][0]
    return json.loads(sent["function"]["arguments"])


def test_a_conversation_is_sent_in_order_with_the_system_prompt_first() -> None:
    call = ToolCall(id="c1", name="f", arguments='{"a": 1}')
    messages = body(
        UserMessage(text="Hi"),
        AssistantMessage(text="Reading.", reasoning="hidden", calls=(call,)),
        ToolMessage(call_id="c1", name="f", text="done"),
        AssistantMessage(text="Fine."),
    )["messages"]
    assert messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {
            "role": "assistant",
            "content": "Reading.",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "f", "arguments": '{"a": 1}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "assistant", "content": "Fine."},
    ]


def test_a_streamed_answer_with_usage_is_asked_for_and_nothing_that_was_not_set() -> None:
    sent = body(UserMessage(text="Hi"))
    assert sent.keys() == {"model", "messages", "stream", "stream_options"}
    assert (sent["model"], sent["stream"]) == ("gpt", True)
    assert sent["stream_options"] == {"include_usage": True}


def test_an_answer_that_was_stopped_before_it_began_is_not_sent() -> None:
    messages = body(UserMessage(text="Hi"), AssistantMessage(text=" "), UserMessage(text="Yes?"))
    assert [message["role"] for message in messages["messages"]] == ["system", "user", "user"]


def test_options_are_sent_when_they_are_set() -> None:
    endpoint = Endpoint(
        name="mine", base_url="https://a/v1", model="gpt",
        temperature=0.0, max_tokens=100, reasoning_effort="low",
    )  # fmt: skip
    sent = body(UserMessage(text="Hi"), endpoint=endpoint)
    assert (sent["temperature"], sent["max_tokens"], sent["reasoning_effort"]) == (0.0, 100, "low")


def test_tools_are_described_as_functions() -> None:
    spec = ToolSpec(name="f", description="Does f.", parameters={"type": "object"})
    request = ModelRequest(system="", messages=(UserMessage(text="Hi"),), tools=(spec,))
    assert json.loads(request_body(ENDPOINT, request))["tools"] == [
        {
            "type": "function",
            "function": {"name": "f", "description": "Does f.", "parameters": {"type": "object"}},
        }
    ]


def test_without_a_system_prompt_no_empty_message_is_sent() -> None:
    assert [message["role"] for message in body(UserMessage(text="Hi"), system="")["messages"]] == [
        "user"
    ]


@pytest.mark.parametrize("broken", ['{"a": ', "", "[1]", '{"a":1} x', "NaN", "\udcff", "null"])
def test_arguments_that_are_no_object_go_back_as_an_object_that_quotes_them(broken: str) -> None:
    quoted = replayed(broken)
    assert list(quoted) == ["invalid_json"]
    assert quoted["invalid_json"] in (broken, "?")


def test_valid_arguments_go_back_untouched() -> None:
    assert replayed('{"a": "ü\\n"}') == {"a": "ü\n"}


def test_text_is_sent_as_utf_8_and_broken_bytes_of_a_file_do_no_harm() -> None:
    request = ModelRequest(system="", messages=(UserMessage(text="日本語 \udcff \u2028"),))
    assert "日本語 ? \u2028".encode() in request_body(ENDPOINT, request)
