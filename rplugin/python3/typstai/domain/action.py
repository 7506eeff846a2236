"""How a text action ended: exactly one of four ways, and never by an exception."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, assert_never

EmptyReason = Literal["no-target", "no-content", "no-output", "no-change"]
"""No prose in the selection; nothing in it at all; no usable answer; the same text again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The answer stands as a proposal in the document."""

    proposal: str
    changes: int
    warnings: tuple[str, ...] = ()
    """What the answer lost or altered, a few words each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """The writer changed the passage while the model worked; nothing was proposed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Empty:
    """There is nothing to propose."""

    reason: EmptyReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Stopped by the user (`aborted`), or `error` says in one sentence why not."""

    aborted: bool = False
    error: str = ""


ActionResult: TypeAlias = Applied | Stale | Empty | Failed


def result_to_dict(result: ActionResult) -> dict[str, Any]:
    """As it crosses the door to Lua: `status`, `reason`, `warnings`, and `error` for people."""
    match result:
        case Applied():
            return {
                "status": "applied",
                "reason": "",
                "warnings": list(result.warnings),
                "proposal": result.proposal,
                "changes": result.changes,
            }
        case Stale():
            return {"status": "stale", "reason": "", "warnings": []}
        case Empty():
            return {"status": "empty", "reason": result.reason, "warnings": []}
        case Failed():
            reason = "aborted" if result.aborted else "error"
            return {
                "status": "failed", "reason": reason, "warnings": [], "error": result.error,
            }  # fmt: skip
        case _:
            assert_never(result)
