"""Servers that read less than they were sent, and models that think and say nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from chatting import Chat
from endpoint import DONE, Endpoint, Step, answer, chunk, delta, thought, tool_calls
from typstai.agent.providers.base import (
    AssistantMessage,
    ModelRequest,
    ToolMessage,
    Usage,
    UserMessage,
)
from typstai.agent.providers.client import HttpClients
from typstai.agent.providers.cut import fewest_tokens, told_cut
from typstai.agent.providers.endpoint import Endpoint as ModelEndpoint
from typstai.domain.chat import AssistantTurn, Text, Turn, UserTurn
from typstai.domain.tool import ToolCall

WINDOW = 2048


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with Endpoint() as started:
        yield started


@pytest.fixture
async def clients() -> AsyncIterator[HttpClients]:
    made = HttpClients()
    yield made
    await made.aclose()


def counted(tokens: int) -> list[Step]:
    usage = {"prompt_tokens": tokens, "completion_tokens": 3, "total_tokens": tokens + 3}
    return [delta("Here."), chunk({}, "stop", usage=usage), DONE]


def long_chat() -> list[Turn]:
    return [
        UserTurn(id="u1", text="word " * 20_000),
        AssistantTurn(id="a1", status="complete", segments=(Text(round=0, text="Yes."),)),
    ]


async def test_a_server_that_silently_cuts_the_request_is_told_of_once_in_a_chat(
    server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients, turns=long_chat())
    server.reply(counted(WINDOW))
    server.reply(counted(WINDOW))
    first, second = await chat.run("One."), await chat.run("Two.")
    assert len(first.notes) == 1
    assert "read only 2,048 of at least 20," in first.notes[0]
    assert "OLLAMA_CONTEXT_LENGTH" in first.notes[0]
    assert first.status == "complete"
    assert second.notes == ()


@pytest.mark.parametrize("tokens", [26, 20_000])
async def test_a_whole_request_or_one_that_is_partly_remembered_is_no_cut(
    tokens: int, server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients, turns=long_chat())
    server.reply(counted(tokens))
    assert (await chat.run("One.")).notes == ()


@pytest.mark.parametrize(
    "host", ["http://127.0.0.1:11434/v1", "https://llm.example.org/v1", "https://api.openai.com/v1"]
)
def test_only_servers_that_might_cut_a_request_are_suspected(host: str) -> None:
    endpoint = ModelEndpoint(name="mine", base_url=host, model="m")
    assert endpoint.may_cut is ("openai" not in host)


def test_what_we_only_estimate_ourselves_gives_nothing_away() -> None:
    request = ModelRequest(system="", messages=(UserMessage(text="w " * 50_000),))
    assert told_cut(request, Usage(input_tokens=WINDOW)) != ""
    assert told_cut(request, Usage(input_tokens=WINDOW, estimated=True)) == ""


MEASURED = {
    "English": ("We measured the time that a page takes, twice.", 11),
    "German": ("Die Messgenauigkeit wurde zweimal überprüft.", 11),
    "Typst": ("#set page(width: 10cm)\n\n= Title <sec>\n\nAs $x^2$ shows.", 22),
    "Chinese": ("我们测量了一页所需的时间，两次都得到了相同的结果。", 13),
    "Japanese": ("ページの時間を二回測定し、同じ結果を得ました。", 14),
    "Korean": ("우리는 한 페이지에 걸리는 시간을 두 번 측정했습니다.", 13),
    "runs of signs": (" " * 80 + "=" * 64 + "\n" * 9 + "-" * 80, 5),
    "nothing": ("", 0),
}
"""Texts, and the fewest tokens that OpenAI, Anthropic, DeepSeek, Qwen or Mistral make of them.

Over 8,000 pieces of Typst documents, none of the five came below the bound.
"""


@pytest.mark.parametrize(("text", "tokens"), MEASURED.values(), ids=MEASURED)
def test_no_text_is_taken_for_more_tokens_than_a_model_makes_of_it(text: str, tokens: int) -> None:
    assert fewest_tokens(text) <= tokens


def test_everything_that_was_said_counts() -> None:
    words = "word " * 1000
    call = ToolCall(id="c", name="read_document", arguments="{}")
    messages = (
        UserMessage(text=words),
        AssistantMessage(text=words, calls=(call,)),
        ToolMessage(call_id="c", name="read_document", text=words),
    )
    said = told_cut(ModelRequest(system=words, messages=messages), Usage(input_tokens=WINDOW))
    assert "of at least 4,000 tokens" in said


async def test_it_is_told_once_also_when_the_chat_has_grown_beyond_the_window(
    server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients, turns=long_chat(), context_window=40_000)
    server.reply(counted(WINDOW))
    server.reply(counted(WINDOW))
    assert len((await chat.run("One.")).notes) == 1
    (note,) = (await chat.run("word " * 10_000)).notes
    assert "not sent" in note


async def test_it_is_told_once_also_when_several_rounds_were_cut(
    server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients, turns=long_chat())
    usage = {"prompt_tokens": WINDOW}
    server.reply(tool_calls(("echo", {}))[:-2], chunk({}, "tool_calls", usage=usage), DONE)
    server.reply(counted(WINDOW))
    assert len((await chat.run("One.")).notes) == 1


async def test_a_model_that_only_thinks_does_not_count_as_having_answered(
    server: Endpoint, clients: HttpClients
) -> None:
    chat = Chat(server, clients)
    server.reply([chunk({"reasoning_content": "Hm."}), chunk({"content": ""}, "stop"), DONE])
    turn = await chat.run("One.")
    assert turn.status == "incomplete"
    assert turn.error.startswith("The model thought, but gave no answer. Ask it to go on")


async def test_an_empty_answer_is_no_success(server: Endpoint, clients: HttpClients) -> None:
    server.reply(answer(" \n"))
    turn = await Chat(server, clients).run()
    assert turn.status == "incomplete"
    assert turn.error.startswith("The model ended without an answer.")


async def test_thoughts_after_the_last_tool_call_are_no_answer_either(
    server: Endpoint, clients: HttpClients
) -> None:
    server.reply(tool_calls(("echo", {}), text="I look."))
    server.reply([thought("Now what?"), chunk({}, "stop"), DONE])
    assert (await Chat(server, clients).run()).status == "incomplete"


async def test_a_model_that_has_done_its_work_need_not_talk_about_it(
    server: Endpoint, clients: HttpClients
) -> None:
    server.reply(tool_calls(("echo", {})))
    server.reply(answer(""))
    assert (await Chat(server, clients).run()).status == "complete"
