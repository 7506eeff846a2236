"""Images: read when sent, bounded, seen once, remembered as a thumbnail."""

from __future__ import annotations

import asyncio
import base64
import io
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from PIL import Image as pillow

from chatting import Chat
from endpoint import Endpoint, answer
from typstai.agent import images
from typstai.agent.images import ImageError, attach
from typstai.agent.providers.client import HttpClients
from typstai.domain.chat import Picture, UserTurn, turn_from_dict, turn_to_dict
from typstai.storage import turns as stored


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with Endpoint() as started:
        yield started


@pytest.fixture
async def clients() -> AsyncIterator[HttpClients]:
    made = HttpClients()
    yield made
    await made.aclose()


def draw(path: Path, size: tuple[int, int] = (80, 60), *, noise: bool = False) -> str:
    picture = pillow.effect_noise(size, 90).convert("RGB") if noise else pillow.new("RGB", size)
    picture.save(path)
    return str(path)


def opened(png: bytes) -> pillow.Image:
    return pillow.open(io.BytesIO(png), formats=["PNG"])


async def refusal(path: Path) -> str:
    with pytest.raises(ImageError) as raised:
        await attach((str(path),), ("shown.png",))
    return str(raised.value)


@pytest.mark.parametrize("kind", ["png", "jpg", "webp", "gif", "bmp", "tiff"])
async def test_every_usual_format_is_sent_as_png(tmp_path: Path, kind: str) -> None:
    (found,) = await attach((draw(tmp_path / f"a.{kind}"),), (f"a.{kind}",))
    assert opened(found.sent.png).size == (80, 60)
    assert found.kept == Picture(
        path=f"a.{kind}", width=80, height=60, thumbnail=found.kept.thumbnail
    )


async def test_a_large_image_is_scaled_down_within_both_bounds(tmp_path: Path) -> None:
    path = draw(tmp_path / "large.png", (3000, 2000), noise=True)
    (found,) = await attach((path,), ("large.png",))
    assert len(found.sent.png) <= images.MAX_PNG_BYTES
    assert max(opened(found.sent.png).size) <= images.LONGEST_SIDE
    assert (found.kept.width, found.kept.height) == (3000, 2000)
    thumbnail = base64.b64decode(found.kept.thumbnail)
    assert 0 < len(thumbnail) <= 200 * 1024
    assert max(opened(thumbnail).size) <= 256


async def test_two_of_four_images_keep_a_thumbnail(tmp_path: Path) -> None:
    paths = tuple(draw(tmp_path / f"{n}.png") for n in range(4))
    found = await attach(paths, paths)
    assert [bool(image.kept.thumbnail) for image in found] == [True, True, False, False]
    with pytest.raises(ImageError, match="at most 4"):
        await attach((*paths, paths[0]), (*paths, paths[0]))


async def test_metadata_does_not_leave_the_machine(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    picture, exif = pillow.new("RGB", (8, 4)), pillow.Exif()
    exif[0x010E], exif[0x0112] = "my home address", 6
    picture.save(path, exif=exif)
    (found,) = await attach((str(path),), ("a.jpg",))
    assert b"home address" not in found.sent.png
    assert opened(found.sent.png).size == (4, 8)  # turned upright, as the metadata asked


@pytest.mark.parametrize(
    "content", [b"", b"not an image", b"\x89PNG\r\n\x1a\n" + b"\0" * 40, b"<svg/>", b"%PDF-1.7"]
)
async def test_a_damaged_or_foreign_file_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(content)
    assert (await refusal(path)).startswith("The image shown.png is damaged, or none of PNG")


async def test_a_file_cut_in_its_pixels_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    draw(path, (200, 200), noise=True)
    path.write_bytes(path.read_bytes()[:5000])
    assert "damaged" in await refusal(path)


async def test_a_bomb_of_pixels_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.png"
    draw(path, (2000, 2000))
    monkeypatch.setattr(images, "MAX_PIXELS", 1_000_000)
    assert "more than 1,000,000 pixels" in await refusal(path)
    monkeypatch.setattr(images, "MAX_FILE_BYTES", 100)
    assert "larger than" in await refusal(path)


async def test_what_is_gone_or_no_file_is_one_sentence(tmp_path: Path) -> None:
    assert "There is no image shown.png" in await refusal(tmp_path / "gone.png")
    os.mkfifo(tmp_path / "pipe.png")
    assert "There is no image shown.png" in await refusal(tmp_path / "pipe.png")


async def test_decoding_does_not_block_the_loop(tmp_path: Path) -> None:
    path = draw(tmp_path / "large.png", (2000, 2000), noise=True)
    turns = 0
    work = asyncio.ensure_future(attach((path,), ("large.png",)))
    while not work.done():
        turns += 1
        await asyncio.sleep(0)
    await work
    assert turns > 10


async def test_an_image_is_seen_with_its_message_and_not_again(
    tmp_path: Path, server: Endpoint, clients: HttpClients
) -> None:
    server.reply(answer("A figure."))
    server.reply(answer("As I said."))
    chat = Chat(server, clients)
    attached = await attach((draw(tmp_path / "fig.png"),), ("fig.png",))
    await chat.run("What is this?", attached)
    await chat.run("And again?")
    first, second = (request.body["messages"] for request in server.requests)
    text, image = first[1]["content"]
    assert "fig.png (80 x 60 pixels, attached)" in text["text"]
    png = base64.b64decode(image["image_url"]["url"].removeprefix("data:image/png;base64,"))
    assert opened(png).size == (80, 60)
    assert "base64" not in str(second)
    assert "not attached again" in second[1]["content"]


async def test_only_the_thumbnail_is_kept(
    tmp_path: Path, server: Endpoint, clients: HttpClients
) -> None:
    server.reply(answer("A figure."))
    chat = Chat(server, clients)
    attached = await attach((draw(tmp_path / "f.png", (600, 600), noise=True),), ("f.png",))
    await chat.run("What is this?", attached)
    turn = chat.conversation.turns[0]
    assert isinstance(turn, UserTurn)
    body = stored.encode(turn)
    assert len(body) < 300_000
    assert base64.b64encode(attached[0].sent.png).decode() not in body
    assert turn_from_dict(turn_to_dict(turn)) == turn
    for level in stored.REDUCTIONS:
        reduced = stored.reduced(turn, level)
        assert isinstance(reduced, UserTurn)
        assert reduced.images == (Picture(path="f.png", width=600, height=600),)
