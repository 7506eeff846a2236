"""What checkers suspect in a passage: as hints for a model, and as corrections without one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..domain.edit import Edit
from ..domain.spelling import Mistake
from .passage import Passage

MAX_CHOICES = 3
FREQUENT = 3
"""A word that the document has this often is no slip but one of its terms."""


def hints(text: str, mistakes: Sequence[Mistake]) -> list[str]:
    """One line for each suspicion, without repeats."""
    lines = (_hint(text, item) for item in sorted(mistakes, key=lambda item: item.start))
    return list(dict.fromkeys(lines))


def _hint(text: str, item: Mistake) -> str:
    choices = " / ".join(item.choices[:MAX_CHOICES]) or "?"
    return f"{text[item.start : item.end]} → {choices} ({item.message})"


def corrections(passage: Passage, mistakes: Iterable[Mistake]) -> list[Edit]:
    """Edits, counted from the start of the tracked place, for slips with a likely cure."""
    document = passage.located.snapshot.text
    edits: list[Edit] = []
    done = 0
    for item in sorted(mistakes, key=lambda item: (item.start, -item.end)):
        word = passage.text[item.start : item.end]
        if item.start < done or not item.choices or item.choices[0] == word:
            continue
        if _is_prose(passage, item) and _is_certain(item, word, document):
            start = passage.lead + item.start
            edits.append(Edit(start=start, end=start + item.end - item.start, new=item.choices[0]))
            done = item.end
    return edits


def _is_prose(passage: Passage, item: Mistake) -> bool:
    start, end = passage.start + item.start, passage.start + item.end
    return any(
        piece.kind == "prose" and piece.start <= start and end <= piece.end
        for piece in passage.pieces
    )


def _is_certain(item: Mistake, word: str, document: str) -> bool:
    """Whether to correct it unasked. Unknown words may be names, abbreviations, or terms."""
    if item.kind != "spelling":
        return item.kind == "grammar"
    if any(char.isdigit() or char.isupper() for char in word):
        return False
    return len(re.findall(rf"\b{re.escape(word)}\b", document)) < FREQUENT
