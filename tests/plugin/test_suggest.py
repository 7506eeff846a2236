"""`approval = "suggest"`: the run goes on over pending hunks; the user decides in any order."""

from endpoint import Endpoint, answer, tool_calls
from session import Session

TEXT = "one\n\ntwo\n\nthree\n\nfour\n"


def shows(session: Session, text: str) -> None:
    """Wait until the chat has the text."""
    lines = "table.concat(require('typstai').chat.lines(), '\\n')"
    session.editor.wait_for(f"{lines}:find(..., 1, true)", text)


def replaced(search: str, replace: str) -> tuple[str, dict[str, str]]:
    return ("search_replace", {"search": search, "replace": replace})


def test_the_run_goes_on_and_reads_the_text_as_if_accepted(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="suggest")
    document = session.document(TEXT)
    endpoint.reply(tool_calls(replaced("two", "2")))
    views = [("read_document", {"view": view}) for view in ("final", "original", "markup")]
    endpoint.reply(tool_calls(*views))
    endpoint.reply(answer("Done."))
    assert session.ask("Numbers.") == "complete"
    final, original, markup = (
        message["content"] for message in endpoint.requests[2].body["messages"][-3:]
    )
    assert "3: 2\n" in final
    assert "3: two\n" in original
    assert "3: [-] two\n4: [+] 2\n" in markup
    assert session.lines(document) == TEXT.split("\n")[:-1]
    assert [hunk["state"] for hunk in session.proposal()["hunks"]] == ["pending"]


def test_a_later_edit_of_pending_lines_takes_them_over(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="suggest")
    document = session.document(TEXT)
    endpoint.reply(tool_calls(replaced("two", "two and a half")))
    endpoint.reply(tool_calls(replaced("two and a half", "2.5")))
    endpoint.reply(answer("Done."))
    assert session.ask("Numbers.") == "complete"
    (proposal,) = session.editor.lua("return require('typstai').proposals.list()")
    assert [(hunk["old"], hunk["new"]) for hunk in proposal["hunks"]] == [(["two"], ["2.5"])]
    session.editor.nvim.command("TypstAI accept")
    assert session.lines(document)[2] == "2.5"


PARAGRAPH = (
    "The first sentence of this paragraph is rather long, as sentences in theses are. "
    "The second one is in the middle and nobody wants to change it at all. The third is bad."
)
REWORDED = PARAGRAPH.replace("rather long", "short").replace("is bad", "is good")


def test_sentences_of_a_long_line_are_seen_as_accepted_and_taken_over_together(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="suggest")
    document = session.document(f"{PARAGRAPH}\n\nEnd.\n")
    endpoint.reply(tool_calls(replaced(PARAGRAPH, REWORDED)))
    endpoint.reply(tool_calls(("read_document", {}), replaced("is good", "is best")))
    endpoint.reply(answer("Done."))
    assert session.ask("Reword.") == "complete"
    assert f"1: {REWORDED}\n" in endpoint.requests[2].body["messages"][-2]["content"]
    (proposal,) = session.editor.lua("return require('typstai').proposals.list()")
    assert [hunk["new"][0][-9:] for hunk in proposal["hunks"]] == ["eses are.", " is best."]
    session.editor.lua("require('typstai').proposals.accept(...)", proposal["id"], {"hunk": "h2"})
    assert session.lines(document)[0] == PARAGRAPH.replace("is bad", "is best")


def test_an_edit_elsewhere_leaves_pending_sentences_alone(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="suggest")
    document = session.document(f"{PARAGRAPH}\n\nEnd.\n")
    endpoint.reply(tool_calls(replaced(PARAGRAPH, REWORDED)))
    endpoint.reply(tool_calls(replaced("End.", "The end.")))
    endpoint.reply(answer("Done."))
    assert session.ask("Reword.") == "complete"
    assert session.lines(document)[0] == PARAGRAPH
    listed = session.editor.lua("return require('typstai').proposals.list()")
    assert [len(item["hunks"]) for item in listed] == [2, 1]
    session.editor.lua("require('typstai.proposals').accept_all()")
    assert session.lines(document) == [REWORDED, "", "The end."]


def test_decisions_in_any_order_leave_the_others_pending(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="suggest")
    document = session.document(TEXT)
    edits = [replaced("one", "1\n1b"), replaced("two", "2"), replaced("four", "4")]
    endpoint.reply(tool_calls(*edits))
    endpoint.reply(answer("Done."))
    assert session.ask("Numbers.") == "complete"
    first, second, third = session.editor.lua("return require('typstai').proposals.list()")
    session.editor.lua("require('typstai').proposals.accept(...)", third["id"])
    session.editor.lua("require('typstai').proposals.reject(...)", second["id"])
    session.editor.lua("require('typstai').proposals.accept(...)", first["id"])
    assert session.lines(document) == ["1", "1b", "", "two", "", "three", "", "4"]


def test_the_model_learns_later_what_became_of_its_suggestions(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="suggest")
    session.document(TEXT)
    endpoint.reply(tool_calls(replaced("two", "2")))
    endpoint.reply(answer("Suggested."))
    endpoint.reply(answer("I see."))
    assert session.ask("Numbers.") == "complete"
    proposal = session.proposal()
    session.editor.lua(
        "require('typstai').proposals.reject(..., { reason = 'keep words' })", proposal["id"]
    )
    session.editor.seen("TypstAIProposalResolved")
    shows(session, "1 rejected")
    assert session.ask("And now?") == "complete"
    told = [m["content"] for m in endpoint.requests[2].body["messages"] if m["role"] == "tool"]
    assert "decided by the writer since: 1 rejected.\nh1: keep words" in told[0]


def test_a_suggestion_decided_during_the_run_is_known_at_its_end(
    session: Session, endpoint: Endpoint
) -> None:
    from endpoint import Wait

    session.use(endpoint, approval="suggest")
    session.document(TEXT)
    endpoint.reply(tool_calls(replaced("two", "2")))
    endpoint.reply(Wait("go"), answer("Done."))
    session.send("Numbers.")
    proposal = session.proposal()
    endpoint.wait_reached("go")
    session.editor.lua("require('typstai').proposals.accept(...)", proposal["id"])
    shows(session, "1 accepted")
    endpoint.release("go")
    assert session.finished() == "complete"


def test_stopping_keeps_what_was_suggested_and_what_was_accepted(
    session: Session, endpoint: Endpoint
) -> None:
    from endpoint import Wait

    session.use(endpoint, approval="suggest")
    document = session.document(TEXT)
    endpoint.reply(tool_calls(replaced("one", "1"), replaced("two", "2")))
    endpoint.reply(Wait("never"))
    session.send("Numbers.")
    endpoint.wait_reached("never")
    first, second = session.editor.lua("return require('typstai').proposals.list()")
    session.editor.lua("require('typstai').proposals.accept(...)", first["id"])
    session.editor.lua("require('typstai').stop(nil, function() end)")
    assert session.finished() == "cancelled"
    assert session.lines(document)[0] == "1"
    (left,) = session.editor.lua("return require('typstai').proposals.list()")
    assert left["id"] == second["id"]


def test_the_model_learns_later_how_the_writer_changed_a_suggestion(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="suggest")
    session.document(TEXT)
    endpoint.reply(tool_calls(replaced("two", "2")))
    endpoint.reply(answer("Suggested."))
    endpoint.reply(answer("I see."))
    assert session.ask("Numbers.") == "complete"
    proposal = session.proposal()
    session.editor.lua("require('typstai.proposals').edit(..., nil, 'II')", proposal["id"])
    session.editor.lua("require('typstai').proposals.accept(...)", proposal["id"])
    shows(session, "1 accepted as edited · compiles as before")
    assert session.ask("And now?") == "complete"
    told = [m["content"] for m in endpoint.requests[2].body["messages"] if m["role"] == "tool"]
    assert "h1 applied as the writer changed it:\nII\n" in told[0]
    assert "is of the text as proposed" not in told[0]
    assert told[0].endswith("What was applied:\ncompiler: compiles as before")


def test_what_the_writer_made_of_a_suggestion_is_checked_and_told_to_both(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="suggest")
    session.document(TEXT)
    endpoint.reply(tool_calls(replaced("two", "2")))
    endpoint.reply(answer("Suggested."))
    assert session.ask("Numbers.") == "complete"
    edited = "require('typstai.proposals').edit(..., nil, '#strnog[2] and 1.5 $x^2$')"
    session.editor.lua(edited, session.proposal()["id"])
    session.editor.lua("require('typstai.proposals').accept_all()")
    shows(session, "1 accepted as edited · adds 1 error")
    endpoint.reply(answer("I see."))
    assert session.ask("And now?") == "complete"
    told = [m["content"] for m in endpoint.requests[2].body["messages"] if m["role"] == "tool"]
    assert "What was applied:\ncompiler: adds 1 error\nmain.typ:3: " in told[0]


def test_what_is_left_of_a_suggestion_is_checked_when_only_a_part_is_accepted(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="suggest")
    session.document("= One <one>\n\ntwo\n\nSee @one.\n")
    edits = [{"search": "<one>", "replace": "<first>"}, {"search": "@one", "replace": "@first"}]
    endpoint.reply(tool_calls(("patch_document", {"edits": edits})))
    endpoint.reply(answer("Suggested."))
    assert session.ask("Rename.") == "complete"
    proposal = session.proposal()
    session.editor.lua("require('typstai.proposals').accept(..., { hunk = 'h1' })", proposal["id"])
    session.editor.lua("require('typstai.proposals').reject_all()")
    shows(session, "uncovers 1 error")


def offers(session: Session) -> str:
    """The last line of the last answer, once its receipt can have come."""
    run = session.editor.lua("return _G.sent.ok.run")
    session.editor.wait_for("require('typstai.recovery.receipts').of(...).snapshot", run)
    lines = session.chat().split("\n")
    return next(line for line in reversed(lines) if line.strip().startswith("complete"))


def test_an_answer_of_which_nothing_was_written_offers_no_revert(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="suggest")
    session.document(TEXT)
    endpoint.reply(tool_calls(replaced("two", "2")))
    endpoint.reply(tool_calls(replaced("2", "II")))
    endpoint.reply(answer("Suggested."))
    assert session.ask("Numbers.") == "complete"
    assert "evert" not in offers(session)
    endpoint.reply(tool_calls(replaced("II", "ii")))
    endpoint.reply(answer("Suggested."))
    assert session.ask("Smaller.") == "complete"
    assert "evert" not in offers(session)
    assert "unavailable" not in session.chat()
    session.editor.lua("require('typstai.proposals').accept_all()")
    shows(session, "Revert")
    assert session.chat().count("evert") == 1


def test_a_rejected_suggestion_offers_no_revert(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint, approval="suggest")
    session.document(TEXT)
    endpoint.reply(tool_calls(replaced("two", "2")))
    endpoint.reply(answer("Suggested."))
    assert session.ask("Numbers.") == "complete"
    session.editor.lua("require('typstai.proposals').reject_all()")
    shows(session, "1 rejected")
    assert "evert" not in offers(session)
