"""The sections of a Typst text, by its parser."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..domain.outline import Section
from .syntax import Node, Tree, parse

_CLOSING = ("bibliography", "colbreak", "outline", "pagebreak")
"""Functions whose call at the end of a section stands for itself."""
_RULES = ("`set` expression", "`show` expression", "`include` expression")
_BETWEEN = ("space", "paragraph break", "line comment", "block comment", "hash", "semicolon")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Heading:
    level: int
    title: str
    label: str
    index: int
    """Among the nodes of the whole text."""


class TypstOutline:
    """`OutlineReader` for headings written with `=`, outside of other elements."""

    async def sections(self, lines: Sequence[str]) -> Sequence[Section] | None:
        return await asyncio.to_thread(_sections, "\n".join(lines))


def _sections(text: str) -> Sequence[Section] | None:
    tree = parse(text)
    if tree is None:
        return None
    data = text.encode()
    nodes = tree.children(tree.root)
    headings = list(_headings(tree, nodes, data))
    paths, ends = _nested(headings, len(nodes))
    breaks = [found.start() for found in re.finditer(b"\n", data)]
    return [
        Section(
            path=path,
            level=own.level,
            label=own.label,
            start=bisect_left(breaks, nodes[own.index].start),
            end=bisect_left(breaks, nodes[_last(nodes, own.index, end, data)].end) + 1,
        )
        for own, path, end in zip(headings, paths, ends, strict=True)
    ]


def _headings(tree: Tree, nodes: Sequence[Node], data: bytes) -> Iterator[_Heading]:
    for index, node in enumerate(nodes):
        if node.kind == "heading":
            parts = tree.children(node)
            marker, body = parts[0], parts[-1]
            yield _Heading(
                level=marker.end - marker.start,
                title=data[body.start : body.end].decode() if body is not marker else "",
                label=_label(nodes[index + 1 : index + 3], data),
                index=index,
            )


def _label(following: Sequence[Node], data: bytes) -> str:
    kinds = [node.kind for node in following]
    if "label" not in kinds or kinds[0] not in ("space", "label"):
        return ""
    label = following[kinds.index("label")]
    return data[label.start + 1 : label.end - 1].decode()


def _nested(headings: Sequence[_Heading], count: int) -> tuple[list[tuple[str, ...]], list[int]]:
    """For each heading its path, and the index of the node after its section."""
    paths: list[tuple[str, ...]] = []
    ends = [count] * len(headings)
    above: list[int] = []
    for number, heading in enumerate(headings):
        while above and headings[above[-1]].level >= heading.level:
            ends[above.pop()] = heading.index
        above.append(number)
        paths.append(tuple(headings[outer].title for outer in above))
    return paths, ends


def _last(nodes: Sequence[Node], first: int, end: int, data: bytes) -> int:
    """Index of the node with which a section ends, without its closing code."""
    last = end - 1
    while last > first and (nodes[last].kind in _BETWEEN or _is_closing(nodes[last], data)):
        last -= 1
    return last


def _is_closing(node: Node, data: bytes) -> bool:
    if node.kind in _RULES:
        return True
    name = data[node.start : node.end].split(b"(", 1)[0].decode()
    return node.kind == "function call" and name in _CLOSING
