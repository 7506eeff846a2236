"""Where a project begins, what is compiled, and what may be opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from typstai.domain.project import MAX_LISTED, ProjectFiles
from typstai.errors import ToolError
from typstai.typst.main_file import MainFinder, find_main
from typstai.typst.project import DiskFiles, find_root


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_typ", ".typ").replace("_bib", ".bib")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main_of(root: Path, name: str, overlay: dict[str, str] | None = None, pinned: str = "") -> str:
    texts = {str(root / path): text for path, text in (overlay or {}).items()}
    found = find_main(str(root), str(root / name), texts, pinned)
    return Path(found).relative_to(root).as_posix()


class TestRoot:
    @pytest.mark.parametrize("marker", ["typst.toml", ".git", "custom.marker"])
    def test_the_nearest_folder_with_a_marker_is_the_root(
        self, tmp_path: Path, marker: str
    ) -> None:
        file = tmp_path / "book" / "chapters" / "one.typ"
        file.parent.mkdir(parents=True)
        (tmp_path / "typst.toml").touch()
        (tmp_path / "book" / marker).touch()
        assert find_root(str(file), ["custom.marker"]) == str(tmp_path / "book")

    def test_without_a_marker_the_folder_of_the_file_is_the_root(self, tmp_path: Path) -> None:
        assert find_root(str(tmp_path / "a" / "new.typ")) == str(tmp_path / "a")


class TestMain:
    def test_a_pinned_main_file_wins(self, tmp_path: Path) -> None:
        write(tmp_path, main_typ='#include "a.typ"', a_typ="", other_typ="")
        assert main_of(tmp_path, "a.typ", pinned="other.typ") == "other.typ"

    def test_a_chapter_is_compiled_from_the_file_at_the_top_of_the_chain(
        self, tmp_path: Path
    ) -> None:
        write(tmp_path, main_typ='#include "part/one.typ"', part__one_typ='#include "sub.typ"',
              part__sub_typ="text")  # fmt: skip
        assert main_of(tmp_path, "part/sub.typ") == "main.typ"

    @pytest.mark.parametrize(
        "text",
        [
            '#import "lib.typ": *',
            '#import "/lib.typ"',
            '#import ("lib.typ"): f',
            '#for file in ("lib.typ", "b.typ") { include file }',
            '#include "./" + name',
            '#{\n  let x = 1\n  include "lib.typ"\n}',
        ],
    )
    def test_every_way_to_name_a_file_counts(self, tmp_path: Path, text: str) -> None:
        write(tmp_path, thesis_typ=text, lib_typ="")
        assert main_of(tmp_path, "lib.typ") == "thesis.typ"

    @pytest.mark.parametrize(
        "text",
        [
            '// #include "lib.typ"',
            '/* #include "lib.typ" */',
            '`#include "lib.typ"`',
            'He wrote "lib.typ" down.',
        ],
    )
    def test_comments_raw_text_and_prose_name_no_file(self, tmp_path: Path, text: str) -> None:
        write(tmp_path, thesis_typ=text, lib_typ="")
        assert main_of(tmp_path, "lib.typ") == "lib.typ"

    def test_a_bibliography_belongs_to_the_document_that_reads_it(self, tmp_path: Path) -> None:
        write(tmp_path, main_typ='#bibliography("refs.bib")', refs_bib="")
        assert main_of(tmp_path, "refs.bib") == "main.typ"

    def test_unsaved_text_counts_and_not_what_is_on_disk(self, tmp_path: Path) -> None:
        write(tmp_path, old_typ='#include "a.typ"', a_typ="")
        overlay = {"old.typ": "nothing", "new.typ": '#include "a.typ"'}
        assert main_of(tmp_path, "a.typ", overlay) == "new.typ"

    def test_among_several_documents_main_is_taken(self, tmp_path: Path) -> None:
        write(tmp_path, a_typ='#include "x.typ"', deep__main_typ='#include "../x.typ"', x_typ="")
        assert main_of(tmp_path, "x.typ") == "deep/main.typ"

    def test_the_entry_point_of_a_template_is_taken(self, tmp_path: Path) -> None:
        manifest = '[template]\npath = "template"\nentrypoint = "doc.typ"\n'
        write(tmp_path, main_typ='#include "template/x.typ"', template__x_typ="",
              template__doc_typ='#include "x.typ"')  # fmt: skip
        (tmp_path / "typst.toml").write_text(manifest, encoding="utf-8")
        assert main_of(tmp_path, "template/x.typ") == "template/doc.typ"

    def test_files_that_include_each_other_end_somewhere(self, tmp_path: Path) -> None:
        write(tmp_path, a_typ='#include "b.typ"', b_typ='#include "a.typ"')
        assert main_of(tmp_path, "a.typ") == "a.typ"
        write(tmp_path, main_typ='#include "b.typ"')
        assert main_of(tmp_path, "a.typ") == "main.typ"

    def test_a_file_nobody_names_is_its_own_main(self, tmp_path: Path) -> None:
        write(tmp_path, main_typ="x", notes_typ="y")
        assert main_of(tmp_path, "notes.typ") == "notes.typ"

    def test_bytes_that_are_no_text_and_a_broken_manifest_do_no_harm(self, tmp_path: Path) -> None:
        (tmp_path / "main.typ").write_bytes(b'\xff\xfe #include "a.typ" \xc3')
        (tmp_path / "typst.toml").write_bytes(b"\xff[[[")
        write(tmp_path, a_typ="")
        assert main_of(tmp_path, "a.typ") == "main.typ"

    def test_deep_nesting_in_one_file_does_no_harm(self, tmp_path: Path) -> None:
        write(tmp_path, deep_typ="#" + "(" * 50_000 + '"a.typ"', main_typ='#include "a.typ"')
        assert main_of(tmp_path, "a.typ") == "main.typ"

    def test_ignored_folders_are_not_searched(self, tmp_path: Path) -> None:
        write(tmp_path, node_modules__x__main_typ='#include "/a.typ"', a_typ="")
        assert main_of(tmp_path, "a.typ") == "a.typ"

    def test_a_new_include_is_seen_at_once_while_typing(self, tmp_path: Path) -> None:
        write(tmp_path, main_typ="", a_typ="")
        finder, path = MainFinder(), str(tmp_path / "a.typ")
        assert finder.find(str(tmp_path), path, {}) == path
        overlay = {str(tmp_path / "main.typ"): '#include "a.typ"'}
        assert finder.find(str(tmp_path), path, overlay) == str(tmp_path / "main.typ")


class TestFiles:
    files: ProjectFiles = DiskFiles()

    async def test_the_listing_has_the_documents_and_no_generated_or_hidden_folders(
        self, tmp_path: Path
    ) -> None:
        write(tmp_path, main_typ="", chapters__one_typ="", node_modules__x_typ="")
        for hidden in (".git", ".venv"):
            (tmp_path / hidden).mkdir()
            (tmp_path / hidden / "x.typ").touch()
        listing = await self.files.list_files(str(tmp_path))
        assert listing.entries == ("chapters/one.typ", "main.typ")
        assert listing.complete

    async def test_a_long_listing_is_cut_and_says_so(self, tmp_path: Path) -> None:
        for number in range(MAX_LISTED + 1):
            (tmp_path / f"{number:04}.typ").touch()
        listing = await self.files.list_files(str(tmp_path))
        assert len(listing.entries) == MAX_LISTED
        assert not listing.complete

    async def test_links_that_leave_the_project_are_not_listed(self, tmp_path: Path) -> None:
        root, outside = tmp_path / "root", tmp_path / "outside"
        write(root, a_typ="")
        write(outside, secret_typ="")
        (root / "folder").symlink_to(outside)
        (root / "file.typ").symlink_to(outside / "secret.typ")
        (root / "loop").symlink_to(root)
        (root / "inner.typ").symlink_to(root / "a.typ")
        listing = await self.files.list_files(str(root))
        assert listing.entries == ("a.typ", "inner.typ")

    @pytest.mark.parametrize("path", ["main.typ", "./main.typ", "chapters/../main.typ"])
    async def test_a_file_of_the_project_is_resolved(self, tmp_path: Path, path: str) -> None:
        write(tmp_path, main_typ="", chapters__one_typ="")
        assert await self.files.resolve(str(tmp_path), path) == str(tmp_path / "main.typ")

    @pytest.mark.parametrize(
        "path",
        ["../project-2/a.typ", "/etc/passwd", "chapters/../../x", "leaves/a.typ", "leaf.typ",
         ".git/config", "dangling.typ"],
    )  # fmt: skip
    async def test_nothing_outside_is_resolved(self, tmp_path: Path, path: str) -> None:
        root, sibling = tmp_path / "project", tmp_path / "project-2"
        write(root, main_typ="")
        write(sibling, a_typ="")
        (root / ".git").mkdir()
        (root / ".git" / "config").touch()
        (root / "leaves").symlink_to(sibling)
        (root / "leaf.typ").symlink_to(sibling / "a.typ")
        (root / "dangling.typ").symlink_to(tmp_path / "nowhere")
        for wanted in (path, str(root / path)):
            with pytest.raises(ToolError) as raised:
                await self.files.resolve(str(root), wanted)
            assert raised.value.code == "outside_project"

    async def test_a_sibling_with_the_same_prefix_is_outside(self, tmp_path: Path) -> None:
        write(tmp_path / "project", main_typ="")
        write(tmp_path / "project-2", a_typ="")
        with pytest.raises(ToolError) as raised:
            await self.files.resolve(
                str(tmp_path / "project"), str(tmp_path / "project-2" / "a.typ")
            )
        assert raised.value.code == "outside_project"

    async def test_a_missing_file_is_told_with_the_nearest_names(self, tmp_path: Path) -> None:
        write(tmp_path, chapters__intro_typ="", main_typ="")
        with pytest.raises(ToolError, match=r"chapters/intro\.typ") as raised:
            await self.files.resolve(str(tmp_path), "intro.typ")
        assert raised.value.code == "not_found"

    @pytest.mark.parametrize("path", ["", " ", "a\0b", "chapters"])
    async def test_what_names_no_file_is_not_found(self, tmp_path: Path, path: str) -> None:
        write(tmp_path, chapters__one_typ="")
        with pytest.raises(ToolError) as raised:
            await self.files.resolve(str(tmp_path), path)
        assert raised.value.code == "not_found"
