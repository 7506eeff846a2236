"""A document seen through its pending hunks, and edits made on that sight.

The `final` text is the document as if everything pending were accepted. An edit
of it that touches pending hunks takes them over: they and the edit become one
change of the document as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .edit import LineChange, apply_changes

Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """One change of the current text, and the pending hunks (by position) that it replaces."""

    change: LineChange
    takes_over: tuple[int, ...]


@dataclass(slots=True)
class _Cluster:
    start: int
    end: int
    """Rows in the final text."""
    hunks: list[int]
    edits: list[LineChange]


def final_lines(current: Lines, hunks: Sequence[LineChange]) -> Lines:
    """The text as if all hunks were accepted."""
    return apply_changes(current, hunks)


def compose(
    current: Lines, hunks: Sequence[LineChange], edits: Sequence[LineChange]
) -> tuple[Composed, ...]:
    """Edits on the final text as changes of the current text, from the top.

    `hunks` are pending on `current`, from the top, not overlapping; applying the
    result together with the hunks not taken over gives the edited final text.
    """
    final = final_lines(current, hunks)
    clusters = _clusters(hunks, edits)
    return tuple(_composed(current, final, hunks, cluster) for cluster in clusters if cluster.edits)


def _clusters(hunks: Sequence[LineChange], edits: Sequence[LineChange]) -> list[_Cluster]:
    items: list[_Cluster] = []
    shift = 0
    for index, hunk in enumerate(hunks):
        start = hunk.row0 + shift
        items.append(_Cluster(start, start + len(hunk.new), [index], []))
        shift += len(hunk.new) - len(hunk.old)
    items += [_Cluster(edit.row0, edit.row0 + len(edit.old), [], [edit]) for edit in edits]
    clusters: list[_Cluster] = []
    for item in sorted(items, key=lambda item: (item.start, item.end)):
        if clusters and item.start <= clusters[-1].end:
            last = clusters[-1]
            last.end = max(last.end, item.end)
            last.hunks += item.hunks
            last.edits += item.edits
        else:
            clusters.append(item)
    return clusters


def _composed(
    current: Lines, final: Lines, hunks: Sequence[LineChange], cluster: _Cluster
) -> Composed:
    taken = [hunks[index] for index in cluster.hunks]
    before = [hunk for index, hunk in enumerate(hunks) if index < _first(cluster, hunks)]
    row0 = cluster.start - sum(len(hunk.new) - len(hunk.old) for hunk in before)
    grown = sum(len(hunk.new) - len(hunk.old) for hunk in taken)
    old = current[row0 : row0 + cluster.end - cluster.start - grown]
    edits = [
        LineChange(row0=edit.row0 - cluster.start, old=edit.old, new=edit.new)
        for edit in cluster.edits
    ]
    new = apply_changes(final[cluster.start : cluster.end], edits)
    change = LineChange(row0=row0, old=old, new=new)
    return Composed(change=change, takes_over=tuple(cluster.hunks))


def _first(cluster: _Cluster, hunks: Sequence[LineChange]) -> int:
    """Position of the first hunk that does not lie wholly before the cluster."""
    if cluster.hunks:
        return cluster.hunks[0]
    shift = 0
    for index, hunk in enumerate(hunks):
        if hunk.row0 + shift >= cluster.start:
            return index
        shift += len(hunk.new) - len(hunk.old)
    return len(hunks)
