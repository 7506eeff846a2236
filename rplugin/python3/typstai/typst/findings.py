"""Makes what the compiler said and what it does not say one list, each place once. Pure."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from ..domain.diagnostic import Diagnostic
from .leaks import find_leaks
from .quickfix import known_fix
from .sources import Sources

MAX_FIXED = 50
"""Findings that are looked at for a cure; nobody goes through more at a time."""

_DOWNLOAD = re.compile(r"download package \(\S+/([\w-]+)/([\w-]+)-(\d+\.\d+\.\d+)\.tar")
_NOT_FOUND = re.compile(r"package not found \(searched for (@[^)]+)\)")


class TypstLeaks:
    """Implements `domain.diagnostic.LeakFinder`."""

    async def leaks(self, text: str) -> Sequence[Diagnostic]:
        # The parser does not yield, and a long document takes it longer than a frame.
        return await asyncio.to_thread(find_leaks, text)


def missing_package(item: Diagnostic) -> str:
    """The package (`@preview/name:1.0.0`) that the compiler could not find, or nothing."""
    if found := _DOWNLOAD.search(item.message):
        return f"@{found[1]}/{found[2]}:{found[3]}"
    if found := _NOT_FOUND.search(item.message):
        return found[1]
    return ""


def complete(
    compiled: Sequence[Diagnostic], sources: Sources, edited: Collection[str]
) -> tuple[Diagnostic, ...]:
    """The findings with cures, and leaks in the `edited` files and those that have findings."""
    fixed = [_with_fix(item, sources) for item in compiled[:MAX_FIXED]]
    searched = {*edited, *(item.path for item in fixed)}
    leaks = [leak for path in sorted(searched) for leak in _leaks(path, sources)]
    return merge([*fixed, *compiled[MAX_FIXED:]], leaks)


def merge(compiled: Sequence[Diagnostic], leaks: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Both, each place once: a leak that the compiler stumbled over takes its findings in.

    It then weighs as much as they do, so that a document with errors never
    looks as if it had none. A leak without a cure gives way to the compiler.
    """
    kept = list(compiled)
    merged: list[Diagnostic] = []
    for leak in leaks:
        same = [item for item in kept if _starts_in(item, leak)]
        if same and leak.fix is None:
            continue
        kept = [item for item in kept if item not in same]
        hints = tuple(item.message for item in same if item.severity == "error")
        worst = "error" if hints else leak.severity
        merged.append(replace(leak, severity=worst, hints=(*leak.hints, *hints)))
    return (*kept, *merged)


def _starts_in(item: Diagnostic, leak: Diagnostic) -> bool:
    start = (leak.row0, leak.byte_col)
    end = (leak.end_row0, leak.end_byte_col)
    return item.path == leak.path and start <= (item.row0, item.byte_col) < end


def _with_fix(item: Diagnostic, sources: Sources) -> Diagnostic:
    text = sources.get(item.path) if item.path else None
    if text is None:
        return item
    labels = sources.labels() if item.message.startswith("label ") else ()
    return replace(item, fix=known_fix(text, item, labels))


def _leaks(path: str, sources: Sources) -> list[Diagnostic]:
    text = sources.get(path) if path.endswith(".typ") else None
    return [replace(leak, path=path) for leak in find_leaks(text or "")]
