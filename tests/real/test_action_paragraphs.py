"""Real paragraphs, English and German, through answers that behave well and badly.

The paragraphs of others are read when the tests run, and skipped where they are not
to be had; those written for this file are always there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from acting import Acted, act
from conftest import CORPUS
from typstai.domain.action import Applied, Empty
from typstai.domain.prose import split_blocks
from typstai.typst.prose import TypstProse
from typstai.typst.syntax import error_starts
from typstai.writing.placeholders import Masked, mask

READER = TypstProse()
LEAST_WORDS = 8
FOLDERS = ("simple-typst-thesis", "templates", "tour-of-typst", "typst-suite")
MOST_OF_A_FOLDER = 40
NEW_WORD = "xylem"

OWN = {
    "citations": "As @knuth1984 has shown, and @lamport1994[chapter 2] after him, the cost of "
    "setting a page grows with its length.",
    "wrapped": "The measurement was repeated on\nseveral days of the week, and the\nresults agree "
    "to within 3.5 % of\neach other.",
    "a sentence a line": "The first run failed.\nThe second run, of which @fig-run tells, did "
    "not.\nWe kept both of them.",
    "formula": "For every $epsilon > 0$ there is a $delta$ such that $abs(f(x) - f(y)) < epsilon$ "
    "holds whenever the two points are close enough.",
    "footnote": "Most riders stay at home#footnote[Counted in 2023, see @counts.] when the rain "
    "lasts, as one would expect.",
    "figure": '#figure(\n  image("map.png", width: 80%),\n  caption: [The town and its paths, '
    "with the stations that we used as dots.],\n) <fig-map>",
    "table": "#table(\n  columns: 2,\n  [Number of riders counted], [What they told us about the "
    "rain],\n  [412], [It does not matter much],\n)",
    "list": "- The first station lies by the river and floods.\n- The second one, see @sec-two, "
    "does not.\n  It was moved in 2019.\n- The third is `off`.",
    "terms": "/ Station: A place where bicycles are counted by a loop.\n/ Loop: A wire in the "
    "ground, $L$ metres long.",
    "code in line": "Call `count(path)` with the path of the file, then read #link("
    '"https://a.org/doc")[the documentation of it] once more.',
    "escapes": "It costs \\$5 or \\#3 a day \\\nand is paid by #emph[everyone who rides] there.",
    "comment": "This is a sentence with a remark. // say more here\nAnd this is the sentence "
    "that follows it.",
    "heading": "== What the rain does <sec-rain>\n\nIt keeps people away from the paths in the "
    "morning.",
    "deutsch": "Die Messung wurde an 12 Tagen wiederholt, wie @abb-verlauf zeigt; „im Mittel“ "
    "ergaben sich 1.250 Fahrten je Tag.",
    "deutsch mit Formel": "Für jedes $x$ gilt $f(x) <= 3$, siehe Abschnitt @sec-beweis und die "
    "Fußnote#footnote[Nach #cite(<gauss>), Seite 7.] dazu.",
    "quotes": 'She said "never again" 3 times, and "always" was the answer that he gave.',
}


@dataclass(frozen=True)
class Paragraph:
    document: str
    text: str

    @property
    def masked(self) -> Masked:
        start = self.document.index(self.text)
        pieces = READER.pieces(self.document, start, start + len(self.text))
        assert pieces is not None
        return mask(self.document, pieces)


def _own() -> Iterator[tuple[str, Paragraph]]:
    for name, text in OWN.items():
        yield name, Paragraph(f"= Before\n\n{text}\n\nAfter it.\n", text)


def _real() -> Iterator[tuple[str, Paragraph]]:
    for folder in FOLDERS:
        found = (item for path in sorted((CORPUS / folder).rglob("*.typ")) for item in _of(path))
        yield from list(found)[:MOST_OF_A_FOLDER]


def _of(path: Path) -> Iterator[tuple[str, Paragraph]]:
    document = path.read_text(encoding="utf-8")
    for found in re.finditer(r"(?:^|\n[ \t]*\n)((?:[^\n]*\S[^\n]*\n?)+)", document):
        text = found[1].strip()
        paragraph = Paragraph(document, text)
        if document.count(text) == 1 and _is_prose(paragraph):
            name = path.relative_to(CORPUS).as_posix().removesuffix(".typ")
            yield f"{name}:{document.count(chr(10), 0, found.start(1)) + 1}", paragraph


def _is_prose(paragraph: Paragraph) -> bool:
    words = re.findall(r"[^\W\d_]{2,}", paragraph.masked.text)
    return len(words) >= LEAST_WORDS and _changed(paragraph.masked.text) is not None


def _changed(target: str) -> str | None:
    """The passage with one word of its prose replaced."""
    for found in re.finditer(r"(?<![\w@<#⟦\\*_/:.`-])[a-zäöü]{4,}(?![\w⟧*_/:.@`-])", target):
        if found[0] not in ("three", "four", "five", "eine", "drei", "vier", "einen", "einer"):
            return target[: found.start()] + NEW_WORD + target[found.end() :]
    return None


PARAGRAPHS = dict([*_own(), *(_real() if CORPUS.is_dir() else ())])
every_paragraph = pytest.mark.parametrize("paragraph", PARAGRAPHS.values(), ids=PARAGRAPHS)


def rephrased(paragraph: Paragraph, answer: Callable[[str], str]) -> Acted:
    """What becomes of an answer made from the passage with one word changed."""

    def changed(target: str) -> str:
        return answer(_changed(target) or target)

    return act(paragraph.document, changed, on=paragraph.text)


def wanted(paragraph: Paragraph) -> str:
    """The document with that one word changed and not a byte besides."""
    acted = rephrased(paragraph, lambda text: text)
    assert isinstance(acted.result, Applied), acted.result
    return acted.accepted


def errors(document: str) -> int:
    return len(error_starts(document) or [])


def test_there_are_enough_real_paragraphs(corpus: Path) -> None:
    assert len(PARAGRAPHS) - len(OWN) >= 60
    assert any("/de/" in name for name in PARAGRAPHS)


@every_paragraph
def test_a_good_answer_changes_the_one_word_and_no_other_byte(paragraph: Paragraph) -> None:
    acted = rephrased(paragraph, lambda text: text)
    assert isinstance(acted.result, Applied)
    assert acted.result.warnings == ()
    old, new = paragraph.document.split(), acted.accepted.split()
    differing = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    assert len(differing) == 1 and NEW_WORD in differing[0][1]
    assert len(acted.hunks) == 1


WRAPPINGS: dict[str, Callable[[str], str]] = {
    "an introduction": lambda text: f"Here is the rephrased text:\n\n{text}",
    "a German introduction": lambda text: f"Hier ist der überarbeitete Text:\n\n{text}",
    "a code fence": lambda text: f"```typst\n{text}\n```",
    "quotes": lambda text: f"“{text}”",
    "thoughts": lambda text: f"<think>\nLet me see.\n</think>\n{text}",
    "our own tags": lambda text: f"<passage>\n{text}\n</passage>",
    "a closing remark": lambda text: f"{text}\n\nLet me know if you want another tone.",
    "blanks at line ends": lambda text: re.sub(r"(?m)$", "  ", text),
    "blank lines around": lambda text: f"\n\n{text}\n\n\n",
    "line ends of Windows": lambda text: text.replace("\n", "\r\n"),
}


@every_paragraph
@pytest.mark.parametrize("wrapping", WRAPPINGS.values(), ids=WRAPPINGS)
def test_what_is_wrapped_around_an_answer_makes_no_difference(
    paragraph: Paragraph, wrapping: Callable[[str], str]
) -> None:
    assert rephrased(paragraph, wrapping).accepted == wanted(paragraph)


@every_paragraph
def test_joined_lines_come_back_as_they_were(paragraph: Paragraph) -> None:
    masked = paragraph.masked
    if len(split_blocks(masked.text)) > 1 or any(
        item.kind in ("comment", "escape") for item in masked.kept
    ):
        pytest.skip("its lines mean something")
    acted = rephrased(paragraph, lambda text: re.sub(r"\s*\n\s*", " ", text))
    assert acted.accepted == wanted(paragraph)


@every_paragraph
def test_originals_written_in_place_of_placeholders_are_taken_for_them(
    paragraph: Paragraph,
) -> None:
    acted = rephrased(paragraph, lambda text: _spelled_out(text, paragraph.masked))
    assert acted.accepted == wanted(paragraph)


def _spelled_out(text: str, masked: Masked) -> str:
    for item in masked.kept:
        if item.kind in ("reference", "math", "raw", "url") and "\n" not in item.text:
            text = text.replace(item.token, item.text)
    return text


@every_paragraph
def test_a_lost_piece_is_put_back_or_told(paragraph: Paragraph) -> None:
    before = Counter(item.text for item in paragraph.masked.kept)
    for item in paragraph.masked.kept:
        acted = rephrased(paragraph, lambda text, item=item: text.replace(item.token, ""))
        if not isinstance(acted.result, Applied):
            continue  # refused: nothing can be lost
        warnings = acted.result.warnings
        after = acted.accepted.count(item.text)
        is_whole = after >= paragraph.document.count(item.text)
        # An escape or a lone bracket is no fact of its own: what it was part of is told.
        is_plain = item.kind == "escape" or not re.search(r"\w", item.text)
        assert is_whole or warnings or is_plain, (item, before[item.text])
        assert errors(acted.accepted) <= errors(paragraph.document) + is_plain


@every_paragraph
def test_an_invented_reference_is_told(paragraph: Paragraph) -> None:
    acted = rephrased(paragraph, lambda text: text.replace(NEW_WORD, f"{NEW_WORD} @erfunden", 1))
    assert isinstance(acted.result, Applied)
    assert "adds @erfunden" in acted.result.warnings


@every_paragraph
def test_a_changed_number_is_told(paragraph: Paragraph) -> None:
    number = re.search(r"(?<![\w⟦.,-])\d+(?![\w⟧.,-])", paragraph.masked.text)
    if number is None:
        pytest.skip("it has no number in its prose")
    other = str(int(number[0]) + 70_001)
    acted = rephrased(
        paragraph,
        lambda text: re.sub(rf"(?<![\w⟦.,-]){number[0]}(?![\w⟧.,-])", other, text, count=1),
    )
    assert isinstance(acted.result, Applied)
    assert any(other in warning for warning in acted.result.warnings)


LEAKS = {
    "Markdown bold": (f"**{NEW_WORD}**", f"*{NEW_WORD}*"),
    "LaTeX emphasis": (f"\\emph{{{NEW_WORD}}}", f"_{NEW_WORD}_"),
    "LaTeX bold": (f"\\textbf{{{NEW_WORD}}}", f"*{NEW_WORD}*"),
}


@every_paragraph
@pytest.mark.parametrize(("leak", "typst"), LEAKS.values(), ids=LEAKS)
def test_markdown_and_latex_become_typst_or_are_told(
    paragraph: Paragraph, leak: str, typst: str
) -> None:
    acted = rephrased(paragraph, lambda text: text.replace(NEW_WORD, leak, 1))
    assert isinstance(acted.result, Applied)
    assert typst in acted.accepted or acted.result.warnings or NEW_WORD in acted.accepted
    assert leak not in acted.accepted or acted.result.warnings


@every_paragraph
def test_other_quotation_marks_for_the_same_words_are_no_loss(paragraph: Paragraph) -> None:
    acted = rephrased(paragraph, lambda text: re.sub(r'"([^"\n⟦]+)"', r"“\1”", text))
    assert isinstance(acted.result, Applied)
    assert acted.result.warnings == ()


@every_paragraph
def test_the_same_text_and_no_text_change_nothing(paragraph: Paragraph) -> None:
    same = act(paragraph.document, lambda text: text, on=paragraph.text)
    assert same.result == Empty(reason="no-change")
    nothing = act(paragraph.document, "  \n", on=paragraph.text)
    assert nothing.result == Empty(reason="no-output")


@every_paragraph
def test_a_novel_is_refused(paragraph: Paragraph) -> None:
    acted = act(paragraph.document, lambda text: f"{text} and then " * 60, on=paragraph.text)
    assert acted.proposals == []
