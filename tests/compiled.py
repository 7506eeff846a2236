"""The real compiler on a few files in a folder of their own, for tests of pure parts."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal

import typst

from typstai.domain.diagnostic import Diagnostic, Fix
from typstai.typst.diagnostics import parse_diagnostics
from typstai.typst.places import Places


@cache
def fonts() -> typst.Fonts:
    """Loaded once for all tests of a run."""
    return typst.Fonts()


class Compiled:
    """Compiles `main.typ` in the current folder."""

    def __init__(self) -> None:
        Path("main.typ").write_text("", encoding="utf-8")
        self._compiler = typst.Compiler("main.typ", root=".", font_paths=fonts())

    def diagnose(
        self, text: str, *, target: Literal["pdf", "html"] = "pdf", **files: str
    ) -> tuple[Diagnostic, ...]:
        """Errors and warnings of `text`, beside further `.typ` files by name."""
        sources = {"main.typ": text, **{f"{name}.typ": body for name, body in files.items()}}
        for name, body in sources.items():
            Path(name).write_text(body, encoding="utf-8", newline="")
        try:
            _, warnings = self._compiler.compile_with_warnings(format=target)
            output, first = "\n".join(str(item.diagnostic) for item in warnings), ""
        except typst.TypstError as error:
            output, first = error.diagnostic, error.message
        return parse_diagnostics(output, source_of=sources.get, first_error=first)

    def errors(self, text: str) -> list[Diagnostic]:
        """The errors among them."""
        return [item for item in self.diagnose(text) if item.severity == "error"]


def apply(text: str, fix: Fix) -> str:
    """The text after the fix."""
    places = Places(text)
    start = places.offset(fix.row0, fix.byte_col)
    end = places.offset(fix.end_row0, fix.end_byte_col)
    return text[:start] + fix.new + text[end:]
