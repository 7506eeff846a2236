import json

from typstai.agent.tools.order import in_order
from typstai.domain.tool import ToolCall


def call(name: str, number: int, **arguments: object) -> ToolCall:
    return ToolCall(id=str(number), name=name, arguments=json.dumps(arguments))


def test_adjacent_line_replacements_run_from_bottom_to_top() -> None:
    calls = [call("replace_lines", 1, start_line=2), call("replace_lines", 2, start_line=9)]
    assert [item.id for item in in_order(calls)] == ["2", "1"]


def test_everything_else_keeps_the_providers_order() -> None:
    calls = [
        call("replace_lines", 1, start_line=2),
        call("read_document", 2),
        call("replace_lines", 3, start_line=9),
        call("search_replace", 4),
    ]
    assert [item.id for item in in_order(calls)] == ["1", "2", "3", "4"]


def test_broken_arguments_do_not_break_the_order() -> None:
    broken = ToolCall(id="x", name="replace_lines", arguments="{")
    assert in_order([broken, call("replace_lines", 1, start_line=1)])[-1] is broken
