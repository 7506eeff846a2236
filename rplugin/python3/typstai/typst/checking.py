"""Compiles projects with unsaved text and collects what is wrong. Runs in the worker."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import typst

from ..domain.diagnostic import CheckResult, Diagnostic
from .diagnostics import parse_diagnostics
from .leaks import find_leaks
from .main_file import MAX_SOURCES, MainFinder
from .project import MAX_SEEN, walk_files
from .protocol import Job, WorkerSettings
from .quickfix import known_fix
from .shadow import ShadowTree

MAX_PROJECTS = 4
"""Projects (and main files in each) whose compilers are kept warm."""
MAX_DIAGNOSTICS = 1_000
AGEING_COMPILES = 4
"""Empty compilations after each real one: the compiler frees what ten of them did not use."""

_LABEL = re.compile(r"<([\w.:-]+)>")
_KEY = re.compile(r"@\w+\{\s*([^\s,{}]+)\s*,")
_LABELLED = re.compile(r".*\.(?:typ|bib)$").match
_PACKAGE = re.compile(r"Package @\S+ is not installed")
_DOWNLOAD = re.compile(r"packages\.typst\.org/([\w-]+)/([\w-]+)-(\d+\.\d+\.\d+)\.tar")
_NOT_FOUND = re.compile(r"package not found \(searched for (@[^)]+)\)")


class Checking:
    """One compiler for each project and main file, with all that makes the next check fast."""

    def __init__(self, settings: WorkerSettings) -> None:
        self._settings = settings
        self._fonts = typst.Fonts(font_paths=[*settings.font_paths])
        self._projects: OrderedDict[str, _Project] = OrderedDict()
        self._empty = typst.Compiler(b"", font_paths=self._fonts)
        self._made = 0

    def check(self, job: Job) -> CheckResult:
        """Compile the project of `job.path` and report."""
        started = time.perf_counter()
        try:
            result = self._project(job.root).check(job)
        except OSError as error:
            result = CheckResult(status="unavailable", note=f"The project cannot be read: {error}.")
        return replace(result, millis=(time.perf_counter() - started) * 1000)

    def age_cache(self) -> None:
        """Let the compiler forget what recent documents no longer use."""
        for _ in range(AGEING_COMPILES):
            self._empty.compile(b"", format="pdf")

    def _project(self, root: str) -> _Project:
        project = self._projects.pop(root, None)
        if project is None:
            self._made += 1
            target = Path(self._settings.folder, str(self._made))
            target.mkdir()
            project = _Project(root, target, self._settings, self._fonts)
        self._projects[root] = project
        if len(self._projects) > MAX_PROJECTS:
            self._projects.popitem(last=False)[1].remove()
        return project


class _Project:
    """One project folder: its shadow, and a compiler for each main file."""

    def __init__(
        self, root: str, target: Path, settings: WorkerSettings, fonts: typst.Fonts
    ) -> None:
        self._root = root
        self._shadow = ShadowTree(Path(root), target)
        self._settings = settings
        self._fonts = fonts
        self._finder = MainFinder()
        self._compilers: OrderedDict[str, typst.Compiler] = OrderedDict()

    def remove(self) -> None:
        shutil.rmtree(self._shadow.target, ignore_errors=True)

    def check(self, job: Job) -> CheckResult:
        path = self._inner(job.path)
        if path is None:
            return CheckResult(status="unavailable", note="The file is outside its project.")
        texts = {
            inner: text
            for absolute, text in job.overlay.items()
            if (inner := self._inner(absolute)) is not None
        }
        main = self._main(path, texts)
        if main is None:
            note = f"The main file {self._settings.main} is not in the project."
            return CheckResult(status="unavailable", note=note)
        self._shadow.update({name: text.encode() for name, text in texts.items()}, main)
        if not (self._shadow.target / main).is_file():
            return CheckResult(status="unavailable", note=f"There is no file {main}.", main=main)
        sources = _Sources(self._shadow.target, texts)
        found = [self._readable(item) for item in self._compile(main, sources)]
        leaks = [leak for name in sorted({path, *texts}) for leak in sources.leaks(name)]
        labels = _Labels(self._root, texts)
        fixed = [_with_fix(item, sources, labels) for item in found]
        return self._result(main, merge(fixed, leaks))

    def _main(self, path: str, texts: Mapping[str, str]) -> str | None:
        overlay = {os.path.join(self._root, name): text for name, text in texts.items()}
        absolute = os.path.join(self._root, path)
        found = self._finder.find(self._root, absolute, overlay, self._settings.main)
        return self._inner(found)

    def _inner(self, absolute: str) -> str | None:
        """The path relative to the root, with `/`, or None outside of it."""
        for place, base in (
            (os.path.normpath(absolute), self._root),
            (os.path.realpath(absolute), os.path.realpath(self._root)),
        ):
            inner = os.path.relpath(place, base)
            if inner != ".." and not inner.startswith(f"..{os.sep}"):
                return inner.replace(os.sep, "/")
        return None

    def _compile(self, main: str, sources: _Sources) -> tuple[Diagnostic, ...]:
        os.chdir(self._shadow.target)  # the compiler names files as seen from here
        compiler = self._compiler(main)
        try:
            _, warnings = compiler.compile_with_warnings(format="pdf")
        except typst.TypstError as error:
            text, first = error.diagnostic, error.message
        else:
            text, first = "\n".join(str(warning.diagnostic) for warning in warnings), ""
        return parse_diagnostics(text, source_of=sources.get, first_error=first)

    def _compiler(self, main: str) -> typst.Compiler:
        compiler = self._compilers.pop(main, None)
        if compiler is None:
            packages = self._settings.package_path or None
            compiler = typst.Compiler(
                str(self._shadow.target / main),
                root=str(self._shadow.target),
                font_paths=self._fonts,
                package_path=packages,
            )
        self._compilers[main] = compiler
        if len(self._compilers) > MAX_PROJECTS:
            self._compilers.popitem(last=False)
        return compiler

    def _readable(self, item: Diagnostic) -> Diagnostic:
        """The same without the shadow's paths, and with a word on missing packages."""
        if package := _missing_package(item.message):
            return replace(item, message=self._about(package))
        return replace(item, message=item.message.replace(f"{self._shadow.target}/", ""))

    def _result(self, main: str, found: tuple[Diagnostic, ...]) -> CheckResult:
        missing = [item.message for item in found if _PACKAGE.match(item.message)]
        return CheckResult(
            status="package_missing" if missing else "checked",
            note=missing[0] if missing else "",
            diagnostics=found[:MAX_DIAGNOSTICS],
            main=main,
        )

    def _about(self, package: str) -> str:
        if self._settings.allow_download and not package.startswith("@local"):
            return f"Package {package} is not installed and could not be downloaded."
        if package.startswith("@local"):
            return f"Package {package} is not installed."
        return f"Package {package} is not installed; allow package downloads or install it."


def merge(compiled: Sequence[Diagnostic], leaks: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Both, each place once: a leak that the compiler stumbled over takes its findings in.

    It then weighs as much as they do, so that a document with errors never
    looks as if it had none. A leak without a cure gives way to the compiler.
    """
    kept = list(compiled)
    merged: list[Diagnostic] = []
    for leak in leaks:
        same = [item for item in kept if _starts_in(item, leak)]
        if same and leak.fix is None:
            continue
        kept = [item for item in kept if item not in same]
        hints = tuple(item.message for item in same if item.severity == "error")
        worst = "error" if hints else leak.severity
        merged.append(replace(leak, severity=worst, hints=(*leak.hints, *hints)))
    return (*kept, *merged)


def _starts_in(item: Diagnostic, leak: Diagnostic) -> bool:
    start = (leak.row0, leak.byte_col)
    end = (leak.end_row0, leak.end_byte_col)
    return item.path == leak.path and start <= (item.row0, item.byte_col) < end


def _with_fix(item: Diagnostic, sources: _Sources, labels: _Labels) -> Diagnostic:
    text = sources.get(item.path) if item.path else None
    if text is None:
        return item
    known = labels.get() if item.message.startswith("label ") else ()
    return replace(item, fix=known_fix(text, item, known))


class _Labels:
    """Labels and citation keys of the whole project, looked for only when one is missing."""

    def __init__(self, root: str, texts: Mapping[str, str]) -> None:
        self._root = Path(root)
        self._texts = texts
        self._found: frozenset[str] | None = None

    def get(self) -> frozenset[str]:
        if self._found is None:
            self._found = frozenset(self._look())
        return self._found

    def _look(self) -> Iterator[str]:
        files = (path for path in islice(walk_files(self._root), MAX_SEEN) if _LABELLED(path))
        for path in islice({*self._texts, *files}, MAX_SOURCES):
            text = self._texts.get(path)
            if text is None:
                text = _read(self._root / path)
            yield from _KEY.findall(text) if path.endswith(".bib") else _LABEL.findall(text)


class _Sources:
    """Text of the files a diagnostic names, each read once."""

    def __init__(self, folder: Path, texts: Mapping[str, str]) -> None:
        self._folder = folder
        self._texts: dict[str, str | None] = dict(texts)

    def get(self, path: str) -> str | None:
        """The text by path relative to the root; None for packages and unreadable files."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def _read(self, path: str) -> str | None:
        if path.startswith("@") or not (self._folder / path).is_file():
            return None
        return _read(self._folder / path)

    def leaks(self, path: str) -> list[Diagnostic]:
        """What leaked into one Typst file from other languages."""
        text = self.get(path) if path.endswith(".typ") else None
        return [replace(leak, path=path) for leak in find_leaks(text or "")]


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig", "replace")
    except OSError:
        return ""


def _missing_package(message: str) -> str:
    if found := _DOWNLOAD.search(message):
        return f"@{found[1]}/{found[2]}:{found[3]}"
    if found := _NOT_FOUND.search(message):
        return found[1]
    return ""
