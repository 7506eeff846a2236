"""The chat buffer in a test: opened with a recorded door to Python, fed with events."""

from __future__ import annotations

import random
from typing import Any

from editor import Editor

CHAT = "c1"
RUN = "r1"


class ChatScreen:
    """A chat on screen, without a Python host: calls are recorded, events are made here."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        editor.lua(
            """
            _G.lines = function() return require("typstai.chat").lines() end
            _G.calls, _G.answers, _G.shown = {}, {}, {}
            require("typstai.rpc").call = function(method, params, callback)
              table.insert(_G.calls, { method = method, params = params })
              local answer = _G.answers[method]
              if answer == "hold" then
                _G.held = callback
              elseif callback then
                callback(answer and answer.error, answer and answer.result or {})
              end
            end
            require("typstai.message").sink = function(message)
              table.insert(_G.shown, message)
            end
            package.loaded["typstai.proposals"] = {
              list = function() return vim.tbl_values(_G.proposals) end,
              diff_lines = function(id) return _G.proposals[id].diff end,
            }
            require("typstai.proposals.hunks").get = function(id) return _G.proposals[id], false end
            _G.proposals = vim.empty_dict()
            for _, name in ipairs({ "accept", "reject", "accept_all", "reject_all",
              "goto_first", "edit", "diff" }) do
              require("typstai.proposals")[name] = function(...)
                table.insert(_G.calls, { method = name, params = { ... } })
              end
            end
            """
        )

    def open(self, *turns: dict[str, Any], title: str = "") -> int:
        """Show a chat; its buffer."""
        chat = {"id": CHAT, "project": "/home/ada/thesis", "title": title, "turns": list(turns)}
        self.editor.lua("require('typstai.chat').load(...)", chat)
        # What the chat would load in idle moments: in them a typed <C-c> throws away the keys
        # before it, and a window's new size is not told.
        self.editor.lua("while require('typstai.chat.markdown').prepare() do end")
        return self.editor.nvim.api.get_current_buf().number

    def event(self, **event: Any) -> None:
        """What Python tells of the chat, through the one door."""
        self.editor.lua(
            "require('typstai.rpc').dispatch('chat.event', ...)", {"chat": CHAT, "event": event}
        )

    def start(self, **fields: Any) -> None:
        """A question, and the beginning of an answer."""
        self.event(kind="turn", turn=question())
        self.event(kind="turn", turn=answer(status="running", **fields))

    def append(self, text: str, index: int = 1) -> None:
        self.event(kind="append", id=RUN, index=index, text=text)

    def segment(self, index: int, **segment: Any) -> None:
        segment = {"round": 1, **segment}
        self.event(kind="segment", id=RUN, index=index, segment=segment)

    def finish(self, status: str = "complete", **fields: Any) -> None:
        self.event(kind="finish", id=RUN, status=status, **fields)

    def lines(self) -> list[str]:
        return self.editor.lua("return require('typstai.chat').lines()")

    def transcript(self) -> list[str]:
        return self.lines()[: self.border0()]

    def prompt(self) -> str:
        return "\n".join(self.lines()[self.border0() :])

    def border0(self) -> int:
        """First row of the prompt, found by the mark that draws the rule."""
        return self.editor.lua(
            """
            local bufnr = ...
            local namespace = vim.api.nvim_get_namespaces()["typstai.border"]
            return vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, {})[1][2]
            """,
            self.bufnr(),
        )

    def bufnr(self) -> int:
        return self.editor.lua("return vim.fn.bufnr('typstai://thesis/1')")

    def calls(self, method: str) -> list[Any]:
        """What Lua asked of Python, or of the proposals, by that name."""
        calls = self.editor.lua("return _G.calls")
        return [call["params"] for call in calls if call["method"] == method]

    def answer(self, method: str, answer: Any) -> None:
        """How Python answers a method from now on: `{result}`, `{error}` or "hold"."""
        self.editor.lua("local m, a = ...; _G.answers[m] = a", method, answer)

    def messages(self, count: int = 1) -> list[str]:
        self.editor.wait_for("#_G.shown >= select(1, ...)", count)
        return self.editor.lua("return _G.shown")

    def mode(self) -> str:
        return self.editor.nvim.api.get_mode()["mode"]

    def find(self, text: str) -> int:
        """Row of the first line with that text."""
        return next(row for row, line in enumerate(self.lines()) if text in line)

    def go(self, text: str) -> None:
        """Put the cursor on the first line with that text, as a user would."""
        self.editor.feed(f"{self.find(text) + 1}G0")


def question(text: str = "Fix the errors.", **fields: Any) -> dict[str, Any]:
    return {"role": "user", "id": "q1", "text": text, "file": "main.typ", "at": 0, **fields}


def answer(*segments: dict[str, Any], status: str = "complete", **fields: Any) -> dict[str, Any]:
    turn = {"role": "assistant", "id": RUN, "model": "m", "status": status, "error": "", "at": 0}
    numbers = {"seconds": 12.0, "input_tokens": 0, "output_tokens": 0}
    return {**turn, **numbers, "segments": [{"round": 1, **s} for s in segments], **fields}


def tool(name: str, state: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "tool", "id": "t1", "name": name, "arguments": "{}", "state": state, **fields}


def random_event(chat: ChatScreen, rng: random.Random, counts: dict[str, int]) -> None:
    """One event of a run; `counts` holds the segments and runs so far."""
    choice = rng.randrange(6)
    if choice < 3:
        chat.append(rng.choice(["x", "\n", " y\n\nz", "é ", "`", "```\n"]), counts["segments"])
    elif choice == 3:
        counts["segments"] += 1
        kind = rng.choice(["text", "reasoning"])
        chat.segment(counts["segments"], kind=kind, text=rng.choice(["", "t"]), seconds=0.0)
    elif choice == 4:
        at = rng.randint(1, counts["segments"])
        chat.segment(at, **tool("read", rng.choice(["running", "done"]), label=str(at)))
    else:
        chat.finish(seconds=1.0)
        counts["run"] += 1
        counts["segments"] = 1
        chat.event(kind="turn", turn=question("q", id=f"q{counts['run']}"))


def rendered_again(editor: Editor) -> list[str]:
    """The transcript as the view model renders it from nothing."""
    return editor.lua(
        """
        local chat, turn = ...
        local seen
        local Transcript = require("typstai.chat.transcript")
        local redraw = Transcript.redraw
        Transcript.redraw = function(self) seen = self return redraw(self) end
        require("typstai.rpc").dispatch("chat.event", { chat = chat, event = { kind = "turn",
          turn = turn } })
        Transcript.redraw = redraw
        return (seen:render_all())
        """,
        CHAT,
        question(),
    )
