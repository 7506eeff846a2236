"""What a buffer must hold after each step of a story, and which hunks may be pending.

Lines have identities: which lines a writer touched is known without marks. Texts are kept
by the number of their undo step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count, groupby
from typing import Any

from fuzz_past import Kept, Past, Plan

Step = dict[str, Any]
Key = tuple[str, str]
_numbers = count()


@dataclass(frozen=True)
class Line:
    """A line, and the lines that it came from."""

    text: str
    ids: frozenset[int]
    sure: bool = True
    """Whether nobody touched it since it came."""


def fresh(text: str) -> Line:
    return Line(text, frozenset({next(_numbers)}))


def fresh_all(texts: Iterable[str]) -> list[Line]:
    return [fresh(text) for text in texts]


@dataclass
class Awaited:
    """An undecided hunk: the lines it would replace, wherever they have been found."""

    places: list[list[Line]]
    between: list[tuple[list[Line], list[Line]]]
    """The lines above and below it, one or none each: when it came, and when others landed."""
    unique: bool
    """Whether one of its lines could be told from all others when it came."""
    born: int
    """How many undo steps there were when it came."""
    disturbed: bool = False
    """Whether lines were written anew in a way that may have lost its mark."""


@dataclass
class Model:
    start: list[str]
    states: dict[int, list[Line]] = field(default_factory=dict[int, list[Line]])
    parents: dict[int, int] = field(default_factory=dict[int, int])
    undo: int = 0
    steps: int = 0
    hunks: dict[Key, Awaited] = field(default_factory=dict[Key, Awaited])
    listed: list[Any] = field(default_factory=list[Any])
    accepting: bool = False
    target: tuple[str, int, list[str]] | None = None
    """A lone proposal, the text it was made on (by undo step), and the text it proposes."""
    past: Past = field(default_factory=Past)
    planned: Plan | None = None
    """What the writer was shown that a revert would take back."""
    looked: tuple[Kept, list[str]] | None = None
    """The snapshot that the writer looks at, and the text that it was compared with."""

    def __post_init__(self) -> None:
        self.states[0] = fresh_all(self.start)

    @property
    def now(self) -> list[Line]:
        return self.states[self.undo]

    @property
    def text(self) -> list[str]:
        return [line.text for line in self.now]

    def follow(self, step: Step, seen: Any) -> None:
        """Take one step: what it changed, then what is listed after it."""
        self.accepting = step["name"] in ("accept", "accept_all", "apply")
        follow = self._steps().get(step["name"], self._stay)
        follow(step, seen)
        assert seen["lines"] == self.text
        if step["name"] in ("restart", "kill"):
            assert seen["answer"] == len(seen["listed"])
        self._check(seen["listed"])
        self._note_target(step, seen)

    def _steps(self) -> dict[str, Callable[[Step, Any], None]]:
        return {
            "undo": self._undo,
            "redo": self._redo,
            "accept": self._accept,
            "accept_all": self._accept,
            "apply": self._apply,
            "plan": self._plan,
            "revert": self._revert,
            "look": self._look,
            "restore": self._restore,
            "keep": self._keep,
            **dict.fromkeys(WRITING, self._write),
        }

    def _stay(self, _: Step, seen: Any) -> None:
        assert seen["undo"] == self.undo

    def _write(self, step: Step, seen: Any) -> None:
        self._become(WRITING[step["name"]](step, self.now, seen["lines"]), seen)
        if step["name"] in ("sort", "rewrite"):
            self._disturb()

    def _undo(self, _: Step, seen: Any) -> None:
        assert seen["undo"] == self.parents.get(self.undo, self.undo)
        self._go_to(seen["undo"])

    def _redo(self, _: Step, seen: Any) -> None:
        assert seen["undo"] == self.undo or self.parents[seen["undo"]] == self.undo
        self._go_to(seen["undo"])

    def _become(self, new: list[Line], seen: Any) -> None:
        if seen["undo"] == self.undo:
            assert [line.text for line in new] == self.text
            return
        self.parents[seen["undo"]] = self.undo
        self.undo, self.steps = seen["undo"], seen["steps"]
        self.states[self.undo] = new

    def _go_to(self, undo: int) -> None:
        """Neovim keeps marks over undo and redo only of what was done since they were set."""
        for hunk in self.hunks.values():
            hunk.disturbed |= self.undo != undo and max(self.undo, undo) <= hunk.born
        self.undo = undo

    def _disturb(self) -> None:
        for hunk in self.hunks.values():
            hunk.disturbed = True

    def _apply(self, step: Step, seen: Any) -> None:
        first, last = rows(step, self.now)
        new = derived(self.now[first:last], step["lines"])
        wanted = [*self.now[:first], *new, *self.now[last:]]
        before = self.text
        made = [line.text for line in wanted] != before
        assert seen["steps"] == self.steps + made
        self._become(wanted if made else self.now, seen)
        if made:
            self.past.wrote(step["chat"], step["chat"] + step["run"], before, self.text)

    def _accept(self, step: Step, seen: Any) -> None:
        """Exactly the pending ones of those named land, as one undo step for each run."""
        target, before = self.target, self.undo
        result = (seen.get("answer") or {}).get("result")
        accepted = sum(self._land(step, seen, told) for told in seen["within"])
        assert (result["accepted"] if result else 0) == accepted
        assert self._chosen(step, seen) == []
        assert seen["steps"] == self.steps
        if target and step == {"name": "accept_all"} and target[1] == before:
            assert self.text == target[2]

    def _chosen(self, step: Step, seen: Any, run: str | None = None) -> list[tuple[Any, Any]]:
        """The pending hunks that a step names, each with its proposal."""
        answer = seen.get("answer") or {}
        return [
            (item, hunk)
            for item in self.listed
            for hunk in item["hunks"]
            if hunk["state"] == "pending"
            and run in (None, item["run"])
            and answer.get("id", item["id"]) == item["id"]
            and answer.get("hunk", hunk["id"]) == hunk["id"]
            and (step["name"] == "accept" or step.get("chat") in (None, item["chat"]))
        ]

    def _land(self, step: Step, seen: Any, told: Any) -> int:
        """What is accepted of one run lands together; how many hunks."""
        chosen = self._chosen(step, seen, told["run"])
        made = fitting([hunk for _, hunk in chosen])
        before = self.text
        # A hunk that was edited until it changes nothing makes no step.
        changes = any(hunk["old"] != hunk["new"] for hunk in made)
        assert told["steps"] == self.steps + changes
        self._become(applied(self.now, made), told)
        assert told["lines"] == self.text
        if made:
            self.past.wrote(chosen[0][0]["chat"], told["run"], before, self.text)
        self._check(told["listed"])
        return len(made)

    def _plan(self, _: Step, seen: Any) -> None:
        answer = seen["answer"]
        self.planned = self.past.plan(answer["run"])
        assert ("err" in answer) == (self.planned is None)

    def _revert(self, _: Step, seen: Any) -> None:
        """Only texts that a run left are taken back, each to the text before it."""
        answer = seen["answer"]
        plan = self.planned or self.past.plan(answer["run"])
        outcome = plan.outcome(self.text) if plan else []
        assert answer["reverted"] == [run for run, _ in outcome]
        assert bool(outcome) == ("err" not in answer)
        for told, (run, text) in zip(seen["within"], outcome, strict=True):
            assert told["run"] == run
            self._put(text, told)
        self.past.took_back([run for run, _ in outcome])
        self.planned = None

    def _keep(self, step: Step, seen: Any) -> None:
        self._stay(step, seen)
        self.past.keep("automatic", self.text)

    def _look(self, step: Step, seen: Any) -> None:
        self._stay(step, seen)
        kept, answer = self.past.snapshots[::-1], seen["answer"]
        assert [(item["kind"], item["lines"]) for item in answer["snapshots"]] == [
            (item.kind, item.text) for item in kept
        ]
        self.looked = (kept[answer["index"]], self.text) if kept else None

    def _restore(self, _: Step, seen: Any) -> None:
        """What was shown is put back, if what it was compared with still stands."""
        looked, self.looked = self.looked, None
        if looked is None:
            assert "answer" not in seen
            return
        refusal = self._why_not_restored(*looked)
        assert seen["answer"].get("err") == refusal
        if refusal is None:
            self.past.keep("before_restore", self.text)
            self._put(looked[0].text, seen)

    def _why_not_restored(self, kept: Kept, compared: list[str]) -> str | None:
        if not any(item is kept for item in self.past.snapshots):
            return "storage"
        if compared != self.text:
            return "changed"
        return "no_change" if kept.text == self.text else None

    def _put(self, text: list[str], seen: Any) -> None:
        """A text that stood before comes back, as one undo step."""
        assert seen["steps"] == self.steps + 1
        self._become(put(self.now, text), seen)
        assert seen["lines"] == self.text
        self._disturb()
        self._check(seen["listed"])

    def _note_target(self, step: Step, seen: Any) -> None:
        alone = len(seen["listed"]) == 1
        if step["name"] == "propose" and seen.get("answer") and alone:
            first, last = rows(step, self.now)
            text = [*self.text[:first], *step["lines"], *self.text[last:]]
            self.target = (seen["listed"][0]["id"], self.undo, text)
        elif step["name"] not in ("turn", "restart"):
            self.target = None

    def _check(self, listed: list[Any]) -> None:
        """What is pending stands where it is said to be, and is what the agent saw."""
        found: set[Key] = set()
        for item in listed:
            for hunk in item["hunks"]:
                if hunk["state"] in ("pending", "stale"):
                    key = (item["id"], hunk["id"])
                    found.add(key)
                    self._check_hunk(key, hunk)
        self.hunks = {key: hunk for key, hunk in self.hunks.items() if key in found}
        self.listed = listed

    def _check_hunk(self, key: Key, hunk: Any) -> None:
        start, size = hunk["start"], len(hunk["old"])
        stand = self.now[start : start + size]
        awaited = self.hunks.get(key)
        if awaited is None:
            assert hunk["state"] == "pending", (key, hunk, self.text)
            between = [(self._row(start - 1), self._row(start))]
            unique = has_landmark(stand, self.text)
            if is_part(hunk):
                unique = "\n".join(self.text).count(hunk["old"][0]) == 1
            self.hunks[key] = awaited = Awaited([stand], between, unique, self.steps)
        if hunk["state"] == "stale":
            assert not self._must_be_pending(awaited, size), (key, hunk)
            return
        assert 0 <= start <= len(self.now)
        assert standing(hunk, [line.text for line in stand]) == hunk["old"], (key, hunk, self.text)
        if size == 0:
            self._check_insertion(awaited, start, (key, hunk))
        if not any(same(stand, place) for place in awaited.places):
            assert awaited.unique, (key, hunk)
            awaited.places.append(stand)
            awaited.disturbed = True

    def _check_insertion(self, awaited: Awaited, start: int, told: Any) -> None:
        """It keeps a neighbour; where others were accepted beside it, they may be that."""
        if self.accepting:
            awaited.between.append((self._row(start - 1), self._row(start)))
        assert self._has_neighbour(awaited, start), told

    def _row(self, row: int) -> list[Line]:
        return self.now[row : row + 1] if row >= 0 else []

    def _has_neighbour(self, awaited: Awaited, row: int) -> bool:
        """Whether an insertion still stands below the line above it, or above the one below.

        One at the very top stays at the top.
        """
        now = (self._row(row - 1), self._row(row))
        return (row == 0 and not awaited.between[0][0]) or any(
            one and other and one[0].ids & other[0].ids
            for between in awaited.between
            for one, other in zip(now, between, strict=True)
        )

    def _must_be_pending(self, awaited: Awaited, size: int) -> bool:
        """Whether nobody touched the lines since they were shown to the agent."""
        if awaited.disturbed or size == 0:
            return False
        place = awaited.places[0]
        windows = (self.now[row : row + size] for row in range(len(self.now) - size + 1))
        return any(window == place and all(line.sure for line in window) for window in windows)


def is_part(hunk: Any) -> bool:
    return "start_col" in hunk


def standing(hunk: Any, texts: list[str]) -> list[str]:
    """What stands at the place of a hunk."""
    if not is_part(hunk):
        return texts
    return [text.encode()[hunk["start_col"] : hunk["finish_col"]].decode() for text in texts]


def same(stand: Sequence[Line], place: Sequence[Line]) -> bool:
    return all(one.ids & other.ids for one, other in zip(stand, place, strict=True))


def has_landmark(stand: Sequence[Line], text: Sequence[str]) -> bool:
    return any(text.count(line.text) == 1 and line.text.strip(" \t") for line in stand)


def fitting(chosen: Sequence[Any]) -> list[Any]:
    """Those that can land together: from the top, insertions first, none over another."""
    made: list[Any] = []
    free = (0, 0)
    for hunk in sorted(chosen, key=_place):
        if (hunk["start"], hunk.get("start_col", 0)) >= free:
            made.append(hunk)
            free = (hunk["start"] + len(hunk["old"]), 0)
            if is_part(hunk):
                free = (hunk["start"], hunk["finish_col"])
    return made


def _place(hunk: Any) -> tuple[int, bool, int]:
    return hunk["start"], bool(hunk["old"]), hunk.get("start_col", -1)


def applied(now: list[Line], made: Sequence[Any]) -> list[Line]:
    new: list[Line] = []
    done = 0
    for (start, size), hunks in groupby(made, lambda hunk: (hunk["start"], len(hunk["old"]))):
        end = start + size
        new += now[done:start]
        for texts in _new_texts(now, list(hunks)):
            new += derived(now[start:end], texts)
        done = end
    return [*new, *now[done:]] or fresh_all([""])


def _new_texts(now: list[Line], hunks: list[Any]) -> list[list[str]]:
    """What hunks at one place write: parts of a line together, insertions one by one."""
    if not is_part(hunks[0]):
        return [hunk["new"] for hunk in hunks]
    line = now[hunks[0]["start"]].text.encode()
    for hunk in reversed(hunks):
        written = "\n".join(hunk["new"]).encode()
        line = line[: hunk["start_col"]] + written + line[hunk["finish_col"] :]
    return [line.decode().split("\n")]


def put(now: list[Line], text: Sequence[str]) -> list[Line]:
    """The lines once they read as `text`: above and below what differs they stay themselves.

    Which of several equal lines came or went cannot be told: each may be any of them.
    """
    old = [line.text for line in now]
    top = common(old, text)
    bottom = common(old[top:][::-1], text[top:][::-1])
    middle = slice(top, len(now) - bottom)
    new = derived(now[middle], text[top : len(text) - bottom])
    lines = [*now[:top], *new, *now[len(now) - bottom :]]
    return [one_of(line, now, lines) for line in lines]


def one_of(line: Line, now: Sequence[Line], new: Sequence[Line]) -> Line:
    """A line that stands among equal ones."""
    equal = [other for other in now if other.text == line.text]
    if max(len(equal), sum(other.text == line.text for other in new)) < 2:
        return line
    return Line(line.text, line.ids.union(*(other.ids for other in equal)), sure=False)


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many of the first elements are the same."""
    return next(
        (i for i, (left, right) in enumerate(zip(one, other, strict=False)) if left != right),
        min(len(one), len(other)),
    )


def derived(old: Sequence[Line], texts: Iterable[str]) -> list[Line]:
    """Lines that came from the old ones, if there were any."""
    ids = frozenset[int]().union(*(line.ids for line in old))
    return [Line(text, ids, sure=False) for text in texts] if old else fresh_all(texts)


def rows(step: Step, now: Sequence[Line]) -> tuple[int, int]:
    """The rows of a step's range, end-exclusive."""
    first = step["row"] % len(now)
    return first, min(first + step["rows"] + 1, len(now))


def typed(step: Step, now: list[Line], _: Any) -> list[Line]:
    row, parts = step["row"] % len(now), step["text"].split("\n")
    match step["where"]:
        case "top":
            return [*now[:row], *fresh_all(parts), *now[row:]]
        case "bottom":
            return [*now[: row + 1], *fresh_all(parts), *now[row + 1 :]]
        case "start":
            return spliced(now, (row, 0), (row, 0), parts)
        case _:
            end = (row, len(now[row].text))
            return spliced(now, end, end, parts)


def replaced(step: Step, now: list[Line], _: Any) -> list[Line]:
    start = _position(now, step["row"], step["col"])
    end = _position(now, step["row"] + step["rows"], step["col_2"])
    return spliced(now, min(start, end), max(start, end), step["text"].split("\n"))


def _position(now: list[Line], row: int, col: int) -> tuple[int, int]:
    row %= len(now)
    return row, col % (len(now[row].text) + 1)


def spliced(
    now: list[Line], start: tuple[int, int], end: tuple[int, int], parts: list[str]
) -> list[Line]:
    """The text between two places becomes `parts`; a line left whole stays itself."""
    first, last = now[start[0]], now[end[0]]
    before, after = first.text[: start[1]], last.text[end[1] :]
    texts = list(parts)
    texts[0] = before + texts[0]
    texts[-1] += after
    new = derived(now[start[0] : end[0] + 1], texts)
    return [*now[: start[0]], *new, *now[end[0] + 1 :]]


def joined(step: Step, now: list[Line], _: Any) -> list[Line]:
    first, last = rows(step, now)
    if last - first < 2:
        return now
    whole = "".join(line.text for line in now[first:last])
    return [*now[:first], *derived(now[first:last], [whole]), *now[last:]]


def deleted(step: Step, now: list[Line], _: Any) -> list[Line]:
    first, last = rows(step, now)
    return [*now[:first], *now[last:]] or fresh_all([""])


def copied(step: Step, now: list[Line], _: Any) -> list[Line]:
    first, last = rows(step, now)
    target = step["col"] % (len(now) + 1)
    copies = fresh_all(line.text for line in now[first:last])
    return [*now[:target], *copies, *now[target:]]


def moved(step: Step, now: list[Line], _: Any) -> list[Line]:
    first, last = rows(step, now)
    target = step["col"] % (len(now) + 1)
    if first <= target <= last:
        return now
    block = now[first:last]
    if target < first:
        return [*now[:target], *block, *now[target:first], *now[last:]]
    return [*now[:first], *now[last:target], *block, *now[target:]]


def pasted(step: Step, now: list[Line], _: Any) -> list[Line]:
    row = step["row"] % len(now) + (step["where"] == "bottom")
    return [*now[:row], *fresh_all(step["text"].split("\n")), *now[row:]]


def ordered(_: Step, now: list[Line], seen: list[str]) -> list[Line]:
    assert Counter(seen) == Counter(line.text for line in now)
    return now if seen == [line.text for line in now] else fresh_all(seen)


def substituted(_: Step, now: list[Line], seen: list[str]) -> list[Line]:
    return [
        line if line.text == text else Line(text, line.ids, sure=False)
        for line, text in zip(now, seen, strict=True)
    ]


def rewritten(_: Step, now: list[Line], __: Any) -> list[Line]:
    return fresh_all(line.text for line in now)


WRITING = {
    "type": typed,
    "replace": replaced,
    "join": joined,
    "delete": deleted,
    "copy": copied,
    "move": moved,
    "paste": pasted,
    "sort": ordered,
    "substitute": substituted,
    "rewrite": rewritten,
}
