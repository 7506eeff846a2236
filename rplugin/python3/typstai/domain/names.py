"""Proper names in prose, as far as their capitals tell them for certain.

Acronyms (`DNA`), words with an inner capital (`LaTeX`), and, in English only, two or
more capitalised words inside a sentence (`Alan Turing`). German writes every noun
with a capital, so that such words tell nothing there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_NO_PROSE = re.compile(
    r"(?m)^[ \t]*(?:=+[ \t]|#(?:let|set|show|import|include)\b)[^\n]*"
    r"|(?<!:)//[^\n]*|/\*(?s:.{0,2000}?)\*/"
    r'|"[^"\n]*"'
)
"""Headings (may be in title case), code, comments, and strings."""
_WORD = re.compile(r"(?<![\w#/\\@.])[^\W\d_]+(?![\w(\[/]|\.\w)")
_GAP = r"(?:[ ~]|[ \t]*\n[ \t]*)"
_CAPITALISED = r"[A-ZÀ-ÖØ-Þ][^\W\d_]+"
_RUN = re.compile(rf"\b{_CAPITALISED}(?:{_GAP}{_CAPITALISED})+\b")
_SMALL_WORD = re.compile(rf"(?<![\w#.])[a-zß-öø-ÿ]+[,;]?{_GAP}\Z")
"""Stands before a run of which no word starts a sentence."""
MAX_SMALL = 80
"""Characters of it that are looked at."""
_SHOUTED = re.compile(r"[^\W\d_a-z]{2,}(?:[ \t]+[^\W\d_a-z]{2,})+")
_INNER_CAPITAL = re.compile(r"[^\W\d_]*[a-zß-öø-ÿ][A-ZÀ-ÖØ-Þ][^\W\d_]*")
_NO_NAMES = re.compile(r"AM|FIXME|NB|NOTE|OK|PM|TBD|TODO|XXX|[IVX]+|[^\W\d_]+In(?:nen)?")
"""Marks, Roman numerals, and forms of a German noun such as `StudentInnen`."""
_ENGLISH = {"and", "by", "for", "from", "is", "of", "that", "the", "this", "to", "with"}
_GERMAN = {
    "am", "auf", "das", "dem", "den", "der", "des", "die", "ein", "eine", "für", "im", "ist",
    "mit", "nach", "nicht", "sich", "und", "von", "wird", "zu",
}  # fmt: skip


def dropped(before: str, after: str) -> tuple[str, ...]:
    """Names of `before` that stand nowhere in `after`, each once, in the order of the text.

    One is still there in any case of its letters and with an `s` at its end, and a run
    of words as long as its last one is: `Turing` still names Alan Turing.
    """
    left = {_identity(word) for word in re.findall(r"[^\W\d_]+", after)}
    gone: dict[str, str] = {}
    end = 0
    for found in _names(_NO_PROSE.sub(_blank, before)):
        name = " ".join(re.split(_GAP, found[0]))
        if found.start() >= end and _identity(name.split()[-1]) not in left:
            gone.setdefault(_identity(name), name)
            end = found.end()
    return tuple(gone.values())


def _identity(name: str) -> str:
    return name.casefold().removesuffix("s")


def _blank(found: re.Match[str]) -> str:
    """Not removed: what stood on both sides must not grow together."""
    return re.sub(r"[^\n]", "\0", found[0])


def _names(text: str) -> list[re.Match[str]]:
    """In the order of the text; a run before the words in it."""
    single = _SHOUTED.sub(_blank, text)
    words = [found for found in _WORD.finditer(single) if _is_name(found[0])]
    runs = _runs(text) if _is_english(text) else ()
    return sorted([*runs, *words], key=lambda found: (found.start(), -found.end()))


def _is_name(word: str) -> bool:
    is_acronym = len(word) > 1 and word.removesuffix("s").isupper() and word[1:2].isupper()
    return bool(is_acronym or _INNER_CAPITAL.fullmatch(word)) and not _NO_NAMES.fullmatch(word)


def _runs(text: str) -> Iterator[re.Match[str]]:
    for found in _RUN.finditer(text):
        if _is_after_small_word(text, found.start()) and not found[0].isupper():
            yield found


def _is_after_small_word(text: str, at: int) -> bool:
    return _SMALL_WORD.search(text[max(0, at - MAX_SMALL) : at]) is not None


def _is_english(text: str) -> bool:
    words = re.findall(r"[^\W\d_]+", text.lower())
    english = sum(word in _ENGLISH for word in words)
    return english > sum(word in _GERMAN for word in words)
