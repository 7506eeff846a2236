"""One chat: its turns, and at most one run at a time."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ..domain.chat import (
    AssistantTurn,
    RunStatus,
    Selection,
    ToolUse,
    Turn,
    UserTurn,
    replace_segment,
    turn_to_dict,
)
from ..domain.ledger import Ledger
from ..domain.proposal import Hunk
from ..domain.verdict import Verdict
from ..errors import StorageError, TypstAIError
from ..log import logger
from . import history, suggestion
from .images import Attached
from .loop import Loop
from .prompt import system_prompt
from .providers import cut
from .providers.base import Image, Model, Price
from .run import Recheck, Run
from .tools.toolset import ToolSet
from .transcript import Transcript

DEFAULT_WINDOW_TOKENS = 64_000
ANSWER_SHARE = 0.25
"""Part of the window that is left free for the answer."""


class Recorder(Protocol):
    """Where turns are kept."""

    async def save(self, turn: Turn) -> None:
        """Store the turn now; raises `StorageError`."""
        ...

    def begin(self, turn: AssistantTurn) -> None:
        """Have it stored that this turn is being written, before anything is in it."""
        ...

    def save_soon(self, turn: AssistantTurn) -> None:
        """Store the newest state of a growing turn before long; does not wait."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a run works with."""

    model: Model
    tools: ToolSet
    context_window: int | None
    extra_prompt: str
    price: Price | None = None


class BusyError(TypstAIError):
    """A run is active; nothing was queued and the text is still in the prompt."""


class Conversation:
    """The turns of one chat and the task that may be adding to them."""

    def __init__(
        self,
        chat: str,
        turns: Sequence[Turn],
        *,
        recorder: Recorder,
        show: Callable[[dict[str, Any]], None],
        ended: Callable[[Run, RunStatus], None],
    ) -> None:
        self.chat = chat
        self.turns: list[Turn] = list(turns)
        self._recorder = recorder
        self._show = show
        self._ended = ended
        self.ledger = Ledger()
        self.rechecks: dict[str, Recheck] = {}
        self._transcript: Transcript | None = None
        self._task: asyncio.Task[None] | None = None
        self._claimed = False

    @property
    def running(self) -> bool:
        return self._claimed

    @property
    def idle(self) -> bool:
        """Whether no run is active, and none is storing its end."""
        return not self._claimed and (self._task is None or self._task.done())

    def shown(self) -> list[Turn]:
        """All turns; of the one being written, what the later events continue."""
        if self._transcript is None:
            return list(self.turns)
        return [*self.turns, self._transcript.shown()]

    def refresh(self, turns: Sequence[Turn]) -> bool:
        """Take over what the store holds: another Neovim may have added turns to this chat.

        Returns whether there was anything new in it.
        """
        if not self.idle:
            return False
        before, self.turns = self.turns, list(turns)
        return _stages(before) != _stages(self.turns)

    def is_elsewhere(self, turns: Sequence[Turn]) -> bool:
        """Whether the store says that another process is writing an answer to this chat."""
        own = {turn.id for turn in self.turns if not _is_running(turn)}
        return self.idle and any(_is_running(turn) and turn.id not in own for turn in turns)

    async def send(
        self,
        text: str,
        run: Run,
        means: Means,
        *,
        file: str,
        selections: tuple[Selection, ...],
        images: tuple[Attached, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> None:
        """Store the user's turn and start a run. Raises `BusyError`, `StorageError`."""
        if self._claimed:
            raise BusyError("An answer is still running: wait for it, or stop it with <C-c>.")
        self._claimed = True
        try:
            turn = UserTurn(
                id=uuid.uuid4().hex,
                text=text,
                file=file,
                selections=selections,
                images=tuple(image.kept for image in images),
                notes=notes,
                at=time.time(),
            )
            await self._recorder.save(turn)
        except BaseException:
            self._claimed = False
            raise
        self.turns.append(turn)
        self._show({"kind": "turn", "turn": turn_to_dict(turn)})
        sent = {turn.id: tuple(image.sent for image in images)}
        self._task = asyncio.create_task(self._work(run, means, sent), name=f"run {run.id}")
        # Let it begin: a task that is cancelled before would end without a word.
        await asyncio.sleep(0)

    async def stop(self) -> None:
        """End the active run, if any, and wait until it has ended."""
        task = self._task
        if task is not None and not task.done():
            # Once only, and not when it is already storing its end: both must run through.
            if self._claimed and not task.cancelling():
                task.cancel()
            await asyncio.wait([task])

    async def _work(self, run: Run, means: Means, images: Mapping[str, tuple[Image, ...]]) -> None:
        before, dropped = history.fitting(self.turns, _budget(means, run))
        turn = AssistantTurn(id=run.id, model=means.model.name, at=time.time())
        transcript = Transcript(
            turn, show=self._show, save=self._recorder.save_soon, price=means.price
        )
        self._transcript = transcript
        # At once: another Neovim is to know that this chat is being answered.
        self._recorder.begin(turn)
        loop = Loop(
            run,
            model=means.model,
            tools=means.tools,
            before=before,
            left_out=dropped,
            images=images,
            transcript=transcript,
            extra_prompt=means.extra_prompt,
            has_remarked=_has_remark(self.turns),
        )
        status, error = await _outcome(loop)
        transcript.drop_announced()
        finished = transcript.finish(status, error)
        self.turns.append(finished)
        self._transcript = None
        self._claimed = False
        await self._keep(finished)
        self._ended(run, status)

    async def decided(self, proposal: str, hunks: Sequence[Hunk]) -> None:
        """A proposal that no run waits for any more was decided: its call says so from now on.

        What was applied is checked after that where it is not what was proposed.
        """
        if self._transcript is not None:
            self._transcript.decided(proposal, hunks)
        await self._rewrite(lambda turn: suggestion.decided(turn.segments, proposal, hunks))
        verdict = await self._recheck(proposal, hunks)
        if verdict is None:
            return
        line, told = verdict.line(), verdict.for_model()
        if self._transcript is not None:
            self._transcript.checked(proposal, line, told)
        await self._rewrite(lambda turn: suggestion.checked(turn.segments, proposal, line, told))

    async def _recheck(self, proposal: str, hunks: Sequence[Hunk]) -> Verdict | None:
        recheck = self.rechecks.pop(proposal, None)
        try:
            return await recheck(hunks) if recheck else None
        except TypstAIError as error:  # then the call goes on saying that it is not checked
            logger.warning("proposal %s is not checked as applied: %s", proposal, error)
            return None

    async def _rewrite(self, find: Callable[[AssistantTurn], tuple[int, ToolUse] | None]) -> None:
        for index, turn in enumerate(self.turns):
            found = None if isinstance(turn, UserTurn) else find(turn)
            if isinstance(turn, AssistantTurn) and found is not None:
                await self._change(index, replace_segment(turn, *found))

    async def _change(self, index: int, turn: AssistantTurn) -> None:
        self.turns[index] = turn
        await self._keep(turn)
        self._show({"kind": "turn", "turn": turn_to_dict(turn)})

    async def _keep(self, turn: AssistantTurn) -> None:
        try:
            await self._recorder.save(turn)
        except StorageError as error:
            logger.error("chat %s: %s", self.chat, error)
            self._show({"kind": "turn", "turn": turn_to_dict(replace(turn, error=str(error)))})


def _budget(means: Means, run: Run) -> int:
    """Characters that the chat may have: the window without the answer and the instructions."""
    window = (means.context_window or DEFAULT_WINDOW_TOKENS) * (1 - ANSWER_SHARE)
    told = [system_prompt(means.extra_prompt)]
    for spec in means.tools.specs(run.mode):
        told += [spec.name, spec.description, json.dumps(spec.parameters)]
    return int(window * history.CHARS_PER_TOKEN) - sum(map(len, told))


def _has_remark(turns: Sequence[Turn]) -> bool:
    """Whether the user was told in this chat that its server drops text."""
    notes = (note for turn in turns if isinstance(turn, AssistantTurn) for note in turn.notes)
    return any(note.startswith(cut.BEGINS) for note in notes)


def _is_running(turn: Turn) -> bool:
    return isinstance(turn, AssistantTurn) and turn.status == "running"


def _stages(turns: Sequence[Turn]) -> list[tuple[str, str, int]]:
    """What tells two states of a chat apart."""
    return [
        (turn.id, turn.status, len(repr(turn.segments)) if _is_running(turn) else 0)
        if isinstance(turn, AssistantTurn)
        else (turn.id, "", 0)
        for turn in turns
    ]


async def _outcome(loop: Loop) -> tuple[RunStatus, str]:
    """How the run ended: the one place where its failures become words."""
    try:
        return await loop.work()
    except asyncio.CancelledError:
        return "cancelled", ""
    except TypstAIError as error:
        logger.warning("run failed: %s", error)
        return "failed", str(error)
    except Exception as error:
        logger.exception("run failed")
        return "failed", f"typstai failed ({type(error).__name__}). See :TypstAI log."
