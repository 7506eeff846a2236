"""Chats by id: opened from the store, sent to, stopped."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ..agent.conversation import BusyError, Conversation, Means
from ..agent.images import Attached, attach, check_count
from ..agent.run import Run, Target
from ..agent.tools.toolset import ToolSet
from ..domain.chat import RunStatus, Selection, Turn, turn_to_dict
from ..domain.diagnostic import Checker, LeakFinder
from ..domain.docs import Docs
from ..domain.outline import OutlineReader
from ..domain.preview import PageRenderer
from ..domain.project import ProjectFiles
from ..domain.proposal import Hunk
from ..editor.port import Editor
from ..errors import SettingsError, StorageError, TypstAIError
from ..log import logger
from ..settings import Settings
from ..storage.chats import ChatRecord, ChatStore
from ..typst.project import find_root
from . import requests
from .choices import Choices
from .models import Choice, Models
from .previews import Previews
from .recorder import ChatRecorder
from .requests import Place, Send, decode

if TYPE_CHECKING:
    from .recovery import Recovery


class NotOpenError(TypstAIError):
    """No chat of that id was opened since the host started."""

    code = "not_open"


class StoppedError(TypstAIError):
    """The user stopped a message before it was sent; it is still in the prompt."""

    code = "stopped"


_Images: TypeAlias = tuple[tuple[Attached, ...], tuple[str, ...]]
"""The images of a message, and what to tell the model of them, a sentence each."""


@dataclass(slots=True, kw_only=True)
class Chats:
    """The conversations that were opened since the host started."""

    settings: Settings
    editor: Editor
    store: ChatStore
    models: Models
    choices: Choices
    tools: ToolSet
    checker: Checker
    renderer: PageRenderer
    leaks: LeakFinder
    files: ProjectFiles
    docs: Docs
    outline: OutlineReader
    recovery: Recovery
    changed: Callable[[], None]
    _open: dict[str, Conversation] = field(default_factory=dict[str, Conversation])
    _arriving: set[str] = field(default_factory=set[str])
    """Chats whose message is being taken in; `stop` takes them out."""
    _looking: dict[str, asyncio.Task[_Images]] = field(
        default_factory=dict[str, "asyncio.Task[_Images]"]
    )
    """What reads and draws the images of a message, by chat; `stop` ends it."""
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Two openings at once would both find no chat and make one each."""

    @property
    def running(self) -> bool:
        return any(conversation.running for conversation in self._open.values())

    def is_running(self, chat: str) -> bool:
        return chat in self._open and self._open[chat].running

    async def open(self, params: Any) -> dict[str, Any]:
        """The latest chat of the project of `{dir, path}`, or a new one."""
        project = await self._root(decode(Place, params))
        async with self._opening:
            record = await self.store.latest(project) or await self.store.create(project)
        return await self._chat(record)

    async def new(self, params: Any) -> dict[str, Any]:
        """A new chat in the project of `{dir, path}`."""
        return await self._chat(await self.store.create(await self._root(decode(Place, params))))

    async def send(self, params: Any) -> dict[str, Any]:
        """Start a run for `{chat, text, target, capture, selections, images, previews}`; its id.

        A `stop` that comes before the run has begun ends it as soon as it has; while
        images are read and pages drawn, it raises `StoppedError`.
        """
        request = decode(Send, params)
        self._arriving.add(request.chat)
        try:
            run = await self._send(request)
        finally:
            stopped = request.chat not in self._arriving
            self._arriving.discard(request.chat)
        if stopped:
            await self._open[request.chat].stop()
        return {"run": run.id}

    async def _send(self, request: Send) -> Run:
        conversation = await self._conversation(request.chat)
        await self.models.ready()
        choice = self.models.get()
        record, turns = await self.store.load(request.chat)
        if conversation.is_elsewhere(turns):
            raise BusyError("Another Neovim is answering in this chat; your text is kept.")
        self._take_in(record, conversation, turns)
        run = await self._run(record, conversation, request)
        images, told = await self._unless_stopped(request, self._images(run, choice, request))
        news = await self.recovery.before_send(run.chat, run.target.bufnr)
        await conversation.send(
            request.text,
            run,
            Means(
                model=choice.model,
                tools=self.tools,
                context_window=choice.context_window,
                extra_prompt=self.settings.system_prompt,
                price=choice.price,
            ),
            file=run.relative(request.target.path) if request.target else "",
            selections=tuple(_selection(run, item) for item in request.selections),
            images=images,
            notes=(*(item.text for item in news), *told),
        )
        await self.recovery.told(news)
        self.changed()
        self.editor.emit("TypstAIRunStarted", {"chat": run.chat, "run": run.id})
        return run

    async def _unless_stopped(self, request: Send, images: Coroutine[Any, Any, _Images]) -> _Images:
        """The images of a message: to draw one may take long. Raises `StoppedError`."""
        looking = self._looking[request.chat] = asyncio.create_task(images)
        if request.chat not in self._arriving and (request.images or request.previews):
            looking.cancel()  # the stop came before
        try:
            await asyncio.wait([looking])
        finally:
            self._looking.pop(request.chat, None)
            looking.cancel()
        if looking.cancelled():
            raise StoppedError("The message was not sent: you stopped it.")
        return looking.result()

    def _take_in(
        self, record: ChatRecord, conversation: Conversation, turns: Sequence[Turn]
    ) -> None:
        """Show what another Neovim has added, if it has."""
        if conversation.refresh(turns):
            event = {"kind": "reload", "chat": _shown(record, conversation)}
            self.editor.show(record.id, event)

    async def look_again(self, params: dict[str, Any]) -> None:
        """The user came back to `{chat}`: another Neovim may have written to it meanwhile."""
        conversation = self._open.get(str(params["chat"]))
        if conversation is not None and conversation.idle:
            record, turns = await self.store.load(conversation.chat)
            self._take_in(record, conversation, turns)

    async def _images(self, run: Run, choice: Choice, request: Send) -> _Images:
        """The attached images and pages as they are now, and what to tell the model of them.

        Raises `SettingsError`, `ImageError`.
        """
        paths, wanted = request.images, request.previews
        if (paths or wanted) and not choice.vision:
            raise SettingsError(
                f"The model {choice.model.name} takes no images: choose one with `vision = true`,"
                f" or take the {'image' if paths else 'preview'} off with :TypstAI remove."
            )
        check_count(len(paths) + len(wanted))
        images = await attach(paths, tuple(run.relative(path) for path in paths)) if paths else ()
        pages, notes = await self._previews.attach(run, wanted, beside=len(images))
        return (*images, *pages), notes

    @property
    def _previews(self) -> Previews:
        return Previews(editor=self.editor, renderer=self.renderer, root_of=self._root)

    async def stop(self, params: dict[str, Any]) -> None:
        """Stop the run of `{chat}`, or every run when none is named. Raises `NotOpenError`."""
        chat = params.get("chat")
        if chat and chat not in self._open and chat not in self._arriving:
            raise NotOpenError("That chat is not open; open it first.")
        self._arriving -= {chat} if chat else self._arriving.copy()
        for name, looking in self._looking.items():
            if chat in (None, name):
                looking.cancel()
        named = [self._open[chat]] if chat in self._open else []
        chosen = named if chat else list(self._open.values())
        await asyncio.gather(*(conversation.stop() for conversation in chosen))

    async def decided(self, chat: str, proposal: str, hunks: Sequence[Hunk]) -> None:
        """Tell the chat of a proposal how it was decided; "" when it belongs to none.

        The chat need not be open: its run may have been another process's.
        """
        if not chat:
            return
        try:
            conversation = await self._conversation(chat)
        except StorageError as error:  # the chat was deleted: nobody is left to be told
            logger.warning("proposal %s: %s", proposal, error)
            return
        await conversation.decided(proposal, hunks)

    async def close(self) -> None:
        await self.stop({})

    async def _root(self, place: Place) -> str:
        if self.settings.typst.root:
            return str(Path(self.settings.typst.root).expanduser().absolute())
        path = place.path or str(Path(place.dir) / "untitled.typ")
        return await asyncio.to_thread(find_root, path, tuple(self.settings.typst.markers))

    async def _chat(self, record: ChatRecord) -> dict[str, Any]:
        """The chat as the screen takes it, with what another Neovim has added to it."""
        conversation = await self._conversation(record.id)
        if conversation.idle:
            _, turns = await self.store.load(record.id)
            conversation.refresh(turns)
        return _shown(record, conversation)

    async def _conversation(self, chat: str) -> Conversation:
        if chat not in self._open:
            _, turns = await self.store.load(chat)
            self._open.setdefault(
                chat,
                Conversation(
                    chat,
                    turns,
                    recorder=ChatRecorder(self.store, chat),
                    show=lambda event: self.editor.show(chat, event),
                    ended=self._ended,
                ),
            )
        return self._open[chat]

    async def _run(self, record: ChatRecord, conversation: Conversation, request: Send) -> Run:
        target = request.target
        path = target.path if target else ""
        return Run(
            id=request.capture or uuid.uuid4().hex,
            chat=record.id,
            root=await self._root(Place(dir="", path=path)) if path else record.project,
            mode=self.choices.mode,
            approval=self.choices.approval,
            target=Target(bufnr=target.bufnr if target else None),
            editor=self.editor,
            checker=self.checker,
            leaks=self.leaks,
            files=self.files,
            docs=self.docs,
            outline=self.outline,
            ledger=conversation.ledger,
            rechecks=conversation.rechecks,
            tool_rounds=self.settings.limits.tool_rounds,
            decision_seconds=self.settings.limits.decision_timeout or None,
        )

    def _ended(self, run: Run, status: RunStatus) -> None:
        self.recovery.after_run(run, status)
        self.changed()
        data = {"chat": run.chat, "run": run.id, "status": status}
        self.editor.emit("TypstAIRunFinished", data)


def _shown(record: ChatRecord, conversation: Conversation) -> dict[str, Any]:
    return {
        "id": record.id,
        "project": record.project,
        "title": record.title,
        "turns": [turn_to_dict(turn) for turn in conversation.shown()],
        "running": conversation.running,
    }


def _selection(run: Run, item: requests.Selection) -> Selection:
    return Selection(
        path=run.relative(item.path),
        start_line=item.start_line,
        end_line=item.end_line,
        text=item.text,
    )
