"""Text actions: which there are, who answers them, and the tasks that carry them out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..agent.providers import local, offline
from ..agent.providers.base import Done, ModelRequest, TextDelta, UserMessage
from ..domain.action import ActionResult, Failed, result_to_dict
from ..domain.diagnostic import Checker
from ..domain.document import Snapshot
from ..domain.prose import ProseReader
from ..domain.spelling import Mistake, Speller
from ..editor.port import Editor
from ..errors import ModelError, SettingsError
from ..settings import ActionOptions, TransportOptions
from ..writing.templates import BUILT_IN, REDACT, Fragments, Prompt, Template, custom
from ..writing.text_action import Generate, Means, Work, run
from .models import Choice, Models
from .requests import decode


class Suspicion(msgspec.Struct, frozen=True):
    """A word that Neovim's spell checker marks; byte columns, end-exclusive."""

    row0: int
    byte_col: int
    end_byte_col: int
    word: str
    kind: str
    choices: tuple[str, ...] = ()


class RunAction(msgspec.Struct, frozen=True):
    """The place is tracked by Lua under `id`."""

    id: str
    action: str
    bufnr: int
    path: str = ""
    params: dict[str, str] = {}
    spelling: tuple[Suspicion, ...] = ()


@dataclass(slots=True, kw_only=True)
class Actions:
    """The actions that run; several may, on different places."""

    options: ActionOptions
    transport: TransportOptions
    models: Models
    editor: Editor
    reader: ProseReader
    checker: Checker
    speller: Speller
    root_of: Callable[[str], Awaitable[str]]
    """The project folder of a path."""
    _tasks: dict[str, asyncio.Task[ActionResult]] = field(
        default_factory=dict[str, "asyncio.Task[ActionResult]"]
    )
    _server: Any = None

    async def run(self, params: Any) -> dict[str, Any]:
        """Carry out `{id, action, bufnr, path, params, spelling}`; see `result_to_dict`."""
        request = decode(RunAction, params)
        task = asyncio.create_task(self._result(request), name=f"action {request.id}")
        self._tasks[request.id] = task
        try:
            return result_to_dict(await asyncio.shield(task))
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            self._tasks.pop(request.id, None)

    async def stop(self, params: Mapping[str, Any]) -> None:
        """End the action `{id}`, or all of them."""
        chosen = params.get("id")
        tasks = [task for id, task in self._tasks.items() if chosen in (None, id)]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        """End all actions and the connections of the action server."""
        await self.stop({})
        if self._server is not None:
            await self._server.aclose()

    async def _result(self, request: RunAction) -> ActionResult:
        try:
            template = self._template(request.action)
            generate = self._generate(template)
            root = await self.root_of(request.path)
            suspected = await self._suspected(request)
        except asyncio.CancelledError:
            return Failed(aborted=True)
        except SettingsError as error:
            return Failed(error=str(error))
        work = Work(id=request.id, template=template, params=request.params, suspected=suspected)
        means = Means(
            editor=self.editor,
            reader=self.reader,
            checker=self.checker,
            speller=self.speller,
            generate=generate,
            root=root,
            context_blocks=self.options.context_blocks,
        )
        return await run(work, means)

    def _template(self, action: str) -> Template:
        own = {item.id: custom(item.id, item.title, item.prompt) for item in self.options.custom}
        known = {template.id: template for template in (*BUILT_IN, REDACT)}
        template = known.get(action) or own.get(action)
        if template is None:
            names = ", ".join([*known, *own])
            raise SettingsError(f"There is no action {action!r}. There are: {names}.")
        if template is REDACT and not self.options.redact:
            raise SettingsError("Redacting is off; set actions.redact = true.")
        return template

    def _generate(self, template: Template) -> Generate | None:
        """Who answers: the team's server, a model, or None for rules alone."""
        if self.transport.url:
            server = self._transport()
            _check_trust(template, server.address.is_loopback, "The action server")
            return server
        choice = self.models.get(self.options.model)
        _check_trust(template, choice.trusted_for_personal_data, f"Model {choice.model.name}")
        if choice.model.name == offline.NAME:
            return self._built_in(template)
        return ModelGenerate(choice=choice)

    def _built_in(self, template: Template) -> Generate | None:
        """Rules where they do; else the small local model, where it is installed."""
        if template.id in ("fix", REDACT.id) or local.NAME not in self.models.names:
            return None
        return ModelGenerate(choice=self.models.get(local.NAME))

    def _transport(self) -> Any:
        # Imported on first use: httpx alone costs a tenth of a second.
        from ..writing.transport import Address, HttpTransport

        if self._server is None:
            address = Address(
                url=self.transport.url,
                headers=self.transport.headers,
                timeout_ms=self.transport.timeout_ms,
            )
            self._server = HttpTransport(address)
        return self._server

    async def _suspected(self, request: RunAction) -> list[Mistake]:
        if not request.spelling:
            return []
        snapshot = await self.editor.snapshot(request.bufnr)
        found = (_mistake(snapshot, item) for item in request.spelling)
        return [item for item in found if item]


def _check_trust(template: Template, trusted: bool, name: str) -> None:
    if template is REDACT and not trusted:
        raise SettingsError(
            f"{name} is not trusted with personal data; set trusted_for_personal_data for a "
            "model, or use one on this machine."
        )


def _mistake(snapshot: Snapshot, item: Suspicion) -> Mistake | None:
    """The suspicion as offsets, unless the word stands there no longer."""
    if item.row0 >= len(snapshot.lines):
        return None
    start = snapshot.offset_at(item.row0, item.byte_col)
    end = snapshot.offset_at(item.row0, item.end_byte_col)
    if snapshot.text[start:end] != item.word:
        return None
    return Mistake(
        start=start,
        end=end,
        message=f"spelling: {item.kind}",
        choices=item.choices,
        kind="grammar" if item.kind == "caps" else "spelling",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelGenerate:
    """Implements `Generate` over a model: its words only, never its reasoning."""

    choice: Choice

    async def __call__(self, fragments: Fragments, prompt: Prompt) -> str:
        model = self.choice.model
        request = ModelRequest(system=prompt.system, messages=(UserMessage(text=prompt.message),))
        parts: list[str] = []
        async with aclosing(model.stream(request)) as events:
            async for event in events:
                match event:
                    case TextDelta(text=text):
                        parts.append(text)
                    case Done(finish="length"):
                        raise ModelError(
                            f"{model.name} reached its length limit; select less, or raise "
                            "max_tokens."
                        )
                    case Done(finish="content_filter"):
                        raise ModelError(f"The content filter of {model.name} refused the text.")
                    case Done(remark=str(sentence)) if sentence:  # its answer is to another text
                        raise ModelError(sentence)
                    case _:
                        pass
        return "".join(parts)
