"""Proposals in a real Neovim: anchors, states, decisions, and what Python is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from pynvim import NvimError

from editor import Editor
from reviewing import Change, call, fill, proposal, propose, record_calls, states, told


@pytest.fixture(autouse=True)
def without_a_host(editor: Editor) -> None:
    record_calls(editor)


def test_a_proposal_changes_neither_text_nor_flags(editor: Editor) -> None:
    fill(editor, ["one", "two"])
    tick = editor.nvim.api.buf_get_changedtick(0)
    propose(editor, (0, ["one"], ["1", "new"]))
    assert editor.lines() == ["one", "two"]
    assert editor.nvim.api.buf_get_changedtick(0) == tick
    assert editor.lua("return vim.bo.modified") is False


def test_listing_gives_the_promised_shape(editor: Editor) -> None:
    fill(editor, ["one", "two"])
    propose(editor, (1, ["two"], ["2", "3"]), verdict="fixes 1 error")
    assert call(editor, "list") == [
        {
            "id": "p1",
            "bufnr": 1,
            "source": "patch_document",
            "call": "k1",
            "verdict": "fixes 1 error",
            "hunks": [
                {
                    "id": "h1",
                    "state": "pending",
                    "start": 1,
                    "finish": 2,
                    "old": ["two"],
                    "new": ["2", "3"],
                }
            ],
        }
    ]
    assert call(editor, "list", 999) == []
    assert call(editor, "pending_count") == 1


def test_a_proposal_that_cannot_be_shown_is_not_kept(editor: Editor) -> None:
    fill(editor, ["one", "two"])
    editor.lua("_G.attach = require('typstai.review.keymaps').attach")
    editor.lua("require('typstai.review.keymaps').attach = function() error('no such key') end")
    with pytest.raises(NvimError, match="no such key"):
        propose(editor, (0, ["one"], ["1"]))
    assert call(editor, "pending_count") == 0
    assert call(editor, "list") == []
    assert call(editor, "accept", "p1") == "unknown_proposal"
    editor.lua("require('typstai.review.keymaps').attach = _G.attach")
    propose(editor, (0, ["one"], ["1"]))
    call(editor, "accept", "p1")
    assert editor.lines() == ["1", "two"]


TAKE_OVER = """
local method, args, break_first = ...
args.takes_over = { { proposal = "p1", hunk = "h1" } }
if break_first then
  require("typstai.review.draw").pending = function() error("no drawing") end
end
local ok, result, err = pcall(require("typstai.proposals")[method], args)
return { ok, err and err.code or vim.NIL }
"""


def test_what_a_proposal_took_over_comes_back_when_it_cannot_be_shown(editor: Editor) -> None:
    fill(editor, ["one", "two"])
    propose(editor, (0, ["one"], ["1"]), name="p1")
    later = proposal((0, ["one"], ["I"]), name="p2")
    assert editor.lua(TAKE_OVER, "propose", later, True)[0] is False
    (left,) = call(editor, "list")
    assert (left["id"], left["hunks"][0]["state"]) == ("p1", "pending")
    assert told(editor) == []
    call(editor, "accept", "p1")
    assert editor.lines() == ["1", "two"]


def test_what_a_proposal_took_over_comes_back_when_it_cannot_be_applied(
    editor: Editor, tmp_path: Path
) -> None:
    editor.lua("vim.g.typstai_data = ...", str(tmp_path))
    fill(editor, ["one", "two"])
    propose(editor, (0, ["one"], ["1"]), name="p1")
    (tmp_path / "journal").write_text("in the way", encoding="utf-8")
    later = proposal((0, ["one"], ["I"]), name="p2")
    assert editor.lua(TAKE_OVER, "apply", later, False) == [True, "not_stored"]
    assert states(editor) == ["pending"]
    (tmp_path / "journal").unlink()
    assert editor.lua(TAKE_OVER, "apply", {**later, "id": "p3"}, False) == [True, None]
    assert (editor.lines(), call(editor, "list")) == (["I", "two"], [])
    ended = {item["params"]["id"]: item["params"]["hunks"][0]["state"] for item in told(editor)}
    assert ended == {"p1": "merged", "p3": "accepted"}


def test_what_a_proposal_of_which_nothing_fits_would_have_taken_over_stays(
    editor: Editor,
) -> None:
    fill(editor, ["one", "two"])
    propose(editor, (0, ["one"], ["1"]), name="p1")
    later = proposal((0, ["uno"], ["I"]), name="p2")
    editor.lua(TAKE_OVER, "propose", later, False)
    (left,) = call(editor, "list")
    assert (left["id"], left["hunks"][0]["state"]) == ("p1", "pending")


def test_a_proposal_and_its_end_are_announced(editor: Editor) -> None:
    editor.record("TypstAIProposal", "TypstAIProposalResolved")
    fill(editor, ["one", "two"])
    propose(editor, (0, ["one"], ["1"]), (1, ["two"], ["2"]))
    (shown,) = editor.seen("TypstAIProposal")
    assert (shown["id"], shown["bufnr"], len(shown["hunks"])) == ("p1", 1, 2)
    call(editor, "accept", "p1", {"hunk": "h1"})
    assert told(editor) == []
    call(editor, "reject", "p1", {"hunk": "h2", "reason": "no"})
    assert editor.seen("TypstAIProposalResolved") == [{"id": "p1", "accepted": 1, "rejected": 1}]
    (message,) = told(editor)
    assert message["method"] == "proposal.resolved"
    decided = [(hunk["state"], hunk["reason"]) for hunk in message["params"]["hunks"]]
    assert decided == [("accepted", ""), ("rejected", "no")]


def test_a_decided_id_says_so_and_changes_nothing(editor: Editor) -> None:
    fill(editor, ["one", "two"])
    propose(editor, (0, ["one"], ["one", "one"]), (1, ["two"], ["2"]))
    assert call(editor, "accept", "p1", {"hunk": "h1"}) == {"accepted": 1, "stale": 0}
    assert call(editor, "accept", "p1", {"hunk": "h1"}) == "already_resolved"
    call(editor, "accept", "p1")
    lines = editor.lines()
    assert call(editor, "accept", "p1") == "already_resolved"
    assert call(editor, "reject", "p1") == "already_resolved"
    assert call(editor, "accept", "nobody") == "unknown_proposal"
    assert editor.lines() == lines == ["one", "one", "2"]
    assert len(told(editor)) == 1


def test_the_same_id_twice_and_text_with_line_breaks_are_refused(editor: Editor) -> None:
    fill(editor, ["one"])
    propose(editor, (0, ["one"], ["1"]))
    assert propose(editor, (0, ["one"], ["1"]))["error"]["code"] == "duplicate"
    broken = propose(editor, (0, ["one"], ["a\nb"]), name="p2")
    assert broken["error"]["code"] == "invalid_text"


def test_typing_above_moves_a_hunk(editor: Editor) -> None:
    fill(editor, ["one", "two"])
    propose(editor, (1, ["two"], ["2"]))
    editor.feed("ggOadded above<CR>and more<Esc>")
    assert states(editor) == ["pending"]
    call(editor, "accept", "p1")
    assert editor.lines() == ["added above", "and more", "one", "2"]


def test_a_line_opened_right_above_or_below_a_hunk_stays(editor: Editor) -> None:
    fill(editor, ["one", "two", "three"])
    propose(editor, (1, ["two"], ["2"]))
    editor.feed("2GOabove<Esc>joobelow<Esc>")
    call(editor, "accept", "p1")
    assert editor.lines() == ["one", "above", "2", "obelow", "three"]


@pytest.mark.parametrize("keys", ["Iin<Esc>", "ain<Esc>", "Ain<Esc>", "x", "cwother<Esc>", "dd"])
def test_typing_inside_a_hunk_makes_it_stale_and_undo_makes_it_pending(
    editor: Editor, keys: str
) -> None:
    fill(editor, ["one", "the second line", "three"])
    propose(editor, (1, ["the second line"], ["2"]), (2, ["three"], ["3"]))
    editor.feed("2G" + keys)
    typed = editor.lines()
    assert states(editor) == ["stale", "pending"]
    assert call(editor, "accept", "p1", {"hunk": "h1"}) == "stale"
    assert editor.lines() == typed
    editor.feed("u")
    assert states(editor) == ["pending", "pending"]
    call(editor, "accept", "p1")
    assert editor.lines() == ["one", "2", "3"]


def test_a_deleted_line_is_not_mistaken_for_its_equal_neighbour(editor: Editor) -> None:
    fill(editor, ["same", "same", "same", "", ""])
    propose(editor, (1, ["same"], ["changed"]), (3, [""], ["filled"]))
    editor.feed("2Gdd3Gdd")
    assert editor.lines() == ["same", "same", ""]
    assert states(editor) == ["stale", "stale"]


@pytest.mark.parametrize("keys", ["3Gdd", "2Gdd", "2Go<Esc>"])
def test_a_hunk_of_equal_lines_notices_that_one_of_them_went_or_came(
    editor: Editor, keys: str
) -> None:
    fill(editor, ["a", "", "", "", "b"])
    propose(editor, (1, ["", ""], ["filled"]))
    editor.feed(keys)
    assert states(editor) == ["stale"]
    editor.feed("u")
    assert states(editor) == ["pending"]
    call(editor, "accept", "p1")
    assert editor.lines() == ["a", "filled", "", "b"]


def test_lines_joined_into_a_hunk_make_it_stale_until_undone(editor: Editor) -> None:
    fill(editor, ["one", "two"])
    propose(editor, (1, ["two"], ["2"]), (1, [], ["between"]))
    editor.feed("ggJ")
    assert states(editor)[0] == "stale"
    editor.feed("u")
    assert states(editor) == ["pending", "pending"]
    call(editor, "accept", "p1")
    assert editor.lines() == ["one", "between", "2"]


@pytest.mark.parametrize("order", [(1, 2, 3, 4), (4, 3, 2, 1), (3, 1, 4, 2), (2, 4, 1, 3)])
def test_hunks_accepted_in_any_order_give_the_same_text(
    editor: Editor, order: tuple[int, ...]
) -> None:
    fill(editor, ["a", "b", "c", "d", "e"])
    propose(
        editor,
        (0, [], ["top", "two lines"]),
        (1, ["b"], ["B1", "B2", "B3"]),
        (2, ["c", "d"], []),
        (5, [], ["end"]),
    )
    for number in order:
        call(editor, "accept", "p1", {"hunk": f"h{number}"})
    assert editor.lines() == ["top", "two lines", "a", "B1", "B2", "B3", "e", "end"]


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_two_insertions_at_one_place_keep_their_order(
    editor: Editor, order: tuple[int, ...]
) -> None:
    fill(editor, ["a", "b"])
    propose(editor, (1, [], ["first"]))
    propose(editor, (1, [], ["second"]), name="p2")
    for number in order:
        call(editor, "accept", f"p{number}")
    assert editor.lines() == ["a", "first", "second", "b"]


def test_the_whole_call_is_one_undo_step(editor: Editor) -> None:
    fill(editor, ["a", "b", "c"])
    propose(editor, (0, ["a"], ["A"]), (1, [], ["new"]), (2, ["c"], []))
    assert call(editor, "accept", "p1") == {"accepted": 3, "stale": 0}
    assert editor.lines() == ["A", "new", "b"]
    editor.feed("u")
    assert editor.lines() == ["a", "b", "c"]


def test_each_hunk_is_an_undo_step_and_the_others_follow_the_undo(editor: Editor) -> None:
    fill(editor, ["a", "b", "c"])
    propose(editor, (0, ["a"], ["A", "A2"]), (2, ["c"], ["C"]))
    call(editor, "accept", "p1", {"hunk": "h1"})
    editor.feed("u")
    call(editor, "accept", "p1", {"hunk": "h2"})
    assert editor.lines() == ["a", "b", "C"]


def test_rejecting_leaves_the_text_and_what_the_user_typed(editor: Editor) -> None:
    fill(editor, ["one", "two"])
    propose(editor, (0, ["one"], ["1"]), (1, ["two"], ["2"]))
    editor.feed("GA typed<Esc>")
    assert call(editor, "reject", "p1") == {"rejected": 2}
    assert editor.lines() == ["one", "two typed"]
    assert [hunk["state"] for hunk in told(editor)[0]["params"]["hunks"]] == ["rejected"] * 2


def test_accepting_a_call_ends_its_stale_hunks_too(editor: Editor) -> None:
    fill(editor, ["one", "two"])
    propose(editor, (0, ["one"], ["1"]), (1, ["two"], ["2"]))
    editor.feed("ggxG")
    assert call(editor, "accept", "p1") == {"accepted": 1, "stale": 1}
    hunks = told(editor)[0]["params"]["hunks"]
    assert [(hunk["state"], bool(hunk["reason"])) for hunk in hunks] == [
        ("stale", True),
        ("accepted", False),
    ]
    assert editor.lines() == ["ne", "2"]


def test_accepting_all_of_a_chat_leaves_other_chats_alone(editor: Editor) -> None:
    fill(editor, ["one", "two", "three"])
    propose(editor, (0, ["one"], ["1"]), chat="c1")
    propose(editor, (1, ["two"], ["2"]), name="p2", chat="c2")
    propose(editor, (2, ["three"], ["3"]), name="p3", chat="c1")
    assert call(editor, "accept_all", "c1") == {"accepted": 2, "stale": 0}
    assert editor.lines() == ["1", "two", "3"]
    assert call(editor, "reject_all") == {"rejected": 1}
    assert call(editor, "pending_count") == 0


def test_accepting_all_of_two_buffers_is_one_undo_step_in_each(
    editor: Editor, tmp_path: Path
) -> None:
    first = editor.open(tmp_path / "a.typ", "one\ntwo\n")
    propose(editor, (0, ["one"], ["1"]), (1, ["two"], ["2"]), bufnr=first)
    second = editor.open(tmp_path / "b.typ", "one\ntwo\n")
    propose(editor, (1, ["two"], ["zwei"]), name="p2", bufnr=second)
    call(editor, "accept_all")
    assert (editor.lines(first), editor.lines(second)) == (["1", "2"], ["one", "zwei"])
    editor.nvim.command(f"buffer {first} | undo")
    assert (editor.lines(first), editor.lines(second)) == (["one", "two"], ["one", "zwei"])


def test_of_two_proposals_for_one_line_only_the_first_accepted_lands(editor: Editor) -> None:
    fill(editor, ["one", "two"])
    propose(editor, (0, ["one"], ["1"]))
    propose(editor, (0, ["one"], ["uno"]), name="p2")
    call(editor, "accept", "p2")
    assert states(editor) == ["stale"]
    call(editor, "accept", "p1")
    assert editor.lines() == ["uno", "two"]


EDGES: list[tuple[list[str], Change, list[str]]] = [
    ([""], (0, [""], ["filled", "twice"]), ["filled", "twice"]),
    ([""], (0, [], ["before"]), ["before", ""]),
    (["a", "b"], (0, ["a", "b"], []), [""]),
    (["a", "b"], (0, ["a", "b"], [""]), [""]),
    (["a", "b"], (2, [], ["end"]), ["a", "b", "end"]),
    (["a", "b"], (1, ["b"], []), ["a"]),
    (["a", ""], (1, [""], ["b", ""]), ["a", "b", ""]),
]


@pytest.mark.parametrize(("lines", "change", "wanted"), EDGES)
def test_edges_of_the_document(
    editor: Editor, lines: list[str], change: Change, wanted: list[str]
) -> None:
    fill(editor, lines)
    propose(editor, change)
    assert call(editor, "accept", "p1") == {"accepted": 1, "stale": 0}
    assert editor.lines() == wanted
    editor.feed("u")
    assert editor.lines() == lines


def test_a_locked_buffer_refuses_and_the_hunk_stays_pending(editor: Editor) -> None:
    fill(editor, ["one"])
    propose(editor, (0, ["one"], ["1"]))
    editor.nvim.command("setlocal nomodifiable")
    assert call(editor, "accept", "p1") == "not_modifiable"
    assert states(editor) == ["pending"]
    editor.nvim.command("setlocal modifiable")
    assert call(editor, "accept", "p1") == {"accepted": 1, "stale": 0}


def test_writing_the_file_accepts_nothing(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.typ"
    editor.open(path, "one\ntwo\n")
    propose(editor, (1, ["two"], ["2"]))
    editor.nvim.command("normal! Atyped")
    editor.nvim.command("write")
    assert path.read_text(encoding="utf-8") == "onetyped\ntwo\n"
    assert states(editor) == ["pending"]


def test_a_formatter_that_changes_other_lines_on_save_keeps_a_hunk_pending(
    editor: Editor, tmp_path: Path
) -> None:
    editor.open(tmp_path / "a.typ", "one  \n\n\ntwo\n")
    propose(editor, (3, ["two"], ["2"]))
    editor.nvim.command("autocmd BufWritePre * %s/\\s\\+$//e | g/^$/d")
    editor.nvim.command("write")
    assert editor.lines() == ["one", "two"]
    assert states(editor) == ["pending"]
    call(editor, "accept", "p1")
    assert editor.lines() == ["one", "2"]


def test_a_formatter_that_writes_the_whole_buffer_anew_does_not_lose_a_unique_hunk(
    editor: Editor, tmp_path: Path
) -> None:
    editor.open(tmp_path / "a.typ", "one\ntwo\nsame\nsame\n")
    propose(editor, (1, ["two"], ["2"]), (3, ["same"], ["x"]))
    new = ["", "one", "", "two", "same", "same"]
    editor.nvim.api.buf_set_lines(0, 0, -1, True, ["gone"])
    editor.nvim.api.buf_set_lines(0, 0, -1, True, new)
    assert states(editor) == ["pending", "stale"]
    editor.feed("uu")
    assert states(editor) == ["pending", "pending"]
    editor.feed("<C-r><C-r>")
    call(editor, "accept", "p1", {"hunk": "h1"})
    assert editor.lines() == ["", "one", "", "2", "same", "same"]


def test_a_proposal_survives_that_its_file_is_read_again(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "a.typ"
    editor.open(path, "one\ntwo\nthree\n")
    propose(editor, (1, ["two"], ["2"]), (2, ["three"], ["3"]))
    path.write_text("one\ntwo\nthree, from elsewhere\n", encoding="utf-8")
    editor.nvim.command("edit!")
    assert states(editor) == ["pending", "stale"]
    call(editor, "accept", "p1")
    assert editor.lines() == ["one", "2", "three, from elsewhere"]


def test_a_proposal_survives_that_its_buffer_is_unloaded(editor: Editor, tmp_path: Path) -> None:
    editor.nvim.command("set nohidden")
    bufnr = editor.open(tmp_path / "a.typ", "one\ntwo\n")
    propose(editor, (1, ["two"], ["2"]))
    editor.open(tmp_path / "b.typ", "other\n")
    assert editor.lua("return vim.api.nvim_buf_is_loaded(...)", bufnr) is False
    assert call(editor, "accept", "p1") == {"accepted": 1, "stale": 0}
    assert editor.lines(bufnr) == ["one", "2"]


def test_wiping_the_buffer_withdraws_its_proposals(editor: Editor, tmp_path: Path) -> None:
    editor.record("TypstAIProposalResolved")
    bufnr = editor.open(tmp_path / "a.typ", "one\n")
    propose(editor, (0, ["one"], ["1"]))
    editor.nvim.command(f"bwipeout! {bufnr}")
    assert editor.seen("TypstAIProposalResolved") == [{"id": "p1", "accepted": 0, "rejected": 1}]
    (message,) = told(editor)
    assert message["params"]["hunks"][0]["state"] == "rejected"
    assert call(editor, "list") == []


def test_an_edited_hunk_lands_as_edited(editor: Editor) -> None:
    fill(editor, ["one", "two"])
    propose(editor, (0, ["one"], ["1"]))
    assert call(editor, "edit", "p1", "h1", "first\nand more") is True
    call(editor, "accept", "p1")
    assert editor.lines() == ["first", "and more", "two"]
    assert told(editor)[0]["params"]["hunks"][0]["new"] == ["first", "and more"]


def test_a_hunk_edited_until_it_changes_nothing_makes_no_undo_step(editor: Editor) -> None:
    fill(editor, ["", "two"])
    propose(editor, (0, [""], ["1"]))
    call(editor, "edit", "p1", "h1", "")
    before = editor.nvim.funcs.undotree()["seq_last"]
    call(editor, "accept", "p1")
    assert editor.lines() == ["", "two"]
    assert editor.nvim.funcs.undotree()["seq_last"] == before


def test_a_hunk_is_edited_in_a_scratch_buffer_and_taken_over_by_write(editor: Editor) -> None:
    fill(editor, ["one", "two"])
    propose(editor, (0, ["one"], ["1"]))
    call(editor, "edit", "p1")
    assert editor.lines() == ["1"]
    editor.feed("A mine<Esc>")
    editor.nvim.command("write | close")
    call(editor, "accept", "p1")
    assert editor.lines() == ["1 mine", "two"]


def test_the_diff_for_the_chat_has_old_and_new_numbers(editor: Editor) -> None:
    fill(editor, [f"line {number}" for number in range(1, 13)])
    propose(editor, (0, [], ["new"]), (8, ["line 9"], ["nine", "more"]), (11, ["line 12"], []))
    lines = [line["text"] for line in call(editor, "diff_lines", "p1")]
    assert lines == [
        "@@ -0,0 +1,1 @@",
        "    1 + new",
        "@@ -9,1 +10,2 @@",
        " 9    - line 9",
        "   10 + nine",
        "   11 + more",
        "@@ -12,1 +13,0 @@",
        "12    - line 12",
    ]
    assert call(editor, "diff_lines", "nobody") == []


def test_apply_is_one_step_and_announces_its_end(editor: Editor) -> None:
    editor.record("TypstAIProposalResolved")
    fill(editor, ["one", "two"])
    args = proposal((1, ["two"], ["2"]))
    reply = editor.lua("return require('typstai.rpc').dispatch('proposals.apply', ...)", args)
    assert reply["result"][0]["state"] == "accepted"
    assert editor.lines() == ["one", "2"]
    assert editor.seen("TypstAIProposalResolved") == [{"id": "p1", "accepted": 1, "rejected": 0}]
    editor.feed("u")
    assert editor.lines() == ["one", "two"]
