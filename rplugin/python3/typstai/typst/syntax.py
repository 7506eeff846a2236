"""Typst source as a tree, looked at one place at a time.

The parser recurses without a bound of its own and would end the process on
deep nesting, so such texts are refused before it sees them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

import typst_syntax

MAX_NESTING = 256
"""As deep as the compiler itself goes."""
MAX_LINE = 20_000
"""Characters: a longer line could nest too deep by operators alone."""

_BRACKET = re.compile(r"[\[({\])}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A piece of the tree; byte offsets into the UTF-8 text, end-exclusive."""

    kind: str
    start: int
    end: int
    raw: typst_syntax.SyntaxNode


class Tree:
    """The syntax of one text."""

    def __init__(self, text: str) -> None:
        root = typst_syntax.Source.detached(text).root()
        self.root = _node(root, 0)
        self._top = _split(self.root)

    def path_at(self, byte: int) -> tuple[Node, ...]:
        """Nodes from the root down to the leaf that holds the byte."""
        path = [self.root]
        parts = self._top
        while inner := _child_at(parts, byte):
            path.append(inner)
            parts = _split(inner)
        return tuple(path)

    def children(self, node: Node) -> tuple[Node, ...]:
        """The parts of a node, in their order."""
        starts, parts = self._top if node == self.root else _split(node)
        return tuple(_node(part, start) for part, start in zip(parts, starts, strict=False))


_Parts = tuple[list[int], list[typst_syntax.SyntaxNode]]


def _node(raw: typst_syntax.SyntaxNode, start: int) -> Node:
    return Node(kind=raw.kind().name, start=start, end=start + len(raw), raw=raw)


def _split(node: Node) -> _Parts:
    """The children and where each starts."""
    children = node.raw.children()
    return list(accumulate(map(len, children[:-1]), initial=node.start)), children


def _child_at(parts: _Parts, byte: int) -> Node | None:
    starts, children = parts
    index = bisect_right(starts, byte) - 1
    if not children or index < 0:
        return None
    child = _node(children[index], starts[index])
    return child if byte < child.end else None


def parse(text: str) -> Tree | None:
    """The tree, or None for a text that nests too deep or cannot be UTF-8."""
    if is_too_deep(text):
        return None
    try:
        return Tree(text)
    except UnicodeEncodeError:
        return None


def is_too_deep(text: str) -> bool:
    """Whether brackets (in prose, strings and comments too) or a line are beyond bounds."""
    if has_endless_line(text):
        return True
    depth = 0
    for found in _BRACKET.finditer(text):
        if found[0] in "[({":
            depth += 1
            if depth > MAX_NESTING:
                return True
        else:
            depth = max(0, depth - 1)
    return False


def has_endless_line(text: str) -> bool:
    """Whether a line is longer than anybody writes; nothing is looked for in such a text."""
    return len(text) > MAX_LINE and max(map(len, text.split("\n"))) > MAX_LINE


def error_starts(text: str) -> list[int] | None:
    """Where syntax errors start, in bytes; None when the text cannot be parsed."""
    if is_too_deep(text):
        return None
    source = typst_syntax.Source.detached(text)
    ranges = (source.range(error.span) for error in source.root().errors())
    return [found[0] for found in ranges if found]
