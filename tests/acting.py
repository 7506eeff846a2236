"""Text actions on an editor of Python lists, with an answer that the test writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from typstai.domain.action import ActionResult
from typstai.domain.diagnostic import CheckResult
from typstai.domain.proposal import Hunk, Proposal
from typstai.domain.spelling import Mistake
from typstai.editor.memory import MemoryEditor
from typstai.editor.port import Place
from typstai.errors import TypstAIError
from typstai.typst.prose import TypstProse
from typstai.writing.templates import BUILT_IN, REDACT, Fragments, Prompt, Template
from typstai.writing.text_action import Means, Work, run

WORK = "w1"
Answer = str | TypstAIError | Callable[[str], str]
"""What the model says, or makes of the passage that it is given."""


class NoChecker:
    """Finds every document as it was."""

    async def check(self, *, root: str, path: str, overlay: dict[str, str]) -> CheckResult:
        return CheckResult(status="checked")


class NoSpeller:
    """Knows no language."""

    def __init__(self, found: Sequence[Mistake] | None = None) -> None:
        self._found = found

    async def mistakes(self, text: str) -> Sequence[Mistake] | None:
        return self._found


@dataclass(kw_only=True)
class Acted:
    """An action that ended."""

    result: ActionResult
    editor: MemoryEditor
    bufnr: int
    asked: list[tuple[Fragments, Prompt]]
    proposals: list[Proposal]
    hunks: list[Hunk] = field(default_factory=list[Hunk])

    @property
    def accepted(self) -> str:
        """The document with everything accepted."""
        for proposal in self.proposals:
            self.editor.accept(proposal.id)
        return "\n".join(self.editor.lines(self.bufnr))


def template(action: str) -> Template:
    return next(item for item in (*BUILT_IN, REDACT) if item.id == action)


def act(
    document: str,
    answer: Answer | None,
    *,
    on: str | None = None,
    action: str | Template = "rephrase",
    modifiable: bool = True,
    mistakes: Sequence[Mistake] | None = None,
    meanwhile: Callable[[MemoryEditor, int], None] | None = None,
    **params: str,
) -> Acted:
    """Do an action on the first occurrence of `on`, or on the whole document, to its end.

    Without an answer there is no model. `meanwhile` is done while the model works.
    """
    editor = MemoryEditor()
    bufnr = editor.add(document, path="/p/main.typ", modifiable=modifiable)
    target = document if on is None else on
    editor.places[WORK, "selection"] = place(document, bufnr, target)
    asked: list[tuple[Fragments, Prompt]] = []
    proposals: list[Proposal] = []
    editor.on_proposal = proposals.append

    async def generate(fragments: Fragments, prompt: Prompt) -> str:
        asked.append((fragments, prompt))
        if meanwhile:
            meanwhile(editor, bufnr)
        if isinstance(answer, TypstAIError):
            raise answer
        return answer(fragments.target) if callable(answer) else str(answer)

    chosen = template(action) if isinstance(action, str) else action
    work = Work(id=WORK, template=chosen, params=params)
    means = Means(
        editor=editor,
        reader=TypstProse(),
        checker=NoChecker(),
        speller=NoSpeller(mistakes),
        generate=None if answer is None else generate,
        root="/p",
        context_blocks=2,
    )
    result = asyncio.run(run(work, means))
    hunks = [hunk for proposal in proposals for hunk in proposal.hunks]
    return Acted(
        result=result, editor=editor, bufnr=bufnr, asked=asked, proposals=proposals, hunks=hunks
    )


def place(document: str, bufnr: int, target: str, *, changed: bool = False) -> Place:
    """Where the text stands, as Neovim would say it."""
    start = document.index(target)
    row0, byte_col = _position(document, start)
    end_row0, end_byte_col = _position(document, start + len(target))
    return Place(
        bufnr=bufnr,
        row0=row0,
        byte_col=byte_col,
        end_row0=end_row0,
        end_byte_col=end_byte_col,
        text=target,
        changed=changed,
    )


def _position(document: str, offset: int) -> tuple[int, int]:
    before = document[:offset]
    return before.count("\n"), len(before.rpartition("\n")[2].encode())
