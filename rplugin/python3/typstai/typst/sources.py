"""Texts of a project as the compiler saw them, and the names defined in them. Worker only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from .project import MAX_SEEN, walk_files

MAX_SOURCES = 2_000

_LABEL = re.compile(r"<([\w.:-]+)>")
_KEY = re.compile(r"@\w+\{\s*([^\s,{}]+)\s*,")


class Sources:
    """Files by path relative to the root, each read once; unsaved text comes first."""

    def __init__(self, root: Path, texts: Mapping[str, str]) -> None:
        self._root = root
        self._texts: dict[str, str | None] = dict(texts)
        self._unsaved = frozenset(texts)
        self._labels: frozenset[str] | None = None

    def get(self, path: str) -> str | None:
        """The text; None for packages and for what is no readable file."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def labels(self) -> frozenset[str]:
        """Labels and citation keys of the whole project; reads it when first asked."""
        if self._labels is None:
            self._labels = frozenset(self._look_for_labels())
        return self._labels

    def _read(self, path: str) -> str | None:
        if path.startswith("@"):
            return None
        try:
            return (self._root / path).read_bytes().decode("utf-8-sig", "replace")
        except OSError:
            return None

    def _look_for_labels(self) -> Iterator[str]:
        walked = islice(walk_files(self._root), MAX_SEEN)
        files = (path for path in walked if path.endswith((".typ", ".bib")))
        for path in islice({*self._unsaved, *files}, MAX_SOURCES):
            text = self.get(path) or ""
            yield from (_KEY if path.endswith(".bib") else _LABEL).findall(text)
