"""Turns LaTeX into Typst where the answer is certain, and says so where it is not. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


COMMAND = re.compile(r"\\([A-Za-z]{2,})\*?")
_LABEL = re.compile(r"[\w.:-]+")
_WORD = re.compile(r"[A-Za-z]{3,}")
_MAX_DEPTH = 32
_SAME = """
alpha beta gamma delta zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon chi psi
omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega times sum approx forall exists
in sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh ln log exp lim max min sup inf det
dim ker gcd arg deg nabla partial equiv prop quad star prec succ perp parallel
"""
_RENAMED = {
    "epsilon": "epsilon.alt", "varepsilon": "epsilon", "phi": "phi.alt", "varphi": "phi",
    "vartheta": "theta.alt", "cdot": "dot.op", "cdots": "dots.c", "ldots": "dots", "dots": "dots",
    "leq": "<=", "le": "<=", "geq": ">=", "ge": ">=", "neq": "!=", "ne": "!=", "ll": "<<",
    "gg": ">>", "pm": "plus.minus", "mp": "minus.plus", "infty": "infinity", "to": "->",
    "rightarrow": "->", "leftarrow": "<-", "Rightarrow": "=>", "implies": "==>", "iff": "<==>",
    "Leftrightarrow": "<=>", "leftrightarrow": "<->", "mapsto": "|->", "int": "integral",
    "oint": "integral.cont", "prod": "product", "propto": "prop", "subset": "subset",
    "subseteq": "subset.eq", "supset": "supset", "cup": "union", "cap": "inter",
    "setminus": "without", "emptyset": "emptyset", "notin": "in.not", "wedge": "and",
    "land": "and", "vee": "or", "lor": "or", "neg": "not", "lnot": "not", "sim": "tilde.op",
    "simeq": "tilde.eq", "cong": "tilde.equiv", "circ": "compose", "otimes": "times.o",
    "oplus": "plus.o", "div": "div", "ast": "ast", "hbar": "planck", "ell": "ell",
    "langle": "chevron.l", "rangle": "chevron.r", "mid": "|", "qquad": "wide",
    "prime": "prime", "angle": "angle", "degree": "degree",
    "left": "", "right": "", "big": "", "Big": "", "bigl": "", "bigr": "", "displaystyle": "",
    "limits": "",
}  # fmt: skip
_SHARED = _names(_SAME)
SYMBOLS = {name: name for name in _SHARED} | _RENAMED

FUNCTIONS = {
    "frac": "frac({}, {})", "dfrac": "frac({}, {})", "tfrac": "frac({}, {})",
    "binom": "binom({}, {})", "sqrt": "sqrt({})", "hat": "hat({})", "bar": "macron({})",
    "tilde": "tilde({})", "vec": "arrow({})", "dot": "dot({})", "ddot": "dot.double({})",
    "overline": "overline({})", "underline": "underline({})", "mathbf": "bold({})",
    "boldsymbol": "bold({})", "mathbb": "bb({})", "mathcal": "cal({})", "mathfrak": "frak({})",
    "mathrm": "upright({})", "widehat": "hat({})", "widetilde": "tilde({})",
    "underbrace": "underbrace({})", "overbrace": "overbrace({})",
}  # fmt: skip
_QUOTED = ("text", "textrm", "mbox", "operatorname")
IN_PROSE = _names(
    """alpha beta gamma delta epsilon theta lambda mu pi sigma tau phi omega Delta Sigma Omega
    times cdot infty leq geq neq approx pm rightarrow Rightarrow"""
)
"""Symbols that nobody writes by accident between words."""
_SECTIONS = {
    "chapter": "=", "section": "=", "subsection": "==", "subsubsection": "===",
    "paragraph": "====",
}  # fmt: skip
_WRAPPED = {
    "textbf": ("*", "*", "strong"), "emph": ("_", "_", "emph"), "textit": ("_", "_", "emph"),
}  # fmt: skip
_CALLED = {
    "underline": "#underline[{}]", "footnote": "#footnote[{}]", "textsc": "#smallcaps[{}]",
    "textsuperscript": "#super[{}]", "textsubscript": "#sub[{}]", "sout": "#strike[{}]",
}  # fmt: skip
_REFERENCES = _names("ref autoref cref Cref eqref")
_CITATIONS = _names("cite citep citet parencite textcite autocite")
_LISTS = {"itemize": "-", "enumerate": "+"}
PROSE = frozenset(
    {*_SECTIONS, *_WRAPPED, *_CALLED, *_REFERENCES, *_CITATIONS, "label", "texttt", "url", "href"}
)
"""Commands that take an argument in running text."""


class _Unknown(Exception):
    """Something here has no certain translation."""


def math_to_typst(source: str) -> str | None:
    """The formula in Typst, or None when a command is not known."""
    try:
        return _Math(source).convert()
    except _Unknown:
        return None


def math_spans(source: str) -> list[tuple[int, int, str | None]]:
    """LaTeX constructs in a formula: start, end, and what they are in Typst, if certain."""
    spans: list[tuple[int, int, str | None]] = []
    reader = _Math(source)
    while reader.at < len(source):
        start = reader.at
        kind = source[start]
        if kind == '"':
            reader.quoted()
        elif COMMAND.match(source, start) or (kind in "_^" and source[start + 1 :][:1] == "{"):
            spans.append(_span(reader, start))
        else:
            reader.at += 2 if kind == "\\" else 1
    return spans


def _span(reader: _Math, start: int) -> tuple[int, int, str | None]:
    source = reader.source
    try:
        new = reader.piece()
    except _Unknown:
        command = COMMAND.match(source, start)
        reader.at = max(start + 1, command.end() if command else 0)
        return start, reader.at, None
    before, after = source[start - 1 : start], source[reader.at : reader.at + 1]
    if before.isalnum() and new[:1].isalnum() or (before == "\\" and new):
        new = f" {new}"
    if after.isalnum() and new[-1:].isalnum() or after == "\\":
        new = f"{new} "
    return start, reader.at, new


class _Math:
    """Reads a formula piece by piece."""

    def __init__(self, source: str, depth: int = 0) -> None:
        if depth > _MAX_DEPTH:
            raise _Unknown
        self.source = source
        self.at = 0
        self._depth = depth

    def convert(self) -> str:
        """The rest, in Typst."""
        pieces: list[str] = []
        while self.at < len(self.source):
            pieces.append(self.piece())
        return _join(pieces)

    def piece(self) -> str:
        """The next command, script, group, word or character, in Typst."""
        source, at = self.source, self.at
        if command := COMMAND.match(source, at):
            self.at = command.end()
            return self._command(command[1])
        match source[at]:
            case "\\":
                return self._escape()
            case '"':
                return self.quoted()
            case "_" | "^" if source[at + 1 : at + 2] == "{":
                self.at += 1
                return f"{source[at]}({self._argument()})"
            case "{":
                return self._argument()
            case "}" | "$" | "#":
                raise _Unknown
            case _:
                return self._word()

    def _word(self) -> str:
        """A name that Typst knows too, or one character: letters side by side are a product."""
        word = _WORD.match(self.source, self.at)
        known = word[0] if word and word[0] in _SHARED else self.source[self.at]
        self.at += len(known)
        return known

    def quoted(self) -> str:
        """A string, as it is."""
        start = self.at
        end = self.source.find('"', start + 1)
        self.at = len(self.source) if end < 0 else end + 1
        return self.source[start : self.at]

    def _escape(self) -> str:
        pair = self.source[self.at : self.at + 2]
        self.at += 2
        spaces = {"\\\\": "\\ ", "\\,": " thin ", "\\;": " thick ", "\\:": " med ", "\\!": ""}
        return spaces.get(pair, pair)

    def _command(self, name: str) -> str:
        if name in _QUOTED:
            return f'"{self._group()}"' if name != "operatorname" else f'op("{self._group()}")'
        if name == "sqrt" and self.source[self.at : self.at + 1] == "[":
            return self._root()
        if template := FUNCTIONS.get(name):
            arguments = [self._argument() for _ in range(template.count("{}"))]
            return template.format(*(_shield(text) for text in arguments))
        if name not in SYMBOLS:
            raise _Unknown
        if name in ("left", "right") and self.source[self.at : self.at + 1] == ".":
            self.at += 1
        return SYMBOLS[name]

    def _root(self) -> str:
        end = self.source.find("]", self.at)
        if end < 0:
            raise _Unknown
        index = _Math(self.source[self.at + 1 : end], self._depth + 1)
        self.at = end + 1
        return f"root({index.convert()}, {self._argument()})"

    def _argument(self) -> str:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _Unknown
        inner = self._braced_or_next()
        self._depth -= 1
        return inner

    def _braced_or_next(self) -> str:
        while self.source[self.at : self.at + 1] == " ":
            self.at += 1
        if self.at >= len(self.source):
            raise _Unknown
        if self.source[self.at] != "{":
            return self.piece()
        return _Math(self._group(), self._depth + 1).convert()

    def _group(self) -> str:
        end = group_end(self.source, self.at)
        start, self.at = self.at, end
        return self.source[start + 1 : end - 1]


def _join(pieces: Sequence[str]) -> str:
    out = ""
    for piece in pieces:
        if out[-1:].isalpha() and piece[:1].isalnum():
            out += " "
        out += piece
    return out.strip()


def _shield(argument: str) -> str:
    """Commas outside of brackets would start another argument."""
    depth = 0
    out: list[str] = []
    for char in argument:
        depth += (char in "([{") - (char in ")]}")
        out.append(f"\\{char}" if char in ",;" and depth == 0 else char)
    return "".join(out)


def group_end(source: str, start: int) -> int:
    """Offset after the `}` that closes the `{` at `start`. Raises when there is none."""
    if source[start : start + 1] != "{":
        raise _Unknown
    depth = 0
    for at in range(start, len(source)):
        depth += (source[at] == "{") - (source[at] == "}")
        if depth == 0:
            return at + 1
    raise _Unknown


def prose_at(source: str, start: int, depth: int = 0) -> tuple[int, str | None] | None:
    """End and translation of the command at `start`; None when its argument is missing."""
    command = COMMAND.match(source, start)
    if command is None:
        return None
    at, options = command.end(), ""
    try:
        if source[at : at + 1] == "[":
            at = source.index("]", at) + 1
            options = source[command.end() + 1 : at - 1]
        ends = [group_end(source, at)]
        if command[1] == "href":
            ends.append(group_end(source, ends[0]))
    except (_Unknown, ValueError):
        return None
    starts = (at, *ends[:-1])
    arguments = [source[first + 1 : last - 1] for first, last in zip(starts, ends, strict=True)]
    around = source[max(0, start - 1) : start], source[ends[-1] : ends[-1] + 1]
    try:
        return ends[-1], _Prose(options, arguments, around, depth + 1).convert(command[1])
    except _Unknown:
        return ends[-1], None


def _prose_to_typst(source: str, depth: int = 0) -> str:
    """Running text with its commands translated. Raises when one is not known."""
    if depth > _MAX_DEPTH:
        raise _Unknown
    out, at = "", 0
    for command in COMMAND.finditer(source):
        if command.start() < at:
            continue
        found = prose_at(source, command.start(), depth)
        if found is None or found[1] is None:
            raise _Unknown
        out += source[at : command.start()] + found[1]
        at = found[0]
    return out + source[at:]


@dataclass(frozen=True, slots=True)
class _Prose:
    """A command of running text with what it was given, and the characters around it."""

    options: str
    arguments: list[str]
    around: tuple[str, str]
    depth: int

    def convert(self, name: str) -> str:
        first = self.arguments[0]
        if name in _SECTIONS:
            return f"{_SECTIONS[name]} {self._inner(first)}"
        if name in _WRAPPED:
            return wrapped(*_WRAPPED[name], self._inner(first), self.around)
        if name in _CALLED:
            return _CALLED[name].format(self._inner(first))
        if name in _REFERENCES or name in _CITATIONS:
            return self._references(first)
        match name:
            case "label":
                return f"<{_label(first)}>"
            case "texttt":
                return f"`{first}`"
            case "url":
                return f'#link("{first}")'
            case "href":
                return f'#link("{first}")[{self._inner(self.arguments[-1])}]'
            case _:
                raise _Unknown

    def _inner(self, source: str) -> str:
        return _prose_to_typst(source, self.depth)

    def _references(self, keys: str) -> str:
        labels = [_label(key) for key in keys.split(",")]
        supplement = f"[{self.options}]" if self.options and len(labels) == 1 else ""
        return " ".join(f"@{label}" for label in labels) + supplement


def wrapped(left: str, right: str, function: str, inner: str, around: tuple[str, str]) -> str:
    """`*inner*`, or the call where a neighbouring letter would make the sign a plain one."""
    if any(char.isalnum() for char in around) or left in inner:
        return f"#{function}[{inner}]"
    return f"{left}{inner}{right}"


def _label(key: str) -> str:
    key = key.strip()
    if not _LABEL.fullmatch(key):
        raise _Unknown
    return key


def list_to_typst(kind: str, body: str) -> str | None:
    """An `itemize` or `enumerate` without lists inside it, as Typst's own list."""
    marker = _LISTS.get(kind)
    before, *items = re.split(r"\\item\b\s*", body)
    if marker is None or before.strip() or not items or "\\begin" in body:
        return None
    try:
        texts = [_prose_to_typst(" ".join(item.split())) for item in items]
    except _Unknown:
        return None
    return "\n".join(f"{marker} {text}" for text in texts)
