"""The log: bounded, private, shared, and free of secrets."""

from __future__ import annotations

import io
import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from typstai import log
from typstai.errors import StorageError

SECRET = 'sk-"quoted"/and+long'


@pytest.fixture(autouse=True)
def quiet_afterwards() -> Iterator[None]:
    yield
    log.stop()


@pytest.fixture
def lines() -> io.StringIO:
    stream = io.StringIO()
    log.use(logging.StreamHandler(stream))
    log.logger.setLevel(logging.INFO)
    return stream


def test_a_secret_never_reaches_the_log_in_any_of_its_forms(lines: io.StringIO) -> None:
    log.redact(SECRET)
    log.logger.info("key %s", SECRET)
    log.logger.info("header %r", {"key": SECRET})
    log.logger.info('{"key": "sk-\\"quoted\\"/and+long"}')
    log.logger.info("https://host/?key=sk-%22quoted%22%2Fand%2Blong")
    try:
        raise ValueError(f"refused {SECRET}")
    except ValueError:
        log.logger.exception("it failed")
    text = lines.getvalue()
    assert "quoted" not in text
    assert text.count(log.HIDDEN) == 5
    assert "Traceback" in text and "it failed" in text


def test_a_secret_of_a_child_logger_is_hidden_too(lines: io.StringIO) -> None:
    log.redact(SECRET)
    log.logger.getChild("agent").warning("key %s", SECRET)
    assert log.HIDDEN in lines.getvalue()


def test_a_placeholder_key_does_not_garble_the_log(lines: io.StringIO) -> None:
    for placeholder in ("", "x"):
        log.redact(placeholder)
    log.logger.info("next")
    assert "next" in lines.getvalue()


def test_the_root_logger_hears_nothing(lines: io.StringIO) -> None:
    root, heard = logging.getLogger(), io.StringIO()
    handler = logging.StreamHandler(heard)
    root.addHandler(handler)
    log.logger.error("ours alone")
    root.removeHandler(handler)
    assert heard.getvalue() == ""
    assert "ours alone" in lines.getvalue()


def test_the_file_is_the_users_alone_and_named_at_the_start(tmp_path: Path) -> None:
    path = log.start(tmp_path / "state" / "nvim")
    log.logger.info("héllo \udcff")
    log.stop()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "INFO test_log: héllo" in path.read_text(encoding="utf-8")


def test_the_files_stay_within_their_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "MAX_FILE_BYTES", 10_000)
    path = log.start(tmp_path)
    for number in range(1_000):
        log.logger.info("line %d %s", number, "x" * 100)
    sizes = {file.name: file.stat().st_size for file in tmp_path.iterdir() if "log" in file.name}
    assert set(sizes) == {path.name, f"{path.name}.1", f"{path.name}.2"}
    assert max(sizes.values()) <= 10_000
    assert "line 999" in path.read_text(encoding="utf-8")


def test_a_file_moved_away_by_another_process_is_not_written_to_any_more(tmp_path: Path) -> None:
    path = log.start(tmp_path)
    log.logger.info("first")
    os.rename(path, tmp_path / "moved")
    log.logger.info("second")
    assert "second" not in (tmp_path / "moved").read_text(encoding="utf-8")
    assert "second" in path.read_text(encoding="utf-8")


def test_below_the_level_nothing_is_written(tmp_path: Path) -> None:
    path = log.start(tmp_path, logging.WARNING)
    log.logger.info("quiet")
    assert path.read_text(encoding="utf-8") == ""


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="log cannot be written"):
        log.start(tmp_path / "file" / "folder")


def test_a_record_that_cannot_be_written_is_not_printed_raw(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log.start(tmp_path)
    log.logger.info("%d", SECRET)
    assert capsys.readouterr().err == "typstai: the log cannot be written\n"
