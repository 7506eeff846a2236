"""The passage that an action works on: read from the buffer, masked, found again later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..domain.document import Snapshot
from ..domain.prose import Piece, ProseReader, context_around, has_words, split_blocks
from ..editor.port import Editor, Place
from ..errors import TypstAIError
from .placeholders import Masked, mask
from .templates import MAX_CONTEXT_CHARS

LOOKED_BACK = 8
"""Paragraphs, headings and items before a cursor among which prose is looked for."""
READS = 3
"""Looks at a text that changes under our eyes before giving up."""
_BLOCKS = ("code", "comment", "raw", "label")


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """A tracked place and the text in which it lies; offsets in code points."""

    snapshot: Snapshot
    start: int
    end: int
    is_changed: bool

    @property
    def text(self) -> str:
        return self.snapshot.text[self.start : self.end]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What a model is given of a place: without blank space and whole lines of code at its ends."""

    located: Located
    pieces: tuple[Piece, ...]
    masked: Masked
    before: str
    after: str

    @property
    def start(self) -> int:
        return self.pieces[0].start

    @property
    def end(self) -> int:
        return self.pieces[-1].end

    @property
    def text(self) -> str:
        return self.located.snapshot.text[self.start : self.end]

    @property
    def lead(self) -> int:
        """Characters of the tracked place before the passage."""
        return self.start - self.located.start


async def locate(editor: Editor, work: str) -> Located | None:
    """Where the place tracked under this id is now; None when it is gone or will not hold still."""
    for _ in range(READS):
        place = await editor.place(work, "selection")
        if place is None:
            return None
        found = _within(await editor.snapshot(place.bufnr), place)
        if found is not None:
            return found
    return None


def _within(snapshot: Snapshot, place: Place) -> Located | None:
    if place.end_row0 >= len(snapshot.lines):
        return None
    start = snapshot.offset_at(place.row0, place.byte_col)
    end = snapshot.offset_at(place.end_row0, place.end_byte_col)
    found = Located(snapshot=snapshot, start=start, end=end, is_changed=place.changed)
    return found if found.text == place.text else None


def read(located: Located, pieces: Sequence[Piece], context_blocks: int) -> Passage | None:
    """The passage of a place, or None when there is no prose in it."""
    text = located.snapshot.text
    core = _core(text, pieces)
    if not any(piece.kind == "prose" and has_words(_of(text, piece)) for piece in core):
        return None
    before, after = context_around(text, core[0].start, core[-1].end, context_blocks)
    return Passage(
        located=located,
        pieces=core,
        masked=mask(text, core),
        before=before[-MAX_CONTEXT_CHARS:],
        after=after[:MAX_CONTEXT_CHARS],
    )


class TooDeepError(TypstAIError):
    """Prose cannot be told from code."""


def pieces_of(located: Located, reader: ProseReader, start: int, end: int) -> Sequence[Piece]:
    """The pieces of a stretch of the document. Raises `TooDeepError`."""
    pieces = reader.pieces(located.snapshot.text, start, end)
    if pieces is None:
        raise TooDeepError("The document nests too deep to tell prose from code in it.")
    return pieces


def before(cursor: Located, reader: ProseReader, context_blocks: int) -> Passage | None:
    """The last paragraph with prose before a cursor, as the passage that is continued there.

    None when there is none among the last `LOOKED_BACK`. Raises `TooDeepError`.
    """
    end = cursor.start
    for block in reversed(split_blocks(cursor.snapshot.text[:end])[-LOOKED_BACK:]):
        start = end - len(block)
        if block.strip():
            pieces = pieces_of(cursor, reader, start, end)
            passage = read(cursor, pieces, context_blocks)
            if passage is not None:
                return passage
        end = start
    return None


def _of(text: str, piece: Piece) -> str:
    return text[piece.start : piece.end]


def _core(text: str, pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """The pieces without blank space, code and comments that fill whole lines at either end."""
    groups = [piece.group for piece in pieces if piece.group >= 0]
    rest = _stripped(text, list(pieces))
    while len(rest) > 1 and _fills_lines(text, rest[0], rest[1], groups, at_start=True):
        rest = _stripped(text, rest[1:])
    while len(rest) > 1 and _fills_lines(text, rest[-1], rest[-2], groups, at_start=False):
        rest = _stripped(text, rest[:-1])
    return tuple(rest)


def _fills_lines(
    text: str, piece: Piece, inner: Piece, groups: list[int], *, at_start: bool
) -> bool:
    if piece.kind not in _BLOCKS or piece.cut or groups.count(piece.group) > 1:
        return False
    own = _of(text, inner)
    blank = own[: len(own) - len(own.lstrip())] if at_start else own[len(own.rstrip()) :]
    return inner.kind == "prose" and "\n" in blank


def _stripped(text: str, pieces: list[Piece]) -> list[Piece]:
    while pieces and pieces[0].kind == "prose":
        own = _of(text, pieces[0])
        first = replace(pieces[0], start=pieces[0].end - len(own.lstrip()))
        if first.start < first.end:
            pieces = [first, *pieces[1:]]
            break
        pieces = pieces[1:]
    while pieces and pieces[-1].kind == "prose":
        own = _of(text, pieces[-1])
        last = replace(pieces[-1], end=pieces[-1].start + len(own.rstrip()))
        if last.start < last.end:
            return [*pieces[:-1], last]
        pieces = pieces[:-1]
    return pieces
