"""Models as the user meets them: found, chosen, waited for, paid for, and shown images."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as pillow

from endpoint import Endpoint, Wait, answer, body, failure, tool_calls
from session import Session

CHAT_HAS = "table.concat(require('typstai').chat.lines(), '\\n'):find(..., 1, true)"
LISTED = """
_G.listed = nil
vim.ui.select = function(items, opts, on_choice) _G.listed, _G.pick = items, on_choice end
vim.cmd("TypstAI model")
"""


@pytest.fixture
def other() -> Iterator[Endpoint]:
    with Endpoint() as started:
        yield started


def models_of(*names: str) -> Any:
    return body(json.dumps({"data": [{"id": name} for name in names]}).encode())


def entry(endpoint: Endpoint, **fields: Any) -> dict[str, Any]:
    return {"name": "test", "base_url": endpoint.url, "model": "scripted", **fields}


def told(session: Session) -> None:
    session.editor.lua(
        "_G.told = {} require('typstai.message').sink = function(m) table.insert(_G.told, m) end"
    )


def messages(session: Session) -> str:
    session.editor.wait_for("#_G.told > 0")
    return " ".join(session.editor.lua("return _G.told"))


# --- found and chosen ---------------------------------------------------------------------------


def test_a_local_server_that_answers_is_used_without_any_options(
    session: Session, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.editor.lua("vim.env.OLLAMA_HOST = ...", f"127.0.0.1:{endpoint.port}")
    session.setup()
    session.document("text\n")
    endpoint.reply(models_of("nomic-embed-text", "qwen3:8b"))
    endpoint.reply(answer("Hello."))
    assert session.ask("Hi.") == "complete"
    listed, asked = endpoint.wait_requests(2)
    assert (listed.method, listed.path) == ("GET", "/v1/models")
    assert asked.body["model"] == "qwen3:8b"
    assert session.editor.lua("return require('typstai').status().model") == "ollama"


def test_a_silent_local_server_is_passed_over(session: Session, endpoint: Endpoint) -> None:
    session.editor.lua("vim.env.OLLAMA_HOST = ...", f"127.0.0.1:{endpoint.port}")
    session.setup()
    session.document("text\n")
    endpoint.reply(Wait("never"))
    session.editor.lua(LISTED)
    names = session.editor.wait_for("_G.listed")
    assert "offline" in names
    assert "ollama" not in names
    endpoint.requests[0].connection.wait_closed()


def test_a_key_in_the_environment_offers_its_provider(session: Session) -> None:
    session.editor.lua("vim.env.MISTRAL_API_KEY = 'sk-not-a-real-key'")
    session.setup()
    session.document("text\n")
    session.editor.lua("require('typstai').chat.open()")
    session.editor.wait_for("require('typstai').status().model == 'mistral'")
    assert "sk-not-a-real-key" not in session.log()


def test_the_servers_models_are_listed_and_one_can_be_chosen(
    session: Session, endpoint: Endpoint, other: Endpoint
) -> None:
    session.setup(models=[entry(endpoint), entry(other, name="second")])
    session.document("text\n")
    told(session)
    endpoint.reply(models_of("scripted", "big", "small"))
    other.reply(body(b"<html>", 404, **{"content-type": "text/html"}))
    session.editor.lua(LISTED)
    names = session.editor.wait_for("_G.listed")
    assert names[:3] == ["test", "second", "offline"]
    assert names[-2:] == ["test/big", "test/small"]
    assert "second (http://127.0.0.1" in messages(session)
    assert "lists no models: status 404." in messages(session)
    session.editor.lua("_G.pick('test/small')")
    session.editor.wait_for("require('typstai').status().model == 'test/small'")
    endpoint.reply(answer("Hello."))
    assert session.ask("Hi.") == "complete"
    assert endpoint.requests[1].body["model"] == "small"


def test_a_server_that_does_not_list_in_time_is_a_sentence(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("text\n")
    told(session)
    endpoint.reply(Wait("never"))
    session.editor.lua(LISTED)
    assert "test" in session.editor.wait_for("_G.listed")
    assert "no answer within 3 s" in messages(session)


def test_a_missing_key_is_a_sentence_in_the_chat(session: Session, endpoint: Endpoint) -> None:
    session.setup(models=[entry(endpoint, api_key={"env": "NOT_SET_ANYWHERE"})])
    session.document("text\n")
    session.send("Hi.")
    assert session.finished() == "failed"
    assert "The environment variable NOT_SET_ANYWHERE holds no key; set it." in session.chat()
    assert endpoint.connections == []


# --- waited for ---------------------------------------------------------------------------------


def test_the_countdown_is_shown_and_gone_when_the_answer_comes(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("text\n")
    endpoint.reply(failure(529, "Overloaded", retry_after="1"))
    endpoint.reply(answer("At last."))
    session.send("Hi.")
    session.editor.wait_for(CHAT_HAS, "Trying again in ")
    assert "Overloaded" in session.chat()
    assert session.finished() == "complete"
    assert "At last." in session.chat()
    assert "Trying again" not in session.chat()


def test_the_countdown_can_be_stopped_by_its_key(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint)
    session.document("text\n")
    endpoint.reply(failure(503, "down", retry_after="60"))
    session.send("Hi.")
    session.editor.wait_for(CHAT_HAS, "Trying again in ")
    session.editor.press("<C-c>")
    assert session.finished() == "cancelled"
    assert "Trying again" not in session.chat()
    assert len(endpoint.requests) == 1


def test_a_stop_right_after_sending_is_not_lost(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint)
    session.document("text\n")
    session.editor.lua("require('typstai').chat.open()")
    session.editor.wait_for("require('typstai.chat.views').here().id")
    endpoint.reply(Wait("never"))
    session.editor.lua(
        "require('typstai').send('Hi.', {}, function() end) require('typstai.chat').stop()"
    )
    assert session.finished() == "cancelled"


# --- paid for -----------------------------------------------------------------------------------


def test_tokens_and_money_stand_under_the_answer_and_above_the_chat(
    session: Session, endpoint: Endpoint
) -> None:
    priced = entry(endpoint, price={"input": 1000, "output": 2000})
    session.setup(models=[priced], ui={"width": 0.8})
    session.document("text\n")
    for _ in range(2):
        endpoint.reply(answer("Hello."))
        assert session.ask("Hi.") == "complete"
    assert "17 tok · $0.02" in session.chat()
    session.editor.wait_for("vim.wo.winbar:find('34 tok · $0.04', 1, true)")


def test_a_guess_is_marked_as_one(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint, ui={"width": 0.8})
    session.document("text\n")
    endpoint.reply(answer("Hello.")[0], b"data: [DONE]\n\n")
    assert session.ask("Hi.") == "complete"
    session.editor.wait_for("vim.wo.winbar:find('~[%d.k]+ tok')")
    assert "~" in session.chat()


# --- too long, and tools in words ---------------------------------------------------------------


def test_what_was_left_out_is_said_in_the_chat(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint)
    session.document("text\n")
    endpoint.reply(answer("First."))
    assert session.ask("One. " + "x" * 500) == "complete"
    endpoint.reply(failure(400, "maximum context length is 100 tokens"))
    endpoint.reply(answer("Second."))
    assert session.ask("Two.") == "complete"
    assert "The oldest 2 messages of this chat were not sent" in session.chat()


def test_the_switch_to_tools_in_words_is_offered_and_works(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint, approval="auto")
    document = session.document("teh word\n")
    block = "<<<<<<< SEARCH\nteh word\n=======\nthe word\n>>>>>>> REPLACE\n"
    endpoint.reply(answer(block))
    assert session.ask("Fix it.") == "complete"
    assert session.lines(document) == ["teh word"]
    assert ":TypstAI tools text" in session.chat()
    session.editor.nvim.command("TypstAI tools text")
    endpoint.reply(answer(block))
    endpoint.reply(answer("Done."))
    assert session.ask("Now?") == "complete"
    assert session.lines(document) == ["the word"]
    assert "tools" not in endpoint.requests[1].body


def test_a_model_can_be_switched_in_mid_chat(
    session: Session, endpoint: Endpoint, other: Endpoint
) -> None:
    session.setup(models=[entry(endpoint), entry(other, name="second", preset="mistral")])
    session.document("text\n")
    endpoint.reply(tool_calls(("read_document", {})))
    endpoint.reply(answer("Read."))
    assert session.ask("Read it.") == "complete"
    session.editor.nvim.command("TypstAI model second")
    other.reply(answer("Hello."))
    assert session.ask("And you?") == "complete"
    sent = other.requests[0].body["messages"]
    (call,) = [call for message in sent for call in message.get("tool_calls", ())]
    assert len(call["id"]) == 9
    assert call["id"].isalnum()


# --- images -------------------------------------------------------------------------------------


def picture(session: Session, size: tuple[int, int] = (80, 60)) -> Path:
    path = session.folder / "project" / "fig one.png"
    path.parent.mkdir(exist_ok=True)
    pillow.new("RGB", size).save(path)
    return path


def virtual_lines(session: Session) -> str:
    return session.editor.lua(
        """
        local found = {}
        local namespace = vim.api.nvim_get_namespaces()["typstai.border"]
        local marks = vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })
        for _, line in ipairs(marks[1][4].virt_lines) do
          for _, piece in ipairs(line) do
            table.insert(found, piece[1])
          end
        end
        return table.concat(found, "\\n")
        """
    )


def shows(session: Session, text: str) -> None:
    session.editor.wait_for("vim.bo.filetype == 'typstai'")
    assert text in virtual_lines(session)


def test_an_image_is_listed_sent_as_it_is_then_and_taken_off(
    session: Session, endpoint: Endpoint
) -> None:
    session.setup(models=[entry(endpoint, vision=True)])
    session.document("text\n")
    path = picture(session)
    session.editor.nvim.command(f"TypstAI add image {path}")
    shows(session, "+ image ")
    picture(session, (40, 30))
    endpoint.reply(answer("A figure."))
    assert session.ask("What is it?") == "complete"
    content = endpoint.requests[0].body["messages"][-1]["content"]
    assert "fig one.png (40 x 30 pixels, attached)" in content[0]["text"]
    assert content[1]["image_url"]["url"].startswith("data:image/png;base64,")
    assert "+ image fig one.png 40x30" in session.chat()


def test_a_model_that_does_not_see_is_not_sent_images(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint)
    session.document("text\n")
    session.editor.nvim.command(f"TypstAI add image {picture(session)}")
    shows(session, "+ image ")
    session.send("What is it?")
    assert session.refusal().startswith("The model test takes no images: choose one with `vision")
    assert endpoint.requests == []
    shows(session, "+ image ")
    session.editor.nvim.command("TypstAI remove")
    assert "image" not in virtual_lines(session)
    endpoint.reply(answer("Hello."))
    assert session.ask("Hi.") == "complete"


def test_the_image_in_the_window_can_be_attached(session: Session, endpoint: Endpoint) -> None:
    session.setup(models=[entry(endpoint, vision=True)])
    path = picture(session)
    session.editor.lua("vim.cmd.edit(vim.fn.fnameescape(...))", str(path))
    session.editor.nvim.command("TypstAI add image")
    shows(session, "fig one.png")


@pytest.mark.parametrize(
    ("command", "message"),
    [("add image", "What image?"), ("add image gone.png", "There is no file"), ("add", "What to")],
)
def test_what_cannot_be_attached_is_one_sentence(
    session: Session, command: str, message: str
) -> None:
    session.setup()
    session.document("text\n")
    told(session)
    session.editor.nvim.command(f"TypstAI {command}")
    assert message in messages(session)


def test_more_selections_than_a_message_takes_are_refused_and_the_others_kept(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    document = session.document("\n".join(f"line {number}." for number in range(17)))
    told(session)
    for row in range(1, 18):
        session.show(document)
        session.editor.nvim.command(f"{row}TypstAI add selection")
    assert messages(session) == "A message takes at most 16 selections."
    endpoint.reply(answer("Yes."))
    assert session.ask("Look.") == "complete"
    asked = endpoint.requests[0].body["messages"][-1]["content"]
    assert asked.count("<selection>") == 16
    assert "line 15." in asked and "line 16." not in asked


@pytest.mark.parametrize(("length", "kept"), [(64_000, True), (64_001, False)])
def test_a_selection_longer_than_a_message_takes_is_refused(
    session: Session, endpoint: Endpoint, length: int, kept: bool
) -> None:
    session.use(endpoint)
    session.document("é" * length)
    told(session)
    session.editor.nvim.command("1TypstAI add selection")
    endpoint.reply(answer("Yes."))
    assert session.ask("Look.") == "complete"
    assert ("<selection>" in endpoint.requests[0].body["messages"][-1]["content"]) is kept
    refused = session.editor.lua("return _G.told")
    assert refused == (
        [] if kept else ["A selection may have 64000 characters; the model reads files itself."]
    )


def test_the_default_model_answers_and_not_the_first(
    session: Session, endpoint: Endpoint, other: Endpoint
) -> None:
    session.setup(models=[entry(endpoint), entry(other, name="mine")], default_model="mine")
    session.document("text\n")
    other.reply(answer("Here."))
    assert session.ask("Hi.") == "complete"
    assert (len(endpoint.requests), len(other.requests)) == (0, 1)


def test_a_selection_is_listed_with_its_lines_and_taken_off(
    session: Session, endpoint: Endpoint
) -> None:
    session.use(endpoint)
    session.document("one\ntwo\nthree\n")
    session.editor.feed("jVj:TypstAI add selection<CR>")
    session.editor.wait_for("vim.bo.filetype == 'typstai'")
    assert "main.typ:2-3" in virtual_lines(session)
    session.editor.nvim.command("TypstAI remove")
    assert "selection" not in virtual_lines(session)
