"""What is checked before the user sees an edit, and what the model may still mend."""

from endpoint import Endpoint, answer, tool_calls
from session import Session

TEXT = "= Title\n\nIn 2019 we saw 42 birds, as @smith and @fig-one show.\n\nThe end.\n"
FACTS = "In 2019 we saw 42 birds, as @smith and @fig-one show."


def replaced(search: str, replace: str) -> tuple[str, dict[str, str]]:
    return ("search_replace", {"search": search, "replace": replace})


def told(endpoint: Endpoint, request: int) -> str:
    return endpoint.wait_requests(request + 1)[request].body["messages"][-1]["content"]


def test_changed_numbers_and_lost_references_stand_in_the_header_and_go_to_the_model(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document(TEXT)
    endpoint.reply(tool_calls(replaced(FACTS, "In 2019 we saw 43 birds, as @smith shows.")))
    endpoint.reply(answer("Done."))
    session.send("Shorten.")
    proposal = session.proposal()
    assert proposal["verdict"].startswith("! drops @fig-one · ! 42 → 43")
    assert "! drops @fig-one" in session.chat()
    session.editor.nvim.command("TypstAI accept")
    assert session.finished() == "complete"
    assert "changed facts: drops @fig-one; 42 → 43" in told(endpoint, 1)


def test_a_fact_that_only_moved_is_not_called_lost(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint, approval="auto")
    session.document("one 42\n\nb\n\nthree\n")
    edits = [{"search": "one 42", "replace": "one"}, {"search": "three", "replace": "three 42"}]
    endpoint.reply(tool_calls(("patch_document", {"edits": edits})))
    endpoint.reply(answer("Done."))
    assert session.ask("Move it.") == "complete"
    assert "42" not in told(endpoint, 1)


def test_the_model_mends_a_leak_before_the_user_sees_anything(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    document = session.document(TEXT)
    endpoint.reply(tool_calls(replaced("The end.", "The **end**.")))
    endpoint.reply(tool_calls(replaced("The end.", "The *end*.")))
    endpoint.reply(answer("Done."))
    session.send("Bold, please.")
    proposal = session.proposal()
    assert proposal["hunks"][0]["new"] == ["The *end*."]
    assert session.lines(document) == TEXT.split("\n")[:-1]
    refused = told(endpoint, 1)
    assert refused.startswith("error needs_correction: not shown to the writer")
    assert "main.typ:5: This is Markdown bold, not Typst." in refused
    session.editor.nvim.command("TypstAI accept")
    assert session.finished() == "complete"
    assert len(session.editor.seen("TypstAIProposal")) == 1


def test_after_two_corrections_the_user_sees_the_edit_with_its_verdict(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    document = session.document("= Title\n\nThe end.\n")
    for _ in range(3):
        endpoint.reply(tool_calls(replaced("The end.", "The #strnog[end].")))
    endpoint.reply(answer("Done."))
    session.send("Bold, please.")
    proposal = session.proposal()
    assert proposal["verdict"] == "adds 1 error"
    assert [told(endpoint, number).split(":")[0] for number in (1, 2)] == [
        "error needs_correction"
    ] * 2
    session.editor.nvim.command("TypstAI accept")
    assert session.finished() == "complete"
    assert session.lines(document)[2] == "The #strnog[end]."


def test_the_two_corrections_are_counted_for_the_whole_run(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("one\n\ntwo\n\nthree\n")
    for word in ("one", "two", "three"):
        endpoint.reply(tool_calls(replaced(word, f"#strnog[{word}]")))
    endpoint.reply(answer("Done."))
    assert session.ask("Break it.") == "complete"
    assert session.lines(document) == ["one", "", "two", "", "#strnog[three]"]


def test_an_edit_that_leaves_old_errors_alone_is_not_sent_back(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("A **bold** word and \\textbf{this}.\n\n#strnog[x]\n\nThe end.\n")
    endpoint.reply(tool_calls(replaced("The end.", "The very end.")))
    endpoint.reply(answer("Done."))
    session.send("Stress it.")
    assert session.proposal()["verdict"] == "compiles as before"
