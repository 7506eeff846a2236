"""One assistant turn while it is being made: kept as a value, shown and saved as it grows.

Text is sent to the screen at once when nothing was sent during the last frame,
else at the end of that frame: many small notifications would stall Neovim.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from ..domain.chat import (
    AssistantTurn,
    Reasoning,
    RunStatus,
    Segment,
    Text,
    ToolState,
    ToolUse,
    segment_to_dict,
    turn_to_dict,
)
from ..domain.proposal import Hunk
from ..domain.tool import ToolCall, ToolOutcome
from . import suggestion
from .providers.base import Price, Usage

FRAME_SECONDS = 0.016
MAX_DETAIL_CHARS = 4_000
_OPEN = ("running", "waiting")
_FINISHED = (
    "id", "status", "error", "seconds", "input_tokens", "output_tokens", "estimated", "cost",
)  # fmt: skip
"""What the last event of a turn tells."""


class Transcript:
    """Builds the turn `turn`; every change goes to `show` and, as a whole turn, to `save`."""

    def __init__(
        self,
        turn: AssistantTurn,
        *,
        show: Callable[[dict[str, Any]], None],
        save: Callable[[AssistantTurn], None],
        price: Price | None = None,
    ) -> None:
        self._turn = turn
        self._price = price
        self._segments: list[Segment] = []
        self._show = show
        self._save = save
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._live: list[str] = []
        """Pieces of the segment that is growing; joined only when it is read."""
        self._live_since = 0.0
        self._decisions: dict[str, Sequence[Hunk]] = {}
        """What the user decided of this turn's proposals, should it end before it says so."""
        self._unsent: list[str] = []
        self._frame: asyncio.TimerHandle | None = None
        self._round = 0
        self._usage = Usage()
        self._announced: list[int] = []
        """Where the calls of this round stand of which only the name is known."""
        show({"kind": "turn", "turn": turn_to_dict(turn)})

    @property
    def turn(self) -> AssistantTurn:
        """The turn as it is now."""
        return replace(self._turn, segments=tuple(self._joined()))

    def shown(self) -> AssistantTurn:
        """The turn as it is on screen once all that has gathered is sent."""
        self._send_rest()
        return self.turn

    def begin_round(self, number: int) -> None:
        """What follows belongs to the model's answer number `number`."""
        self._settle()
        self._round = number
        self._announced = []

    def reasoning(self, text: str) -> None:
        self._grow(Reasoning, text)

    def text(self, text: str) -> None:
        self._grow(Text, text)

    def announce(self, name: str, label: str) -> None:
        """A call's name is known while its arguments still arrive."""
        self._settle()
        self._announced.append(len(self._segments))
        self._add(ToolUse(round=self._round, name=name, label=label))

    def calls(self, calls: tuple[ToolCall, ...]) -> None:
        """The calls of this round are whole: announced ones get their ids and arguments."""
        self._settle()
        for position, call in zip_longest(self._announced[: len(calls)], calls):
            use = ToolUse(round=self._round, id=call.id, name=call.name, arguments=call.arguments)
            if position is None:
                self._add(use)
            else:
                self._put(position, replace(use, label=self._label_at(position)))
        self._announced = []

    def drop_announced(self) -> None:
        """The answer broke off inside its calls: none of them will run."""
        for index, segment in enumerate(self._segments):
            if isinstance(segment, ToolUse) and not segment.id:
                self._put(index, replace(segment, state="cancelled", label="not received whole"))

    def waiting(self, call_id: str, *, label: str, proposal: str = "") -> None:
        """The call waits for the user."""
        index, use = self._use(call_id)
        self._put(index, replace(use, state="waiting", label=label, proposal=proposal))

    def running(self, call_id: str, label: str) -> None:
        index, use = self._use(call_id)
        self._put(index, replace(use, state="running", label=label))

    def ended(self, call_id: str, outcome: ToolOutcome) -> None:
        """The call has its result."""
        index, use = self._use(call_id)
        state = _state(outcome)
        detail = outcome.detail or outcome.text
        self._put(
            index,
            replace(
                use,
                state=state,
                label=outcome.label,
                result=outcome.text,
                detail=detail[:MAX_DETAIL_CHARS],
                proposal=outcome.proposal or use.proposal,
                applied=outcome.applied,
            ),
        )

    def decided(self, proposal: str, hunks: Sequence[Hunk]) -> None:
        """A suggestion of this turn was decided while the run goes on."""
        found = suggestion.decided(self._segments, proposal, hunks)
        if found is not None:
            self._put(*found)
        self._decisions[proposal] = hunks

    def checked(self, proposal: str, line: str, told: str) -> None:
        """What was really applied of a suggestion of this turn was checked."""
        found = suggestion.checked(self._segments, proposal, line, told)
        if found is not None:
            self._put(*found)

    def notice(self, text: str) -> None:
        """Show what holds only now; "" takes it away. It is not kept."""
        self._show({"kind": "notice", "id": self._turn.id, "text": text})

    def note(self, text: str) -> None:
        """Show and keep a sentence about this answer."""
        self._turn = replace(self._turn, notes=(*self._turn.notes, text))
        self._show({"kind": "note", "id": self._turn.id, "text": text})
        self._save(self.turn)

    def used(self, usage: Usage) -> None:
        """Add what one answer cost."""
        self._usage = Usage(
            input_tokens=self._usage.input_tokens + usage.input_tokens,
            output_tokens=self._usage.output_tokens + usage.output_tokens,
            estimated=self._usage.estimated or usage.estimated,
        )

    def finish(self, status: RunStatus, error: str = "") -> AssistantTurn:
        """End the turn: its only terminal event. Calls without a result are cancelled."""
        self._settle()
        for index, segment in enumerate(self._segments):
            if isinstance(segment, ToolUse) and not segment.result and segment.state in _OPEN:
                known = self._decisions.get(segment.proposal, ())
                self._put(index, suggestion.cut_off(segment, known))
        seconds = round(self._loop.time() - self._started, 1)
        self._turn = replace(
            self._turn,
            status=status,
            error=error,
            seconds=seconds,
            input_tokens=self._usage.input_tokens,
            output_tokens=self._usage.output_tokens,
            estimated=self._usage.estimated,
            cost=self._price.of(self._usage) if self._price else 0.0,
        )
        self._show({"kind": "finish", **{key: getattr(self._turn, key) for key in _FINISHED}})
        self._save(self.turn)
        return self.turn

    def _grow(self, kind: type[Reasoning] | type[Text], text: str) -> None:
        if not text:
            return
        if not self._live or not isinstance(self._segments[-1], kind):
            self._settle()
            self._live, self._live_since = [text], self._loop.time()
            self._add(kind(round=self._round, text=text))
            return
        self._live.append(text)
        self._unsent.append(text)
        if self._frame is None:
            self._send()

    def _send(self) -> None:
        """Send what has gathered; keep the gate shut for a frame."""
        self._frame = None
        if not self._unsent:
            return
        text, self._unsent = "".join(self._unsent), []
        self._show(
            {"kind": "append", "id": self._turn.id, "index": len(self._segments), "text": text}
        )
        self._save(self.turn)
        self._frame = self._loop.call_later(FRAME_SECONDS, self._send)

    def _send_rest(self) -> None:
        """Send what has gathered before the frame is over."""
        if self._unsent:
            if self._frame is not None:
                self._frame.cancel()
            self._send()

    def _settle(self) -> None:
        """The growing segment is whole: send the rest and join it."""
        self._send_rest()
        if self._frame is not None:
            self._frame.cancel()
            self._frame = None
        if not self._live:
            return
        segment = self._joined()[-1]
        if isinstance(segment, Reasoning):
            segment = replace(segment, seconds=round(self._loop.time() - self._live_since, 1))
        self._live = []
        if isinstance(segment, Reasoning):
            self._put(len(self._segments) - 1, segment)
        else:
            self._segments[-1] = segment

    def _joined(self) -> list[Segment]:
        if not self._live:
            return self._segments
        last = self._segments[-1]
        assert not isinstance(last, ToolUse)
        return [*self._segments[:-1], replace(last, text="".join(self._live))]

    def _add(self, segment: Segment) -> None:
        self._segments.append(segment)
        self._shown(len(self._segments) - 1)

    def _put(self, index: int, segment: Segment) -> None:
        self._segments[index] = segment
        self._shown(index)

    def _shown(self, index: int) -> None:
        segment = segment_to_dict(self._segments[index])
        self._show({"kind": "segment", "id": self._turn.id, "index": index + 1, "segment": segment})
        self._save(self.turn)

    def _label_at(self, position: int) -> str:
        use = self._segments[position]
        return use.label if isinstance(use, ToolUse) else ""

    def _use(self, call_id: str) -> tuple[int, ToolUse]:
        for index, segment in enumerate(self._segments):
            if isinstance(segment, ToolUse) and segment.id == call_id:
                return index, segment
        raise KeyError(call_id)


def _state(outcome: ToolOutcome) -> ToolState:
    if outcome.proposal:
        return "waiting"
    if outcome.rejected:
        return "rejected"
    return "done" if outcome.ok else "failed"
