"""Reads the topics of the reference: one Markdown file each, offline, on first use.

A file starts with `# Title`, a blank line and a one-line summary. Its fenced
blocks are examples: `typ` is markup, `typc` is code, and `error: MESSAGE` after
either says with which message it must fail.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from ...errors import ToolError

VERSION = "0.15.1"
"""The compiler for which every statement and example was checked."""

_FOLDER = Path(__file__).parent / "topics"


class Reference:
    """The topics. Implements `domain.docs.Docs`."""

    def topics(self) -> list[tuple[str, str]]:
        """Every topic's name and its one-line summary, in alphabetical order."""
        return [(name, _summary(text)) for name, text in self._texts.items()]

    def read(self, topic: str) -> str:
        """The text of a topic, with the version it holds for. Raises ToolError."""
        text = self._texts.get(_as_name(topic))
        if text is None:
            raise ToolError("unknown_topic", self._no_topic(topic))
        title, _, rest = text.partition("\n")
        return f"{title} (Typst {VERSION})\n{rest}"

    @cached_property
    def _texts(self) -> dict[str, str]:
        paths = sorted(_FOLDER.glob("*.md"))
        return {path.stem: path.read_text(encoding="utf-8") for path in paths}

    def _no_topic(self, topic: str) -> str:
        near = self._nearest(_as_name(topic))
        names = ", ".join(near or self._texts)
        return f"there is no topic {topic!r:.80}. {'Nearest' if near else 'Topics'}: {names}."

    def _nearest(self, name: str) -> list[str]:
        """Names that share a word or a stem with `name`, else those spelt alike."""
        words = {word for word in name.split("-") if len(word) > 2}
        sharing = [known for known in self._texts if any(word in known for word in words)]
        return sharing or get_close_matches(name, self._texts, n=3)


def _summary(text: str) -> str:
    return text.split("\n")[2]


def _as_name(topic: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", topic.lower()).strip("-")
