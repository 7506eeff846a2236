"""A chat without Neovim: the real conversation over a scripted endpoint and the editor's double."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from endpoint import Endpoint
from typstai.agent.conversation import Conversation, Means
from typstai.agent.images import Attached
from typstai.agent.providers.base import Model, Price
from typstai.agent.providers.client import HttpClients
from typstai.agent.providers.endpoint import Endpoint as ModelEndpoint
from typstai.agent.providers.openai import OpenAIModel
from typstai.agent.run import Run, Target
from typstai.agent.tools.toolset import Arguments, Invocation, Labels, Tool, ToolSet
from typstai.domain.chat import AssistantTurn, Turn
from typstai.domain.diagnostic import CheckResult
from typstai.domain.ledger import Ledger
from typstai.domain.project import Listing
from typstai.domain.tool import ToolOutcome
from typstai.editor.memory import MemoryEditor
from typstai.editor.port import ApprovalRequest
from typstai.errors import ToolError
from typstai.typst.findings import TypstLeaks
from typstai.typst.outline import TypstOutline
from typstai.typst.reference import Reference


class _NoCompiler:
    async def check(self, *, root: str, path: str, overlay: dict[str, str]) -> CheckResult:
        return CheckResult(status="unavailable", note="there is no compiler")


class _NoFiles:
    async def list_files(self, root: str) -> Listing:
        return Listing(entries=(), complete=True)

    async def resolve(self, root: str, path: str) -> str:
        raise ToolError("outside_project", "it leaves the project.")


class _Memory:
    """Implements the agent's `Recorder`."""

    def __init__(self) -> None:
        self.saved: list[Turn] = []

    async def save(self, turn: Turn) -> None:
        self.saved.append(turn)

    def begin(self, turn: AssistantTurn) -> None:
        pass

    def save_soon(self, turn: AssistantTurn) -> None:
        pass


class Stage:
    """Where a test sees how far a run has come."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.left = asyncio.Event()

    async def wait(self, invocation: Invocation, args: Arguments) -> ToolOutcome:
        """A tool that never ends by itself."""
        self.entered.set()
        try:
            await asyncio.Event().wait()
            raise AssertionError
        finally:
            self.left.set()

    async def approve(self, invocation: Invocation, args: Arguments) -> ToolOutcome:
        """A tool that asks, and says what was answered."""
        run = invocation.run
        request = ApprovalRequest(
            id="a1", chat=run.chat, run=run.id, call=invocation.call.id, tool="approve",
            effect="Something.", destination="somewhere", arguments="{}",
        )  # fmt: skip
        decision = await run.editor.approve(request)
        return ToolOutcome(text=decision.answer)


async def _echo(invocation: Invocation, args: Arguments) -> ToolOutcome:
    return ToolOutcome(text="the echo")


def tool(name: str, perform: Any) -> Tool:
    return Tool(
        name=name, description="Does it.", arguments=Arguments, kind="read",
        labels=Labels(running="…"), perform=perform,
    )  # fmt: skip


class Chat:
    """One chat. `run` sends and waits for the end; `begin` only sends."""

    def __init__(
        self,
        server: Endpoint,
        clients: HttpClients,
        *,
        turns: Sequence[Turn] = (),
        price: Price | None = None,
        context_window: int | None = None,
        extra_prompt: str = "",
        **endpoint: Any,
    ) -> None:
        fields: dict[str, Any] = {"name": "mine", "base_url": server.url, "model": "m"}
        self.endpoint = ModelEndpoint(**(fields | endpoint))
        self.model: Model = OpenAIModel(self.endpoint, clients)
        self.editor = MemoryEditor()
        self.stage = Stage()
        self.memory = _Memory()
        self.events: list[dict[str, Any]] = []
        self.finished = asyncio.Event()
        self.noticed = asyncio.Event()
        self.tools = [tool("echo", _echo), tool("wait", self.stage.wait),
                      tool("approve", self.stage.approve)]  # fmt: skip
        self.price, self.context_window = price, context_window
        self.extra_prompt = extra_prompt
        self.conversation = Conversation(
            "chat", turns, recorder=self.memory, show=self._show,
            ended=lambda run, status: self.finished.set(),
        )  # fmt: skip
        self._number = 0

    async def begin(self, text: str = "Hi", images: tuple[Attached, ...] = ()) -> None:
        self.finished.clear()
        self._number += 1
        run = Run(
            id=f"run{self._number}", chat="chat", root="/p", mode="edit", approval="auto",
            target=Target(bufnr=None), editor=self.editor, checker=_NoCompiler(),
            leaks=TypstLeaks(), files=_NoFiles(), docs=Reference(), outline=TypstOutline(),
            ledger=Ledger(), tool_rounds=4,
        )  # fmt: skip
        means = Means(
            model=self.model, tools=ToolSet(self.tools), context_window=self.context_window,
            extra_prompt=self.extra_prompt, price=self.price,
        )  # fmt: skip
        await self.conversation.send(
            text, run, means, file="main.typ", selections=(), images=images
        )

    async def run(self, text: str = "Hi", images: tuple[Attached, ...] = ()) -> AssistantTurn:
        await self.begin(text, images)
        async with asyncio.timeout(20):
            await self.finished.wait()
        return self.answer()

    def answer(self) -> AssistantTurn:
        """The newest answer."""
        turn = self.conversation.turns[-1]
        assert isinstance(turn, AssistantTurn)
        return turn

    def shown(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["kind"] == kind]

    def _show(self, event: dict[str, Any]) -> None:
        self.events.append(event)
        if event["kind"] == "notice":
            self.noticed.set()
