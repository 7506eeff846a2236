"""Prose as a value: what of a text is prose, and how prose is cut into blocks and words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

PieceKind = Literal[
    "prose", "reference", "label", "math", "raw", "url", "comment", "escape", "code"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a document; offsets in code points, end-exclusive."""

    kind: PieceKind
    start: int
    end: int
    group: int = -1
    """Pieces of one code expression (`#footnote[`, `]`) share the offset at which it starts."""
    cut: bool = False
    """The expression reaches beyond the range that was asked about."""


class ProseReader(Protocol):
    """Tells prose from everything else, and Typst from what is not Typst."""

    def pieces(self, text: str, start: int, end: int) -> Sequence[Piece] | None:
        """What `text[start:end]` consists of, from the left, without a gap.

        None when the text nests too deep to be read.
        """
        ...

    def cured(self, text: str, original: str) -> tuple[str, tuple[str, ...]]:
        """The text with Markdown and LaTeX that `original` does not have turned into Typst.

        Also what of it has no certain cure, one sentence each.
        """
        ...


_LETTER = re.compile(r"[^\W\d_]")
_MARKER = re.compile(r"[ \t]*(?:=+|[-+]|\d+\.|/(?=[ \t]))[ \t]")
_SENTENCE_END = re.compile(r"[.!?…:;][\"'”’»)\]*_]*$")
_ENGLISH = frozenset((
    "the", "of", "and", "to", "in", "is", "that", "it", "for", "as", "with", "was", "are", "be",
    "this", "by", "on", "not", "or", "from", "at", "which", "an", "a", "we", "have", "has", "were",
    "their", "its", "been", "can", "will", "they", "but", "he", "she", "you", "i",
))  # fmt: skip
ENGLISH_SHARE = 0.15
"""Part of all words that are among the commonest English ones in running English text."""


def has_words(text: str) -> bool:
    return _LETTER.search(text) is not None


def is_english(text: str) -> bool:
    """Whether running text is English, as far as its small words tell."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    return bool(words) and sum(word in _ENGLISH for word in words) >= ENGLISH_SHARE * len(words)


def context_around(text: str, start: int, end: int, blocks: int) -> tuple[str, str]:
    """The text of so many paragraphs before `start` and after `end`.

    What stands in the same paragraph as the range is not counted.
    """
    before = re.split(r"\n[ \t]*\n", text[:start])
    after = re.split(r"\n[ \t]*\n", text[end:])
    above, below = before[-(blocks + 1) :], after[: blocks + 1]
    return "\n\n".join(above).strip("\n"), "\n\n".join(below).strip("\n")


def split_blocks(text: str) -> list[str]:
    """Paragraphs, headings and list items, each with the white space after it.

    Joined they are the text again.
    """
    starts = [0]
    offset = 0
    first = previous = ""
    for line in text.split("\n"):
        if line.strip() and (not offset or _begins_block(line, previous, first)):
            first = line
            if offset:
                starts.append(offset)
        previous = line
        offset += len(line) + 1
    return [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]


def _begins_block(line: str, previous: str, first: str) -> bool:
    """Whether a line does not go on with the block whose first line this is."""
    if not previous.strip() or _MARKER.match(line) or first.lstrip().startswith("="):
        return True
    # An item goes on only in lines that are indented further than its marker.
    return _MARKER.match(first) is not None and _indent(line) <= _indent(first)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def is_one_sentence_a_line(lines: Sequence[str]) -> bool:
    """Whether lines break after sentences, not at a width."""
    inner = [line.rstrip() for line in lines[:-1] if line.strip()]
    return bool(inner) and sum(bool(_SENTENCE_END.search(line)) for line in inner) * 2 > len(inner)


def ends_sentence(word: str) -> bool:
    return re.search(r"[.!?…][\"'”’»)\]*_]*$", word) is not None
