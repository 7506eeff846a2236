"""The worker: unsaved text, hangs, crashes, missing packages, and its end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from conftest import ROOT
from typstai.domain.diagnostic import Checker, CheckResult
from typstai.typst.compiler import CompilerOptions, TypstCompiler
from typstai.typst.process import environment

PACKAGE = ROOT / "rplugin" / "python3"
IMPATIENT = CompilerOptions(timeout_s=2)
ENDLESS = "#for i in range(100000) { for j in range(10000) { if j < 0 { j } } }"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c4944415408d763f8cfc000000301010018dd8db00000000049454e44ae426082"
)

HOST = f"""
import asyncio, sys
sys.path.insert(0, {str(PACKAGE)!r})
from typstai.typst.compiler import CompilerOptions, TypstCompiler

async def main(root, text):
    compiler = TypstCompiler(CompilerOptions(timeout_s=600))
    path = root + "/main.typ"
    await compiler.check(root=root, path=path, overlay=dict())
    task = asyncio.create_task(compiler.check(root=root, path=path, overlay=dict([(path, text)])))
    await asyncio.wait([task], timeout=0.2)
    print(compiler.worker_pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
async def compiler() -> AsyncIterator[TypstCompiler]:
    made = TypstCompiler()
    yield made
    await made.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A thesis of several files with a library, an image and a bibliography."""
    root = tmp_path / "thesis"
    for folder in ("chapters", "images"):
        (root / folder).mkdir(parents=True)
    (root / "typst.toml").touch()
    (root / "lib.typ").write_text("#let note(body) = [Note: #body]\n")
    (root / "refs.bib").write_text("@book{knuth, title={T}, author={K}, year={1984}}\n")
    (root / "images" / "dot.png").write_bytes(PNG)
    (root / "main.typ").write_text(
        '#include "chapters/one.typ"\n#include "chapters/two.typ"\n#bibliography("refs.bib")\n'
    )
    (root / "chapters" / "one.typ").write_text(
        '#import "../lib.typ": note\n#note[x]\n#figure(image("/images/dot.png")) <fig:dot>\n'
    )
    (root / "chapters" / "two.typ").write_text("See @fig:dot and @knuth.\n")
    return root


def checking(
    checker: Checker, root: Path
) -> Callable[[str, dict[str, str]], asyncio.Task[CheckResult]]:
    """Starts a check of a file below the root, unsaved texts given by relative path."""

    def start(name: str, overlay: dict[str, str]) -> asyncio.Task[CheckResult]:
        texts = {str(root / path): text for path, text in overlay.items()}
        return asyncio.ensure_future(
            checker.check(root=str(root), path=str(root / name), overlay=texts)
        )

    return start


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


class TestOverlay:
    async def test_a_project_on_disk_with_images_and_libraries_compiles(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        result = await checking(compiler, project)("chapters/one.typ", {})
        assert (result.status, result.diagnostics, result.main) == ("checked", (), "main.typ")

    async def test_an_error_in_an_unsaved_chapter_is_located_in_the_chapter(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        unsaved = '#import "../lib.typ": note\n#note[é #strnog[x]]\n#image("../images/dot.png")'
        check = checking(compiler, project)
        (found,) = (await check("chapters/one.typ", {"chapters/one.typ": unsaved})).diagnostics
        assert (found.path, found.row0, found.byte_col) == ("chapters/one.typ", 1, 10)
        assert found.trace == ("main.typ:1:2: while including `chapters/one.typ`",)
        assert found.fix is not None
        assert found.fix.new == "strong"

    async def test_without_the_unsaved_text_the_file_on_disk_counts_again(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        check = checking(compiler, project)
        assert (await check("main.typ", {"chapters/one.typ": "#nope"})).diagnostics
        assert (await check("main.typ", {})).diagnostics == ()
        (project / "chapters" / "two.typ").write_text("#nope2")
        (found,) = (await check("main.typ", {})).diagnostics
        assert (found.path, found.message) == ("chapters/two.typ", "unknown variable: nope2")

    async def test_a_main_file_changed_on_disk_is_read_again(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        check = checking(compiler, project)
        assert (await check("main.typ", {})).diagnostics == ()
        (project / "main.typ").write_text("#nope")
        assert len((await check("main.typ", {})).diagnostics) == 1

    async def test_files_and_folders_that_are_not_on_disk_yet_count(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        overlay = {
            "new/deep/part.typ": '#import "/lib.typ": note\n#note[x] #nope',
            "main.typ": '#include "new/deep/part.typ"',
        }
        result = await checking(compiler, project)("new/deep/part.typ", overlay)
        assert [(item.path, item.row0) for item in result.diagnostics] == [("new/deep/part.typ", 1)]

    async def test_files_made_and_deleted_on_disk_are_seen(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        check = checking(compiler, project)
        overlay = {"main.typ": '#include "chapters/three.typ"'}
        assert "not found" in (await check("main.typ", overlay)).diagnostics[0].message
        (project / "chapters" / "three.typ").write_text("three")
        assert (await check("main.typ", overlay)).diagnostics == ()
        (project / "chapters" / "three.typ").unlink()
        assert "not found" in (await check("main.typ", overlay)).diagnostics[0].message

    async def test_messages_name_files_by_their_place_in_the_project(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        result = await checking(compiler, project)("main.typ", {"main.typ": '#image("no/x.png")'})
        assert result.diagnostics[0].message == "file not found (searched at no/x.png)"

    async def test_a_project_reached_through_a_link_compiles(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        link = project.parent / "link"
        link.symlink_to(project)
        text = {str(project / "main.typ"): "#nope"}
        result = await compiler.check(root=str(link), path=str(link / "main.typ"), overlay=text)
        assert [item.path for item in result.diagnostics] == ["main.typ"]

    async def test_the_project_on_disk_is_never_written_to(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
        check = checking(compiler, project)
        for name in ("main.typ", "chapters/one.typ", "lib.typ", "refs.bib"):
            await check(name, {name: "= changed", "chapters/two.typ": "changed too"})
            await check(name, {})
        after = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
        assert after == before

    async def test_a_file_that_is_no_utf8_is_an_error_and_not_a_crash(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        (project / "chapters" / "two.typ").write_bytes(b"caf\xe9 @knuth")
        result = await checking(compiler, project)("chapters/one.typ", {})
        assert result.status == "checked"
        assert any("utf-8" in item.message.lower() for item in result.diagnostics)

    @pytest.mark.parametrize(
        "text",
        ["one\r\n\ttwo 👨‍👩‍👧 e\u0301 #strnog[x]\r\n", "one\n\ttwo 👨‍👩‍👧 e\u0301 #strnog[x]\n"],
    )
    async def test_columns_are_bytes_of_the_line_on_disk_and_unsaved(
        self, compiler: TypstCompiler, project: Path, text: str
    ) -> None:
        (project / "chapters" / "two.typ").write_text(text, encoding="utf-8", newline="")
        check = checking(compiler, project)
        for overlay in ({}, {"chapters/two.typ": text}):
            (found,) = (await check("chapters/two.typ", overlay)).diagnostics
            line = text.split("\n")[1].encode()
            assert line[found.byte_col : found.end_byte_col] == b"strnog"

    async def test_text_with_bytes_that_are_no_characters_is_checked(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        result = await checking(compiler, project)("main.typ", {"main.typ": "caf\udce9 #nope"})
        assert [item.message for item in result.diagnostics] == ["unknown variable: nope"]


class TestFindings:
    async def test_a_leak_and_the_error_it_causes_are_one_finding(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        result = await checking(compiler, project)("main.typ", {"main.typ": "## Title\n**bold**"})
        heading, bold = result.diagnostics
        assert (heading.severity, heading.source, heading.row0) == ("error", "typstai", 0)
        assert heading.hints == ("the character `#` is not valid in code",)
        assert (bold.severity, bold.row0) == ("warning", 1)

    async def test_a_leak_without_a_cure_leaves_the_error_alone(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        text = "$\\unknowncommand x$"
        (found,) = (await checking(compiler, project)("main.typ", {"main.typ": text})).diagnostics
        assert (found.source, found.severity) == ("typst", "error")

    async def test_a_misspelt_label_is_fixed_from_other_files_and_the_bibliography(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        text = {"chapters/two.typ": "@fig:dto and @knuht"}
        found = (await checking(compiler, project)("chapters/two.typ", text)).diagnostics
        assert [item.fix.new for item in found if item.fix] == ["fig:dot", "knuth"]

    async def test_a_main_file_that_does_not_exist_is_no_clean_document(
        self, project: Path
    ) -> None:
        compiler = TypstCompiler(CompilerOptions(main="nowhere.typ"))
        result = await checking(compiler, project)("main.typ", {})
        await compiler.close()
        assert result.status == "unavailable"
        assert "nowhere.typ" in result.note

    async def test_a_file_that_the_pinned_main_file_does_not_use_is_no_clean_document(
        self, project: Path
    ) -> None:
        (project / "notes.typ").write_text("fine")
        (project / "main.typ").write_text(
            '#for name in ("one", "two") { include "chapters/" + name + ".typ" }'
            '#bibliography("refs.bib")'
        )
        compiler = TypstCompiler(CompilerOptions(main="main.typ"))
        check = checking(compiler, project)
        assert (await check("chapters/one.typ", {})).status == "checked"
        result = await check("notes.typ", {})
        await compiler.close()
        assert result.status == "unavailable"
        assert result.note == "notes.typ is not part of the main file main.typ."

    async def test_a_file_outside_the_project_is_no_clean_document(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        outside = str(project.parent / "x.typ")
        result = await compiler.check(root=str(project), path=outside, overlay={outside: "x"})
        assert result.status == "unavailable"


class TestTrouble:
    async def test_an_endless_document_times_out_while_the_loop_goes_on(
        self, project: Path
    ) -> None:
        compiler = TypstCompiler(IMPATIENT)
        check = checking(compiler, project)
        await check("main.typ", {})
        running = check("main.typ", {"main.typ": ENDLESS})
        ticks = 0
        while not running.done():
            await asyncio.wait({running}, timeout=0.01)
            ticks += 1
        assert running.result().status == "timeout"
        assert "2 s" in running.result().note
        assert ticks > 20
        assert (await check("main.typ", {})).status == "checked"
        await compiler.close()

    @pytest.mark.parametrize(
        "text",
        [
            "#range(2000000000)",
            "#for i in range(100000000) { i }",
            '#{ let x = "ab"; while x.len() > 0 { x = x + x } }',
        ],
    )
    async def test_running_out_of_memory_is_a_status_and_the_next_check_works(
        self, project: Path, text: str
    ) -> None:
        compiler = TypstCompiler(CompilerOptions(memory_mib=256, timeout_s=60))
        check = checking(compiler, project)
        result = await check("main.typ", {"main.typ": text})
        assert result.status == "crashed"
        assert "256 MiB" in result.note
        assert (await check("main.typ", {})).status == "checked"
        await compiler.close()

    async def test_a_worker_killed_between_checks_is_replaced(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        check = checking(compiler, project)
        await check("main.typ", {})
        before = compiler.worker_pid
        assert before
        os.kill(before, signal.SIGKILL)
        assert (await check("main.typ", {})).status == "checked"
        assert compiler.worker_pid != before

    async def test_a_worker_that_grew_too_big_is_replaced_after_its_answer(
        self, project: Path
    ) -> None:
        compiler = TypstCompiler(CompilerOptions(recycle_mib=1))
        check = checking(compiler, project)
        for _ in range(2):
            assert (await check("main.typ", {})).status == "checked"
            assert compiler.worker_pid is None
        await compiler.close()

    async def test_a_cancelled_check_leaves_the_worker_usable_and_warm(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        check = checking(compiler, project)
        await check("main.typ", {})
        pid = compiler.worker_pid
        slow = check("main.typ", {"main.typ": "#for i in range(1000000) { if i < 0 { i } }"})
        await asyncio.wait({slow}, timeout=0.05)
        slow.cancel()
        result = await check("main.typ", {"main.typ": "#nope"})
        assert slow.cancelled()
        assert [item.message for item in result.diagnostics] == ["unknown variable: nope"]
        assert compiler.worker_pid == pid

    async def test_checks_at_the_same_time_are_served_in_turn(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        check = checking(compiler, project)
        running = [check("main.typ", {"main.typ": f"#nope{number}"}) for number in range(8)]
        results = await asyncio.gather(*running)
        messages = [result.diagnostics[0].message for result in results]
        assert messages == [f"unknown variable: nope{number}" for number in range(8)]


class TestPackages:
    async def test_an_installed_package_is_used(self, project: Path, tmp_path: Path) -> None:
        folder = tmp_path / "packages" / "preview" / "mini" / "1.0.0"
        folder.mkdir(parents=True)
        (folder / "typst.toml").write_text(
            '[package]\nname = "mini"\nversion = "1.0.0"\nentrypoint = "lib.typ"\n'
        )
        (folder / "lib.typ").write_text("#let f() = nope\n")
        compiler = TypstCompiler(CompilerOptions(package_path=str(tmp_path / "packages")))
        text = {"main.typ": '#import "@preview/mini:1.0.0": f\n#f()'}
        (found,) = (await checking(compiler, project)("main.typ", text)).diagnostics
        await compiler.close()
        assert (found.path, found.byte_col) == ("@preview/mini:1.0.0/lib.typ", 11)
        assert found.trace == ("main.typ:2:2: while calling `f`",)

    @pytest.mark.parametrize("allowed", [False, True])
    async def test_a_missing_package_touches_the_network_only_when_allowed(
        self, project: Path, monkeypatch: pytest.MonkeyPatch, allowed: bool
    ) -> None:
        asked: list[bytes] = []

        async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked.append(await reader.readline())
            writer.close()

        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        address = server.sockets[0].getsockname()
        for name in ("ALL_PROXY", "HTTPS_PROXY", "https_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{address[1]}")
        compiler = TypstCompiler(CompilerOptions(allow_download=allowed))
        text = {"main.typ": '#import "@preview/not-there:9.9.9": *'}
        result = await checking(compiler, project)("main.typ", text)
        await compiler.close()
        server.close()
        await server.wait_closed()
        assert result.status == "package_missing"
        assert "@preview/not-there:9.9.9" in result.note
        assert bool(asked) == allowed
        (found,) = result.diagnostics
        assert (found.path, found.row0, found.byte_col) == ("main.typ", 0, 8)

    def test_no_exception_from_the_proxy_and_no_key_reaches_the_worker(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("NO_PROXY", "no_proxy", "https_proxy", "OPENAI_API_KEY", "PYTHONPATH"):
            monkeypatch.setenv(name, "packages.typst.org")
        assert "packages.typst.org" not in environment(network=False).values()

    async def test_a_missing_local_package_is_told_by_name(
        self, compiler: TypstCompiler, project: Path
    ) -> None:
        text = {"main.typ": '#import "@local/mine:0.1.0": *'}
        result = await checking(compiler, project)("main.typ", text)
        assert result.status == "package_missing"
        assert "@local/mine:0.1.0" in result.note


class TestEnd:
    async def test_close_leaves_no_process_and_no_files(
        self, project: Path, tmp_path: Path
    ) -> None:
        compiler = TypstCompiler()
        await checking(compiler, project)("main.typ", {})
        pid = compiler.worker_pid
        assert pid and alive(pid)
        before = set(Path(tempfile.gettempdir()).glob("typstai-*"))
        await compiler.close()
        assert not alive(pid)
        assert len(before - set(Path(tempfile.gettempdir()).glob("typstai-*"))) >= 1
        after = await checking(compiler, project)("main.typ", {})
        assert after.status == "unavailable"

    async def test_close_in_the_middle_of_a_check_ends_it(self, project: Path) -> None:
        compiler = TypstCompiler(CompilerOptions(timeout_s=60))
        check = checking(compiler, project)
        await check("main.typ", {})
        pid = compiler.worker_pid
        running = check("main.typ", {"main.typ": ENDLESS})
        await asyncio.wait({running}, timeout=0.05)
        await compiler.close()
        assert (await running).status == "unavailable"
        assert pid and not alive(pid)

    @pytest.mark.parametrize("text", ["", ENDLESS])
    async def test_a_killed_host_leaves_no_worker_and_no_files(
        self, project: Path, tmp_path: Path, text: str
    ) -> None:
        temporary = tmp_path / "temporary"
        temporary.mkdir()
        host = await asyncio.create_subprocess_exec(
            sys.executable, "-c", HOST, str(project), text,
            stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(temporary)}, cwd=tmp_path,
        )  # fmt: skip
        assert host.stdout
        pid = int(await host.stdout.readline())
        host.kill()
        await host.wait()
        async with asyncio.timeout(10):
            while alive(pid):
                await asyncio.sleep(0)
        assert list(temporary.iterdir()) == []

    async def test_nothing_of_the_users_python_reaches_the_worker(
        self, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("typst.py", "json.py", "sitecustomize.py"):
            (tmp_path / name).write_text("raise SystemExit('hijacked')")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        monkeypatch.chdir(tmp_path)
        compiler = TypstCompiler()
        result = await checking(compiler, project)("main.typ", {})
        await compiler.close()
        assert result.status == "checked"
