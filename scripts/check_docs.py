"""Checks what stands in the documents: help tags, help line width, and links between files."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HELP_COLUMNS = 78
_TAG = re.compile(r"(?<!\S)\*([^*\s|]+)\*(?!\S)")
_JUMP = re.compile(r"\|(typstai[^|\s]*|:TypstAI[^|\s]*)\|")
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def main() -> int:
    problems = [*_help_problems(), *_link_problems()]
    print("\n".join(problems) or "documents are sound")
    return 1 if problems else 0


def _help_problems() -> Iterator[str]:
    pages = {path: path.read_text(encoding="utf-8") for path in (ROOT / "doc").glob("*.txt")}
    tags = [tag for text in pages.values() for tag in _TAG.findall(text)]
    yield from (f"doc: tag *{tag}* stands twice" for tag in sorted({*tags}) if tags.count(tag) > 1)
    for path, text in pages.items():
        for number, line in enumerate(text.split("\n"), start=1):
            if len(line) > HELP_COLUMNS and "http" not in line and not _TAG.search(line):
                yield f"{path.name}:{number}: wider than {HELP_COLUMNS} columns"
            for jump in _JUMP.findall(line):
                if jump not in tags:
                    yield f"{path.name}:{number}: no tag *{jump}*"


def _link_problems() -> Iterator[str]:
    for path in _committed("*.md"):
        for target in _LINK.findall(_CODE.sub("", path.read_text(encoding="utf-8"))):
            if not (path.parent / target).exists():
                yield f"{path.relative_to(ROOT)}: links to {target}, which is not there"


def _committed(pattern: str) -> list[Path]:
    command = ["git", "ls-files", pattern]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / line for line in listed.stdout.splitlines()]


if __name__ == "__main__":
    sys.exit(main())
