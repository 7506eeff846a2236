from __future__ import annotations

import pytest

from typstai.agent.providers.base import Done, Model, ModelRequest, TextDelta, Usage, UserMessage
from typstai.agent.providers.scripted import ScriptedModel
from typstai.errors import ModelError, StreamError

REQUEST = ModelRequest(system="", messages=(UserMessage(text="Hi"),))
LENGTH = Done(calls=(), finish="length", usage=Usage())


async def test_turns_are_replayed_in_order_and_end_in_done() -> None:
    scripted = ScriptedModel([[TextDelta(text="one")], [TextDelta(text="two"), LENGTH]])
    model: Model = scripted
    first = [event async for event in model.stream(REQUEST)]
    second = [event async for event in model.stream(REQUEST)]
    assert first == [TextDelta(text="one"), Done(calls=(), finish="stop", usage=Usage())]
    assert second == [TextDelta(text="two"), LENGTH]
    assert scripted.requests == [REQUEST, REQUEST]


async def test_an_error_comes_where_it_stands_in_the_turn() -> None:
    model = ScriptedModel([[TextDelta(text="half"), StreamError("broke")]])
    stream = model.stream(REQUEST)
    assert await anext(stream) == TextDelta(text="half")
    with pytest.raises(StreamError, match="broke"):
        await anext(stream)


async def test_a_request_beyond_the_script_is_an_error() -> None:
    with pytest.raises(ModelError, match="no further turn"):
        await anext(ScriptedModel([], name="mine").stream(REQUEST))
