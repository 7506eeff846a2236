"""Ghost text between Lua's question and a real endpoint: kept, given up, waited out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from endpoint import DONE, Endpoint, Wait, answer, chunk, delta, failure, finish, thought
from typstai import settings
from typstai.app.ghost import FIRST_PAUSE_S, MAX_TOKENS, Ghost
from typstai.app.models import Models

ABOVE = "A paragraph before.\n\nThe cats sat on"


class Clock:
    """Time that passes only when the test says so."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Desk:
    """Asks as Lua does."""

    def __init__(self, endpoint: Endpoint, **options: Any) -> None:
        model = {"name": "test", "base_url": endpoint.url, "model": "scripted", **options}
        parsed = settings.parse({"models": [model], "autocomplete": {"model": "test"}})
        self.clock = Clock()
        self.models = Models(parsed)
        self.ghost = Ghost(parsed.autocomplete, self.models, self.clock)
        self._id = 0

    async def ask(self, above: str = ABOVE, below: str = "", **other: Any) -> dict[str, Any]:
        self._id += 1
        return await self.ghost.complete(
            {
                "id": self._id,
                "bufnr": 1,
                "row0": 2,
                "above": above,
                "below": below,
                "filetype": "typst",
                **other,
            }
        )


@pytest.fixture
async def desk(endpoint: Endpoint) -> AsyncIterator[Desk]:
    started = Desk(endpoint)
    yield started
    await started.ghost.close()
    await started.models.close()


async def test_a_request_is_short_and_holds_the_place_as_data(
    desk: Desk, endpoint: Endpoint
) -> None:
    endpoint.reply(answer("on the mat."))
    found = await desk.ask(below="\n\nA paragraph after.")
    assert found == {"text": " the mat.", "reason": ""}
    body = endpoint.requests[0].body
    assert body["max_tokens"] == MAX_TOKENS
    assert "tools" not in body
    system, user = (message["content"] for message in body["messages"])
    assert "cats" not in system
    assert "<before>\nA paragraph before.\n</before>" in user
    assert "<after>\nA paragraph after.\n</after>" in user
    assert user.endswith("<passage>\nThe cats sat on\n</passage>")


async def test_a_lower_limit_of_the_model_holds(endpoint: Endpoint) -> None:
    desk = Desk(endpoint, max_tokens=7)
    endpoint.reply(answer(" it"))
    await desk.ask()
    await desk.models.close()
    assert endpoint.requests[0].body["max_tokens"] == 7


async def test_the_same_place_is_asked_about_once(desk: Desk, endpoint: Endpoint) -> None:
    endpoint.reply(answer(" the mat."))
    endpoint.reply(answer(" it."))
    first = await desk.ask()
    assert await desk.ask() == first
    assert await desk.ask(ABOVE + " th") == {"text": "e mat.", "reason": ""}
    assert len(endpoint.requests) == 1
    assert (await desk.ask(bufnr=2))["text"] == " it."


async def test_that_a_model_has_nothing_to_add_is_remembered(
    desk: Desk, endpoint: Endpoint
) -> None:
    endpoint.reply(answer(""))
    assert await desk.ask() == {"text": "", "reason": "nothing to add"}
    assert await desk.ask() == {"text": "", "reason": "nothing to add"}
    assert len(endpoint.requests) == 1


async def test_reasoning_is_not_shown(desk: Desk, endpoint: Endpoint) -> None:
    endpoint.reply(thought("What do cats do?"), answer("<think>Hm.</think>", " the mat."))
    assert (await desk.ask())["text"] == " the mat."


async def test_a_model_that_only_thinks_is_told_of_and_nothing_remembered(
    desk: Desk, endpoint: Endpoint
) -> None:
    endpoint.reply(thought("What do cats do? They sit, they"), finish("length"), DONE)
    endpoint.reply(answer("<think>Hm.</think>"))
    endpoint.reply(answer(" the mat."))
    for _ in range(2):
        failed = await desk.ask()
        assert failed["reason"] == "failed"
        assert failed["message"] == (
            "test only thought and had no room for text; name another model in autocomplete.model,"
            " or set its reasoning_effort."
        )
    assert (await desk.ask())["text"] == " the mat."


async def test_reading_stops_where_showing_does(desk: Desk, endpoint: Endpoint) -> None:
    endpoint.reply(delta(" the mat.\n"), delta("\nThe"), Wait("never"))
    assert (await desk.ask())["text"] == " the mat."
    await asyncio.to_thread(endpoint.requests[0].connection.wait_closed)


async def test_an_answer_cut_at_the_limit_ends_with_a_whole_word(
    desk: Desk, endpoint: Endpoint
) -> None:
    endpoint.reply(delta(" the mat and sle"), finish("length"))
    assert (await desk.ask())["text"] == " the mat and"


async def test_the_next_request_ends_the_one_before(desk: Desk, endpoint: Endpoint) -> None:
    endpoint.reply(delta(" the"), Wait("never"), to="cats sat on\\n")
    endpoint.reply(answer(" this mat."))
    first = asyncio.create_task(desk.ask())
    await asyncio.to_thread(endpoint.wait_reached, "never")
    second = await desk.ask(ABOVE + " just")
    assert second["text"] == " this mat."
    assert (await first)["reason"] == "cancelled"
    await asyncio.to_thread(endpoint.requests[0].connection.wait_closed)


async def test_of_many_requests_at_once_the_last_is_served(desk: Desk, endpoint: Endpoint) -> None:
    endpoint.reply(delta(" the"), Wait("never"), to="cats sat on\\n")
    first = asyncio.create_task(desk.ask())
    await asyncio.to_thread(endpoint.wait_reached, "never")
    endpoint.reply(answer(" last."))
    found = await asyncio.gather(*(desk.ask(f"{ABOVE} {number}") for number in range(5)))
    assert [item["text"] for item in found] == ["", "", "", "", " last."]
    assert (await first)["reason"] == "cancelled"
    assert len(endpoint.requests) == 2


async def test_giving_up_closes_the_connection_and_keeps_nothing(
    desk: Desk, endpoint: Endpoint
) -> None:
    endpoint.reply(delta(" the"), Wait("never"))
    endpoint.reply(answer(" it."))
    asked = asyncio.create_task(desk.ask())
    await asyncio.to_thread(endpoint.wait_reached, "never")
    await desk.ghost.cancel({"id": 99})
    assert not asked.done()
    await desk.ghost.cancel({"id": 1})
    assert await asked == {"text": "", "reason": "cancelled"}
    await asyncio.to_thread(endpoint.requests[0].connection.wait_closed)
    assert (await desk.ask())["text"] == " it."


@pytest.mark.parametrize(
    ("status", "reason"), [(429, "rate limited"), (529, "busy"), (503, "busy")]
)
async def test_a_busy_model_is_left_alone_for_as_long_as_it_asked(
    desk: Desk, endpoint: Endpoint, status: int, reason: str
) -> None:
    endpoint.reply(failure(status, "later", retry_after="20"))
    endpoint.reply(answer(" the mat."))
    busy = {"text": "", "reason": reason, "seconds": 20}
    assert await desk.ask() == busy
    desk.clock.now += 5.5
    assert await desk.ask() == busy | {"seconds": 15}
    assert len(endpoint.requests) == 1
    desk.clock.now += 14.6
    assert (await desk.ask())["text"] == " the mat."


async def test_a_model_that_is_busy_again_is_left_alone_for_longer(
    desk: Desk, endpoint: Endpoint
) -> None:
    waits: list[int] = []
    for _ in range(10):
        endpoint.reply(failure(429, "later"))
        waits.append((await desk.ask())["seconds"])
        desk.clock.now += waits[-1]
    assert waits[:4] == [FIRST_PAUSE_S * factor for factor in (1, 2, 4, 8)]
    assert waits[-1] == 300
    endpoint.reply(answer(" the mat."))
    await desk.ask()
    endpoint.reply(failure(429, "later"))
    assert (await desk.ask("Another."))["seconds"] == FIRST_PAUSE_S


async def test_what_is_known_is_served_also_while_the_model_is_busy(
    desk: Desk, endpoint: Endpoint
) -> None:
    endpoint.reply(answer(" the mat."))
    endpoint.reply(failure(429, "later"))
    known = await desk.ask()
    await desk.ask("Another one.")
    assert await desk.ask() == known


async def test_an_error_inside_the_stream_is_no_completion(desk: Desk, endpoint: Endpoint) -> None:
    endpoint.reply(delta(" the"), chunk({}, error={"message": "overloaded", "code": 529}))
    endpoint.reply(answer(" the mat."))
    assert (await desk.ask())["text"] == ""
    desk.clock.now += FIRST_PAUSE_S
    assert (await desk.ask())["text"] == " the mat."


async def test_a_failure_is_told_in_a_sentence_and_not_remembered(
    desk: Desk, endpoint: Endpoint
) -> None:
    endpoint.reply(failure(401, "bad key"))
    endpoint.reply(answer(" the mat."))
    failed = await desk.ask()
    assert failed["reason"] == "failed"
    assert "bad key" in failed["message"]
    assert (await desk.ask())["text"] == " the mat."


async def test_code_is_not_sent_unless_asked_for(desk: Desk, endpoint: Endpoint) -> None:
    assert (await desk.ask("#let x = ")) == {"text": "", "reason": "not prose"}
    endpoint.reply(answer(" 5"), answer(" 6"))
    assert (await desk.ask("#let x = ", anywhere=True))["text"]
    assert len(endpoint.requests) == 1
    endpoint.reply(answer(" words"))
    assert (await desk.ask("#let x = ", filetype="markdown", bufnr=7))["text"]


async def test_a_server_that_is_not_there_is_told_and_not_asked_with_every_pause() -> None:
    with Endpoint() as gone:
        desk = Desk(gone)
    failed = await desk.ask()
    assert (failed["reason"], failed["seconds"]) == ("no connection", FIRST_PAUSE_S)
    assert "Nothing listens" in failed["message"]
    assert await desk.ask() == {"text": "", "reason": "no connection", "seconds": FIRST_PAUSE_S}
    await desk.models.close()
