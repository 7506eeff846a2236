"""Run as a script: reads one JSON text a line, answers what Harper finds in it as Typst.

Ends when its input ends. Each finding is `[start, end, kind, message, choices]`.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def main() -> None:
    sys.path.append(sys.argv[1])
    import harper

    linter = harper.Linter()
    for line in sys.stdin:
        lints = linter.lint(json.loads(line), language="typst")
        found = sorted((_finding(harper, lint) for lint in lints), key=lambda item: item[:2])
        print(json.dumps(found), flush=True)


def _finding(harper: Any, lint: Any) -> list[Any]:
    choices = [_choice(harper, lint, item) for item in lint.suggestions]
    return [lint.span.start, lint.span.end, lint.lint_kind, lint.message, choices]


def _choice(harper: Any, lint: Any, suggestion: Any) -> str:
    match suggestion.kind:
        case harper.SuggestionKind.REPLACE:
            return suggestion.replacement_text
        case harper.SuggestionKind.REMOVE:
            return ""
        case _:
            return lint.problem_text + suggestion.replacement_text


if __name__ == "__main__":
    main()
