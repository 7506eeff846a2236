"""`:TypstAI install` makes an environment in which the plugin runs, with no help from outside."""

from pathlib import Path

from editor import Editor
from session import Session

ROUNDS = 30
"""Waits for pip, each as long as any other wait."""
DONE = "vim.wait(10000, function() return _G.installed ~= nil end, 50)"


def test_the_plugin_runs_in_the_environment_that_it_made_itself(
    editor: Editor, tmp_path: Path
) -> None:
    session = Session(editor, tmp_path)
    editor.lua("vim.g.typstai_python = nil")
    editor.lua("require('typstai.host.install').run(function(ok) _G.installed = ok end)")
    assert any(editor.lua(f"return {DONE}") for _ in range(ROUNDS))
    assert editor.lua("return _G.installed") is True
    session.document("= Hi\n")
    assert session.ask("Is it right?") == "complete"
    assert "no errors, no warnings" in session.chat()
    python = Path(editor.lua("return require('typstai.host').python()"))
    assert python == tmp_path / "data" / "venv" / "bin" / "python"
