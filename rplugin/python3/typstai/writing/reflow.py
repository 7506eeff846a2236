"""Lays an answer out as the writer laid out the original: same lines where words are the same.

Models join lines and break them elsewhere. Line breaks of prose mean nothing to
Typst, but a change should show the words that changed and no others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ..domain.prose import ends_sentence, is_one_sentence_a_line, split_blocks

MAX_ALIGNED = 40_000
"""Pairs of blocks compared; beyond, the answer's own lines are taken."""
LEAST_ALIKE = 0.2
"""Share of words in common below which two blocks are not versions of each other."""
LEAST_WIDTH = 40
_WORD = re.compile(r"\S+")


def reflow(original: str, answer: str) -> str:
    """The answer's words with the original's lines. Both without white space at their ends."""
    old, new = split_blocks(original), split_blocks(answer)
    parts: list[str] = []
    for index, partner in enumerate(_partners(old, new)):
        block = new[index]
        is_last = index == len(new) - 1
        if partner is None:
            parts.append(_tidy(block))
        else:
            parts.append(_laid_out(old[partner], block))
        if not is_last:
            ends = (_end(old[partner]) if partner is not None else "") or _end(block) or "\n"
            parts.append(ends)
    return "".join(parts)


def laid_out_like(block: str, text: str) -> str:
    """New text that follows on a block, with lines broken as the block's are."""
    style = _Style.of(block.strip())
    words = text.split()
    gaps = (style.gap(word) for word in words[:-1])
    joined = "".join(part for pair in zip(words, (*gaps, ""), strict=True) for part in pair)
    return "\n".join(style.wrapped(line) for line in joined.split("\n"))


def _partners(old: Sequence[str], new: Sequence[str]) -> list[int | None]:
    """For each new block the old one that it is a version of, in the same order."""
    if len(old) == len(new):
        return list(range(len(new)))
    if len(old) * len(new) > MAX_ALIGNED:
        return [None] * len(new)
    words = [frozenset(_WORD.findall(block)) for block in old]
    new_words = [frozenset(_WORD.findall(block)) for block in new]
    return _best(words, new_words)


def _best(old: Sequence[frozenset[str]], new: Sequence[frozenset[str]]) -> list[int | None]:
    """The alignment with the most in common."""
    best = [[0.0] * (len(old) + 1) for _ in range(len(new) + 1)]
    for i, one in enumerate(new, start=1):
        for j, other in enumerate(old, start=1):
            paired = best[i - 1][j - 1] + _alike(one, other)
            best[i][j] = max(paired, best[i - 1][j], best[i][j - 1])
    partners: list[int | None] = [None] * len(new)
    i, j = len(new), len(old)
    while i and j:
        if best[i][j] == best[i - 1][j]:
            i -= 1
        elif best[i][j] == best[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            partners[i] = j
    return partners


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    share = len(one & other) / max(1, len(one | other))
    return share if share >= LEAST_ALIKE else 0.0


def _end(block: str) -> str:
    return block[len(block.rstrip()) :]


def _tidy(block: str) -> str:
    return "\n".join(line.rstrip() for line in block.rstrip().split("\n"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """A block as words, and the white space after each but the last."""

    words: tuple[str, ...]
    gaps: tuple[str, ...]


def _words(text: str) -> _Words:
    spans = [(found.start(), found.end()) for found in _WORD.finditer(text)]
    gaps = tuple(text[end:start] for (_, end), (start, _) in zip(spans, spans[1:], strict=False))
    return _Words(words=tuple(text[start:end] for start, end in spans), gaps=gaps)


def _laid_out(old: str, new: str) -> str:
    """One block without the white space at its end."""
    body = old.rstrip()
    indent = old[: len(old) - len(old.lstrip())]
    before, after = _words(body), _words(new)
    style = _Style.of(body)
    matcher = SequenceMatcher(a=before.words, b=after.words, autojunk=False)
    text = indent + "".join(_woven(before, after, matcher.get_matching_blocks(), style))
    known = frozenset(body.split("\n"))
    return "\n".join(line if line in known else style.wrapped(line) for line in text.split("\n"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Style:
    """How the lines of a block are broken."""

    width: int
    """Longest line; 0 when lines are not broken at a width."""
    by_sentence: bool
    indent: str
    """Of every line but the first."""

    @classmethod
    def of(cls, block: str) -> _Style:
        lines = block.split("\n")
        by_sentence = is_one_sentence_a_line(lines)
        width = 0 if by_sentence or len(lines) == 1 else max(LEAST_WIDTH, *map(len, lines))
        second = lines[1] if len(lines) > 1 else ""
        indent = second[: len(second) - len(second.lstrip())]
        return cls(width=width, by_sentence=by_sentence, indent=indent)

    def gap(self, word: str) -> str:
        """White space after a new word."""
        return f"\n{self.indent}" if self.by_sentence and ends_sentence(word) else " "

    def wrapped(self, line: str) -> str:
        if not self.width or len(line) <= self.width:
            return line
        lead = line[: len(line) - len(line.lstrip())]
        lines = [lead]
        for word in line.split():
            if len(lines[-1]) + len(word) + 1 > self.width and lines[-1].strip():
                lines.append(self.indent)
            blank = " " if lines[-1].strip() else ""
            lines[-1] += blank + word
        return "\n".join(lines)


def _woven(
    before: _Words, after: _Words, matches: Sequence[tuple[int, int, int]], style: _Style
) -> Iterator[str]:
    """The new words, each but the last followed by its white space."""
    partner = {j + k: i + k for i, j, size in matches for k in range(size)}
    for index, word in enumerate(after.words):
        yield word
        if index < len(after.words) - 1:
            yield _gap(before, partner.get(index), partner.get(index + 1), word, style)


def _gap(before: _Words, left: int | None, right: int | None, word: str, style: _Style) -> str:
    """White space between two words, of which those with a partner are old ones."""
    if left is not None and right is not None:
        between = before.gaps[left:right]
        return next((gap for gap in between if "\n" in gap), between[0])
    if left is not None and left < len(before.gaps):
        return before.gaps[left]
    if right:
        return before.gaps[right - 1]
    return style.gap(word)
