"""A shadow of a project: unsaved text laid over the files on disk.

Folders on the way to an overlaid file are real; everything beside them is a
link into the project, so that images and libraries resolve as they would there.
Between two calls only what changed is touched. Runs in the worker.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

_SETTLED_S = 2.0
"""A folder changed this recently may change again within one tick of the file
system's clock, unseen: it is listed again."""

_Stamp = tuple[int, int, int]


@dataclass(slots=True)
class _Folder:
    """A real folder of the shadow: which links it holds, as of which listing."""

    links: set[str] = field(default_factory=set[str])
    mtime_ns: int = -1
    listed_at: float = 0.0


class ShadowTree:
    """Mirror of the project at `root` in the folder `target`, which must be empty."""

    def __init__(self, root: Path, target: Path) -> None:
        self._root = root
        self.target = target.resolve()
        self._folders: dict[str, _Folder] = {}
        self._texts: dict[str, bytes] = {}
        self._copies: dict[str, _Stamp] = {}

    def update(self, texts: Mapping[str, bytes], main: str) -> None:
        """Make the shadow equal to the project with `texts` in place of its files.

        Keys are paths relative to the root, with `/`. `main` becomes a real file
        even when it is unchanged: the compiler follows a link out of its root.
        """
        keep = {*texts, main}
        for folder in sorted({parent for path in keep for parent in _parents(path)}):
            self._make_folder(folder)
        for gone in {*self._texts, *self._copies} - keep:
            self._forget(gone)
        for folder in list(self._folders):
            self._refresh(folder, keep)
        for path, content in texts.items():
            self._write(path, content)
        if main not in texts:
            self._copy(main)

    def _make_folder(self, folder: str) -> None:
        if folder in self._folders:
            return
        target = self.target / folder
        if target.is_symlink():
            target.unlink()
        target.mkdir(exist_ok=True)
        self._folders[folder] = _Folder()
        parent, name = _split(folder)
        if folder:
            self._folders[parent].links.discard(name)

    def _refresh(self, folder: str, keep: set[str]) -> None:
        """Link what the project's folder holds now and drop links to what is gone."""
        known = self._folders[folder]
        mtime_ns = _mtime_ns(self._root / folder)
        if mtime_ns == known.mtime_ns and known.listed_at - mtime_ns / 1e9 > _SETTLED_S:
            return
        known.mtime_ns, known.listed_at = mtime_ns, time.time()
        names = _names(self._root / folder)
        own = {name for name in names if self._is_own(_join(folder, name), keep)}
        for name in known.links - (names - own):
            (self.target / folder / name).unlink(missing_ok=True)
        for name in names - own - known.links:
            (self.target / folder / name).symlink_to(self._root / folder / name)
        known.links = names - own

    def _is_own(self, path: str, keep: set[str]) -> bool:
        return path in keep or path in self._folders

    def _write(self, path: str, content: bytes) -> None:
        if self._texts.get(path) == content:
            return
        self._own(path).write_bytes(content)
        self._texts[path] = content
        self._copies.pop(path, None)

    def _copy(self, path: str) -> None:
        source = self._root / path
        try:
            stamp = _stamp(source)
            if self._copies.get(path) == stamp:
                return
            shutil.copyfile(source, self._own(path))
        except OSError:
            self._forget(path)
            return
        self._copies[path] = stamp
        self._texts.pop(path, None)

    def _own(self, path: str) -> Path:
        """The place of a real file, freed of the link that stood there."""
        target = self.target / path
        folder, name = _split(path)
        if name in self._folders[folder].links:
            self._folders[folder].links.discard(name)
            target.unlink(missing_ok=True)
        return target

    def _forget(self, path: str) -> None:
        """Take down a real file; the next refresh links the project's own."""
        (self.target / path).unlink(missing_ok=True)
        self._texts.pop(path, None)
        self._copies.pop(path, None)
        self._folders[_split(path)[0]].mtime_ns = -1


def _parents(path: str) -> list[str]:
    """Folders from the root (`""`) down to the one that holds `path`."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:depth]) for depth in range(len(parts) + 1)]


def _split(path: str) -> tuple[str, str]:
    folder, _, name = path.rpartition("/")
    return folder, name


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _names(folder: Path) -> set[str]:
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()


def _mtime_ns(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


def _stamp(file: Path) -> _Stamp:
    stat = file.stat()
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
