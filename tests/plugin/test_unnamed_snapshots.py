"""Snapshots of a buffer without a name outlive it, and are found in another one."""

from __future__ import annotations

import re

from editor import start_editor
from endpoint import Endpoint, answer, tool_calls
from session import Session

LINES = ["= Report", "", "One.", "Two."]
WRITTEN = [*LINES[:3], "2."]
_CHOOSE = """
vim.ui.select = function(items, opts, choose)
  _G.asked = vim.tbl_map(opts.format_item, items)
  choose(items[1], 1)
end
"""


def test_what_was_kept_of_an_unnamed_buffer_is_put_into_another_after_a_restart(
    session: Session, endpoint: Endpoint, nvim_binary: str
) -> None:
    first = session.editor
    session.use(endpoint, approval="auto")
    first.nvim.command(f"cd {session.folder} | setfiletype typst")
    first.nvim.api.buf_set_lines(0, 0, -1, True, LINES)
    endpoint.reply(tool_calls(("search_replace", {"search": "Two.", "replace": "2."})))
    endpoint.reply(answer("Done."))
    assert session.ask("Numbers.") == "complete"
    run = first.lua("return _G.sent.ok.run")
    first.wait_for("require('typstai.recovery.receipts').of(...).snapshot", run)
    with start_editor(nvim_binary) as second:
        second.nvim.command(f"cd {session.folder}")
        Session(second, session.folder).use(endpoint)
        second.lua(_CHOOSE)
        second.nvim.command("TypstAI snapshots")
        (line,) = second.wait_for("_G.asked")
        assert re.search(r"unnamed, \d{4}-\d\d-\d\d \d\d:\d\d$", line)
        second.wait_for("vim.wo.winbar:find('restore', 1, true)")
        second.feed("<CR>")
        second.wait_for("vim.api.nvim_buf_get_lines(0, 0, -1, true)[4] == '2.'")
        assert second.lines() == WRITTEN
        second.feed("u")
        assert second.lines() == [""]
