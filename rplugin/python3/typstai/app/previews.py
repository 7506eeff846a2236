"""Pages that go along with a message: drawn when it is sent, as the document is then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from ..agent.images import MAX_THUMBNAILS, Attached, attach_page
from ..agent.run import Run
from ..domain.preview import PageRenderer
from ..editor.port import Editor
from ..errors import EditorError
from .requests import Place, Preview


@dataclass(frozen=True, slots=True, kw_only=True)
class Previews:
    """Draws attached pages, and says why one could not be drawn."""

    editor: Editor
    renderer: PageRenderer
    root_of: Callable[[Place], Awaitable[str]]

    async def attach(
        self, run: Run, wanted: Sequence[Preview], *, beside: int
    ) -> tuple[tuple[Attached, ...], tuple[str, ...]]:
        """The pages, and what the model should know of them, a sentence each.

        `beside`: how many images the message has already. A page that cannot be
        drawn holds nothing up: the user is told, and the message goes without it.
        """
        attached: list[Attached] = []
        notes: list[str] = []
        for item in wanted:
            with_thumbnail = beside + len(attached) < MAX_THUMBNAILS
            page, note = await self._page(run, item, with_thumbnail=with_thumbnail)
            attached += [page] if page else []
            notes += [note] if note else []
        return tuple(attached), tuple(notes)

    async def _page(
        self, run: Run, item: Preview, *, with_thumbnail: bool
    ) -> tuple[Attached | None, str]:
        try:
            snapshot = await self.editor.snapshot(item.bufnr)
        except EditorError as error:
            return None, self._tell(f"The page could not be attached: {error}", level="warn")
        root = await self.root_of(Place(dir="", path=snapshot.path)) if snapshot.path else run.root
        path = snapshot.path or str(PurePath(root) / f"untitled-{snapshot.bufnr}.typ")
        overlay = {**await self.editor.overlay(root), path: f"{snapshot.text}\n"}
        page = await self.renderer.render(
            root=root, path=path, overlay=overlay, row0=item.row0, byte_col=item.byte_col
        )
        shown = run.relative(snapshot.path)
        if not page.png:
            sentence = f"Sent without the preview of {shown}. {page.note}"
            return None, self._tell(sentence, level="warn")
        note = self._tell(f"Preview of {shown}: {page.note}", level="info") if page.note else ""
        return await attach_page(page, shown, with_thumbnail=with_thumbnail), note

    def _tell(self, sentence: str, *, level: Literal["info", "warn"]) -> str:
        self.editor.notify(sentence, level=level)
        return sentence
