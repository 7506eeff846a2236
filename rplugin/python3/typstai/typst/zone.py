"""Tells whether what is typed at a place of a Typst document would be prose.

The text around the place may be cut from a longer document: what began before
it (a raw block, a block of code) is then not seen.
"""

from __future__ import annotations

from .syntax import Node, parse

_PROBE = "x"
_STATEMENTS = frozenset((
    "`let` expression", "`set` expression", "`show` expression", "`import` expression",
    "`include` expression",
))  # fmt: skip


def is_prose_at(above: str, below: str) -> bool:
    """Whether a word between the two texts would be text of markup, and not part of math,
    raw text, code, a comment, a label, a reference or an address, nor stand behind code that
    has its line for itself. False when the text nests too deep to tell.
    """
    line = above[above.rfind("\n") + 1 :]
    # A word may also be the rest of the code before it, such as the unit of a number.
    glue = ("", " ") if "#" in line else ("",)
    return all(_is_prose(above, between, below) for between in glue)


def _is_prose(above: str, between: str, below: str) -> bool:
    tree = parse(f"{above}{between}{_PROBE}{below}")
    if tree is None:
        return False
    end = len(above.encode())
    path = tree.path_at(end + len(between))
    if [node.kind for node in path[-2:]] != ["markup", "text"]:
        return False
    line = above[above.rfind("\n") + 1 :].encode()
    text = line.strip()
    if not text:
        return True
    start = end - len(line) + line.index(text)
    inside = {(node.kind, node.start) for node in path}
    before = tree.path_at(start + len(text) - 1)
    return not any(
        _is_line_of_code(node, start) for node in before if (node.kind, node.start) not in inside
    )


def _is_line_of_code(node: Node, start: int) -> bool:
    """`start`: byte of the first character on the line that is not blank."""
    after_hash = node.start == start + 1 and node.kind in ("function call", "field access")
    return node.kind in _STATEMENTS or after_hash
