"""Every text action by its key: over a motion, over a selection, and those of the user's own."""

from __future__ import annotations

import pytest

from acting import template
from action_writer import PARAGRAPH, SHORTER, Writer
from endpoint import Endpoint, answer
from session import Session

KEYS = {
    "r": "rephrase",
    "s": "simplify",
    "y": "style",
    "t": "translate",
    "c": "continue",
    "f": "fix",
    "a": "ask",
}


@pytest.fixture
def writer(session: Session, endpoint: Endpoint) -> Writer:
    return Writer(session, endpoint)


@pytest.mark.parametrize("keys", [r"2j\w{}ip", r"2jV\w{}"], ids=["motion", "selection"])
def test_each_key_asks_the_model_for_its_own_action(writer: Writer, keys: str) -> None:
    writer.open()
    for number, (letter, action) in enumerate(KEYS.items()):
        writer.endpoint.reply(answer(SHORTER if action != "continue" else "And more."))
        writer.editor.feed("<Esc>gg" + keys.format(letter))
        if template(action).parameter:
            writer.editor.feed("plain<CR>")
        ended = writer.ended()
        assert (ended["action"], ended["status"]) == (action, "applied")
        system = writer.endpoint.requests[number].body["messages"][0]["content"]
        assert f"Task: {template(action).task}" in system
        assert writer.target(number) == PARAGRAPH
        writer.editor.lua("require('typstai.proposals').reject_all()")


def test_an_action_of_the_users_own_has_a_map_and_is_repeated_by_the_dot(writer: Writer) -> None:
    writer.open(actions={"custom": [{"id": "short", "prompt": "Halve it."}]})
    writer.editor.nvim.command("nmap gs <Plug>(typstai-short)")
    writer.editor.nvim.command("xmap gs <Plug>(typstai-short)")
    writer.endpoint.reply(answer("The first is."))
    writer.endpoint.reply(answer("We measured {1}."))
    writer.editor.feed("2jgsis")
    assert writer.ended()["action"] == "short"
    writer.editor.feed("2j.")
    assert writer.ended()["action"] == "short"
    assert writer.target(0) == "The first sentence is long."
    assert writer.target(1).startswith("We measured 42 runs")
    assert "Task: Halve it." in writer.endpoint.requests[1].body["messages"][0]["content"]


def test_an_id_that_no_map_can_hold_does_no_harm(writer: Writer) -> None:
    writer.open(actions={"custom": [{"id": "a>|b", "prompt": "Halve it."}, {"prompt": "x"}, 7]})
    plugs = [item["lhs"] for item in writer.editor.nvim.api.get_keymap("n")]
    assert "<Plug>(typstai-ask)" in plugs
    assert not [lhs for lhs in plugs if "a>" in lhs]
