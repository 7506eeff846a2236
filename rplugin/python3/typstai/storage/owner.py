"""Which process is writing a running turn, and whether it still lives.

Every process that opens the store holds an exclusive lock on a file of its
own. The kernel drops the lock when the process ends, however it ends, so there
are no process numbers to be reused and no lease to be renewed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
from pathlib import Path


class Owner:
    """This process as a writer; `id` is what is stored beside what it writes."""

    def __init__(self, folder: Path) -> None:
        """Take a lock file in `folder`, which is made if needed. Raises OSError."""
        self._folder = folder
        folder.mkdir(mode=0o700, exist_ok=True)
        self.id, self._descriptor = self._claim()
        self.others()

    def is_alive(self, owner_id: str) -> bool:
        """Whether the process behind `owner_id` still runs; nobody (an empty id) does not."""
        if owner_id == self.id:
            return True
        path = self._path(owner_id)
        try:
            descriptor = os.open(path, os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            return not _free(descriptor, path)
        finally:
            os.close(descriptor)

    def others(self) -> int:
        """How many other owners live; what the dead left behind is removed."""
        owner_ids = [path.stem for path in self._folder.glob("*.lock")]
        return sum(self.is_alive(owner_id) for owner_id in owner_ids if owner_id != self.id)

    def close(self) -> None:
        """Give the lock up."""
        self._path(self.id).unlink(missing_ok=True)
        os.close(self._descriptor)

    def _claim(self) -> tuple[str, int]:
        while True:
            owner_id = secrets.token_hex(8)
            path = self._path(owner_id)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            # Another process may have taken the file for a dead one's before it was locked.
            if path.exists():
                return owner_id, descriptor
            os.close(descriptor)

    def _path(self, owner_id: str) -> Path:
        return self._folder / f"{Path(owner_id).name}.lock"


def _free(descriptor: int, path: Path) -> bool:
    """Whether nobody holds the lock; the file of a dead process is removed."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    return True
