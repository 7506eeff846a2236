"""Compiles projects with unsaved text and collects what is wrong. Runs in the worker."""

from __future__ import annotations

import os
import shutil
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typst

from ..domain.diagnostic import CheckResult, Diagnostic
from ..domain.preview import PagePreview
from .diagnostics import parse_diagnostics
from .findings import complete, missing_package
from .main_file import MainFinder
from .preview import LOST, draw, mark, page_of_marks
from .protocol import Job, WorkerSettings
from .shadow import ShadowTree
from .sources import Sources

MAX_PROJECTS = 4
"""Projects (and main files in each) whose compilers are kept warm."""
MAX_DIAGNOSTICS = 1_000
AGEING_COMPILES = 4
"""Empty compilations after each real one: the compiler frees what ten of them did not use."""


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
            result = _unreadable(error)
        return replace(result, millis=(time.perf_counter() - started) * 1000)

    def preview(self, job: Job, cursor: tuple[int, int]) -> tuple[CheckResult, PagePreview | None]:
        """Draw the page of `job.path` at `cursor`, or report why there is none."""
        try:
            return self._project(job.root).preview(job, cursor)
        except OSError as error:
            return _unreadable(error), None
        except ModuleNotFoundError as error:
            note = f"The Python package {error.name} is missing; run :TypstAI install."
            return CheckResult(status="unavailable", note=note), None

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


def _unreadable(error: OSError) -> CheckResult:
    return CheckResult(status="unavailable", note=f"The project cannot be read: {error}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Laid:
    """A project as it is to be compiled; paths are relative to its root."""

    path: str
    main: str
    texts: dict[str, str]


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
        laid = self._lay(job)
        if isinstance(laid, CheckResult):
            return laid
        path, main, texts = laid.path, laid.main, laid.texts
        sources = Sources(Path(self._root), texts)
        compiled = self._compile(main, sources)
        readable = [self._readable(item) for item in compiled]
        result = CheckResult(
            status="checked",
            diagnostics=complete(readable, sources, {path, *texts})[:MAX_DIAGNOSTICS],
            main=main,
        )
        return self._qualified(result, path, compiled, texts)

    def preview(self, job: Job, cursor: tuple[int, int]) -> tuple[CheckResult, PagePreview | None]:
        """The page at the cursor; else the first page; else what is wrong with the document."""
        text = job.overlay.get(job.path)
        marked, count = mark(text, *cursor) if text is not None else ("", 0)
        if count:
            laid = self._lay(replace(job, overlay={**job.overlay, job.path: marked}))
            page = self._draw(laid, count) if isinstance(laid, _Laid) else None
            if page:
                return CheckResult(status="checked"), page
        laid = self._lay(job)
        if isinstance(laid, CheckResult):
            return laid, None
        page = self._draw(laid, 0)
        return (CheckResult(status="checked"), page) if page else (self.check(job), None)

    def _draw(self, laid: _Laid, marks: int) -> PagePreview | None:
        """None when it does not compile."""
        os.chdir(self._shadow.target)
        compiler = self._compiler(laid.main)
        try:
            pdf = compiler.compile(format="pdf")
            number = page_of_marks(compiler, marks) if marks else None
        except (typst.TypstError, RuntimeError):  # what is wrong is told by a check
            return None
        assert isinstance(pdf, bytes)
        return draw(pdf, number or 1, "" if number else LOST)

    def _lay(self, job: Job) -> _Laid | CheckResult:
        """Put the project into the shadow, or say why it cannot be compiled."""
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
        return _Laid(path=path, main=main, texts=texts)

    def _qualified(
        self,
        result: CheckResult,
        path: str,
        compiled: Sequence[Diagnostic],
        texts: Mapping[str, str],
    ) -> CheckResult:
        """The result, or the reason why it says nothing about the file."""
        packages = [name for item in compiled if (name := missing_package(item))]
        if packages:
            return replace(result, status="package_missing", note=self._about(packages[0]))
        seen = any(item.path == path for item in compiled)
        if self._settings.main and not seen and not self._is_part(path, result.main, texts):
            note = f"{path} is not part of the main file {result.main}."
            return replace(result, status="unavailable", note=note)
        return result

    def _is_part(self, path: str, main: str, texts: Mapping[str, str]) -> bool:
        return self._finder.reaches(
            self._root, self._absolute(main), self._absolute(path), self._overlay(texts)
        )

    def _absolute(self, path: str) -> str:
        return os.path.join(self._root, path)

    def _overlay(self, texts: Mapping[str, str]) -> dict[str, str]:
        return {self._absolute(name): text for name, text in texts.items()}

    def _main(self, path: str, texts: Mapping[str, str]) -> str | None:
        pinned = self._settings.main
        return self._inner(
            self._finder.find(self._root, self._absolute(path), self._overlay(texts), pinned)
        )

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

    def _compile(self, main: str, sources: Sources) -> tuple[Diagnostic, ...]:
        os.chdir(self._shadow.target)  # the compiler names files as seen from here
        compiler = self._compiler(main)
        try:
            _, warnings = compiler.compile_with_warnings(format="pdf")
        except typst.TypstError as error:
            text, first = error.diagnostic or f"error: {error.message}", error.message
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
        if package := missing_package(item):
            return replace(item, message=self._about(package))
        return replace(item, message=item.message.replace(f"{self._shadow.target}/", ""))

    def _about(self, package: str) -> str:
        if self._settings.allow_download and not package.startswith("@local"):
            return f"Package {package} is not installed and could not be downloaded."
        if package.startswith("@local"):
            return f"Package {package} is not installed."
        return f"Package {package} is not installed; allow package downloads or install it."
