"""The built-in model that needs no network: a fixed policy over the real tools.

It reads what the tools answered, exactly as any model would, and chooses the
next call by rule: read the diagnostics, apply the fixes they carry, file by
file, and report. It says that it is rule-based and invents no prose: what is not
about errors it hands to another model, where there is one.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from ...domain.tool import ToolCall
from ...errors import ModelError
from .base import (
    AssistantMessage,
    Done,
    Message,
    Model,
    ModelRequest,
    StreamEvent,
    TextDelta,
    ToolMessage,
    Usage,
    UserMessage,
)

NAME = "offline"
MAX_DIAGNOSES = 24
"""How often one run compiles: some errors show only after others are gone."""
_ASKS_FOR_FIXES = re.compile(
    r"fix|repair|correct|error|mistake|wrong|compile|fehler|behebe|korrig|reparier", re.IGNORECASE
)
_ASKS_FOR_A_CHECK = re.compile(
    r"check|issue|problem|warning|diagnos|prüf|warnung|meldung", re.IGNORECASE
)
_INTRO = (
    "I am the built-in offline model: rule-based, without a language model. I read the compiler's "
    "messages and propose the fixes that are known for them.\n"
)
_NO_PROSE = (
    "I can only check the document and fix errors that have a known fix. For anything else choose "
    "a language model, see `:help typstai-models`."
)
_HANDED_OVER = (
    "The small model on this machine answers. It sees your message and nothing else, and it is "
    "often wrong.\n\n"
)

_Fix = dict[str, Any]


@dataclass(slots=True)
class _Progress:
    """What this run has done and seen so far, read from its messages."""

    request: str = ""
    last: str = ""
    """The tool answered last."""
    file: str = ""
    diagnoses: int = 0
    report: str = ""
    fixes: list[_Fix] = field(default_factory=list[_Fix])
    refused: set[str] = field(default_factory=set[str])
    """Search texts whose edit was not made, and files that were not opened."""
    one_by_one: bool = False
    fixed: list[str] = field(default_factory=list[str])


class OfflineModel:
    """Implements `base.Model`. `prose`: who answers what is not about errors."""

    name = NAME

    def __init__(self, prose: Model | None = None) -> None:
        self._prose = prose

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Decide the next step from the messages alone, or hand the request on.

        Raises `ModelError` for a request without tools that nobody can answer.
        """
        progress = _read(request.messages)
        offered = {tool.name for tool in request.tools}
        if _is_about_errors(progress, offered) or (offered and self._prose is None):
            for event in _decide(progress, offered):
                yield event
            return
        if self._prose is None:
            raise ModelError(_NO_PROSE)
        if offered:
            yield TextDelta(text=_HANDED_OVER)
        handed = replace(request, messages=tuple(_without_notes(request.messages)))
        async with aclosing(self._prose.stream(handed)) as events:
            async for event in events:
                yield event


def _without_notes(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages without this model's own words, which the other would imitate."""
    for message in messages:
        match message:
            case AssistantMessage(text=text) if not text.startswith(_INTRO):
                yield replace(message, text=text.removeprefix(_HANDED_OVER))
            case AssistantMessage(calls=()):
                pass
            case _:
                yield message


def _is_about_errors(progress: _Progress, offered: set[str]) -> bool:
    """Whether the rules have begun on the request, or can serve it."""
    if progress.last:
        return True
    asks = _ASKS_FOR_FIXES.search(progress.request) or _ASKS_FOR_A_CHECK.search(progress.request)
    return bool(offered and asks)


def _decide(progress: _Progress, offered: set[str]) -> Iterator[StreamEvent]:
    if not progress.last:
        yield TextDelta(text=_INTRO)
    step = _step(progress) if "read_diagnostics" in offered else None
    if step is None or step.name not in offered:
        yield TextDelta(text=_summary(progress))
        yield Done(calls=(), finish="stop", usage=Usage())
    else:
        yield Done(calls=(step,), finish="stop", usage=Usage())


def _step(progress: _Progress) -> ToolCall | None:
    """The next call, or None when it is time to report."""
    if progress.last != "read_diagnostics":
        return _call("read_diagnostics", {})
    if not _ASKS_FOR_FIXES.search(progress.request) or progress.diagnoses >= MAX_DIAGNOSES:
        return None
    here = [fix for fix in progress.fixes if fix.get("search") not in {None, *progress.refused}]
    if here:
        chosen = here[:1] if progress.one_by_one else here
        edits = [{"search": fix["search"], "replace": fix["replace"]} for fix in chosen]
        return _call("patch_document", {"edits": edits})
    for fix in progress.fixes:
        if fix["path"] not in {progress.file, *progress.refused}:
            return _call("open_project_file", {"path": fix["path"]})
    return None


def _call(name: str, arguments: dict[str, Any]) -> ToolCall:
    text = json.dumps(arguments, ensure_ascii=False)
    return ToolCall(id=f"call-{uuid.uuid4().hex[:12]}", name=name, arguments=text)


def _read(messages: Sequence[Message]) -> _Progress:
    """Replay the messages since the writer's latest request."""
    starts = [i for i, message in enumerate(messages) if isinstance(message, UserMessage)]
    progress = _Progress()
    calls: dict[str, ToolCall] = {}
    for message in messages[starts[-1] if starts else 0 :]:
        match message:
            case UserMessage(text=text):
                progress.request = re.sub(r"<(file|selection)>.*?</\1>", "", text, flags=re.DOTALL)
            case AssistantMessage():
                calls |= {call.id: call for call in message.calls}
            case ToolMessage():
                _take(progress, calls.get(message.call_id), message)
    return progress


def _take(progress: _Progress, call: ToolCall | None, answer: ToolMessage) -> None:
    progress.last = answer.name
    arguments: dict[str, Any] = json.loads(call.arguments) if call else {}
    match answer.name:
        case "read_diagnostics":
            _take_diagnosis(progress, answer.text)
        case "patch_document":
            _take_patch(progress, arguments["edits"], answer.text)
        case "open_project_file" if not answer.text.startswith("opened"):
            progress.refused.add(arguments["path"])
        case _:
            pass


def _take_diagnosis(progress: _Progress, text: str) -> None:
    progress.diagnoses += 1
    progress.report = text
    progress.file = text.partition("\n")[0].removeprefix("file: ").rpartition(" at change")[0]
    progress.fixes = [
        json.loads(line.removeprefix("  fix: "))
        for line in text.split("\n")
        if line.startswith("  fix: ")
    ]


def _take_patch(progress: _Progress, edits: list[dict[str, str]], text: str) -> None:
    if text.startswith("error overlap"):
        progress.one_by_one = True
        return
    titles = {fix.get("search"): fix["title"] for fix in progress.fixes}
    for edit in edits:
        # Whatever was not accepted shows again in the next diagnosis: it is not proposed twice.
        progress.refused.add(edit["search"])
        if text.startswith("applied"):
            progress.fixed.append(f"{progress.file}: {titles.get(edit['search'], 'fixed')}")


def _summary(progress: _Progress) -> str:
    if not progress.report:
        return _NO_PROSE
    parts: list[str] = []
    if progress.fixed:
        parts.append("Applied:\n" + "\n".join(f"- {title}" for title in progress.fixed))
    parts.append(_findings(progress.report))
    if not _ASKS_FOR_FIXES.search(progress.request):
        parts.append(_NO_PROSE)
    return "\n\n".join(parts)


def _findings(report: str) -> str:
    lines = [
        f"- {line}" for line in report.split("\n")[2:] if line.startswith(("error ", "warning "))
    ]
    if "could not check" in report:
        return report.split("\n")[-1].capitalize()
    if not lines:
        return "The document compiles: no errors, no warnings."
    return "Left, without a known fix that you accepted:\n" + "\n".join(lines)
