"""Finds the file from which a project is compiled. Runs in the worker.

A chapter alone rarely compiles: its labels, functions and bibliography come from
the document that includes it. That document is the pinned one, the template's
entry point, or the top of the chain of files that name each other.
"""

from __future__ import annotations

import os
import re
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from .project import MAX_SEEN, walk_files
from .sources import MAX_SOURCES
from .syntax import parse

MAX_SOURCE_BYTES = 1 << 20
RESCAN_S = 5.0
"""How long what is on disk counts while no open file names other files than before."""

_NAMED = re.compile(r'"([^"\n\\]{1,200}(?:\.\w{2,5}|/))"')
"""A file, or a folder from whose files a name is put together."""
_Stamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Graph:
    """Which files name which, as of a moment."""

    named: tuple[tuple[str, tuple[str, ...]], ...]
    """What unsaved texts name: when it changes, the graph is out of date."""
    names: dict[str, set[str]]
    at: float


def find_main(root: str, path: str, overlay: Mapping[str, str], pinned: str = "") -> str:
    """Absolute path of the file to compile for `path`; `pinned` is relative to the root."""
    return MainFinder().find(root, path, overlay, pinned)


class MainFinder:
    """`find_main` with a memory of what it read."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[_Stamp, tuple[str, ...]]] = {}
        self._typed: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._graphs: dict[str, _Graph] = {}

    def find(self, root: str, path: str, overlay: Mapping[str, str], pinned: str = "") -> str:
        """Absolute path of the file to compile for `path`."""
        if pinned:
            return os.path.normpath(os.path.join(root, pinned))
        names = self._graph(root, overlay)
        above = _above(path, names)
        entry = _entry_point(root)
        if entry in above:
            return entry
        tops = [file for file in above if not _above(file, names)]
        return min(tops, key=_rank, default=path)

    def reaches(self, root: str, main: str, path: str, overlay: Mapping[str, str]) -> bool:
        """Whether `main` names `path`, or a file that does, and so on."""
        return path == main or main in _above(path, self._graph(root, overlay))

    def _graph(self, root: str, overlay: Mapping[str, str]) -> dict[str, set[str]]:
        named = tuple((name, _candidates(text)) for name, text in sorted(overlay.items()))
        known = self._graphs.get(root)
        now = time.monotonic()
        if known is None or known.named != named or now - known.at >= RESCAN_S:
            known = _Graph(named=named, names=self._names(root, overlay), at=now)
            self._graphs[root] = known
        return known.names

    def _names(self, root: str, overlay: Mapping[str, str]) -> dict[str, set[str]]:
        """For each source the absolute paths of the files that it names."""
        walked = islice(walk_files(Path(root)), MAX_SEEN)
        on_disk = (os.path.join(root, path) for path in walked if path.endswith(".typ"))
        files = {*islice(on_disk, MAX_SOURCES), *overlay}
        found: dict[str, set[str]] = {}
        for file in files:
            literals = self._overlaid(file, overlay) if file in overlay else self._stored(file)
            found[file] = {_target(root, file, literal) for literal in literals} - {file}
        return found

    def _overlaid(self, file: str, overlay: Mapping[str, str]) -> tuple[str, ...]:
        text = overlay[file]
        known = self._typed.get(file)
        if known is None or known[0] != text:
            known = self._typed[file] = (text, _literals(text))
        return known[1]

    def _stored(self, file: str) -> tuple[str, ...]:
        try:
            stat = os.stat(file)
            stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            known = self._read.get(file)
            if known is None or known[0] != stamp:
                literals = () if stat.st_size > MAX_SOURCE_BYTES else _literals(_text(file))
                known = self._read[file] = (stamp, literals)
        except OSError:
            return ()
        return known[1]


def _text(file: str) -> str:
    return Path(file).read_bytes().decode("utf-8", "replace")


def _candidates(text: str) -> tuple[str, ...]:
    return tuple(found[1] for found in _NAMED.finditer(text))


def _literals(text: str) -> tuple[str, ...]:
    """String literals that look like file names, none from comments or prose."""
    found = list(_NAMED.finditer(text))
    tree = parse(text) if found else None
    if tree is None:
        return tuple(match[1] for match in found)
    literals: list[str] = []
    done = at = 0
    for match in found:
        at += len(text[done : match.start()].encode())
        done = match.start()
        if tree.path_at(at)[-1].kind == "string":
            literals.append(match[1])
    return tuple(literals)


def _target(root: str, file: str, literal: str) -> str:
    base = root if literal.startswith("/") else os.path.dirname(file)
    target = os.path.normpath(os.path.join(base, literal.lstrip("/")))
    return f"{target}{os.sep}" if literal.endswith("/") else target


def _above(path: str, names: Mapping[str, set[str]]) -> set[str]:
    """Files that name `path`, or a file that does, and so on; cycles end."""
    seen: set[str] = set()
    waiting = [path]
    while waiting:
        wanted = waiting.pop()
        fresh = {file for file in names if _is_named(wanted, names[file])} - seen - {path}
        seen |= fresh
        waiting += fresh
    return seen


def _is_named(file: str, targets: set[str]) -> bool:
    if file in targets:
        return True
    return any(target.endswith(os.sep) and file.startswith(target) for target in targets)


def _rank(file: str) -> tuple[bool, int, str]:
    return os.path.basename(file) != "main.typ", file.count(os.sep), file


def _entry_point(root: str) -> str:
    """The template's main file as typst.toml names it, or nothing."""
    try:
        manifest = tomllib.loads(_text(os.path.join(root, "typst.toml")))
    except (OSError, tomllib.TOMLDecodeError):
        return ""
    match manifest.get("template"):
        case {"entrypoint": str(name), **rest}:
            folder = rest.get("path", "")
            return os.path.normpath(os.path.join(root, str(folder), name))
        case _:
            return ""
