from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from typstai.agent.providers import keys
from typstai.agent.providers.keys import (
    CommandKey,
    EnvKey,
    FileKey,
    Key,
    KeyringKey,
    KeySource,
)
from typstai.errors import SettingsError

SECRET = "sk-live-0123456789"


def python(source: str) -> CommandKey:
    return CommandKey(argv=(sys.executable, "-c", source))


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(f"{SECRET}\n", encoding="utf-8")
    return path


async def failure(source: KeySource) -> str:
    with pytest.raises(SettingsError) as raised:
        await Key(source).resolve()
    return str(raised.value)


async def test_a_key_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", f" {SECRET} ")
    assert await Key(EnvKey(name="SOME_KEY")).resolve() == SECRET


async def test_a_key_comes_from_a_file(key_file: Path) -> None:
    assert await Key(FileKey(path=str(key_file))).resolve() == SECRET


async def test_a_tilde_in_a_file_is_the_home_folder(
    key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(key_file.parent))
    assert await Key(FileKey(path="~/key")).resolve() == SECRET


async def test_a_key_comes_from_a_command_without_a_shell() -> None:
    source = CommandKey(argv=(sys.executable, "-c", "import sys; print(sys.argv[1])", "$HOME;`x`"))
    assert await Key(source).resolve() == "$HOME;`x`"


async def test_a_key_is_asked_for_once_and_at_first_use(tmp_path: Path) -> None:
    log = tmp_path / "log"
    key = Key(python(f"open({str(log)!r}, 'a').write('x'); print({SECRET!r})"))
    assert not log.exists()
    assert await asyncio.gather(key.resolve(), key.resolve()) == [SECRET, SECRET]
    assert await key.resolve() == SECRET
    assert log.read_text(encoding="utf-8") == "x"


async def test_a_forgotten_key_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "old-key-000")
    key = Key(EnvKey(name="SOME_KEY"))
    assert await key.resolve() == "old-key-000"
    monkeypatch.setenv("SOME_KEY", "new-key-111")
    assert await key.resolve() == "old-key-000"
    key.forget()
    assert await key.resolve() == "new-key-111"


async def test_a_missing_key_is_named_by_its_source(tmp_path: Path) -> None:
    assert "SOME_KEY holds no key" in await failure(EnvKey(name="SOME_KEY"))
    missing = str(tmp_path / "none")
    assert missing in await failure(FileKey(path=missing))
    assert str(tmp_path) in await failure(FileKey(path=str(tmp_path)))
    assert "cannot be started" in await failure(CommandKey(argv=("no-such-program-here",)))
    assert "cannot be started" in await failure(CommandKey(argv=()))
    assert "is empty" in await failure(python("print()"))


async def test_a_failing_command_tells_its_exit_code_and_nothing_it_printed() -> None:
    source = python(f"import sys; print({SECRET!r}); print({SECRET!r}, file=sys.stderr); exit(3)")
    message = await failure(source)
    assert "exit code 3" in message
    assert SECRET not in message


@pytest.mark.parametrize("odd", ["two\nlines", "sk-ümlaut", "a b", "nul\0"])
async def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(
    odd: str, tmp_path: Path
) -> None:
    path = tmp_path / "key"
    path.write_text(odd, encoding="utf-8")
    message = await failure(FileKey(path=str(path)))
    assert "not one line of plain text" in message
    assert odd not in message


async def test_a_key_file_that_is_no_small_file_is_refused(tmp_path: Path) -> None:
    pipe, large = tmp_path / "pipe", tmp_path / "large"
    os.mkfifo(pipe)
    large.write_bytes(b"x" * (keys.MAX_KEY_BYTES + 1))
    for path in (pipe, large):
        assert "not a small regular file" in await failure(FileKey(path=str(path)))


async def test_a_command_that_hangs_is_ended_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "COMMAND_SECONDS", 0.5)
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    source = CommandKey(argv=("sh", "-c", f"sh -c 'echo up; exec sleep 600' > '{fifo}'; echo x"))
    assert "did not end within" in await failure(source)
    os.set_blocking(reader, True)
    with os.fdopen(reader, "rb") as pipe:
        assert pipe.read() in (b"up\n", b"")  # ends only when no process holds the pipe open


async def test_a_command_is_ended_when_the_waiting_is_cancelled(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    source = CommandKey(argv=("sh", "-c", f"echo $$ > '{fifo}'; exec sleep 600"))
    task = asyncio.create_task(Key(source).resolve())
    pid = int(await asyncio.to_thread(fifo.read_text, "utf-8"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_no_repr_shows_a_key(key_file: Path) -> None:
    source = FileKey(path=str(key_file))
    key = Key(source)
    await key.resolve()
    assert SECRET not in repr(key) + repr(source) + key.describe()


def test_the_arguments_of_a_command_are_not_described() -> None:
    assert CommandKey(argv=("pass", "show", SECRET)).describe() == "command pass"


def keyring_of(**entries: str) -> ModuleType:
    module = ModuleType("keyring")

    def get_password(service: str, user: str) -> str | None:
        if service == "locked":
            raise RuntimeError(f"no unlocking of {SECRET}")
        return entries.get(f"{service}_{user}")

    module.get_password = get_password  # type: ignore[attr-defined]
    return module


async def test_a_key_comes_from_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", keyring_of(models_ada=SECRET))
    assert await Key(KeyringKey(service="models", user="ada")).resolve() == SECRET


async def test_a_keyring_without_the_entry_or_locked_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", keyring_of())
    said = await failure(KeyringKey(service="models", user="ada"))
    assert said == "The keyring entry models/ada does not exist; create it."
    said = await failure(KeyringKey(service="locked", user="ada"))
    assert said == "The keyring entry locked/ada cannot be read (RuntimeError)."


async def test_without_the_package_the_keyring_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert "needs the Python package keyring" in await failure(KeyringKey(service="a", user="b"))
