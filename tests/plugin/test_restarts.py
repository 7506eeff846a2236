"""Proposals when the host or Neovim ends before the decision."""

from __future__ import annotations

import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from desk import NvimDesk, proposal
from editor import BOUND_MS, Editor, start_editor
from endpoint import Endpoint, answer, tool_calls
from session import Session
from typstai.domain.proposal import Hunk
from typstai.editor.nvim import MAX_SETTLED
from typstai.errors import EditorError

TEXT = "one\n\ntwo\n\nthree\n"
LIST = "return require('typstai').proposals.list()"


def replaced(search: str, replace: str) -> tuple[str, dict[str, str]]:
    return ("search_replace", {"search": search, "replace": replace})


def listed(editor: Editor) -> list[Any]:
    return editor.lua(LIST)


def refusal(editor: Editor, method: str, *args: Any) -> str:
    source = "local _, e = require('typstai.proposals')[...](select(2, ...)) return e.code"
    return editor.lua(source, method, *args)


def kill_host(session: Session) -> None:
    """End the helper process as a crash does, and wait for the next one."""
    editor = session.editor
    started = len(editor.lua("return _G.seen.TypstAIHostStarted"))
    editor.lua("vim.uv.kill(require('typstai.host').pid, ...)", signal.SIGKILL)
    editor.seen("TypstAIHostStarted", started + 1)


def stored(session: Session, text: str) -> None:
    """Wait until the text stands in a stored turn: the growing ones are written in turns."""
    deadline = time.monotonic() + BOUND_MS / 1000
    path = session.data / "chats.sqlite3"
    while time.monotonic() < deadline:
        with closing(sqlite3.connect(path)) as database:
            bodies = database.execute("SELECT body FROM turns").fetchall()
        if any(text in body for (body,) in bodies):
            return
    raise AssertionError(f"never stored: {text}")


def said(session: Session, text: str) -> None:
    """Wait until the chat on the screen says it."""
    source = "table.concat(require('typstai').chat.lines(), '\\n'):find(args[1], 1, true)"
    session.editor.wait_for(source, text)


@pytest.mark.parametrize("approval", ["review", "suggest"])
def test_a_proposal_survives_the_end_of_the_host_and_the_chat_gets_its_outcome(
    session: Session, endpoint: Endpoint, approval: str
) -> None:
    session.use(endpoint, approval=approval)
    document = session.document(TEXT)
    endpoint.reply(tool_calls(replaced("two", "2")))
    endpoint.reply(answer("Suggested."))
    endpoint.reply(answer("I see."))
    session.send("Numbers.")
    proposal = session.proposal()
    if approval == "suggest":
        assert session.finished() == "complete"
    stored(session, proposal["id"])
    kill_host(session)
    (still,) = listed(session.editor)
    assert [hunk["state"] for hunk in still["hunks"]] == ["pending"]
    session.editor.lua("require('typstai').proposals.accept(...)", proposal["id"])
    assert session.lines(document)[2] == "2"
    assert listed(session.editor) == []
    said(session, "1 accepted")
    before = len(endpoint.requests)
    session.editor.lua("_G.seen.TypstAIRunFinished = {}")
    session._runs = 0
    assert session.ask("And now?") == "complete"
    tools = [m for m in endpoint.requests[before].body["messages"] if m["role"] == "tool"]
    assert "decided by the writer since: 1 accepted." in tools[0]["content"]


def test_a_proposal_decided_while_no_host_runs_reaches_the_stored_chat(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="suggest")
    session.document(TEXT)
    endpoint.reply(tool_calls(replaced("two", "2")))
    endpoint.reply(answer("Suggested."))
    assert session.ask("Numbers.") == "complete"
    proposal = session.proposal()
    session.editor.lua("require('typstai.host').stop()")
    session.editor.lua(
        "require('typstai').proposals.reject(..., { reason = 'no' })", proposal["id"]
    )
    said(session, "1 rejected")


def suggested(binary: str, endpoint: Endpoint, folder: Path, *, kill: bool) -> dict[str, Any]:
    """A Neovim that ends with a suggestion pending; the suggestion."""
    endpoint.reply(tool_calls(replaced("two", "2"), replaced("three", "3")))
    endpoint.reply(answer("Suggested."))
    with start_editor(binary) as editor:
        session = Session(editor, folder)
        session.use(endpoint, approval="suggest")
        document = session.document(TEXT)
        assert session.ask("Numbers.") == "complete"
        first, second = listed(editor)
        editor.lua("require('typstai').proposals.accept(...)", second["id"])
        session.write(document)
        if kill:
            editor.process.kill()
            editor.process.wait()
    return first


@pytest.mark.parametrize("kill", [False, True])
def test_a_proposal_pending_when_neovim_ended_is_listed_as_lapsed_and_never_applied(
    nvim_binary: str, endpoint: Endpoint, tmp_path: Path, kill: bool
) -> None:
    first = suggested(nvim_binary, endpoint, tmp_path, kill=kill)
    with start_editor(nvim_binary) as editor:
        editor.lua("vim.g.typstai_data = ...", str(tmp_path / "data"))
        bufnr = editor.open(tmp_path / "project" / "main.typ")
        before = editor.lines()
        (lapsed,) = listed(editor)
        assert lapsed["id"] == first["id"]
        assert lapsed["bufnr"] == bufnr
        assert lapsed["hunks"] == [{**first["hunks"][0], "state": "lapsed"}]
        assert editor.lua("return require('typstai').proposals.list(...)", bufnr) == [lapsed]
        assert refusal(editor, "accept", first["id"]) == "lapsed"
        assert refusal(editor, "edit", first["id"], "h1", "x") == "lapsed"
        editor.lua("require('typstai.proposals').accept_all()")
        assert editor.lines() == before
        assert editor.lua("return require('typstai').status().pending") == 0
        editor.lua("require('typstai').proposals.reject(...)", first["id"])
        assert listed(editor) == []
    with start_editor(nvim_binary) as editor:
        editor.lua("vim.g.typstai_data = ...", str(tmp_path / "data"))
        assert listed(editor) == []


def test_the_chat_and_the_model_learn_that_a_proposal_lapsed(
    nvim_binary: str, endpoint: Endpoint, tmp_path: Path
) -> None:
    suggested(nvim_binary, endpoint, tmp_path, kill=True)
    endpoint.reply(answer("I see."))
    for _ in range(2):
        with start_editor(nvim_binary) as editor:
            session = Session(editor, tmp_path)
            session.use(endpoint)
            session.document(TEXT)
            editor.nvim.command("TypstAI")
            said(session, "1 lapsed")
            assert session.chat().count("1 lapsed") == 1
            assert "waiting" not in session.chat()
    with start_editor(nvim_binary) as editor:
        session = Session(editor, tmp_path)
        session.use(endpoint)
        session.document(TEXT)
        assert session.ask("And now?") == "complete"
    tools = [m for m in endpoint.requests[-1].body["messages"] if m["role"] == "tool"]
    assert tools[0]["content"].endswith("1 lapsed. What lapsed was not applied.")


def test_what_another_living_neovim_shows_has_not_lapsed(
    nvim_binary: str, endpoint: Endpoint, session: Session
) -> None:
    session.use(endpoint, approval="suggest")
    session.document(TEXT)
    endpoint.reply(tool_calls(replaced("two", "2")))
    endpoint.reply(answer("Suggested."))
    assert session.ask("Numbers.") == "complete"
    with start_editor(nvim_binary) as other:
        other.lua("vim.g.typstai_data = ...", str(session.data))
        assert listed(other) == []
    assert len(listed(session.editor)) == 1


def test_at_most_32_lapsed_proposals_are_kept_the_newest(nvim_binary: str, tmp_path: Path) -> None:
    with start_editor(nvim_binary) as editor:
        editor.lua("vim.g.typstai_data = ...", str(tmp_path))
        editor.lua("require('typstai.rpc').call = function() end")
        editor.lua(
            """
            for i = 1, 40 do
              require("typstai.proposals").propose({
                id = "p" .. i, bufnr = 1, path = "", chat = "", run = "", call = "",
                source = "s", verdict = "",
                hunks = { { id = "h1", row0 = 0, old = {}, new = { "x" }, state = "pending",
                            reason = "" } },
              })
            end
            """
        )
    with start_editor(nvim_binary) as editor:
        editor.lua("vim.g.typstai_data = ...", str(tmp_path))
        ids = [item["id"] for item in listed(editor)]
        assert ids == [f"p{number}" for number in range(9, 41)]
        assert len(list((tmp_path / "proposals").iterdir())) == 32


def test_decided_proposals_are_remembered_within_bounds(editor: Editor) -> None:
    editor.lua("require('typstai.rpc').call = function() end")
    kept = editor.lua(
        """
        local proposals = require("typstai.proposals")
        for i = 1, 200 do
          proposals.propose({
            id = "p" .. i, bufnr = 1, path = "", chat = "", run = "", call = "", source = "s",
            verdict = "",
            hunks = { { id = "h1", row0 = 0, old = {}, new = { "x" }, state = "pending",
                        reason = "" } },
          })
          proposals.reject("p" .. i)
        end
        local whole = 0
        for i = 1, 200 do
          whole = whole + (#proposals.diff_lines("p" .. i) > 0 and 1 or 0)
        end
        local _, err = proposals.accept("p1")
        return { whole, err.code, proposals.withdraw({ id = "p1" }) }
        """
    )
    assert kept == [64, "already_resolved", []]


def test_python_keeps_few_decisions_that_nobody_asked_for(editor: Editor) -> None:
    desk = NvimDesk(editor)

    async def story() -> None:
        bufnr = await desk.open("one")
        hunk = Hunk(id="h1", row0=0, old=("one",), new=("1",))
        for number in range(100):
            await desk.editor.propose(proposal(bufnr, [hunk], proposal_id=f"p{number}"))
            await desk.reject(f"p{number}")
        assert (await desk.editor.decision("p99"))[0].state == "rejected"
        with pytest.raises(EditorError):
            await desk.editor.decision("p0")
        assert len(desk._adapter._decisions) <= MAX_SETTLED

    desk.run(story)
