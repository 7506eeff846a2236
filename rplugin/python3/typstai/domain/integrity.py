"""Facts that a change of prose must not lose: what differs between two versions of a text.

Works on Typst source by patterns, without a parser, so that it can judge any piece
of a document. It says what changed, not whether that is wrong.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from .names import dropped

FactKind = Literal[
    "reference", "citation", "label", "math", "code", "url", "quote", "number", "name"
]
MAX_SHOWN = 40
"""Characters of one fact in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A fact that stands on one side only, or that became another one."""

    kind: FactKind
    before: str
    """Empty when it is new."""
    after: str
    """Empty when it is gone."""

    def line(self) -> str:
        """A few words: `drops @fig-one`, `42 → 43`."""
        if not self.after:
            return f"drops {_short(self.before)}"
        if not self.before:
            return f"adds {_short(self.after)}"
        return f"{_short(self.before)} → {_short(self.after)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fact:
    kind: FactKind
    text: str
    identity: str
    """Two facts of a kind with the same identity are the same fact."""


def compare(before: str, after: str) -> tuple[Finding, ...]:
    """What `after` says differently: kind by kind, each in the order of the text.

    A fact counts as often as it stands there; where it stands does not matter. Names
    come last, and only those of which nothing is left: a text need not repeat them.
    """
    old, new = list(_facts(before)), list(_facts(after))
    findings: list[Finding] = []
    for kind in _KINDS:
        gone, come = _differences(_of_kind(old, kind), _of_kind(new, kind))
        if kind == "number":
            gone, come = _without_number_words(gone, come, before, after)
        findings += _paired(kind, gone, come)
    names = dropped(_without_fixed(before), after)
    findings += [Finding(kind="name", before=name, after="") for name in names]
    return tuple(findings)


_KINDS: tuple[FactKind, ...] = (
    "reference", "citation", "label", "math", "code", "url", "quote", "number",
)  # fmt: skip
_NAME = r"[^\W\d][\w:.-]*[\w]|[^\W\d]"
_PATTERNS: tuple[tuple[FactKind, re.Pattern[str]], ...] = (
    ("code", re.compile(r"(?s)(`{3,}).*?\1|`[^`]*`")),
    ("math", re.compile(r"(?s)(?<!\\)\$(?:\\.|[^$\\])+\$")),
    ("url", re.compile(r"(?:https?|mailto):[^\s\"<>\[\]]*[^\s\"<>\[\].,;:!?)]")),
    ("citation", re.compile(rf"#cite\(\s*<(?P<name>{_NAME})>[^)]*\)")),
    ("label", re.compile(rf"<(?:{_NAME})>")),
    ("reference", re.compile(rf"(?<![\w\\])@(?:{_NAME})")),
)
"""In the order in which they claim the text: what one took, the next does not see."""

_QUOTES = re.compile(
    r'(?s)(?<!\\)"([^"\n]+(?:\n(?!\n)[^"\n]+)*)"'
    r"|[“„]([^“”„\n]+(?:\n(?!\n)[^“”„\n]+)*)[”“]"
    r"|[«»]([^«»\n]+(?:\n(?!\n)[^«»\n]+)*)[«»]"
)
_NUMBER = re.compile(r"(?:(?<![\w.,#-])[-−]?|(?<=\d-))\d+(?:[.,'’\u00a0\u202f]\d+)*(?:\s?[%‰])?")
_GROUPED = re.compile(r"\d{1,3}(?:[.,'’\u00a0\u202f]\d{3})+")
_SEPARATOR = re.compile(r"[.,'’\u00a0\u202f]")
_WORDS = (
    ("0", "zero null"), ("1", "one ein eine einen einem eines eins once"), ("2", "two zwei twice"),
    ("3", "three drei"), ("4", "four vier"), ("5", "five fünf"), ("6", "six sechs"),
    ("7", "seven sieben"), ("8", "eight acht"), ("9", "nine neun"), ("10", "ten zehn"),
    ("11", "eleven elf"), ("12", "twelve zwölf"),
)  # fmt: skip
_NUMBER_WORDS = {number: frozenset(words.split()) for number, words in _WORDS}


def _facts(text: str) -> Iterator[_Fact]:
    rest = text
    for kind, pattern in _PATTERNS:
        for found in pattern.finditer(rest):
            shown = " ".join(found[0].split())
            yield _Fact(kind=kind, text=shown, identity=shown)
        rest = pattern.sub(_blank, rest)
    for found in _QUOTES.finditer(rest):
        words = " ".join(next(group for group in found.groups() if group).split())
        yield _Fact(kind="quote", text=f'"{words}"', identity=words)
    for found in _NUMBER.finditer(rest):
        yield _Fact(kind="number", text=found[0], identity=_number(found[0]))


def _blank(found: re.Match[str]) -> str:
    """Not removed: what stood on both sides must not grow together."""
    return " " * len(found[0])


def _without_fixed(text: str) -> str:
    """The text with formulas, code, addresses and references blanked."""
    for _, pattern in _PATTERNS:
        text = pattern.sub(_blank, text)
    return text


def _number(text: str) -> str:
    """The number in one spelling, however thousands and decimals are marked."""
    sign = "-" if text[0] in "-−" else ""
    unit = text[-1] if text[-1] in "%‰" else ""
    digits = text.lstrip("-−").rstrip("%‰ \u00a0\u202f")
    if _GROUPED.fullmatch(digits):
        return sign + _SEPARATOR.sub("", digits) + unit
    *whole, last = _SEPARATOR.split(digits)
    return sign + ("".join(whole) + "." + last if whole else last) + unit


def _of_kind(facts: Sequence[_Fact], kind: FactKind) -> list[_Fact]:
    return [fact for fact in facts if fact.kind == kind]


def _differences(old: list[_Fact], new: list[_Fact]) -> tuple[list[_Fact], list[_Fact]]:
    """Facts without a partner on the other side."""
    return _without(old, new), _without(new, old)


def _without(facts: list[_Fact], partners: list[_Fact]) -> list[_Fact]:
    left = Counter(fact.identity for fact in partners)
    alone: list[_Fact] = []
    for fact in facts:
        if left[fact.identity] > 0:
            left[fact.identity] -= 1
        else:
            alone.append(fact)
    return alone


def _without_number_words(
    gone: list[_Fact], come: list[_Fact], before: str, after: str
) -> tuple[list[_Fact], list[_Fact]]:
    """A small number may be written as a word, in either direction."""
    spoken_before, spoken_after = _spoken(before), _spoken(after)
    return (
        [fact for fact in gone if not _became(fact, spoken_after - spoken_before)],
        [fact for fact in come if not _became(fact, spoken_before - spoken_after)],
    )


def _spoken(text: str) -> Counter[str]:
    words = Counter(re.findall(r"\w+", text.lower()))
    return Counter({
        number: sum(words[word] for word in names) for number, names in _NUMBER_WORDS.items()
    })  # fmt: skip


def _became(fact: _Fact, spoken: Counter[str]) -> bool:
    if spoken[fact.identity] > 0:
        spoken[fact.identity] -= 1
        return True
    return False


def _paired(kind: FactKind, gone: list[_Fact], come: list[_Fact]) -> Iterator[Finding]:
    """As many gone as come: each became the one at its place. Else nothing is guessed."""
    if len(gone) == len(come):
        for old, new in zip(gone, come, strict=True):
            yield Finding(kind=kind, before=old.text, after=new.text)
        return
    for fact in gone:
        yield Finding(kind=kind, before=fact.text, after="")
    for fact in come:
        yield Finding(kind=kind, before="", after=fact.text)


def _short(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1].rstrip() + "…"
