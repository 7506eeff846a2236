"""Turns as dicts: nothing is lost on the way to the store or to Lua, and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from typstai.domain import chat
from typstai.domain.chat import AssistantTurn, Reasoning, Selection, Text, ToolUse, Turn, UserTurn
from typstai.storage import turns

texts = st.text(max_size=40)
counts = st.integers(min_value=0, max_value=9)
reasonings = st.builds(Reasoning, round=counts, text=texts)
answers = st.builds(Text, round=counts, text=texts)
calls = st.builds(
    ToolUse, round=counts, id=texts, name=texts, arguments=texts, label=texts, result=texts,
    detail=texts, state=st.sampled_from(["running", "waiting", "done", "failed", "rejected"]),
)  # fmt: skip
user_turns = st.builds(
    UserTurn, id=texts, text=texts, file=texts,
    selections=st.lists(st.builds(Selection, path=texts, text=texts), max_size=3).map(tuple),
)  # fmt: skip
assistant_turns = st.builds(
    AssistantTurn, id=texts, error=texts, status=st.sampled_from(["running", "complete", "failed"]),
    segments=st.lists(reasonings | answers | calls, max_size=5).map(tuple),
)  # fmt: skip


@given(user_turns | assistant_turns)
def test_a_turn_survives_the_way_through_json(turn: Turn) -> None:
    through_json = json.loads(json.dumps(chat.turn_to_dict(turn)))
    assert chat.turn_from_dict(through_json) == turn


@given(user_turns | assistant_turns)
def test_a_turn_survives_the_stored_form(turn: Turn) -> None:
    assert turns.decode(turns.encode(turn)) == turn


@given(reasonings | answers | calls)
def test_a_segment_survives_the_way_to_lua(segment: chat.Segment) -> None:
    assert chat.segment_from_dict(chat.segment_to_dict(segment)) == segment


def test_keys_of_a_later_version_are_ignored() -> None:
    data = {"role": "user", "text": "hi", "mood": "good", "selections": [{"path": "a", "new": 1}]}
    assert chat.turn_from_dict(data) == UserTurn(text="hi", selections=(Selection(path="a"),))


@pytest.mark.parametrize("data", [{}, {"role": "system"}, {"role": None}])
def test_a_turn_of_no_known_role_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="role"):
        chat.turn_from_dict(data)


def test_a_segment_of_no_known_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="kind"):
        chat.turn_from_dict({"role": "assistant", "segments": [{"kind": "image"}]})


@given(user_turns | assistant_turns, st.sampled_from(turns.REDUCTIONS))
def test_reducing_keeps_what_the_user_wrote_and_every_call(turn: Turn, level: int) -> None:
    reduced = turns.reduced(turn, level)
    assert turns.reduced(reduced, level) == reduced
    if isinstance(turn, UserTurn):
        assert isinstance(reduced, UserTurn) and reduced.text == turn.text
    else:
        assert isinstance(reduced, AssistantTurn)
        assert [_identity(item) for item in reduced.segments] == list(map(_identity, turn.segments))


def test_a_reduced_call_still_has_arguments_that_parse() -> None:
    call = ToolUse(id="c", arguments=json.dumps({"text": "x" * 5_000}), result="r" * 5_000)
    turn = turns.reduced(AssistantTurn(segments=(call,)), turns.SHORT_EVIDENCE)
    assert isinstance(turn, AssistantTurn)
    (kept,) = turn.segments
    assert isinstance(kept, ToolUse)
    assert json.loads(kept.arguments) == {}
    assert len(kept.result) == turns.KEPT_CHARACTERS


def _identity(segment: chat.Segment) -> tuple[str, str, str]:
    if isinstance(segment, ToolUse):
        return segment.kind, segment.id, segment.state
    return segment.kind, "", ""
