"""Reverts and restores that the user took back with `u`: nobody is told the opposite."""

from __future__ import annotations

from typing import Any

import pytest

from endpoint import Endpoint, answer, tool_calls
from session import Session

TEXT = "= Report\n\nOne.\nTwo.\n"
STATE = "require('typstai.recovery.receipts').of(select(1, ...)).state == select(2, ...)"


def edit(session: Session, endpoint: Endpoint, search: str, replace: str) -> str:
    args = {"search": search, "replace": replace}
    endpoint.reply(tool_calls(("search_replace", args)))
    endpoint.reply(answer("Done."))
    assert session.ask(f"Write {replace}") == "complete"
    return session.editor.lua("return _G.sent.ok.run")


def revert(session: Session, run: str) -> Any:
    session.editor.lua("_G.done = nil")
    session.editor.lua(
        "require('typstai').runs.revert(..., function(err) _G.done = { err = err or false } end)",
        run,
    )
    return session.editor.wait_for("_G.done")


def told_next(session: Session, endpoint: Endpoint) -> str:
    endpoint.reply(answer("Yes."))
    assert session.ask("And?") == "complete"
    return str(endpoint.requests[-1].body["messages"][-1]["content"])


@pytest.fixture
def document(session: Session, endpoint: Endpoint) -> int:
    session.use(endpoint, approval="auto")
    return session.document(TEXT)


def test_an_undone_revert_is_told_to_nobody_and_can_be_made_again(
    session: Session, endpoint: Endpoint, document: int
) -> None:
    first = edit(session, endpoint, "One.", "1.")
    second = edit(session, endpoint, "Two.", "2.")
    written = session.lines(document)
    revert(session, first)
    session.show(document)
    for run in (first, second):
        session.editor.wait_for(STATE, run, "reverted")
    session.editor.feed("uu")
    assert session.lines(document) == written
    for run in (first, second):
        session.editor.wait_for(STATE, run, "available")
    assert "were reverted" not in told_next(session, endpoint)
    session.show(document)
    assert revert(session, first) == {"err": False}
    assert session.lines(document) == TEXT.split("\n")[:-1]


def test_a_revert_that_was_redone_is_told(
    session: Session, endpoint: Endpoint, document: int
) -> None:
    run = edit(session, endpoint, "One.", "1.")
    revert(session, run)
    session.show(document)
    session.editor.feed("u")
    session.editor.wait_for(STATE, run, "available")
    session.editor.feed("<C-r>")
    session.editor.wait_for(STATE, run, "reverted")
    assert "were reverted" in told_next(session, endpoint)


def test_a_model_that_was_told_of_a_revert_is_told_of_its_undo_and_redo_too(
    session: Session, endpoint: Endpoint, document: int
) -> None:
    run = edit(session, endpoint, "One.", "1.")
    revert(session, run)
    assert "were reverted; read" in told_next(session, endpoint)
    session.show(document)
    session.editor.feed("u")
    session.editor.wait_for(STATE, run, "available")
    told = told_next(session, endpoint)
    assert "were reverted, but the writer has undone that since; read the document again." in told
    assert "undone" not in told_next(session, endpoint)
    session.show(document)
    session.editor.feed("<C-r>")
    session.editor.wait_for(STATE, run, "reverted")
    assert "were reverted; read" in told_next(session, endpoint)
    assert "reverted" not in told_next(session, endpoint)


def test_what_the_writer_typed_after_an_undo_does_not_hide_the_undo_from_the_model(
    session: Session, endpoint: Endpoint, document: int
) -> None:
    run = edit(session, endpoint, "One.", "1.")
    revert(session, run)
    assert "were reverted; read" in told_next(session, endpoint)
    session.show(document)
    session.editor.feed("u")
    session.editor.wait_for(STATE, run, "available")
    session.editor.feed("Gomine<Esc>")
    assert "the writer has undone that since" in told_next(session, endpoint)


def test_a_model_that_makes_a_reverted_edit_again_is_not_told_that_the_writer_did(
    session: Session, endpoint: Endpoint, document: int
) -> None:
    run = edit(session, endpoint, "One.", "1.")
    revert(session, run)
    assert "were reverted; read" in told_next(session, endpoint)
    session.show(document)
    edit(session, endpoint, "One.", "1.")
    assert "undone" not in told_next(session, endpoint)


def test_an_undone_restore_is_not_told(session: Session, endpoint: Endpoint, document: int) -> None:
    run = edit(session, endpoint, "One.", "1.")
    session.editor.wait_for("require('typstai.recovery.receipts').of(...).snapshot", run)
    snapshot = session.editor.lua(
        "return require('typstai.recovery.receipts').of(...).snapshot", run
    )
    session.show(document)
    session.editor.feed("ggdd")
    session.editor.lua(
        "require('typstai').snapshots.restore(..., function(err) _G.done = { err or false } end)",
        snapshot,
    )
    session.editor.wait_for("_G.done")
    assert session.lines(document)[0] == "= Report"
    session.editor.feed("u")
    assert session.lines(document)[0] == ""
    assert "earlier state" not in told_next(session, endpoint)
