"""Taking back what runs wrote, and putting snapshots back, as a user does it."""

from __future__ import annotations

import re
import sqlite3
import stat

import pytest

from endpoint import Endpoint, Wait, answer, tool_calls
from recovering import BEFORE, EDITED, TEXT, Recovering
from session import Session


@pytest.fixture
def work(session: Session, endpoint: Endpoint) -> Recovering:
    return Recovering(session, endpoint)


def test_a_reverted_answer_leaves_the_text_of_before_as_one_undo_step(work: Recovering) -> None:
    run = work.edit("Two.", "2.")
    assert work.lines()[3] == "2."
    assert work.revert(run)["result"] == {"reverted": [run]}
    assert work.lines() == BEFORE
    work.keys("u")
    assert work.lines()[3] == "2."
    work.keys("u")
    assert work.lines() == BEFORE


def test_what_the_user_undid_of_a_revert_can_be_reverted_again(work: Recovering) -> None:
    run = work.edit("Two.", "2.")
    work.revert(run)
    work.keys("u")
    assert work.revert(run)["result"] == {"reverted": [run]}
    assert work.lines() == BEFORE


def test_a_revert_changes_only_the_lines_that_the_answer_changed(work: Recovering) -> None:
    run = work.edit("Two.", "2.")
    work.editor.lua(
        """
        local ns = vim.api.nvim_create_namespace("mine")
        _G.mark = vim.api.nvim_buf_set_extmark(..., ns, 4, 2, {})
        """,
        work.document,
    )
    work.keys("5G02l")
    work.revert(run)
    assert work.editor.nvim.api.win_get_cursor(0) == [5, 2]
    place = work.editor.lua(
        """
        local ns = vim.api.nvim_get_namespaces().mine
        return vim.api.nvim_buf_get_extmark_by_id(..., ns, _G.mark, {})
        """,
        work.document,
    )
    assert place == [4, 2]


def test_reverting_an_older_answer_takes_newer_ones_back_first(work: Recovering) -> None:
    runs = [work.edit("One.", "1."), work.edit("Two.", "2."), work.edit("Three.", "3.")]
    assert work.revert(runs[0])["result"]["reverted"] == runs[::-1]
    assert work.lines() == BEFORE
    work.keys("u")
    assert work.lines()[2:] == ["1.", "Two.", "Three."]
    work.keys("u")
    assert work.lines()[2:] == ["1.", "2.", "Three."]


def test_reverting_the_newest_answer_leaves_older_ones_alone(work: Recovering) -> None:
    _, newest = work.edit("One.", "1."), work.edit("Two.", "2.")
    assert work.revert(newest)["result"] == {"reverted": [newest]}
    assert work.lines()[2:] == ["1.", "Two.", "Three."]


def test_an_edit_of_the_user_stops_the_revert_with_the_reason(work: Recovering) -> None:
    run = work.edit("Two.", "2.")
    work.keys("GoMine.<Esc>")
    edited = work.lines()
    refused = work.revert(run)["err"]
    assert refused == {"code": "changed", "message": EDITED}
    assert work.lines() == edited


def test_a_revert_goes_on_once_the_user_undid_their_own_edit(work: Recovering) -> None:
    run = work.edit("Two.", "2.")
    work.keys("GoMine.<Esc>u")
    assert work.revert(run)["result"] == {"reverted": [run]}


def test_typing_between_two_answers_stops_the_cascade_and_keeps_what_was_reverted(
    work: Recovering,
) -> None:
    first = work.edit("One.", "1.")
    work.keys("GoMine.<Esc>")
    second = work.edit("Two.", "2.")
    assert work.revert(first)["result"] == {
        "reverted": [second],
        "reason": EDITED,
    }
    assert work.lines()[2:] == ["1.", "Two.", "Three.", "Mine."]


def test_typing_between_two_edits_of_one_answer_is_never_reverted(work: Recovering) -> None:
    work.endpoint.reply(tool_calls(("search_replace", {"search": "One.", "replace": "1."})))
    work.endpoint.reply(
        Wait("typed"), tool_calls(("search_replace", {"search": "Two.", "replace": "2."}))
    )
    work.endpoint.reply(answer("Done."))
    work.session.send("Numbers.")
    work.endpoint.wait_reached("typed")
    work.keys("GoMine.<Esc>")
    work.endpoint.release("typed")
    assert work.session.finished() == "complete"
    run = work.editor.lua("return _G.sent.ok.run")
    refused = work.revert(run)["err"]
    assert refused["message"] == "main.typ was edited between the edits of that answer."
    assert work.lines()[2:] == ["1.", "2.", "Three.", "Mine."]


def test_edits_of_another_chat_stop_the_revert_with_the_reason(work: Recovering) -> None:
    run = work.edit("One.", "1.")
    work.editor.lua("require('typstai').chat.new()")
    work.chat_shows("Ask about the document")
    work.session.show(work.document)
    work.edit("Two.", "2.")
    refused = work.revert(run)["err"]
    assert refused["message"] == "Another chat has changed main.typ since."
    assert work.lines()[2:] == ["1.", "2.", "Three."]


def test_a_file_changed_on_disk_stops_the_revert_with_the_reason(work: Recovering) -> None:
    run = work.edit("Two.", "2.")
    path = work.session.folder / "project" / "main.typ"
    path.write_text(TEXT + "Theirs, and longer.\n", encoding="utf-8")
    refused = work.revert(run)["err"]
    assert refused["message"] == "main.typ was changed on disk by another program."
    assert work.lines()[3] == "2."


def test_a_document_that_is_gone_stops_the_revert_with_the_reason(work: Recovering) -> None:
    run = work.edit("Two.", "2.")
    work.editor.lua("vim.api.nvim_buf_delete(..., { force = true })", work.document)
    (work.session.folder / "project" / "main.typ").unlink()
    refused = work.revert(run)["err"]
    assert refused["code"] == "no_buffer"
    assert refused["message"].startswith("main.typ is no longer open")


def test_a_saved_document_that_was_closed_is_opened_and_reverted(work: Recovering) -> None:
    run = work.edit("Two.", "2.")
    work.session.write(work.document)
    work.editor.lua("vim.api.nvim_buf_delete(..., { force = true })", work.document)
    assert work.revert(run)["result"] == {"reverted": [run]}
    document = work.editor.lua("return vim.fn.bufnr('main.typ')")
    assert work.session.lines(document) == BEFORE


def test_an_unnamed_buffer_is_reverted_like_a_file(work: Recovering) -> None:
    work.editor.nvim.command("new | setfiletype typst")
    work.document = work.editor.nvim.api.get_current_buf().number
    work.editor.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, { 'alpha' })")
    run = work.edit("alpha", "beta")
    assert work.lines() == ["beta"]
    assert work.revert(run)["result"] == {"reverted": [run]}
    assert work.lines() == ["alpha"]


def test_a_stopped_answer_keeps_what_was_accepted_and_can_be_reverted(work: Recovering) -> None:
    work.endpoint.reply(tool_calls(("search_replace", {"search": "Two.", "replace": "2."})))
    work.endpoint.reply(Wait("never"))
    work.session.send("Numbers.")
    work.endpoint.wait_reached("never")
    run = work.editor.lua("return _G.sent.ok.run")
    assert work.revert(run)["err"]["code"] == "busy"
    work.editor.lua("require('typstai').stop(nil, function() end)")
    assert work.session.finished() == "cancelled"
    assert work.lines()[3] == "2."
    work.revert(run)
    assert work.lines() == BEFORE


def test_no_edit_is_made_when_the_text_before_it_cannot_be_stored(work: Recovering) -> None:
    work.session.data.mkdir(exist_ok=True)
    work.journal.write_text("in the way", encoding="utf-8")
    work.edit("Two.", "2.")
    assert work.lines() == BEFORE
    told = work.endpoint.requests[1].body["messages"][-1]["content"]
    assert told.startswith("error not_stored: The edit was not made: the text before it cannot")
    assert "The edit was not made" in work.session.chat()
    work.journal.unlink()
    work.edit("Two.", "2.")
    assert work.lines()[3] == "2."


def test_an_accepted_hunk_that_cannot_be_stored_stays_pending_and_one_sentence_says_so(
    work: Recovering,
) -> None:
    work.session.setup(
        models=[{"name": "test", "base_url": work.endpoint.url, "model": "scripted"}]
    )
    work.endpoint.reply(tool_calls(("search_replace", {"search": "Two.", "replace": "2."})))
    work.endpoint.reply(answer("Done."))
    work.session.send("Numbers.")
    work.session.proposal()
    work.journal.write_text("in the way", encoding="utf-8")
    work.keys(r"gg]c\a")
    (message,) = work.told()
    assert re.fullmatch(
        r"The edit was not made: the text before it cannot be stored \(.+\)\.", message
    )
    assert work.lines() == BEFORE
    work.journal.unlink()
    work.keys(r"\a")
    assert work.session.finished() == "complete"
    assert work.lines()[3] == "2."


def test_records_are_the_users_alone_and_gone_once_they_are_taken_over(work: Recovering) -> None:
    work.editor.lua(
        """
        local journal = require("typstai.recovery.journal")
        local put = journal.put
        journal.put = function(header, body)
          local err = put(header, body)
          local path = vim.fs.joinpath(journal.folder(), header.id .. ".record")
          local folder = vim.uv.fs_stat(journal.folder()).mode
          _G.modes = { vim.uv.fs_stat(path).mode % 512, folder % 512 }
          return err
        end
        """
    )
    run = work.edit("Two.", "2.")
    assert work.editor.lua("return _G.modes") == [0o600, 0o700]
    (listed,) = work.call("runs.list", None)["result"]
    assert (listed["run"], listed["state"]) == (run, "available")
    assert list(work.journal.iterdir()) == []
    assert stat.S_IMODE(work.journal.stat().st_mode) == 0o700


def test_the_oldest_of_six_checkpoints_goes_and_says_so(work: Recovering) -> None:
    numbers = ["1.", "2.", "3.", "4.", "5.", "6."]
    runs = [work.edit(old, new) for old, new in zip(["One.", *numbers], numbers, strict=False)]
    states = [run["state"] for run in work.call("runs.list", None)["result"]]
    assert states == ["available"] * 5 + ["lapsed"]
    work.chat_shows("revert unavailable")
    result = work.revert(runs[0])["result"]
    assert result["reverted"] == runs[:0:-1]
    assert result["reason"] == "The text of main.typ before that answer is no longer kept."
    assert work.lines()[2] == "1."


def test_an_answer_whose_text_before_was_never_kept_says_that_it_cannot_be_reverted(
    work: Recovering,
) -> None:
    run = work.edit("Two.", "2.")
    work.call("runs.list", None)
    database = sqlite3.connect(work.session.data / "chats.sqlite3", isolation_level=None)
    database.execute("DELETE FROM checkpoints")
    database.close()
    work.editor.lua("require('typstai.host').stop()")
    work.editor.lua("require('typstai').chat.open()")
    work.chat_shows("revert unavailable")
    assert work.revert(run)["err"]["code"] == "no_edits"
    assert work.lines()[3] == "2."


def test_the_last_line_of_an_answer_offers_revert_and_its_key_asks_first(
    work: Recovering,
) -> None:
    work.edit("Two.", "2.")
    work.chat_shows("Revert · Snapshot")
    work.choose(2)
    work.editor.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid('typstai://'))")
    work.editor.feed("?Revert<CR>r")
    (asked,) = work.asked()
    assert asked["prompt"] == "Revert the answer to “Write 2.”? main.typ +1 −1"
    assert (asked["kind"], asked["lines"]) == ("typstai_revert", ["Revert", "Keep"])
    assert work.lines()[3] == "2."
    work.choose(1)
    work.editor.feed("r")
    assert work.told()[-1] == "Reverted 1 answer; u brings it back."
    assert work.lines() == BEFORE
    work.chat_shows("reverted")


def test_several_reverted_answers_come_back_one_by_one(work: Recovering) -> None:
    oldest, _ = work.edit("One.", "1."), work.edit("Two.", "2.")
    work.choose(1)
    work.editor.lua("require('typstai.recovery.revert').ask(...)", oldest)
    assert work.told()[-1] == "Reverted 2 answers; u brings them back one by one."
    work.keys("u")
    assert work.lines()[2:4] == ["1.", "Two."]
    work.keys("u")
    assert work.lines()[2:4] == ["1.", "2."]


def test_the_command_reverts_the_last_answer_of_the_document(work: Recovering) -> None:
    work.edit("One.", "1.")
    work.edit("Two.", "2.")
    work.choose(1)
    work.session.show(work.document)
    work.editor.nvim.command("TypstAI revert")
    work.told()
    assert work.lines()[2:] == ["1.", "Two.", "Three."]
    work.editor.nvim.command("TypstAI revert")
    work.editor.wait_for("vim.fn.getline(3) == 'One.'")
    work.editor.nvim.command("TypstAI revert")
    work.editor.wait_for("_G.told[#_G.told] == ...", "No answer has changed this document.")
    assert work.lines() == BEFORE


def test_the_model_is_told_of_a_revert_once_and_keeps_it_in_its_history(work: Recovering) -> None:
    run = work.edit("Two.", "2.")
    work.revert(run)
    note = "The edits of your answer to “Write 2.” were reverted; read the document again."
    assert work.talk() == f"<file>\nmain.typ\n</file>\n<editor>\n{note}\n</editor>\nAnd?"
    work.talk("More?")
    sent = [str(message["content"]) for message in work.endpoint.requests[-1].body["messages"]]
    assert sum(note in content for content in sent) == 1
    assert note not in sent[-1]


def test_the_note_of_a_revert_survives_a_restart_of_the_host(work: Recovering) -> None:
    run = work.edit("Two.", "2.")
    work.revert(run)
    work.editor.lua("require('typstai.host').stop()")
    assert "were reverted" in work.talk()


def test_a_complete_answer_leaves_one_snapshot_of_the_document(work: Recovering) -> None:
    work.edit("Two.", "2.")
    work.chat_shows("Snapshot")
    (kept,) = work.snapshots()
    assert (kept["kind"], kept["added"], kept["removed"]) == ("automatic", 0, 0)
    assert kept["question"] == "“Write 2.”"
    work.keys("GoMine.<Esc>")
    (kept,) = work.snapshots()
    assert (kept["added"], kept["removed"]) == (0, 1)


def test_an_incomplete_answer_leaves_no_snapshot(work: Recovering) -> None:
    work.endpoint.reply(Wait("never"))
    work.session.send("Speak.")
    work.endpoint.wait_reached("never")
    work.editor.lua("require('typstai').stop(nil, function() end)")
    assert work.session.finished() == "cancelled"
    assert work.snapshots() == []


def test_restoring_a_snapshot_is_one_undo_step_and_keeps_the_text_before(
    work: Recovering,
) -> None:
    work.edit("Two.", "2.")
    work.chat_shows("Snapshot")
    work.keys("GoMine.<Esc>")
    edited = work.lines()
    (kept,) = work.snapshots()
    assert work.call("snapshots.restore", kept["id"])["result"] == {"id": kept["id"]}
    assert work.lines()[2:] == ["One.", "2.", "Three."]
    newest, _ = work.snapshots()
    assert newest["kind"] == "before_restore"
    work.keys("u")
    assert work.lines() == edited
    work.keys("<C-r>")
    work.call("snapshots.restore", newest["id"])
    assert work.lines() == edited


def test_the_model_is_told_of_a_restored_snapshot(work: Recovering) -> None:
    work.edit("Two.", "2.")
    work.chat_shows("Snapshot")
    work.keys("GoMine.<Esc>")
    work.call("snapshots.restore", work.snapshots()[0]["id"])
    assert "The writer put main.typ back to an earlier state" in work.talk()


def test_an_automatic_snapshot_goes_when_the_chat_goes_on_with_a_changed_document(
    work: Recovering,
) -> None:
    work.talk()
    first = work.last_run()
    work.snapshot_of(first)
    work.keys("GoMine.<Esc>")
    assert [kept["run"] for kept in work.snapshots()] == [first]
    work.talk()
    work.snapshot_of(work.last_run())
    assert first not in [kept["run"] for kept in work.snapshots()]
    assert work.session.chat().count("Snapshot") == 1


def test_a_chat_that_goes_on_with_the_same_text_keeps_one_snapshot_of_it(
    work: Recovering,
) -> None:
    work.talk()
    work.snapshot_of(work.last_run())
    work.talk()
    work.snapshot_of(work.last_run())
    assert [kept["run"] for kept in work.snapshots()] == [work.last_run()]


def test_an_automatic_snapshot_goes_when_an_edit_of_an_agent_follows(work: Recovering) -> None:
    first = work.edit("One.", "1.")
    work.snapshot_of(first)
    second = work.edit("Two.", "2.")
    work.snapshot_of(second)
    assert [kept["run"] for kept in work.snapshots()] == [second]
    assert work.session.chat().count("Snapshot") == 1


def test_the_command_lists_snapshots_shows_the_difference_and_restores_by_key(
    work: Recovering,
) -> None:
    work.edit("Two.", "2.")
    work.chat_shows("Snapshot")
    work.keys("GoMine.<Esc>")
    work.choose(1)
    work.editor.nvim.command("TypstAI snapshots")
    (asked,) = work.asked()
    assert (asked["kind"], asked["prompt"]) == ("typstai_snapshot", "Snapshots of main.typ")
    assert asked["lines"] == ["just now · 24 B · +0 −1 · after “Write 2.”"]
    assert work.editor.nvim.api.get_option_value("filetype", {}) == "diff"
    assert work.editor.lines()[1:] == [" One.", " 2.", " Three.", "-Mine."]
    assert work.lines()[-1] == "Mine."
    work.editor.feed("<CR>")
    work.editor.wait_for(f"vim.api.nvim_buf_line_count({work.document}) == 5")
    assert work.lines()[2:] == ["One.", "2.", "Three."]


def test_a_document_changed_after_the_difference_was_shown_is_not_overwritten(
    work: Recovering,
) -> None:
    work.edit("Two.", "2.")
    work.chat_shows("Snapshot")
    work.keys("GoMine.<Esc>")
    work.choose(1)
    work.editor.nvim.command("TypstAI snapshots")
    work.asked()
    work.editor.lua("vim.api.nvim_buf_set_lines(..., -1, -1, true, { 'Later.' })", work.document)
    work.editor.feed("<CR>")
    assert work.told()[-1] == "The document changed meanwhile; look again."
    assert work.lines()[-1] == "Later."


def test_closing_the_difference_restores_nothing(work: Recovering) -> None:
    work.edit("Two.", "2.")
    work.chat_shows("Snapshot")
    work.keys("GoMine.<Esc>")
    work.choose(1)
    work.editor.nvim.command("TypstAI snapshots")
    work.asked()
    windows = len(work.editor.nvim.windows)
    work.editor.feed("q")
    assert len(work.editor.nvim.windows) == windows - 1
    assert work.lines()[-1] == "Mine."
    assert len(work.snapshots()) == 1


def test_the_snapshot_key_shows_what_putting_the_answers_state_back_changes(
    work: Recovering,
) -> None:
    work.edit("Two.", "2.")
    work.chat_shows("Revert · Snapshot")
    work.keys("GoMine.<Esc>")
    work.editor.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid('typstai://'))")
    work.editor.feed("?Snapshot<CR>s")
    work.editor.wait_for("vim.bo.filetype == 'diff'")
    assert work.editor.lines()[-1] == "-Mine."


@pytest.mark.parametrize(
    "text",
    [
        "no line end",
        "crlf\r\nline\r\n",
        "\ufeffbom\n",
        "one\n\n\n",
        "日本 e\u0301 🎉\n",
        "a\n" * 3000,
    ],
)
def test_the_text_comes_back_byte_for_byte_whatever_it_is(work: Recovering, text: str) -> None:
    path = work.session.folder / "project" / "odd.typ"
    document = work.session.document(text, "odd.typ")
    before = path.read_bytes()
    work.endpoint.reply(
        tool_calls(("replace_lines", {"start_line": 1, "end_line": 1, "new_content": "x\ny"}))
    )
    work.endpoint.reply(answer("Done."))
    assert work.session.ask("Change it.") == "complete"
    work.session.write(document)
    assert path.read_bytes() != before
    run = work.editor.lua("return _G.sent.ok.run")
    assert work.revert(run)["result"] == {"reverted": [run]}
    work.editor.nvim.command("set nofixendofline")
    work.session.write(document)
    assert path.read_bytes().rstrip(b"\r\n") == before.rstrip(b"\r\n")
    assert work.session.lines(document) == work.editor.lua(
        "return require('typstai.recovery.journal').lines(...)",
        text.replace("\r\n", "\n").lstrip("\ufeff").removesuffix("\n"),
    )
