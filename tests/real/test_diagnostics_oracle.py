"""The parser of diagnostics against the compiler's own annotated tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from oracle import Annotation, Case, read_cases

from compiled import Compiled
from typstai.domain.diagnostic import Diagnostic

PRELUDE = (
    "#let test = assert.eq; #let test-repr(a, b) = assert.eq(repr(a), b); "
    '#let conifer = rgb("9feb52"); #let forest = rgb("43a127")'
)
"""Names that the suite's runner defines; they stand in the empty first line of a case."""
NEWER = ("asset-outside-of-bundle", "asset-nested", "document-path-collision", "document-nested")
"""Cases about an export format that the installed compiler does not have."""
PRODUCED_AT_LEAST = 1_100


def test_every_annotated_error_that_the_compiler_makes_has_its_exact_place(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    produced: list[str] = []
    wrong: list[str] = []
    for case, findings in _compiled(corpus / "typst-suite"):
        for annotation in case.annotations:
            if near := _candidates(annotation, findings):
                produced.append(case.name)
                if annotation not in near:
                    wrong.append(f"{case.name}: {annotation} became {near}")
    assert wrong == []
    assert len(produced) >= PRODUCED_AT_LEAST


def _compiled(suite: Path) -> Iterator[tuple[Case, list[Annotation]]]:
    compiled = Compiled()
    for case in read_cases(suite):
        if case.name in NEWER:
            continue
        text = PRELUDE + case.text
        target = "html" if case.attributes.strip() == "html" else "pdf"
        found = compiled.diagnose(text, target=target)
        yield case, [_annotation(item, text) for item in found if item.path == "main.typ"]


def _annotation(item: Diagnostic, text: str) -> Annotation:
    lines = text.encode().split(b"\n")

    def position(row0: int, byte_col: int) -> tuple[int, int]:
        return row0, len(lines[row0][:byte_col].decode())

    return Annotation(
        severity=item.severity,
        message=_words(item.message),
        start=position(item.row0, item.byte_col),
        end=position(item.end_row0, item.end_byte_col),
    )


def _candidates(wanted: Annotation, findings: list[Annotation]) -> list[Annotation]:
    """What the compiler made of an annotation: the same words, or else the same start.

    The suite is newer than the compiler and words some messages differently.
    """
    alike = [item for item in findings if item.severity == wanted.severity]
    same = [item for item in alike if item.message == _words(wanted.message)]
    there = [item for item in alike if item.start == wanted.start]
    chosen = same or there
    return [_as(wanted, item) for item in chosen]


def _as(wanted: Annotation, item: Annotation) -> Annotation:
    return Annotation(
        severity=item.severity, message=wanted.message, start=item.start, end=item.end
    )


def _words(message: str) -> str:
    return message.translate(str.maketrans("", "", '`":'))
