"""Our client against servers that nobody here wrote: llmock, which breaks answers on purpose and
judges the client, fakellm, mockllm, llm-mock-api, and LiteLLM's proxy in front of the first where
it is installed.

llama.cpp's own server is asked in `test_local_model.py`. Where none is installed the tests are
skipped: `sh scripts/foreign-servers`.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from session import Session
from typstai.agent.providers.base import AssistantMessage as Assistant
from typstai.agent.providers.base import (
    Done,
    Model,
    ModelRequest,
    TextDelta,
    ToolMessage,
    Usage,
    UserMessage,
)
from typstai.agent.providers.client import HttpClients
from typstai.agent.providers.endpoint import Endpoint
from typstai.agent.providers.keys import EnvKey
from typstai.agent.providers.openai import OpenAIModel
from typstai.agent.providers.retry import Retrying
from typstai.domain.tool import ToolCall, ToolSpec
from typstai.errors import ModelError, StatusError, StreamError

BOUND_SECONDS = 60.0
SCHEMA = {
    "type": "object",
    "properties": {"start_line": {"type": "integer"}},
    "required": ["start_line"],
}
READ = ToolSpec(name="read_document", description="Read the document.", parameters=SCHEMA)
ASK = ModelRequest(system="Be brief.", messages=(UserMessage(text="Read the document."),))


def program(name: str) -> str:
    beside = Path(sys.prefix) / "foreign" / "bin"
    path = os.pathsep.join((str(beside), os.environ.get("TYPSTAI_FOREIGN", ""), os.environ["PATH"]))
    found = shutil.which(name, path=path)
    if found is None:
        pytest.skip(f"{name} is not installed: sh scripts/foreign-servers")
    return found


@asynccontextmanager
async def running(argv: Sequence[str], folder: Path, **variables: str) -> AsyncGenerator[str, None]:
    """Start a server on a port of its own choice; its origin, as it prints it."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", "PYTHONUNBUFFERED": "1", **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(BOUND_SECONDS):
            origin = await _origin(process.stdout)
            silent = asyncio.create_task(process.stdout.read())  # a full pipe would stop the server
            await _listens(origin)
        yield origin
        silent.cancel()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def _origin(output: asyncio.StreamReader) -> str:
    seen = ""
    while line := (await output.readline()).decode():
        seen += line
        found = re.search(r"(?:running|Listening) on (http://127\.0\.0\.1:\d+)", seen)
        if found:
            return found[1]
    raise AssertionError(f"the server ended\n{seen}")


async def _listens(origin: str) -> None:
    """Wait until a connection is taken: some print their origin a moment before."""
    host, port = origin.removeprefix("http://").split(":")
    while True:
        try:
            _, writer = await asyncio.open_connection(host, int(port))
        except ConnectionRefusedError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            return


@pytest.fixture
async def llmock(tmp_path: Path) -> AsyncIterator[str]:
    async with running([program("llmock"), "serve", "--port", "0"], tmp_path) as origin:
        yield origin


@pytest.fixture
async def clients() -> AsyncIterator[HttpClients]:
    made = HttpClients()
    yield made
    await made.aclose()


def model(origin: str, clients: HttpClients, **options: Any) -> OpenAIModel:
    endpoint = Endpoint(name="foreign", base_url=f"{origin}/v1", model="gpt-4o", **options)
    return OpenAIModel(endpoint, clients)


async def answer(asked: Model, request: ModelRequest) -> tuple[str, Done]:
    events = [event async for event in asked.stream(request)]
    assert isinstance(events[-1], Done)
    return "".join(event.text for event in events if isinstance(event, TextDelta)), events[-1]


async def script(origin: str, *behaviors: dict[str, Any]) -> None:
    """Tell llmock what to do with the next requests."""
    async with httpx.AsyncClient(trust_env=False) as client:
        told = await client.post(f"{origin}/_llmock/scenario", json={"behaviors": behaviors})
        told.raise_for_status()


async def findings(origin: str) -> list[str]:
    """What llmock holds against us: the codes of its findings."""
    async with httpx.AsyncClient(trust_env=False) as client:
        verdict = (await client.get(f"{origin}/_llmock/verdict")).json()
    return re.findall(r'"code": "(\w+)"', json.dumps(verdict))


def with_result(text: str, done: Done) -> ModelRequest:
    """The next request of a run: the calls and their results."""
    results = (ToolMessage(call_id=c.id, name=c.name, text="1: = Title") for c in done.calls)
    said = (*ASK.messages, Assistant(text=text, calls=done.calls), *results)
    return ModelRequest(system=ASK.system, messages=said, tools=(READ,))


# --- llmock -------------------------------------------------------------------------------------


async def test_llmock_answers_and_counts_tokens(llmock: str, clients: HttpClients) -> None:
    text, done = await answer(model(llmock, clients), ASK)
    assert text
    assert done.usage.output_tokens > 0
    assert not done.usage.estimated


async def test_llmock_calls_a_tool_and_takes_its_result(llmock: str, clients: HttpClients) -> None:
    asked = model(llmock, clients)
    text, done = await answer(asked, ModelRequest(system="", messages=ASK.messages, tools=(READ,)))
    (call,) = done.calls
    assert call.name == "read_document"
    assert isinstance(json.loads(call.arguments)["start_line"], int)
    text, done = await answer(asked, with_result(text, done))
    assert text and done.calls == ()


@pytest.mark.parametrize("prefix", ["mistral", "groq/openai", "together", "xai"])
async def test_the_dialects_of_llmock_are_understood(
    prefix: str, llmock: str, clients: HttpClients
) -> None:
    asked = model(f"{llmock}/{prefix}", clients)
    request = ModelRequest(system="", messages=ASK.messages, tools=(READ,))
    text, done = await answer(asked, request)
    assert [call.name for call in done.calls] == ["read_document"]
    text, _ = await answer(asked, with_result(text, done))
    assert text


BREAKS = {
    "disconnect": "the connection ended before the answer did",
    "stall": "fell silent before its end",
}
"""Not `truncate`: a stream that ends in order, but says neither `stop` nor `[DONE]`, counts as
whole, as there are servers that say neither.
"""


@pytest.mark.parametrize("kind", BREAKS)
async def test_a_stream_that_llmock_breaks_is_never_taken_for_whole(
    kind: str, llmock: str, clients: HttpClients
) -> None:
    await script(llmock, {"type": "stream_fault", "kind": kind, "after_chunks": 3, "times": None})
    with pytest.raises(StreamError, match=BREAKS[kind]):
        await answer(model(llmock, clients, timeout=0.5), ASK)
    assert "truncated_stream_accepted" not in await findings(llmock)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_what_llmock_refuses_for_good_is_not_asked_again(
    status: int, llmock: str, clients: HttpClients
) -> None:
    await script(llmock, {"type": "fail", "status": status, "times": None})
    with pytest.raises(StatusError) as raised:
        await answer(Retrying(model(llmock, clients)), ASK)
    assert raised.value.status == status
    assert await findings(llmock) == []


async def test_waits_that_llmock_asks_for_are_kept(llmock: str, clients: HttpClients) -> None:
    limit = {"type": "fail", "status": 429, "retry_after": 1, "times": 2}
    await script(llmock, limit, {"type": "fail", "status": 503})
    text, _ = await answer(Retrying(model(llmock, clients)), ASK)
    assert text
    assert await findings(llmock) == []


async def test_a_prompt_beyond_llmocks_window_is_told_as_that(
    tmp_path: Path, clients: HttpClients
) -> None:
    argv = [program("llmock"), "serve", "--port", "0", "--context-window", "50"]
    long = ModelRequest(system="", messages=(UserMessage(text="word " * 500),))
    async with running(argv, tmp_path) as origin:
        with pytest.raises(StatusError, match="The conversation is too long for foreign"):
            await answer(model(origin, clients), long)


async def test_random_breakage_by_llmock_ends_whole_or_told(
    tmp_path: Path, clients: HttpClients
) -> None:
    argv = [program("llmock"), "serve", "--port", "0", "--stream-stall-seconds", "1"]
    for fault in ("disconnect", "stall", "malformed"):
        argv += ["--stream-fault", f"{fault}=0.15"]
    for status in (400, 500, 529):
        argv += ["--error-rate", f"{status}=0.1"]
    async with running(argv, tmp_path) as origin:
        asked = model(origin, clients, timeout=0.3)
        outcomes = [await outcome(asked, number) for number in range(60)]
        assert "truncated_stream_accepted" not in await findings(origin)
    assert {"whole", "told"} <= set(outcomes)


async def outcome(asked: Model, number: int) -> str:
    request = ModelRequest(system="", messages=(UserMessage(text=f"Question {number}"),))
    try:
        text, _ = await answer(asked, request)
    except ModelError as error:
        assert "\n" not in str(error)
        return "told"
    return "whole" if text else "empty"


@pytest.mark.parametrize("kind", ["malformed_arguments", "unknown_tool"])
def test_the_whole_plugin_survives_tool_calls_that_llmock_breaks(
    kind: str, session: Session, tmp_path: Path
) -> None:
    server = running([program("llmock"), "serve", "--port", "0"], tmp_path)
    with asyncio.Runner() as runner:
        origin = runner.run(_entered(server))
        runner.run(script(origin, {"type": "tool_fault", "kind": kind}))
        foreign = {"name": "foreign", "base_url": f"{origin}/v1", "model": "gpt-4o"}
        session.setup(models=[foreign], mode="read")
        document = session.document("One line.\n")
        assert session.ask("Read the document.") == "complete"
        assert session.lines(document) == ["One line."]
        assert "✗" in session.chat()
        assert runner.run(findings(origin)) == []
        runner.run(_left(server))


async def _entered(server: AbstractAsyncContextManager[str]) -> str:
    return await server.__aenter__()


async def _left(server: AbstractAsyncContextManager[str]) -> None:
    await server.__aexit__(None, None, None)


# --- fakellm ------------------------------------------------------------------------------------

RULES = """\
version: 1
defaults: { fallback: deterministic_echo }
rules:
  - name: tool
    when: { messages_contain: "Read the document", turn: 1 }
    respond: { tool_calls: [{ name: read_document, arguments: { start_line: 3 } }] }
  - name: greeting
    when: { messages_contain: "hello" }
    respond: { content: "Hi there, ünïcode ✓" }
"""


async def test_fakellm_answers_and_calls_tools(tmp_path: Path, clients: HttpClients) -> None:
    (tmp_path / "fakellm.yaml").write_text(RULES, encoding="utf-8")
    async with running([program("fakellm"), "serve", "--port", "0"], tmp_path) as origin:
        asked = model(origin, clients)
        greeting = ModelRequest(system="", messages=(UserMessage(text="hello"),))
        assert (await answer(asked, greeting))[0] == "Hi there, ünïcode ✓"
        _, done = await answer(asked, ASK)
        assert [(call.name, call.arguments) for call in done.calls] == [
            ("read_document", '{"start_line": 3}')
        ]


# --- mockllm ------------------------------------------------------------------------------------


@pytest.fixture
async def mockllm(tmp_path: Path) -> AsyncIterator[str]:
    # A streamed answer is looked up once more as if it were the question.
    known = {"responses": {"hello": "Hi, ünïcode ✓", "Hi, ünïcode ✓": "Hi, ünïcode ✓"}}
    (tmp_path / "responses.yml").write_text(json.dumps(known), encoding="utf-8")
    argv = [program("mockllm"), "start", "-r", "responses.yml", "-h", "127.0.0.1", "-p", "0"]
    async with running(argv, tmp_path) as origin:
        yield origin


async def test_mockllm_answers_a_character_at_a_time(mockllm: str, clients: HttpClients) -> None:
    greeting = ModelRequest(system="", messages=(UserMessage(text="hello"),))
    text, done = await answer(model(mockllm, clients), greeting)
    assert text == "Hi, ünïcode ✓"
    assert done.usage.estimated  # it counts nothing


async def test_a_history_that_mockllm_cannot_read_is_told_and_no_answer(
    mockllm: str, clients: HttpClients
) -> None:
    call = ToolCall(id="call_1", name="read_document", arguments="{}")
    done = Done(calls=(call,), finish="stop", usage=Usage())
    with pytest.raises(StatusError, match=r"failed \(500\): Internal Server Error"):
        await answer(model(mockllm, clients), with_result("", done))


async def test_mockllm_at_a_base_url_without_v1_is_answered_with_the_right_one(
    mockllm: str, clients: HttpClients
) -> None:
    wrong = Endpoint(name="foreign", base_url=mockllm, model="gpt-4o")
    with pytest.raises(StatusError, match=f"set it to {mockllm}/v1"):
        await answer(OpenAIModel(wrong, clients), ASK)


# --- llm-mock-api -------------------------------------------------------------------------------

PROGRAM = """\
import asyncio
from llm_mock_api import MockServer, MockServerOptions
from llm_mock_api.types.reply import ErrorReply, ReplyObject, ToolCall, Usage

call = ToolCall(name="read_document", args={"start_line": 1})
server = MockServer(MockServerOptions(log_level="info", default_latency=1, default_chunk_size=3))
server.when("Read the document").reply(ReplyObject(text="I look.", tools=[call])).times(1)
server.when("Read the document").reply("Hi there, ünïcode ✓ 日本語")
server.when("Be busy").reply(ReplyObject(error=ErrorReply(429, "Slow down."))).times(1)
server.when("Be busy").reply("Here.")
server.when("Be long").reply(ReplyObject(text="Cut.", usage=Usage(4096, 1)))
server.when("Say nothing").reply(ReplyObject(text="", reasoning="Hm."))
server.fallback("Hi there, ünïcode ✓ 日本語")
asyncio.run(server.run_until_shutdown())
"""


def llm_mock_api(folder: Path) -> AbstractAsyncContextManager[str]:
    """Through its own interface: its files of rules know no errors and no counts."""
    (folder / "server.py").write_text(PROGRAM, encoding="utf-8")
    python = Path(program("llm-mock-api")).with_name("python")
    return running([str(python), "server.py"], folder)


async def test_llm_mock_api_calls_a_tool_and_takes_its_result(
    tmp_path: Path, clients: HttpClients
) -> None:
    async with llm_mock_api(tmp_path) as origin:
        asked = model(origin, clients)
        request = ModelRequest(system="", messages=ASK.messages, tools=(READ,))
        text, done = await answer(asked, request)
        assert text == "I look."
        assert [(c.name, json.loads(c.arguments)) for c in done.calls] == [
            ("read_document", {"start_line": 1})
        ]
        assert (await answer(asked, with_result(text, done)))[0] == "Hi there, ünïcode ✓ 日本語"


async def test_a_busy_llm_mock_api_is_asked_again(tmp_path: Path, clients: HttpClients) -> None:
    async with llm_mock_api(tmp_path) as origin:
        request = ModelRequest(system="", messages=(UserMessage(text="Be busy"),))
        assert (await answer(Retrying(model(origin, clients)), request))[0] == "Here."


async def test_a_request_that_llm_mock_api_says_it_cut_is_remarked(
    tmp_path: Path, clients: HttpClients
) -> None:
    async with llm_mock_api(tmp_path) as origin:
        long = ModelRequest(system="word " * 9000, messages=(UserMessage(text="Be long"),))
        _, done = await answer(model(origin, clients), long)
        assert done.remark.startswith("The server read only 4,096 of at least 9,002 tokens")


def test_an_empty_answer_of_llm_mock_api_is_no_success_in_the_chat(
    session: Session, tmp_path: Path
) -> None:
    server = llm_mock_api(tmp_path)
    with asyncio.Runner() as runner:
        origin = runner.run(_entered(server))
        foreign = {"name": "foreign", "base_url": f"{origin}/v1", "model": "gpt-4o"}
        session.setup(models=[foreign], mode="read")
        session.document("One line.\n")
        assert session.ask("Say nothing.") == "incomplete"
        assert "without an answer" in session.chat()
        assert session.ask("Read the document.") == "complete"
        assert "✓ read_document" in session.chat()
        runner.run(_left(server))


# --- LiteLLM's proxy ----------------------------------------------------------------------------


async def test_litellms_proxy_passes_answers_and_refusals_on(
    llmock: str, tmp_path: Path, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream = {"model": "openai/gpt-4o", "api_base": f"{llmock}/v1", "api_key": "none"}
    config = {"model_list": [{"model_name": "gpt-4o", "litellm_params": upstream}]}
    (tmp_path / "config.yaml").write_text(json.dumps(config), encoding="utf-8")
    monkeypatch.setenv("LITELLM_KEY", "sk-of-this-test")
    given = {"LITELLM_MASTER_KEY": "sk-of-this-test", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    argv = [program("litellm"), "--config", "config.yaml", "--host", "127.0.0.1", "--port", "0"]
    async with running(argv, tmp_path, **given) as origin:
        asked = model(origin, clients, key=EnvKey(name="LITELLM_KEY"))
        request = ModelRequest(system="", messages=ASK.messages, tools=(READ,))
        text, done = await answer(asked, request)
        assert [call.name for call in done.calls] == ["read_document"]
        assert (await answer(asked, with_result(text, done)))[0]
        await script(llmock, {"type": "fail", "status": 400, "times": None})
        with pytest.raises(StatusError, match="refused the request"):
            await answer(asked, ASK)
        with pytest.raises(StatusError):  # in its own words: an internal error, not a 401
            await answer(model(origin, clients), ASK)
