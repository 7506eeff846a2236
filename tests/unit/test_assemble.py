"""From events to deltas and calls: every dialect of tool calls, errors, ends and caps."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest

from typstai.agent.providers import assemble, calls
from typstai.agent.providers.assemble import AnswerAssembler
from typstai.agent.providers.base import Done, ReasoningDelta, StreamEvent, TextDelta
from typstai.agent.providers.base import ToolCallStarted as Started
from typstai.agent.providers.sse import Event
from typstai.errors import StreamError

Call = tuple[str, str, str]
"""Id, name, arguments."""


def assembler() -> AnswerAssembler:
    numbers = count(1)
    return AnswerAssembler(input_bytes=400, new_id=lambda: f"new{next(numbers)}")


def events(*payloads: Any, orderly: bool = True) -> list[StreamEvent]:
    """What these payloads (JSON values, or bytes as they are) come to."""
    answer = assembler()
    found: list[StreamEvent] = []
    for payload in payloads:
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        found.extend(answer.add(Event("", data)))
    return [*found, *answer.end(None if orderly else StreamError("cut off"))]


def done(*payloads: Any, orderly: bool = True) -> Done:
    last = events(*payloads, orderly=orderly)[-1]
    assert isinstance(last, Done)
    return last


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def piece(arguments: Any = None, *, name: str | None = None, **rest: Any) -> dict[str, Any]:
    return {**rest, "function": {"name": name, "arguments": arguments}}


def called(*chunks: list[dict[str, Any]], finish: str | None = "tool_calls") -> list[Call]:
    """The calls that come of chunks with these lists of pieces."""
    payloads = [chunk(tool_calls=pieces) for pieces in chunks]
    answer = done(*payloads, chunk(finish))
    return [(call.id, call.name, call.arguments) for call in answer.calls]


# --- tool calls ---------------------------------------------------------------------------------

A, B = '{"a":1}', '{"b":2}'

DIALECTS: dict[str, list[list[dict[str, Any]]]] = {
    "by index": [
        [piece("", index=0, id="x", name="f")],
        [piece('{"a"', index=0)],
        [piece(":1}", index=0)],
        [piece("", index=1, id="y", name="g")],
        [piece(B, index=1)],
    ],
    "by index, interleaved": [
        [piece("", index=0, id="x", name="f"), piece("", index=1, id="y", name="g")],
        [piece('{"a"', index=0), piece('{"b"', index=1)],
        [piece(":2}", index=1)],
        [piece(":1}", index=0)],
    ],
    "all indexes zero": [
        [piece('{"a"', index=0, id="x", name="f")],
        [piece(":1}", index=0)],
        [piece('{"b"', index=0, id="y", name="g")],
        [piece(":2}", index=0)],
    ],
    "no index": [
        [piece('{"a"', id="x", name="f")],
        [piece(":1}")],
        [piece(B, id="y", name="g")],
    ],
    "whole calls in one chunk": [
        [piece(A, id="x", name="f"), piece(B, id="y", name="g")],
    ],
    "one whole call for each chunk": [
        [piece(A, index=0, id="x", name="f")],
        [piece(B, index=0, id="y", name="g")],
    ],
    "id and name repeated in each piece": [
        [piece("", index=0, id="x", name="f")],
        [piece('{"a"', index=0, id="x", name="f")],
        [piece(":1}", index=0, id="x", name="f")],
        [piece("", index=0, id="x", name="f")],
        [piece(B, index=1, id="y", name="g")],
    ],
    "id repeated, no index, interleaved": [
        [piece("", id="x", name="f"), piece("", id="y", name="g")],
        [piece('{"a"', id="x"), piece('{"b"', id="y")],
        [piece(":1}", id="x"), piece(":2}", id="y")],
    ],
    "arguments as objects": [
        [piece({"a": 1}, index=0, id="x", name="f"), piece({"b": 2}, index=1, id="y", name="g")],
    ],
    "an empty object before the text": [
        [piece({}, index=0, id="x", name="f")],
        [piece(A, index=0)],
        [piece({}, index=1, id="y", name="g")],
        [piece(B, index=1)],
    ],
    "the id after the name": [
        [piece("", index=0, name="f")],
        [piece(A, index=0, id="x")],
        [piece("", index=1, name="g")],
        [piece(B, index=1, id="y")],
    ],
    "empty ids and names in later pieces": [
        [piece("", index=0, id="x", name="f")],
        [piece(A, index=0, id="", name="")],
        [piece("", index=1, id="y", name="g")],
        [piece(B, index=1, id="", name="")],
    ],
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_two_calls_are_two_calls_in_every_dialect(dialect: str) -> None:
    assert called(*DIALECTS[dialect]) == [("x", "f", A), ("y", "g", B)]


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "function_call", "", None])
def test_calls_count_whatever_the_finish_reason_says(finish: str | None) -> None:
    assert called(*DIALECTS["by index"], finish=finish) == [("x", "f", A), ("y", "g", B)]


@pytest.mark.parametrize("index", [0, None])
def test_calls_without_any_id_get_ids_of_their_own(index: int | None) -> None:
    whole = [[piece(A, index=index, name="f")], [piece(B, index=index, name="f")]]
    assert called(*whole) == [("new1", "f", A), ("new2", "f", B)]
    assert called([pieces[0] for pieces in whole]) == [("new1", "f", A), ("new2", "f", B)]


def test_two_calls_without_arguments_or_ids_in_one_chunk_are_two() -> None:
    assert called([piece("", name="f"), piece("", name="f")]) == [
        ("new1", "f", "{}"),
        ("new2", "f", "{}"),
    ]


@pytest.mark.parametrize("nothing", ["", None, {}, " "])
def test_missing_arguments_are_an_empty_object(nothing: Any) -> None:
    assert called([piece(nothing, index=0, id="x", name="f")]) == [("x", "f", "{}")]


def test_a_random_id_is_nine_letters_and_digits() -> None:
    made = assemble.random_id()
    assert len(made) == 9 and made.isalnum() and made != assemble.random_id()


@pytest.mark.parametrize(
    "pieces",
    [
        [[piece(A, index=0, id="x", name="f")], [piece(B, index=1, id="x", name="g")]],
        [[piece(A, index=0, id="x", name="f")], [piece(B, index=0, id="x", name="f")]],
        [[piece(A, id="x", name="f"), piece(B, id="x", name="f")]],
        [[piece("", id="x", name="f"), piece("", id="x", name="g")]],
    ],
)
def test_two_calls_with_one_id_are_an_error(pieces: list[list[dict[str, Any]]]) -> None:
    with pytest.raises(StreamError, match="same id"):
        called(*pieces)


def test_arguments_that_belong_to_no_call_are_an_error() -> None:
    with pytest.raises(StreamError, match="belong to no call"):
        called([piece(A, index=0)])


def test_a_call_without_a_name_is_an_error() -> None:
    with pytest.raises(StreamError, match="without a name"):
        called([piece(A, index=0, id="x")])


def test_arguments_with_trailing_text_are_left_for_dispatch_to_refuse() -> None:
    assert called([piece(A + " done", id="x", name="f")]) == [("x", "f", A + " done")]


def test_the_name_of_a_call_is_told_once_before_its_arguments_are_there() -> None:
    found = events(*(chunk(tool_calls=p) for p in DIALECTS["by index"]), chunk("tool_calls"))
    assert found[:2] == [Started(name="f"), Started(name="g")]
    assert len(found) == 3


# --- ends ---------------------------------------------------------------------------------------

OPEN = chunk(tool_calls=[piece('{"a"', index=0, id="x", name="f")])
WHOLE = chunk(tool_calls=[piece(A, index=0, id="x", name="f")])
NAMED = chunk(tool_calls=[piece("", index=0, id="x", name="f")])
TEXT = chunk(content="Hello")


def test_an_answer_may_end_without_finish_reason_and_done_marker() -> None:
    assert done(TEXT).finish == "stop"
    assert len(done(WHOLE).calls) == 1


@pytest.mark.parametrize("payloads", [[TEXT], [WHOLE], []])
def test_a_broken_connection_without_a_sign_of_the_end_is_an_error(payloads: list[Any]) -> None:
    with pytest.raises(StreamError, match="cut off"):
        events(*payloads, orderly=False)


@pytest.mark.parametrize("sign", [chunk("stop"), b"[DONE]"])
def test_a_broken_connection_after_a_sign_of_the_end_does_no_harm(sign: Any) -> None:
    assert events(TEXT, sign, orderly=False)[0] == TextDelta(text="Hello")


@pytest.mark.parametrize("payloads", [[{"choices": []}], [b"[DONE]"], [{"content": "native"}]])
def test_a_stream_without_a_single_choice_is_no_answer(payloads: list[Any]) -> None:
    with pytest.raises(StreamError, match="nothing came that is an answer"):
        events(*payloads)


@pytest.mark.parametrize("payloads", [[OPEN], [NAMED], [OPEN, b"[DONE]"], [WHOLE, b"[DONE"]])
def test_a_stream_that_ends_inside_arguments_runs_no_tool(payloads: list[Any]) -> None:
    with pytest.raises(StreamError, match="no tool was run"):
        events(*payloads)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("length", "length"), ("max_tokens", "length"), ("content_filter", "content_filter")],
)
@pytest.mark.parametrize("payload", [OPEN, WHOLE, NAMED])
def test_an_answer_that_was_cut_runs_no_tool(payload: Any, reason: str, finish: str) -> None:
    answer = done(payload, chunk(reason))
    assert (answer.calls, answer.finish) == ((), finish)


def test_nothing_after_the_done_marker_counts() -> None:
    assert events(TEXT, b"[DONE]", {"error": {"message": "late"}}) == events(TEXT)


def test_usage_may_come_after_the_finish_reason() -> None:
    usage = done(TEXT, chunk("stop"), {"choices": [], "usage": {"prompt_tokens": 7}}).usage
    assert (usage.input_tokens, usage.output_tokens, usage.estimated) == (7, 0, False)


@pytest.mark.parametrize("odd", [{"prompt_tokens": "7"}, {"prompt_tokens": -1}, [], 3, {}, None])
def test_odd_usage_does_not_cost_the_text_beside_it(odd: Any) -> None:
    answer = events({**TEXT, "usage": odd})
    assert answer[0] == TextDelta(text="Hello")
    assert isinstance(answer[1], Done) and answer[1].usage.estimated


def test_a_count_of_tokens_that_no_number_of_lua_can_hold_is_cut() -> None:
    usage = done(TEXT, {"choices": [], "usage": {"prompt_tokens": 10**30}}).usage
    assert usage.input_tokens <= 2**53


def test_usage_that_never_comes_is_estimated_and_marked() -> None:
    usage = done(TEXT, {"choices": [], "usage": None}).usage
    assert (usage.input_tokens, usage.output_tokens, usage.estimated) == (100, 2, True)


def test_other_choices_than_the_first_are_ignored() -> None:
    second = {"choices": [{"index": 1, "delta": {"content": "No"}}]}
    assert events(TEXT, second)[:-1] == [TextDelta(text="Hello")]


# --- text, reasoning, errors --------------------------------------------------------------------


@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "why"},
        {"reasoning": "why"},
        {"reasoning": {"content": "why"}},
        {"thinking": "why"},
        {"content": "<think>why</think>"},
        {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "why"}]}]},
    ],
)
def test_reasoning_is_found_in_every_field_it_comes_in(delta: dict[str, Any]) -> None:
    assert events(chunk(**delta), TEXT)[:-1] == [
        ReasoningDelta(text="why"),
        TextDelta(text="Hello"),
    ]


def test_a_refusal_is_part_of_the_answer() -> None:
    assert events(chunk(refusal="I cannot."))[0] == TextDelta(text="I cannot.")


def test_a_character_cut_into_two_escapes_is_joined() -> None:
    halves = [b'{"choices":[{"delta":{"content":"a\\ud83d"}}]}', b'{"choices":[{"delta":{"content":'
              b'"\\ude00"}}]}']  # fmt: skip
    text = "".join(event.text for event in events(*halves) if isinstance(event, TextDelta))
    assert text == "a😀"
    assert [event.text for event in events(halves[0]) if isinstance(event, TextDelta)] == [
        "a",
        "\ufffd",
    ]


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({"error": {"message": "quota used up", "code": 429}}, "quota used up"),
        ({"error": "plain words"}, "plain words"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "full"}}, "full"),
        ({"object": "error", "message": "bad model", "code": 400}, "bad model"),
        ({"detail": "Not authenticated"}, "Not authenticated"),
        ({"message": "no capacity"}, "no capacity"),
        (
            {"error": {"message": "Provider error", "metadata": {"raw": "upstream"}}},
            "Provider error (upstream)",
        ),
        ({"error": {"code": "x_1"}, "choices": []}, "x_1"),
        ({"choices": [{"error": {"message": "gone"}, "finish_reason": "error"}]}, "gone"),
        ({"error": {"message": "two\nlines\0" + "x" * 600}}, "two lines " + "x" * 489 + "…"),
    ],
)
def test_an_error_inside_the_stream_is_raised_with_its_own_message(
    payload: Any, message: str
) -> None:
    with pytest.raises(StreamError) as raised:
        events(TEXT, payload, chunk("stop"), b"[DONE]")
    assert str(raised.value) == message


def test_an_event_of_type_error_is_an_error_whatever_it_holds() -> None:
    for data in (b"overloaded", b'{"choices":[]}'):
        with pytest.raises(StreamError):
            list(assembler().add(Event("error", data)))


def test_null_errors_pings_and_blank_data_are_harmless() -> None:
    extras: list[Any] = [{"error": None, "choices": []}, {"type": "ping"}, b"", b"  "]
    assert events(TEXT, *extras) == events(TEXT)


def test_half_a_character_in_a_call_does_no_harm() -> None:
    half = b'{"choices":[{"delta":{"tool_calls":[{"id":"x\\ud800","function":{"name":"f\\udc00",'
    half += b'"arguments":{"a":"\\ud83d"}}}]}}]}'
    call = done(half).calls[0]
    assert (call.id, call.name, call.arguments) == ("x?", "f?", '{"a":"\ufffd"}')


def test_a_few_malformed_events_are_skipped_and_many_are_an_error() -> None:
    assert events(*[b"{oops"] * 16, TEXT)[0] == TextDelta(text="Hello")
    with pytest.raises(StreamError, match="more than 16 events"):
        events(*[b"{oops"] * 17, TEXT)


# --- caps ---------------------------------------------------------------------------------------


def test_the_caps_are_those_of_the_specification() -> None:
    assert (assemble.MAX_TEXT_BYTES, assemble.MAX_MALFORMED_EVENTS) == (1024 * 1024, 16)
    assert (calls.MAX_CALLS, calls.MAX_ARGUMENT_CHARACTERS) == (64, 256_000)


def test_text_over_the_cap_is_an_error() -> None:
    piece_of_text = chunk(content="ü" * 1024)
    assert len(events(*[piece_of_text] * 512)) == 513
    with pytest.raises(StreamError, match="text is longer"):
        events(*[piece_of_text] * 512, TEXT)


def test_more_calls_than_the_cap_are_an_error() -> None:
    many = [[piece(A, index=n, id=f"x{n}", name="f")] for n in range(64)]
    assert len(called(*many)) == 64
    with pytest.raises(StreamError, match="more than 64 tool calls"):
        called(*many, [piece(A, index=64, id="last", name="f")])


def test_arguments_over_the_cap_are_an_error() -> None:
    long = '{"a":"' + "x" * 127_950 + '"}'
    two = [[piece(long, index=n, id=f"x{n}", name="f")] for n in range(2)]
    assert len(called(*two)) == 2
    with pytest.raises(StreamError, match="longer than 256000 characters"):
        called(*two, [piece('{"a":"' + "x" * 100 + '"}', index=2, id="z", name="f")])
