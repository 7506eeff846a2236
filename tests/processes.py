"""What a test asks the system about processes that it did not start itself. Linux and macOS."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

BOUND_SECONDS = 30.0


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    state: str
    command: str
    """Its arguments, joined by blanks."""


def all_processes() -> list[Process]:
    """Everything that runs now; what has ended but was not waited for is left out."""
    argv = ["ps", "-A", "-ww", "-o", "pid=,ppid=,stat=,args="]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, errors="replace") as ps:
        listed, _ = ps.communicate()
    rows = (line.split(maxsplit=3) for line in listed.splitlines())
    found = [Process(int(row[0]), int(row[1]), row[2], row[3]) for row in rows if len(row) == 4]
    return [item for item in found if not item.state.startswith("Z") and item.pid != ps.pid]


def descendants(pid: int) -> list[Process]:
    """The children of a process, their children, and so on."""
    everything = all_processes()
    wanted, found = {pid}, list[Process]()
    grew = True
    while grew:
        new = [item for item in everything if item.parent in wanted and item.pid not in wanted]
        wanted |= {item.pid for item in new}
        found += new
        grew = bool(new)
    return found


def wait_gone(pid: int) -> None:
    """Wait until no process has that number."""
    deadline = time.monotonic() + BOUND_SECONDS
    while any(process.pid == pid for process in all_processes()):
        assert time.monotonic() < deadline, f"process {pid} is still there"


def environment(pid: int) -> str | None:
    """What a process inherited, as one text; None where the system does not tell."""
    path = Path(f"/proc/{pid}/environ")
    return path.read_bytes().decode("utf-8", "replace") if path.exists() else None
