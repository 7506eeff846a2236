"""Tools in the prompt, calls in the text: for models that know no function tools."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatting import Chat
from endpoint import Close, Endpoint, answer, delta
from typstai.agent.loop import OFFER_TEXT_TOOLS
from typstai.agent.providers import retry
from typstai.agent.providers.base import (
    AssistantMessage,
    ModelRequest,
    TextDelta,
    ToolCallStarted,
    ToolMessage,
    UserMessage,
)
from typstai.agent.providers.client import HttpClients
from typstai.agent.providers.text_calls import TextCallSplitter, holds_calls
from typstai.agent.providers.text_tools import TextTools, in_text
from typstai.domain.chat import ToolUse
from typstai.domain.tool import ToolCall, ToolSpec
from typstai.errors import StreamError

NAMES = frozenset({"echo", "search_replace", "read_document"})
ECHO = '<tool_call>\n{"name": "echo", "arguments": {"a": 1}}\n</tool_call>'
EDIT = "<<<<<<< SEARCH\nteh\n=======\nthe\n>>>>>>> REPLACE\n"


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with Endpoint() as started:
        yield started


@pytest.fixture
async def clients() -> AsyncIterator[HttpClients]:
    made = HttpClients()
    yield made
    await made.aclose()


def split(
    pieces: list[str], *, is_whole: bool = True, names: frozenset[str] = NAMES
) -> tuple[str, list[tuple[str, str]], str]:
    """The text that is shown, the calls, and the error."""
    numbers = count(1)
    splitter = TextCallSplitter(names, lambda: f"c{next(numbers)}")
    shown: list[str] = []
    started: list[str] = []
    error = ""
    try:
        for piece in (*pieces, None):
            found = splitter.finish(is_whole=is_whole) if piece is None else splitter.feed(piece)
            for item in found:
                match item:
                    case TextDelta(text=text):
                        shown.append(text)
                    case ToolCallStarted(name=name):
                        started.append(name)
    except StreamError as failure:
        error = str(failure)
    calls = [(call.name, call.arguments) for call in splitter.calls]
    assert started == [name for name, _ in calls]
    return "".join(shown), calls, error


CASES: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "a tag": (f"I look.\n{ECHO}", "I look.\n", [("echo", '{"a":1}')]),
    "a tag on one line": (
        'Hm <tool_call>{"name":"echo","arguments":{}}</tool_call> done',
        "Hm  done",
        [("echo", "{}")],
    ),
    "two tags": (f"{ECHO}\n{ECHO}", "\n", [("echo", '{"a":1}')] * 2),
    "a tag that is closed by the next": (
        '<tool_call>{"name":"echo"}<tool_call>{"name":"echo"}</tool_call>',
        "",
        [("echo", "{}")] * 2,
    ),
    "a whole tag that is never closed": (
        '<tool_call>{"name":"echo","arguments":{"a":2}}\n', "", [("echo", '{"a":2}')],
    ),
    "arguments that quote the end tag": (
        '<tool_call>{"name":"echo","arguments":{"t":"</tool_call>"}}</tool_call>',
        "",
        [("echo", '{"t":"</tool_call>"}')],
    ),
    "a list in a tag": (
        '<tool_call>[{"name":"echo"},{"name":"echo","arguments":{"b":2}}]</tool_call>',
        "",
        [("echo", "{}"), ("echo", '{"b":2}')],
    ),
    "other words for the same": (
        '<tool_call>{"tool":"echo","parameters":{"a":1}}</tool_call>'
        '<tool_call>{"type":"function","function":{"name":"echo","arguments":"{\\"a\\":1}"}}'
        "</tool_call>",
        "",
        [("echo", '{"a":1}')] * 2,
    ),
    "fenced JSON of a known tool": (
        'So:\n```json\n{"name": "echo", "arguments": {"a": 1}}\n```\nOk.',
        "So:\nOk.",
        [("echo", '{"a":1}')],
    ),
    "fenced JSON of something else": (
        'So:\n```json\n{"name": "Ada", "age": 3}\n```\n',
        'So:\n```json\n{"name": "Ada", "age": 3}\n```\n',
        [],
    ),
    "fenced JSON before an empty line": (
        '```json\n{"a": 1}\n```\n\n', '```json\n{"a": 1}\n```\n\n', [],
    ),
    "fenced Typst": ("```typst\n#let x = 1\n```\n", "```typst\n#let x = 1\n```\n", []),
    "a tag inside of fenced Typst": (
        f"```typst\n{ECHO}\n```\n", f"```typst\n{ECHO}\n```\n", [],
    ),
    "a search and replace block": (
        f"I fix it:\n{EDIT}Done.",
        "I fix it:\nDone.",
        [("search_replace", '{"search":"teh","replace":"the"}')],
    ),
    "a block that deletes": (
        "<<<<<<< SEARCH\na\nb\n=======\n>>>>>>> REPLACE",
        "",
        [("search_replace", '{"search":"a\\nb","replace":""}')],
    ),
    "a block inside of fenced Typst": (
        f"```typst\n{EDIT}```\n",
        "```typst\n```\n",
        [("search_replace", '{"search":"teh","replace":"the"}')],
    ),
    "a tag that is only spoken of": (
        "Use `<tool_call>` and `</tool_call>`.", "Use `<tool_call>` and `</tool_call>`.", [],
    ),
    "signs that begin nothing": (
        "a < b << c\n``x`` ~ y\n<<<< z\n<tool\n", "a < b << c\n``x`` ~ y\n<<<< z\n<tool\n", [],
    ),
    "JSON that is broken": (
        '<tool_call>{"name": "echo", "arguments": {a: 1}}</tool_call>',
        "",
        [("echo", '{"name": "echo", "arguments": {a: 1}}')],
    ),
    "nothing": ("", "", []),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_calls_are_taken_out_of_the_text_however_it_is_cut(name: str) -> None:
    text, shown, calls = CASES[name]
    for step in (1, 2, 3, 7, max(1, len(text))):
        pieces = [text[at : at + step] for at in range(0, len(text), step)]
        assert split(pieces) == (shown, calls, ""), step


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "echo", "argu',
        f'{ECHO}<tool_call>{{"name": "echo"',
        "<<<<<<< SEARCH\nteh\n=======\nth",
        "<<<<<<< SEARCH\nteh",
    ],
)
def test_an_answer_that_ends_inside_a_call_runs_none(text: str) -> None:
    assert split([text])[2] == "the answer broke off inside a tool call; no tool was run"


def test_an_answer_cut_by_its_length_shows_what_came() -> None:
    text = 'See <tool_call>{"name": "ec'
    assert split([text], is_whole=False) == (text, [], "")


def test_a_block_without_its_tool_is_text() -> None:
    assert split([EDIT], names=frozenset({"echo"})) == (EDIT, [], "")


def test_plain_text_is_not_held_back() -> None:
    splitter = TextCallSplitter(NAMES, lambda: "c")
    assert list(splitter.feed("Hello < wor")) == [TextDelta(text="Hello < wor")]
    assert list(splitter.feed("ld\n")) == [TextDelta(text="ld\n")]


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>{" + '"a' * 100_000,
        "<tool_call>{" + "</tool_call>" * 20_000,
        "<tool_call>" + " " * 100_000,
        "```" + "x" * 200_000,
        "```json\n" + "{\n" * 100_000,
        "<<<<<<< SEARCH\n" + "=======\n" * 20_000,
        "<" * 100_000,
    ],
)
def test_hostile_text_is_read_in_time_and_within_its_caps(text: str) -> None:
    began = time.monotonic()
    split([text[at : at + 4] for at in range(0, len(text), 4)])
    assert time.monotonic() - began < 10


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(["<tool_call>", "</tool_call>", '{"name":"echo"}', "{", "```", "```json",
                         "\n", "<<<<<<< SEARCH\n", "=======\n", ">>>>>>> REPLACE\n", "text ", "<",
                         "`", " ", "[", "]"]),
        max_size=14,
    ),
    st.integers(1, 9),
)  # fmt: skip
def test_any_mixture_reads_the_same_however_it_is_cut(parts: list[str], step: int) -> None:
    text = "".join(parts)
    whole = split([text])
    assert split([text[at : at + step] for at in range(0, len(text), step)]) == whole
    assert all(name and arguments for name, arguments in whole[1])


def test_tools_and_their_history_are_told_in_words() -> None:
    call = ToolCall(id="1", name="echo", arguments='{"a": 1}')
    request = ModelRequest(
        system="Be brief.",
        messages=(
            UserMessage(text="Go."),
            AssistantMessage(text="I look.", calls=(call, call)),
            ToolMessage(call_id="1", name="echo", text="one </tool_result>"),
            ToolMessage(call_id="1", name="echo", text="two"),
        ),
        tools=(ToolSpec(name="echo", description="Echoes.", parameters={"type": "object"}),),
    )
    told = in_text(request)
    assert told.tools == ()
    assert told.system.startswith("Be brief.")
    assert '{"name":"echo","description":"Echoes.","parameters":{"type":"object"}}' in told.system
    first, spoken, results = told.messages
    assert first == UserMessage(text="Go.")
    assert spoken == AssistantMessage(text=f"I look.\n\n{ECHO}\n\n{ECHO}")
    assert isinstance(results, UserMessage)
    assert results.text.count("<tool_result>") == 2
    assert results.text.count("</tool_result>") == 2
    assert split([spoken.text])[1] == [("echo", '{"a":1}')] * 2


class _Text(Chat):
    def __init__(self, server: Endpoint, clients: HttpClients, **fields: Any) -> None:
        super().__init__(server, clients, **fields)
        self.model = TextTools(self.model)


async def test_calls_in_the_text_run_and_their_results_go_back_in_words(
    server: Endpoint, clients: HttpClients
) -> None:
    chat = _Text(server, clients)
    server.reply(answer("I look.\n", '<tool_call>\n{"name": "ec', 'ho", "arguments": {}}\n</too',
                        "l_call>"))  # fmt: skip
    server.reply(answer("Done."))
    turn = await chat.run()
    assert turn.status == "complete"
    (use,) = [item for item in turn.segments if isinstance(item, ToolUse)]
    assert (use.name, use.state, use.result) == ("echo", "done", "the echo")
    first, second = (request.body for request in server.requests)
    assert "tools" not in first
    assert '"name":"echo"' in first["messages"][0]["content"]
    assert [message["role"] for message in second["messages"]] == [
        "system", "user", "assistant", "user",
    ]  # fmt: skip
    assert "<tool_result>\necho\nthe echo\n</tool_result>" in second["messages"][3]["content"]
    assert "tool_call" not in "".join(e["text"] for e in chat.shown("append"))


async def test_a_stream_cut_inside_a_call_in_the_text_runs_nothing(
    server: Endpoint, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry, "MAX_RETRIES", 0)
    chat = _Text(server, clients)
    server.reply(delta('<tool_call>{"name": "wait", "arguments": {}}'), Close())
    turn = await chat.run()
    assert turn.status == "failed"
    assert not chat.stage.entered.is_set()


async def test_a_damaged_call_is_refused_and_the_model_learns_why(
    server: Endpoint, clients: HttpClients
) -> None:
    chat = _Text(server, clients)
    server.reply(answer('<tool_call>{"name": "wait", "arguments": {x}}</tool_call>'))
    server.reply(answer("I see."))
    assert (await chat.run()).status == "complete"
    assert not chat.stage.entered.is_set()
    assert "error invalid_arguments" in server.requests[1].body["messages"][-1]["content"]


@pytest.mark.parametrize("said", [ECHO, '```json\n{"name": "echo", "arguments": {}}\n```'])
async def test_a_model_that_writes_calls_although_it_has_tools_is_offered_the_switch(
    said: str, server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients)
    server.reply(answer(said))
    turn = await chat.run()
    assert turn.status == "complete"
    assert turn.notes == (OFFER_TEXT_TOOLS,)
    assert ":TypstAI tools text" in OFFER_TEXT_TOOLS


async def test_an_ordinary_answer_brings_no_such_offer(
    server: Endpoint, clients: HttpClients
) -> None:
    server.reply(answer('Write `#echo` or:\n```json\n{"a": 1}\n```\n'))
    assert (await Chat(server, clients).run()).notes == ()
    assert not holds_calls("<tool_call>{", NAMES)
