"""Cuts hunks of prose as small as they can be decided on their own.

Lines that follow each other come as one hunk. Where one line's change ends
before the next one's begins, the two are different questions; so are the
sentences of one line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..domain.proposal import MAX_HUNKS, Hunk
from ..domain.prose import ends_sentence
from ..domain.sentences import by_sentence


def cut(hunks: Sequence[Hunk]) -> tuple[Hunk, ...]:
    """The same changes in more hunks, as far as there may be so many."""
    parts = [part for hunk in hunks for part in _parts(hunk)]
    return by_sentence(parts if len(parts) <= MAX_HUNKS else list(hunks))


def _parts(hunk: Hunk) -> Iterator[Hunk]:
    if len(hunk.old) != len(hunk.new):
        yield hunk
        return
    start = 0
    for row in range(1, len(hunk.old) + 1):
        if row == len(hunk.old) or _is_seam(hunk, row):
            old, new = hunk.old[start:row], hunk.new[start:row]
            if old != new:
                yield replace(hunk, row0=hunk.row0 + start, old=old, new=new)
            start = row


def _is_seam(hunk: Hunk, row: int) -> bool:
    """Whether no change reaches over the end of the line before `row`."""
    above = hunk.old[row - 1].split()[-1:], hunk.new[row - 1].split()[-1:]
    below = hunk.old[row].split()[:1], hunk.new[row].split()[:1]
    if above[0] == above[1] or below[0] == below[1]:
        return True
    return all(words and ends_sentence(words[0]) for words in above)
