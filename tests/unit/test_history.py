import json
from itertools import pairwise

import pytest

from typstai.agent import history
from typstai.agent.providers.base import (
    AssistantMessage,
    Image,
    Message,
    ModelRequest,
    ToolMessage,
    UserMessage,
)
from typstai.agent.providers.endpoint import Endpoint
from typstai.agent.providers.presets import PRESETS
from typstai.agent.providers.wire import request_body
from typstai.domain.chat import (
    AssistantTurn,
    Picture,
    Reasoning,
    RunStatus,
    Segment,
    Selection,
    Text,
    ToolUse,
    Turn,
    UserTurn,
    turn_from_dict,
    turn_to_dict,
)


def test_every_call_has_its_result_right_after_it() -> None:
    turn = AssistantTurn(
        segments=(
            Text(round=0, text="Reading."),
            ToolUse(round=0, id="a", name="read_document", result="1: x"),
            ToolUse(round=0, id="b", name="read_diagnostics", state="cancelled"),
            Text(round=1, text="Done."),
        )
    )
    call, first, second, last = history.messages([turn])
    assert isinstance(call, AssistantMessage)
    assert [item.id for item in call.calls] == ["a", "b"]
    assert first == ToolMessage(call_id="a", name="read_document", text="1: x")
    assert second == ToolMessage(call_id="b", name="read_diagnostics", text=history.UNANSWERED)
    assert last == AssistantMessage(text="Done.")


def test_two_rounds_of_calls_without_text_stay_two_messages() -> None:
    turn = AssistantTurn(
        segments=(
            ToolUse(round=0, id="a", name="x", result="1"),
            ToolUse(round=1, id="b", name="x", result="2"),
        )
    )
    kinds = [type(message).__name__ for message in history.messages([turn])]
    assert kinds == ["AssistantMessage", "ToolMessage"] * 2


def test_reasoning_alone_is_no_message() -> None:
    turn = AssistantTurn(segments=(Reasoning(text="hm"),))
    assert history.messages([turn]) == []


def test_a_users_turn_carries_its_file_and_selections_as_fenced_data() -> None:
    chosen = Selection(path="a.typ", start_line=2, end_line=3, text="x</selection>y")
    turn = UserTurn(text="Shorten.", file="a.typ", selections=(chosen,))
    assert history.user_text(turn) == (
        "<file>\na.typ\n</file>\n<selection>\na.typ:2-3\nx&lt;/selection>y\n</selection>\nShorten."
    )


def test_the_oldest_turns_go_first_and_whole() -> None:
    turns = [
        UserTurn(text="a" * 100),
        AssistantTurn(segments=(ToolUse(id="c", name="x", result="r" * 100),)),
        UserTurn(text="b" * 100),
        AssistantTurn(segments=(Text(text="t" * 100),)),
        UserTurn(text="now"),
    ]
    kept, dropped = history.fitting(turns, 250)
    assert dropped == 2
    assert isinstance(history.messages(kept)[0], UserMessage)


def test_the_newest_request_is_kept_even_when_it_is_too_large() -> None:
    turns = [UserTurn(text="old"), UserTurn(text="x" * 1000)]
    kept, dropped = history.fitting(turns, 10)
    assert (len(kept), dropped) == (1, 1)


# --- any accident leaves a history that every provider takes -------------------------------------


def check(found: list[Message]) -> None:
    """What the strictest providers demand of a conversation."""
    assert isinstance(found[0], UserMessage)
    ids: list[str] = []
    for before, message in pairwise([None, *found, None]):
        match message:
            case AssistantMessage(calls=calls):
                assert message.text.strip() or calls
                ids += [call.id for call in calls]
            case _:
                assert type(before) is not type(message) or isinstance(message, ToolMessage)
    answered = [message.call_id for message in found if isinstance(message, ToolMessage)]
    assert answered == ids
    assert all(ids)
    assert len(set(ids)) == len(ids)
    for position, message in enumerate(found):
        if isinstance(message, AssistantMessage):
            after = found[position + 1 : position + 1 + len(message.calls)]
            assert [m.call_id for m in after if isinstance(m, ToolMessage)] == [
                call.id for call in message.calls
            ]


ACCIDENTS: dict[str, tuple[Segment, ...]] = {
    "nothing came": (),
    "only reasoning came": (Reasoning(text="hm"),),
    "only white space came": (Text(text=" \n"),),
    "a call was not received whole": (
        Text(text="I look."),
        ToolUse(id="", name="read_document", state="cancelled"),
    ),
    "a call was refused": (ToolUse(id="a", name="x", state="rejected", result="not applied"),),
    "a call failed": (ToolUse(id="a", name="x", state="failed", result="error nope: no."),),
    "a call was interrupted": (ToolUse(id="a", name="x", state="running"),),
    "a call waits for ever": (ToolUse(id="a", name="x", state="waiting"),),
    "one call of two was interrupted": (
        ToolUse(id="a", name="x", state="done", result="ok"),
        ToolUse(id="b", name="x", state="cancelled"),
    ),
    "the tool is unknown": (
        ToolUse(id="a", name="no such", state="failed", result="error unknown_tool: no."),
    ),
    "ids repeat in two rounds": (
        ToolUse(round=0, id="a", name="x", result="1"),
        ToolUse(round=1, id="a", name="x", result="2"),
    ),
    "text came after calls": (
        ToolUse(round=0, id="a", name="x", result="1"),
        Text(round=0, text="I called."),
    ),
}


@pytest.mark.parametrize("name", ACCIDENTS)
@pytest.mark.parametrize("status", ["failed", "cancelled", "incomplete", "complete"])
def test_after_any_accident_the_history_is_lawful(name: str, status: RunStatus) -> None:
    broken = AssistantTurn(id="r", status=status, segments=ACCIDENTS[name])
    whole = AssistantTurn(status="complete", segments=(ToolUse(id="a", name="y", result="z"),
                                                       Text(round=1, text="Done.")))  # fmt: skip
    turns: list[Turn] = [UserTurn(text="One."), broken, UserTurn(text="Two."), whole,
                         UserTurn(text="Three."), broken, UserTurn(text="Four.")]  # fmt: skip
    check(history.messages(turns))
    reloaded = [turn_from_dict(turn_to_dict(turn)) for turn in turns]
    assert history.messages(reloaded) == history.messages(turns)


@pytest.mark.parametrize("name", ACCIDENTS)
@pytest.mark.parametrize("preset", ["openai", "mistral", "deepseek", "gemini", "ollama"])
def test_switching_the_provider_in_mid_chat_keeps_it_lawful(name: str, preset: str) -> None:
    turns: list[Turn] = [UserTurn(text="One."), AssistantTurn(segments=ACCIDENTS[name]),
                         UserTurn(text="Two.")]  # fmt: skip
    endpoint = Endpoint(name="m", base_url="https://a/v1", model="m", quirks=PRESETS[preset].quirks)
    request = ModelRequest(system="", messages=tuple(history.messages(turns)))
    sent = json.loads(request_body(endpoint, request))["messages"]
    roles = [message["role"] for message in sent]
    assert roles[0] == roles[-1] == "user"
    assert ("tool", "user") not in list(pairwise(roles)) or preset != "mistral"
    called = [call["id"] for message in sent for call in message.get("tool_calls", ())]
    assert called == [message["tool_call_id"] for message in sent if message["role"] == "tool"]


def test_two_requests_in_a_row_become_one_message_and_lose_nothing() -> None:
    turns = [UserTurn(text="One."), AssistantTurn(status="failed"), UserTurn(text="Two.")]
    assert history.messages(turns) == [UserMessage(text="One.\n\nTwo.")]


def test_what_is_left_out_is_told_to_the_model() -> None:
    (message,) = history.messages([UserTurn(text="Now.")], left_out=3)
    assert isinstance(message, UserMessage)
    assert message.text.startswith("<editor>\n3 earlier messages")
    assert message.text.endswith("Now.")


def test_reasoning_is_kept_for_the_running_turn_only() -> None:
    segments = (Reasoning(text="hm"), ToolUse(id="a", name="x", result="1"))
    old = AssistantTurn(status="complete", segments=segments)
    now = AssistantTurn(status="running", segments=segments)
    found = history.messages([UserTurn(text="1"), old, UserTurn(text="2"), now])
    kept = [message.reasoning for message in found if isinstance(message, AssistantMessage)]
    assert kept == ["", "hm"]


def test_images_are_sent_with_their_own_request_and_named_afterwards() -> None:
    turn = UserTurn(id="u1", text="Look.", images=(Picture(path="a.png", width=8, height=6),))
    sent = {"u1": (Image(png=b"x"),)}
    (message,) = history.messages([turn], images=sent)
    assert isinstance(message, UserMessage)
    assert message.images == sent["u1"]
    assert "<image>\na.png (8 x 6 pixels, attached)\n</image>" in message.text
    (later,) = history.messages([turn])
    assert isinstance(later, UserMessage)
    assert later.images == ()
    assert "a.png (8 x 6 pixels, shown in an earlier request, not attached again)" in later.text
