"""How data is wrapped so that a model can tell it from what it is told."""

from __future__ import annotations

import re
from collections.abc import Iterable


def fence(tag: str, text: str, *, among: Iterable[str] = ()) -> str:
    """Wrap data in `<tag>…</tag>` that the data itself cannot close or reopen.

    In a message of several fences `among` names them all: none of them can be
    opened or closed from within another.
    """
    return f"<{tag}>\n{_tags('<', (tag, *among)).sub('&lt;', text)}\n</{tag}>"


def unfence(text: str, tags: Iterable[str]) -> str:
    """Take the fences' own escapes out of text that was copied from within one."""
    return _tags("&lt;", tags).sub("<", text)


def _tags(opening: str, tags: Iterable[str]) -> re.Pattern[str]:
    names = "|".join(map(re.escape, tags))
    return re.compile(rf"{opening}(?=\s*/?\s*(?:{names})\b)", re.IGNORECASE)
