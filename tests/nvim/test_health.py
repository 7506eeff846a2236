""":checkhealth typstai: what is missing or unknown is named, and nothing is started to see it."""

from __future__ import annotations

from typing import Any

import pytest

from session import Session

MINE = {"name": "mine", "base_url": "http://127.0.0.1:9/v1", "model": "m"}


def health(session: Session) -> str:
    session.editor.nvim.command("checkhealth typstai")
    text = "\n".join(session.lines(0))
    session.editor.nvim.command("bwipeout!")
    assert session.editor.lua("return require('typstai').status().host") == "stopped"
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("option", "options"),
    [
        ("default_model", {"default_model": "gpt-99"}),
        ("actions.model", {"actions": {"model": "gpt-99"}}),
        ("autocomplete.model", {"autocomplete": {"model": "gpt-99"}}),
    ],
)
def test_an_unknown_model_is_named_with_those_there_are(
    session: Session, option: str, options: dict[str, Any]
) -> None:
    session.setup(models=[MINE], **options)
    assert f"{option}: no model is named 'gpt-99'. There are: mine, offline" in health(session)


@pytest.mark.parametrize("name", ["mine", "offline", "mine/another"])
def test_a_model_that_may_be_there_is_no_problem(session: Session, name: str) -> None:
    session.setup(models=[MINE], default_model=name, actions={"model": name})
    found = health(session)
    assert "The options are valid." in found
    assert "mine: http://127.0.0.1:9" in found


KEYS = [
    ({**MINE, "api_key": {"env": "MY_KEY"}}, "MY_KEY"),
    ({"name": "mine", "preset": "openai"}, "OPENAI_API_KEY"),
]


@pytest.mark.parametrize(("model", "variable"), KEYS)
def test_a_variable_for_a_key_is_named_and_its_value_is_not(
    session: Session, model: dict[str, Any], variable: str
) -> None:
    session.setup(models=[model])
    assert f"mine: the variable {variable} is not set." in health(session)
    session.editor.lua(f"vim.env.{variable} = 'sk-secret-value'")
    found = health(session)
    assert f"key from env {variable}" in found
    assert "sk-secret-value" not in found


def test_what_only_the_python_half_knows_to_be_wrong_is_told_too(session: Session) -> None:
    session.setup(models=[{"name": "m", "base_url": 3}], tools={"disable": ["nosuch"]})
    found = health(session)
    assert "models[1].base_url" in found
    assert "there is no tool nosuch" in found


TAKEN = [
    (r"nnoremap <LocalLeader>w :write<CR>", {r"\wr", r"\ws", r"\wf"}, r"\w"),
    (r"nnoremap <LocalLeader>wrx :write<CR>", {r"\wr"}, r"\wrx"),
    (r"nnoremap <LocalLeader>ws :write<CR>", {r"\ws"}, r"\ws"),
    (r"autocmd FileType typst nnoremap <buffer> <LocalLeader>w :write<CR>", {r"\wr"}, r"\w"),
]


@pytest.mark.parametrize(("command", "left_out", "theirs"), TAKEN)
def test_a_key_that_would_delay_or_hide_the_users_own_is_left_out_and_told(
    session: Session, command: str, left_out: set[str], theirs: str
) -> None:
    session.editor.nvim.command(command)
    session.document("text\n")
    nvim = session.editor.nvim
    assert left_out.isdisjoint(item["lhs"] for item in nvim.api.buf_get_keymap(0, "n"))
    assert nvim.funcs.maparg(theirs, "n") == ":write<CR>"
    visual = {item["lhs"] for item in nvim.api.buf_get_keymap(0, "x")}
    assert left_out <= visual
    found = health(session)
    for key in left_out:
        assert f"{key} (" in found
    assert f"your key {theirs} has its place" in found


def test_a_short_key_that_waits_for_nothing_takes_no_key_away(session: Session) -> None:
    session.editor.nvim.command(r"nnoremap <nowait> <LocalLeader>w :write<CR>")
    session.document("text\n")
    assert session.editor.nvim.funcs.maparg(r"\wr", "n") == "<Plug>(typstai-rephrase)"


def test_other_keys_are_no_reason_to_leave_any_out(session: Session) -> None:
    session.editor.nvim.command("let g:maplocalleader = ','")
    session.editor.nvim.command(r"nnoremap \w :write<CR>")
    session.document("text\n")
    assert session.editor.nvim.funcs.maparg(",wr", "n") == "<Plug>(typstai-rephrase)"
    assert "No key of the text actions is in the way of yours." in health(session)
