"""Known providers: what fills an entry of `models`, and which dialect is spoken to it."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import pytest

from typstai.agent.providers import presets
from typstai.agent.providers.base import (
    AssistantMessage,
    Image,
    Message,
    ModelRequest,
    ToolMessage,
    UserMessage,
)
from typstai.agent.providers.endpoint import Endpoint
from typstai.agent.providers.listing import first_for_chat, model_names
from typstai.agent.providers.presets import PRESETS, Quirks
from typstai.agent.providers.wire import BRIDGE, UNSIGNED, request_body
from typstai.app.endpoints import endpoint_of, sees
from typstai.domain.tool import ToolCall, ToolSpec
from typstai.errors import SettingsError
from typstai.settings import ModelOption, PresetName, parse

OPENAI_ID = "call_DdmO9pD3xa9XTPNJ32zg2hcA"
TOOL = ToolSpec(name="f", description="Does it.", parameters={"type": "object"})


def option(**fields: Any) -> ModelOption:
    return ModelOption.model_validate({"name": "mine", **fields})


def body(preset: str, *messages: Message, **fields: Any) -> Any:
    endpoint = endpoint_of(option(preset=preset, model="m", **fields))
    request = ModelRequest(system="", messages=messages, tools=(TOOL,))
    return json.loads(request_body(endpoint, request))


def call(id: str = OPENAI_ID, name: str = "f") -> ToolCall:
    return ToolCall(id=id, name=name, arguments="{}")


def round_of(*calls: ToolCall, reasoning: str = "") -> list[Message]:
    asked = AssistantMessage(text="", reasoning=reasoning, calls=calls)
    return [asked, *(ToolMessage(call_id=c.id, name=c.name, text="ok") for c in calls)]


# --- what a preset fills ------------------------------------------------------------------------


def test_the_options_know_every_preset_and_no_other() -> None:
    assert set(get_args(PresetName)) == set(PRESETS)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_alone_makes_an_endpoint(name: str) -> None:
    endpoint = endpoint_of(option(preset=name, model="m"))
    assert endpoint.url.endswith("/chat/completions")
    assert endpoint.quirks == PRESETS[name].quirks
    assert PRESETS[name].is_local == endpoint.is_loopback
    key = endpoint.key.describe() if endpoint.key else ""
    assert key == (f"env {PRESETS[name].key_variable}" if PRESETS[name].key_variable else "")


@pytest.mark.parametrize("name", [name for name in PRESETS if not PRESETS[name].is_local])
def test_a_known_host_is_recognised(name: str) -> None:
    endpoint = endpoint_of(option(base_url=PRESETS[name].base_url, model="m"))
    assert endpoint.quirks == PRESETS[name].quirks
    assert endpoint.key is not None


def test_an_unknown_host_is_spoken_to_plainly_and_gets_no_key() -> None:
    endpoint = endpoint_of(option(base_url="https://llm.example.org/v1", model="m"))
    assert endpoint.quirks == Quirks()
    assert endpoint.key is None


@pytest.mark.parametrize(
    "base_url",
    ["https://proxy.example.org/v1", "https://api.openai.com/v1", "https://api.mistral.ai.evil/v1"],
)
def test_the_key_of_a_preset_goes_to_no_other_host(base_url: str) -> None:
    endpoint = endpoint_of(option(preset="mistral", base_url=base_url, model="m"))
    assert endpoint.quirks.call_ids == "nine"
    assert endpoint.key is None


def test_a_key_of_the_users_own_is_used_instead() -> None:
    endpoint = endpoint_of(option(preset="openai", model="m", api_key={"env": "MINE"}))
    assert endpoint.key is not None
    assert endpoint.key.describe() == "env MINE"
    header = {"Authorization": "Bearer x"}
    assert endpoint_of(option(preset="openai", model="m", headers=header)).key is None


def test_a_local_preset_without_a_model_says_what_to_do() -> None:
    with pytest.raises(SettingsError, match="needs a model; :TypstAI model lists"):
        endpoint_of(option(preset="vllm"))


def test_an_unknown_preset_is_a_problem_with_its_place() -> None:
    settings = parse({"models": [{"name": "a", "preset": "nobody", "model": "m"}]})
    assert settings.problems[0].startswith("models[1].preset")


def test_only_what_is_known_to_see_is_sent_images() -> None:
    assert sees(option(preset="openai"))
    assert not sees(option(preset="openai", model="other"))
    assert sees(option(preset="openai", model="other", vision=True))
    assert not sees(option(preset="anthropic", vision=False))
    assert not sees(option(base_url="http://127.0.0.1:1/v1", model="m"))


def test_ollamas_own_variable_moves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, address in {
        "127.0.0.1:9999": "http://127.0.0.1:9999/v1",
        "0.0.0.0": "http://127.0.0.1:11434/v1",
        "http://localhost:1": "http://localhost:1/v1",
    }.items():
        monkeypatch.setenv("OLLAMA_HOST", value)
        assert presets.address("ollama") == address


# --- dialects -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("id", [OPENAI_ID, "D681PevKs", "functions.f:0", "x" * 99, "é", "a-2"])
def test_call_ids_of_any_provider_are_made_fit_for_each(name: str, id: str) -> None:
    messages = body(name, UserMessage(text="Go."), *round_of(call(id)))["messages"]
    sent, answered = messages[1]["tool_calls"][0]["id"], messages[2]["tool_call_id"]
    assert sent == answered
    shape = r"[A-Za-z0-9]{9}" if name == "mistral" else r"[A-Za-z0-9_-]{1,40}"
    assert re.fullmatch(shape, sent)
    assert sent == id or not re.fullmatch(shape, id)


def test_different_ids_stay_different_for_mistral() -> None:
    messages = body("mistral", *round_of(call("call_1"), call("call_2")))["messages"]
    assert len({item["id"] for item in messages[0]["tool_calls"]}) == 2


@pytest.mark.parametrize("name", PRESETS)
def test_usage_is_asked_for_where_that_is_allowed(name: str) -> None:
    assert ("stream_options" in body(name, UserMessage(text="Hi"))) == (name != "mistral")


@pytest.mark.parametrize(
    ("name", "field"),
    [("openai", "max_completion_tokens"), ("groq", "max_completion_tokens"),
     ("anthropic", "max_tokens"), ("mistral", "max_tokens"), ("ollama", "max_tokens")],
)  # fmt: skip
def test_the_limit_has_the_name_that_the_provider_wants(name: str, field: str) -> None:
    sent = body(name, UserMessage(text="Hi"), max_tokens=100)
    assert sent[field] == 100
    assert len({"max_tokens", "max_completion_tokens"} & sent.keys()) == 1


def test_parallel_calls_are_asked_for_where_they_are_off_by_default() -> None:
    assert body("llamacpp", UserMessage(text="Hi"))["parallel_tool_calls"] is True
    assert "parallel_tool_calls" not in body("openai", UserMessage(text="Hi"))


@pytest.mark.parametrize("name", PRESETS)
def test_reasoning_goes_back_to_deepseek_only(name: str) -> None:
    messages = body(name, UserMessage(text="Go."), *round_of(call(), reasoning="Hm."))["messages"]
    assert messages[1].get("reasoning_content") == ("Hm." if name == "deepseek" else None)


def test_deepseek_gets_the_field_even_without_reasoning() -> None:
    """It refuses a history in which an answer lacks it, also one of another model's."""
    said = AssistantMessage(text="Fine.")
    messages = body("deepseek", UserMessage(text="Go."), *round_of(call()), said)["messages"]
    assert [m["reasoning_content"] for m in messages if m["role"] == "assistant"] == ["", ""]


def test_mistral_gets_an_answer_between_a_result_and_the_users_words() -> None:
    history = (UserMessage(text="Go."), *round_of(call()), UserMessage(text="Stop."))
    roles = [message["role"] for message in body("mistral", *history)["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
    assert body("mistral", *history)["messages"][3]["content"] == BRIDGE
    roles = [message["role"] for message in body("openai", *history)["messages"]]
    assert roles == ["user", "assistant", "tool", "user"]


def test_gemini_gets_a_signature_on_the_first_call_of_each_round() -> None:
    messages = body("gemini", *round_of(call("a"), call("b")), *round_of(call("c")))["messages"]
    signed = [
        item.get("extra_content", {}).get("google", {}).get("thought_signature")
        for message in messages
        for item in message.get("tool_calls", ())
    ]
    assert signed == [UNSIGNED, None, UNSIGNED]
    assert "extra_content" not in str(body("openai", *round_of(call())))


@pytest.mark.parametrize("name", PRESETS)
def test_images_have_the_form_that_the_provider_wants(name: str) -> None:
    message = UserMessage(text="Look.", images=(Image(png=b"\x89PNG"),))
    text, image = body(name, message)["messages"][0]["content"]
    assert text == {"type": "text", "text": "Look."}
    url = "data:image/png;base64,iVBORw=="
    wanted = url if PRESETS[name].quirks.image_form == "string" else {"url": url}
    assert image == {"type": "image_url", "image_url": wanted}


@pytest.mark.parametrize("name", ["functions.read document", "", "x" * 200, "größe"])
def test_a_name_that_a_model_made_up_is_made_fit_to_be_sent_again(name: str) -> None:
    sent = body("openai", *round_of(call(name=name)))["messages"][0]["tool_calls"][0]
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", sent["function"]["name"])


# --- lists of models ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"object":"list","data":[{"id":"a"},{"id":"b"},{"id":"a"}]}', ("a", "b")),
        ('{"data":[{"id":"models/gemini-flash"}]}', ("gemini-flash",)),
        ('{"models":[{"name":"llama3:8b"}]}', ("llama3:8b",)),
        ('[{"id":"x"}]', ("x",)),
        ('{"data":[{"id":"bad\\nname"},{"id":7},{},null,"x",{"id":""}]}', ()),
        ("<html>", ()), ("", ()), ("{", ()), ('{"data":{}}', ()), ("[" * 100_000, ()),
    ],
)  # fmt: skip
def test_names_are_read_from_lists_of_any_shape(text: str, names: tuple[str, ...]) -> None:
    assert model_names(text.encode()) == names


def test_the_first_model_that_can_chat_is_taken() -> None:
    assert first_for_chat(("nomic-embed-text", "qwen3:8b", "llama3")) == "qwen3:8b"
    assert first_for_chat(("bge-rerank",)) == ""


def test_the_address_of_the_list_stands_beside_the_completions() -> None:
    endpoint = Endpoint(name="m", base_url="https://a/v1/chat/completions?x=1", model="m")
    assert endpoint.list_url == "https://a/v1/models?x=1"
