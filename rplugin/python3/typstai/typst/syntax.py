"""Typst source as a tree, looked at one place at a time.

The parser recurses without a bound of its own and would end the process on
deep nesting, so such texts are refused before it sees them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

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
        self.root = Node(kind=root.kind().name, start=0, end=len(root), raw=root)
        self._children: dict[int, tuple[list[int], list[Node]]] = {}

    def path_at(self, byte: int) -> tuple[Node, ...]:
        """Nodes from the root down to the leaf that holds the byte."""
        path = [self.root]
        while inner := self._child_at(path[-1], byte):
            path.append(inner)
        return tuple(path)

    def children(self, node: Node) -> list[Node]:
        """The node's children, in order."""
        return self._split(node)[1]

    def _child_at(self, node: Node, byte: int) -> Node | None:
        starts, nodes = self._split(node)
        index = bisect_right(starts, byte) - 1
        if index < 0 or byte >= nodes[index].end:
            return None
        return nodes[index]

    def _split(self, node: Node) -> tuple[list[int], list[Node]]:
        known = self._children.get(id(node.raw)) if node is self.root else None
        if known is not None:
            return known
        starts: list[int] = []
        nodes: list[Node] = []
        start = node.start
        for raw in node.raw.children():
            end = start + len(raw)
            if end > start:
                starts.append(start)
                nodes.append(Node(kind=raw.kind().name, start=start, end=end, raw=raw))
            start = end
        if node is self.root:
            self._children[id(node.raw)] = (starts, nodes)
        return starts, nodes


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
    if any(len(line) > MAX_LINE for line in text.split("\n")):
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


def error_count(text: str) -> int | None:
    """How many syntax errors the text has; None when it cannot be parsed."""
    tree = parse(text)
    return None if tree is None else len(tree.root.raw.errors())
