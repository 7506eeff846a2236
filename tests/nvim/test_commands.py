""":TypstAI as it is typed: names, arguments, ranges, and where it can be called from."""

from __future__ import annotations

import pytest

from endpoint import Endpoint, Wait, answer, tool_calls
from session import Session

SINK = """
_G.told = {}
require('typstai.message').sink = function(message) table.insert(_G.told, message) end
"""
TEXT = "one\n\ntwo\n\nthree\n"
EDITS = [{"search": word, "replace": word.upper()} for word in ("one", "two", "three")]
CLOSE_IT = "Close the command-line window first: <C-c> does."


def told(session: Session, keys: str) -> list[str]:
    """What is said when these keys are typed in a document; at least one message is."""
    session.editor.lua(SINK)
    session.editor.feed(keys)
    session.editor.wait_for("#_G.told > 0")
    return session.editor.lua("return _G.told")


def host(session: Session) -> str:
    return session.editor.lua("return require('typstai').status().host")


SAYING = [
    ("foo", "There is no :TypstAI foo; <Tab> lists what there is."),
    ("acept", "There is no :TypstAI acept; did you mean accept? <Tab> completes."),
    ("snap", "There is no :TypstAI snap; did you mean snapshots? <Tab> completes."),
    ("Revetr", "There is no :TypstAI Revetr; did you mean revert? <Tab> completes."),
    ("x" * 60, f"There is no :TypstAI {'x' * 16}; <Tab> lists what there is."),
    ("accept all of it", ":TypstAI accept takes nothing after it."),
    ("chat now", ":TypstAI chat takes nothing after it."),
    ("stop it", ":TypstAI stop takes nothing after it."),
    ("rephrase nicely", ":TypstAI rephrase takes nothing after it."),
    ("mode edit twice", ":TypstAI mode takes at most 1 word."),
    ("ghost on buffer now", ":TypstAI ghost takes at most 2 words."),
    ("mode fast", "Mode is one of edit, read."),
    ("approval none", "Approval is one of review, suggest, auto."),
    ("action nosuch", "There is no action nosuch."),
    ("action rephrase nicely", "The action rephrase takes nothing after it."),
    ("add selection of mine", ":TypstAI add selection takes nothing after it."),
    ("add", "What to add? :TypstAI add selection, preview or image PATH"),
    ("stop", "Nothing is running."),
    ("accept", "No change is proposed."),
    ("reject too long", "No change is proposed."),
    ("edit", "There is no proposed change under the cursor."),
    ("diff", "No change is proposed here."),
    ("ghost", "Ghost text is off here; :TypstAI ghost on switches it on."),
]


@pytest.mark.parametrize(("line", "message"), SAYING)
def test_a_command_that_does_nothing_says_why_in_a_short_line_and_starts_no_host(
    session: Session, line: str, message: str
) -> None:
    session.document("text\n")
    assert told(session, f":TypstAI {line}<CR>") == [message]
    assert len(message) <= 68
    assert host(session) == "stopped"


@pytest.mark.parametrize("line", ["log", "remove"])
def test_looking_starts_no_host(session: Session, line: str) -> None:
    session.document("text\n")
    session.editor.nvim.command(f"TypstAI {line}")
    assert host(session) == "stopped"


def test_the_health_check_starts_no_host(session: Session) -> None:
    session.editor.nvim.command("checkhealth typstai")
    assert host(session) == "stopped"


def test_a_run_is_stopped_and_then_nothing_runs(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint)
    session.document("text\n")
    endpoint.reply(Wait("go"), answer("Never."))
    session.send("Hello.")
    endpoint.wait_reached("go")
    session.editor.lua(SINK)
    session.editor.nvim.command("TypstAI stop")
    assert session.finished() == "cancelled"
    assert told(session, ":TypstAI stop<CR>") == ["Nothing is running."]


def pending(session: Session, endpoint: Endpoint) -> int:
    """A document with three hunks pending, the cursor in it."""
    session.use(endpoint)
    document = session.document(TEXT)
    endpoint.reply(tool_calls(("patch_document", {"edits": EDITS})))
    endpoint.reply(answer("Done."))
    session.send("Louder.")
    session.proposal()
    session.show(document)
    return document


def test_with_a_range_only_the_hunks_in_it_are_accepted(
    session: Session, endpoint: Endpoint
) -> None:
    document = pending(session, endpoint)
    session.editor.feed(":1,2TypstAI accept<CR>")
    assert session.lines(document) == ["ONE", "", "two", "", "three"]
    states = [hunk["state"] for hunk in session.proposal()["hunks"]]
    assert states == ["accepted", "pending", "pending"]


def test_with_a_selection_only_the_hunks_in_it_are_rejected_with_the_reason(
    session: Session, endpoint: Endpoint
) -> None:
    document = pending(session, endpoint)
    session.editor.feed("3GVG:TypstAI reject keep them<CR>")
    states = [hunk["state"] for hunk in session.proposal()["hunks"]]
    assert states == ["pending", "rejected", "rejected"]
    session.editor.feed(":TypstAI accept<CR>")
    assert session.finished() == "complete"
    assert session.lines(document) == ["ONE", "", "two", "", "three"]
    assert "keep them" in endpoint.requests[1].body["messages"][-1]["content"]


def test_a_range_without_a_hunk_decides_nothing(session: Session, endpoint: Endpoint) -> None:
    document = pending(session, endpoint)
    assert told(session, ":2TypstAI accept<CR>") == ["No change is proposed."]
    assert session.lines(document) == TEXT.splitlines()


@pytest.mark.parametrize("line", ["", "new", "accept", "edit", "diff", "rephrase", "log", "add"])
def test_from_the_command_line_window_a_command_says_to_close_it(
    session: Session, line: str
) -> None:
    session.document("text\n")
    assert told(session, f"q::TypstAI {line}<CR>") == [CLOSE_IT]
    assert session.editor.nvim.funcs.getcmdwintype() == ":"
    session.editor.feed("<C-c><C-c>")


def test_a_run_can_be_stopped_from_the_command_line_window(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("text\n")
    endpoint.reply(Wait("go"), answer("Never."))
    session.send("Hello.")
    endpoint.wait_reached("go")
    session.editor.feed("<Esc>q::TypstAI stop<CR>")
    assert session.finished() == "cancelled"
    session.editor.feed("<C-c><C-c>")


OPENING = ["chat.open()", "chat.close()", "chat.toggle()", "chat.new()", "send('Hello.')"]


@pytest.mark.parametrize("call", OPENING)
def test_a_function_that_opens_a_window_answers_with_an_error_there(
    session: Session, call: str
) -> None:
    session.document("text\n")
    session.editor.feed("q:")
    source = f"local done, err = require('typstai').{call} return {{ done or vim.NIL, err }}"
    got = session.editor.lua(source)
    assert got[0] is None
    assert (got[1]["code"], got[1]["message"]) == ("cmdwin", CLOSE_IT)
    assert host(session) == "stopped"
    session.editor.feed("<C-c><C-c>")


def test_an_answer_arrives_while_the_command_line_window_is_open(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("one\n")
    session.editor.nvim.command("TypstAI")
    endpoint.reply(Wait("go"), tool_calls(("search_replace", {"search": "one", "replace": "1"})))
    endpoint.reply(answer("It is done."))
    session.send("Numbers.")
    endpoint.wait_reached("go")
    session.show(document)
    session.editor.feed("<Esc>q:")
    endpoint.release("go")
    assert session.finished() == "complete"
    assert session.lines(document) == ["1"]
    assert "It is done." in session.chat()
    assert "E11" not in session.editor.messages()
    session.editor.feed("<C-c><C-c>")


def test_a_chat_that_arrives_while_the_command_line_window_is_open_is_shown(
    session: Session,
) -> None:
    session.document("one\n")
    session.editor.feed(":TypstAI<CR><Esc><C-w>pq:")
    session.editor.seen("TypstAIHostStarted")
    session.editor.wait_for("#require('typstai').chat.lines() > 0")
    assert session.editor.nvim.funcs.getcmdwintype() == ":"
    assert "Error" not in session.editor.messages()
    session.editor.feed("<C-c><C-c>")


def test_another_chat_than_expected_waits_for_the_command_line_window_to_close(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    for folder in ("project", "project/inner"):
        (session.folder / folder / ".git").mkdir(parents=True)
    session.document("outer\n")
    endpoint.reply(answer("Of the outer one."))
    assert session.ask("Which?") == "complete"
    session.document("inner\n", "inner/main.typ")
    session.editor.feed("<Esc>:TypstAI<CR><Esc>:<C-f>")
    session.editor.feed(":quit<CR>")
    session.editor.wait_for("vim.api.nvim_buf_get_name(0) == 'typstai://inner/1'")
    assert "E11" not in session.editor.messages()


COMPLETING = [
    ("TypstAI re", ["redact", "reject", "remove", "rephrase", "revert"]),
    ("Typs acc", ["accept"]),
    ("TypstAI mode ", ["edit", "read"]),
    ("TypstAI accept ", []),
]


@pytest.mark.parametrize(("line", "found"), COMPLETING)
def test_names_and_arguments_are_completed(session: Session, line: str, found: list[str]) -> None:
    assert session.editor.nvim.funcs.getcompletion(line, "cmdline") == found
