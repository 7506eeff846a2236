"""Proposals that live with a typing user: random stories in a real Neovim, against a model.

A story mixes what a writer does (types, joins, moves, sorts, pastes, undoes), what the
agent does (proposes, takes over, applies, forgets), decisions, and taking back: reverts,
and snapshots that are put back. The model is a list of lines with identities and a stack of
texts; it knows no marks and no hashes. So it can say which lines were touched, what must
stand after each step, what one undo must give back, and what can be taken back.

One Neovim with its host plays all stories. `TYPSTAI_FUZZ_EXAMPLES` sets how many.
"""

from __future__ import annotations

import asyncio
import base64
import os
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from editor import Editor, start_editor
from fuzz_model import Model
from typstai.storage.database import Database
from typstai.storage.recovery import RecoveryStore

EXAMPLES = int(os.environ.get("TYPSTAI_FUZZ_EXAMPLES", "2000"))
DRIVER = Path(__file__).with_name("living.lua")

WORDS = [
    "a", "the", "fox", "naïve", "cafe\u0301", "日本語", "👩‍👩‍👧", "𝔘", "\t", "  ", "#strong[x]",
    "\u2028",
]  # fmt: skip
any_line = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\n\x00"), max_size=8
)
prose = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
words = st.lists(st.sampled_from(WORDS[:8]), min_size=2, max_size=6).map(" ".join)
line = st.one_of(prose, words, words, st.sampled_from(["", "same", "}"]), any_line)
texts = st.lists(line, min_size=1, max_size=10)
number = st.integers(0, 30)
few = st.sampled_from([0, 0, 0, 1, 1, 2, 4])
chat = st.sampled_from(["c1", "c2"])
run = st.sampled_from(["r1", "r2", "r3", "r4"])
typed = st.sampled_from(["", "mine", "日", "\u0301", "two\nlines", "\n", "👩‍👩‍👧", "\n\n"])
whole_lines = st.sampled_from(["join", "delete", "copy", "move"])
where = st.sampled_from(["top", "bottom", "start", "finish"])

Step = dict[str, Any]


class Neovim:
    """The one Neovim of all stories, and the store that its host shares with this process."""

    editor: Editor
    folder: Path
    store: RecoveryStore
    runner: asyncio.Runner
    stories = count()


@pytest.fixture(scope="module", autouse=True)
def neovim(nvim_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    Neovim.folder = tmp_path_factory.mktemp("living")
    with asyncio.Runner() as Neovim.runner, start_editor(nvim_binary) as started:
        database = Neovim.runner.run(Database.open(Neovim.folder / "data"))
        Neovim.store = RecoveryStore(database)
        started.lua("vim.g.typstai_data = ...", str(Neovim.folder / "data"))
        started.lua("require('typstai.message').sink = function() end")
        started.nvim.command(f"luafile {DRIVER}")
        Neovim.editor = started
        yield
        database.close()


class Living(RuleBasedStateMachine):
    """Collects a story; it is played and judged as a whole at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.story: dict[str, Any] = {"steps": []}
        self.marks = (chr(0xE000 + i) for i in count())
        self.written: list[str] = []

    @initialize(text=texts, dos=st.booleans())
    def begin(self, text: list[str], dos: bool) -> None:
        self.story |= {"lines": text, "format": "dos" if dos else "unix"}

    def _step(self, name: str, **values: Any) -> None:
        self.story["steps"].append({"name": name, **values})

    def _own(self, text: str) -> str:
        """The text with a mark of its own, by which it is found again."""
        mark = next(self.marks)
        self.written.append(mark)
        return mark + text

    @rule(row=number, text=typed, where=where)
    def type(self, row: int, text: str, where: str) -> None:
        self._step("type", row=row, text=self._own(text), where=where)

    @rule(row=number, rows=few, col=number, col_2=number, text=typed, add=st.booleans())
    def replace(self, row: int, rows: int, col: int, col_2: int, text: str, add: bool) -> None:
        text = self._own(text) if add else text
        self._step("replace", row=row, rows=rows, col=col, col_2=col_2, text=text)

    @rule(name=whole_lines, row=number, rows=few, col=number)
    def move_lines(self, name: str, row: int, rows: int, col: int) -> None:
        self._step(name, row=row, rows=rows + (name == "join"), col=col)

    @rule(name=st.sampled_from(["sort", "substitute", "rewrite"]))
    def whole(self, name: str) -> None:
        self._step(name)

    @rule(row=number, text=typed, where=where)
    def paste(self, row: int, text: str, where: str) -> None:
        self._step("paste", row=row, text=self._own(text), where=where)

    @rule(name=st.sampled_from(["undo", "undo", "redo"]))
    def history(self, name: str) -> None:
        self._step(name)

    @rule(
        name=st.sampled_from(["propose", "propose", "propose", "take_over", "apply"]),
        row=number, rows=st.sampled_from([0, 0, 1, 3, 99]), col=number, new=texts, chat=chat,
        run=run,
    )  # fmt: skip
    def propose(
        self, name: str, row: int, rows: int, col: int, new: list[str], chat: str, run: str
    ) -> None:
        row = 0 if rows == 99 else row
        self._step(name, row=row, rows=rows, col=col, lines=new, chat=chat, run=run)

    @rule(
        name=st.sampled_from(["propose", "propose", "propose", "take_over", "apply"]),
        row=number, col=st.sampled_from([1, 2, 4]), new=words, chat=chat, run=run,
    )  # fmt: skip
    def rephrase(self, name: str, row: int, col: int, new: str, chat: str, run: str) -> None:
        self._step(name, row=row, rows=0, col=col, lines=[new], chat=chat, run=run)

    @rule(name=st.sampled_from(["accept", "reject"]), row=number, whole=st.booleans())
    def decide(self, name: str, row: int, whole: bool) -> None:
        self._step(name, row=row, whole=whole)

    @rule(name=st.sampled_from(["accept_all", "reject_all"]), chat=st.sampled_from([None, "c1"]))
    def decide_all(self, name: str, chat: str | None) -> None:
        self._step(name, **({"chat": chat} if chat else {}))

    @rule(row=number, text=typed)
    def edit(self, row: int, text: str) -> None:
        self._step("edit", row=row, text=text)

    @rule(row=number, rows=few, answers=st.lists(texts, min_size=1, max_size=4), chat=chat)
    def answer(self, row: int, rows: int, answers: list[list[str]], chat: str) -> None:
        """Answers that edit, as mode `auto` has it; the text that they leave is kept."""
        for i, new in enumerate(answers, 1):
            where = {"row": row * i, "rows": rows, "col": 0}
            self._step("apply", **where, lines=new, chat=chat, run=f"r{i}")
        self._step("keep")

    @rule(name=st.sampled_from(["plan", "revert", "revert", "revert"]), row=number)
    def take_back(self, name: str, row: int) -> None:
        self._step(name, row=row)

    @rule(name=st.sampled_from(["keep", "look", "restore"]), row=number)
    def put_back(self, name: str, row: int) -> None:
        self._step(name, row=row)

    @rule(row=number)
    def look_and_put_back(self, row: int) -> None:
        self._step("look", row=row)
        self._step("restore")

    @rule(name=st.sampled_from(["turn", "restart"]), rare=number)
    def meanwhile(self, name: str, rare: int) -> None:
        self._step("kill" if rare == 29 else name)

    def teardown(self) -> None:
        if "lines" in self.story:
            judge(self.story, self.written)


def play(story: dict[str, Any]) -> Any:
    """What was seen after each step of a story (`trace`), and at its end."""
    path = Neovim.folder / f"story-{next(Neovim.stories)}.typ"
    own = {"id": path.stem, "path": str(path)}
    document = Neovim.editor.lua("return living.begin(...)", {**story, **own})
    trace: list[Any] = []
    for steps in split_after(story["steps"], "keep"):
        trace += Neovim.editor.lua("return living.go(...)", steps)
        if steps[-1]["name"] == "keep":
            Neovim.runner.run(keep(path.stem, document, trace[-1]["lines"]))
    told = Neovim.editor.lua("return living.finish(...)", str(path))
    path.unlink()
    return {**told, "trace": trace}


def judge(story: dict[str, Any], written: Sequence[str]) -> None:
    """Play the story and hold every step of it to the model."""
    told = play(story)
    model = Model(story["lines"])
    for step, seen in zip(story["steps"], told["trace"], strict=True):
        model.follow(step, seen)
    assert told["lines"] == model.text
    assert told["drawn"] == 0
    end = "\r\n" if story["format"] == "dos" else "\n"
    saved = "".join(text + end for text in model.text)
    # Neovim writes a buffer without lines, which it shows as one empty line, as nothing.
    assert base64.b64decode(told["data"]).decode() in ((saved, "") if saved == end else (saved,))
    ever = "".join(told["reachable"])
    assert [mark for mark in written if mark not in ever] == []


def split_after(steps: Sequence[Step], name: str) -> Iterator[Sequence[Step]]:
    """The steps in parts, each of which but the last ends with one of that name."""
    start = 0
    for end, step in enumerate(steps, 1):
        if step["name"] == name or end == len(steps):
            yield steps[start:end]
            start = end


async def keep(chat: str, document: str, lines: Sequence[str]) -> None:
    """Store the text as the host does after an answer."""
    body = "\n".join(lines).encode()
    await Neovim.store.take_over()
    await Neovim.store.add_automatic(chat, "kept", document, body, time.time())


def test_random_stories_lose_nothing_typed_and_apply_nothing_that_was_not_pending() -> None:
    run_state_machine_as_test(
        Living,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=16,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
