"""The agent's loop: ask the model, carry out its calls, until it has nothing more to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import assert_never

from ..domain.chat import Reasoning, RunStatus, Segment, Text, ToolUse, Turn
from ..domain.tool import ToolCall, ToolSpec
from ..errors import ModelError
from . import history
from .prompt import system_prompt
from .providers.base import (
    Done,
    Image,
    Model,
    ModelRequest,
    Notice,
    ReasoningDelta,
    TextDelta,
    ToolCallStarted,
    UserMessage,
)
from .providers.retry import Retrying
from .providers.text_calls import holds_calls
from .run import Run
from .tools.order import in_order
from .tools.toolset import Invocation, ToolSet
from .transcript import Transcript

SUM_UP = "The limit of tool rounds is reached: say briefly what is done and what is left."
OFFER_TEXT_TOOLS = (
    "The model wrote its tool calls as text, so none was run. `:TypstAI tools text` reads them"
    " from its answers from now on."
)
ONLY_THOUGHT = "The model thought, but gave no answer. Ask it to go on, or choose another model."
SAID_NOTHING = "The model ended without an answer. Send the message again, or choose another model."


class Loop:
    """One run over one transcript.

    `before` are the turns that came earlier, the request last, without the
    `left_out` oldest; `images` those of the request, by the id of its turn.
    `has_remarked`: what the server gives away of itself was told in this chat.
    """

    def __init__(
        self,
        run: Run,
        *,
        model: Model,
        tools: ToolSet,
        before: Sequence[Turn],
        transcript: Transcript,
        left_out: int = 0,
        images: Mapping[str, tuple[Image, ...]] | None = None,
        extra_prompt: str = "",
        has_remarked: bool = False,
    ) -> None:
        self._run = run
        self._model = Retrying(model)
        self._tools = tools
        self._before = before
        self._left_out = left_out
        self._images = images
        self._transcript = transcript
        self._system = system_prompt(extra_prompt)
        self._has_remarked = has_remarked
        if left_out:
            transcript.note(_told_left_out(left_out))

    async def work(self) -> tuple[RunStatus, str]:
        """Run to the end; the status, and why unless it is complete. Raises `ModelError`."""
        for number in range(self._run.tool_rounds):
            done = await self._query(number, self._tools.specs(self._run.mode))
            if done.finish != "stop" and not done.calls:
                return "incomplete", _unfinished(done)
            if not done.calls:
                return self._end(number)
            await self._execute(done.calls)
        await self._query(self._run.tool_rounds, (), note=SUM_UP)
        return "incomplete", f"Stopped after {self._run.tool_rounds} rounds of tool calls."

    def _end(self, number: int) -> tuple[RunStatus, str]:
        """The model is done: no success when it said nothing at all, or only thought."""
        last = [s for s in self._transcript.turn.segments if s.round == number]
        if any(isinstance(segment, Text) and segment.text.strip() for segment in last):
            self._offer_text_tools(last)
            return "complete", ""
        if any(isinstance(segment, Reasoning) for segment in last):
            return "incomplete", ONLY_THOUGHT
        return ("complete", "") if number else ("incomplete", SAID_NOTHING)

    async def _query(self, number: int, tools: tuple[ToolSpec, ...], note: str = "") -> Done:
        """One answer of the model; asked for once more with less of the chat if it is too long."""
        begun = len(self._transcript.turn.segments)
        try:
            return await self._ask(number, self._request(tools, note))
        except ModelError as error:
            nothing_came = len(self._transcript.turn.segments) == begun
            if error.remedy != "shorten" or not nothing_came or not self._leave_out_more():
                raise
        return await self._ask(number, self._request(tools, note))

    def _request(self, tools: tuple[ToolSpec, ...], note: str) -> ModelRequest:
        turns = [*self._before, self._transcript.turn]
        messages = history.messages(turns, images=self._images, left_out=self._left_out)
        if note:
            messages.append(UserMessage(text=note))
        return ModelRequest(system=self._system, messages=tuple(messages), tools=tools)

    def _leave_out_more(self) -> bool:
        """Drop the older half of what came earlier; False when only the request is left."""
        self._before, dropped = history.halved(self._before)
        self._left_out += dropped
        if dropped:
            self._transcript.note(_told_left_out(dropped))
        return dropped > 0

    async def _ask(self, number: int, request: ModelRequest) -> Done:
        """One answer of the model, streamed into the transcript."""
        self._transcript.begin_round(number)
        async with aclosing(self._model.stream(request)) as events:
            async for event in events:
                match event:
                    case TextDelta(text=text):
                        self._transcript.text(text)
                    case ReasoningDelta(text=text):
                        self._transcript.reasoning(text)
                    case ToolCallStarted(name=name):
                        self._transcript.announce(name, self._tools.label(name))
                    case Notice(text=text):
                        self._transcript.notice(text)
                    case Done():
                        done = replace(event, calls=self._distinct(event.calls, number))
                        self._transcript.calls(done.calls)
                        self._transcript.used(done.usage)
                        self._remark(done.remark)
                        return done
                    case _:
                        assert_never(event)
        raise ModelError(f"{self._model.name} ended its answer without saying so.")

    def _remark(self, sentence: str) -> None:
        """Tell what the model's server gave away of itself, once in a chat."""
        if sentence and not self._has_remarked:
            self._has_remarked = True
            self._transcript.note(sentence)

    def _offer_text_tools(self, last: Sequence[Segment]) -> None:
        """Say so when the model wrote calls as text: it was sent tools it does not understand."""
        names = frozenset(spec.name for spec in self._tools.specs(self._run.mode))
        said = "".join(segment.text for segment in last if isinstance(segment, Text))
        if holds_calls(said, names):
            self._transcript.note(OFFER_TEXT_TOOLS)

    def _distinct(self, calls: Sequence[ToolCall], number: int) -> tuple[ToolCall, ...]:
        """The calls under ids that no earlier round has: some providers count from zero again."""
        taken = {use.id for use in self._transcript.turn.segments if isinstance(use, ToolUse)}
        return tuple(
            replace(call, id=f"{call.id}-{number}") if call.id in taken else call for call in calls
        )

    async def _execute(self, calls: Sequence[ToolCall]) -> None:
        for call in in_order(calls):
            self._transcript.running(call.id, self._tools.label(call.name))
            waiting = partial(self._transcript.waiting, call.id)
            invocation = Invocation(run=self._run, call=call, waiting=waiting)
            outcome = await self._tools.dispatch(invocation)
            self._transcript.ended(call.id, outcome)


def _told_left_out(count: int) -> str:
    subject = "message of this chat was" if count == 1 else f"{count} messages of this chat were"
    return f"The oldest {subject} not sent: together they are too long for the model."


def _unfinished(done: Done) -> str:
    if done.finish == "length":
        return "The answer reached the model's length limit; raise max_tokens or ask it to go on."
    return "The provider's content filter stopped the answer."
