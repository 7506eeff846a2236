"""What every editor promises, held by the double and by a real Neovim alike."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from desk import Desk, MemoryDesk, NvimDesk, change, proposal
from typstai.domain.proposal import Hunk
from typstai.editor.port import ApprovalDecision, ApprovalRequest
from typstai.errors import EditorError


@pytest.fixture(params=["memory", "nvim"])
def desk(request: pytest.FixtureRequest) -> Desk:
    if request.param == "memory":
        return MemoryDesk()
    return NvimDesk(request.getfixturevalue("editor"))


def hunk(number: int, row0: int, old: Sequence[str], new: Sequence[str]) -> Hunk:
    return Hunk(id=f"h{number}", row0=row0, old=tuple(old), new=tuple(new))


def states(hunks: Sequence[Hunk]) -> list[str]:
    return [item.state for item in hunks]


def test_a_snapshot_is_the_text_of_the_buffer(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("= Title\n\nnaïve 日本語 e\u0301")
        snapshot = await desk.editor.snapshot(bufnr)
        assert snapshot.lines == ("= Title", "", "naïve 日本語 e\u0301")
        assert (snapshot.bufnr, snapshot.path, snapshot.modifiable) == (bufnr, "", True)

    desk.run(story)


def test_a_snapshot_of_a_buffer_that_is_gone_says_so(desk: Desk) -> None:
    async def story() -> None:
        with pytest.raises(EditorError) as refused:
            await desk.editor.snapshot(999)
        assert refused.value.code == "no_buffer"

    desk.run(story)


def test_a_document_beyond_the_limit_is_refused(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("é" * 1_000_000)
        with pytest.raises(EditorError) as refused:
            await desk.editor.snapshot(bufnr)
        assert refused.value.code == "too_large"

    desk.run(story)


def test_refine_finds_the_lines_that_really_change(desk: Desk) -> None:
    async def story() -> None:
        found = await desk.editor.refine(
            [
                change(10, ["a", "b", "c", "d"], ["a", "B", "c", "d", "e"]),
                change(20, ["x", "y"], ["y"]),
            ]
        )
        assert [(item.id, item.row0, item.old, item.new) for item in found] == [
            ("h1", 11, ("b",), ("B",)),
            ("h2", 14, (), ("e",)),
            ("h3", 20, ("x",), ()),
        ]
        assert await desk.editor.refine([change(0, ["same"], ["same"])]) == ()

    desk.run(story)


def test_a_proposal_leaves_the_text_alone(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("one\ntwo")
        shown = await desk.editor.propose(proposal(bufnr, [hunk(1, 0, ["one"], ["1"])]))
        assert states(shown) == ["pending"]
        assert await desk.lines(bufnr) == ("one", "two")

    desk.run(story)


def test_the_decision_comes_when_the_last_hunk_is_decided(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("one\ntwo\nthree")
        hunks = [hunk(1, 0, ["one"], ["1"]), hunk(2, 2, ["three"], ["3", "4"])]
        await desk.editor.propose(proposal(bufnr, hunks))
        waiting = asyncio.ensure_future(desk.editor.decision("p1"))
        await desk.accept("p1", "h2")
        assert not waiting.done()
        await desk.reject("p1", "h1", "keep the word")
        first, second = await waiting
        assert (first.state, first.reason, second.state) == (
            "rejected",
            "keep the word",
            "accepted",
        )
        assert await desk.lines(bufnr) == ("one", "two", "3", "4")

    desk.run(story)


def test_a_decision_made_before_anyone_waits_is_not_lost(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("one")
        await desk.editor.propose(proposal(bufnr, [hunk(1, 0, ["one"], ["1"])]))
        await desk.accept("p1")
        assert states(await desk.editor.decision("p1")) == ["accepted"]
        assert states(await desk.editor.decision("p1")) == ["accepted"]

    desk.run(story)


def test_cancelling_the_wait_leaves_the_proposal_pending(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("one")
        await desk.editor.propose(proposal(bufnr, [hunk(1, 0, ["one"], ["1"])]))
        waiting = asyncio.ensure_future(desk.editor.decision("p1"))
        await asyncio.sleep(0)
        waiting.cancel()
        await desk.accept("p1")
        assert states(await desk.editor.decision("p1")) == ["accepted"]

    desk.run(story)


def test_a_decision_on_an_unknown_proposal_is_refused(desk: Desk) -> None:
    async def story() -> None:
        with pytest.raises(EditorError) as refused:
            await desk.editor.decision("nobody")
        assert refused.value.code == "unknown_proposal"

    desk.run(story)


def test_withdrawing_rejects_what_is_left_and_wakes_who_waits(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("one\ntwo")
        hunks = [hunk(1, 0, ["one"], ["1"]), hunk(2, 1, ["two"], ["2"])]
        await desk.editor.propose(proposal(bufnr, hunks))
        waiting = asyncio.ensure_future(desk.editor.decision("p1"))
        await desk.accept("p1", "h1")
        assert states(await desk.editor.withdraw("p1")) == ["accepted", "rejected"]
        assert states(await waiting) == ["accepted", "rejected"]
        assert states(await desk.editor.withdraw("p1")) == ["accepted", "rejected"]
        assert await desk.lines(bufnr) == ("1", "two")

    desk.run(story)


def test_a_hunk_whose_lines_are_not_there_comes_back_stale(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("one\ntwo")
        hunks = [hunk(1, 0, ["other"], ["x"]), hunk(2, 1, ["two"], ["2"])]
        shown = await desk.editor.propose(proposal(bufnr, hunks))
        assert states(shown) == ["stale", "pending"]
        await desk.accept("p1")
        assert states(await desk.editor.decision("p1")) == ["stale", "accepted"]
        assert await desk.lines(bufnr) == ("one", "2")

    desk.run(story)


def test_a_proposal_of_which_nothing_fits_is_decided_at_once(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("one")
        await desk.editor.propose(proposal(bufnr, [hunk(1, 0, ["other"], ["x"])]))
        assert states(await desk.editor.decision("p1")) == ["stale"]
        assert await desk.lines(bufnr) == ("one",)

    desk.run(story)


def test_a_hunk_follows_lines_added_above_it(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("one\ntwo")
        await desk.editor.propose(proposal(bufnr, [hunk(1, 1, ["two"], ["2"])]))
        await desk.replace_lines(bufnr, 0, 0, ["new", "lines"])
        await desk.accept("p1")
        assert await desk.lines(bufnr) == ("new", "lines", "one", "2")

    desk.run(story)


def test_a_hunk_whose_lines_the_user_changed_is_never_applied(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("one\ntwo")
        await desk.editor.propose(proposal(bufnr, [hunk(1, 1, ["two"], ["2"])]))
        await desk.replace_lines(bufnr, 1, 2, ["two, mine"])
        await desk.accept("p1")
        assert states(await desk.editor.decision("p1")) == ["stale"]
        assert await desk.lines(bufnr) == ("one", "two, mine")

    desk.run(story)


def test_hunks_accepted_from_the_top_land_where_they_belong(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("a\nb\nc\nd")
        hunks = [
            hunk(1, 0, ["a"], ["1", "2", "3"]),
            hunk(2, 2, [], ["new"]),
            hunk(3, 3, ["d"], []),
        ]
        await desk.editor.propose(proposal(bufnr, hunks))
        for key in ("h1", "h2", "h3"):
            await desk.accept("p1", key)
        assert await desk.lines(bufnr) == ("1", "2", "3", "b", "new", "c")

    desk.run(story)


def test_apply_makes_what_fits_and_says_what_did_not(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("one\ntwo")
        hunks = [hunk(1, 0, ["gone"], ["x"]), hunk(2, 1, ["two"], ["2", "3"])]
        assert states(await desk.editor.apply(proposal(bufnr, hunks))) == ["stale", "accepted"]
        assert await desk.lines(bufnr) == ("one", "2", "3")

    desk.run(story)


def test_apply_to_a_buffer_that_is_locked_is_refused(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("one", modifiable=False)
        with pytest.raises(EditorError) as refused:
            await desk.editor.apply(proposal(bufnr, [hunk(1, 0, ["one"], ["1"])]))
        assert refused.value.code == "not_modifiable"
        assert await desk.lines(bufnr) == ("one",)

    desk.run(story)


def test_a_buffer_that_is_gone_takes_no_proposal(desk: Desk) -> None:
    async def story() -> None:
        for refuse in (desk.editor.propose, desk.editor.apply):
            with pytest.raises(EditorError) as refused:
                await refuse(proposal(999, [hunk(1, 0, ["one"], ["1"])]))
            assert refused.value.code == "no_buffer"

    desk.run(story)


def test_everything_can_be_deleted_and_an_empty_buffer_filled(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("one\ntwo")
        await desk.editor.apply(proposal(bufnr, [hunk(1, 0, ["one", "two"], [])]))
        assert await desk.lines(bufnr) == ("",)
        filled = proposal(bufnr, [hunk(1, 0, [""], ["new"])], proposal_id="p2")
        await desk.editor.apply(filled)
        assert await desk.lines(bufnr) == ("new",)

    desk.run(story)


SENTENCES = "Schön hier. Same. Bad one."
PARTS = [
    Hunk(id="h1", row0=1, byte_col=0, old=("Schön hier.",), new=("Nicht so schön hier.",)),
    Hunk(id="h2", row0=1, byte_col=19, old=("Bad one.",), new=("Good one.",)),
]


def test_parts_of_a_line_are_decided_one_by_one(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open(f"top\n{SENTENCES}")
        shown = await desk.editor.propose(proposal(bufnr, PARTS))
        assert [(item.state, item.byte_col) for item in shown] == [("pending", 0), ("pending", 19)]
        await desk.accept("p1", "h1")
        (left,) = await desk.editor.pending(bufnr, "c1")
        assert (left.ref.hunk, left.row0, left.byte_col, left.old) == ("h2", 1, 28, ("Bad one.",))
        await desk.accept("p1", "h2")
        assert await desk.lines(bufnr) == ("top", "Nicht so schön hier. Same. Good one.")
        assert states(await desk.editor.decision("p1")) == ["accepted", "accepted"]

    desk.run(story)


def test_all_parts_of_a_line_are_applied_at_once(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open(f"top\n{SENTENCES}")
        assert states(await desk.editor.apply(proposal(bufnr, PARTS))) == ["accepted"] * 2
        assert await desk.lines(bufnr) == ("top", "Nicht so schön hier. Same. Good one.")

    desk.run(story)


def test_the_users_change_of_one_part_leaves_the_other_pending(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open(f"top\n{SENTENCES}")
        await desk.editor.propose(proposal(bufnr, PARTS))
        await desk.replace_lines(bufnr, 1, 2, ["new", "Schön, ja, hier. Same. Bad one."])
        (left,) = await desk.editor.pending(bufnr, "c1")
        assert (left.ref.hunk, left.row0, left.byte_col) == ("h2", 2, 24)
        await desk.accept("p1")
        assert states(await desk.editor.decision("p1")) == ["stale", "accepted"]
        assert await desk.lines(bufnr) == ("top", "new", "Schön, ja, hier. Same. Good one.")

    desk.run(story)


def test_a_part_that_is_not_there_comes_back_stale(desk: Desk) -> None:
    async def story() -> None:
        bufnr = await desk.open("short")
        assert states(await desk.editor.propose(proposal(bufnr, PARTS))) == ["stale"] * 2

    desk.run(story)


def test_a_file_that_is_not_there_cannot_be_opened(desk: Desk) -> None:
    async def story() -> None:
        with pytest.raises(EditorError) as refused:
            await desk.editor.open_file("/nowhere/at/all.typ")
        assert refused.value.code == "not_found"

    desk.run(story)


def test_a_run_without_a_captured_place_has_none(desk: Desk) -> None:
    async def story() -> None:
        assert await desk.editor.place("r1", "selection") is None

    desk.run(story)


QUESTION = ApprovalRequest(
    id="q1", chat="c1", run="r1", call="k1", tool="word_count", effect="Sends the text.",
    destination="127.0.0.1:8931", arguments="{}",
)  # fmt: skip


async def until_asked(desk: Desk) -> None:
    while not await desk.asked():
        await asyncio.sleep(0)


def test_a_question_waits_for_the_users_answer(desk: Desk) -> None:
    async def story() -> None:
        waiting = asyncio.ensure_future(desk.editor.approve(QUESTION))
        await until_asked(desk)
        assert await desk.asked() == ["q1"]
        await desk.answer("q1", "deny", "not now")
        assert await waiting == ApprovalDecision(answer="deny", reason="not now")

    desk.run(story)


def test_cancelling_a_question_takes_it_down(desk: Desk) -> None:
    async def story() -> None:
        waiting = asyncio.ensure_future(desk.editor.approve(QUESTION))
        await until_asked(desk)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await desk.asked() == []

    desk.run(story)
