"""What runs wrote into documents, as far as it can be taken back.

Texts are known by their hashes. Whether a revert is possible is decided by the
editor, which compares the live text with what is said here; nothing here reads
a document.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

SnapshotKind = Literal["automatic", "before_restore"]
ReceiptState = Literal["available", "reverted", "lapsed"]
"""`lapsed`: the run edited something, but the text before is not kept (any more)."""
Told = Literal["nothing", "done", "undone"]
"""What the model was told last of a text that was put back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much is kept, over all documents and chats; the oldest goes first."""

    count: int
    body_bytes: int


CHECKPOINTS = Limits(count=5, body_bytes=4 * 1024 * 1024)
SNAPSHOTS = Limits(count=6, body_bytes=4 * 1024 * 1024)


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write of a run into a document, as hashes of the whole text."""

    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The text of a document from before a run's first write, and what the run left."""

    run: str
    chat: str
    document: str
    before: str
    """Hash of the text before."""
    kept: bool
    """Whether that text is still stored."""
    reverted: bool
    writes: tuple[Write, ...]
    others: tuple[str, ...] = ()
    """Hashes of what other chats left in the document."""

    @property
    def left(self) -> tuple[str, ...]:
        """Hashes of the texts that hold the run's writes and nothing else, in order."""
        reached = {self.before}
        left: list[str] = []
        for write in self.writes:
            if write.before in reached:
                reached.add(write.after)
                left.append(write.after)
        return tuple(left)

    @property
    def interrupted(self) -> bool:
        """Whether something else was written before the run's last write."""
        return bool(self.writes) and self.writes[-1].after not in self.left


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A text that was put back, and what the model of a chat knows of it."""

    seq: int
    text: str
    document: str
    before: str
    """Hash of the text that was put away."""
    after: str
    told: Told = "nothing"
    undone: bool = False
    """Whether the writer has undone it, as far as was seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """What the model of a chat has yet to be told."""

    seq: int
    """Of the note that it is about."""
    told: Told
    """What the model will know then."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One run that is taken back, in all its documents."""

    run: str
    checkpoints: tuple[Checkpoint, ...]


def cascade(run: str, checkpoints: Sequence[Checkpoint]) -> tuple[Step, ...]:
    """What reverting `run` takes back, newest first, the run itself last.

    `checkpoints` are all of one chat, in the order in which they were made. A run
    that wrote nothing gives no steps.
    """
    order = list(dict.fromkeys(item.run for item in checkpoints))
    if run not in order:
        return ()
    return tuple(
        Step(run=name, checkpoints=tuple(item for item in checkpoints if item.run == name))
        for name in reversed(order[order.index(run) :])
    )


def brought_back(
    checkpoints: Sequence[Checkpoint], live: Mapping[str, str]
) -> tuple[Checkpoint, ...]:
    """The same, where what was reverted and undone again does not count as reverted.

    `live` are the hashes of the texts as they are now, by document.
    """
    standing = {(document, text) for document, text in live.items()}
    found: list[Checkpoint] = []
    for item in reversed(checkpoints):
        if any((item.document, left) in standing for left in item.left):
            standing.add((item.document, item.before))
            item = replace(item, reverted=False)
        found.append(item)
    return tuple(reversed(found))


def seen(notes: Sequence[Note], live: Mapping[str, str]) -> tuple[Note, ...]:
    """The notes (oldest first) as the texts read now; of other texts nothing is known.

    A text as it was before a note means that the note was undone; as after it, that it holds.
    """
    undone: dict[int, bool] = {}
    standing = set(live.items())
    for note in notes:
        if (note.document, note.before) in standing:
            standing.add((note.document, note.after))
            undone[note.seq] = True
    standing = set(live.items())
    for note in reversed(notes):
        if (note.document, note.after) in standing and note.seq not in undone:
            standing.add((note.document, note.before))
            undone[note.seq] = False
    return tuple(replace(note, undone=undone.get(note.seq, note.undone)) for note in notes)


def news(notes: Sequence[Note]) -> tuple[News, ...]:
    """What the model must be told so that it knows what holds, oldest first."""
    found: list[News] = []
    for note in notes:
        if note.undone and note.told == "done":
            found.append(News(seq=note.seq, told="undone", text=undone_note(note.text)))
        elif not note.undone and note.told != "done":
            found.append(News(seq=note.seq, told="done", text=note.text))
    return tuple(found)


def state(checkpoints: Iterable[Checkpoint]) -> ReceiptState:
    """How the receipt of one run is shown."""
    found = tuple(checkpoints)
    if found and all(item.reverted for item in found):
        return "reverted"
    if found and all(item.kept for item in found):
        return "available"
    return "lapsed"


def surplus(sizes: Sequence[int], limits: Limits) -> int:
    """How many of the oldest must go; `sizes` in bytes, oldest first."""
    left, total = len(sizes), sum(sizes)
    gone = 0
    while gone < len(sizes) and (left > limits.count or total > limits.body_bytes):
        left, total = left - 1, total - sizes[gone]
        gone += 1
    return gone


def text_hash(body: bytes) -> str:
    """Fingerprint of a stored text, the same as `hash` in lua/typstai/recovery/journal.lua."""
    line_count = body.count(b"\n") + 1
    return hashlib.sha256(b"%d\n" % line_count + body.replace(b"\0", b"\n")).hexdigest()


def reverted_note(question: str) -> str:
    """What the model is told of a revert."""
    return f"The edits of your answer to {question} were reverted; read the document again."


def restored_note(name: str) -> str:
    """What the model is told of a restored snapshot."""
    return f"The writer put {name} back to an earlier state; read the document again."


def undone_note(note: str) -> str:
    """What the model is told when the writer undid what a note had told it."""
    what, _, _ = note.rpartition(";")
    return f"{what}, but the writer has undone that since; read the document again."
