"""Each kind of bad input has a clear message, and nothing is lost."""

from typing import Any

import pytest

from endpoint import (
    DONE,
    Close,
    Endpoint,
    Head,
    answer,
    body,
    call_delta,
    delta,
    failure,
    tool_calls,
)
from session import Session

EDIT = ("search_replace", {"search": "old", "replace": "new"})


def tool_result(endpoint: Endpoint, request: int = 1) -> str:
    return endpoint.wait_requests(request + 1)[request].body["messages"][-1]["content"]


def test_without_a_typst_buffer_the_model_is_told_to_ask_for_one(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    endpoint.reply(tool_calls(("read_document", {})))
    endpoint.reply(answer("Please open a file."))
    assert session.ask("Fix it.") == "complete"
    assert tool_result(endpoint).startswith("error no_document")


def test_an_unnamed_buffer_is_read_checked_and_edited(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint, approval="auto")
    session.editor.lua("vim.bo.filetype = 'typst'")
    session.editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { '#strnog[old]' })")
    document = session.editor.nvim.api.get_current_buf().number
    endpoint.reply(tool_calls(("read_diagnostics", {}), EDIT))
    endpoint.reply(answer("Done."))
    assert session.ask("Fix it.") == "complete"
    diagnosis = endpoint.requests[1].body["messages"][-2]["content"]
    assert "unknown variable: strnog" in diagnosis
    assert session.lines(document) == ["#strnog[new]"]


@pytest.mark.parametrize("lock", ["readonly", "nomodifiable"])
def test_a_locked_buffer_is_not_touched(session: Session, endpoint: Endpoint, lock: str) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("old\n")
    session.editor.nvim.command(f"setlocal {lock}")
    endpoint.reply(tool_calls(EDIT))
    endpoint.reply(answer("It is locked."))
    assert session.ask("Change it.") == "complete"
    assert tool_result(endpoint).startswith("error not_modifiable")
    assert session.lines(document) == ["old"]


def test_an_empty_document_can_be_read_and_filled(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("")
    endpoint.reply(tool_calls(("read_document", {}), ("insert_at_cursor", {"text": "= Title"})))
    endpoint.reply(answer("Done."))
    assert session.ask("Begin.") == "complete"
    assert session.lines(document) == ["= Title"]


def test_a_document_over_the_limit_is_refused_with_the_limit(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("x" * 1_000_001 + "\n")
    endpoint.reply(tool_calls(("read_document", {})))
    endpoint.reply(answer("Too large."))
    assert session.ask("Read it.") == "complete"
    assert tool_result(endpoint).startswith("error too_large")
    assert "1,000,000" in tool_result(endpoint)


def test_a_crlf_file_keeps_its_line_ends(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("first\r\nold\r\nlast\r\n")
    endpoint.reply(tool_calls(("replace_lines", {"start_line": 2, "end_line": 2,
                                                 "new_content": "new\nnewer"})))  # fmt: skip
    endpoint.reply(answer("Done."))
    assert session.ask("Change it.") == "complete"
    session.write(document)
    written = (session.folder / "project" / "main.typ").read_bytes()
    assert written == b"first\r\nnew\r\nnewer\r\nlast\r\n"


def test_a_file_without_a_final_newline_gets_none(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("first\nold")
    session.editor.nvim.command("setlocal nofixeol")
    endpoint.reply(tool_calls(EDIT))
    endpoint.reply(answer("Done."))
    assert session.ask("Change it.") == "complete"
    session.write(document)
    assert (session.folder / "project" / "main.typ").read_bytes() == b"first\nnew"


def test_a_buffer_that_is_not_utf8_is_refused_and_kept(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="auto")
    path = session.folder / "latin.typ"
    path.write_bytes(b"caf\xe9 old\n")
    session.editor.nvim.command(f"edit ++enc=utf-8 ++bad=keep {path}")
    document = session.editor.nvim.api.get_current_buf().number
    endpoint.reply(tool_calls(EDIT))
    endpoint.reply(answer("Not UTF-8."))
    assert session.ask("Change it.") == "complete"
    assert tool_result(endpoint).startswith("error invalid_utf8")
    session.write(document)
    assert path.read_bytes() == b"caf\xe9 old\n"


def test_an_unknown_default_model_is_named_with_those_there_are(session: Session) -> None:
    session.setup(default_model="gpt-99")
    session.document("text\n")
    session.send("Hello.")
    assert session.refusal().startswith("No model is named 'gpt-99'. There are: offline")


def failed(session: Session, text: str = "Hello.") -> str:
    session.document("text\n")
    session.send(text)
    assert session.finished() == "failed"
    return session.chat()


def test_a_wrong_key_names_where_the_key_comes_from_and_never_the_key(
    session: Session, endpoint: Endpoint
) -> None:
    session.editor.lua("vim.env.TEST_KEY = 'sk-very-secret'")
    model: dict[str, Any] = {"name": "test", "base_url": endpoint.url, "model": "m"}
    session.setup(models=[{**model, "api_key": {"env": "TEST_KEY"}}])
    endpoint.reply(failure(401, "Incorrect API key provided: sk-very-secret"))
    chat = failed(session)
    assert "env TEST_KEY" in chat
    assert "sk-very-secret" not in chat + session.log() + session.editor.messages()


def test_a_refused_connection_says_what_to_start(session: Session) -> None:
    with Endpoint() as gone:
        url = gone.url
    session.setup(models=[{"name": "test", "base_url": url, "model": "m"}])
    assert "Nothing listens at" in failed(session)


def test_a_server_that_answers_html_gets_the_hint_about_the_address(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    endpoint.reply(body(b"<html><body>Welcome</body></html>", content_type="text/html"))
    assert "a web page came instead of an answer. Check base_url." in failed(session)


def test_half_a_stream_is_no_finished_answer_and_stays_on_screen(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    endpoint.reply(Head(), delta("Half of"), Close())
    chat = failed(session)
    assert "Half of" in chat


def test_a_call_that_is_cut_in_its_arguments_is_not_run(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("old\n")
    begun = call_delta(0, '{"search": "old", "repl', id="c1", name="search_replace")
    endpoint.reply(begun, DONE)
    endpoint.reply(answer("Again."))
    session.send("Change it.")
    assert session.finished() in ("failed", "incomplete")
    assert session.lines(document) == ["old"]
    assert session.ask("Once more.") == "complete"


@pytest.mark.parametrize("value", [True, ""])
def test_a_key_that_is_no_key_is_left_out_and_told(session: Session, value: bool | str) -> None:
    session.editor.lua("_G.told = {} vim.notify = function(text) table.insert(_G.told, text) end")
    session.setup(keymaps={"chat": {"send": value}})
    session.editor.wait_for("#_G.told > 0")
    told = session.editor.lua("return _G.told")
    assert told == ["keymaps.chat.send must be a key, or false for none."]
    send = session.editor.lua("return require('typstai.config').get().keymaps.chat.send")
    assert send == "<CR>"


def test_wrong_values_inside_lists_are_told_when_the_host_has_read_them(session: Session) -> None:
    session.editor.lua("_G.told = {} vim.notify = function(text) table.insert(_G.told, text) end")
    session.setup(models=[{"name": "m", "base_url": 3}], tools={"disable": ["nosuch"]})
    session.document("text\n")
    session.editor.lua("require('typstai').chat.open()")
    session.editor.wait_for("#_G.told > 0")
    (told,) = session.editor.lua("return _G.told")
    assert told.startswith("models[1].base_url")
    session.editor.wait_for("#require('typstai').chat.lines() > 0")
    session.editor.nvim.command("checkhealth typstai")
    assert "there is no tool nosuch" in "\n".join(session.lines(0))


def test_unknown_options_are_told_once_and_the_rest_works(session: Session) -> None:
    session.editor.lua("_G.told = {} vim.notify = function(text) table.insert(_G.told, text) end")
    session.setup(aproval="auto", mode="all", ui={"ascii": True})
    session.editor.wait_for("#_G.told > 0")
    told = session.editor.lua("return _G.told")
    assert told == ["There is no option aproval. 1 more: :checkhealth typstai."]
    assert session.editor.lua("return require('typstai.config').get().ui.ascii") is True
