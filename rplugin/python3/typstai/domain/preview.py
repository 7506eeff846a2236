"""One rendered page of a document, as a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePreview:
    """A page that was drawn, or in `note` one sentence why there is none."""

    png: bytes = field(default=b"", repr=False)
    """Empty when no page was drawn."""
    number: int = 0
    """Counted from 1 as pages lie on each other, whatever is printed on them."""
    count: int = 0
    """Pages of the document."""
    note: str = ""
    """Also set beside a picture: why it shows page 1 in place of the asked one."""


class PageRenderer(Protocol):
    """Something that draws the page of a document on which a place of its source is."""

    async def render(
        self, *, root: str, path: str, overlay: dict[str, str], row0: int, byte_col: int
    ) -> PagePreview:
        """Draw the page of the place in `path` (absolute), with `overlay` as for a check.

        Never raises for a document's sake: what went wrong is the note of the result.
        """
        ...
