"""A section is rewritten by its heading or label, only as the model has read it."""

from typing import Any

import pytest

from tool_call import call, run_on
from typstai.agent.run import Run
from typstai.domain.tool import ToolOutcome
from typstai.editor.memory import MemoryEditor

TEXT = """\
#set page(numbering: "1")

= Introduction <intro>

Why.

== Aim

To know.

= Methods

== Aim

To measure.

#bibliography("refs.bib")"""


class Desk:
    """One document, of which the model has read a part."""

    def __init__(self, text: str = TEXT) -> None:
        self.editor = MemoryEditor()
        self.bufnr = self.editor.add(text, path="/p/main.typ")
        self.run: Run = run_on(self.editor, self.bufnr)

    async def read(self, **lines: int) -> None:
        assert (await call(self.run, "read_document", lines)).ok

    async def edit(self, new: str, **section: Any) -> ToolOutcome:
        return await call(self.run, "edit_section", {"new_content": new, **section})

    @property
    def text(self) -> str:
        return "\n".join(self.editor.lines(self.bufnr))


@pytest.fixture
async def desk() -> Desk:
    made = Desk()
    await made.read()
    return made


@pytest.mark.parametrize(
    "section",
    [{"heading": "Introduction"}, {"heading": "= introduction "}, {"label": "intro"},
     {"label": "<intro>"}],
)  # fmt: skip
async def test_a_section_goes_up_to_the_next_heading_of_its_level(
    desk: Desk, section: dict[str, str]
) -> None:
    outcome = await desk.edit("= Start <intro>\n\nBecause.\n", **section)
    assert outcome.ok
    before, after = TEXT.split("= Introduction")[0], TEXT[TEXT.index("= Methods") :]
    assert desk.text == f"{before}= Start <intro>\n\nBecause.\n\n{after}"


async def test_equal_titles_are_told_apart_by_those_above_them(desk: Desk) -> None:
    refused = await desk.edit("== Aim\n\nNothing.", heading="Aim")
    assert refused.text == (
        "error ambiguous: 2 headings read 'Aim'. Give the titles above it too (A > B), or its "
        "label:\n7: Introduction > Aim\n13: Methods > Aim"
    )
    assert desk.text == TEXT
    await desk.edit("== Aim\n\nTo measure twice.", heading="Methods > Aim")
    assert desk.text == TEXT.replace("To measure.", "To measure twice.")


async def test_what_stands_at_the_end_for_the_whole_document_stays(desk: Desk) -> None:
    await desk.edit("= Methods\n\nNone.", heading="Methods")
    assert desk.text.endswith('= Methods\n\nNone.\n\n#bibliography("refs.bib")')


async def test_a_text_without_a_heading_goes_below_the_one_that_is_there(desk: Desk) -> None:
    outcome = await desk.edit("\nTo see.\n", heading="Introduction > Aim")
    assert desk.text == TEXT.replace("To know.", "To see.")
    assert "the heading was kept" in outcome.text


@pytest.mark.parametrize(
    ("new", "kept"),
    [
        ("// mine\n== Aim\n\nTo see.", False),
        ("#v(1em)\n= Aim\n\nTo see.", False),
        ("=== Of which\n\nTo see.", True),
        ("```typ\n= Aim\n```", True),
    ],
)
async def test_a_heading_counts_wherever_it_stands_in_the_new_text(
    desk: Desk, new: str, kept: bool
) -> None:
    await desk.edit(new, heading="Introduction > Aim")
    kept_heading = "== Aim\n\n" if kept else ""
    assert desk.text == TEXT.replace("== Aim\n\nTo know.", kept_heading + new, 1)


async def test_a_heading_without_a_text_gets_one() -> None:
    desk = Desk("= One\n= Two")
    await desk.read()
    await desk.edit("New.", heading="One")
    assert desk.text == "= One\n\nNew.\n= Two"


@pytest.mark.parametrize(
    ("heading", "expected"),
    [("One", "= Two\n\nText."), ("Two", "= One\n\nText.\n")],
)
async def test_an_empty_text_deletes_the_section(heading: str, expected: str) -> None:
    desk = Desk("= One\n\nText.\n\n= Two\n\nText.")
    await desk.read()
    await desk.edit("", heading=heading)
    assert desk.text == expected


@pytest.mark.parametrize(
    ("section", "told"),
    [
        (
            {"heading": "Method"},
            "no heading reads 'Method'. The nearest headings are:\n11: Methods",
        ),
        ({"heading": "Q"}, "no heading reads 'Q'. The headings are:\n3: Introduction <intro>\n"),
        ({"label": "fig"}, "no heading has the label <fig>. The headings are:\n3: Introduction"),
        ({"heading": "Methods > Why > Aim"}, "no heading reads"),
    ],
)
async def test_a_section_that_is_not_there_is_told_with_the_nearest(
    desk: Desk, section: dict[str, str], told: str
) -> None:
    outcome = await desk.edit("x", **section)
    assert outcome.text.startswith(f"error no_section: {told}")
    assert desk.text == TEXT


@pytest.mark.parametrize("section", [{}, {"heading": "A", "label": "b"}, {"heading": " "}])
async def test_one_of_heading_and_label_is_needed(desk: Desk, section: dict[str, str]) -> None:
    outcome = await desk.edit("x", **section)
    assert outcome.text.startswith("error invalid_arguments")
    assert "give either heading or label" in outcome.text


async def test_a_section_that_was_not_read_whole_is_not_rewritten() -> None:
    desk = Desk()
    await desk.read(start_line=1, end_line=5)
    outcome = await desk.edit("= Introduction\n\nShort.", heading="Introduction")
    assert outcome.text == (
        "error not_read: read the whole section first: lines 3-9. Nothing was changed."
    )
    assert desk.text == TEXT


async def test_what_the_writer_typed_since_it_was_read_stays(desk: Desk) -> None:
    desk.editor.replace_lines(desk.bufnr, 0, 0, ["// mine", "// too"])
    desk.editor.replace_lines(desk.bufnr, 6, 7, ["Why not."])
    outcome = await desk.edit("= Introduction <intro>\n\nWhy.\n\n== Aim\n\nTo see.", label="intro")
    assert outcome.ok
    assert desk.text == "// mine\n// too\n" + TEXT.replace("Why.", "Why not.").replace(
        "know", "see"
    )


async def test_a_heading_that_the_writer_changed_since_is_found_by_neither_name(desk: Desk) -> None:
    desk.editor.replace_lines(desk.bufnr, 10, 11, ["= Procedure"])
    outcome = await desk.edit("= Methods\n\nNone.", heading="Methods")
    assert outcome.text.startswith("error no_section")


async def test_a_second_edit_of_a_section_is_made_on_the_first(desk: Desk) -> None:
    await desk.edit("== Aim\n\nTo see.\n\nTo hear.", heading="Introduction > Aim")
    await desk.edit("== Aim\n\nTo see.", heading="Introduction > Aim")
    assert desk.text == TEXT.replace("To know.", "To see.")


async def test_a_document_that_nests_too_deep_is_told_so() -> None:
    desk = Desk("= One\n" + "[" * 300)
    await desk.read()
    outcome = await desk.edit("x", heading="One")
    assert outcome.text.startswith("error no_outline")
