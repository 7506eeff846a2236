"""Taking back what runs wrote, and putting back what was kept: the part that remembers.

Whether the live text allows it is decided in Lua, where check and edit are one call.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..agent.run import Run
from ..domain import checkpoint
from ..domain.chat import AssistantTurn, RunStatus, ToolUse, Turn
from ..domain.checkpoint import Checkpoint, News, Note, text_hash
from ..domain.document import Snapshot
from ..editor.nvim import NvimEditor
from ..errors import EditorError, StorageError, TypstAIError
from ..log import logger
from ..storage.chats import ChatStore
from ..storage.recovery import RecoveryStore, SnapshotRecord


class NothingToRevertError(TypstAIError):
    """The run wrote nothing, or is not known here."""

    code = "no_edits"


class StillRunningError(TypstAIError):
    """A run of the chat is active."""

    code = "busy"


@dataclass(slots=True, kw_only=True)
class Recovery:
    """Serves Lua's calls on runs and snapshots, and follows what runs do."""

    store: RecoveryStore
    chats: ChatStore
    editor: NvimEditor
    is_running: Callable[[str], bool]
    """Whether a run of the chat is active."""
    root_of: Callable[[str], Awaitable[str]]
    """The project of a path."""
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    async def take_over(self) -> None:
        """Take over what Neovim recorded, and show it. A failure is told, and the records stay."""
        try:
            for chat in await self.store.take_over():
                await self._show_if_possible(chat)
        except StorageError as error:
            self.editor.notify(str(error), level="warn")

    def take_over_soon(self) -> None:
        """`take_over` without waiting."""
        self._own(self.take_over())

    def show_soon(self, chat: str) -> None:
        """`show` without waiting."""
        self._own(self._show_if_possible(chat))

    async def runs(self, params: dict[str, Any]) -> list[dict[str, Any]]:
        """The runs of `{chat?}` that wrote something, newest first."""
        await self.store.take_over()
        found = await self._checkpoints(params.get("chat"))
        names = dict.fromkeys(item.run for item in reversed(found))
        return [await self._run(name, [c for c in found if c.run == name]) for name in names]

    async def plan(self, params: dict[str, Any]) -> dict[str, Any]:
        """What reverting `{run}` (or the last one of `{chat}`) takes back, newest first."""
        await self.store.take_over()
        chat, run = await self._named(params)
        if self.is_running(chat):
            raise StillRunningError("The answer is still being written; stop it first.")
        steps = checkpoint.cascade(run, await self._checkpoints(chat))
        if not steps:
            raise NothingToRevertError("This answer changed nothing that could be reverted.")
        bodies = await self.store.bodies([step.run for step in steps])
        return {
            "run": run,
            "chat": chat,
            "steps": [await self._run(step.run, step.checkpoints, bodies=bodies) for step in steps],
        }

    async def snapshots(self, params: dict[str, Any]) -> list[dict[str, Any]]:
        """The snapshots of `{document, dir}`, newest first, each with its text.

        Of a buffer without a name, those of others of its project too: they outlive theirs.
        """
        await self.store.take_over()
        document = str(params["document"])
        found = list(await self.store.snapshots(document))
        if document.startswith("buffer:"):
            project = await self.root_of(str(Path(str(params["dir"])) / "untitled.typ"))
            known = {item.id for item in found}
            others = await self.store.unnamed(project)
            found += [item for item in others if item.id not in known]
        return [await self._snapshot(item) for item in found]

    async def snapshot(self, params: dict[str, Any]) -> dict[str, Any]:
        """The snapshot `{id}`, with its text."""
        await self.store.take_over()
        return await self._snapshot(await self.store.snapshot(int(params["id"])))

    async def look_again(self, params: dict[str, Any]) -> None:
        """The user undid or redid something of `{chat}`: `{document}` has this `{hash}` now."""
        chat = str(params["chat"])
        await self._notes(chat, {str(params["document"]): str(params["hash"])})
        await self._show_if_possible(chat)

    async def show(self, chat: str) -> None:
        """Tell the screen which answers of a chat can be taken back."""
        self.editor.receipts(chat, await self.receipts(chat))

    async def receipts(self, chat: str) -> dict[str, dict[str, Any]]:
        """By run: `state` of what it wrote, and the `snapshot` taken after it."""
        found: dict[str, list[Checkpoint]] = {}
        for item in await self._checkpoints(chat):
            found.setdefault(item.run, []).append(item)
        _, turns = await self.chats.load(chat)
        lapsed = [turn.id for turn in turns if _edited(turn) and turn.id not in found]
        receipts: dict[str, dict[str, Any]] = {
            run: {
                "state": checkpoint.state(items),
                "documents": [item.document for item in items],
            }
            for run, items in found.items()
        }
        receipts |= {run: {"state": "lapsed"} for run in lapsed}
        for run, snapshot in (await self.store.automatic(chat)).items():
            receipts.setdefault(run, {})["snapshot"] = snapshot
        return receipts

    async def before_send(self, chat: str, bufnr: int | None) -> tuple[News, ...]:
        """The chat goes on: what its model must be told, and no snapshot of a text that changed."""
        await self.take_over()
        if bufnr is not None:
            await self._drop_diverged(chat, bufnr)
            await self._show_if_possible(chat)
        return checkpoint.news(await self._notes(chat))

    async def _notes(self, chat: str, live: Mapping[str, str] | None = None) -> tuple[Note, ...]:
        """The notes of a chat as the texts read now; what is seen of them is kept."""
        notes = await self.store.notes(chat)
        if live is None:
            live = await self._live({note.document for note in notes})
        now = checkpoint.seen(notes, live)
        changed = [note for note in now if note not in notes]
        if changed:
            await self.store.saw(changed)
        return now

    async def _checkpoints(self, chat: str | None) -> tuple[Checkpoint, ...]:
        """As the documents read now: the user may have undone a revert."""
        found = await self.store.checkpoints(chat)
        live = await self._live({item.document for item in found if item.reverted})
        return checkpoint.brought_back(found, live)

    async def _live(self, documents: Set[str]) -> Mapping[str, str]:
        try:
            return await self.editor.hashes(sorted(documents)) if documents else {}
        except EditorError as error:  # then what is stored counts
            logger.info("the documents are not compared: %s", error)
            return {}

    async def _drop_diverged(self, chat: str, bufnr: int) -> None:
        try:
            document = await self.editor.document(bufnr)
            live = _body(await self.editor.snapshot(bufnr))
        except EditorError as error:  # the tools will say it, should the model need the text
            logger.info("snapshots of chat %s not compared: %s", chat, error)
            return
        await self.store.drop_diverged(chat, document, text_hash(live))

    async def told(self, news: tuple[News, ...]) -> None:
        """The news stand in a stored turn."""
        if news:
            await self.store.told(news)

    def after_run(self, run: Run, status: RunStatus) -> None:
        """A run ended: keep the state in which it left the document."""
        self._own(self._after_run(run, status))

    async def close(self) -> None:
        """Finish what was begun."""
        await asyncio.gather(*self._tasks)

    async def _after_run(self, run: Run, status: RunStatus) -> None:
        await self.take_over()
        try:
            if status == "complete" and run.target.bufnr is not None:
                document = await self.editor.document(run.target.bufnr)
                live = _body(await self.editor.snapshot(run.target.bufnr))
                await self.store.add_automatic(run.chat, run.id, document, live, time.time())
            await self.show(run.chat)
        except TypstAIError as error:
            logger.warning("no snapshot after run %s: %s", run.id, error)

    async def _show_if_possible(self, chat: str) -> None:
        try:
            await self.show(chat)
        except StorageError as error:
            logger.warning("the receipts of chat %s are not shown: %s", chat, error)

    def _own(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _named(self, params: dict[str, Any]) -> tuple[str, str]:
        """The chat and the run that are meant."""
        run = str(params.get("run") or "")
        if run:
            return await self.store.chat_of(run), run
        chat = str(params.get("chat") or "")
        found = [item.run for item in await self._checkpoints(chat) if not item.reverted]
        return chat, found[-1] if found else ""

    async def _run(
        self,
        run: str,
        items: Any,
        *,
        bodies: dict[tuple[str, str], bytes] | None = None,
    ) -> dict[str, Any]:
        chat = items[0].chat
        return {
            "run": run,
            "chat": chat,
            "question": await self.store.question(chat, run),
            "state": checkpoint.state(items),
            "documents": [_written(item, bodies or {}) for item in items],
        }

    async def _snapshot(self, item: SnapshotRecord) -> dict[str, Any]:
        return {
            "id": item.id,
            "kind": item.kind,
            "chat": item.chat,
            "run": item.run,
            "question": await self.store.question(item.chat, item.run),
            "document": item.document,
            "at": item.at,
            "bytes": len(item.body),
            "text": item.body,
        }


def _written(item: Checkpoint, bodies: dict[tuple[str, str], bytes]) -> dict[str, Any]:
    return {
        "document": item.document,
        "before": item.before,
        "left": list(item.left),
        "others": list(item.others),
        "interrupted": item.interrupted,
        "kept": item.kept,
        "reverted": item.reverted,
        "text": bodies.get((item.run, item.document)),
    }


def _edited(turn: Turn) -> bool:
    """Whether a turn says that it wrote into a document."""
    return isinstance(turn, AssistantTurn) and any(
        isinstance(use, ToolUse) and use.applied for use in turn.segments
    )


def _body(snapshot: Snapshot) -> bytes:
    return snapshot.text.encode("utf-8", "surrogateescape")
