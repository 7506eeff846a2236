"""What is checked before the user sees an edit, and what the model may still mend."""

from typing import Any

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


def test_a_name_that_an_edit_lost_stands_in_the_header(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("= Title\n\nIt is the work of Alan Turing, set in LaTeX.\n")
    endpoint.reply(tool_calls(replaced("the work of Alan Turing, set in LaTeX", "old work")))
    session.send("Shorten.")
    assert session.proposal()["verdict"].startswith("! drops Alan Turing, LaTeX")


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


def edited(session: Session, proposal: dict[str, Any], text: str) -> None:
    arguments = (proposal["id"], proposal["hunks"][0]["id"], text)
    session.editor.lua("require('typstai.proposals').edit(...)", *arguments)


def test_the_model_is_told_the_text_that_the_writer_made_of_a_proposal_and_its_verdict(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    document = session.document("= Title\n\nThe end.\n")
    endpoint.reply(tool_calls(replaced("The end.", "An end.")))
    endpoint.reply(answer("Done."))
    session.send("Go")
    proposal = session.proposal()
    edited(session, proposal, "#nosuch(1)")
    session.editor.nvim.command("TypstAI accept")
    assert session.finished() == "complete"
    assert session.lines(document)[-1] == "#nosuch(1)"
    result = told(endpoint, 1)
    assert "h1 applied as the writer changed it:\n#nosuch(1)\n" in result
    assert "compiler: adds 1 error" in result
    assert "compiles as before" not in result
    assert "1 hunk applied as edited · adds 1 error" in session.chat()


def test_a_partly_accepted_proposal_is_judged_by_what_was_applied(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("one\n\ntwo #nosuch(1)\n")
    edits = [
        {"search": "one", "replace": "1"},
        {"search": "two #nosuch(1)", "replace": "2"},
    ]
    endpoint.reply(tool_calls(("patch_document", {"edits": edits})))
    endpoint.reply(answer("Done."))
    session.send("Go")
    proposal = session.proposal()
    assert proposal["verdict"].startswith("fixes 1 error")
    session.editor.lua("require('typstai').proposals.accept(..., { hunk = 'h1' })", proposal["id"])
    session.editor.lua("require('typstai').proposals.reject(..., { hunk = 'h2' })", proposal["id"])
    assert session.finished() == "complete"
    assert "compiler: compiles as before" in told(endpoint, 1)
    assert "1 of 2 hunks applied · compiles as before" in session.chat()


def test_the_chat_shows_the_text_of_an_edited_proposal(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document(TEXT)
    endpoint.reply(tool_calls(replaced("The end.", "An end.")))
    session.send("Go")
    proposal = session.proposal()
    shows = "table.concat(require('typstai').chat.lines(), '\\n'):find(..., 1, true)"
    session.editor.wait_for(shows, "+ An end.")
    edited(session, proposal, "My end.")
    session.editor.wait_for(shows, "+ My end.")
    assert "+ An end." not in session.chat()
