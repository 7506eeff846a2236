"""What the rule-based model keeps, what it hands to the small one, and what that one is told."""

from __future__ import annotations

import pytest

from typstai.agent.providers.base import (
    AssistantMessage,
    Done,
    Message,
    ModelRequest,
    TextDelta,
    ToolMessage,
    Usage,
    UserMessage,
)
from typstai.agent.providers.local import in_words
from typstai.agent.providers.offline import OfflineModel
from typstai.agent.providers.scripted import ScriptedModel
from typstai.domain.tool import ToolCall, ToolSpec
from typstai.errors import ModelError

TOOL = ToolSpec(name="read_diagnostics", description="Read.", parameters={"type": "object"})
SPOKEN = (TextDelta(text="Rivers run."), Done(calls=(), finish="stop", usage=Usage()))


def request(*messages: Message | str, tools: tuple[ToolSpec, ...] = (TOOL,)) -> ModelRequest:
    said = (UserMessage(text=item) if isinstance(item, str) else item for item in messages)
    return ModelRequest(system="Long prompt.", messages=tuple(said), tools=tools)


async def answer(model: OfflineModel, asked: ModelRequest) -> tuple[str, Done]:
    events = [event async for event in model.stream(asked)]
    assert isinstance(events[-1], Done)
    return "".join(event.text for event in events if isinstance(event, TextDelta)), events[-1]


@pytest.mark.parametrize("text", ["Fix the errors", "Check it", "Behebe die Fehler", "Any issues?"])
async def test_what_is_about_errors_is_kept(text: str) -> None:
    small = ScriptedModel([SPOKEN])
    _, done = await answer(OfflineModel(prose=small), request(text))
    assert [call.name for call in done.calls] == ["read_diagnostics"]
    assert small.requests == []


@pytest.mark.parametrize("text", ["Tell me of rivers", "<file>\nerrors.typ\n</file>\nHello"])
async def test_the_rest_is_handed_over_and_said_to_be(text: str) -> None:
    small = ScriptedModel([SPOKEN])
    said, done = await answer(OfflineModel(prose=small), request(text))
    assert said.startswith("The small model on this machine answers.")
    assert said.endswith("Rivers run.")
    assert done.calls == ()


async def test_an_answer_for_the_document_has_no_note_in_it() -> None:
    small = ScriptedModel([SPOKEN])
    said, _ = await answer(OfflineModel(prose=small), request("Rephrase: x", tools=()))
    assert said == "Rivers run."


async def test_without_a_small_model_prose_is_refused_and_not_faked() -> None:
    with pytest.raises(ModelError, match="choose a language model"):
        await answer(OfflineModel(), request("Rephrase: x", tools=()))


async def test_the_rules_notes_are_not_told_to_the_small_model() -> None:
    small = ScriptedModel([SPOKEN, SPOKEN])
    model = OfflineModel(prose=small)
    first, _ = await answer(model, request("Tell me of rivers"))
    report, _ = await answer(model, request("Fix the errors"))
    said = (AssistantMessage(text=first), "Fix the errors", AssistantMessage(text=report))
    await answer(model, request("Tell me of rivers", *said, "And lakes?"))
    told = [message.text for message in small.requests[1].messages]
    assert told == ["Tell me of rivers", "Rivers run.", "Fix the errors", "And lakes?"]


def test_the_small_model_gets_words_only() -> None:
    call = ToolCall(id="1", name="read_diagnostics", arguments="{}")
    asked = request(
        "<file>\na.typ\n</file>\n<selection>\na.typ:3-4\nTwo lines\n</selection>\nShorter",
        AssistantMessage(text="I look.", calls=(call,)),
        ToolMessage(call_id="1", name="read_diagnostics", text="no errors"),
        AssistantMessage(text="", calls=(call,)),
    )
    told = in_words(asked)
    assert told.tools == ()
    assert "Long prompt" not in told.system
    assert told.messages == (
        UserMessage(text="<selection>\nTwo lines\n</selection>\nShorter"),
        AssistantMessage(text="I look."),
    )


def test_a_prompt_made_for_words_reaches_the_small_model_as_it_is() -> None:
    assert in_words(request("Rephrase: x", tools=())).system == "Long prompt."
