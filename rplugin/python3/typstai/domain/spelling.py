"""A suspected mistake in prose, and who finds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

MistakeKind = Literal["spelling", "grammar", "style"]
"""An unknown word; a slip, whatever the words; a matter of taste."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A place in a text (offsets in code points, end-exclusive) and what may stand there."""

    start: int
    end: int
    message: str
    choices: tuple[str, ...]
    """Replacements, the likeliest first; "" deletes."""
    kind: MistakeKind = "spelling"


class Speller(Protocol):
    """Checks the prose of a piece of Typst."""

    async def mistakes(self, text: str) -> Sequence[Mistake] | None:
        """What is suspected, from the top; None when the text cannot be checked."""
        ...
