"""A model behind an OpenAI-compatible endpoint.

Joins the parts: key, request, HTTP, reader. Each failure leaves as one
sentence that names the endpoint and never holds a secret. One call of `stream`
is one request; repeating a failed one is for whoever wraps this model.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from ...errors import StatusError, StreamError
from . import failures
from .base import Done, ModelRequest, StreamEvent
from .chunks import body_message
from .client import ENDED_EARLY, MAX_ERROR_BODY_BYTES, BrokenBody, HttpClients, Reply
from .cut import told_cut
from .endpoint import Endpoint
from .keys import Key
from .listing import MAX_LIST_BYTES, model_names
from .presets import learned
from .reader import AnswerReader
from .wire import request_body

FINISH_SECONDS = 5.0
"""How long to wait, after the finish reason, for the usage and the end of the stream."""


class OpenAIModel:
    """Implements `base.Model`. The clients are shared and belong to the caller."""

    def __init__(self, endpoint: Endpoint, clients: HttpClients) -> None:
        self._endpoint = endpoint
        self._clients = clients
        self._key = Key(endpoint.key) if endpoint.key else None

    @property
    def name(self) -> str:
        """The name the user gave it."""
        return self._endpoint.name

    @property
    def model(self) -> str:
        """The provider's name of it."""
        return self._endpoint.model

    @property
    def is_on_this_machine(self) -> bool:
        return self._endpoint.is_loopback

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """See `base.Model.stream`; also raises `SettingsError` when the key cannot be had.

        A request that is refused for a field which can be left out is sent once more without it.
        """
        try:
            async with aclosing(self._stream(request)) as events:
                async for event in events:
                    yield event
            return
        except StatusError as error:
            if not self._learn(error):
                raise
        async with aclosing(self._stream(request)) as events:
            async for event in events:
                yield event

    def _learn(self, error: StatusError) -> bool:
        """Speak as the server wants it from now on; False when it says nothing of that."""
        refused = error.status in (400, 422)
        quirks = learned(self._endpoint.quirks, str(error)) if refused else None
        if quirks is not None:
            self._endpoint = replace(self._endpoint, quirks=quirks)
        return quirks is not None

    async def _stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        key = await self._key.resolve() if self._key else ""
        body = request_body(self._endpoint, request)
        try:
            async with self._clients.post(self._endpoint, body, self._headers(key)) as reply:
                if reply.status != 200:
                    raise await self._refusal(reply, key)
                reader = AnswerReader(input_bytes=len(body))
                async with aclosing(_events(reply, reader, self._endpoint.timeout)) as events:
                    async for event in events:
                        yield self._remarked(event, request)
        except StreamError as error:
            reason = self._safe(str(error), key)
            raise failures.broken(self._endpoint, reason, error.remedy) from error

    def _remarked(self, event: StreamEvent, request: ModelRequest) -> StreamEvent:
        """The event; the last one with what its count of tokens gives away."""
        if isinstance(event, Done) and self._endpoint.may_cut:
            return replace(event, remark=told_cut(request, event.usage))
        return event

    async def list_models(self, within: float) -> tuple[str, ...]:
        """Names of the models that the server offers, asked for at most `within` seconds.

        Raises `ModelError`, also when there are none, and `SettingsError`.
        """
        try:
            async with asyncio.timeout(within):
                names = model_names(await self._list())
        except TimeoutError as error:
            raise failures.no_list(self._endpoint, f"no answer within {within:g} s") from error
        except StreamError as error:
            raise failures.no_list(self._endpoint, str(error)) from error
        if not names:
            raise failures.no_list(self._endpoint, "what it sent is not a list of models")
        return names

    async def _list(self) -> bytes:
        key = await self._key.resolve() if self._key else ""
        url = self._endpoint.list_url
        async with self._clients.get(self._endpoint, url, self._list_headers(key)) as reply:
            if reply.status != 200:
                raise failures.no_list(self._endpoint, f"status {reply.status}")
            return await reply.read_all(MAX_LIST_BYTES)

    def _headers(self, key: str) -> dict[str, str]:
        form = {"content-type": "application/json", "accept": "text/event-stream"}
        return {**self._authorization(key), **form}

    def _list_headers(self, key: str) -> dict[str, str]:
        if key and self._endpoint.quirks.lists_with == "x-api-key":
            return {"x-api-key": key, "anthropic-version": "2023-06-01"}
        return {**self._authorization(key), "accept": "application/json"}

    def _authorization(self, key: str) -> dict[str, str]:
        own = {name.lower(): value for name, value in self._endpoint.headers.items()}
        return {"authorization": f"Bearer {key}", **own} if key else own

    async def _refusal(self, reply: Reply, key: str) -> StatusError:
        if reply.status == 401 and self._key:
            self._key.forget()
        message = body_message(await reply.read_all(MAX_ERROR_BODY_BYTES))
        safe = self._safe(message, key)
        return failures.refused(self._endpoint, reply.status, safe, reply.headers)

    def _safe(self, text: str, key: str) -> str:
        return failures.without_secrets(text, (key, *self._endpoint.headers.values()))


async def _events(
    reply: Reply, reader: AnswerReader, seconds: float
) -> AsyncGenerator[StreamEvent, None]:
    """All events of the body. What came before an error was yielded before it."""
    cut = None if reply.is_delimited else BrokenBody(ENDED_EARLY, remedy="wait")
    patience = _Patience(seconds)
    try:
        while not reader.done:
            data = await reply.read(within=FINISH_SECONDS if reader.finished else patience.left())
            if not data:
                break
            for event in reader.feed(data):
                yield event
                patience.renew()
    except BrokenBody as error:
        cut = error
    for event in reader.end(cut):
        if isinstance(event, Done):
            await reply.drain()
        yield event


class _Patience:
    """How long to wait for the next piece of the answer: what is no piece does not renew it.

    Keep-alives and single bytes could otherwise hold a run open for ever.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._clock = asyncio.get_running_loop().time
        self.renew()

    def renew(self) -> None:
        self._until = self._clock() + self._seconds

    def left(self) -> float:
        return max(0.0, self._until - self._clock())
