"""Ghost text as its user meets it: typed keys, a real model endpoint, a real Neovim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from endpoint import Endpoint, Wait, answer, delta, failure
from session import Session

SHOWN = "require('typstai').ghost.visible()"
TEXT = "The cats sat on"
DRAWN = """
local ns = vim.api.nvim_get_namespaces()["typstai.ghost.view"]
local mark = vim.api.nvim_buf_get_extmarks(0, ns, 0, -1, { details = true })[1]
if not mark then return vim.NIL end
local function text(chunks)
  return table.concat(vim.tbl_map(function(chunk) return chunk[1] end, chunks))
end
local lines = { text(mark[4].virt_text) }
for _, line in ipairs(mark[4].virt_lines or {}) do table.insert(lines, text(line)) end
return { row = mark[2], col = mark[3], lines = lines }
"""


class Writer:
    """Types in a Typst document in which ghost text is on."""

    def __init__(self, session: Session, endpoint: Endpoint) -> None:
        self.session = session
        self.editor = session.editor
        self.endpoint = endpoint
        self.editor.record("TypstAIGhostChanged")
        self._changes = 0

    def use(self, **options: Any) -> None:
        chosen = {"enabled": True, "model": "test", "debounce": 0, **options}
        self.session.use(self.endpoint, autocomplete=chosen)

    def open(self, text: str = "\n", name: str = "main.typ") -> int:
        bufnr = self.session.document(text, name)
        self.editor.lua("vim.bo.filetype = 'typst'")
        return bufnr

    def type(self, keys: str) -> None:
        self.editor.feed(keys)

    def changed(self) -> str:
        """The text that the next change shows."""
        self._changes += 1
        return self.editor.seen("TypstAIGhostChanged", self._changes)[self._changes - 1]["text"]

    def shown(self, text: str) -> None:
        """Wait until exactly that is shown."""
        while self.changed() != text:
            pass
        assert self.editor.lua(f"return {SHOWN}")

    def drawn(self) -> Any:
        return self.editor.lua(DRAWN)

    def lines(self) -> list[str]:
        return self.editor.lines()

    def why(self) -> str:
        return self.editor.lua("return require('typstai').status().ghost")

    def wait_why(self, reason: str) -> None:
        self.editor.wait_for("require('typstai').status().ghost == ...", reason)


@pytest.fixture
def writer(session: Session, endpoint: Endpoint) -> Iterator[Writer]:
    started = Writer(session, endpoint)
    started.use()
    started.open()
    yield started


def test_what_comes_next_is_shown_at_the_cursor_and_not_in_the_buffer(writer: Writer) -> None:
    writer.endpoint.reply(answer(" the", " mat."))
    writer.type("i" + TEXT)
    writer.shown(" the mat.")
    assert writer.drawn() == {"row": 0, "col": len(TEXT), "lines": [" the mat."]}
    assert writer.lines() == [TEXT]


def test_accepting_types_the_text_as_one_undo_step(writer: Writer) -> None:
    writer.endpoint.reply(answer(" the mat."))
    writer.type("i" + TEXT)
    writer.shown(" the mat.")
    writer.type("<Tab>")
    assert writer.lines() == [TEXT + " the mat."]
    assert writer.drawn() is None
    writer.type(" So<Esc>")
    assert writer.lines() == [TEXT + " the mat. So"]
    writer.type("u")
    assert writer.lines() == [TEXT + " the mat."]
    writer.type("u")
    assert writer.lines() == [TEXT]
