"""Compiles on behalf of Lua, which shows what was found through `vim.diagnostic`."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import PurePath
from typing import Any

from ..domain.diagnostic import Checker
from ..editor.port import Editor
from ..settings import Settings
from ..typst.project import find_root


class Diagnostics:
    """Serves `diagnostics.check`."""

    def __init__(self, settings: Settings, editor: Editor, checker: Checker) -> None:
        self._settings = settings
        self._editor = editor
        self._checker = checker

    async def check(self, params: dict[str, Any]) -> dict[str, Any]:
        """Compile the project of `{bufnr}`: `{status, note, root, files}`.

        `files` maps absolute paths to lists of diagnostics, rows and byte
        columns from 0; an unnamed buffer stands under the empty path.
        """
        snapshot = await self._editor.snapshot(int(params["bufnr"]))
        root = await self._root(snapshot.path)
        path = snapshot.path or str(PurePath(root) / f"untitled-{snapshot.bufnr}.typ")
        overlay = {**await self._editor.overlay(root), path: snapshot.text + "\n"}
        result = await self._checker.check(root=root, path=path, overlay=overlay)
        files: dict[str, list[dict[str, Any]]] = {}
        for item in result.diagnostics:
            absolute = str(PurePath(root) / item.path)
            place = "" if absolute == path and not snapshot.path else absolute
            files.setdefault(place, []).append(asdict(item))
        return {"status": result.status, "note": result.note, "root": root, "files": files}

    async def _root(self, path: str) -> str:
        if self._settings.typst.root:
            return self._settings.typst.root
        markers = tuple(self._settings.typst.markers)
        return await asyncio.to_thread(find_root, path or "untitled.typ", markers)
