"""What the agent may ask of a reference of Typst, wherever it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Docs(Protocol):
    """A reference in topics, each a page of Markdown with examples that compile."""

    def topics(self) -> Sequence[tuple[str, str]]:
        """Every topic's name and its one-line summary, in alphabetical order."""
        ...

    def read(self, topic: str) -> str:
        """The text of a topic. Raises ToolError (`unknown_topic`) with the nearest names."""
        ...
