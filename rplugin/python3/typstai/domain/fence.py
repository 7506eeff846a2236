"""How data is wrapped so that a model can tell it from what it is told."""

from __future__ import annotations

import re


def fence(tag: str, text: str) -> str:
    """Wrap data in `<tag>…</tag>` that the data itself cannot close or reopen."""
    return f"<{tag}>\n{_opening(tag).sub('&lt;', text)}\n</{tag}>"


def unfence(tag: str, text: str) -> str:
    """Take the fence's own escapes out of text that was copied from within it."""
    return re.sub(rf"&lt;(?=\s*/?\s*{re.escape(tag)}\b)", "<", text, flags=re.IGNORECASE)


def _opening(tag: str) -> re.Pattern[str]:
    return re.compile(rf"<(?=\s*/?\s*{re.escape(tag)}\b)", re.IGNORECASE)
