"""Cuts a changed line of prose into hunks of single sentences.

A paragraph is often one line. Each of its changed sentences is a question of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from .proposal import MAX_HUNKS, Hunk
from .prose import has_words

MAX_ALIGNED = 10_000
"""Pairs of sentences compared; beyond, the stretch stays one hunk."""
LEAST_ALIKE = 0.2
"""Share of words in common below which two sentences are not versions of each other."""
_END = re.compile(r"[.!?…]+[\"'”“’‘»)\]*_]*\s+|[。！？]+[」』）”’]*\s*")
_OPENERS = "\"'„“‘«([*_¿¡-–—"
_LAST_WORD = re.compile(r"[^\s(\[„“\"]*$")
_ABBREVIATIONS = frozenset((
    "abb", "al", "approx", "art", "aufl", "bd", "bzw", "ca", "cf", "ch", "chap", "dr", "ed", "eds",
    "eq", "eqs", "evtl", "fig", "figs", "ggf", "inc", "jr", "kap", "mr", "mrs", "ms", "nr", "nos",
    "pp", "prof", "ref", "refs", "resp", "sec", "sog", "st", "tab", "usw", "vgl", "vol", "vs",
))  # fmt: skip
_NOTATION = re.compile(r"\\.|[()\[\]{}$`*]|\b_|_\b")
_PARTNERS = {")": "(", "]": "[", "}": "{"}
_CODE = ("#let ", "#import ", "#include ", "#set ", "#show ", "//", "/*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Versions of each other, as ranges of sentences; neither is empty."""

    old: slice
    new: slice


def by_sentence(hunks: Sequence[Hunk], *, least_bytes: int = 0) -> tuple[Hunk, ...]:
    """The same changes in more hunks, as far as there may be so many.

    Cut are lines of prose that have at least so many bytes, before and after.
    """
    parts = [part for hunk in hunks for part in _parts(hunk, least_bytes)]
    chosen = parts if len(parts) <= MAX_HUNKS else list(hunks)
    return tuple(replace(hunk, id=f"h{n}") for n, hunk in enumerate(chosen, start=1))


def sentences(line: str) -> list[str]:
    """A line cut after its sentences and the white space that follows; joined it is the line.

    No cut is made within brackets, an equation, raw text or emphasis.
    """
    found: list[str] = []
    still_open: list[str] = []
    start = read = 0
    for end in _END.finditer(line):
        _follow(still_open, line[read : end.end()])
        read = end.end()
        if read < len(line) and not still_open and _is_end(line, end):
            found.append(line[start:read])
            start = read
    return [*found, line[start:]]


def _follow(still_open: list[str], text: str) -> None:
    """Keep the brackets and marks that are open after the text."""
    for found in _NOTATION.finditer(text):
        mark = found.group()
        if mark.startswith("\\"):
            continue
        partner = _PARTNERS.get(mark, "" if mark in "([{" else mark)
        if still_open and still_open[-1] == partner:
            still_open.pop()
        else:
            still_open.append(mark)


def _is_end(line: str, end: re.Match[str]) -> bool:
    if end.group()[0] in "。！？":
        return True
    if end.group().rstrip() == "." and _is_abbreviated(line, end.start()):
        return False
    following = line[end.end() :].lstrip(_OPENERS)[:1]
    return not (following.islower() or following.isdecimal())


def _is_abbreviated(line: str, at: int) -> bool:
    """Whether the dot at `at` belongs to the word: `z. B.`, `e.g.`, `Fig.`, `3.`"""
    found = _LAST_WORD.search(line, 0, at)
    word = found.group().lower() if found else ""
    last = word.split(".")[-1]
    is_letter = len(last) == 1 and last.isalpha()
    return is_letter or word in _ABBREVIATIONS or (word.isdecimal() and len(word) < 3)


def _parts(hunk: Hunk, least_bytes: int) -> Iterator[Hunk]:
    if not _is_line_of_prose(hunk, least_bytes):
        yield hunk
        return
    old, new = sentences(hunk.old[0]), sentences(hunk.new[0])
    pairs = _paired(old, new)
    if len(pairs) < 2:
        yield hunk
        return
    byte_col = 0
    for pair in pairs:
        before, after = "".join(old[pair.old]), "".join(new[pair.new])
        if before != after:
            yield _part(hunk, byte_col, before, after)
        byte_col += len(before.encode())


def _is_line_of_prose(hunk: Hunk, least_bytes: int) -> bool:
    if hunk.byte_col is not None or len(hunk.old) != 1 or len(hunk.new) != 1:
        return False
    return all(
        has_words(line)
        and not line.lstrip().startswith(_CODE)
        and len(line.encode()) >= least_bytes
        for line in (hunk.old[0], hunk.new[0])
    )


def _part(hunk: Hunk, byte_col: int, old: str, new: str) -> Hunk:
    """Without the white space that stays: what is typed there is between two sentences."""
    blanks = len(old) - len(old.rstrip())
    if blanks and old[-blanks:] == new[len(new.rstrip()) :]:
        old, new = old[:-blanks], new[:-blanks]
    return replace(hunk, byte_col=byte_col, old=(old,), new=(new,))


def _paired(old: Sequence[str], new: Sequence[str]) -> list[_Pair]:
    """Both lists cut into versions of each other, in order and without a gap."""
    one, other = [text.strip() for text in old], [text.strip() for text in new]
    matcher = SequenceMatcher(a=one, b=other, autojunk=False)
    matches: list[tuple[int, int]] = []
    for _, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if old_to - old_from == new_to - new_from:
            matches += zip(range(old_from, old_to), range(new_from, new_to), strict=True)
        else:
            found = _alike(one[old_from:old_to], other[new_from:new_to])
            matches += ((old_from + i, new_from + j) for i, j in found)
    # Sentences without a version go with the one before them, the first with the next.
    starts = [(0, 0), *matches[1:], (len(old), len(new))]
    return [
        _Pair(old=slice(a_from, a_to), new=slice(b_from, b_to))
        for (a_from, b_from), (a_to, b_to) in zip(starts, starts[1:], strict=False)
    ]


def _alike(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The versions of each other in two stretches of different length, by their words."""
    if len(old) * len(new) > MAX_ALIGNED:
        return []
    old_words, new_words = [
        [frozenset(re.findall(r"\w+", text.lower())) for text in texts] for texts in (old, new)
    ]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, one in enumerate(old_words, start=1):
        for j, other in enumerate(new_words, start=1):
            paired = best[i - 1][j - 1] + _share(one, other)
            best[i][j] = max(paired, best[i - 1][j], best[i][j - 1])
    return _traced(best)


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    share = len(one & other) / max(1, len(one | other))
    return share if share >= LEAST_ALIKE else 0.0


def _traced(best: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    i, j = len(best) - 1, len(best[0]) - 1
    found: list[tuple[int, int]] = []
    while i and j:
        if best[i][j] == best[i - 1][j]:
            i -= 1
        elif best[i][j] == best[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            found.append((i, j))
    return found[::-1]
