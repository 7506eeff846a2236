"""One text action: the passage goes to a model, what comes back becomes a proposal."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from ..domain.action import ActionResult, Empty, Failed, Stale
from ..domain.diagnostic import Checker
from ..domain.edit import Edit
from ..domain.prose import ProseReader
from ..domain.spelling import Mistake, Speller
from ..editor.port import Editor
from ..errors import TypstAIError
from ..log import logger
from . import judgement
from .cleaning import clean
from .continuation import continuation, set_apart
from .landing import Landing, land
from .passage import Located, Passage, before, locate, pieces_of, read
from .placeholders import fill, repair
from .redact import by_pattern, entities, masking, redaction_prompt
from .reflow import reflow
from .spelling import corrections, hints
from .templates import MAX_TARGET_CHARS, Fragments, Prompt, Template, capped, prompt

SPARE_CHARS = 400
"""How much longer than its share an answer to a short passage may be."""


class Generate(Protocol):
    """Whoever answers: a model, or a team's server."""

    async def __call__(self, fragments: Fragments, prompt: Prompt) -> str:
        """The answer's text, without reasoning. Raises `TypstAIError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What the user asked for, and where: the place is tracked under `id`."""

    id: str
    template: Template
    params: Mapping[str, str]
    suspected: Sequence[Mistake] = ()
    """What the editor's own spell checker marks; offsets count in the whole document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What an action works with."""

    editor: Editor
    reader: ProseReader
    checker: Checker
    speller: Speller
    generate: Generate | None
    """None when only rules are at hand."""
    root: str
    context_blocks: int


async def run(work: Work, means: Means) -> ActionResult:
    """Carry the action out. Never raises; cancelling ends it as aborted."""
    try:
        return await _run(work, means)
    except asyncio.CancelledError:
        return Failed(aborted=True)
    except TypstAIError as error:
        logger.warning("action %s: %s", work.template.id, error)
        return Failed(error=str(error))
    except Exception as error:
        logger.exception("action %s failed", work.template.id)
        return Failed(error=f"typstai failed ({type(error).__name__}). See :TypstAI log.")


async def _run(work: Work, means: Means) -> ActionResult:
    located = await locate(means.editor, work.id)
    if located is None:  # there was one when the user asked
        return Stale()
    refusal = _refusal(work, located)
    if refusal is not None:
        return refusal
    passage = _passage(work, means, located)
    if passage is None:
        return Empty(reason="no-target")
    if work.template.placing == "mask":
        return await _mask(work, means, passage)
    if means.generate is None:
        return await _by_rules(work, means, passage)
    return await _by_model(work, means, passage, means.generate)


def _passage(work: Work, means: Means, located: Located) -> Passage | None:
    """What the action works on. Raises `TooDeepError`."""
    if located.text.strip():
        pieces = pieces_of(located, means.reader, located.start, located.end)
        return read(located, pieces, means.context_blocks)
    return before(located, means.reader, means.context_blocks)


def _refusal(work: Work, located: Located) -> ActionResult | None:
    if not located.snapshot.modifiable:
        return Failed(error="The document is read-only.")
    length = len(located.text)
    if work.template.placing != "append" and not located.text.strip():
        return Empty(reason="no-content")
    if length > MAX_TARGET_CHARS:
        return Failed(
            error=f"The selection has {length:,} characters; at most {MAX_TARGET_CHARS:,} at once."
        )
    return None


async def _by_rules(work: Work, means: Means, passage: Passage) -> ActionResult:
    """Corrections that need no model."""
    if work.template.id != "fix":
        return Failed(
            error=f"The offline model cannot {work.template.id}; choose a model with "
            ":TypstAI model."
        )
    found = await means.speller.mistakes(passage.text)
    if found is None and not work.suspected:
        return Failed(
            error="Without a model only English can be checked; choose one with :TypstAI model, "
            "or set 'spell'."
        )
    edits = corrections(passage, [*(found or ()), *_within(work, passage)])
    return await land(_landing(work, means), passage.located.text, edits, ())


async def _by_model(work: Work, means: Means, passage: Passage, generate: Generate) -> ActionResult:
    fragments = Fragments(
        action=work.template.id,
        target=passage.masked.text,
        before=passage.before,
        after=passage.after,
        params=capped(work.params),
    )
    told = await _hints(work, means, passage)
    answer = await generate(fragments, prompt(work.template, fragments, passage.masked, told))
    cleaned = clean(answer, passage.masked.text)
    if not cleaned:
        return Empty(reason="no-output")
    if len(cleaned) > work.template.may_grow * len(passage.masked.text) + SPARE_CHARS:
        return Failed(
            error=f"The model answered {len(cleaned):,} characters to a passage of "
            f"{len(passage.text):,}; nothing was proposed."
        )
    if work.template.placing == "append":
        return await _append(work, means, passage, cleaned)
    return await _replace(work, means, passage, cleaned)


async def _hints(work: Work, means: Means, passage: Passage) -> list[str]:
    if work.template.id != "fix":
        return []
    found = await means.speller.mistakes(passage.text) or ()
    return hints(passage.text, [*found, *_within(work, passage)])


def _within(work: Work, passage: Passage) -> list[Mistake]:
    """The editor's suspicions that lie in the passage, counted from its start."""
    return [
        replace(item, start=item.start - passage.start, end=item.end - passage.start)
        for item in work.suspected
        if passage.start <= item.start and item.end <= passage.end
    ]


async def _replace(work: Work, means: Means, passage: Passage, answer: str) -> ActionResult:
    repaired = repair(answer, passage.masked)
    if repaired.refusal:
        return Failed(error=repaired.refusal)
    text = fill(reflow(passage.masked.text, repaired.text), passage.masked)
    text, incurable = means.reader.cured(text, passage.text)
    if text == passage.text:
        return Empty(reason="no-change")
    edit = Edit(start=passage.lead, end=passage.lead + len(passage.text), new=text)
    return await _propose(work, means, passage, edit, incurable)


async def _append(work: Work, means: Means, passage: Passage, answer: str) -> ActionResult:
    text = continuation(passage, answer)
    text, incurable = means.reader.cured(text, "")
    if not text.strip():
        return Empty(reason="no-output")
    at = passage.lead + len(passage.text)
    if not passage.located.text.strip():
        text, at = set_apart(passage.located, text), len(passage.located.text)
    return await _propose(work, means, passage, Edit(start=at, end=at, new=text), incurable)


async def _mask(work: Work, means: Means, passage: Passage) -> ActionResult:
    found = list(by_pattern(passage.text))
    if means.generate is not None:
        # Nothing around the passage leaves the buffer: it was not asked about.
        fragments = Fragments(action=work.template.id, target=passage.text, params={})
        answer = await means.generate(fragments, redaction_prompt(passage.text))
        found = [*entities(answer), *found]
    return await land(_landing(work, means), passage.located.text, masking(passage, found), ())


async def _propose(
    work: Work, means: Means, passage: Passage, edit: Edit, incurable: Sequence[str]
) -> ActionResult:
    document = passage.located.snapshot.text
    found = judgement.warnings(work.template, document, passage.text, edit.new, means.reader)
    target = passage.located.text
    return await land(_landing(work, means), target, [edit], (*found, *incurable))


def _landing(work: Work, means: Means) -> Landing:
    return Landing(
        work=work.id,
        action=work.template.id,
        editor=means.editor,
        checker=means.checker,
        root=means.root,
    )
