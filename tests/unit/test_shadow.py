"""The shadow of a project equals the project with unsaved text in place of its files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from typstai.typst.shadow import ShadowTree


def contents(folder: Path) -> dict[str, bytes]:
    """Every file by relative path, links followed."""
    return dict(_contents(folder, folder))


def _contents(top: Path, folder: Path) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(os.listdir(folder)):
        path = folder / entry
        if path.is_dir():
            yield from _contents(top, path)
        else:
            yield path.relative_to(top).as_posix(), path.read_bytes()


@pytest.fixture
def tree(tmp_path: Path) -> ShadowTree:
    root, target = tmp_path / "project", tmp_path / "shadow"
    target.mkdir()
    for name in ("main.typ", "a/one.typ", "a/b/two.typ", "c/three.typ"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name, encoding="utf-8")
    return ShadowTree(root, target)


def test_the_main_file_is_a_real_file_and_others_are_links(tree: ShadowTree) -> None:
    tree.update({"a/one.typ": b"new"}, "main.typ")
    assert not (tree.target / "main.typ").is_symlink()
    assert not (tree.target / "a").is_symlink()
    assert (tree.target / "a" / "b").is_symlink()
    assert (tree.target / "c").is_symlink()


def test_the_project_itself_is_not_written_to(tree: ShadowTree, tmp_path: Path) -> None:
    before = contents(tmp_path / "project")
    tree.update({"a/one.typ": b"new", "main.typ": b"new", "d/e.typ": b"new"}, "main.typ")
    tree.update({}, "a/one.typ")
    tree.update({"a/b/two.typ": b"new"}, "c/three.typ")
    assert contents(tmp_path / "project") == before


def test_one_keystroke_makes_no_link_again(
    tree: ShadowTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(200):
        (tmp_path / "project" / "a" / f"{number}.typ").touch()
    for folder in ("project", "project/a"):
        os.utime(tmp_path / folder, (1_000_000_000, 1_000_000_000))
    tree.update({"a/one.typ": b"new"}, "main.typ")
    calls: list[object] = []
    for name in ("symlink", "listdir", "unlink"):
        monkeypatch.setattr(os, name, lambda *args, **_: calls.append(args))  # pyright: ignore[reportUnknownLambdaType]
    tree.update({"a/one.typ": b"new x"}, "main.typ")
    monkeypatch.undo()
    assert calls == []
    assert (tree.target / "a" / "one.typ").read_bytes() == b"new x"


def test_a_main_file_that_disappears_leaves_nothing_behind(
    tree: ShadowTree, tmp_path: Path
) -> None:
    tree.update({}, "main.typ")
    (tmp_path / "project" / "main.typ").unlink()
    tree.update({}, "main.typ")
    assert not (tree.target / "main.typ").exists()


NAMES = st.sampled_from(["main.typ", "a/one.typ", "a/b/two.typ", "c/three.typ", "d/new.typ"])
STEPS = st.lists(
    st.tuples(st.dictionaries(NAMES, st.binary(max_size=3), max_size=3), NAMES, NAMES,
              st.sampled_from(["write", "delete", "nothing"])),
    min_size=1, max_size=6,
)  # fmt: skip


@given(steps=STEPS)
def test_after_any_edits_it_equals_the_project_with_the_unsaved_text(
    steps: list[tuple[dict[str, bytes], str, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.mktemp("shadow")
    root, target = base / "project", base / "shadow"
    target.mkdir()
    (root / "a" / "b").mkdir(parents=True)
    (root / "c").mkdir()
    tree = ShadowTree(root, target)
    for texts, main, touched, change in steps:
        if change == "write":
            (root / touched).parent.mkdir(exist_ok=True)
            (root / touched).write_bytes(touched.encode())
        elif change == "delete":
            (root / touched).unlink(missing_ok=True)
        tree.update(texts, main)
        assert contents(target) == contents(root) | texts
