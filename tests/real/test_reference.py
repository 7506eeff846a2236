"""The reference of Typst: every example is put to the real compiler."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
import typst

from typstai.domain.docs import Docs
from typstai.errors import ToolError
from typstai.typst.reference import VERSION, Reference

REFERENCE = Reference()
NAMES = [name for name, _ in REFERENCE.topics()]
FENCE = re.compile(r"^(`{3,})(typ|typc)(?: error: ([^\n]+))?\n(.*?)\n\1$", re.MULTILINE | re.DOTALL)
EXPECTED = {
    "bibliography-and-citations", "code-and-scripting", "common-errors", "context-and-counters",
    "figures-and-captions", "footnotes", "from-latex", "from-markdown", "functions-and-modules",
    "headings-and-outline", "images", "labels-and-references", "layout", "lists", "markup", "math",
    "outdated-syntax", "packages", "page-setup", "set-and-show-rules", "several-files", "symbols",
    "syntax-and-modes", "tables", "text-and-fonts",
    "units-and-lengths",
}  # fmt: skip
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f64540"
    "0000000049454e44ae426082"
)
FILES = {
    "refs.bib": (
        "@article{noether1918, title={Invariante}, author={Noether, Emmy}, year={1918},"
        " journal={Nachr.}}\n@book{knuth1984, title={The TeXbook}, author={Knuth, Donald},"
        " year={1984}, publisher={AW}}\n"
    ),
    "more.yml": "kay1972:\n  type: article\n  title: Computer\n  author: Kay, Alan\n  date: 1972\n",
    "plot.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"></svg>',
    "data.csv": "name,count\nred,3\nblue,5\n",
    "data.json": '{"title": "Tides", "years": [1990, 1991]}',
    "chapters/intro.typ": "= Introduction\nHello.\n",
    "lib/notes.typ": (
        "#let author = [Ada]\n#let note(body, color: red) = text(color, body)\n#let _hidden = 1\n"
    ),
    "lib/template.typ": "#let paper(title: none, body) = { set text(10pt)\n title\n body }\n",
    "packages/preview/example/0.1.0/typst.toml": (
        '[package]\nname = "example"\nversion = "0.1.0"\nentrypoint = "lib.typ"\n'
    ),
    "packages/preview/example/0.1.0/lib.typ": "#let add(a, b) = a + b\n#let sub(a, b) = a - b\n",
    "packages/local/house/1.0.0/typst.toml": (
        '[package]\nname = "house"\nversion = "1.0.0"\nentrypoint = "lib.typ"\n'
    ),
    "packages/local/house/1.0.0/lib.typ": "#let letter(to: none, body) = [Dear #to, #body]\n",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    topic: str
    source: str
    error: str | None


def examples(topic: str) -> list[Example]:
    found = FENCE.findall(REFERENCE.read(topic))
    return [
        Example(
            topic=topic, source=f"#{{\n{body}\n}}" if kind == "typc" else body, error=error or None
        )
        for _, kind, error, body in found
    ]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the examples speak of."""
    root = tmp_path_factory.mktemp("reference").resolve()
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / "photo.png").write_bytes(PNG)
    return root


@pytest.fixture(scope="module")
def compiler(project: Path) -> typst.Compiler:
    main = project / "main.typ"
    main.touch()
    return typst.Compiler(
        main, root=project, ignore_system_fonts=True,
        package_path=project / "packages", package_cache_path=project / "packages",
    )  # fmt: skip


def outcome(compiler: typst.Compiler, project: Path, source: str) -> str:
    """Empty when it compiles without a warning; else the messages and hints."""
    (project / "main.typ").write_text(source, encoding="utf-8")
    try:
        _, warnings = compiler.compile_with_warnings(format="pdf")
    except typst.TypstError as error:
        return "\n".join([error.message, *error.hints])
    return "\n".join(f"warning: {warning.message}" for warning in warnings)


@pytest.mark.parametrize("topic", NAMES)
def test_every_example_of_a_topic_does_what_it_says(
    topic: str, compiler: typst.Compiler, project: Path
) -> None:
    problems: list[str] = []
    for example in examples(topic):
        message = outcome(compiler, project, example.source)
        as_said = message == "" if example.error is None else example.error in message
        if not as_said:
            problems.append(f"{example.source}\n--> {message or 'compiles'}")
    assert not problems, "\n\n".join(problems)


@pytest.mark.parametrize("topic", NAMES)
def test_every_topic_is_a_page_of_summary_text_and_examples(topic: str) -> None:
    lines = REFERENCE.read(topic).split("\n")
    assert lines[0].startswith("# ") and lines[0].endswith(f"(Typst {VERSION})")
    assert lines[1] == "" and 20 < len(lines[2]) <= 120
    assert 35 <= len(lines) <= 170
    assert len(examples(topic)) >= 4
    outside = re.sub(r"^```text\n.*?\n```$", "", FENCE.sub("", "\n".join(lines)), flags=re.M | re.S)
    assert "```" not in outside, "each fence is closed and of a known kind"


def test_the_topics_that_were_promised_are_there() -> None:
    assert set(NAMES) >= EXPECTED
    assert sorted(NAMES) == NAMES


def test_the_reference_is_of_the_compiler_that_is_installed(
    compiler: typst.Compiler, project: Path
) -> None:
    source = f'#assert.eq(str(sys.version), "{VERSION}")'
    assert outcome(compiler, project, source) == ""


def test_a_topic_is_found_however_its_name_is_written() -> None:
    docs: Docs = REFERENCE
    assert docs.read("Page Setup") == docs.read("page-setup") == docs.read("page_setup")


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("table", "tables"), ("tabels", "tables"), ("page layout", "page-setup"),
        ("latex", "from-latex"), ("bibliography", "bibliography-and-citations"),
    ],
)  # fmt: skip
def test_an_unknown_topic_names_the_nearest(asked: str, nearest: str) -> None:
    with pytest.raises(ToolError) as caught:
        REFERENCE.read(asked)
    assert caught.value.code == "unknown_topic"
    assert nearest in str(caught.value)


def test_a_topic_like_no_other_is_answered_with_all_of_them() -> None:
    with pytest.raises(ToolError) as caught:
        REFERENCE.read("../../etc/passwd")
    assert all(name in str(caught.value) for name in NAMES)
