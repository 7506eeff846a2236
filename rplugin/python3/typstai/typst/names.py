"""Names that the compiler knows, and which of them a misspelt one most likely means. Pure."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from os.path import commonprefix
from pathlib import Path

_DATA = Path(__file__).with_name("names.json")
_DEFINED = re.compile(r"\blet\s+([\w-]+)\s*(?:\(([^()]*(?:\([^()]*\)[^()]*)*)\))?")
_NAMED = re.compile(r"([\w-]+)\s*:")

HABITS = {
    "True": "true", "False": "false", "None": "none", "null": "none", "nil": "none",
    "centre": "center", "grey": "gray", "img": "image", "elif": "else if",
}  # fmt: skip
"""Names from other languages and tools."""
PARAMETER_HABITS = {
    "color": "fill", "colour": "fill", "background": "fill", "font-size": "size",
    "fontsize": "size", "font-family": "font", "font-weight": "weight", "margins": "margin",
    "padding": "inset", "border": "stroke", "cols": "columns", "line-height": "leading",
    "language": "lang", "title": "caption", "alignment": "align", "space": "gutter",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What `names.json` holds; made by asking the compiler."""

    callable: frozenset[str]
    values: frozenset[str]
    math: frozenset[str]
    calc: frozenset[str]
    parameters: Mapping[str, frozenset[str]]
    methods: Mapping[str, frozenset[str]]
    """By the type's name as it stands in messages: `string`, `array`, …"""


@cache
def compiler_names() -> Names:
    """The names of the installed compiler."""
    data = json.loads(_DATA.read_text(encoding="utf-8"))
    return Names(
        callable=frozenset(data["callable"]),
        values=frozenset(data["values"]),
        math=frozenset(data["math"]),
        calc=frozenset(data["calc"]),
        parameters={name: frozenset(items) for name, items in data["parameters"].items()},
        methods={name: frozenset(items) for name, items in data["methods"].items()},
    )


def defined_names(text: str) -> dict[str, frozenset[str]]:
    """Names that the text defines with `let`, and the named parameters of each."""
    found: dict[str, frozenset[str]] = {}
    for match in _DEFINED.finditer(text):
        found[match[1]] = frozenset(_NAMED.findall(match[2] or ""))
    return found


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The one candidate that `word` is most likely a misspelling of."""
    best: list[str] = []
    least = _tolerance(word) + 1
    letters = Counter(word)
    for candidate in {*candidates} - {word}:
        if _is_far(letters, candidate, least) or _differ_in_digits(word, candidate):
            continue
        errors = _errors(word, candidate)
        if errors < least:
            best, least = [candidate], errors
        elif errors == least <= _tolerance(word):
            best.append(candidate)
    return best[0] if len(best) == 1 else None


def _is_far(letters: Counter[str], candidate: str, limit: int) -> bool:
    """Cheap: two words are at least as far apart as the letters only one of them has."""
    if abs(len(candidate) - letters.total()) > limit:
        return True
    return (letters - Counter(candidate)).total() > limit and candidate.lower() == candidate


def _tolerance(word: str) -> int:
    """How many slips are believable; a short word with one is another word."""
    return 0 if len(word) < 4 else 1 if len(word) < 7 else 2


def _differ_in_digits(left: str, right: str) -> bool:
    """`fig:1` is no misspelling of `fig:2`."""
    return re.sub(r"\d+", "", left) == re.sub(r"\d+", "", right)


def _errors(word: str, candidate: str) -> int:
    """Slips between two words; none for a difference in case."""
    if word.lower() == candidate.lower():
        return 0
    distance = edit_distance(word, candidate)
    exchanged = len(word) == len(candidate) and sorted(word) != sorted(candidate)
    return distance + (exchanged and len(word) < 6)


def edit_distance(left: str, right: str) -> int:
    """Insertions, deletions, substitutions and swaps of neighbours (optimal alignment)."""
    left, right = _without_common_start(left, right)
    left, right = (part[::-1] for part in _without_common_start(left[::-1], right[::-1]))
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, char in enumerate(left, 1):
        after = [i]
        for j, other in enumerate(right, 1):
            cost = min(row[j] + 1, after[j - 1] + 1, row[j - 1] + (char != other))
            if i > 1 and j > 1 and char == right[j - 2] and left[i - 2] == other:
                cost = min(cost, before[j - 2] + 1)
            after.append(cost)
        before, row = row, after
    return row[-1]


def _without_common_start(left: str, right: str) -> tuple[str, str]:
    same = len(commonprefix((left, right)))
    return left[same:], right[same:]
