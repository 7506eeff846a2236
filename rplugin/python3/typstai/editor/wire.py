"""The plain tables that cross the door to Lua, to domain values and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast, get_args

from ..domain.document import Snapshot
from ..domain.edit import LineChange
from ..domain.proposal import Hunk, HunkRef, HunkState, PendingHunk, Proposal
from ..errors import EditorError
from .port import ApprovalDecision, ApprovalRequest, Place

_STATES: tuple[str, ...] = get_args(HunkState)


def change_to_wire(change: LineChange) -> dict[str, Any]:
    return {"row0": change.row0, "old": list(change.old), "new": list(change.new)}


def proposal_to_wire(proposal: Proposal) -> dict[str, Any]:
    """A `typstai.Proposal`."""
    return {
        "id": proposal.id,
        "bufnr": proposal.bufnr,
        "path": proposal.path,
        "chat": proposal.chat,
        "run": proposal.run,
        "call": proposal.call,
        "source": proposal.source,
        "verdict": proposal.verdict,
        "hunks": [_hunk_to_wire(hunk) for hunk in proposal.hunks],
        "takes_over": [{"proposal": ref.proposal, "hunk": ref.hunk} for ref in proposal.takes_over],
    }


def hunks_from_wire(tables: Any) -> tuple[Hunk, ...]:
    """Hunks from a list of `typstai.Hunk`; anything else raises EditorError."""
    return tuple(_hunk_from_wire(table) for table in _list(tables))


def pending_from_wire(tables: Any) -> tuple[PendingHunk, ...]:
    """Pending hunks from a list of `typstai.PendingHunk`."""
    return tuple(_pending_from_wire(table) for table in _list(tables))


def snapshot_from_wire(table: Any) -> Snapshot:
    match table:
        case {
            "bufnr": int(bufnr),
            "path": str(path),
            "tick": int(tick),
            "text": str(text),
            "modifiable": bool(modifiable),
        }:
            lines = tuple(text.split("\n"))
            return Snapshot(bufnr=bufnr, path=path, tick=tick, lines=lines, modifiable=modifiable)
        case _:
            raise _malformed("a snapshot", table)


def place_from_wire(table: Any) -> Place | None:
    """A captured caret or selection; None stays None."""
    match table:
        case None:
            return None
        case {
            "bufnr": int(bufnr),
            "row0": int(row0),
            "byte_col": int(byte_col),
            "end_row0": int(end_row0),
            "end_byte_col": int(end_byte_col),
            "text": str(text),
            "changed": bool(changed),
        }:
            return Place(
                bufnr=bufnr,
                row0=row0,
                byte_col=byte_col,
                end_row0=end_row0,
                end_byte_col=end_byte_col,
                text=text,
                changed=changed,
            )
        case _:
            raise _malformed("a place", table)


def overlay_from_wire(table: Any) -> dict[str, str]:
    """Text by path. An empty Lua table may arrive as a list."""
    if table == []:
        return {}
    if not isinstance(table, Mapping):
        raise _malformed("an overlay", table)
    return {str(path): str(text) for path, text in cast(Mapping[Any, Any], table).items()}


def approval_to_wire(request: ApprovalRequest) -> dict[str, Any]:
    """A `typstai.ApprovalRequest`."""
    return {
        "id": request.id,
        "chat": request.chat,
        "run": request.run,
        "call": request.call,
        "tool": request.tool,
        "effect": request.effect,
        "destination": request.destination,
        "arguments": request.arguments,
    }


def approval_from_wire(table: Mapping[str, Any]) -> ApprovalDecision:
    """The user's answer; anything but the three known ones raises EditorError."""
    reason = str(table.get("reason") or "")
    match table.get("answer"):
        case "once" | "run" | "deny" as answer:
            return ApprovalDecision(answer=answer, reason=reason)
        case _:
            raise _malformed("an answer", table)


def _hunk_to_wire(hunk: Hunk) -> dict[str, Any]:
    place = {} if hunk.byte_col is None else {"byte_col": hunk.byte_col}
    return {
        **place,
        "id": hunk.id,
        "row0": hunk.row0,
        "old": list(hunk.old),
        "new": list(hunk.new),
        "state": hunk.state,
        "reason": hunk.reason,
    }


def _pending_from_wire(table: Any) -> PendingHunk:
    match table:
        case {"proposal": str(proposal), "hunk": str(hunk), "row0": int(row0), **rest}:
            ref = HunkRef(proposal=proposal, hunk=hunk)
            old, new = _texts(rest.get("old")), _texts(rest.get("new"))
            byte_col = _byte_col(rest.get("byte_col"))
            return PendingHunk(ref=ref, row0=row0, old=old, new=new, byte_col=byte_col)
        case _:
            raise _malformed("a pending hunk", table)


def _hunk_from_wire(table: Any) -> Hunk:
    match table:
        case {
            "id": str(hunk_id),
            "row0": int(row0),
            "old": old,
            "new": new,
            "state": str(state),
            "reason": str(reason),
            **rest,
        } if state in _STATES:
            return Hunk(
                id=hunk_id,
                row0=row0,
                old=_texts(old),
                new=_texts(new),
                state=cast(HunkState, state),
                reason=reason,
                edited=rest.get("edited") is True,
                byte_col=_byte_col(rest.get("byte_col")),
            )
        case _:
            raise _malformed("a hunk", table)


def _byte_col(value: Any) -> int | None:
    return value if isinstance(value, int) else None


def _list(value: Any) -> Sequence[Any]:
    if not isinstance(value, list):
        raise _malformed("a list", value)
    return cast(Sequence[Any], value)


def _texts(values: Any) -> tuple[str, ...]:
    return tuple(str(value) for value in _list(values))


def _malformed(wanted: str, got: Any) -> EditorError:
    return EditorError("editor_failed", f"Neovim did not send {wanted}: {got!r:.200}")
