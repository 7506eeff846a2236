"""What the user chose for the next send; captured when a run starts."""

from __future__ import annotations

from dataclasses import dataclass

from ..domain.chat import Approval, Mode


@dataclass(slots=True, kw_only=True)
class Choices:
    """Changed by `:TypstAI mode` and `:TypstAI approval`."""

    mode: Mode
    approval: Approval
