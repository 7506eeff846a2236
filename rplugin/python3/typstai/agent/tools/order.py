"""In which order the calls of one answer run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby

from ...domain.tool import ToolCall

_BY_LINE = "replace_lines"


def in_order(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """The provider's order; only adjacent `replace_lines` go bottom to top.

    Their line numbers all mean the document as the model saw it, so an earlier
    replacement must not move the lines of a later one.
    """
    ordered: list[ToolCall] = []
    for by_line, group in groupby(calls, key=lambda call: call.name == _BY_LINE):
        calls_of_group = list(group)
        if by_line:
            calls_of_group.sort(key=_start_line, reverse=True)
        ordered += calls_of_group
    return ordered


def _start_line(call: ToolCall) -> int:
    try:
        line = json.loads(call.arguments)["start_line"]
        return line if isinstance(line, int) else 0
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0
