"""The sample thesis: broken exactly as planted, and sound once those errors are mended."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
import pytest
import typst

from conftest import ROOT

THESIS = ROOT / "examples" / "thesis"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """One planted error, its repair, and what the compiler says of it alone."""

    file: str
    wrong: str
    right: str
    error: str = ""
    warning: str = ""
    printed: str = ""
    """For what compiles without a word: what the reader would see."""


PLANTED = [
    Planted(
        file="methods", wrong="#v(12)", right="#v(12pt)",
        error="expected relative length or fraction, found integer",
    ),
    Planted(file="methods", wrong="**not**", right="*not*", warning="no text within stars"),
    Planted(
        file="methods", wrong="## Weather records", right="== Weather records",
        error="the character `#` is not valid in code",
    ),
    Planted(
        file="results", wrong="#strnog[high]", right="#strong[high]",
        error="unknown variable: strnog",
    ),
    Planted(
        file="results", wrong="@fig-rseults", right="@fig-results",
        error="label `<fig-rseults>` does not exist in the document",
    ),
    Planted(
        file="results", wrong="#emph[largest between seven and eight.",
        right="#emph[largest between seven and eight.]", error="unclosed delimiter",
    ),
    Planted(
        file="conclusion", wrong=r"\textbf{more than half}", right="*more than half*",
        printed="textbf{more",
    ),
    Planted(
        file="conclusion", wrong=r"\section{Limits}", right="== Limits", printed="section{Limits}"
    ),
]  # fmt: skip


@pytest.fixture
def thesis(tmp_path: Path) -> Path:
    return Path(shutil.copytree(THESIS, tmp_path / "thesis"))


def test_the_thesis_as_shipped_does_not_compile(thesis: Path) -> None:
    with pytest.raises(typst.TypstError):
        _compile(thesis)


def test_the_thesis_with_all_repairs_compiles_without_a_warning(thesis: Path) -> None:
    _repair(thesis, PLANTED)
    pdf, warnings = _compile(thesis)
    assert warnings == []
    assert 6 <= len(pypdfium2.PdfDocument(pdf)) <= 12
    assert "{" not in _text(pdf)


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.wrong)
def test_each_planted_error_alone_shows_as_documented(thesis: Path, planted: Planted) -> None:
    _repair(thesis, [other for other in PLANTED if other is not planted])
    if planted.error:
        with pytest.raises(typst.TypstError) as raised:
            _compile(thesis)
        assert planted.error in str(raised.value)
        return
    pdf, warnings = _compile(thesis)
    assert [planted.warning in warning for warning in warnings] == [True] * len(warnings)
    assert bool(warnings) == bool(planted.warning)
    assert planted.printed in _text(pdf)


def test_the_list_of_planted_errors_names_each_with_its_repair() -> None:
    listed = (THESIS / "README.md").read_text(encoding="utf-8")
    for planted in PLANTED:
        begin = planted.wrong.split(" between")[0]
        assert f"| `chapters/{planted.file}.typ` | `{begin}" in listed
    assert listed.count("| `chapters/") == len(PLANTED)


def _repair(thesis: Path, errors: Iterable[Planted]) -> None:
    for planted in errors:
        path = thesis / "chapters" / f"{planted.file}.typ"
        text = path.read_text(encoding="utf-8")
        assert text.count(planted.wrong) == 1
        path.write_text(text.replace(planted.wrong, planted.right), encoding="utf-8")


def _compile(thesis: Path) -> tuple[bytes, list[str]]:
    """PDF and messages of the warnings; with the fonts inside the compiler only."""
    pdf, warnings = typst.compile_with_warnings(
        str(thesis / "main.typ"), root=str(thesis), ignore_system_fonts=True
    )
    assert isinstance(pdf, bytes)
    return pdf, [str(warning.message) for warning in warnings]


def _text(pdf: bytes) -> str:
    pages = pypdfium2.PdfDocument(io.BytesIO(pdf))
    return "\n".join(page.get_textpage().get_text_range() for page in pages)
