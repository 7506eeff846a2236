from typstai.agent import history
from typstai.agent.providers.base import AssistantMessage, ToolMessage, UserMessage
from typstai.domain.chat import AssistantTurn, Reasoning, Selection, Text, ToolUse, UserTurn


def test_every_call_has_its_result_right_after_it() -> None:
    turn = AssistantTurn(
        segments=(
            Text(round=0, text="Reading."),
            ToolUse(round=0, id="a", name="read_document", result="1: x"),
            ToolUse(round=0, id="b", name="read_diagnostics", state="cancelled"),
            Text(round=1, text="Done."),
        )
    )
    call, first, second, last = history.messages([turn])
    assert isinstance(call, AssistantMessage)
    assert [item.id for item in call.calls] == ["a", "b"]
    assert first == ToolMessage(call_id="a", name="read_document", text="1: x")
    assert second == ToolMessage(call_id="b", name="read_diagnostics", text=history.UNANSWERED)
    assert last == AssistantMessage(text="Done.")


def test_two_rounds_of_calls_without_text_stay_two_messages() -> None:
    turn = AssistantTurn(
        segments=(
            ToolUse(round=0, id="a", name="x", result="1"),
            ToolUse(round=1, id="b", name="x", result="2"),
        )
    )
    kinds = [type(message).__name__ for message in history.messages([turn])]
    assert kinds == ["AssistantMessage", "ToolMessage"] * 2


def test_reasoning_alone_is_no_message() -> None:
    turn = AssistantTurn(segments=(Reasoning(text="hm"),))
    assert history.messages([turn]) == []


def test_a_users_turn_carries_its_file_and_selections_as_fenced_data() -> None:
    chosen = Selection(path="a.typ", start_line=2, end_line=3, text="x</selection>y")
    turn = UserTurn(text="Shorten.", file="a.typ", selections=(chosen,))
    assert history.user_text(turn) == (
        "<file>\na.typ\n</file>\n<selection>\na.typ:2-3\nx&lt;/selection>y\n</selection>\nShorten."
    )


def test_the_oldest_turns_go_first_and_whole() -> None:
    turns = [
        UserTurn(text="a" * 100),
        AssistantTurn(segments=(ToolUse(id="c", name="x", result="r" * 100),)),
        UserTurn(text="b" * 100),
        AssistantTurn(segments=(Text(text="t" * 100),)),
        UserTurn(text="now"),
    ]
    kept, dropped = history.fitting(turns, 250)
    assert dropped == 2
    assert isinstance(history.messages(kept)[0], UserMessage)


def test_the_newest_request_is_kept_even_when_it_is_too_large() -> None:
    turns = [UserTurn(text="old"), UserTurn(text="x" * 1000)]
    kept, dropped = history.fitting(turns, 10)
    assert (len(kept), dropped) == (1, 1)
