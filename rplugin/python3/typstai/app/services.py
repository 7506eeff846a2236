"""The running parts, and the methods that Lua may call on them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, get_args

from ..agent.tools.builtin import builtin_tools
from ..agent.tools.toolset import ToolSet
from ..domain.chat import Approval, Mode
from ..editor.nvim import NvimEditor
from ..errors import SettingsError
from ..settings import Settings, ToolForm
from ..storage.chats import ChatStore
from ..storage.database import Database
from ..storage.recovery import RecoveryStore
from ..typst.compiler import CompilerOptions, TypstCompiler
from ..typst.findings import TypstLeaks
from ..typst.harper import HarperSpeller
from ..typst.outline import TypstOutline
from ..typst.project import DiskFiles, find_root
from ..typst.prose import TypstProse
from ..typst.reference import Reference
from .actions import Actions
from .chats import Chats
from .choices import Choices
from .diagnostics import Diagnostics
from .ghost import Ghost
from .models import Models
from .recovery import Recovery

Method = Callable[[dict[str, Any]], Awaitable[Any]]


class Services:
    """Everything that lives between the greeting and the shutdown."""

    def __init__(self, settings: Settings, editor: NvimEditor, database: Database) -> None:
        self.settings = settings
        self._editor = editor
        self._database = database
        self._choices = Choices(mode=settings.mode, approval=settings.approval)
        self._models = Models(settings)
        self._ghost = Ghost(settings.autocomplete, self._models)
        self._compiler = TypstCompiler(_compiler_options(settings))
        store = ChatStore(database)
        self._recovery = Recovery(
            store=RecoveryStore(database),
            chats=store,
            editor=editor,
            is_running=lambda chat: self._chats.is_running(chat),
            root_of=self._root_of,
        )
        self._chats = Chats(
            settings=settings,
            editor=editor,
            store=store,
            recovery=self._recovery,
            models=self._models,
            choices=self._choices,
            tools=_tools(settings),
            checker=self._compiler,
            renderer=self._compiler,
            leaks=TypstLeaks(),
            files=DiskFiles(),
            docs=Reference(),
            outline=TypstOutline(),
            changed=self._tell_status,
        )
        self._speller = HarperSpeller()
        self._actions = Actions(
            options=settings.actions,
            transport=settings.action_transport,
            models=self._models,
            editor=editor,
            reader=TypstProse(),
            checker=self._compiler,
            speller=self._speller,
            root_of=self._root_of,
        )
        self._diagnostics = Diagnostics(settings, editor, self._compiler)
        self.methods = self._methods()

    @classmethod
    async def open(cls, data: Path, settings: Settings, editor: NvimEditor) -> Services:
        """Open the store and build the rest. Raises `StorageError`."""
        database = await Database.open(data)
        services = cls(settings, editor, database)
        if database.set_aside is not None:
            editor.notify(
                f"The chat database was damaged and set aside as {database.set_aside.name}; "
                "a new one was begun.",
                level="warn",
            )
        services._models.start(services._tell_status)
        services._tell_status()
        await services._recovery.take_over()
        return services

    def problems(self) -> list[str]:
        """One sentence for each option that could not be used."""
        return option_problems(self.settings)

    async def close(self) -> None:
        """End all runs, child processes and connections; then close the store."""
        await self._ghost.close()
        await self._chats.close()
        await self._actions.close()
        await self._speller.close()
        await self._recovery.close()
        await asyncio.gather(self._compiler.close(), self._models.close())
        self._database.close()

    async def _root_of(self, path: str) -> str:
        typst = self.settings.typst
        if typst.root:
            return str(Path(typst.root).expanduser().absolute())
        place = path or str(Path.cwd() / "untitled.typ")
        return await asyncio.to_thread(find_root, place, tuple(typst.markers))

    def _methods(self) -> dict[str, Method]:
        return {
            "action.run": self._actions.run,
            "action.stop": self._actions.stop,
            "chat.open": self._open_chat,
            "chat.new": self._chats.new,
            "chat.send": self._chats.send,
            "chat.stop": self._chats.stop,
            "chat.look_again": self._chats.look_again,
            "diagnostics.check": self._diagnostics.check,
            "model.list": self._list_models,
            "model.choose": self._choose_model,
            "tools.choose": self._choose_tools,
            "mode.choose": self._choose_mode,
            "approval.choose": self._choose_approval,
            "approval.answer": self._answer_approval,
            "proposal.resolved": self._proposal_resolved,
            "recovery.runs": self._recovery.runs,
            "recovery.look_again": self._recovery.look_again,
            "recovery.plan": self._recovery.plan,
            "recovery.snapshots": self._recovery.snapshots,
            "recovery.snapshot": self._recovery.snapshot,
            "recovery.take_over": self._take_over,
            "ghost.complete": self._ghost.complete,
            "ghost.cancel": self._ghost.cancel,
        }

    def _tell_status(self) -> None:
        self._editor.status(
            {
                "model": self._models.current,
                "mode": self._choices.mode,
                "approval": self._choices.approval,
                "running": self._chats.running,
            }
        )

    async def _list_models(self, params: dict[str, Any]) -> dict[str, Any]:
        return await self._models.offered()

    async def _choose_model(self, params: dict[str, Any]) -> None:
        await self._models.ready()
        self._models.choose(str(params["name"]))
        self._tell_status()

    async def _choose_tools(self, params: dict[str, Any]) -> None:
        self._models.choose_tools(_one_of(ToolForm, params["name"]))

    async def _choose_mode(self, params: dict[str, Any]) -> None:
        self._choices.mode = _one_of(Mode, params["name"])
        self._tell_status()

    async def _choose_approval(self, params: dict[str, Any]) -> None:
        self._choices.approval = _one_of(Approval, params["name"])
        self._tell_status()

    async def _answer_approval(self, params: dict[str, Any]) -> None:
        self._editor.answered(params)

    async def _proposal_resolved(self, params: dict[str, Any]) -> None:
        await self._chats.decided(*self._editor.resolved(params))
        self._recovery.take_over_soon()

    async def _open_chat(self, params: dict[str, Any]) -> dict[str, Any]:
        chat = await self._chats.open(params)
        self._recovery.show_soon(chat["id"])
        return chat

    async def _take_over(self, params: dict[str, Any]) -> None:
        await self._recovery.take_over()


def option_problems(settings: Settings) -> list[str]:
    """One sentence for each option that could not be used."""
    unknown = set(settings.tools.disable) - set(builtin_tools().names)
    disabled = [f"tools.disable: there is no tool {name}." for name in sorted(unknown)]
    return [*settings.problems, *disabled]


def _one_of(kind: Any, name: Any) -> Any:
    allowed = get_args(kind)
    if name not in allowed:
        raise SettingsError(f"{name!r} is not one of {', '.join(allowed)}.")
    return name


def _tools(settings: Settings) -> ToolSet:
    return builtin_tools(disable=settings.tools.disable)


def _compiler_options(settings: Settings) -> CompilerOptions:
    typst = settings.typst
    return CompilerOptions(
        main=typst.main,
        timeout_s=typst.timeout,
        memory_mib=typst.memory,
        package_path=typst.packages,
        font_paths=tuple(typst.font_paths),
    )
