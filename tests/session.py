"""The whole plugin as a user has it: a real Neovim, the real host, a scripted endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from editor import Editor
from endpoint import Endpoint

SETUP = "require('typstai').setup(...)"
SEND = """
require('typstai').send(..., {}, function(err, result)
  _G.sent = { err = err, ok = result }
end)
"""
PROPOSAL = "require('typstai').proposals.list()[1]"


class Session:
    """Drives one Neovim through the public API and its keys, never through internals."""

    def __init__(self, editor: Editor, folder: Path) -> None:
        self.editor = editor
        self.folder = folder
        self.data = folder / "data"
        editor.lua("vim.g.typstai_data = ...", str(self.data))
        editor.record("TypstAIRunFinished", "TypstAIProposal", "TypstAIProposalResolved")
        editor.record("TypstAIHostStarted", "TypstAIHostLost", "TypstAIApprovalRequested")
        self._runs = 0

    def setup(self, **options: Any) -> None:
        self.editor.lua(SETUP, options)

    def use(self, endpoint: Endpoint, **options: Any) -> None:
        """Make `endpoint` the only configured model."""
        model = {"name": "test", "base_url": endpoint.url, "model": "scripted"}
        self.setup(models=[model], **options)

    def document(self, text: str, name: str = "main.typ") -> int:
        return self.editor.open(self.folder / "project" / name, text)

    def send(self, text: str) -> None:
        """Send and wait until the host has taken it (or refused)."""
        self.editor.lua("_G.sent = nil")
        self.editor.lua(SEND, text)
        self.editor.wait_for("_G.sent")

    def refusal(self) -> str:
        """Why the last send was refused; empty when it was taken."""
        return self.editor.lua("return _G.sent.err and _G.sent.err.message or ''")

    def finished(self) -> str:
        """Wait for the end of the next run; its status."""
        self._runs += 1
        return self.editor.seen("TypstAIRunFinished", self._runs)[-1]["status"]

    def ask(self, text: str) -> str:
        """Send and wait for the end; the status."""
        self.send(text)
        assert self.refusal() == ""
        return self.finished()

    def proposal(self) -> dict[str, Any]:
        """Wait until a proposal is pending; it."""
        return self.editor.wait_for(PROPOSAL)

    def chat(self) -> str:
        return "\n".join(self.editor.lua("return require('typstai').chat.lines()"))

    def lines(self, bufnr: int) -> list[str]:
        return self.editor.lines(bufnr)

    def show(self, bufnr: int) -> None:
        """Put the cursor into the window of the document."""
        self.editor.lua("vim.api.nvim_set_current_win(vim.fn.bufwinid(...))", bufnr)

    def write(self, bufnr: int) -> None:
        """Save the document as `:write` does."""
        self.editor.lua("vim.api.nvim_buf_call(..., function() vim.cmd.write() end)", bufnr)

    def log(self) -> str:
        path = Path(self.editor.lua("return require('typstai.host').log_file()"))
        return path.read_text(encoding="utf-8") if path.exists() else ""
