"""Which texts can be put back, told by the texts themselves: no hashes, no database."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field

MAX_RUNS = 5
MAX_SNAPSHOTS = 6

Text = list[str]


@dataclass
class Written:
    """What one run wrote: the text before, and every text that its writes alone led to."""

    chat: str
    run: str
    before: Text
    left: list[Text] = field(default_factory=list[Text])
    reverted: bool = False

    def wrote(self, before: Text, after: Text) -> None:
        self.reverted = False
        if before == self.before or before in self.left:
            self.left.append(after)


@dataclass
class Plan:
    """What a revert was told that it may take back, newest first."""

    run: str
    steps: list[Written]
    kept: set[str]

    def outcome(self, text: Text) -> list[tuple[str, Text]]:
        """The runs that are taken back from this text, each with the text that it leaves."""
        found: list[tuple[str, Text]] = []
        for step in self.steps:
            fits = step.run in self.kept and text in step.left
            if text == step.before:
                continue
            if not fits and (step.run == self.run or not step.reverted):
                break
            if fits:
                text = step.before
                found.append((step.run, text))
        return found


@dataclass
class Kept:
    kind: str
    text: Text


@dataclass
class Past:
    """Every run that wrote, in the order of their first writes, and the kept texts."""

    runs: list[Written] = field(default_factory=list[Written])
    snapshots: list[Kept] = field(default_factory=list[Kept])
    """Oldest first."""

    def wrote(self, chat: str, run: str, before: Text, after: Text) -> None:
        """An agent's edit landed: what was kept of the text before it goes."""
        found = [item for item in self.runs if item.run == run]
        if not found:
            found = [Written(chat, run, before)]
            self.runs += found
        found[0].wrote(before, after)
        self.snapshots = [item for item in self.snapshots if item.kind != "automatic"]

    def plan(self, run: str) -> Plan | None:
        """What reverting a run would take back; None when it wrote nothing."""
        for index, item in enumerate(self.runs):
            if item.run == run:
                newer = [other for other in self.runs[index:] if other.chat == item.chat]
                kept = {other.run for other in self.runs[-MAX_RUNS:]}
                return Plan(run, deepcopy(newer[::-1]), kept)
        return None

    def took_back(self, runs: Sequence[str]) -> None:
        for item in self.runs:
            item.reverted |= item.run in runs

    def keep(self, kind: str, text: Text) -> None:
        if kind == "automatic":
            same = [item for item in self.snapshots if item == Kept(kind, text)]
            self.snapshots = [item for item in self.snapshots if item not in same]
        self.snapshots = [*self.snapshots, Kept(kind, text)][-MAX_SNAPSHOTS:]
