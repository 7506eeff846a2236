"""The key goes to its endpoint and nowhere else: every place where it could turn up is searched."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from endpoint import (
    Close,
    Endpoint,
    Head,
    Raw,
    Wait,
    answer,
    body,
    delta,
    event,
    failure,
    tool_calls,
)
from processes import descendants, environment
from session import Session

KEY = "sk-live-Zq7+x/4=9vB2"
"""Its `+`, `/` and `=` look different in a URL."""
FORMS = (KEY, quote(KEY), quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode(), KEY[6:])
PID = "return require('typstai.host').pid"
VARIABLE = "MY_TEST_API_KEY"

Source = Callable[[Session], dict[str, Any]]


def from_env(session: Session) -> dict[str, Any]:
    session.editor.lua("vim.env[select(1, ...)] = select(2, ...)", VARIABLE, KEY)
    return {"env": VARIABLE}


def from_file(session: Session) -> dict[str, Any]:
    path = session.folder / "keyfile"
    path.write_text(f"{KEY}\n", encoding="utf-8")
    return {"file": str(path)}


def from_command(session: Session) -> dict[str, Any]:
    path = session.folder / "vault"
    path.write_text(KEY, encoding="utf-8")
    return {"cmd": ["sh", "-c", f"cat {shlex.quote(str(path))}"]}


SOURCES: list[Source] = [from_env, from_file, from_command]


def use(session: Session, endpoint: Endpoint, source: Source, **options: Any) -> None:
    model = {"name": "test", "base_url": endpoint.url, "model": "m", "api_key": source(session)}
    session.setup(models=[model], log={"level": "debug"}, **options)


def leaks(text: str) -> list[str]:
    return [form for form in FORMS if form in text]


def everything_shown(session: Session) -> str:
    """The chat, its buffer, the messages, the health report and the answers of the API."""
    editor = session.editor
    shown = [session.chat(), session.refusal(), editor.messages(), session.log()]
    shown.append(editor.lua("return vim.inspect(require('typstai').status())"))
    shown.append(editor.lua("return vim.inspect(require('typstai.config').get())"))
    editor.nvim.command("checkhealth typstai")
    shown.append("\n".join(editor.lines()))
    return "\n".join(shown)


def files_with_the_key(folder: Path, *, but: tuple[str, ...] = ()) -> list[str]:
    """Names of files below a folder that hold it in any form, database and log included."""
    found = [path for path in folder.rglob("*") if path.is_file() and path.name not in but]
    return [
        path.name
        for path in found
        if any(form.encode() in path.read_bytes() for form in FORMS)
    ]  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
def test_a_whole_run_leaves_the_key_in_no_process_file_or_message(
    source: Source, session: Session, endpoint: Endpoint
) -> None:
    use(session, endpoint, source, approval="auto")
    session.document("The value is #strnog[high].\n")
    edit = ("search_replace", {"search": "#strnog", "replace": "#strong"})
    endpoint.reply(tool_calls(("read_diagnostics", {}), edit))
    endpoint.reply(delta("Half of it"), Wait("look"), answer(" and the rest."))
    session.send("Fix it.")
    endpoint.wait_reached("look")
    below = descendants(session.editor.lua(PID))
    assert any("typst" in process.command for process in below), "the compiler should run"
    endpoint.release("look")
    assert session.finished() == "complete"

    for request in endpoint.requests:
        assert request.headers["authorization"] == f"Bearer {KEY}"
        assert leaks(request.path) == [] and leaks(request.raw.decode()) == []
    everything = descendants(session.editor.nvim.funcs.getpid())
    assert [item.command for item in everything if leaks(item.command)] == []
    assert leaks(everything_shown(session)) == []
    session.editor.nvim.command("wall")
    assert files_with_the_key(session.folder, but=("keyfile", "vault")) == []


def test_the_compilers_process_inherits_no_variable_but_the_few_it_needs(
    session: Session, endpoint: Endpoint
) -> None:
    use(session, endpoint, from_env)
    session.editor.lua("vim.env.AWS_SECRET_ACCESS_KEY = 'another-secret'")
    session.document("= Hi\n")
    endpoint.reply(tool_calls(("read_diagnostics", {})))
    endpoint.reply(answer("Fine."))
    assert session.ask("Check.") == "complete"
    workers = descendants(session.editor.lua(PID))
    assert workers
    for worker in workers:
        inherited = environment(worker.pid)
        if inherited is None:
            pytest.skip("this system does not tell what a process inherited")
        assert leaks(inherited) == [] and "another-secret" not in inherited
        assert VARIABLE not in inherited


ECHO = f"Incorrect API key provided: {KEY}. Header was 'Bearer {KEY}'."
ERRORS = {
    "a refusal that repeats the key": failure(401, ECHO),
    "a bad request that repeats it": failure(400, ECHO),
    "a body that is no JSON": body(ECHO.encode(), 403, content_type="text/plain"),
    "an error inside the stream": [delta("Half"), event({"error": {"message": ECHO}})],
    "a redirect that carries it": [
        Head(302, {"location": f"https://elsewhere.example/?key={quote(KEY)}",
                   "content-length": "0"})
    ],
    "a status line that repeats it": [Raw(f"HTTP/1.1 418 {KEY}\r\n\r\n".encode()), Close()],
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_that_repeats_the_key_is_shown_and_kept_without_it(
    name: str, session: Session, endpoint: Endpoint
) -> None:
    use(session, endpoint, from_env)
    session.document("text\n")
    endpoint.reply(ERRORS[name])
    assert session.ask("Hello.") == "failed"
    assert leaks(everything_shown(session)) == []
    assert files_with_the_key(session.folder) == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_to_another_origin_nor_to_the_same(
    status: int, session: Session, endpoint: Endpoint
) -> None:
    with Endpoint() as other:
        use(session, endpoint, from_env)
        session.document("text\n")
        for origin in (other.origin, endpoint.origin):
            target = {"location": f"{origin}/v1/chat/completions", "content-length": "0"}
            endpoint.reply(Head(status, target))
            assert session.ask("Hello.") == "failed"
        assert other.connections == []
        assert len(endpoint.requests) == 2
    assert "Set base_url to the final address" in " ".join(session.chat().split())


def test_the_key_of_one_endpoint_is_not_sent_to_another(
    session: Session, endpoint: Endpoint
) -> None:
    with Endpoint() as other:
        models = [
            {"name": "mine", "base_url": endpoint.url, "model": "m", "api_key": from_env(session)},
            {"name": "theirs", "base_url": other.url, "model": "m"},
        ]
        session.setup(models=models)
        session.document("text\n")
        endpoint.reply(answer("One."))
        other.reply(answer("Two."))
        assert session.ask("Hello.") == "complete"
        session.editor.nvim.command("TypstAI model theirs")
        session.editor.wait_for("require('typstai').status().model == 'theirs'")
        assert session.ask("Hello again.") == "complete"
        (request,) = other.requests
        assert "authorization" not in request.headers
        assert leaks(request.raw.decode()) == [] and leaks(str(request.headers)) == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({"env": VARIABLE}, f"The environment variable {VARIABLE} holds no key; set it."),
        ({"file": "/no/such/key"}, "The key file /no/such/key does not exist"),
        ({"cmd": ["sh", "-c", f"echo {KEY}; exit 3"]}, "The key command sh failed with exit code"),
    ],
)
def test_a_key_that_cannot_be_had_is_told_by_its_source(
    source: dict[str, Any], said: str, session: Session, endpoint: Endpoint
) -> None:
    model = {"name": "test", "base_url": endpoint.url, "model": "m", "api_key": source}
    session.setup(models=[model])
    session.document("text\n")
    session.send("Hello.")
    if not session.refusal():
        assert session.finished() == "failed"
    assert said in f"{session.refusal()} {' '.join(session.chat().split())}"
    assert endpoint.requests == []
    assert leaks(session.chat() + session.log()) == []
