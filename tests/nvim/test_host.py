"""The helper process: started on first use, restarted after a crash, explained when broken."""

import os
import signal
import sys
from pathlib import Path

import pytest

from editor import Editor, start_editor
from endpoint import Endpoint, Wait, answer, delta
from processes import descendants, wait_gone
from session import Session

PID = "return require('typstai.host').pid"


def start_host(session: Session) -> int:
    session.document("text\n")
    session.editor.nvim.command("TypstAI")
    session.editor.seen("TypstAIHostStarted")
    return session.editor.lua(PID)


def test_nothing_starts_before_the_first_use(editor: Editor) -> None:
    assert editor.lua("return require('typstai.host').state") == "stopped"
    assert editor.lua("return package.loaded['typstai.rpc']") is None


def test_loading_the_plugin_costs_less_than_a_millisecond(editor: Editor) -> None:
    source = "local t = vim.uv.hrtime(); dofile(...); return (vim.uv.hrtime() - t) / 1e6"
    editor.lua("vim.g.loaded_typstai = nil")
    path = str(Path(__file__).parents[2] / "plugin" / "typstai.lua")
    assert min(editor.lua("vim.g.loaded_typstai = nil; " + source, path) for _ in range(5)) < 1


def test_a_killed_host_is_started_again_with_one_message(session: Session) -> None:
    pid = start_host(session)
    session.editor.lua("_G.told = {} vim.notify = function(t) table.insert(_G.told, t) end")
    os.kill(pid, signal.SIGKILL)
    session.editor.seen("TypstAIHostLost")
    session.editor.seen("TypstAIHostStarted", 2)
    assert session.editor.lua(PID) != pid
    told = session.editor.lua("return _G.told")
    assert told == ["The helper process ended and was started again. See :TypstAI log."]


def test_a_host_killed_in_a_run_loses_nothing_and_the_next_send_works(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("text\n")
    endpoint.reply(delta("Half an answer"), Wait("never"))
    endpoint.reply(answer("Whole."))
    session.send("Speak.")
    session.editor.wait_for(
        "table.concat(require('typstai').chat.lines(), '\\n'):find('Half an', 1, true)"
    )
    os.kill(session.editor.lua(PID), signal.SIGKILL)
    session.editor.seen("TypstAIHostStarted", 2)
    assert "Half an answer" in session.chat()
    assert "Speak." in session.chat()
    assert session.editor.lua("return require('typstai').status().running") is False
    assert session.ask("Once more.") == "complete"
    sent = [m["content"] for m in endpoint.requests[1].body["messages"] if m["role"] == "user"]
    assert "".join(sent).count("Speak.") == "".join(sent).count("Once more.") == 1


def test_a_host_that_keeps_ending_stays_down_and_says_so(session: Session) -> None:
    start_host(session)
    session.editor.lua("_G.told = {} vim.notify = function(t) table.insert(_G.told, t) end")
    for number in range(1, 5):
        os.kill(session.editor.lua(PID), signal.SIGKILL)
        session.editor.seen("TypstAIHostLost", number)
        if number < 4:
            session.editor.seen("TypstAIHostStarted", number + 1)
    assert "keeps ending" in session.editor.lua("return _G.told[#_G.told]")
    assert session.editor.lua("return require('typstai.host').state") == "stopped"


@pytest.mark.parametrize("how", ["quit", "kill"])
def test_closing_neovim_leaves_no_process_behind(
    nvim_binary: str, tmp_path: Path, how: str
) -> None:
    with start_editor(nvim_binary) as editor:
        session = Session(editor, tmp_path)
        session.document("= Hi\n")
        assert session.ask("Check it.") == "complete"
        host = editor.lua(PID)
        workers = [child.pid for child in descendants(host)]
        assert workers, "the compiler's worker should be running"
        if how == "kill":
            editor.process.kill()
            editor.process.wait()
    wait_gone(host)
    for worker in workers:
        wait_gone(worker)


def explain(session: Session, python: str) -> str:
    session.editor.lua("vim.g.typstai_python = ...", python)
    session.document("text\n")
    session.send("Hello.")
    message = session.refusal()
    session.editor.nvim.command("checkhealth typstai")
    health = "\n".join(session.lines(0))
    assert "ERROR" in health
    return message


def script(folder: Path, *lines: str) -> str:
    path = folder / "python"
    path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_a_missing_interpreter_is_explained(session: Session) -> None:
    assert "/no/python cannot be run" in explain(session, "/no/python")


def test_no_interpreter_at_all_says_to_install(session: Session) -> None:
    session.editor.lua("vim.g.typstai_python = nil")
    session.document("text\n")
    session.send("Hello.")
    assert session.refusal().startswith("typstai has no Python yet: run :TypstAI install")
    session.editor.nvim.command("checkhealth typstai")
    assert "Run :TypstAI install" in "\n".join(session.lines(0))


def test_an_interpreter_without_pynvim_is_explained(session: Session, tmp_path: Path) -> None:
    python = script(tmp_path, f'exec {sys.executable} -I -S "$@"')
    assert "has no pynvim: run :TypstAI install" in explain(session, python)


def test_an_old_interpreter_is_explained(session: Session, tmp_path: Path) -> None:
    python = script(tmp_path, 'echo "Unknown option: -P" >&2', "exit 2")
    assert "is older than Python 3.11" in explain(session, python)


def test_a_broken_interpreter_is_told_once(session: Session, tmp_path: Path) -> None:
    session.editor.lua("_G.told = {} vim.notify = function(t) table.insert(_G.told, t) end")
    session.editor.lua(
        "vim.g.typstai_python = ...", script(tmp_path, f'exec {sys.executable} -I -S "$@"')
    )
    session.document("text\n")
    session.editor.nvim.command("TypstAI")
    session.editor.wait_for("require('typstai.host').state == 'failed'")
    session.editor.wait_for("#_G.told > 0")
    (told,) = session.editor.lua("return _G.told")
    assert "has no pynvim" in told


def test_a_missing_package_is_named(session: Session, tmp_path: Path) -> None:
    (tmp_path / "msgspec.py").write_text("raise ImportError(\"No module named 'msgspec'\")",
                                         encoding="utf-8")  # fmt: skip
    python = script(tmp_path, "shift 2", f'PYTHONPATH={tmp_path} exec {sys.executable} -P "$@"')
    assert "misses the package msgspec: run :TypstAI install" in explain(session, python)


def test_two_halves_of_different_versions_are_told_apart(session: Session) -> None:
    session.editor.lua("require('typstai.rpc').PROTOCOL = 0")
    session.document("text\n")
    session.send("Hello.")
    assert "The Lua half speaks version 0 and the Python half" in session.refusal()
    session.editor.nvim.command("checkhealth typstai")
    assert "version" in "\n".join(session.lines(0))


def test_an_old_neovim_gets_one_sentence(editor: Editor) -> None:
    source = """
        vim.g.loaded_typstai = nil
        local has = vim.fn.has
        vim.fn.has = function(what) return what == "nvim-0.10" and 0 or has(what) end
        local told
        vim.notify = function(text) told = text end
        dofile(...)
        vim.cmd("TypstAI")
        return told
    """
    path = str(Path(__file__).parents[2] / "plugin" / "typstai.lua")
    assert editor.lua(source, path) == "typstai needs Neovim 0.10 or later."


def test_options_that_are_set_again_hold_from_the_next_use(
    session: Session, endpoint: Endpoint
) -> None:
    session.document("text\n")
    assert session.ask("Is it right?") == "complete"
    session.use(endpoint)
    endpoint.reply(answer("From the model."))
    assert session.ask("Hello.") == "complete"
    assert "From the model." in session.chat()


def test_update_remote_plugins_does_no_harm(
    nvim_binary: str, endpoint: Endpoint, tmp_path: Path
) -> None:
    manifest = tmp_path / "rplugin.vim"
    with start_editor(nvim_binary) as editor:
        editor.nvim.vars["python3_host_prog"] = sys.executable
        editor.nvim.vars["loaded_remote_plugins"] = str(manifest)
        editor.nvim.command("silent UpdateRemotePlugins")
    assert "python3 plugins" in manifest.read_text(encoding="utf-8")
    with start_editor(nvim_binary, "-c", f"source {manifest}") as editor:
        session = Session(editor, tmp_path)
        session.use(endpoint)
        session.document("text\n")
        endpoint.reply(answer("Hello."))
        assert session.ask("Hello.") == "complete"
        assert session.editor.messages() == ""


def test_a_project_with_modules_of_the_same_names_does_not_get_into_the_host(
    session: Session, tmp_path: Path
) -> None:
    for name in ("typst.py", "httpx.py", "pynvim.py"):
        (tmp_path / name).write_text("raise SystemExit('wrong module')", encoding="utf-8")
    session.editor.nvim.command(f"cd {tmp_path}")
    session.editor.lua("vim.env.PYTHONPATH = ...", str(tmp_path))
    session.document("= Hi\n")
    assert session.ask("Check it.") == "complete"
    assert "no errors, no warnings" in session.chat()
