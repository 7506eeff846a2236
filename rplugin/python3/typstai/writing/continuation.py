"""Joins what a model wrote next to the passage that it continues."""

from __future__ import annotations

import re

from ..domain.prose import ends_sentence, split_blocks
from .passage import Located, Passage
from .placeholders import fill
from .reflow import laid_out_like

_REPEATABLE = ("reference", "math", "raw", "url", "escape")
"""What a placeholder may stand for when it is written a second time."""
MIN_OVERLAP = 20
"""Characters of the passage's end that an answer must repeat to count as repetition."""


def continuation(passage: Passage, answer: str) -> str:
    """The text to insert at the passage's end, with what separates the two."""
    text = _new_part(passage.masked.text, answer)
    for item in passage.masked.kept:
        if item.kind not in _REPEATABLE:
            text = re.sub(rf" ?{re.escape(item.token)}", "", text)
    if not text.strip():
        return ""
    last = split_blocks(passage.masked.text)[-1]
    if last.lstrip().startswith("=") or text.startswith("\n\n"):
        return "\n\n" + fill(text.strip(), passage.masked)
    gap = "\n" if "\n" in last.strip() and ends_sentence(last) else " "
    body = laid_out_like(last, text.strip())
    return gap + fill(body, passage.masked)


def set_apart(cursor: Located, text: str) -> str:
    """What goes in at a cursor on a blank line, which may be what keeps two paragraphs apart."""
    lines, row = cursor.snapshot.lines, cursor.snapshot.row_at(cursor.start)
    follows = row + 1 < len(lines) and lines[row + 1].strip()
    precedes = row > 0 and lines[row - 1].strip()
    body = text.strip() + ("\n" if follows else "")
    return "\n" + body if follows and precedes else body


def _new_part(target: str, answer: str) -> str:
    """The answer without the passage, or the end of it, repeated at its start."""
    answer = answer.strip()
    if answer.startswith(target):
        return answer[len(target) :].rstrip()
    for size in range(min(len(target), len(answer)), MIN_OVERLAP, -1):
        if target.endswith(answer[:size]):
            return answer[size:].rstrip()
    return answer
