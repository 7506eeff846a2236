"""Whatever cannot be done with a proposal is said in one sentence, wherever it was asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from editor import Editor
from endpoint import Endpoint, answer, tool_calls
from reviewing import call, fill, propose, record_calls, states
from session import Session

_RECORD = """
_G.said = {}
require("typstai.message").sink = function(message) table.insert(_G.said, message) end
"""


@pytest.fixture(autouse=True)
def recorded(editor: Editor) -> None:
    editor.lua(_RECORD)


def said(editor: Editor, text: str) -> None:
    editor.wait_for("vim.iter(_G.said):any(function(m) return m:find(args[1], 1, true) end)", text)


@pytest.mark.parametrize("command", ["accept", "reject", "reject with a reason"])
def test_a_command_with_nothing_to_decide_says_so(editor: Editor, command: str) -> None:
    record_calls(editor)
    editor.nvim.command(f"TypstAI {command}")
    said(editor, "No change is proposed.")


def test_a_command_for_the_hunk_under_the_cursor_says_that_there_is_none(editor: Editor) -> None:
    record_calls(editor)
    fill(editor, ["one", "two"])
    editor.nvim.command("TypstAI diff")
    said(editor, "No change is proposed here.")
    propose(editor, (0, ["one"], ["1"]))
    editor.feed("G:TypstAI edit<CR>")
    said(editor, "There is no proposed change under the cursor.")


@pytest.mark.parametrize("keys", [r"\a", r"\A"])
def test_a_stale_hunk_is_refused_by_key_with_what_to_do(editor: Editor, keys: str) -> None:
    record_calls(editor)
    fill(editor, ["one", "two"])
    propose(editor, (0, ["one"], ["1"]))
    editor.feed("Ax<Esc>" + keys)
    if keys == r"\a":
        said(editor, "You changed these lines: reject the change or ask again.")
    assert editor.lines() == ["onex", "two"]


CODES = [
    ("accept", "unknown_proposal"),
    ("reject", "unknown_proposal"),
    ("edit", "unknown_proposal"),
    ("diff", "unknown_proposal"),
    ("goto_first", "unknown_proposal"),
]


@pytest.mark.parametrize(("method", "code"), CODES)
def test_an_unknown_or_decided_proposal_has_a_code(editor: Editor, method: str, code: str) -> None:
    record_calls(editor)
    fill(editor, ["one"])
    assert call(editor, method, "nobody") == code
    propose(editor, (0, ["one"], ["1"]))
    call(editor, "accept", "p1")
    assert call(editor, method, "p1") == "already_resolved"
    assert editor.lines() == ["1"]


def test_a_proposal_for_a_buffer_that_was_wiped_is_refused(editor: Editor, tmp_path: Path) -> None:
    record_calls(editor)
    bufnr = editor.open(tmp_path / "a.typ", "one\n")
    editor.nvim.command("bwipeout!")
    assert propose(editor, (0, ["one"], ["1"]), bufnr=bufnr)["error"]["code"] == "no_buffer"
    assert states(editor) == []


@pytest.mark.parametrize("row0", [1, 5, 10_000])
def test_a_hunk_beyond_the_end_or_elsewhere_comes_back_stale_and_changes_nothing(
    editor: Editor, row0: int
) -> None:
    record_calls(editor)
    fill(editor, ["one", "two"])
    shown = propose(editor, (row0, ["one"], ["1"]))
    assert [hunk["state"] for hunk in shown["result"]] == ["stale"]
    call(editor, "accept_all")
    assert editor.lines() == ["one", "two"]
    assert "Error" not in editor.messages()


def test_of_overlapping_hunks_the_upper_one_lands_and_the_other_is_told_as_stale(
    editor: Editor,
) -> None:
    record_calls(editor)
    fill(editor, ["a", "b", "c"])
    propose(editor, (0, ["a", "b"], ["A", "B"]), (1, ["b", "c"], ["x", "y"]))
    assert call(editor, "accept", "p1") == {"accepted": 1, "stale": 1}
    assert editor.lines() == ["A", "B", "c"]


def test_a_document_wiped_while_the_model_works_is_a_code_and_a_sentence(
    session: Session, endpoint: Endpoint
) -> None:
    from endpoint import Wait

    session.use(endpoint, approval="auto")
    document = session.document("one\n")
    edit = ("search_replace", {"search": "one", "replace": "1"})
    endpoint.reply(Wait("wiped"), *tool_calls(edit))
    endpoint.reply(answer("I see."))
    session.send("Numbers.")
    endpoint.wait_reached("wiped")
    session.editor.nvim.command(f"bwipeout! {document}")
    endpoint.release("wiped")
    assert session.finished() == "complete"
    told = endpoint.requests[1].body["messages"][-1]["content"]
    assert told == "error no_buffer: The document is no longer open."


@pytest.mark.parametrize("option", ["nomodifiable", "readonly"])
def test_a_locked_document_is_a_code_and_a_sentence_and_nothing_changes(
    session: Session, endpoint: Endpoint, option: str
) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("one\n")
    session.editor.nvim.command(f"setlocal {option}")
    endpoint.reply(tool_calls(("search_replace", {"search": "one", "replace": "1"})))
    endpoint.reply(answer("I see."))
    assert session.ask("Numbers.") == "complete"
    told = endpoint.requests[1].body["messages"][-1]["content"]
    assert told.startswith("error not_modifiable: ")
    assert session.lines(document) == ["one"]


def test_a_document_locked_between_proposal_and_accept_keeps_the_proposal(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    document = session.document("one\n")
    endpoint.reply(tool_calls(("search_replace", {"search": "one", "replace": "1"})))
    endpoint.reply(answer("Done."))
    session.send("Numbers.")
    session.proposal()
    session.show(document)
    session.editor.nvim.command("setlocal readonly")
    session.editor.nvim.command("TypstAI accept")
    said(session.editor, "The document is read-only.")
    assert session.lines(document) == ["one"]
    session.editor.nvim.command("setlocal noreadonly")
    session.editor.nvim.command("TypstAI accept")
    assert session.finished() == "complete"
    assert session.lines(document) == ["1"]


def test_a_document_changed_between_proposal_and_accept_keeps_what_was_typed(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    document = session.document("one\n\ntwo\n")
    edits = [{"search": "one", "replace": "1"}, {"search": "two", "replace": "2"}]
    endpoint.reply(tool_calls(("patch_document", {"edits": edits})))
    endpoint.reply(answer("Half of it."))
    session.send("Numbers.")
    session.proposal()
    session.show(document)
    session.editor.feed("ggA typed<Esc>")
    session.editor.nvim.command("TypstAI accept")
    assert session.finished() == "complete"
    assert session.lines(document) == ["one typed", "", "2"]
    told = endpoint.requests[1].body["messages"][-1]["content"]
    assert told.startswith("partly applied to main.typ: 1 of 2 hunks.")
    assert "h1 (lines 1-1) not applied: the writer changed these lines; read them again." in told


def test_a_change_that_is_not_decided_in_time_counts_as_rejected_where_that_is_set(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, limits={"decision_timeout": 0.2})
    document = session.document("one\n")
    endpoint.reply(tool_calls(("search_replace", {"search": "one", "replace": "1"})))
    endpoint.reply(answer("I see."))
    assert session.ask("Numbers.") == "complete"
    told = endpoint.requests[1].body["messages"][-1]["content"]
    assert "rejected by the writer: no decision came in time" in told
    assert session.lines(document) == ["one"]
    assert session.editor.lua("return require('typstai').proposals.list()") == []


def test_a_reason_given_with_the_command_reaches_the_model(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("one\n")
    endpoint.reply(tool_calls(("search_replace", {"search": "one", "replace": "1"})))
    endpoint.reply(answer("I see."))
    session.send("Numbers.")
    session.proposal()
    session.editor.nvim.command("TypstAI reject keep the words")
    assert session.finished() == "complete"
    told = endpoint.requests[1].body["messages"][-1]["content"]
    assert "h1 (lines 1-1) rejected by the writer: keep the words." in told


def test_a_reason_given_in_the_chat_reaches_the_model(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint)
    session.document("one\n")
    session.editor.nvim.command("TypstAI")
    endpoint.reply(tool_calls(("search_replace", {"search": "one", "replace": "1"})))
    endpoint.reply(answer("I see."))
    session.editor.lua("vim.ui.input = function(_, answer) answer('say it in words') end")
    session.send("Numbers.")
    session.proposal()
    session.editor.wait_for(
        "table.concat(require('typstai').chat.lines(), '\\n'):find('waiting', 1, true)"
    )
    session.editor.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid(...))", session_chat(session))
    session.editor.feed("<Esc>gg/search_replace<CR>r")
    assert session.finished() == "complete"
    told = endpoint.requests[1].body["messages"][-1]["content"]
    assert "rejected by the writer: say it in words." in told


def session_chat(session: Session) -> int:
    """Number of the chat's buffer."""
    return session.editor.lua(
        """
        for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
          if vim.bo[bufnr].filetype == "typstai" then return bufnr end
        end
        """
    )
