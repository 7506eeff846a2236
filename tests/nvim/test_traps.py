"""How tools of this kind fail in the hands of their users: each known trap, walked into.

A test's name is the trap as its victims tell it; the test shows that it does not shut.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from editor import ROOT
from endpoint import Endpoint, Wait, answer, tool_calls
from session import Session
from terminal import Terminal

LIST = "return require('typstai').proposals.list()"
TOOL_LINES = "table.concat(require('typstai').chat.lines(), '\\n'):find(args[1], 1, true)"


def replaced(search: str, replace: str) -> tuple[str, dict[str, str]]:
    return ("search_replace", {"search": search, "replace": replace})


def told(endpoint: Endpoint, request: int) -> str:
    """What the model was told last before its answer number `request`, from 0."""
    return endpoint.wait_requests(request + 1)[request].body["messages"][-1]["content"]


def suggest(session: Session, endpoint: Endpoint, text: str, *calls: tuple[str, Any]) -> int:
    """A document with the suggestions of these calls pending; its number."""
    session.use(endpoint, approval="suggest")
    document = session.document(text)
    endpoint.reply(tool_calls(*calls))
    endpoint.reply(answer("Suggested."))
    assert session.ask("Do it.") == "complete"
    session.show(document)
    return document


# Edits


def test_selected_lines_are_stored_as_numbers_and_the_user_adds_lines_above(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("a\nb\nselected\nd\n")
    session.editor.feed("3GV:TypstAI add selection<CR>")
    endpoint.reply(Wait("typed"), *tool_calls(("replace_selection", {"text": "SELECTED"})))
    endpoint.reply(answer("Done."))
    session.send("Upper case.")
    endpoint.wait_reached("typed")
    session.show(document)
    session.editor.feed("<Esc>ggO1<CR>2<CR>3<Esc>")
    endpoint.release("typed")
    assert session.finished() == "complete"
    assert session.lines(document) == ["1", "2", "3", "a", "b", "SELECTED", "d"]


def test_the_wrong_lines_are_replaced_for_per_hunk_reject_after_lines_were_added_above(
    session: Session, endpoint: Endpoint
) -> None:
    edits = [{"search": word, "replace": word.upper()} for word in ("one", "three", "five")]
    text = "one\ntwo\nthree\nfour\nfive\n"
    document = suggest(session, endpoint, text, ("patch_document", {"edits": edits}))
    session.editor.feed(r"ggOx<CR>y<Esc>/three<CR>\r/five<CR>\a/one<CR>\a")
    assert session.lines(document) == ["x", "y", "ONE", "two", "three", "four", "FIVE"]


def test_reject_restores_the_whole_saved_buffer_and_later_typing_is_gone(
    session: Session, endpoint: Endpoint
) -> None:
    document = suggest(session, endpoint, "one\ntwo\n", replaced("one", "1"))
    session.editor.feed(r"GA typed<Esc>gg\R")
    assert session.lines(document) == ["one", "two typed"]


def test_revert_restores_the_whole_saved_buffer_and_later_typing_is_gone(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("one\n\ntwo\n")
    endpoint.reply(tool_calls(replaced("one", "1")))
    endpoint.reply(answer("Done."))
    assert session.ask("Numbers.") == "complete"
    session.show(document)
    session.editor.feed("GA typed<Esc>")
    run = session.editor.lua("return _G.seen.TypstAIRunFinished[1].run")
    session.editor.lua(
        "require('typstai').runs.revert(..., function(err) _G.reverted = err or true end)", run
    )
    session.editor.wait_for("_G.reverted")
    assert session.lines(document)[2] == "two typed"


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_first_hunk_changes_the_length_and_the_second_lands_on_old_rows(
    session: Session, endpoint: Endpoint, order: tuple[int, ...]
) -> None:
    calls = [
        replaced("one\n", "1\n1b\n1c\n"),
        replaced("three\nfour\n", "3\n"),
        replaced("six", "6\n7"),
    ]
    text = "one\ntwo\nthree\nfour\nfive\nsix\n"
    document = suggest(session, endpoint, text, *calls)
    ids = [item["id"] for item in session.editor.lua(LIST)]
    for index in order:
        session.editor.lua("require('typstai').proposals.accept(...)", ids[index])
    assert session.lines(document) == ["1", "1b", "1c", "two", "3", "five", "6", "7"]


def test_the_text_to_replace_occurs_several_times_and_the_first_is_taken_in_silence(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("same\n\nother\n\nsame\n")
    endpoint.reply(tool_calls(replaced("same", "changed")))
    endpoint.reply(answer("I see."))
    assert session.ask("Change it.") == "complete"
    assert told(endpoint, 1).startswith("error ambiguous: the text occurs 2 times (lines 1, 5)")
    assert session.lines(document) == ["same", "", "other", "", "same"]


def test_a_fuzzy_match_changes_a_similar_neighbour_line(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="auto")
    text = "#set page(width: 10cm)\n#set page(width: 11cm)\n"
    document = session.document(text)
    endpoint.reply(tool_calls(replaced("#set page(width: 12cm)", "#set page(width: 9cm)")))
    endpoint.reply(answer("I see."))
    assert session.ask("Narrow it.") == "complete"
    assert told(endpoint, 1).startswith("error not_found: the text is not in the document.")
    assert "1: #set page(width: 10cm)" in told(endpoint, 1)
    assert session.lines(document) == text.split("\n")[:-1]


def test_two_open_files_and_a_diff_computed_against_the_other_files_text(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="suggest")
    (session.folder / "project").mkdir()
    (session.folder / "project" / "typst.toml").write_text("", encoding="utf-8")
    other = session.document("same\n\nonly here\n", "other.typ")
    main = session.document("zero\n\nsame\n")
    endpoint.reply(tool_calls(replaced("same", "MAIN")))
    endpoint.reply(tool_calls(("open_project_file", {"path": "other.typ"})))
    endpoint.reply(tool_calls(replaced("same", "OTHER")))
    endpoint.reply(answer("Done."))
    session.send("Both.")
    session.editor.seen("TypstAIApprovalRequested")
    (question,) = session.editor.lua("return require('typstai').approvals.list()")
    session.editor.lua("require('typstai').approvals.answer(..., 'once')", question["id"])
    assert session.finished() == "complete"
    first, second = session.editor.lua(LIST)
    assert (first["bufnr"], second["bufnr"]) == (main, other)
    session.editor.nvim.command("TypstAI accept")
    assert session.lines(main) == ["zero", "", "MAIN"]
    assert session.lines(other) == ["OTHER", "", "only here"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize(
    ("first", "last", "wanted"), [(1, 1, "bc"), (2, 2, "ac"), (3, 3, "ab"), (2, 3, "a")]
)
def test_the_last_line_without_a_final_newline_is_lost_or_doubled_by_deleting(
    session: Session,
    endpoint: Endpoint,
    end: str,
    final: bool,
    first: int,
    last: int,
    wanted: str,
) -> None:
    session.use(endpoint, approval="auto")
    session.editor.nvim.command("set nofixendofline")
    closing = end if final else ""
    document = session.document(end.join("abc") + closing)
    arguments = {"start_line": first, "end_line": last, "new_content": ""}
    endpoint.reply(tool_calls(("replace_lines", arguments)))
    endpoint.reply(answer("Done."))
    assert session.ask("Delete it.") == "complete"
    assert session.lines(document) == list(wanted)
    session.write(document)
    path = session.folder / "project" / "main.typ"
    assert path.read_bytes().decode() == end.join(wanted) + closing


def test_an_autosave_or_format_on_save_plugin_counts_as_acceptance(
    session: Session, endpoint: Endpoint
) -> None:
    document = suggest(session, endpoint, "one\n\ntwo  \n", replaced("one", "1"))
    session.editor.nvim.command("autocmd BufWritePre <buffer> silent %!sed 's/ *$//'")
    session.editor.nvim.command("autocmd TextChanged <buffer> ++nested silent write")
    session.editor.nvim.command("doautocmd TextChanged | write")
    assert session.lines(document) == ["one", "", "two"]
    path = session.folder / "project" / "main.typ"
    assert path.read_text(encoding="utf-8") == "one\n\ntwo\n"
    assert [item["hunks"][0]["state"] for item in session.editor.lua(LIST)] == ["pending"]


def test_format_on_save_rewrites_the_accepted_text_so_that_the_next_edit_no_longer_matches(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("one\n\ntwo\n")
    session.editor.nvim.command("autocmd BufWritePre <buffer> silent %!sed 's/ *$//'")
    endpoint.reply(tool_calls(("read_document", {})))
    endpoint.reply(tool_calls(replaced("one", "1   ")))
    endpoint.reply(Wait("saved"), *tool_calls(replaced("1   ", "I"), replaced("two", "2")))
    endpoint.reply(answer("Done."))
    session.send("Numbers.")
    endpoint.wait_reached("saved")
    session.write(document)
    assert session.lines(document)[0] == "1"
    endpoint.release("saved")
    assert session.finished() == "complete"
    assert session.lines(document)[2] == "2"
    assert session.lines(document)[0] in ("1", "I")


def test_an_undo_step_joined_with_what_the_user_typed_and_undo_errors_right_after_an_undo(
    session: Session, endpoint: Endpoint
) -> None:
    edits = [{"search": word, "replace": word.upper()} for word in ("one", "three")]
    text = "one\ntwo\nthree\n"
    document = suggest(session, endpoint, text, ("patch_document", {"edits": edits}))
    editor = session.editor
    editor.feed("2GA typed")
    editor.lua("require('typstai.proposals').accept_all()")
    editor.feed(" more<Esc>")
    assert session.lines(document) == ["ONE", "two typed more", "THREE"]
    editor.feed("u")
    assert session.lines(document) == ["ONE", "two typed", "THREE"]
    editor.feed("u")
    assert session.lines(document) == ["one", "two typed", "three"]
    endpoint.reply(tool_calls(replaced("three", "3")))
    endpoint.reply(answer("Suggested."))
    assert session.ask("Again.") == "complete"
    editor.lua("require('typstai.proposals').accept_all()")
    assert session.lines(document) == ["one", "two typed", "3"]
    session.show(document)
    editor.feed("uu")
    assert session.lines(document) == ["one", "two", "three"]
    assert "E790" not in editor.messages()


def test_stopping_rolls_back_work_that_was_already_accepted(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    document = session.document("one\n\ntwo\n")
    endpoint.reply(tool_calls(replaced("one", "1")))
    endpoint.reply(tool_calls(replaced("two", "2")))
    session.send("Numbers.")
    first = session.proposal()
    session.editor.lua("require('typstai').proposals.accept(...)", first["id"])
    session.editor.wait_for(
        "(require('typstai').proposals.list()[1] or { id = args[1] }).id ~= args[1]", first["id"]
    )
    session.editor.lua("require('typstai').stop(nil, function() end)")
    assert session.finished() == "cancelled"
    assert session.lines(document) == ["1", "", "two"]
    assert session.editor.lua(LIST) == []


def test_a_stopped_call_hides_from_the_model_what_of_it_was_already_accepted(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    document = session.document("one\n\ntwo\n")
    edits = [{"search": "one", "replace": "1"}, {"search": "two", "replace": "2"}]
    endpoint.reply(tool_calls(("patch_document", {"edits": edits})))
    session.send("Numbers.")
    first = session.proposal()
    session.editor.lua("require('typstai').proposals.accept(..., { hunk = 'h1' })", first["id"])
    session.editor.lua("require('typstai').stop(nil, function() end)")
    assert session.finished() == "cancelled"
    assert session.lines(document) == ["1", "", "two"]
    endpoint.reply(answer("I see."))
    assert session.ask("And?") == "complete"
    told = [m["content"] for m in endpoint.requests[1].body["messages"] if m["role"] == "tool"]
    assert "1 accepted, 1 rejected" in told[0]


@pytest.mark.parametrize("broken", ["$a \times b$", "$\frac(a, b)$", "\backslash", "\rho"])
def test_json_escapes_turn_a_backslash_into_a_control_character_and_destroy_markup(
    session: Session, endpoint: Endpoint, broken: str
) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("one\n\ntwo\n")
    endpoint.reply(tool_calls(replaced("one", broken)))
    endpoint.reply(answer("I see."))
    assert session.ask("A formula.") == "complete"
    assert told(endpoint, 1).startswith("error ")
    assert session.lines(document) == ["one", "", "two"]


def test_text_marked_as_deleted_is_sent_to_the_model_as_if_it_stood_there(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="suggest")
    session.document("one\n\ntwo\n\nthree\n")
    endpoint.reply(tool_calls(replaced("two\n\n", "")))
    endpoint.reply(tool_calls(("read_document", {})))
    endpoint.reply(answer("Done."))
    assert session.ask("Shorten.") == "complete"
    assert "two" not in told(endpoint, 2)
    assert "1: one\n2: \n3: three" in told(endpoint, 2)


# Editor

PLACES = [
    ("¿qué? 日本語 👩‍👩‍👧 cafe\u0301\tend", "0f日vf語<Esc>", "日本語"),
    ("¿qué? 日本語 👩‍👩‍👧 cafe\u0301\tend", "0v<Esc>", "¿"),
    ("¿qué? 日本語 👩‍👩‍👧 cafe\u0301\tend", "0f👩v<Esc>", "👩‍👩‍👧"),
    ("¿qué? 日本語 👩‍👩‍👧 cafe\u0301", "$v<Esc>", "e\u0301"),
    ("one 日本", "0fov$<Esc>", "one 日本"),
    ("one 日本", "$vb<Esc>", "日本"),
    ("one\ttab", "0f\tv<Esc>", "\t"),
]


@pytest.mark.parametrize(("line", "keys", "wanted"), PLACES)
def test_columns_are_mixed_and_the_last_multibyte_character_of_a_selection_is_cut(
    session: Session, endpoint: Endpoint, line: str, keys: str, wanted: str
) -> None:
    session.use(endpoint, approval="auto")
    document = session.document(f"above\n{line}\nbelow\n")
    session.editor.feed(f"2G{keys}")
    session.editor.feed(":TypstAI add selection<CR>")
    endpoint.reply(tool_calls(("replace_selection", {"text": "<>"})))
    endpoint.reply(answer("Done."))
    assert session.ask("Replace.") == "complete"
    asked = endpoint.requests[0].body["messages"][-1]["content"]
    assert f"main.typ:2-2\n{wanted}\n" in asked
    assert session.lines(document) == ["above", line.replace(wanted, "<>", 1), "below"]


def test_a_character_column_is_taken_for_bytes_when_text_is_inserted_at_the_cursor(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("日本語 👩‍👩‍👧 e\u0301x\n")
    session.editor.feed("0fx")
    endpoint.reply(tool_calls(("insert_at_cursor", {"text": "→"})))
    endpoint.reply(answer("Done."))
    assert session.ask("Insert.") == "complete"
    assert session.lines(document) == ["日本語 👩‍👩‍👧 e\u0301→x"]


def test_virtual_lines_above_line_1_are_invisible_or_a_spacer_line_is_saved(
    nvim_binary: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.typ"
    path.write_text("first\nsecond\n", encoding="utf-8")
    propose = (
        "lua require('typstai.rpc').call = function() end "
        "require('typstai.proposals').propose({ id = 'p', bufnr = 1, path = '', chat = '', "
        "run = '', call = '', source = '', verdict = '', hunks = { { id = 'h1', row0 = 0, "
        "old = {}, new = { 'a new first line' }, state = 'pending', reason = '' } } })"
    )
    argv = [
        nvim_binary, "--clean", "-n", "-i", "NONE", "--cmd", f"set runtimepath^={ROOT}",
        str(path), "-c", propose,
    ]  # fmt: skip
    with Terminal(argv, columns=80, lines=10) as terminal:
        terminal.wait_for("a new first line")
        terminal.send(":silent write\r")
        terminal.send(":echo 'saved'\r")
        terminal.wait_for("saved")
        assert path.read_text(encoding="utf-8") == "first\nsecond\n"
        terminal.send("\\a")
        terminal.wait_for(lambda text: "\\a accept" not in text)
        terminal.wait_for(lambda text: text.split("\n")[:2] == ["a new first line", "first"])


def test_stop_is_ignored_while_a_change_waits_for_the_user(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    document = session.document("one\n")
    endpoint.reply(tool_calls(replaced("one", "1")))
    session.send("Numbers.")
    session.proposal()
    session.editor.lua("require('typstai').stop(nil, function() end)")
    assert session.finished() == "cancelled"
    assert session.editor.lua(LIST) == []
    assert session.lines(document) == ["one"]
    endpoint.reply(answer("Here I am."))
    assert session.ask("Are you there?") == "complete"


def test_a_nul_or_a_line_break_in_a_new_line_breaks_nvim_buf_set_lines(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("one\n\ntwo\n")
    endpoint.reply(tool_calls(replaced("one", "a\x00b"), replaced("two", "c\u2028d\x85e")))
    endpoint.reply(answer("Done."))
    assert session.ask("Odd characters.") == "complete"
    assert session.lines(document) == ["one", "", "c\u2028d\x85e"]
