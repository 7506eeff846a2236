"""A model behind a real server: answers, and every failure in one sentence."""

from __future__ import annotations

import asyncio
import gzip
import json
import traceback
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from email.utils import formatdate
from typing import Any

import pytest

from endpoint import (
    DONE,
    Close,
    Endpoint,
    Head,
    Raw,
    Reset,
    Step,
    Wait,
    answer,
    body,
    call_delta,
    chunk,
    delta,
    event,
    failure,
    finish,
    thought,
    tool_calls,
)
from typstai.agent.providers import openai
from typstai.agent.providers.base import (
    Done,
    ModelRequest,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolCallStarted,
    Usage,
    UserMessage,
)
from typstai.agent.providers.client import HttpClients
from typstai.agent.providers.endpoint import Endpoint as ModelEndpoint
from typstai.agent.providers.failures import retry_after
from typstai.agent.providers.keys import EnvKey
from typstai.agent.providers.openai import OpenAIModel
from typstai.domain.tool import ToolCall
from typstai.errors import ModelError, SettingsError, StatusError, StreamError

REQUEST = ModelRequest(system="Be brief.", messages=(UserMessage(text="Hi"),))
SECRET = "sk-live-0123456789abcdef"


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with Endpoint() as started:
        yield started


@pytest.fixture
async def clients() -> AsyncIterator[HttpClients]:
    made = HttpClients()
    yield made
    await made.aclose()


@pytest.fixture
def model(server: Endpoint, clients: HttpClients, monkeypatch: pytest.MonkeyPatch) -> OpenAIModel:
    """A model with a key, behind the server."""
    monkeypatch.setenv("MINE_API_KEY", SECRET)
    return OpenAIModel(configured(server), clients)


def configured(server: Endpoint, **options: Any) -> ModelEndpoint:
    defaults: dict[str, Any] = {
        "name": "mine",
        "base_url": server.url,
        "model": "gpt",
        "key": EnvKey(name="MINE_API_KEY"),
    }
    return ModelEndpoint(**(defaults | options))


async def events(model: OpenAIModel) -> list[StreamEvent]:
    return [event async for event in model.stream(REQUEST)]


async def text(model: OpenAIModel) -> str:
    found = await events(model)
    return "".join(event.text for event in found if isinstance(event, TextDelta))


async def failing(model: OpenAIModel) -> tuple[list[StreamEvent], ModelError]:
    """What came before the error, and the error."""
    found: list[StreamEvent] = []
    with pytest.raises(ModelError) as raised:
        async for piece in model.stream(REQUEST):
            found.append(piece)  # noqa: PERF401 - what came before the error counts
    return found, raised.value


async def sentence(model: OpenAIModel, server: Endpoint, *steps: Step) -> str:
    server.reply(*steps)
    return str((await failing(model))[1])


# --- answers ------------------------------------------------------------------------------------


async def test_an_answer_arrives_as_deltas_and_one_done(
    model: OpenAIModel, server: Endpoint
) -> None:
    server.reply(thought("Hm."), delta("Hel"), delta("lo"), finish(), DONE)
    assert await events(model) == [
        ReasoningDelta(text="Hm."),
        TextDelta(text="Hel"),
        TextDelta(text="lo"),
        Done(calls=(), finish="stop", usage=Usage(input_tokens=12, output_tokens=5)),
    ]


async def test_tool_calls_arrive_whole(model: OpenAIModel, server: Endpoint) -> None:
    server.reply(tool_calls(("read_document", {"start_line": 1})))
    started, done = await events(model)
    assert started == ToolCallStarted(name="read_document")
    assert isinstance(done, Done)
    assert done.calls == (
        ToolCall(id="call_1", name="read_document", arguments='{"start_line": 1}'),
    )


async def test_a_delta_is_there_before_the_next_is_sent(
    model: OpenAIModel, server: Endpoint
) -> None:
    server.reply(delta("Hel"), Wait("rest"), delta("lo"), finish(), DONE)
    async with aclosing(model.stream(REQUEST)) as stream:
        assert await anext(stream) == TextDelta(text="Hel")
        server.release("rest")
        assert await anext(stream) == TextDelta(text="lo")


async def test_the_request_carries_key_headers_and_body(
    server: Endpoint, clients: HttpClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE_API_KEY", SECRET)
    server.reply(answer("ok"))
    await events(OpenAIModel(configured(server, headers={"X-Title": "typstai"}), clients))
    request = server.requests[0]
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert request.headers["x-title"] == "typstai"
    assert request.headers["accept-encoding"] == "identity"
    assert request.body["messages"][-1] == {"role": "user", "content": "Hi"}


async def test_without_a_key_none_is_sent(server: Endpoint, clients: HttpClients) -> None:
    server.reply(answer("ok"))
    await events(OpenAIModel(configured(server, key=None), clients))
    assert "authorization" not in server.requests[0].headers


async def test_a_key_that_is_not_set_sends_nothing(server: Endpoint, clients: HttpClients) -> None:
    with pytest.raises(SettingsError, match="MINE_API_KEY"):
        await events(OpenAIModel(configured(server), clients))
    assert server.connections == []


@pytest.mark.parametrize("type_", ["application/json", "text/event-stream", "text/plain"])
async def test_an_answer_that_is_not_streamed_is_an_answer(
    type_: str, model: OpenAIModel, server: Endpoint
) -> None:
    message = {"role": "assistant", "content": "<think>Hm.</think>Whole."}
    whole = {"choices": [{"message": message, "finish_reason": "stop"}]}
    server.reply(body(json.dumps(whole, indent=1).encode(), content_type=type_))
    found = await events(model)
    assert found[:2] == [ReasoningDelta(text="Hm."), TextDelta(text="Whole.")]


@pytest.mark.parametrize("type_", ["application/json", "text/plain; charset=utf-8"])
async def test_a_stream_under_another_name_is_a_stream(
    type_: str, model: OpenAIModel, server: Endpoint
) -> None:
    server.reply(Head(200, {"content-type": type_}), answer("Hello"))
    assert await text(model) == "Hello"


async def test_the_end_is_not_waited_for_after_the_done_marker(
    model: OpenAIModel, server: Endpoint
) -> None:
    server.reply(answer("Hello"), Wait("never"))
    assert await text(model) == "Hello"


async def test_usage_that_never_comes_after_the_finish_reason_is_not_waited_for_long(
    model: OpenAIModel, server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai, "FINISH_SECONDS", 0.05)
    server.reply(delta("Hello"), chunk({}, "stop"), Wait("never"))
    done = (await events(model))[-1]
    assert isinstance(done, Done)
    assert done.usage.estimated


async def test_a_body_without_length_may_end_with_the_connection_once_it_is_finished(
    model: OpenAIModel, server: Endpoint
) -> None:
    old = Raw(b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + delta("Hello"))
    server.reply(old, Raw(finish()), Close())
    assert await text(model) == "Hello"
    server.reply(old, Close())
    assert "ended before the answer did" in str((await failing(model))[1])


# --- half a stream ------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [Close(), Reset()])
async def test_half_a_stream_is_an_error_and_its_text_stays(
    end: Step, model: OpenAIModel, server: Endpoint
) -> None:
    server.reply(delta("Half an "), Wait("break"), end)
    async with aclosing(model.stream(REQUEST)) as stream:
        assert await anext(stream) == TextDelta(text="Half an ")
        server.release("break")
        with pytest.raises(StreamError, match=r"mine \(http.*ended before the answer did"):
            await anext(stream)


@pytest.mark.parametrize("end", [[Close()], [Reset()], []])
async def test_a_stream_that_ends_inside_arguments_runs_no_tool(
    end: list[Step], model: OpenAIModel, server: Endpoint
) -> None:
    server.reply(call_delta(0, '{"start_line', id="call_1", name="read_document"), *end)
    found, error = await failing(model)
    assert isinstance(error, StreamError)
    assert not any(isinstance(event, Done) for event in found)


async def test_a_body_shorter_than_announced_is_half_a_stream(
    model: OpenAIModel, server: Endpoint
) -> None:
    server.reply(Head(200, {"content-length": "9999"}), delta("Half"), Close())
    assert "ended before the answer did" in str((await failing(model))[1])


async def test_an_error_in_the_stream_is_told_and_the_text_before_it_stays(
    model: OpenAIModel, server: Endpoint
) -> None:
    error = event({"error": {"message": "Quota used up", "code": 429}})
    server.reply(delta("Half") + error + finish() + DONE)
    found, raised = await failing(model)
    assert found == [TextDelta(text="Half")]
    assert str(raised) == f"mine ({server.origin}): Quota used up."


async def test_silence_in_the_answer_is_an_error(server: Endpoint, clients: HttpClients) -> None:
    server.reply(delta("Half"), Wait("never"))
    quick = OpenAIModel(configured(server, key=None, timeout=0.1), clients)
    found, raised = await failing(quick)
    assert found == [TextDelta(text="Half")]
    assert isinstance(raised, StreamError)
    assert "fell silent" in str(raised)


# --- statuses -----------------------------------------------------------------------------------


async def test_a_refused_key_is_named_by_its_source(model: OpenAIModel, server: Endpoint) -> None:
    said = await sentence(model, server, *failure(401, "Incorrect API key"))
    assert "refused the key from env MINE_API_KEY (401): Incorrect API key." in said


async def test_a_refused_key_is_read_again_next_time(
    model: OpenAIModel, server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reply(failure(401, "Expired"))
    await failing(model)
    monkeypatch.setenv("MINE_API_KEY", "sk-renewed-123456")
    server.reply(answer("ok"))
    await events(model)
    assert server.requests[1].headers["authorization"] == "Bearer sk-renewed-123456"


async def test_a_missing_key_is_asked_for(server: Endpoint, clients: HttpClients) -> None:
    keyless = OpenAIModel(configured(server, key=None), clients)
    assert "Set api_key." in await sentence(keyless, server, *failure(401, "No key"))


async def test_404_without_v1_hints_at_it(server: Endpoint, clients: HttpClients) -> None:
    bare = OpenAIModel(configured(server, key=None, base_url=server.origin), clients)
    said = await sentence(bare, server, *body(b"404 page not found", 404))
    assert said.endswith(f" The base_url probably lacks /v1: set it to {server.origin}/v1.")


WITHOUT_V1 = {
    "LM Studio": body(b'{"error": "Unexpected endpoint or method. (POST /chat/completions)"}'),
    "Ollama": body(b"404 page not found", 404),
    "a web page": body(b"<html>Hello</html>", content_type="text/html"),
    "no completion": body(b'{"status": "ok"}'),
    "another method": body(b"405 method not allowed", 405),
}


@pytest.mark.parametrize("path", ["", "/", "/api", "/api/chat", "/chat/completions"])
@pytest.mark.parametrize("reply", WITHOUT_V1.values(), ids=WITHOUT_V1)
async def test_a_base_url_without_v1_is_answered_with_the_right_one(
    reply: list[Step], path: str, server: Endpoint, clients: HttpClients
) -> None:
    wrong = configured(server, key=None, base_url=server.origin + path)
    said = await sentence(OpenAIModel(wrong, clients), server, *reply)
    assert said.endswith(f"set it to {server.origin}/v1.")
    assert said.count("/v1") == 2


@pytest.mark.parametrize("reply", WITHOUT_V1.values(), ids=WITHOUT_V1)
async def test_a_base_url_with_v1_is_not_called_one_without(
    reply: list[Step], model: OpenAIModel, server: Endpoint
) -> None:
    assert "lacks /v1" not in await sentence(model, server, *reply)


@pytest.mark.parametrize(
    "reply",
    [body(b"404 page not found", 404), WITHOUT_V1["LM Studio"]],
    ids=["Ollama", "LM Studio"],
)
async def test_a_list_that_is_not_there_is_answered_with_the_right_base_url(
    reply: list[Step], server: Endpoint, clients: HttpClients
) -> None:
    wrong = configured(server, key=None, base_url=server.origin)
    server.reply(*reply)
    with pytest.raises(ModelError) as raised:
        await OpenAIModel(wrong, clients).list_models(5)
    assert str(raised.value).endswith(f"set it to {server.origin}/v1.")


async def test_404_names_the_model_that_may_have_to_be_pulled(
    model: OpenAIModel, server: Endpoint
) -> None:
    said = await sentence(model, server, *failure(404, 'model "gpt" not found'))
    assert 'model "gpt" not found.' in said
    assert "pulled" in said


@pytest.mark.parametrize("status", [200, 502])
async def test_a_web_page_is_never_an_answer_nor_a_message(
    status: int, model: OpenAIModel, server: Endpoint
) -> None:
    page = b"\n<!DOCTYPE html><html><script>alert(1)</script></html>"
    said = await sentence(model, server, *body(page, status, content_type="text/html"))
    assert "script" not in said
    assert ("base_url" in said) if status == 200 else ("Bad Gateway" in said)


@pytest.mark.parametrize(
    "garbage", [b"", b"\n\n", b"Hello, I am no model.", b'{"models":[]}', b"1"]
)
async def test_anything_else_than_an_answer_is_an_error(
    garbage: bytes, model: OpenAIModel, server: Endpoint
) -> None:
    assert (await sentence(model, server, *body(garbage))).startswith("mine (http://")


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens.",
        "the request exceeds the available context size",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The input token count (1200000) exceeds the maximum",
    ],
)
async def test_a_conversation_that_is_too_long_is_told_as_such(
    message: str, model: OpenAIModel, server: Endpoint
) -> None:
    said = await sentence(model, server, *failure(400, message))
    assert said.startswith("The conversation is too long for mine")
    assert message.rstrip(".") in said


async def test_a_content_filter_is_told_as_such(model: OpenAIModel, server: Endpoint) -> None:
    said = await sentence(model, server, *failure(400, "triggered our content management policy"))
    assert said.startswith("The content filter of mine")
    server.reply(delta("Half"), finish("content_filter"), DONE)
    done = (await events(model))[-1]
    assert isinstance(done, Done)
    assert done.finish == "content_filter"


@pytest.mark.parametrize(
    "shape",
    [
        {"error": {"message": "bad\nwords\0"}},
        {"error": "bad words"},
        {"message": "bad words"},
        {"detail": [{"msg": "bad words", "loc": ["body"]}]},
        [{"error": {"code": 400, "message": "bad words"}}],
    ],
)
async def test_the_providers_own_message_is_told_on_one_line(
    shape: Any, model: OpenAIModel, server: Endpoint
) -> None:
    said = await sentence(model, server, *body(json.dumps(shape).encode(), 422))
    assert said == f"mine ({server.origin}) refused the request (422): bad words."


async def test_a_long_message_is_cut(model: OpenAIModel, server: Endpoint) -> None:
    assert len(await sentence(model, server, *failure(400, "x" * 100_000))) < 700


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
async def test_a_status_worth_another_try_carries_what_a_retry_needs(
    status: int, model: OpenAIModel, server: Endpoint
) -> None:
    server.reply(failure(status, "later", retry_after="7"))
    error = (await failing(model))[1]
    assert isinstance(error, StatusError)
    assert (error.status, error.retry_after) == (status, 7.0)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "30", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": formatdate(1_000_060, usegmt=True)}, 60.0),
        ({"retry-after": formatdate(999_000, usegmt=True)}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_the_time_to_wait_is_read_in_every_form(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after(headers, now=1_000_000) == seconds


# --- secrets ------------------------------------------------------------------------------------


async def test_a_redirect_is_not_followed(model: OpenAIModel, server: Endpoint) -> None:
    with Endpoint() as other:
        target = f"{other.origin}/v1/chat/completions?key={SECRET}"
        said = await sentence(model, server, *body(b"", 307, location=target))
        assert other.connections == []
    assert "redirects to http://127.0.0.1" in said
    assert SECRET not in said


@pytest.mark.parametrize(
    "steps",
    [
        failure(401, f"Incorrect API key provided: {SECRET}"),
        failure(500, f"Bearer {SECRET} and private-header-value"),
        body(f"bad header: Bearer {SECRET}".encode(), 400),
        [event({"error": {"message": f"key {SECRET} private-header-value"}})],
        [event({"error": {"message": "x", "metadata": {"raw": SECRET}}})],
    ],
)
async def test_a_secret_that_the_provider_echoes_is_in_no_error(
    steps: list[Step],
    server: Endpoint,
    clients: HttpClients,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MINE_API_KEY", SECRET)
    endpoint = configured(server, headers={"x-other": "private-header-value"})
    model = OpenAIModel(endpoint, clients)
    server.reply(steps)
    error = (await failing(model))[1]
    shown = f"{error} {error!r} {endpoint!r} {model!r}"
    assert SECRET not in shown
    assert "private-header-value" not in shown


async def test_a_failed_request_leaves_no_key_in_its_traceback(
    model: OpenAIModel, server: Endpoint
) -> None:
    server.reply(Raw(b"not http at all\r\n\r\n"), Close())
    error = (await failing(model))[1]
    assert SECRET not in "".join(traceback.format_exception(error))


# --- hostile bodies -----------------------------------------------------------------------------


async def test_a_compressed_answer_is_refused_without_unpacking_it(
    model: OpenAIModel, server: Endpoint
) -> None:
    bomb = gzip.compress(b"data: " + b"0" * 20_000_000 + b"\n\n")
    head = Head(200, {"content-encoding": "gzip", "content-length": "999999"})
    said = await sentence(model, server, head, bomb, Wait("never"))
    assert "compressed" in said
    await asyncio.to_thread(server.connections[0].wait_closed)


async def test_an_endless_error_body_is_read_to_its_bound_only(
    model: OpenAIModel, server: Endpoint
) -> None:
    server.reply(Head(500), *[b"x" * 60_000] * 2, Wait("never"))
    assert isinstance((await failing(model))[1], StatusError)


async def test_endless_keep_alives_are_an_error(model: OpenAIModel, server: Endpoint) -> None:
    said = await sentence(model, server, *[b": keep-alive" + b"." * 500_000 + b"\n\n"] * 9)
    assert "longer than 4194304 bytes" in said


async def test_an_endless_document_is_an_error(model: OpenAIModel, server: Endpoint) -> None:
    said = await sentence(model, server, b'{"choices": "', *[b"." * 500_000] * 9, Wait("never"))
    assert "longer than 4194304 bytes" in said


async def test_endless_headers_are_an_error(model: OpenAIModel, server: Endpoint) -> None:
    server.reply(Head(200, {f"x-{n}": "y" * 1000 for n in range(200)}), answer("ok"))
    assert isinstance((await failing(model))[1], ModelError)


async def test_a_hundred_megabytes_of_headers_are_an_error_at_once(
    model: OpenAIModel, server: Endpoint
) -> None:
    line = Raw(b"x-more: " + b"y" * 1_000_000 + b"\r\n")
    server.reply(Raw(b"HTTP/1.1 200 OK\r\n"), *[line] * 100)
    assert "closed the connection without an answer" in str((await failing(model))[1])
    await asyncio.to_thread(server.connections[0].wait_closed)


async def test_a_line_of_fifty_megabytes_is_an_error_at_once(
    model: OpenAIModel, server: Endpoint
) -> None:
    said = await sentence(model, server, b"data: ", *[b"x" * 1_000_000] * 50)
    assert "longer than 2097152 bytes" in said
    await asyncio.to_thread(server.connections[0].wait_closed)


@pytest.mark.parametrize("drop", [b":\n", b"d", b"data: {}\n\n"])
async def test_a_drip_that_brings_no_answer_is_silence(
    drop: bytes, server: Endpoint, clients: HttpClients
) -> None:
    """Each drop comes well within the time-out; together they would hold a run for ever."""
    quick = OpenAIModel(configured(server, key=None, timeout=0.3), clients)
    drops = [step for n in range(40) for step in (drop, Wait(f"drop{n}"))]
    server.reply(drops)

    async def drip() -> None:
        for n in range(40):
            await asyncio.to_thread(server.wait_reached, f"drop{n}")
            await asyncio.sleep(0.02)
            server.release(f"drop{n}")

    dripping = asyncio.create_task(drip())
    _, error = await failing(quick)
    dripping.cancel()
    await asyncio.wait([dripping])
    assert "fell silent" in str(error)


# --- servers that want it otherwise -------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("Extra inputs are not permitted: stream_options", "stream_options"),
        ("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"),
    ],
)
async def test_a_field_that_is_refused_by_name_is_left_out_from_then_on(
    message: str, field: str, server: Endpoint, clients: HttpClients
) -> None:
    model = OpenAIModel(configured(server, key=None, max_tokens=9), clients)
    server.reply(failure(422, message))
    server.reply(answer("Here."))
    server.reply(answer("Again."))
    assert await text(model) == "Here."
    assert await text(model) == "Again."
    assert [field in request.body for request in server.requests] == [True, False, False]


async def test_a_refusal_of_something_else_is_told_at_once(
    model: OpenAIModel, server: Endpoint
) -> None:
    await sentence(model, server, *failure(400, "messages: at least one is required"))
    assert len(server.requests) == 1
