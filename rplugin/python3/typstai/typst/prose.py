"""Tells the prose of a Typst document from its markup, code and mathematics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import typst_syntax

from ..domain.diagnostic import Diagnostic
from ..domain.prose import Piece, PieceKind
from .leaks import find_leaks
from .places import Places
from .syntax import is_too_deep

_WHOLE: dict[str, PieceKind] = {
    "reference": "reference",
    "label": "label",
    "equation": "math",
    "raw block": "raw",
    "link": "url",
    "line comment": "comment",
    "block comment": "comment",
    "escape sequence": "escape",
    "line break": "escape",
    "syntax error": "code",
}
_STATEMENTS = frozenset((
    "`set` expression", "`show` expression", "`import` expression", "`include` expression",
))  # fmt: skip
"""Frozen as a whole, unless the range lies within one of their content blocks."""
_MARKUP = frozenset((
    "markup", "strong content", "emphasized content", "heading", "list item", "enum item",
    "term list item",
))  # fmt: skip
_OF_MARKUP = frozenset((
    "text", "space", "paragraph break", "smart quote", "shorthand", "star", "underscore",
    "heading marker", "list marker", "enum marker", "term marker", "colon",
))  # fmt: skip


class TypstProse:
    """Implements `ProseReader`."""

    def pieces(self, text: str, start: int, end: int) -> Sequence[Piece] | None:
        if is_too_deep(text):
            return None
        places = Places(text)
        walk = _Walk(low=places.byte(start), high=places.byte(end))
        raw = [
            replace(
                piece,
                start=max(start, places.at_byte(piece.start)),
                end=min(end, places.at_byte(piece.end)),
                group=places.at_byte(piece.group) if piece.group >= 0 else -1,
            )
            for piece in walk.run(typst_syntax.Source.detached(text).root())
        ]
        return _joined(text, raw)

    def cured(self, text: str, original: str) -> tuple[str, tuple[str, ...]]:
        known = [_excerpt(original, Places(original), leak) for leak in find_leaks(original)]
        places = Places(text)
        incurable: list[str] = []
        for leak in reversed(find_leaks(text)):
            excerpt = _excerpt(text, Places(text), leak)
            if excerpt in known:
                known.remove(excerpt)
            elif leak.fix is None:
                incurable.insert(0, leak.message)
            else:
                fix = leak.fix
                start = places.offset(fix.row0, fix.byte_col)
                end = places.offset(fix.end_row0, fix.end_byte_col)
                text = text[:start] + fix.new + text[end:]
        return text, tuple(incurable)


def _excerpt(text: str, places: Places, leak: Diagnostic) -> str:
    start = places.offset(leak.row0, leak.byte_col)
    return text[start : places.offset(leak.end_row0, leak.end_byte_col)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A node to look at: where it starts in bytes, what it is in, which expression it is of."""

    node: typst_syntax.SyntaxNode
    start: int
    parent: str
    group: int
    cut: bool


class _Walk:
    """Goes through the tree without recursion: documents nest deeper than Python calls."""

    def __init__(self, *, low: int, high: int) -> None:
        self._low = low
        self._high = high

    def run(self, root: typst_syntax.SyntaxNode) -> Iterator[Piece]:
        """Pieces in bytes, touching ones not yet joined."""
        stack = [_Place(node=root, start=0, parent="", group=-1, cut=False)]
        while stack:
            place = stack.pop()
            end = place.start + len(place.node)
            if end <= self._low or place.start >= self._high:
                continue
            kind = self._kind(place, end)
            if kind is None:
                stack += reversed(self._children(place))
            else:
                of_code = kind == "code"
                yield Piece(
                    kind=kind,
                    start=place.start,
                    end=end,
                    group=place.group if of_code else -1,
                    cut=of_code and place.cut,
                )

    def _kind(self, place: _Place, end: int) -> PieceKind | None:
        """What the node is as a whole; None when its children must be asked."""
        name = place.node.kind().name
        whole = _WHOLE.get(name)
        if whole is not None:
            return whole
        if name in _STATEMENTS and self._low <= place.start and end <= self._high:
            return "code"
        if place.node.children():
            return None
        return "prose" if place.parent in _MARKUP and name in _OF_MARKUP else "code"

    def _children(self, place: _Place) -> list[_Place]:
        name = place.node.kind().name
        children = place.node.children()
        starts = list(accumulate(map(len, children), initial=place.start))
        found: list[_Place] = []
        begun: _Place | None = None
        for index, node in enumerate(children):
            child = _Place(
                node=node, start=starts[index], parent=name, group=place.group, cut=place.cut
            )
            if begun is not None:
                child = replace(child, group=begun.group, cut=begun.cut)
                begun = None
            elif name in _MARKUP and node.kind().name == "hash" and index + 1 < len(children):
                outside = starts[index] < self._low or starts[index + 2] > self._high
                child = begun = replace(child, group=starts[index], cut=outside)
            found.append(child)
        return found


def _joined(text: str, pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces with touching ones of a kind made one, and code set apart by lines only."""
    parts = _grown(pieces)
    sizes = Counter(piece.group for piece in parts)
    joined: list[Piece] = []
    for piece in parts:
        if len(joined) > 1 and _belong_together(text, joined[-2], joined[-1], piece, sizes):
            joined[-2:] = [replace(joined[-2], end=piece.end)]
        else:
            joined.append(piece)
    return tuple(joined)


def _grown(pieces: Sequence[Piece]) -> list[Piece]:
    grown: list[Piece] = []
    for piece in pieces:
        last = grown[-1] if grown else None
        if last and (last.kind, last.group) == (piece.kind, piece.group) and piece.kind in _RUNS:
            grown[-1] = replace(last, end=piece.end)
        else:
            grown.append(piece)
    return grown


_RUNS = ("prose", "code")
_STANDING_ALONE = ("code", "comment", "raw")


def _belong_together(
    text: str, first: Piece, gap: Piece, second: Piece, sizes: Counter[int]
) -> bool:
    """Whether two frozen pieces with only white space between are better frozen as one."""
    between = text[gap.start : gap.end]
    if gap.kind != "prose" or between.strip() or first.kind == "prose":
        return False
    if second.kind == "label":
        return "\n\n" not in between
    if first.kind not in _STANDING_ALONE or second.kind not in _STANDING_ALONE:
        return False
    whole = all(piece.group < 0 or sizes[piece.group] == 1 for piece in (first, second))
    return whole and "\n" in between
