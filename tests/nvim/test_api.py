"""The public functions, called as they should not be: each answers with an error, none raises."""

from __future__ import annotations

from typing import Any

import pytest

from endpoint import Endpoint, Wait, answer, tool_calls
from session import Session

CALL = """
local path, args, count = ...
local call = require("typstai")
for name in path:gmatch("[^.]+") do
  call = call[name]
end
local given = {}
for i = 1, count do
  given[i] = args[i] ~= vim.NIL and args[i] or nil
end
"""
WITH_CALLBACK = f"""{CALL}
_G.answered = nil
given[count + 1] = function(err, result)
  _G.answered = {{ err = err or vim.NIL, result = result == nil and vim.NIL or result }}
end
call(unpack(given, 1, count + 1))
"""
RETURNED = f"""{CALL}
local result, err = call(unpack(given, 1, count))
return {{ err = err or vim.NIL, result = result == nil and vim.NIL or result }}
"""


def called(session: Session, path: str, *args: Any) -> dict[str, Any]:
    """What a function tells its callback."""
    session.editor.lua(WITH_CALLBACK, path, list(args), len(args))
    return session.editor.wait_for("_G.answered")


def returned(session: Session, path: str, *args: Any) -> dict[str, Any]:
    """What a function returns."""
    return session.editor.lua(RETURNED, path, list(args), len(args))


NO_BUFFER = "There is no buffer 999."
CALLBACKS: list[tuple[str, list[Any], str, str]] = [
    ("send", [None, None], "invalid_argument", "send: text must be a string."),
    ("send", ["Hi.", "c1"], "invalid_argument", "send: opts must be a table."),
    ("send", ["Hi.", {"chat": 5}], "invalid_argument", "send: opts.chat must be a string."),
    ("send", ["Hi.", {"attachments": "x"}], "invalid_argument",
     "send: opts.attachments must be a list of selections."),
    ("send", ["Hi.", {"attachments": [{"path": "a"}]}], "invalid_argument",
     "send: opts.attachments must be a list of selections."),
    ("send", ["Hi.", {"chat": "none"}], "not_open", "That chat is not open; open it first."),
    ("send", [" \n", {}], "empty", "There is nothing to send: write something first."),
    ("stop", [7], "invalid_argument", "stop: chat must be a string."),
    ("stop", ["none"], "not_open", "That chat is not open; open it first."),
    ("runs.list", [7], "invalid_argument", "runs.list: chat must be a string."),
    ("runs.revert", [None], "invalid_argument", "runs.revert: run must be a string."),
    ("runs.revert", ["none"], "no_edits", "This answer changed nothing that could be reverted."),
    ("snapshots.list", [999], "no_buffer", NO_BUFFER),
    ("snapshots.list", ["a"], "invalid_argument",
     "snapshots.list: bufnr must be the number of a buffer."),
    ("snapshots.restore", ["a"], "invalid_argument",
     "snapshots.restore: id must be a whole number."),
    ("snapshots.restore", [999], "storage",
     "This snapshot is gone: newer ones have taken its room."),
    ("approvals.answer", ["none", "once", None], "unknown_approval",
     "This tool call no longer waits for an answer."),
    ("approvals.answer", ["none", "maybe", None], "invalid_argument",
     "approvals.answer: answer must be once, run or deny."),
    ("approvals.answer", [None, "once", None], "invalid_argument",
     "approvals.answer: id must be a string."),
]  # fmt: skip


@pytest.mark.parametrize(("path", "args", "code", "message"), CALLBACKS)
def test_what_cannot_be_done_is_told_to_the_callback(
    session: Session, path: str, args: list[Any], code: str, message: str
) -> None:
    session.document("text\n")
    session.setup(models=[])
    error = called(session, path, *args)["err"]
    assert (error["code"], error["message"]) == (code, message)


RETURNS: list[tuple[str, list[Any], str]] = [
    ("proposals.list", [999], NO_BUFFER),
    ("proposals.list", ["a"], "proposals.list: bufnr must be the number of a buffer."),
    ("proposals.accept", ["none"], "There is no proposal none."),
    ("proposals.accept", [{}], "proposals.accept: id must be a string."),
    ("proposals.accept", ["none", "h1"], "proposals.accept: opts must be a table."),
    ("proposals.accept", ["none", {"hunk": 1}], "proposals.accept: opts.hunk must be a string."),
    ("proposals.reject", [5], "proposals.reject: id must be a string."),
    ("proposals.reject", ["none", {"reason": 1}],
     "proposals.reject: opts.reason must be a string."),
    ("proposals.edit", ["none", "h1", 5], "proposals.edit: text must be a string."),
    ("proposals.edit", ["none", 1, "x"], "proposals.edit: hunk must be a string."),
    ("proposals.edit", ["none", "h1", "x"], "There is no proposal none."),
    ("ghost.enable", [None], "ghost.enable: is_on must be true or false."),
    ("ghost.enable", [True, {"bufnr": 999}], NO_BUFFER),
    ("ghost.enable", [True, {"project": 3}],
     "ghost.enable: opts.project must be a folder, or true."),
    ("ghost.accept", ["half"], "ghost.accept: part must be all, word or line."),
    ("snapshots.list", [999], NO_BUFFER),
    ("send", [""], "There is nothing to send: write something first."),
    ("send", ["Hi.", {}, "done"], "send: callback must be a function."),
]  # fmt: skip


@pytest.mark.parametrize(("path", "args", "message"), RETURNS)
def test_what_cannot_be_done_is_returned_as_an_error(
    session: Session, path: str, args: list[Any], message: str
) -> None:
    answer_ = returned(session, path, *args)
    assert not answer_["result"]
    assert answer_["err"]["message"] == message
    assert session.editor.lua("return require('typstai').status().host") == "stopped"


ACTIONS: list[tuple[Any, Any, str]] = [
    ("rephrase", {"bufnr": 999}, NO_BUFFER),
    ("rephrase", {"bufnr": "a"}, "action: opts.bufnr must be the number of a buffer."),
    ("rephrase", "a", "action: opts must be a table."),
    ("rephrase", {"params": "a"}, "action: opts.params must be a table of strings."),
    ("rephrase", {"params": {"tone": {}}}, "action: opts.params must be a table of strings."),
    ("rephrase", {"range": "a"}, "The range lies outside of the document."),
    (None, None, "action: id must be a string."),
    ("nosuch", None, "There is no action nosuch."),
]


@pytest.mark.parametrize(("action", "options", "message"), ACTIONS)
def test_an_action_that_cannot_start_ends_as_failed_with_the_reason(
    session: Session, action: Any, options: Any, message: str
) -> None:
    session.editor.record("TypstAIActionFinished")
    session.editor.lua("_G.told = {} vim.notify = function(text) table.insert(_G.told, text) end")
    session.document("text\n")
    result = called(session, "action", action, options)["result"]
    assert (result["status"], result["reason"], result["error"]) == ("failed", "error", message)
    assert session.editor.seen("TypstAIActionFinished")[0]["status"] == "failed"
    (told,) = session.editor.wait_for("#_G.told > 0 and _G.told")
    assert told.removeprefix(f"{action}: ") == message
    assert session.editor.lua("return require('typstai').status().host") == "stopped"


def test_options_that_are_no_table_are_told_and_the_defaults_hold(session: Session) -> None:
    session.editor.lua("_G.told = {} vim.notify = function(text) table.insert(_G.told, text) end")
    session.editor.lua("require('typstai').setup('review')")
    session.editor.wait_for("#_G.told > 0")
    assert session.editor.lua("return _G.told") == ["setup() takes a table of options."]
    assert session.editor.lua("return require('typstai').status().approval") == "review"


def test_stopping_a_chat_that_is_not_there_stops_no_other(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("text\n")
    endpoint.reply(Wait("go"), answer("Here."))
    session.send("Hello.")
    endpoint.wait_reached("go")
    assert called(session, "stop", "none")["err"]["code"] == "not_open"
    endpoint.release("go")
    assert session.finished() == "complete"


def test_buffer_0_is_the_current_one_everywhere(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint)
    session.document("old\n")
    endpoint.reply(tool_calls(("search_replace", {"search": "old", "replace": "new"})))
    session.send("Change it.")
    document = session.proposal()["bufnr"]
    session.show(document)
    assert [item["bufnr"] for item in returned(session, "proposals.list", 0)["result"]] == [
        document
    ]


def test_a_hunk_that_never_was_is_not_said_to_be_decided(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("old\n")
    endpoint.reply(tool_calls(("search_replace", {"search": "old", "replace": "new"})))
    session.send("Change it.")
    proposal = session.proposal()["id"]
    error = returned(session, "proposals.accept", proposal, {"hunk": "h9"})["err"]
    assert (error["code"], error["message"]) == (
        "unknown_hunk",
        f"There is no hunk h9 in proposal {proposal}.",
    )


def test_the_pending_text_of_a_hunk_is_replaced_and_that_is_what_lands(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    document = session.document("old\n")
    endpoint.reply(tool_calls(("search_replace", {"search": "old", "replace": "new"})))
    endpoint.reply(answer("Done."))
    session.send("Change it.")
    proposal = session.proposal()
    hunk = proposal["hunks"][0]["id"]
    assert returned(session, "proposals.edit", proposal["id"], hunk, "newer\nstill") == {
        "err": None,
        "result": True,
    }
    assert session.proposal()["hunks"][0]["new"] == ["newer", "still"]
    assert session.lines(document) == ["old"]
    returned(session, "proposals.accept", proposal["id"])
    assert session.lines(document) == ["newer", "still"]


def test_blank_text_is_refused_and_what_is_attached_stays(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("one\ntwo\n")
    session.editor.feed("ggVy")
    session.editor.nvim.command("TypstAI add selection")
    for text in ("", " \n\t"):
        assert called(session, "send", text, {})["err"]["code"] == "empty"
    assert session.editor.lua("return #require('typstai.chat.attachments').list()") == 1
    assert endpoint.requests == []


def test_what_a_sent_message_took_along_is_attached_no_more(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("one\ntwo\n")
    session.editor.feed("ggVy")
    session.editor.nvim.command("TypstAI add selection")
    endpoint.reply(answer("I see."))
    assert session.ask("Look at it.") == "complete"
    assert "one" in endpoint.requests[0].body["messages"][-1]["content"]
    assert session.editor.lua("return #require('typstai.chat.attachments').list()") == 0


def test_a_message_with_attachments_of_its_own_leaves_the_users_alone(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("one\ntwo\n")
    session.editor.feed("ggVy")
    session.editor.nvim.command("TypstAI add selection")
    own = [{"path": "other.typ", "start_line": 1, "end_line": 1, "text": "mine"}]
    endpoint.reply(answer("I see."))
    assert called(session, "send", "Look at it.", {"attachments": own})["err"] is None
    assert session.finished() == "complete"
    assert "mine" in endpoint.requests[0].body["messages"][-1]["content"]
    assert session.editor.lua("return #require('typstai.chat.attachments').list()") == 1
