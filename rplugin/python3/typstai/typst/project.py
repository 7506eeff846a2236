"""Where a project begins, which files it has, and which of them may be opened."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from ..domain.project import MAX_LISTED, Listing
from ..errors import ToolError

MARKERS = ("typst.toml", ".git")
IGNORED = frozenset({"node_modules", "__pycache__", "venv", "target", "dist", "build"})
"""Folders that tools fill; hidden ones are left out as well."""
MAX_SEEN = 20_000
"""Files looked at before a walk through a huge folder ends."""
NEAREST = 3


def find_root(path: str, markers: Sequence[str] = ()) -> str:
    """The nearest folder above `path` that holds a marker; else the file's own folder."""
    folder = Path(os.path.abspath(path)).parent
    wanted = (*MARKERS, *markers)
    for candidate in (folder, *folder.parents):
        if any((candidate / marker).exists() for marker in wanted):
            return str(candidate)
    return str(folder)


def walk_files(root: Path) -> Iterator[str]:
    """Paths relative to the root, upper folders first; never out of the root by a link."""
    real_root = root.resolve()
    folders = deque([""])
    while folders:
        folder = folders.popleft()
        for entry in _entries(root / folder):
            path = f"{folder}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if not is_ignored(entry.name):
                    folders.append(f"{path}/")
            elif not entry.is_symlink() or _is_inside(Path(entry.path), real_root):
                yield path


def is_ignored(folder_name: str) -> bool:
    return folder_name.startswith(".") or folder_name in IGNORED


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _is_inside(path: Path, real_root: Path) -> bool:
    """Whether the file that `path` leads to is one, and lies in the root."""
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    return real.is_file() and real.is_relative_to(real_root)


class DiskFiles:
    """`ProjectFiles` on disk; file work happens in a thread, never on the loop."""

    async def list_files(self, root: str) -> Listing:
        """The project's files; hidden and generated folders are left out."""
        return await asyncio.to_thread(_list_files, Path(root))

    async def resolve(self, root: str, path: str) -> str:
        """Absolute path of the file that `path`, relative to the root, names.

        Raises `ToolError`: `outside_project`, `not_found`.
        """
        return await asyncio.to_thread(_resolve, Path(root), path)


def _list_files(root: Path) -> Listing:
    found = list(islice(walk_files(root), MAX_LISTED + 1))
    return Listing(entries=tuple(sorted(found[:MAX_LISTED])), complete=len(found) <= MAX_LISTED)


def _resolve(root: Path, path: str) -> str:
    if "\0" in path or not path.strip():
        raise ToolError("not_found", "a path must name a file of the project.")
    absolute = Path(os.path.normpath(root / path))
    base = Path(os.path.normpath(root))
    if not absolute.is_relative_to(base):
        raise ToolError("outside_project", f"{path} is outside the project.")
    inner = absolute.relative_to(base)
    if any(is_ignored(part) for part in inner.parts[:-1]):
        raise ToolError("outside_project", f"{path} is not one of the project's documents.")
    if absolute.is_symlink() or absolute.exists():
        return _existing(absolute, root.resolve(), path)
    raise ToolError("not_found", f"there is no file {path}.{_nearest(root, inner.as_posix())}")


def _existing(absolute: Path, real_root: Path, asked: str) -> str:
    if _is_inside(absolute, real_root):
        return str(absolute)
    if absolute.is_dir() and absolute.resolve().is_relative_to(real_root):
        raise ToolError("not_found", f"{asked} is a folder; name a file in it.")
    raise ToolError("outside_project", f"{asked} is a link that leaves the project.")


def _nearest(root: Path, path: str) -> str:
    files = list(islice(walk_files(root), MAX_SEEN))
    name = path.rpartition("/")[2].lower()
    by_name = [item for item in files if item.rpartition("/")[2].lower() == name]
    near = by_name[:NEAREST] or get_close_matches(path, files, n=NEAREST, cutoff=0.5)
    return f" Nearest: {', '.join(near)}." if near else ""
