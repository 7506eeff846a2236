"""The writer goes on typing while the model thinks: both land, and the writer's text wins."""

from endpoint import Endpoint, Wait, answer, tool_calls
from session import Session

TEXT = "= Title\n\nThe first paragraph is short.\n\nThe second paragraph is long.\n"


def meanwhile(
    session: Session, endpoint: Endpoint, keys: str, *calls: tuple[str, object]
) -> tuple[list[str], str]:
    """The model reads, the writer types, the model edits: the lines, and what it was told."""
    session.use(endpoint, approval="auto")
    document = session.document(TEXT)
    endpoint.reply(tool_calls(("read_document", {})))
    endpoint.reply(Wait("typed"), *tool_calls(*calls))
    endpoint.reply(answer("Done."))
    session.send("Improve it.")
    endpoint.wait_reached("typed")
    session.show(document)
    session.editor.feed(keys)
    endpoint.release("typed")
    assert session.finished() == "complete"
    return session.lines(document), endpoint.requests[2].body["messages"][-1]["content"]


def test_line_numbers_mean_the_lines_that_the_model_saw(
    session: Session, endpoint: Endpoint
) -> None:
    edit = {"start_line": 5, "end_line": 5, "new_content": "The second is long."}
    lines, told = meanwhile(session, endpoint, "ggOA new first line.<Esc>", ("replace_lines", edit))
    assert lines == [
        "A new first line.",
        "= Title",
        "",
        "The first paragraph is short.",
        "",
        "The second is long.",
    ]
    assert told.startswith("applied")


def test_an_edit_of_other_words_of_the_same_line_merges(
    session: Session, endpoint: Endpoint
) -> None:
    edit = {"search": "is short", "replace": "is brief"}
    lines, _ = meanwhile(session, endpoint, "3GcwMy very<Esc>", ("search_replace", edit))
    assert lines[2] == "My very first paragraph is brief."


def test_a_section_is_found_where_it_has_moved_to_and_keeps_what_was_typed_in_it(
    session: Session, endpoint: Endpoint
) -> None:
    new = "= Title\n\nThe first paragraph is brief.\n\nThe second paragraph is long."
    edit = {"heading": "Title", "new_content": new}
    keys = "ggO#set page()<Esc>GA Mine.<Esc>"
    lines, told = meanwhile(session, endpoint, keys, ("edit_section", edit))
    assert lines == [
        "#set page()",
        "= Title",
        "",
        "The first paragraph is brief.",
        "",
        "The second paragraph is long. Mine.",
    ]
    assert told.startswith("applied")


def test_a_clash_keeps_what_was_typed_and_tells_the_model(
    session: Session, endpoint: Endpoint
) -> None:
    edit = {"search": "is short", "replace": "is brief"}
    lines, told = meanwhile(session, endpoint, "3G$Fscwtiny<Esc>", ("search_replace", edit))
    assert lines[2] == "The first paragraph is tiny."
    assert told.startswith("not applied")
    assert "the writer changed these lines; read them again" in told


def test_a_deleted_line_is_not_brought_back(session: Session, endpoint: Endpoint) -> None:
    edit = {"search": "is short", "replace": "is brief"}
    lines, told = meanwhile(session, endpoint, "3Gdd", ("search_replace", edit))
    assert lines == ["= Title", "", "", "The second paragraph is long."]
    assert told.startswith("not applied")


def test_the_model_knows_its_own_edits_without_reading_again(
    session: Session, endpoint: Endpoint
) -> None:
    first = {"start_line": 1, "end_line": 1, "new_content": "= Title\n\nAn abstract."}
    session.use(endpoint, approval="auto")
    document = session.document(TEXT)
    endpoint.reply(tool_calls(("read_document", {})))
    endpoint.reply(tool_calls(("replace_lines", first)))
    second = {"start_line": 5, "end_line": 5, "new_content": "The first is short."}
    endpoint.reply(tool_calls(("replace_lines", second)))
    endpoint.reply(answer("Done."))
    assert session.ask("Improve it.") == "complete"
    assert session.lines(document) == [
        "= Title",
        "",
        "An abstract.",
        "",
        "The first is short.",
        "",
        "The second paragraph is long.",
    ]
