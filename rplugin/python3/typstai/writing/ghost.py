"""Ghost text: what a model is told of the place, and what of its answer is shown there.

Pure: who asks the model, and when, is not known here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..domain.fence import fence
from .cleaning import clean
from .templates import TAG, TAGS

MAX_LINES = 3
MAX_PARAGRAPH_CHARS = 4_000
MAX_CONTEXT_CHARS = 2_000
"""Before the paragraph, and as much after the cursor."""
_OVERLAP_CHARS = 300
"""How far back a model may begin again."""
_ECHO_CHARS = 30
"""So much of what follows the cursor is not said by chance."""

_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_ITEM = re.compile(r"\n[ \t]*[-+/] ")
_WORD = re.compile(r"\S+")
_LAST_WORD = re.compile(r"\s*\S+\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """The place of the cursor: its block up to it, and some blocks on either side."""

    before: str
    prefix: str
    rest: str
    """What follows in the cursor's own block."""
    after: str
    block_row0: int


def look_around(above: str, below: str, *, row0: int, context_blocks: int) -> Around:
    """Cut the context from the text above and below the cursor, which stands on line `row0`."""
    *earlier, prefix = _BLANK_LINE.split(above)
    rest, *later = _BLANK_LINE.split(below)
    if prefix.endswith("\n"):
        earlier, prefix = [*earlier, prefix], ""
    before = "\n\n".join(filter(str.strip, earlier[-context_blocks:] if context_blocks else ()))
    after = "\n\n".join(filter(str.strip, later[:context_blocks]))
    return Around(
        before=before[-MAX_CONTEXT_CHARS:],
        prefix=prefix[-MAX_PARAGRAPH_CHARS:],
        rest=rest[:MAX_CONTEXT_CHARS],
        after=after[:MAX_CONTEXT_CHARS],
        block_row0=row0 - prefix.count("\n"),
    )


def message(around: Around) -> str:
    """The data of a request; what is to be continued comes last."""
    after = "\n\n".join(filter(str.strip, (around.rest, around.after)))
    parts = (("before", around.before), ("after", after), (TAG, around.prefix))
    return "\n".join(fence(tag, text, among=TAGS) for tag, text in parts if text or tag == TAG)


def begun(around: Around) -> str:
    """The text up to the cursor, as the begun answer of a model that goes on with its own."""
    return "\n\n".join(filter(str.strip, (around.before, around.prefix))).rstrip()


def is_enough(answer: str, around: Around) -> bool:
    """Whether nothing that still comes would be shown."""
    text = clean(answer, around.prefix)
    if _BLANK_LINE.search(text) or text.count("\n") >= MAX_LINES:
        return True
    # What ends in a blank line may still be an introduction, which is known by what follows.
    return answer.endswith("\n\n") and clean(f"{answer}.", around.prefix) not in ("", ".")


def continuation(answer: str, around: Around, *, is_cut: bool = False) -> str:
    """What to show behind the cursor; empty when the answer adds nothing.

    `is_cut`: the answer ended at a limit, perhaps within a word.
    """
    text = clean(answer, around.prefix)
    text = _joined(text, around.prefix, gap=_gap(answer, text))
    text = _BLANK_LINE.split(text, maxsplit=1)[0]
    lines = text.split("\n")
    text = "\n".join(line.rstrip() for line in lines[:MAX_LINES]).rstrip()
    if is_cut and len(lines) <= MAX_LINES:
        text = _LAST_WORD.sub("", text) or text
    return _without_echo(text, around)


def _gap(answer: str, text: str) -> str:
    """The white space that the model put before the text: a break before an item, else a blank."""
    plain = _CONTROL.sub("", answer)
    gap = plain[: len(plain) - len(plain.lstrip())]
    if not plain.startswith(text.split("\n", 1)[0], len(gap)):
        return ""  # something else stood there
    if "\n" in gap and _ITEM.match(f"\n{text}"):
        return gap[gap.rindex("\n") :]
    return gap and " "


def _joined(text: str, prefix: str, *, gap: str) -> str:
    """The text as it goes on from the prefix, without what the model said again of it."""
    repeated = 0 if gap else _repeated(text, prefix)
    text = text[repeated:] if repeated else f"{gap}{text}"
    if text.startswith("\n") and not _ITEM.match(text):
        text = f" {text.lstrip()}"
    return text.lstrip(" \t") if prefix[-1:].isspace() or not prefix else text


def _repeated(text: str, prefix: str) -> int:
    """How many characters of the text are the end of the prefix again, from a word on."""
    whole = prefix.strip()
    if whole and text.startswith(whole):
        return len(whole)
    tail = prefix[-_OVERLAP_CHARS:].rstrip()
    for word in _WORD.finditer(tail):
        if text.startswith(tail[word.start() :]):
            return len(tail) - word.start()
    return 0


def _without_echo(text: str, around: Around) -> str:
    """The text up to where it says what already follows the cursor."""
    follows = around.rest.strip() or around.after.strip()
    spoken = text.strip()
    if not spoken or (follows and follows.startswith(spoken)):
        return ""
    echo = text.find(follows[:_ECHO_CHARS]) if len(follows) >= _ECHO_CHARS else -1
    if echo >= 0:
        return text[:echo].rstrip()
    own = around.rest.strip()
    for length in range(min(len(own), len(text)), 0, -1):
        if text.endswith(own[:length]):
            return text[:-length].rstrip()
    return text
