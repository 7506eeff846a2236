"""Sections as values: where each stands, and how one is found by its heading or label."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Protocol

from ..errors import ToolError

LISTED = 40
"""How many headings an error lists."""

_Same = Callable[[str, str], bool]

_SEPARATOR = re.compile(r"\s+>\s+")
_MARKER = re.compile(r"=+\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and all that stands below it, up to the next one of its level."""

    path: tuple[str, ...]
    """Titles from the outermost heading down to its own, as the source has them."""
    level: int
    """From 1, as many as its heading has equals signs."""
    label: str
    """Without its brackets; empty when it has none."""
    start: int
    """Row of the heading, from 0."""
    end: int
    """Row after the last one that is not blank. Closing code (a bibliography, a page break, a rule
    for what follows) is not part of it."""

    @property
    def title(self) -> str:
        return self.path[-1]


class OutlineReader(Protocol):
    """Finds the sections of a text."""

    async def sections(self, lines: Sequence[str]) -> Sequence[Section] | None:
        """In their order. None when the text nests too deep to be read."""
        ...


def by_heading(sections: Sequence[Section], heading: str) -> Section:
    """The section of a title, or of a path of titles (`Methods > Participants`).

    Case counts only where two differ by nothing else. Raises `ToolError`: `no_section`,
    `ambiguous`.
    """
    wanted = _plain(_MARKER.sub("", heading.strip(), count=1))
    for same in (_is, _is_folded):
        found = [item for item in sections if _names(item, wanted, same)]
        if len(found) == 1:
            return found[0]
        if found:
            raise ToolError(
                "ambiguous",
                f"{len(found)} headings read {heading!r}. Give the titles above it too "
                f"(A > B), or its label:\n{_listed(found)}",
            )
    raise ToolError("no_section", f"no heading reads {heading!r}. {_nearest(sections, wanted)}")


def by_label(sections: Sequence[Section], label: str) -> Section:
    """The section whose heading has the label. Raises `ToolError("no_section")`."""
    wanted = label.strip().removeprefix("<").removesuffix(">")
    for item in sections:
        if item.label == wanted:
            return item
    raise ToolError(
        "no_section", f"no heading has the label <{wanted}>. {_nearest(sections, wanted)}"
    )


def _names(section: Section, wanted: str, same: _Same) -> bool:
    if same(section.title, wanted):
        return True
    *above, title = _SEPARATOR.split(wanted)
    if not (above and same(section.title, title)):
        return False
    ancestors = iter(section.path[:-1])
    return all(any(same(ancestor, name) for ancestor in ancestors) for name in above)


def _is(title: str, wanted: str) -> bool:
    return _plain(title) == wanted


def _is_folded(title: str, wanted: str) -> bool:
    return _plain(title).casefold() == wanted.casefold()


def _plain(title: str) -> str:
    return " ".join(title.split())


def _nearest(sections: Sequence[Section], wanted: str) -> str:
    if not sections:
        return "The document has no headings."
    names = [item.title for item in sections] + [item.label for item in sections if item.label]
    close = set(get_close_matches(wanted, names, n=3, cutoff=0.5))
    near = [item for item in sections if close & {item.title, item.label}]
    return f"The {'nearest ' if near else ''}headings are:\n{_listed(near or sections)}"


def _listed(sections: Sequence[Section]) -> str:
    shown = [
        f"{item.start + 1}: {' > '.join(item.path)}" + (f" <{item.label}>" if item.label else "")
        for item in sections[:LISTED]
    ]
    more = len(sections) - len(shown)
    return "\n".join([*shown, *([f"and {more} more"] if more else [])])
