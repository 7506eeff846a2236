"""The line below the prompt while something in the chat waits for the user."""

from __future__ import annotations

from endpoint import Endpoint, answer, tool_calls
from session import Session

HINT = """
(function()
  local ns = vim.api.nvim_get_namespaces()["typstai.prompt"]
  local bufnr = vim.fn.bufnr("typstai://")
  local mark = vim.api.nvim_buf_get_extmarks(bufnr, ns, 0, -1, { details = true })[1]
  local lines = vim.iter(mark[4].virt_lines):map(function(line) return line[1][1] end)
  return lines:map(vim.trim):join(" · ")
end)()
"""
EDIT = {"edits": [{"search": "The bridge is old.", "replace": "The bridge is new."}]}
KEYS = "]c next · \\a accept · \\r reject"


def test_the_hint_says_how_to_decide_and_where_until_it_is_decided(
    session: Session, endpoint: Endpoint
) -> None:
    endpoint.reply(tool_calls(("patch_document", EDIT)))
    endpoint.reply(answer("Done."))
    session.use(endpoint)
    document = session.document("x\n" * 99 + "The bridge is old.\n")
    session.send("Go")
    session.proposal()
    session.editor.wait_for(f"{HINT}:find('next', 1, true)")
    assert session.editor.lua(f"return {HINT}") == f"1 hunk in main.typ:100 · {KEYS}"
    session.editor.lua("require('typstai').proposals.accept(...)", session.proposal()["id"])
    assert session.finished() == "complete"
    session.editor.wait_for(f"{HINT}:find('help', 1, true)")
    assert session.lines(document)[99] == "The bridge is new."
