"""Keeps what is not prose out of a model's hands, and puts it back byte for byte.

Each frozen piece of a passage becomes a numbered placeholder. A model may lose
one, repeat one, or write the original in its place: where it is certain what was
meant it is put right, and the rest is said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..domain.prose import Piece, PieceKind

_BRACKETS = ("⟦⟧", "⟪⟫", "⦃⦄", "⧼⧽")
_LOOSE = r"[\[{{〚⟦⟪⦃⧼【]{{1,2}}\s*{number}\s*[\]}}〛⟧⟫⦄⧽】]{{1,2}}"
"""What models write when they cannot write a placeholder's own brackets."""
MOST_TORN = 2
"""Parts of a code expression that may be left out together; more were a table or the like."""
_WORD_BEFORE = re.compile(r"[\w'’-]+[^\w\s]?$")
_WORD_AFTER = re.compile(r"[^\w\s]?[\w'’-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One frozen piece."""

    number: int
    token: str
    text: str
    kind: PieceKind
    group: int
    """Pieces of one code expression share it; -1 when the piece stands for itself."""
    cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A passage with placeholders, and what they stand for, by number."""

    text: str
    kept: tuple[Kept, ...]
    brackets: str

    @property
    def token(self) -> re.Pattern[str]:
        left, right = self.brackets
        return re.compile(rf"{left}\s*(\d{{1,5}})\s*{right}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """An answer, still with placeholders: each that is left may be filled in."""

    text: str
    refusal: str = ""
    """Why the answer cannot be used at all, in one sentence."""


def mask(document: str, pieces: Sequence[Piece]) -> Masked:
    """The pieces' text with a placeholder for each that is not prose."""
    text = "".join(document[piece.start : piece.end] for piece in pieces)
    brackets = next(pair for pair in (*_BRACKETS, "\ue000\ue001") if not set(pair) & set(text))
    sizes = Counter(piece.group for piece in pieces if piece.group >= 0)
    parts: list[str] = []
    kept: list[Kept] = []
    for piece in pieces:
        own = document[piece.start : piece.end]
        if piece.kind == "prose":
            parts.append(own)
            continue
        number = len(kept) + 1
        token = f"{brackets[0]}{number}{brackets[1]}"
        group = piece.group if sizes[piece.group] > 1 else -1
        kept.append(
            Kept(number=number, token=token, text=own, kind=piece.kind, group=group, cut=piece.cut)
        )
        parts.append(token)
    return Masked(text="".join(parts), kept=tuple(kept), brackets=brackets)


def repair(answer: str, masked: Masked) -> Repaired:
    """The answer with its placeholders put right as far as it is certain what was meant."""
    answer = masked.token.sub(lambda found: _token(masked, int(found[1])), answer)
    answer = _renamed(_spelled_out(answer, masked), masked)
    answer = _put_back(_once(answer, masked), masked)
    answer, torn = _without_torn(answer, masked)
    return Repaired(text=answer, refusal=_refusal(answer, masked, torn))


def _refusal(answer: str, masked: Masked, torn: Sequence[str]) -> str:
    if any(item.cut for item in _missing(answer, masked)):
        return (
            "The answer lost a bracket whose partner is outside of the selection; select whole "
            "sentences and try again."
        )
    for items in _groups(masked.kept).values():
        if items[0].text in torn and len(items) > MOST_TORN:
            name = items[0].text.strip().partition("(")[0]
            return f"The answer tore {name} apart, so nothing was proposed; select less of it."
    return ""


def fill(answer: str, masked: Masked) -> str:
    """The answer with what the placeholders stand for, kept from running into what follows."""
    by_number = {item.number: item for item in masked.kept}
    parts: list[str] = []
    done = 0
    for found in masked.token.finditer(answer):
        item = by_number.get(int(found[1]))
        parts += (answer[done : found.start()], item.text if item else "")
        done = found.end()
        if item:
            parts.append(_guard(item, masked, answer[done:]))
    return "".join((*parts, answer[done:]))


def _token(masked: Masked, number: int) -> str:
    return f"{masked.brackets[0]}{number}{masked.brackets[1]}"


def _missing(answer: str, masked: Masked) -> list[Kept]:
    return [item for item in masked.kept if item.token not in answer]


def _spelled_out(answer: str, masked: Masked) -> str:
    """A missing placeholder whose own text stands in the answer."""
    missing = _missing(answer, masked)
    for text in {item.text for item in missing}:
        items = [item for item in missing if item.text == text]
        if re.search(r"\w", text) and _count(answer, text) == len(items):
            for item in items:
                answer = _exactly(text).sub(lambda _, token=item.token: token, answer, count=1)
    return _loosely_written(answer, masked)


def _loosely_written(answer: str, masked: Masked) -> str:
    """A missing placeholder whose number stands in other brackets."""
    prose = masked.token.sub("", masked.text)
    for item in _missing(answer, masked):
        loose = re.compile(_LOOSE.format(number=item.number))
        found = list(loose.finditer(answer))
        if len(found) == 1 and not loose.search(prose):
            answer = answer[: found[0].start()] + item.token + answer[found[0].end() :]
    return answer


def _exactly(text: str) -> re.Pattern[str]:
    """The text, unless it goes on as a longer name."""
    after = r"(?![\w-])" if re.search(r"[\w-]$", text) else ""
    return re.compile(re.escape(text) + after)


def _count(answer: str, text: str) -> int:
    return len(_exactly(text).findall(answer))


def _renamed(answer: str, masked: Masked) -> str:
    """A number that was never given is the missing one, if there is one of each; else it goes."""
    known = {item.number for item in masked.kept}
    strange = [found for found in masked.token.finditer(answer) if int(found[1]) not in known]
    missing = _missing(answer, masked)
    if len(strange) == len(missing) == 1:
        return answer.replace(strange[0][0], missing[0].token)
    for found in strange:
        answer = re.sub(rf" ?{re.escape(found[0])}", "", answer)
    return answer


def _once(answer: str, masked: Masked) -> str:
    """Repeats that can only be slips: side by side, or of something that may stand only once."""
    for item in masked.kept:
        token = re.escape(item.token)
        answer = re.sub(rf"{token}(?:[ \t,;]*{token})+", item.token, answer)
        if item.kind in ("label", "code", "comment") and answer.count(item.token) > 1:
            first = answer.index(item.token) + len(item.token)
            answer = answer[:first] + re.sub(rf" ?{token}", "", answer[first:])
    return answer


def _put_back(answer: str, masked: Masked) -> str:
    """Missing placeholders whose place is certain: at an end, or between the same two words."""
    for item in _missing(answer, masked):
        before, after = _neighbours(masked, item)
        if not before.strip():
            answer = before + item.token + _separator(after) + answer.lstrip()
        elif not after.strip():
            answer = answer.rstrip() + _separator(before[::-1])[::-1] + item.token + after
        else:
            answer = _between(answer, item.token, before, after)
    return answer


def _neighbours(masked: Masked, item: Kept) -> tuple[str, str]:
    """The masked text on both sides, lost placeholders of the same loss included."""
    start = masked.text.index(item.token)
    return masked.text[:start], masked.text[start + len(item.token) :]


def _separator(after: str) -> str:
    return after[: len(after) - len(after.lstrip())]


def _between(answer: str, token: str, before: str, after: str) -> str:
    word_before = _WORD_BEFORE.search(before.rstrip())
    word_after = _WORD_AFTER.match(after.lstrip())
    if not word_before or not word_after or not word_after[0]:
        return answer
    pattern = re.compile(
        rf"(?<!\w){re.escape(word_before[0])}()(\s*){re.escape(word_after[0])}(?![\w'’-])"
    )
    found = list(pattern.finditer(answer))
    if len(found) != 1:
        return answer
    gap_before = before[len(before.rstrip()) :]
    at = found[0]
    return answer[: at.start(1)] + gap_before + token + _separator(after) + answer[at.end(2) :]


def _without_torn(answer: str, masked: Masked) -> tuple[str, tuple[str, ...]]:
    """Leave out what remains of code expressions that are not whole or not in order."""
    torn: list[str] = []
    while (group := _first_torn(answer, masked)) is not None:
        items = [item for item in masked.kept if item.group == group]
        torn.append(items[0].text)
        for item in items:
            answer = answer.replace(item.token, "")
        masked = Masked(
            text=masked.text,
            kept=tuple(item for item in masked.kept if item.group != group),
            brackets=masked.brackets,
        )
    return answer, tuple(torn)


def _first_torn(answer: str, masked: Masked) -> int | None:
    """A group of which a part is missing, or which does not nest with the others."""
    groups = _groups(masked.kept)
    for group, items in groups.items():
        if not all(item.token in answer for item in items):
            return group
    number_of = {item.number: item for item in masked.kept if item.group >= 0}
    tokens = (number_of.get(int(found[1])) for found in masked.token.finditer(answer))
    return _first_crossing([item for item in tokens if item], groups)


def _first_crossing(order: Iterable[Kept], groups: dict[int, list[Kept]]) -> int | None:
    open_groups: list[tuple[int, int]] = []
    for item in order:
        place = groups[item.group].index(item)
        if place > 0:
            if not open_groups or open_groups[-1] != (item.group, place - 1):
                return item.group
            open_groups.pop()
        if place < len(groups[item.group]) - 1:
            open_groups.append((item.group, place))
    return None


def _groups(kept: Sequence[Kept]) -> dict[int, list[Kept]]:
    groups: dict[int, list[Kept]] = {}
    for item in kept:
        if item.group >= 0:
            groups.setdefault(item.group, []).append(item)
    return groups


def _guard(item: Kept, masked: Masked, rest: str) -> str:
    """What must stand between a frozen piece and text that it was not followed by before."""
    _, after = _neighbours(masked, item)
    if rest[:1] == after[:1] or not rest:
        return ""
    if item.kind == "comment" and item.text.startswith("//"):
        return "" if rest[0] == "\n" else "\n"
    if item.text == "\\":
        return "" if rest[0].isspace() else " "
    is_name = item.kind in ("code", "reference", "url") and item.text[-1:].isalnum()
    runs_on = re.match(r"[\w\[(-]|[.:]\w", rest) if is_name else None
    called = item.kind == "code" and item.text.endswith((")", "]")) and re.match(r"[\[(]", rest)
    return " " if runs_on or called else ""
