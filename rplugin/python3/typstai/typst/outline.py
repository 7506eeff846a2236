"""The sections of a Typst text, by its parser."""

from __future__ import annotations

import asyncio
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
    return [_section(headings, number, nodes, data) for number in range(len(headings))]


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


def _section(
    headings: Sequence[_Heading], number: int, nodes: Sequence[Node], data: bytes
) -> Section:
    own = headings[number]
    below = (item.index for item in headings[number + 1 :] if item.level <= own.level)
    last = _last(nodes, own.index, next(below, len(nodes)), data)
    return Section(
        path=_path(headings, number),
        level=own.level,
        label=own.label,
        start=data.count(b"\n", 0, nodes[own.index].start),
        end=data.count(b"\n", 0, nodes[last].end) + 1,
    )


def _path(headings: Sequence[_Heading], number: int) -> tuple[str, ...]:
    titles: list[str] = []
    level = headings[number].level + 1
    for item in reversed(headings[: number + 1]):
        if item.level < level:
            level = item.level
            titles.insert(0, item.title)
    return tuple(titles)


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
