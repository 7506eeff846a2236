"""Finds Markdown and LaTeX in Typst text, which compiles to something else or not at all.

Cheap patterns propose places; the syntax tree then says whether each stands in
markup or mathematics, so that code, raw text, strings and comments stay quiet.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ..domain.diagnostic import Diagnostic, Fix
from . import latex
from .places import Places
from .syntax import Node, Tree, has_endless_line, parse

_MARKUP_PARENTS = ("markup", "strong content", "emphasized content")
_CLOSED = frozenset(
    ("raw block", "line comment", "block comment", "string", "equation", "code block",
     "call arguments", "code", "link", "label", "reference")
)  # fmt: skip
_MATH_LEAVES = ("escape sequence", "underscore", "hat")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leak:
    """Offsets in code points. `new` replaces `text[start:fix_end]`; None: no certain cure."""

    start: int
    end: int
    what: str
    new: str | None
    fix_end: int = -1


_Found = Iterator[_Leak]


def find_leaks(text: str) -> tuple[Diagnostic, ...]:
    """Warnings, from the top, none inside another; `path` is left empty."""
    finders = [finder for hints, finder in _FINDERS if any(hint in text for hint in hints)]
    if has_endless_line(text):
        return ()
    source = _Source(text)
    found = [leak for finder in finders for leak in finder(source)]
    return tuple(_diagnostic(leak, source.places) for leak in _outermost(found))


class _Source:
    """A text and questions about what stands where; parsed when the first is asked."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def places(self) -> Places:
        return Places(self.text)

    @cached_property
    def _tree(self) -> Tree | None:
        return parse(self.text)

    def path(self, offset: int) -> tuple[Node, ...]:
        """Nodes down to the leaf there; only an unknown one when the text is not parsed."""
        return self._tree.path_at(self.places.byte(offset)) if self._tree else ()

    def leaf(self, offset: int) -> str:
        path = self.path(offset)
        return path[-1].kind if path else ""

    def in_markup(self, offset: int) -> bool:
        for node in reversed(self.path(offset)):
            if node.kind in _MARKUP_PARENTS:
                return True
            if node.kind in _CLOSED:
                return False
        return False

    def is_empty(self, offset: int, kind: str) -> bool:
        """Whether a construct of that kind with nothing inside starts here."""
        at = self.places.byte(offset)
        spans = ((node.kind, node.start, node.end) for node in self.path(offset))
        return (kind, at, at + 2) in spans


_HEADING = re.compile(r"(?m)^[ \t]{0,3}(#{1,6})[ \t]+(?=\S)[^\n]*")
_BOLD_ITALIC = re.compile(r"\*\*\*(?=[^\s*])([^*\n]*[^\s*])\*\*\*")
_BOLD = re.compile(r"(?<!\*)\*\*(?=[^\s*])((?:[^*\n]|\n(?!\s*\n))*?[^\s*])\*\*(?!\*)")
_UNDER = re.compile(r"(?<![\w_])__(?=[^\s_])([^\n]*?[^\s_])__(?![\w_])")
_STRIKE = re.compile(r"(?<![\w~])~~(?=[^\s~])([^~\n]*[^\s~])~~(?![\w~])")
_LINK = re.compile(
    r"(!?)(?<![\\\w\]])\[([^\[\]\n]+)\]"
    r"\(((?:https?://|mailto:|www\.)[^\s()]+|[\w./-]+\.(?:png|jpe?g|gif|svg|html?|md|pdf))\)"
)
_BULLET = re.compile(r"(?m)^[ \t]*(\*) (?=\S)([^*\n]*)$")
_DISPLAY = re.compile(r"\$\$([^$]+)\$\$")
_TABLE = re.compile(
    r"(?m)^[ \t]*\|.+\|[ \t]*\n[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*"
    r"(?:\n[ \t]*\|.+\|[ \t]*)*$"
)
_COMMAND = re.compile(rf"\\(?:{'|'.join(sorted(latex.PROSE))})\*?(?=[\[{{])")
_SYMBOL = re.compile(rf"\\(?<![\w:\\/]\\)({'|'.join(sorted(latex.IN_PROSE))})(?![A-Za-z{{])")
_FORMULA = re.compile(r"\\(?<![\w\\]\\)(?:[dt]?frac|sqrt|binom)\{")
_ENVIRONMENT = re.compile(r"(?s)\\begin\{([a-z]+\*?)\}(?:\[[^\]\n]*\])?(.{,8000}?)\\end\{\1\}")
_SCRIPT = re.compile(r"(?<![\w\\^_])(\d+|[A-Za-z])([\^_])\{([^{}\n]+)\}")
_MATH = re.compile(r"\\[A-Za-z]{2}|[_^]\{")
_HASHLESS = re.compile(
    r"(?m)^(?:set (?:page|text|par|heading|document|list|enum|table|figure|math\.equation)\(.*\)"
    r'|(?:import|include) "[^"\n]+\.typ"(?:: .+)?'
    r"|show (?:heading|link|raw|figure|table): .+)[ \t]*$"
)
_SECTION = re.compile(r"(?m)^\\(?:(?:sub){0,2}section|chapter|paragraph)\*?(?=\{)")
_SECTION_END = re.compile(r"(?m)[ \t]*(?:\\label\{([\w.:-]+)\})?[ \t]*$")


def _headings(source: _Source) -> _Found:
    for found in _HEADING.finditer(source.text):
        start = found.start(1)
        if source.leaf(start) == "hash" and source.in_markup(start):
            new = "=" * len(found[1])
            yield _Leak(
                start=start, end=found.end(), fix_end=found.end(1), new=new,
                what="a Markdown heading",
            )  # fmt: skip


def _bold(source: _Source) -> _Found:
    for found in _BOLD_ITALIC.finditer(source.text):
        if source.is_empty(found.start(), "strong content"):
            yield _leak(found, "Markdown bold italics", f"*_{found[1]}_*")
    for found in _BOLD.finditer(source.text):
        if source.is_empty(found.start(), "strong content"):
            yield _leak(found, "Markdown bold", _strong(found))


def _underlined(source: _Source) -> _Found:
    for found in _UNDER.finditer(source.text):
        if source.is_empty(found.start(), "emphasized content"):
            yield _leak(found, "Markdown bold", _strong(found))


def _strong(found: re.Match[str]) -> str:
    text = found.string
    around = text[max(0, found.start() - 1) : found.start()], text[found.end() : found.end() + 1]
    return latex.wrapped("*", "*", "strong", found[1], around)


def _struck(source: _Source) -> _Found:
    for found in _STRIKE.finditer(source.text):
        if source.in_markup(found.start()):
            yield _leak(found, "Markdown strike-through", f"#strike[{found[1]}]")


def _links(source: _Source) -> _Found:
    for found in _LINK.finditer(source.text):
        bracket = found.start(2) - 1
        if source.leaf(bracket) != "text" or not source.in_markup(bracket):
            continue
        if found[1]:
            new = f'#image("{found[3]}", alt: "{found[2]}")'
            yield _leak(found, "a Markdown image", new if '"' not in found[2] else None)
        else:
            yield _leak(found, "a Markdown link", f'#link("{found[3]}")[{found[2]}]')


def _bullets(source: _Source) -> _Found:
    """Stars at line starts pair up as bold text; one alone stays open and is an error."""
    for found in _BULLET.finditer(source.text):
        start = found.start(1)
        if source.in_markup(start) and _is_bullet(source, start):
            yield _Leak(
                start=start, end=found.end(), fix_end=found.end(1), new="-",
                what="a Markdown list item",
            )  # fmt: skip


def _is_bullet(source: _Source, star: int) -> bool:
    """Whether the bold text that this star opens or ends closes at a line start, or never."""
    if source.leaf(star) == "syntax error":
        return True
    strong = next((node for node in source.path(star) if node.kind == "strong content"), None)
    if strong is None or source.leaf(star) != "star":
        return False
    last = source.places.at_byte(strong.end) - 1
    line_start = source.text.rfind("\n", 0, last) + 1
    return not source.text[line_start:last].strip() and last > source.places.at_byte(strong.start)


def _displays(source: _Source) -> _Found:
    for found in _DISPLAY.finditer(source.text):
        if source.is_empty(found.start(), "equation"):
            inner = latex.math_to_typst(found[1].strip())
            new = None if inner is None else f"$ {inner} $"
            yield _leak(found, "a LaTeX display formula", new)


def _tables(source: _Source) -> _Found:
    for found in _TABLE.finditer(source.text):
        start = source.text.index("|", found.start())
        if source.in_markup(start):
            rows = [_cells(row) for row in found[0].split("\n")]
            columns = len(rows[0])
            whole = all(len(row) == columns for row in rows)
            new = _table(columns, [rows[0], *rows[2:]]) if whole else None
            yield _Leak(start=start, end=found.end(), what="a Markdown table", new=new)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _table(columns: int, rows: list[list[str]]) -> str:
    lines = ["  " + ", ".join(f"[{cell}]" for cell in row) + "," for row in rows]
    lines[0] = f"  table.header({lines[0].strip().rstrip(',')}),"
    return "\n".join(("#table(", f"  columns: {columns},", *lines, ")"))


def _commands(source: _Source) -> _Found:
    for found in _SECTION.finditer(source.text):
        section = _section(found) if source.in_markup(found.start()) else None
        if section is not None:
            yield section
    for found in _COMMAND.finditer(source.text):
        if source.leaf(found.start()) == "escape sequence" and source.in_markup(found.start()):
            command = latex.prose_at(source.text, found.start())
            if command is not None:
                end, new = command
                new = None if new is None or new.startswith("=") else new
                yield _Leak(start=found.start(), end=end, what=f"LaTeX's {found[0]}", new=new)


def _section(found: re.Match[str]) -> _Leak | None:
    """A heading that has its line to itself, with its label."""
    command = latex.prose_at(found.string, found.start())
    rest = _SECTION_END.match(found.string, command[0]) if command else None
    if command is None or rest is None:
        return None
    new = f"{command[1]} <{rest[1]}>" if command[1] and rest[1] else command[1]
    return _Leak(start=found.start(), end=rest.end(), what="a LaTeX heading", new=new)


def _symbols(source: _Source) -> _Found:
    for found in _SYMBOL.finditer(source.text):
        if source.in_markup(found.start()):
            yield _leak(found, f"LaTeX's {found[0]}", f"${latex.SYMBOLS[found[1]]}$")
    for found in _FORMULA.finditer(source.text):
        if source.in_markup(found.start()):
            spans = latex.math_spans(source.text[found.start() : found.start() + 500])
            _, end, new = spans[0]
            yield _Leak(
                start=found.start(), end=found.start() + end, what="a LaTeX formula",
                new=None if new is None else f"${new}$",
            )  # fmt: skip


def _environments(source: _Source) -> _Found:
    for found in _ENVIRONMENT.finditer(source.text):
        if source.in_markup(found.start()):
            name = found[1].rstrip("*")
            yield _leak(found, f"a LaTeX environment ({name})", _environment(name, found[2]))


def _environment(name: str, body: str) -> str | None:
    if name in ("equation", "displaymath"):
        inner = latex.math_to_typst(body.strip())
        return None if inner is None else f"$ {inner} $"
    return latex.list_to_typst(name, body)


def _scripts(source: _Source) -> _Found:
    for found in _SCRIPT.finditer(source.text):
        if source.in_markup(found.start()):
            inner = latex.math_to_typst(found[3])
            new = None if inner is None else f"${found[1]}{found[2]}({inner})$"
            yield _leak(found, "a LaTeX script", new)


def _formulas(source: _Source) -> _Found:
    done = -1
    for found in _MATH.finditer(source.text):
        if found.start() < done or source.leaf(found.start()) not in _MATH_LEAVES:
            continue
        equation = _equation(source, found.start())
        if equation is not None:
            start, done = equation
            yield from _formula(source, start, done)


def _equation(source: _Source, offset: int) -> tuple[int, int] | None:
    """Offsets of the innermost formula around, unless code stands between."""
    for node in reversed(source.path(offset)):
        if node.kind == "equation":
            start = source.places.at_byte(node.start)
            return start, source.places.at_byte(node.end)
        if node.kind in ("markup", "code", "call arguments", "content block"):
            return None
    return None


def _formula(source: _Source, start: int, end: int) -> _Found:
    for first, last, new in latex.math_spans(source.text[start + 1 : end - 1]):
        at = start + 1 + first
        if source.leaf(at) in _MATH_LEAVES:
            what = f"LaTeX's {source.text[at : at + last - first]}"
            yield _Leak(start=at, end=start + 1 + last, what=what, new=new)


def _hashless(source: _Source) -> _Found:
    for found in _HASHLESS.finditer(source.text):
        if source.leaf(found.start()) == "text" and source.in_markup(found.start()):
            yield _leak(found, "code without its #", f"#{found[0]}")


_FINDERS: tuple[tuple[tuple[str, ...], Callable[[_Source], _Found]], ...] = (
    (("# ",), _headings),
    (("**",), _bold),
    (("__",), _underlined),
    (("~~",), _struck),
    (("](",), _links),
    (("* ",), _bullets),
    (("$$",), _displays),
    (("--|", "-:|", "- |", ": |"), _tables),
    (("\\",), _commands),
    (("\\",), _symbols),
    (("\\begin{",), _environments),
    (("_{", "^{"), _scripts),
    (("\\", "_{", "^{"), _formulas),
    (("set ", "import ", "include ", "show "), _hashless),
)
"""What must occur in the text at all, and what then looks closer."""


def _leak(found: re.Match[str], what: str, new: str | None) -> _Leak:
    return _Leak(start=found.start(), end=found.end(), what=what, new=new)


def _outermost(leaks: list[_Leak]) -> Iterator[_Leak]:
    end = -1
    for leak in sorted(leaks, key=lambda leak: (leak.start, -leak.end, leak.new is None)):
        if leak.start >= end:
            end = leak.end
            yield leak


def _diagnostic(leak: _Leak, places: Places) -> Diagnostic:
    row0, byte_col = places.position(leak.start)
    end_row0, end_byte_col = places.position(leak.end)
    return Diagnostic(
        path="",
        severity="warning",
        message=f"This is {leak.what}, not Typst.",
        row0=row0,
        byte_col=byte_col,
        end_row0=end_row0,
        end_byte_col=end_byte_col,
        source="typstai",
        fix=None if leak.new is None else _fix(leak, leak.new, places),
    )


def _fix(leak: _Leak, new: str, places: Places) -> Fix:
    row0, byte_col = places.position(leak.start)
    end_row0, end_byte_col = places.position(leak.end if leak.fix_end < 0 else leak.fix_end)
    return Fix(
        row0=row0,
        byte_col=byte_col,
        end_row0=end_row0,
        end_byte_col=end_byte_col,
        new=new,
        title=f"write {new.strip().split(chr(10))[0]}" if new.strip() else "leave it out",
    )
