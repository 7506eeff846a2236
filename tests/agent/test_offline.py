"""The offline model: a fixed policy over the real tools and the real compiler."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from typstai.agent.loop import Loop
from typstai.agent.providers.offline import OfflineModel
from typstai.agent.run import Run, Target
from typstai.agent.tools.builtin import builtin_tools
from typstai.agent.transcript import Transcript
from typstai.domain.chat import AssistantTurn, Mode, Text, UserTurn
from typstai.domain.ledger import Ledger
from typstai.editor.memory import MemoryEditor
from typstai.editor.port import ApprovalDecision
from typstai.typst.compiler import TypstCompiler
from typstai.typst.findings import TypstLeaks
from typstai.typst.outline import TypstOutline
from typstai.typst.project import DiskFiles
from typstai.typst.reference import Reference


@pytest.fixture
async def compiler() -> AsyncIterator[TypstCompiler]:
    made = TypstCompiler()
    yield made
    await made.close()


class Desk:
    """A project on disk, open in the memory editor, worked on by the offline model."""

    def __init__(self, folder: Path, compiler: TypstCompiler, **files: str) -> None:
        self.folder = folder
        self.compiler = compiler
        (folder / "typst.toml").write_text("", encoding="utf-8")
        texts = {str(folder / f"{name}.typ"): text for name, text in files.items()}
        for path, text in texts.items():
            Path(path).write_text(text, encoding="utf-8")
        self.editor = MemoryEditor(texts)
        self.editor.on_approval = lambda request: ApprovalDecision(answer="once")
        self.bufnr = self.editor.add(texts[str(folder / "main.typ")].removesuffix("\n"),
                                     path=str(folder / "main.typ"))  # fmt: skip

    async def ask(self, text: str, mode: Mode = "edit") -> str:
        run = Run(
            id="run", chat="chat", root=str(self.folder), mode=mode, approval="auto",
            target=Target(bufnr=self.bufnr), editor=self.editor, checker=self.compiler,
            leaks=TypstLeaks(), files=DiskFiles(), docs=Reference(), outline=TypstOutline(),
            ledger=Ledger(), tool_rounds=32,
        )  # fmt: skip
        transcript = Transcript(AssistantTurn(id="run"), show=ignore, save=ignore)
        loop = Loop(
            run, model=OfflineModel(), tools=builtin_tools(), before=[UserTurn(text=text)],
            transcript=transcript,
        )  # fmt: skip
        status, _ = await loop.work()
        assert status == "complete"
        segments = transcript.turn.segments
        return "".join(item.text for item in segments if isinstance(item, Text))


def ignore(_: object) -> None:
    pass


@pytest.mark.parametrize(
    ("broken", "fixed"),
    [
        ("The value is #strnog[high].\n", "The value is #strong[high]."),
        ("#v(12)\ntext\n", "#v(12pt)\ntext"),
        ("It is #emph[here.\n", "It is #emph[here.]"),
        ("## Heading\n\ntext\n", "== Heading\n\ntext"),
        ("This is **bold** text.\n", "This is *bold* text."),
        ("This is \\textbf{bold} text.\n", "This is *bold* text."),
        ("\\section{Results}\n\ntext\n", "= Results\n\ntext"),
        ("#strnog[a]\n\n#v(3)\n\n**b**\n", "#strong[a]\n\n#v(3pt)\n\n*b*"),
    ],
)
async def test_errors_with_a_known_fix_are_fixed(
    tmp_path: Path, compiler: TypstCompiler, broken: str, fixed: str
) -> None:
    desk = Desk(tmp_path, compiler, main=broken)
    said = await desk.ask("Please fix the errors.")
    assert "\n".join(desk.editor.lines(desk.bufnr)) == fixed
    assert "no errors, no warnings" in said


async def test_it_says_that_it_is_rule_based(tmp_path: Path, compiler: TypstCompiler) -> None:
    said = await Desk(tmp_path, compiler, main="text\n").ask("Write me a poem.")
    assert "rule-based" in said
    assert ":help typstai-models" in said


async def test_errors_of_another_file_are_fixed_there(
    tmp_path: Path, compiler: TypstCompiler
) -> None:
    main = '#include "one.typ"\n\n#include "two.typ"\n'
    desk = Desk(tmp_path, compiler, main=main, one="#emhp[x]\n", two="#strnog[y]\n")
    said = await desk.ask("fix the errors")
    assert "no errors, no warnings" in said
    assert desk.editor.lines(2) == ("#emph[x]",)
    assert desk.editor.lines(3) == ("#strong[y]",)


async def test_a_file_that_may_not_be_opened_is_left_alone(
    tmp_path: Path, compiler: TypstCompiler
) -> None:
    desk = Desk(tmp_path, compiler, main='#include "one.typ"\n', one="#emhp[x]\n")
    desk.editor.on_approval = lambda request: ApprovalDecision(answer="deny")
    said = await desk.ask("fix the errors")
    assert "unknown variable: emhp" in said


async def test_a_rejected_fix_is_not_proposed_again(
    tmp_path: Path, compiler: TypstCompiler
) -> None:
    desk = Desk(tmp_path, compiler, main="This is **bold**.\n")
    desk.editor.replace_lines(desk.bufnr, 0, 1, ["This is **bold**."])
    said = await desk.ask("fix the errors", mode="read")
    assert desk.editor.lines(desk.bufnr) == ("This is **bold**.",)
    assert "without a known fix that you accepted" in said


async def test_an_error_without_a_known_fix_is_reported(
    tmp_path: Path, compiler: TypstCompiler
) -> None:
    desk = Desk(tmp_path, compiler, main="#let x = 1 / 0\n")
    assert "cannot divide by zero" in await desk.ask("fix the errors")


async def test_a_question_is_not_taken_for_a_wish_to_edit(
    tmp_path: Path, compiler: TypstCompiler
) -> None:
    desk = Desk(tmp_path, compiler, main="#strnog[x]\n")
    await desk.ask("How long is this?")
    assert desk.editor.lines(desk.bufnr) == ("#strnog[x]",)
