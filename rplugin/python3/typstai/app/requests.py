"""What Lua sends, decoded strictly: a wrong shape is our own mistake and is raised."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec


class Place(msgspec.Struct, frozen=True):
    """Where the user is: a folder, and a file in it (empty: none, or an unnamed buffer)."""

    dir: str
    path: str = ""


class Target(msgspec.Struct, frozen=True):
    """The document that the user looked at."""

    bufnr: int
    path: str = ""


class Selection(msgspec.Struct, frozen=True):
    path: str
    start_line: int
    end_line: int
    text: str


class Preview(msgspec.Struct, frozen=True):
    """A document whose page is to be drawn, and where its cursor is; from 0."""

    bufnr: int
    row0: int
    byte_col: int


class Send(msgspec.Struct, frozen=True):
    chat: str
    text: str
    target: Target | None = None
    capture: str = ""
    selections: tuple[Selection, ...] = ()
    images: tuple[str, ...] = ()
    """Absolute paths."""
    previews: tuple[Preview, ...] = ()


T = TypeVar("T")


def decode(cls: type[T], params: Any) -> T:
    """`params` as `cls`; an empty Lua table counts as a map."""
    return msgspec.convert(params or {}, cls)
