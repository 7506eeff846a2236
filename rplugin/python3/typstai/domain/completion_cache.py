"""What a model said would come next, kept so that it is not asked the same twice."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

MAX_ENTRIES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where text is completed: one block of one buffer, and what surrounds it."""

    bufnr: int
    block_row0: int
    before: str
    after: str


class CompletionCache:
    """The completions used last, by site and by the text before the cursor."""

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self._max = max_entries
        self._texts: OrderedDict[tuple[Site, str], str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._texts)

    def put(self, site: Site, prefix: str, text: str) -> None:
        """Remember that `text` (empty: nothing) comes after `prefix`."""
        self._texts[site, prefix] = text
        self._texts.move_to_end((site, prefix))
        if len(self._texts) > self._max:
            self._texts.popitem(last=False)

    def get(self, site: Site, prefix: str) -> str | None:
        """What comes next; None when it is not known.

        Known too is what follows when the prefix goes on as an earlier completion did.
        """
        if (site, prefix) in self._texts:
            self._texts.move_to_end((site, prefix))
            return self._texts[site, prefix]
        for key in reversed(self._texts):
            whole = key[1] + self._texts[key]
            if key[0] == site and prefix.startswith(key[1]) and _goes_on(whole, prefix):
                self._texts.move_to_end(key)
                return whole[len(prefix) :]
        return None


def _goes_on(whole: str, prefix: str) -> bool:
    return len(whole) > len(prefix) and whole.startswith(prefix)
