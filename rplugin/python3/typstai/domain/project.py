"""What the agent may know of a project's files: their names, and which it may touch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

MAX_LISTED = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Files of a project, relative to its root, sorted, `/` as separator."""

    entries: tuple[str, ...]
    complete: bool
    """False when there are more than `MAX_LISTED`."""


class ProjectFiles(Protocol):
    """Looks at a project on disk without leaving it."""

    async def list_files(self, root: str) -> Listing:
        """The project's files; hidden and generated folders are left out."""
        ...

    async def resolve(self, root: str, path: str) -> str:
        """Absolute path of the file that `path`, relative to the root, names.

        Raises `ToolError`: `outside_project` when it leaves the project by `..`,
        an absolute path or a link; `not_found` with the nearest names.
        """
        ...
