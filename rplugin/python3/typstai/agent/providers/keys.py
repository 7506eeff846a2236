"""Where an endpoint's key comes from, and the one place that holds it.

A source can be described to the user; the key itself is in no repr, no message
and no file of ours.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ...errors import SettingsError

COMMAND_SECONDS = 60.0
"""A password manager may be waiting for a passphrase."""
MAX_KEY_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvKey:
    """A variable in the environment of the host (Neovim's own)."""

    name: str

    def describe(self) -> str:
        return f"env {self.name}"

    async def read(self) -> str:
        value = os.environ.get(self.name, "")
        if not value.strip():
            raise SettingsError(f"The environment variable {self.name} holds no key; set it.")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKey:
    """A file that holds the key and nothing else; `~` is the home folder."""

    path: str

    def describe(self) -> str:
        return f"file {self.path}"

    async def read(self) -> str:
        path = Path(self.path).expanduser()
        try:
            if not path.exists():
                raise SettingsError(f"The key file {self.path} does not exist; create it.")
            if not path.is_file() or path.stat().st_size > MAX_KEY_BYTES:
                raise SettingsError(f"The key file {self.path} is not a small regular file.")
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", "") or "it is not UTF-8"
            raise SettingsError(f"The key file {self.path} cannot be read: {reason}.") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandKey:
    """A command that prints the key; run without a shell."""

    argv: tuple[str, ...]

    def describe(self) -> str:
        """The program only: its arguments may be secret."""
        return f"command {self.argv[0] if self.argv else '(empty)'}"

    async def read(self) -> str:
        code, out = await self._output()
        if code != 0:
            raise SettingsError(f"The key {self.describe()} failed with exit code {code}.")
        return out.decode("utf-8", "replace")

    async def _output(self) -> tuple[int | None, bytes]:
        try:
            process = await asyncio.create_subprocess_exec(
                *self.argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, TypeError, ValueError) as error:
            raise SettingsError(f"The key {self.describe()} cannot be started.") from error
        try:
            async with asyncio.timeout(COMMAND_SECONDS):
                out = await _read_all(process)
                return await process.wait(), out
        except TimeoutError as error:
            message = f"The key {self.describe()} did not end within {COMMAND_SECONDS:.0f} s."
            raise SettingsError(message) from error
        finally:
            await _end(process)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyringKey:
    """An entry of the system's keyring, through the optional package `keyring`."""

    service: str
    user: str

    def describe(self) -> str:
        return f"keyring entry {self.service}/{self.user}"

    async def read(self) -> str:
        return await asyncio.to_thread(self._read)

    def _read(self) -> str:
        try:
            module = importlib.import_module("keyring")
        except ImportError as error:
            raise SettingsError(
                f"The key from {self.describe()} needs the Python package keyring; install it into"
                " the plugin's environment."
            ) from error
        try:
            value = module.get_password(self.service, self.user)
        except Exception as error:  # backends raise whatever their system raises
            kind = type(error).__name__
            raise SettingsError(f"The {self.describe()} cannot be read ({kind}).") from error
        if not value:
            raise SettingsError(f"The {self.describe()} does not exist; create it.")
        return str(value)


KeySource: TypeAlias = EnvKey | FileKey | CommandKey | KeyringKey


class Key:
    """A key, resolved when first needed and then kept in memory."""

    def __init__(self, source: KeySource) -> None:
        self._source = source
        self._value = ""
        self._lock = asyncio.Lock()

    def __repr__(self) -> str:
        return f"Key({self.describe()})"

    def describe(self) -> str:
        """The source, for messages."""
        return self._source.describe()

    async def resolve(self) -> str:
        """The key; `SettingsError` names the source when there is none. Asked once at a time."""
        async with self._lock:
            if not self._value:
                self._value = self._checked(await self._source.read())
            return self._value

    def forget(self) -> None:
        """Ask the source again next time: the endpoint refused this key."""
        self._value = ""

    def _checked(self, value: str) -> str:
        value = value.strip()
        if not value:
            raise SettingsError(f"The key from {self.describe()} is empty.")
        if not (value.isascii() and value.isprintable()) or " " in value:
            raise SettingsError(f"The key from {self.describe()} is not one line of plain text.")
        return value


async def _read_all(process: asyncio.subprocess.Process) -> bytes:
    """All it prints, or the first `MAX_KEY_BYTES`."""
    assert process.stdout is not None
    try:
        return await process.stdout.readexactly(MAX_KEY_BYTES)
    except asyncio.IncompleteReadError as ended:
        return ended.partial


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill it and what it started, if it still runs."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
