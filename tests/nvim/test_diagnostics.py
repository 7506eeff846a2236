"""What the compiler finds is shown through `vim.diagnostic`, of exactly the current text."""

from typing import Any

from session import Session

SHOWN = "return vim.diagnostic.get(...)"


def start(session: Session) -> None:
    session.editor.record("TypstAIDiagnostics")
    session.editor.lua("require('typstai').chat.open()")
    session.editor.wait_for("#require('typstai').chat.lines() > 0")


def shown(session: Session, bufnr: int, count: int) -> list[dict[str, Any]]:
    session.editor.wait_for("#vim.diagnostic.get((...)) == select(2, ...)", bufnr, count)
    return session.editor.lua(SHOWN, bufnr)


def test_an_error_is_shown_at_its_byte_columns_and_goes_when_it_is_mended(
    session: Session,
) -> None:
    document = session.document("日本 #strnog[x]\n")
    start(session)
    (found,) = shown(session, document, 1)
    assert (found["lnum"], found["col"], found["end_col"]) == (0, 8, 14)
    assert found["message"].startswith("unknown variable: strnog")
    session.show(document)
    session.editor.feed(":s/strnog/strong<CR>")
    shown(session, document, 0)


def test_an_unsaved_chapter_is_checked_as_it_stands_in_its_buffer(session: Session) -> None:
    main = session.document('#include "one.typ"\n', "main.typ")
    chapter = session.document("fine\n", "one.typ")
    session.editor.lua("vim.bo[...].modified = true", chapter)
    start(session)
    session.show(chapter)
    session.editor.feed("ccA #strnog[x]<Esc>")
    (found,) = shown(session, chapter, 1)
    assert found["lnum"] == 0
    assert session.editor.lua(SHOWN, main) == []


def test_a_language_server_is_left_to_speak_for_itself(session: Session) -> None:
    document = session.document("#strnog[x]\n")
    session.editor.lua(
        """
        vim.lsp.start({ name = "tinymist", cmd = function()
          return {
            request = function(method, _, callback)
              callback(nil, method == "initialize" and { capabilities = {} } or nil)
              return true, 1
            end,
            notify = function() return true end,
            is_closing = function() return false end,
            terminate = function() end,
          }
        end }, { bufnr = ... })
        """,
        document,
    )
    session.editor.wait_for("#vim.lsp.get_clients({ bufnr = (...) }) == 1", document)
    assert session.ask("Check it.") == "complete"
    assert "unknown variable" in session.chat()
    assert session.editor.lua(SHOWN, document) == []


def test_it_can_be_switched_off(session: Session) -> None:
    session.setup(typst={"diagnostics": False})
    document = session.document("#strnog[x]\n")
    assert session.ask("Check it.") == "complete"
    assert session.editor.lua(SHOWN, document) == []
