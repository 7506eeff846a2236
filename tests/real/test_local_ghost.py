"""Ghost text by the real small model, where it is installed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest

from processes import descendants
from typstai import settings
from typstai.app.ghost import Ghost
from typstai.app.models import Models
from typstai.local.server import find_packages


@pytest.fixture
async def ghost() -> AsyncIterator[Ghost]:
    if find_packages() is None:
        pytest.skip("the extra `local` is not installed")
    options = settings.parse({"autocomplete": {"model": "local"}})
    models = Models(options)
    started = Ghost(options.autocomplete, models)
    yield started
    await started.close()
    await models.close()


def servers() -> list[int]:
    return [process.pid for process in descendants(os.getpid())]


def place(number: int, above: str) -> dict[str, Any]:
    text = {"above": above, "below": "", "filetype": "typst"}
    return {"id": number, "bufnr": 1, "row0": 0, **text}


async def test_it_goes_on_with_the_sentence_and_within_a_word(ghost: Ghost) -> None:
    week = await ghost.complete(place(1, "Monday, Tuesday, Wednesday, Thursday,"))
    assert week["text"].startswith(" Friday")
    word = await ghost.complete(place(2, "The capital of France is Par"))
    assert word["text"][0].isalpha()


async def test_giving_up_a_request_does_not_end_the_start_of_the_model(ghost: Ghost) -> None:
    first = asyncio.create_task(ghost.complete(place(1, "One, two,")))
    while not servers():
        await asyncio.sleep(0)
    starting = servers()
    second = asyncio.create_task(ghost.complete(place(2, "One, two, three, four,")))
    assert (await first)["reason"] == "cancelled"
    assert (await second)["text"].startswith(" five")
    assert servers() == starting


async def test_closing_ends_a_model_that_is_starting(ghost: Ghost) -> None:
    asked = asyncio.create_task(ghost.complete(place(1, "One, two,")))
    while not servers():
        await asyncio.sleep(0)
    await ghost.close()
    assert (await asked)["reason"] == "cancelled"
    assert servers() == []
