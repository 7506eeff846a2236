"""Streams as real providers send them, cut, broken and damaged in every way."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from typstai.agent.providers.base import Done, ReasoningDelta, StreamEvent, TextDelta
from typstai.agent.providers.reader import AnswerReader
from typstai.agent.providers.text_calls import TextCallSplitter
from typstai.domain.tool import ToolCall
from typstai.errors import StreamError

LONG = os.environ.get("TYPSTAI_FUZZ") == "long"
RECORDINGS = {
    path.stem: path.read_bytes() for path in sorted((Path(__file__).parent / "streams").glob("*"))
    if path.suffix == ".sse"
}  # fmt: skip


@dataclass(frozen=True)
class Expected:
    text: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    """Id, name and arguments of each; `new1`, `new2`, … stand for ids that never came."""
    finish: str = "stop"
    tokens: tuple[int, int] | None = None
    """Input and output; None when they can only be estimated."""
    error: str = ""


EXPECTED = {
    "openai_text": Expected(text="Größe: 日本語 😀", tokens=(19, 10)),
    "openai_parallel_calls": Expected(
        calls=(
            ("call_DdmO9pD3xa9XTPNJ32zg2hcA", "read_document", '{"start_line": 1}'),
            (
                "call_ABxaB2mQHkYP6c0hQ4hv1u3i",
                "search_replace",
                '{"search":"a\\\\b","replace":"ü\\n"}',
            ),
        ),
        tokens=(102, 44),
    ),
    "azure": Expected(text="Use #set", tokens=(30, 4)),
    "mistral_calls": Expected(
        calls=(
            ("D681PevKs", "read_document", '{"start_line": 1}'),
            ("9qZ1mT0xA", "list_issues", "{}"),
        ),
        tokens=(94, 27),
    ),
    "mistral_thinking": Expected(text="Four.", reasoning="Let me think.", tokens=(11, 9)),
    "deepseek_reasoner": Expected(text="9.8", reasoning="9.11 is smaller.", tokens=(18, 25)),
    "openrouter": Expected(
        text="Reading.",
        reasoning="The user wants lines.",
        calls=(("toolu_01A", "read_document", '{"max_chars": 500}'),),
        tokens=(401, 77),
    ),
    "openrouter_error": Expected(text="The first", error="Provider disconnected unexpectedly"),
    "ollama_calls": Expected(
        reasoning="I should list.",
        calls=(
            ("call_u1r4s0ym", "list_issues", "{}"),
            ("call_ykm2b9dw", "read_document", '{"start_line":3}'),
        ),
    ),
    "llamacpp_think": Expected(text="Yes.", reasoning="\nIs a < b?", tokens=(16, 11)),
    "anthropic_crlf": Expected(
        text="I will read.",
        calls=(("toolu_01XyZ", "read_document", '{"view": "final"}'),),
        tokens=(400, 40),
    ),
    "gemini_calls": Expected(
        text="Both at once.",
        calls=(
            ("new1", "read_document", '{"start_line":1,"end_line":2}'),
            ("new2", "read_document", '{"start_line":9,"end_line":12}'),
        ),
        tokens=(60, 32),
    ),
    "groq_calls": Expected(
        calls=(
            ("c2bt1b0b8", "search_replace", '{"search":"teh","replace":"the"}'),
            ("c9xk2m4q7", "read_diagnostics", "{}"),
        ),
        tokens=(240, 31),
    ),
    "vllm_repeated_ids": Expected(
        calls=(
            (
                "chatcmpl-tool-aa",
                "patch_document",
                '{"edits": [{"search": "}", "replace": "{"}]}',
            ),
        ),
    ),
    "lmstudio_no_done": Expected(text="One line"),
    "object_arguments": Expected(
        calls=(
            (
                "a_1",
                "replace_lines",
                '{"start_line":1,"end_line":2,"new_content":"= Über"}',
            ),
            ("a_2", "read_outline", "{}"),
        ),
        tokens=(5, 6),
    ),
    "hostile_but_lawful": Expected(text="one\u2028two\u0085\x0b😀!", finish="length"),
}


@dataclass(frozen=True)
class Outcome:
    events: tuple[StreamEvent, ...]
    error: str

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        last = self.events[-1] if self.events else None
        return last.calls if isinstance(last, Done) else ()


def read(pieces: Iterable[bytes], *, orderly: bool = True) -> Outcome:
    """What a reader makes of a body that arrives in these pieces."""
    numbers = count(1)
    reader = AnswerReader(input_bytes=400, new_id=lambda: f"new{next(numbers)}")
    events: list[StreamEvent] = []
    try:
        for piece in pieces:
            events.extend(reader.feed(piece))
        events.extend(reader.end(None if orderly else StreamError("cut off")))
    except StreamError as error:
        return Outcome(tuple(events), str(error))
    return Outcome(tuple(events), "")


def joined(kind: type[TextDelta] | type[ReasoningDelta], outcome: Outcome) -> str:
    return "".join(event.text for event in outcome.events if isinstance(event, kind))


def test_every_recording_has_an_expectation() -> None:
    assert RECORDINGS.keys() == EXPECTED.keys()


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recorded_stream_is_read_as_its_provider_meant_it(name: str) -> None:
    expected, outcome = EXPECTED[name], read([RECORDINGS[name]])
    assert outcome.error == expected.error
    assert joined(TextDelta, outcome) == expected.text
    assert joined(ReasoningDelta, outcome) == expected.reasoning
    assert tuple((c.id, c.name, c.arguments) for c in outcome.calls) == expected.calls
    if expected.error:
        return
    done = outcome.events[-1]
    assert isinstance(done, Done)
    assert done.finish == expected.finish
    assert done.usage.estimated == (expected.tokens is None)
    if expected.tokens:
        assert (done.usage.input_tokens, done.usage.output_tokens) == expected.tokens


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_stream_cut_at_any_byte_gives_the_same_events(name: str) -> None:
    body = RECORDINGS[name]
    whole = read([body])
    assert read(body[at : at + 1] for at in range(len(body))) == whole
    for at in range(1, len(body)):
        assert read([body[:at], body[at:]]) == whole, at


@pytest.mark.parametrize("name", [n for n, body in RECORDINGS.items() if len(body) <= 700])
def test_a_small_stream_cut_at_two_bytes_gives_the_same_events(name: str) -> None:
    body = RECORDINGS[name]
    whole = read([body])
    pairs = list(combinations(range(1, len(body)), 2))
    for first, second in pairs if LONG else Random(1).sample(pairs, 4000):
        pieces = [body[:first], body[first:second], body[second:]]
        assert read(pieces) == whole, (first, second)


@pytest.mark.parametrize("orderly", [True, False])
@pytest.mark.parametrize("name", RECORDINGS)
def test_a_stream_that_ends_at_any_byte_runs_only_calls_that_are_whole(
    name: str, orderly: bool
) -> None:
    body, whole = RECORDINGS[name], read([RECORDINGS[name]])
    for at in range(len(body)):
        outcome = read([body[:at]], orderly=orderly)
        assert set(outcome.calls) <= set(whole.calls), at
        if not orderly and not outcome.error:
            assert outcome.calls == whole.calls, at
        assert joined(TextDelta, whole).startswith(joined(TextDelta, outcome).rstrip("\ufffd<thi/"))


@pytest.mark.parametrize("name", [name for name in RECORDINGS if EXPECTED[name].calls])
def test_a_damaged_event_inside_a_call_runs_nothing(name: str) -> None:
    """Without this, the text around a lost piece could form other valid arguments."""
    body = RECORDINGS[name]
    starts = [match.start() for match in re.finditer(rb"data: \{", body)]
    first = body.index(b'"tool_calls":[')
    for start in (start for start in starts if start > first):
        outcome = read([body[:start] + b"data: ?" + body[start + 7 :]])
        assert outcome.calls == ()
        assert outcome.error


MUTATIONS = st.lists(
    st.tuples(
        st.sampled_from(["drop", "double", "flip", "insert", "swap"]),
        st.floats(0, 1, exclude_max=True),
        st.integers(1, 200),
        st.binary(min_size=1, max_size=8),
    ),
    min_size=1,
    max_size=5,
)


def mutate(body: bytes, kind: str, place: float, size: int, extra: bytes) -> bytes:
    at = int(place * len(body))
    span = body[at : at + size]
    match kind:
        case "drop":
            return body[:at] + body[at + size :]
        case "double":
            return body[:at] + span + body[at:]
        case "flip":
            return body[:at] + bytes(byte ^ extra[0] for byte in span[:1]) + body[at + 1 :]
        case "insert":
            return body[:at] + extra + body[at:]
        case _:
            return body[at + size :] + span + body[:at]


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(sorted(RECORDINGS)), MUTATIONS, st.integers(1, 4000), st.booleans())
def test_a_damaged_stream_raises_nothing_but_a_stream_error(
    name: str, mutations: list[tuple[str, float, int, bytes]], step: int, orderly: bool
) -> None:
    body = RECORDINGS[name]
    for kind, place, size, extra in mutations:
        body = mutate(body, kind, place, size, extra)
    pieces = [body[at : at + step] for at in range(0, len(body), step)]
    outcome = read(pieces, orderly=orderly)
    ids = [call.id for call in outcome.calls]
    assert len(set(ids)) == len(ids)
    assert all(call.id and call.name and call.arguments for call in outcome.calls)
    assert outcome.error or isinstance(outcome.events[-1], Done)
    assert [type(event) for event in outcome.events].count(Done) <= 1


IN_WORDS = (
    'I look.\n<tool_call>\n{"name": "read_document", "arguments": {"start_line": 1}}\n'
    "</tool_call>\n"
    '```json\n{"name": "read_document", "arguments": {}}\n```\nThen ü:\n'
    "<<<<<<< SEARCH\nteh 日本\n=======\nthe 日本\n>>>>>>> REPLACE\n"
)
NAMES = frozenset({"read_document", "search_replace"})


def in_words(text: str, size: int) -> bytes:
    """A stream that says the text in pieces."""
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    chunks: list[Any] = [
        {"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces
    ]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    events = [b"data: " + json.dumps(chunk, ensure_ascii=False).encode() for chunk in chunks]
    return b"\n\n".join([*events, b"data: [DONE]", b""])


def calls_in_words(outcome: Outcome) -> list[tuple[str, str]]:
    """What is called in the text of an answer; nothing when it failed."""
    splitter = TextCallSplitter(NAMES, lambda: "id")
    try:
        for event in outcome.events:
            if isinstance(event, TextDelta):
                list(splitter.feed(event.text))
        done = outcome.events[-1] if outcome.events else None
        whole = isinstance(done, Done) and done.finish == "stop"
        list(splitter.finish(is_whole=whole))
    except StreamError:
        return []
    return [(call.name, call.arguments) for call in splitter.calls] if whole else []


def test_calls_in_words_that_end_at_any_byte_are_whole_or_not_run() -> None:
    body = in_words(IN_WORDS, 5)
    whole = calls_in_words(read([body]))
    assert [name for name, _ in whole] == ["read_document", "read_document", "search_replace"]
    for at in range(len(body)):
        for orderly in (True, False):
            assert all(call in whole for call in calls_in_words(read([body[:at]], orderly=orderly)))


def test_streams_damaged_at_random_raise_nothing_but_a_stream_error() -> None:
    """2,000 of them; with TYPSTAI_FUZZ=long 100,000."""
    random = Random(20_000)
    bodies = [*RECORDINGS.values(), *(in_words(IN_WORDS, size) for size in (1, 5, 1000))]
    kinds = ["drop", "double", "flip", "insert", "swap"]
    for number in range(100_000 if LONG else 2_000):
        body = random.choice(bodies)
        for _ in range(random.randint(1, 4)):
            extra = random.randbytes(random.randint(1, 8))
            body = mutate(body, random.choice(kinds), random.random(), random.randint(1, 60), extra)
        step = random.choice([1, 7, 64, 5000])
        pieces = [body[at : at + step] for at in range(0, len(body), step)]
        outcome = read(pieces, orderly=random.random() < 0.5)
        assert outcome.error or isinstance(outcome.events[-1], Done), number
        assert all(call.id and call.name and call.arguments for call in outcome.calls), number
        assert all(name and arguments for name, arguments in calls_in_words(outcome)), number


@settings(max_examples=200, deadline=None)
@given(st.lists(st.binary(max_size=60), max_size=8), st.booleans())
def test_any_bytes_at_all_raise_nothing_but_a_stream_error(
    pieces: list[bytes], orderly: bool
) -> None:
    assert read(pieces, orderly=orderly).error


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["content", "text", "type", "error", "message", "code"]), inner
        )
    ),
    max_leaves=6,
)
FUNCTIONS = st.fixed_dictionaries({}, optional={"name": JSON, "arguments": JSON})
CALLS = st.fixed_dictionaries(
    {}, optional={"id": st.sampled_from(["x", "y", 3, ""]) | JSON, "index": st.integers(0, 2),
                  "function": FUNCTIONS}
)  # fmt: skip
DELTAS = st.fixed_dictionaries(
    {},
    optional={
        "content": JSON, "reasoning": JSON, "reasoning_content": JSON, "thinking": JSON,
        "refusal": JSON, "tool_calls": st.lists(CALLS, max_size=3) | JSON,
    },
)  # fmt: skip
CHOICES = st.fixed_dictionaries(
    {}, optional={"delta": DELTAS, "message": DELTAS, "finish_reason": JSON, "error": JSON}
)
USAGES = st.fixed_dictionaries({}, optional={"prompt_tokens": JSON, "completion_tokens": JSON})
CHUNKS = st.fixed_dictionaries(
    {"choices": st.lists(CHOICES, max_size=2)}, optional={"usage": USAGES | JSON, "error": JSON}
)


@settings(max_examples=400, deadline=None)
@given(st.lists(CHUNKS | JSON, max_size=6), st.booleans(), st.booleans())
def test_fields_of_any_type_raise_nothing_but_a_stream_error(
    payloads: list[object], escaped: bool, orderly: bool
) -> None:
    events = [json.dumps(payload, ensure_ascii=escaped).encode() for payload in payloads]
    outcome = read([b"data: " + data + b"\n\n" for data in events], orderly=orderly)
    for event in outcome.events:
        repr(event).encode()  # no halves of surrogate pairs reach the editor


@pytest.mark.parametrize("field", ["content", "error", "usage", "tool_calls"])
def test_values_nested_without_end_raise_nothing_but_a_stream_error(field: str) -> None:
    for depth in (100, 900, 5000, 100_000):
        nested = "[" * depth + "]" * depth
        delta = '{"' + field + '":' + nested + "}"
        call = '{"id":"x","function":{"name":"f","arguments":' + nested + "}}"
        for inner in (delta, '{"tool_calls":[' + call + "]}"):
            read([b'data: {"choices":[{"delta":' + inner.encode() + b"}]}\n\n"])
        read([b"data: " + delta.encode() + b"\n\n"])
        read([nested.encode()])
