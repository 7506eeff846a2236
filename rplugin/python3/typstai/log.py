"""The package's one logger: a bounded file, with registered secrets taken out.

Other modules write `from .log import logger` and call `logger.info` or
`logger.exception`. Until `start` names a folder, records go nowhere; the root
logger is never touched. Showing messages to the user is not done here.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from urllib.parse import quote

from .errors import StorageError

FILE_NAME = "typstai.log"
MAX_FILE_BYTES = 1024 * 1024
OLD_FILES = 2
MIN_SECRET_LENGTH = 4
"""Shorter "keys" are placeholders of local servers; hiding them would garble every line."""
HIDDEN = "[hidden]"

logger = logging.getLogger("typstai")
logger.propagate = False
logger.addHandler(logging.NullHandler())

_secrets: set[str] = set()


def start(folder: Path, level: int = logging.INFO) -> Path:
    """Log to a file in `folder` (made if needed), and return its path. Raises StorageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handler = _LogFile(folder / FILE_NAME)
    except OSError as error:
        raise StorageError(f"The log cannot be written to {folder}: {error.strerror}.") from error
    logger.setLevel(level)
    use(handler)
    return folder / FILE_NAME


def use(handler: logging.Handler) -> None:
    """Send all records to `handler`, redacted, and close the one used before."""
    handler.setFormatter(_Redacting("%(asctime)s %(levelname)s %(module)s: %(message)s"))
    for previous in tuple(logger.handlers):
        logger.removeHandler(previous)
        previous.close()
    logger.addHandler(handler)


def stop() -> None:
    """Close the log file; records go nowhere again."""
    use(logging.NullHandler())


def redact(secret: str) -> None:
    """Keep `secret` out of every later line, also as it looks in a URL or in JSON."""
    if len(secret) < MIN_SECRET_LENGTH:
        return
    escaped = json.dumps(secret)[1:-1]
    _secrets.update((secret, escaped, repr(secret)[1:-1], quote(secret), quote(secret, safe="")))


class _Redacting(logging.Formatter):
    """Works on the finished line: a traceback can hold a key as well as a message."""

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        for secret in sorted(_secrets, key=len, reverse=True):
            line = line.replace(secret, HIDDEN)
        return line


class _LogFile(RotatingFileHandler):
    """A file of the user alone, shared by the hosts of several Neovims."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=MAX_FILE_BYTES, backupCount=OLD_FILES, encoding="utf-8")

    def shouldRollover(self, record: logging.LogRecord) -> bool:
        self._follow_rotation()
        return bool(super().shouldRollover(record))

    def handleError(self, record: logging.LogRecord) -> None:
        # The default prints the record's raw arguments, which may hold a secret.
        sys.stderr.write("typstai: the log cannot be written\n")

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding="utf-8", errors="replace", opener=_private)

    def _follow_rotation(self) -> None:
        """Reopen the file when another process has just moved it away."""
        if self.stream is not None and not _is_at(self.stream.fileno(), self.baseFilename):
            self.stream.close()
            self.stream = self._open()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _is_at(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
