"""Prints the benchmark tables; see CONTRIBUTING.md.

Every number of a table was measured in the same minutes on the same machine, so ratios mean
something and seconds alone do not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from . import alone, answers, ghost, proposals

TABLES = {
    "answers": answers.report,
    "alone": alone.report,
    "ghost": ghost.report,
    "proposals": proposals.report,
}


def main() -> int:
    options = _options()
    print(f"Neovim: {options.nvim}")
    wanted = [options.only] if options.only else TABLES
    return max(TABLES[name](options.nvim) for name in wanted)


def _options() -> argparse.Namespace:
    beside = Path(sys.executable).with_name("nvim")
    default = str(beside) if beside.exists() else shutil.which("nvim")
    parser = argparse.ArgumentParser(prog="make bench ARGS=…")
    parser.add_argument("--nvim", default=os.environ.get("TYPSTAI_TEST_NVIM") or default)
    parser.add_argument("--only", choices=list(TABLES))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
