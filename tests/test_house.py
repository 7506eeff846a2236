"""House rules that a linter does not hold: short functions, short files, short names of tests."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from conftest import ROOT

FUNCTION_LINES = 60
PYTHON_LINES = 400
TEST_LINES = 600
LUA_LINES = 300


def test_no_python_function_is_longer_than_two_screens() -> None:
    sizes = {place: size for path in _files("*.py") for place, size in _functions(path)}
    assert {place: size for place, size in sizes.items() if size > FUNCTION_LINES} == {}


def test_no_python_file_has_outgrown_its_module() -> None:
    limit = {True: TEST_LINES, False: PYTHON_LINES}
    assert (
        _longer({path: limit[path.is_relative_to(ROOT / "tests")] for path in _files("*.py")}) == {}
    )


def test_no_lua_file_has_outgrown_its_module() -> None:
    limits = {
        path: TEST_LINES if path.is_relative_to(ROOT / "tests") else LUA_LINES
        for path in _files("*.lua")
    }
    assert _longer(limits) == {}


def test_a_function_is_measured_with_its_decorators_and_body(tmp_path: Path) -> None:
    path = tmp_path / "made_up.py"
    path.write_text("@once\ndef f():\n" + "    x = 1\n" * 60, encoding="utf-8")
    assert list(_functions(path)) == [("made_up.py:f", 62)]


def _files(pattern: str) -> list[Path]:
    """The repository's own files of that kind, committed or about to be."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", pattern],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    paths = [ROOT / line for line in listed.stdout.splitlines()]
    assert paths
    return [path for path in paths if path.exists()]


def _longer(limits: dict[Path, int]) -> dict[str, int]:
    lengths = {path: len(path.read_bytes().splitlines()) for path in limits}
    return {path.name: length for path, length in lengths.items() if length > limits[path]}


def _functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            start = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            yield f"{path.name}:{node.name}", (node.end_lineno or start) - start + 1


def test_every_lua_module_that_is_required_exists() -> None:
    required = {
        name
        for path in [*_files("*.lua"), *_files("*.py")]
        for name in re.findall(r"""require\(["'](typstai[\w.]*\w)["']\)""", path.read_text("utf-8"))
    }
    assert required
    assert {name for name in required if not _is_module(name)} == set()


def _is_module(name: str) -> bool:
    path = ROOT / "lua" / name.replace(".", "/")
    return path.with_suffix(".lua").exists() or (path / "init.lua").exists()
