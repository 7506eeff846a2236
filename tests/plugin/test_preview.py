"""The rendered page as an attachment: listed, drawn when sent, told of when it cannot be."""

from __future__ import annotations

import base64
import io
import json
import sqlite3
import time
from typing import Any

import pytest
from PIL import Image as pillow

from endpoint import Endpoint, answer
from processes import BOUND_SECONDS, descendants
from session import Session

MODEL = {"name": "test", "model": "scripted", "vision": True}
PAGES = "#set page(width: 200pt, height: 100pt)\nOne\n\n#pagebreak()\nTwo\n"
ENDLESS = "#for i in range(100000) { for j in range(10000) { if j < 0 { j } } }"
GO_TO = """
local bufnr, line = ...
vim.api.nvim_win_set_cursor(vim.fn.bufwinid(bufnr), { line, 0 })
"""
LISTED = """
return vim.tbl_map(function(item) return item.label end, require("typstai.chat.attachments").list())
"""


@pytest.fixture
def seeing(session: Session, endpoint: Endpoint) -> Session:
    session.setup(models=[{**MODEL, "base_url": endpoint.url}])
    session.editor.lua(
        "_G.told = {} require('typstai.message').sink = function(m) table.insert(_G.told, m) end"
    )
    return session


def add(session: Session) -> None:
    session.editor.nvim.command("TypstAI add preview")
    session.editor.wait_for("vim.bo.filetype == 'typstai'")


def labels(session: Session) -> list[str]:
    return session.editor.lua(LISTED)


def sent(endpoint: Endpoint) -> Any:
    """The content of the last message of the last request."""
    return endpoint.requests[-1].body["messages"][-1]["content"]


def opened(part: Any) -> pillow.Image:
    png = base64.b64decode(part["image_url"]["url"].removeprefix("data:image/png;base64,"))
    return pillow.open(io.BytesIO(png), formats=["PNG"])


def test_the_page_under_the_cursor_is_drawn_when_the_message_is_sent(
    seeing: Session, endpoint: Endpoint
) -> None:
    document = seeing.document(PAGES)
    add(seeing)
    (label,) = labels(seeing)
    assert label.startswith("preview ")
    assert label.endswith("main.typ")
    seeing.editor.lua(GO_TO, document, 5)
    endpoint.reply(answer("A page."))
    assert seeing.ask("How does it look?") == "complete"
    text, image = sent(endpoint)
    assert "main.typ (page 2 of 2, rendered; 400 x 200 pixels, attached)" in text["text"]
    assert opened(image).size == (400, 200)
    assert "+ preview main.typ, page 2 of 2, 400x200" in seeing.chat()
    seeing.editor.nvim.command("TypstAI remove")
    endpoint.reply(answer("Yes."))
    assert seeing.ask("Sure?") == "complete"
    assert "image_url" not in str(endpoint.requests[-1].body)
    assert "not attached again" in str(endpoint.requests[-1].body)


def test_unsaved_text_is_what_is_drawn(seeing: Session, endpoint: Endpoint) -> None:
    document = seeing.document(PAGES)
    add(seeing)
    wide = ["#set page(width: 300pt, height: 100pt)"]
    seeing.editor.nvim.api.buf_set_lines(document, 0, 1, True, wide)
    endpoint.reply(answer("Wide."))
    assert seeing.ask("And now?") == "complete"
    text, image = sent(endpoint)
    assert "page 1 of 2" in text["text"]
    assert opened(image).size == (600, 200)


def test_a_model_that_does_not_see_is_sent_no_page(session: Session, endpoint: Endpoint) -> None:
    session.use(endpoint)
    session.document(PAGES)
    add(session)
    session.send("How does it look?")
    assert session.refusal().startswith("The model test takes no images: choose one with `vision")
    assert "take the preview off" in session.refusal()
    assert endpoint.requests == []
    session.editor.nvim.command("TypstAI remove")
    assert labels(session) == []
    endpoint.reply(answer("Hello."))
    assert session.ask("Hi.") == "complete"


def test_a_broken_document_is_told_of_and_the_message_is_sent_without_it(
    seeing: Session, endpoint: Endpoint
) -> None:
    seeing.document("#nothing\n")
    add(seeing)
    endpoint.reply(answer("I cannot see it."))
    assert seeing.ask("How does it look?") == "complete"
    seeing.editor.wait_for("#_G.told > 0")
    sentence = "Sent without the preview of main.typ. The document does not compile: unknown"
    assert sentence in " ".join(seeing.editor.lua("return _G.told"))
    assert sentence in sent(endpoint)
    assert "image_url" not in str(endpoint.requests[-1].body)


def drawing(session: Session) -> None:
    """Wait until the compiler's process has begun its work."""
    host = session.editor.wait_for("require('typstai.host').pid")
    deadline = time.monotonic() + BOUND_SECONDS
    while not any("typst.worker" in item.command for item in descendants(host)):
        assert time.monotonic() < deadline, "nothing is drawn"


@pytest.mark.parametrize("stop", ["<C-c>", "<Cmd>TypstAI stop<CR>"])
def test_a_stop_while_a_page_is_drawn_sends_nothing_and_keeps_the_message(
    seeing: Session, endpoint: Endpoint, stop: str
) -> None:
    document = seeing.document(f"{ENDLESS}\n")
    add(seeing)
    seeing.editor.feed("How does it look?<C-s>")
    drawing(seeing)
    seeing.editor.press(stop)
    seeing.editor.wait_for("#_G.told > 0")
    assert seeing.editor.lua("return _G.told") == ["The message was not sent: you stopped it."]
    assert endpoint.requests == []
    assert len(labels(seeing)) == 1
    assert seeing.lines(0)[-1] == "How does it look?"
    seeing.editor.nvim.api.buf_set_lines(document, 0, 1, True, ["Short."])
    seeing.editor.nvim.command("TypstAI remove")
    endpoint.reply(answer("Well."))
    seeing.editor.feed("<C-s>")
    assert seeing.finished() == "complete"
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("is_known", [True, False])
def test_a_stop_that_overtakes_the_drawing_of_a_page_is_not_lost(
    seeing: Session, endpoint: Endpoint, is_known: bool
) -> None:
    seeing.document(f"{ENDLESS}\n")
    add(seeing)
    if is_known:
        seeing.editor.wait_for("#require('typstai').chat.lines() > 0")
    seeing.editor.feed("How does it look?<C-s>")
    seeing.editor.press("<C-c>")
    seeing.editor.wait_for("#_G.told > 0")
    assert seeing.editor.lua("return _G.told") == ["The message was not sent: you stopped it."]
    assert endpoint.requests == []


def test_a_page_is_attached_once_and_counts_as_an_image(seeing: Session) -> None:
    seeing.document(PAGES)
    add(seeing)
    seeing.editor.nvim.command("TypstAI add preview")  # from the chat: of the same document
    assert len(labels(seeing)) == 1
    for number in range(4):
        path = seeing.folder / "project" / f"{number}.png"
        pillow.new("RGB", (8, 8)).save(path)
        seeing.editor.nvim.command(f"TypstAI add image {path}")
    assert len(labels(seeing)) == 4
    assert "at most 4 images" in " ".join(seeing.editor.lua("return _G.told"))


def thumbnails(session: Session) -> list[int]:
    """Sizes in bytes of what is kept of the images of the only message."""
    with sqlite3.connect(session.data / "chats.sqlite3") as database:
        bodies = [json.loads(body) for (body,) in database.execute("SELECT body FROM turns")]
    (message,) = (body for body in bodies if body["role"] == "user")
    return [len(base64.b64decode(image["thumbnail"])) for image in message["images"]]


def test_each_image_is_a_line_of_the_message_and_two_small_thumbnails_are_kept(
    seeing: Session, endpoint: Endpoint
) -> None:
    seeing.document(PAGES)
    seeing.setup(models=[{**MODEL, "base_url": endpoint.url}], ui={"width": 0.8})
    add(seeing)
    for number, side in enumerate((900, 700, 50)):
        path = seeing.folder / "project" / f"{number}.png"
        pillow.effect_noise((side, side), 90).save(path)
        seeing.editor.nvim.command(f"TypstAI add image {path}")
    endpoint.reply(answer("Four."))
    assert seeing.ask("What are they?") == "complete"
    lines = [
        "+ image 0.png 900x900",
        "+ image 1.png 700x700",
        "+ image 2.png 50x50",
        "+ preview main.typ, page 1 of 2, 400x200",
    ]
    assert "\n".join(lines) in seeing.chat()
    assert [0 < size <= 200 * 1024 for size in thumbnails(seeing)] == [True, True, False, False]


def test_a_file_of_another_kind_has_no_preview(seeing: Session) -> None:
    seeing.document("text\n", name="notes.txt")
    seeing.editor.nvim.command("TypstAI add preview")
    assert labels(seeing) == []
    assert "Typst document" in " ".join(seeing.editor.lua("return _G.told"))
