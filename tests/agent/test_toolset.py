"""Tools as values: declared once, offered by mode, dispatched fail-closed."""

import json
from typing import Any

import pytest

from tool_call import call, run_on
from typstai.agent.tools.builtin import builtin_tools
from typstai.agent.tools.toolset import Arguments, Invocation, Labels, Tool, ToolSet
from typstai.domain.tool import ToolKind, ToolOutcome
from typstai.editor.memory import MemoryEditor
from typstai.editor.port import ApprovalDecision

THE_TOOLS = [
    "read_file_structure", "open_project_file", "read_document", "read_diagnostics",
    "read_typst_docs", "replace_lines", "search_replace", "patch_document", "insert_at_cursor",
    "replace_selection", "edit_section",
]  # fmt: skip


async def nothing(invocation: Invocation, args: Arguments) -> ToolOutcome:
    return ToolOutcome(text="ok")


def tool(name: str, description: str = "Does it.", kind: ToolKind = "read") -> Tool:
    return Tool(
        name=name, description=description, arguments=Arguments, kind=kind,
        labels=Labels(running="…"), perform=nothing,
    )  # fmt: skip


@pytest.mark.parametrize(
    "tools",
    [
        [tool("a"), tool("a")],
        [tool("Upper")],
        [tool("x" * 65)],
        [tool("mcp__x")],
        [tool("a", description=" ")],
    ],
)
def test_a_bad_declaration_is_refused_when_the_set_is_built(tools: list[Tool]) -> None:
    with pytest.raises(ValueError, match=r"tool|named|description"):
        ToolSet(tools)


def test_the_built_in_tools_are_offered_in_a_fixed_order() -> None:
    names = [spec.name for spec in builtin_tools().specs("edit")]
    assert names == THE_TOOLS
    assert names == [spec.name for spec in builtin_tools().specs("edit")]


def test_read_mode_offers_reading_tools_only() -> None:
    assert [spec.name for spec in builtin_tools().specs("read")] == THE_TOOLS[:5]


def test_a_built_in_tool_can_be_left_out() -> None:
    names = [spec.name for spec in builtin_tools(disable=["replace_lines"]).specs("edit")]
    assert "replace_lines" not in names


def test_the_argument_names_are_the_documented_ones() -> None:
    names = {
        spec.name: set(spec.parameters["properties"]) for spec in builtin_tools().specs("edit")
    }
    assert names["read_document"] == {"start_line", "end_line", "max_chars", "view"}
    assert names["replace_lines"] == {"start_line", "end_line", "new_content"}
    assert names["search_replace"] == {"search", "replace", "occurrence", "all"}
    assert names["patch_document"] == {"edits"}
    assert names["insert_at_cursor"] == names["replace_selection"] == {"text"}
    assert names["edit_section"] == {"heading", "label", "new_content"}
    assert names["open_project_file"] == {"path"}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("{", "invalid_arguments"),
        ("[1]", "invalid_arguments"),
        ("[" * 100_000, "invalid_arguments"),
        ('{"search": "a"}', "invalid_arguments"),
        ('{"search": "a", "replace": "b", "surprise": 1}', "invalid_arguments"),
        ('{"search": "a", "replace": {"x": 1}}', "invalid_arguments"),
        (json.dumps({"search": "a", "replace": "b" * 256_000}), "invalid_arguments"),
        ('{"search": "nowhere", "replace": "b"}', "not_found"),
        ('{"search": " ", "replace": "b"}', "empty_search"),
        ('{"search": "b", "replace": "b"}', "no_changes"),
    ],
)
async def test_bad_arguments_are_told_and_change_nothing(arguments: str, code: str) -> None:
    editor = MemoryEditor()
    bufnr = editor.add("a b c", path="/p/main.typ")
    outcome = await call(run_on(editor, bufnr), "search_replace", arguments)
    assert outcome.text.startswith(f"error {code}")
    assert not outcome.ok
    assert editor.lines(bufnr) == ("a b c",)


async def test_an_unknown_tool_is_answered_with_the_nearest_name() -> None:
    outcome = await call(run_on(MemoryEditor(), None), "read_documents", {})
    assert "error unknown_tool" in outcome.text
    assert "read_document" in outcome.text


async def test_a_failing_tool_is_an_answer_and_not_an_exception() -> None:
    async def broken(invocation: Invocation, args: Arguments) -> ToolOutcome:
        raise KeyError("secret detail")

    failing = Tool(
        name="broken", description="Breaks.", arguments=Arguments, kind="read",
        labels=Labels(running="…"), perform=broken,
    )  # fmt: skip
    outcome = await call(run_on(MemoryEditor(), None), "broken", {}, ToolSet([failing]))
    assert outcome.text.startswith("error internal_error")
    assert "secret detail" not in outcome.text


async def test_a_long_result_is_cut_and_says_so() -> None:
    async def long(invocation: Invocation, args: Arguments) -> ToolOutcome:
        return ToolOutcome(text="é" * 100_000)

    made = Tool(
        name="long", description="Long.", arguments=Arguments, kind="read",
        labels=Labels(running="…"), perform=long,
    )  # fmt: skip
    outcome = await call(run_on(MemoryEditor(), None), "long", {}, ToolSet([made]))
    assert len(outcome.text.encode()) < 64 * 1024 + 100
    assert outcome.text.endswith("[cut: the result was longer]")


async def test_a_document_is_read_in_parts_that_say_how_to_go_on() -> None:
    editor = MemoryEditor()
    bufnr = editor.add("\n".join(f"line {n}" for n in range(1, 101)), path="/p/main.typ")
    run = run_on(editor, bufnr)
    first = await call(run, "read_document", {"max_chars": 200})
    assert first.text.startswith("main.typ lines 1-18 of 100\n<document>\n1: line 1\n")
    assert first.text.endswith("[cut: go on with start_line=19]")
    rest = await call(run, "read_document", {"start_line": 99})
    assert "99: line 99\n100: line 100" in rest.text


@pytest.mark.parametrize(
    ("first", "last", "new", "expected"),
    [
        (1, 1, "", ("b", "c")),
        (2, 2, "", ("a", "c")),
        (3, 3, "", ("a", "b")),
        (1, 3, "", ("",)),
        (2, 3, "x\ny\n", ("a", "x", "y")),
    ],
)
async def test_lines_are_replaced_or_deleted_with_one_boundary_newline(
    first: int, last: int, new: str, expected: tuple[str, ...]
) -> None:
    editor = MemoryEditor()
    bufnr = editor.add("a\nb\nc", path="/p/main.typ")
    arguments = {"start_line": first, "end_line": last, "new_content": new}
    outcome = await call(run_on(editor, bufnr), "replace_lines", arguments)
    assert outcome.ok
    assert editor.lines(bufnr) == expected


@pytest.mark.parametrize(("first", "last"), [(4, 4), (2, 1), (1, 9)])
async def test_lines_that_do_not_exist_are_refused(first: int, last: int) -> None:
    editor = MemoryEditor()
    bufnr = editor.add("a\nb\nc", path="/p/main.typ")
    arguments = {"start_line": first, "end_line": last, "new_content": "x"}
    outcome = await call(run_on(editor, bufnr), "replace_lines", arguments)
    assert outcome.text.startswith("error bad_range")
    assert last < first or outcome.text.endswith("there are 3 lines, the last is: c")
    assert editor.lines(bufnr) == ("a", "b", "c")


async def test_a_patch_is_made_whole_or_not_at_all() -> None:
    editor = MemoryEditor()
    bufnr = editor.add("one two\nthree", path="/p/main.typ")
    edits = [{"search": "one", "replace": "1"}, {"search": "absent", "replace": "x"}]
    outcome = await call(run_on(editor, bufnr), "patch_document", {"edits": edits})
    assert "edit 2" in outcome.text
    assert "None of the edits was made." in outcome.text
    assert editor.lines(bufnr) == ("one two", "three")


async def test_overlapping_edits_of_one_patch_are_refused() -> None:
    editor = MemoryEditor()
    bufnr = editor.add("one two three", path="/p/main.typ")
    edits = [{"search": "one two", "replace": "x"}, {"search": "two three", "replace": "y"}]
    outcome = await call(run_on(editor, bufnr), "patch_document", {"edits": edits})
    assert outcome.text.startswith("error overlap: two edits change the same text in line 1")
    assert editor.lines(bufnr) == ("one two three",)


async def test_every_edit_of_a_patch_is_matched_against_the_text_before_it() -> None:
    editor = MemoryEditor()
    bufnr = editor.add("a b", path="/p/main.typ")
    edits = [{"search": "a", "replace": "b"}, {"search": "b", "replace": "a"}]
    await call(run_on(editor, bufnr), "patch_document", {"edits": edits})
    assert editor.lines(bufnr) == ("b a",)


@pytest.mark.parametrize(
    ("which", "lines"),
    [({"all": True}, ("y", "z", "y")), ({"occurrence": 2}, ("x", "z", "y"))],
)
async def test_of_several_equal_texts_those_are_replaced_that_were_asked_for(
    which: dict[str, Any], lines: tuple[str, ...]
) -> None:
    editor = MemoryEditor()
    bufnr = editor.add("x\nz\nx", path="/p/main.typ")
    arguments = {"search": "x", "replace": "y", **which}
    await call(run_on(editor, bufnr), "search_replace", arguments)
    assert editor.lines(bufnr) == lines


async def test_more_than_the_limit_of_hunks_is_refused_with_a_clear_error() -> None:
    editor = MemoryEditor()
    bufnr = editor.add("\n".join(["x", ""] * 200), path="/p/main.typ")
    arguments = {"search": "x", "replace": "y", "all": True}
    outcome = await call(run_on(editor, bufnr), "search_replace", arguments)
    assert outcome.text.startswith("error too_many_changes: 200 hunks")


@pytest.mark.parametrize(
    ("text", "new", "code"),
    [
        ("a", "x\n" * 2_000 + "y", "too_many_changes: 1 hunks and 2002 lines"),
        ("a" + "b" * 900_000, "c" * 150_000, "too_large: a document may have 1,000,000 characters"),
    ],
)
async def test_what_is_beyond_the_limits_is_refused_and_nothing_changes(
    text: str, new: str, code: str
) -> None:
    editor = MemoryEditor()
    bufnr = editor.add(text, path="/p/main.typ")
    outcome = await call(run_on(editor, bufnr), "search_replace", {"search": "a", "replace": new})
    assert outcome.text.startswith(f"error {code}")
    assert editor.lines(bufnr) == (text,)


async def test_a_rejected_edit_tells_the_model_the_reason() -> None:
    editor = MemoryEditor()
    bufnr = editor.add("a", path="/p/main.typ")
    editor.on_proposal = lambda proposal: editor.reject(proposal.id, reason="not this")
    outcome = await call(
        run_on(editor, bufnr, approval="review"), "search_replace", {"search": "a", "replace": "b"}
    )
    assert outcome.rejected
    assert "rejected by the writer: not this" in outcome.text


async def test_what_could_not_be_compiled_is_said_and_never_called_clean() -> None:
    editor = MemoryEditor()
    run = run_on(editor, editor.add("a", path="/p/main.typ"))
    diagnosis = await call(run, "read_diagnostics", {})
    assert "could not check (unavailable): there is no compiler" in diagnosis.text
    edit = await call(run, "search_replace", {"search": "a", "replace": "b"})
    assert "not checked: there is no compiler" in edit.text


async def test_an_incomplete_list_of_files_says_so() -> None:
    outcome = await call(run_on(MemoryEditor(), None), "read_file_structure", {})
    assert outcome.text.startswith("complete=false")


async def test_a_path_outside_the_project_is_refused_before_anyone_is_asked() -> None:
    editor = MemoryEditor()
    editor.on_approval = lambda request: ApprovalDecision(answer="once")
    outcome = await call(run_on(editor, None), "open_project_file", {"path": "../secret"})
    assert outcome.text.startswith("error outside_project")
    assert editor.questions == {}


async def test_a_topic_of_the_reference_is_read() -> None:
    run = run_on(MemoryEditor(), None)
    topics = await call(run, "read_typst_docs", {})
    assert "tables:" in topics.text
    assert "#table(" in (await call(run, "read_typst_docs", {"topic": "tables"})).text
    assert not (await call(run, "read_typst_docs", {"topic": "tabels"})).ok
