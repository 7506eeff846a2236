"""Known cures for common compiler errors. Pure.

A fix is offered only where it is very likely what the writer meant; no fix is
better than a wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache

from ..domain.diagnostic import Diagnostic, Fix
from .names import (
    HABITS,
    PARAMETER_HABITS,
    Names,
    compiler_names,
    defined_names,
    nearest,
)
from .places import Places
from .syntax import Node, parse
from .unclosed import closing

_LABEL = re.compile(r"<([\w.:-]+)>")
_QUOTED = re.compile(r'"([^"]*)"')
_NUMBER = re.compile(r"\d+(\.\d+)?")
_UNIT_APART = re.compile(r"(?<=\d)[ \t]+(?=(?:pt|mm|cm|in|em|fr|deg|rad|%)(?!\w))")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One error with the text around it. Offsets are code points."""

    text: str
    start: int
    end: int
    message: str
    hints: tuple[str, ...]
    labels: Collection[str]
    match: re.Match[str]
    """What the rule's pattern found in the message."""

    @property
    def span(self) -> str:
        return self.text[self.start : self.end]

    def hint(self, pattern: str) -> str | None:
        """The first group of the pattern in the first hint that has it."""
        found = (re.search(pattern, hint) for hint in self.hints)
        return next((match[1] for match in found if match), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    start: int
    end: int
    new: str


def known_fix(text: str, diagnostic: Diagnostic, labels: Collection[str] = ()) -> Fix | None:
    """The cure for the diagnostic in `text`, or None.

    `labels` are those of the project's other files, and its citation keys.
    """
    if diagnostic.source != "typst":
        return diagnostic.fix
    places = _places(text)
    start = places.offset(diagnostic.row0, diagnostic.byte_col)
    end = places.offset(diagnostic.end_row0, diagnostic.end_byte_col)
    for pattern, rule in _RULES:
        if match := pattern.match(diagnostic.message):
            case = _Case(
                text=text, start=start, end=end, message=diagnostic.message,
                hints=diagnostic.hints, labels=labels, match=match,
            )  # fmt: skip
            change = rule(case)
            return None if change is None else _fix(places, change)
    return None


_places = lru_cache(maxsize=2)(Places)
_tree = lru_cache(maxsize=2)(parse)
"""One text often has many errors."""


def _fix(places: Places, change: _Change) -> Fix:
    row0, byte_col = places.position(change.start)
    end_row0, end_byte_col = places.position(change.end)
    old = places.text[change.start : change.end]
    new = change.new.strip()
    if not new:
        title = f"leave out {old.strip()}" if old.strip() else "leave out the space"
    elif change.start == change.end:
        title = f"add {new}"
    else:
        title = f"write {new} instead of {old}"
    return Fix(
        row0=row0,
        byte_col=byte_col,
        end_row0=end_row0,
        end_byte_col=end_byte_col,
        new=change.new,
        title=title,
    )


def _instead(case: _Case, new: str | None) -> _Change | None:
    return None if new is None else _Change(start=case.start, end=case.end, new=new)


def _unknown_variable(case: _Case) -> _Change | None:
    word, names = case.match[1], compiler_names()
    if case.hint(r"placing it in (quotes)"):
        return _instead(case, _math_name(word, names))
    called = case.text[case.end : case.end + 1] in ("(", "[")
    if word in HABITS and not called:
        return _instead(case, HABITS[word])
    known = names.callable if called else names.callable | names.values
    if called and word in names.calc:
        return _instead(case, f"calc.{word}")
    defined = defined_names(case.text)
    subtraction = case.hint(r"minus sign: `([^`]+)`")
    if subtraction and all(part in defined for part in subtraction.split(" - ")):
        return _instead(case, subtraction)
    return _instead(case, nearest(word, defined) or nearest(word, known))


def _math_name(word: str, names: Names) -> str | None:
    """A symbol misspelt, a product of two letters, or a word that wants quotes."""
    if symbol := nearest(word, names.math):
        return symbol
    if len(word) == 2:
        return " ".join(word)
    return f'"{word}"' if len(word) > 3 and word.isalpha() else None


def _unexpected_argument(case: _Case) -> _Change | None:
    name = case.match[1]
    if not case.span.startswith(name):
        return None
    function = _callee(case)
    known = compiler_names().parameters.get(function, frozenset())
    known = defined_names(case.text).get(function, known)
    habit = PARAMETER_HABITS.get(name)
    new = habit if habit in known else nearest(name, known)
    if new is None or re.search(rf"(?<![\w-]){new}\s*:", _arguments(case)):
        return None
    return _Change(start=case.start, end=case.start + len(name), new=new)


def _callee(case: _Case) -> str:
    """Name of the function whose arguments stand around the error."""
    nodes = _nodes(case)
    for outer, inner in zip(reversed(nodes[:-1]), reversed(nodes), strict=False):
        if inner.kind == "call arguments":
            before = case.text.encode()[outer.start : inner.start].decode()
            return before.removeprefix("set").strip()
    return ""


def _arguments(case: _Case) -> str:
    for node in reversed(_nodes(case)):
        if node.kind == "call arguments":
            return case.text.encode()[node.start : node.end].decode()
    return ""


def _nodes(case: _Case) -> tuple[Node, ...]:
    tree = _tree(case.text)
    return tree.path_at(_places(case.text).byte(case.start)) if tree else ()


def _expected_type(case: _Case) -> _Change | None:
    """The compiler's own guess at a unit, or the nearest of the strings it takes."""
    if guess := case.hint(r"did you mean ([^\s?]+)\?"):
        return _instead(case, guess)
    wanted = case.message.partition(", found")[0]
    if wanted.endswith("relative length or fraction") and _NUMBER.fullmatch(case.span):
        # Spacing: a plain number is meant in points, as the compiler guesses for lengths.
        return _instead(case, f"{case.span}pt")
    options = _QUOTED.findall(wanted)
    given = _QUOTED.fullmatch(case.span)
    if options and given:
        new = nearest(given[1], options)
        return _instead(case, None if new is None else f'"{new}"')
    return None


def _expected_separator(case: _Case) -> _Change | None:
    """A unit apart from its number, `elif`, or a comma left out."""
    if unit := _UNIT_APART.match(case.text, case.start):
        return _Change(start=unit.start(), end=unit.end(), new="")
    if elif_ := re.compile(r"\s*\belif\b").match(case.text, case.start):
        return _Change(start=elif_.end() - 4, end=elif_.end(), new="else if")
    if case.message == "expected comma":
        return _Change(start=case.start, end=case.start, new=",")
    return None


def _expected_in(case: _Case) -> _Change | None:
    if word := re.compile(r"\s*\b(of|from)\b").match(case.text, case.start):
        return _Change(start=word.start(1), end=word.end(1), new="in")
    return None


def _not_in_code(case: _Case) -> _Change | None:
    if case.hint(r"(try removing the `#`)"):
        return _instead(case, "")
    if case.hint(r"(`not` is used for negation)") and case.text[case.end : case.end + 1] != "=":
        return _instead(case, "not ")
    return _instead(case, case.hint(r"in Typst, `(and|or)` is used"))


def _keyword_as_name(case: _Case) -> _Change | None:
    return _instead(case, case.hint(r"try `([\w-]+)` instead"))


def _stray_bracket(case: _Case) -> _Change | None:
    return _instead(case, case.hint(r"try using a backslash escape: (\\.)$"))


def _unclosed(case: _Case) -> _Change | None:
    sign = case.span[:1]
    around = case.text[max(0, case.start - 1) : case.start], case.text[case.end : case.end + 1]
    if sign in ("*", "_") and all(char in ("", " ") for char in around):
        return _Change(start=case.start, end=case.start, new="\\")
    added = closing(case.text, case.start)
    return None if added is None else _Change(start=added[0], end=added[0], new=added[1])


def _missing_label(case: _Case) -> _Change | None:
    wanted = case.match[1]
    known = {*_LABEL.findall(case.text), *case.labels} - {wanted}
    bare = [label for label in known if label.rpartition(":")[2] == wanted]
    new = bare[0] if len(bare) == 1 else nearest(wanted, known)
    at = case.span.find(wanted)
    if new is None or at < 0:
        return None
    return _Change(start=case.start + at, end=case.start + at + len(wanted), new=new)


def _missing_member(case: _Case) -> _Change | None:
    """A misspelt name in `calc`, or a misspelt method."""
    kind, owner, word = case.match.groups()
    names = compiler_names()
    known = names.calc if kind == "module" and owner == "calc" else names.methods.get(owner)
    new = nearest(word, known or ())
    at = case.span.rfind(word)
    if new is None or at < 0:
        return None
    return _Change(start=case.start + at, end=case.start + at + len(word), new=new)


_RULES: tuple[tuple[re.Pattern[str], Callable[[_Case], _Change | None]], ...] = (
    (re.compile(r"unknown variable: (.+)$"), _unknown_variable),
    (re.compile(r"unexpected argument: (.+)$"), _unexpected_argument),
    (re.compile(r"unclosed (?:delimiter|string|raw text)$"), _unclosed),
    (re.compile(r"label `<(.+)>` does not exist"), _missing_label),
    (re.compile(r"(module|type) `?([\w-]+)`? (?:does not contain|has no method) `(.+)`$"),
     _missing_member),
    (re.compile(r"(type) ([\w-]+) does not contain field `(.+)`$"), _missing_member),
    (re.compile(r"expected (?:comma|semicolon or line break)$"), _expected_separator),
    (re.compile(r"expected keyword `in`$"), _expected_in),
    (re.compile(r"expected pattern, found keyword"), _keyword_as_name),
    (re.compile(r"expected "), _expected_type),
    (re.compile(r"(?:the character )?`.+` is not valid in code$"), _not_in_code),
    (re.compile(r"unexpected closing bracket$"), _stray_bracket),
)  # fmt: skip
"""Patterns of messages, the first that matches decides."""
