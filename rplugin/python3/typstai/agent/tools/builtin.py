"""The built-in tools in their fixed order: it is part of the cached prompt."""

from __future__ import annotations

from collections.abc import Iterable

from .docs import DOCS_TOOLS
from .document import DOCUMENT_TOOLS
from .edit import EDIT_TOOLS
from .project import PROJECT_TOOLS
from .section import SECTION_TOOL
from .toolset import ToolSet


def builtin_tools(*, disable: Iterable[str] = ()) -> ToolSet:
    """All built-in tools but the named ones."""
    tools = (*PROJECT_TOOLS, *DOCUMENT_TOOLS, *DOCS_TOOLS, *EDIT_TOOLS, SECTION_TOOL)
    return ToolSet(tools, disable=disable)
