"""Questions about tool calls, and decisions on proposals, where they stand in the chat."""

from __future__ import annotations

from typing import Any

import pytest

from chat_screen import CHAT, RUN, ChatScreen, answer, question, tool
from editor import Editor


@pytest.fixture
def chat(editor: Editor) -> ChatScreen:
    return ChatScreen(editor)


def _ask(editor: Editor, **fields: Any) -> None:
    request = {
        "id": "a1",
        "chat": CHAT,
        "run": RUN,
        "call": "t1",
        "tool": "notes › word_count",
        "effect": "Counts the words of a text.",
        "destination": "sends to 127.0.0.1:8931",
        "arguments": '{"text": "a b c"}',
        **fields,
    }
    editor.lua("require('typstai.rpc').dispatch('approvals.ask', ...)", request)


@pytest.fixture
def asked(chat: ChatScreen, editor: Editor) -> ChatScreen:
    """A chat in which a tool call waits for an answer."""
    chat.open(question(), answer(tool("word_count", "waiting"), status="running"))
    _ask(editor)
    return chat


def test_a_question_shows_effect_destination_arguments_and_keys(asked: ChatScreen) -> None:
    row0 = asked.find("word_count")
    assert asked.lines()[row0 : row0 + 4] == [
        "◆ notes › word_count sends to 127.0.0.1:8931  waiting",
        "    Counts the words of a text.",
        '    {"text": "a b c"}',
        "    o once · u for this run · n deny (with a reason)",
    ]
    assert asked.calls("approval.answer") == []


@pytest.mark.parametrize(("key", "word"), [("o", "once"), ("u", "run")])
@pytest.mark.parametrize("line", ["word_count", "Counts", '{"text"', "o once"])
def test_a_key_on_any_line_of_the_question_answers_it(
    asked: ChatScreen, editor: Editor, key: str, word: str, line: str
) -> None:
    asked.go(line)
    editor.feed(key)
    assert asked.calls("approval.answer") == [{"id": "a1", "answer": word, "reason": ""}]
    assert asked.lines()[asked.find("word_count")] == "◆ word_count  waiting"
    assert not any("Counts" in text for text in asked.lines())


def test_denying_asks_for_a_reason_and_sends_it(asked: ChatScreen, editor: Editor) -> None:
    asked.go("word_count")
    editor.feed("n")
    editor.feed("not needed<CR>")
    assert asked.calls("approval.answer") == [
        {"id": "a1", "answer": "deny", "reason": "not needed"}
    ]


def test_leaving_the_reason_by_escape_answers_nothing(asked: ChatScreen, editor: Editor) -> None:
    asked.go("word_count")
    editor.feed("n")
    editor.feed("<Esc>")
    assert asked.calls("approval.answer") == []
    assert len(editor.lua("return require('typstai.chat.approvals').list()")) == 1


def test_typing_goes_on_while_a_question_waits(asked: ChatScreen, editor: Editor) -> None:
    editor.feed("ohello")
    _ask(editor, id="a2", call="other")
    editor.feed(" there u n")
    assert asked.prompt() == "\nhello there u n"
    assert asked.calls("approval.answer") == []


def test_long_arguments_are_cut_and_unfold_as_a_whole(asked: ChatScreen, editor: Editor) -> None:
    editor.lua("require('typstai.chat.approvals').withdraw({ id = 'a1' })")
    text = "日" * 1999 + "ende" + "x" * 50
    _ask(editor, id="a2", arguments=text)
    shown = "\n".join(asked.lines())
    assert "日" * 1999 + "e" in shown and "日e" in shown and "en" not in shown.split("日e")[1][:2]
    assert "… 53 more characters" in shown
    asked.go("word_count")
    editor.feed("<Tab>")
    assert text in "\n".join(asked.lines())
    assert "more characters" not in "\n".join(asked.lines())


def test_what_was_shown_cannot_be_changed_by_asking_again(
    asked: ChatScreen, editor: Editor
) -> None:
    _ask(editor, destination="sends to evil.example", arguments="{}")
    assert len(editor.lua("return require('typstai.chat.approvals').list()")) == 1
    assert not any("evil" in line for line in asked.lines())


def test_control_characters_in_a_question_never_hide_a_line(
    chat: ChatScreen, editor: Editor
) -> None:
    chat.open(question(), answer(tool("t", "waiting"), status="running"))
    _ask(editor, tool="a\nb", destination="c\0\nd", effect="e\nf", arguments='{\n"x":\x1b1}')
    row0 = chat.find("a b")
    assert chat.lines()[row0 : row0 + 4] == [
        "◆ a b c d  waiting",
        "    e f",
        "    {",
        '    "x":�1}',
    ]


def test_a_question_raises_an_event(chat: ChatScreen, editor: Editor) -> None:
    editor.record("TypstAIApprovalRequested")
    chat.open(question(), answer(tool("t", "waiting"), status="running"))
    _ask(editor)
    assert editor.seen("TypstAIApprovalRequested") == [
        {"id": "a1", "tool": "notes › word_count", "destination": "sends to 127.0.0.1:8931"}
    ]


def test_a_question_in_a_closed_chat_is_said_once_and_waits_there(
    chat: ChatScreen, editor: Editor
) -> None:
    turns = (question(), answer(tool("word_count", "waiting"), status="running"))
    chat.open(*turns)
    editor.feed("q")
    _ask(editor)
    assert len(chat.messages()) == 1 and ":TypstAI" in chat.messages()[0]
    assert len(editor.nvim.windows) == 1
    chat.open(*turns)
    assert any("Counts the words" in line for line in chat.lines())


def test_a_question_in_an_open_chat_is_not_said_in_a_message(
    asked: ChatScreen, editor: Editor
) -> None:
    editor.lua("require('typstai.message').show({ message = 'last' })")
    assert asked.messages() == ["last"]


def test_a_withdrawn_question_goes_and_its_answer_is_refused(
    asked: ChatScreen, editor: Editor
) -> None:
    editor.lua("require('typstai.rpc').dispatch('approvals.withdraw', { id = 'a1' })")
    assert not any("Counts" in line for line in asked.lines())
    _, error = editor.lua("return { require('typstai').approvals.answer('a1', 'once') }")
    assert error["code"] == "unknown_approval"
    assert asked.calls("approval.answer") == []


def test_an_answer_that_did_not_arrive_leaves_the_question_open(
    asked: ChatScreen, editor: Editor
) -> None:
    asked.answer("approval.answer", {"error": {"code": "host_lost", "message": "It is gone."}})
    asked.go("word_count")
    editor.feed("o")
    assert asked.messages() == ["It is gone."]
    assert len(editor.lua("return require('typstai.chat.approvals').list()")) == 1
    assert any("Counts" in line for line in asked.lines())


DIFF = [
    {"text": "@@ -41,1 +41,1 @@", "hl": "TypstAIHunkHeader"},
    {"text": "41    - strnog", "hl": "TypstAIDelete"},
    {"text": "   41 + strong", "hl": "TypstAIAdd"},
]


@pytest.fixture
def proposed(chat: ChatScreen, editor: Editor) -> ChatScreen:
    """A chat in which a tool call waits for a decision on its proposal."""
    editor.lua("_G.proposals.p1 = { id = 'p1', diff = ... }", DIFF)
    patch = tool("patch_document", "waiting", label="a.typ  1 hunk", proposal="p1")
    other = tool("read_document", "done", id="t2")
    chat.open(question(), answer(patch, other, status="running"))
    return chat


def test_a_pending_proposal_stands_below_its_tool_line_as_a_diff(
    proposed: ChatScreen, editor: Editor
) -> None:
    row0 = proposed.find("patch_document")
    assert proposed.lines()[row0 : row0 + 4] == [
        "◆ patch_document a.typ  1 hunk  waiting",
        "    @@ -41,1 +41,1 @@",
        "    41    - strnog",
        "       41 + strong",
    ]
    [mark] = [
        mark
        for mark in editor.lua(
            "return vim.api.nvim_buf_get_extmarks(..., -1, 0, -1, { details = true })",
            proposed.bufnr(),
        )
        if mark[3].get("hl_group") == "TypstAIAdd"
    ]
    assert (mark[1], mark[2], mark[3]["end_col"]) == (row0 + 3, 4, 18)


def test_a_decided_proposal_takes_its_diff_away(proposed: ChatScreen, editor: Editor) -> None:
    editor.lua(
        """
        _G.proposals.p1 = nil
        require("typstai.events").emit({ name = "TypstAIProposalResolved", data = { id = "p1" } })
        """
    )
    editor.wait_for("not vim.tbl_contains(_G.lines(), '    @@ -41,1 +41,1 @@')")
    proposed.segment(1, **tool("patch_document", "done", label="1 applied", proposal="p1"))
    assert proposed.lines()[proposed.find("patch_document")] == "✓ patch_document 1 applied"
    proposed.go("patch_document")
    editor.feed("a")
    assert proposed.calls("accept") == []


@pytest.mark.parametrize("line", ["patch_document", "+ strong"])
@pytest.mark.parametrize(
    ("keys", "method", "params"),
    [
        ("a", "accept", ["p1"]),
        ("A", "accept_all", [CHAT]),
        ("R", "reject_all", [CHAT]),
        ("r wrong<CR>", "reject", ["p1", {"reason": "wrong"}]),
        ("<CR>", "goto_first", ["p1"]),
        ("e", "edit", ["p1"]),
        ("d", "diff", ["p1"]),
    ],
)
def test_a_key_at_a_pending_proposal_decides_on_it(
    proposed: ChatScreen, editor: Editor, line: str, keys: str, method: str, params: list[Any]
) -> None:
    proposed.go(line)
    first, _, rest = keys.partition(" ")
    editor.feed(first)
    if rest:
        editor.feed(rest)
    assert proposed.calls(method) == [params]
    assert proposed.mode() == "n"


def test_a_refused_decision_says_why(proposed: ChatScreen, editor: Editor) -> None:
    editor.lua(
        """
        require("typstai.proposals").accept = function()
          return nil, { code = "stale", message = "You changed these lines." }
        end
        """
    )
    proposed.go("patch_document")
    editor.feed("a")
    assert proposed.messages() == ["You changed these lines."]


def test_a_diff_is_shown_as_it_is_when_the_chat_is_entered(
    proposed: ChatScreen, editor: Editor
) -> None:
    editor.nvim.command("wincmd p")
    editor.lua("_G.proposals.p1.diff[3].text = '   41 + bold'")
    editor.nvim.command("wincmd p")
    assert "       41 + bold" in proposed.lines()


def _shown_hints(editor: Editor, chat: ChatScreen) -> list[tuple[int, str]]:
    marks = editor.lua(
        """
        return vim.api.nvim_buf_get_extmarks(..., vim.api.nvim_get_namespaces()["typstai.hints"],
          0, -1, { details = true })
        """,
        chat.bufnr(),
    )
    texts: list[tuple[int, str]] = []
    for mark in marks:
        rows = mark[3].get("virt_lines") or [mark[3]["virt_text"]]
        texts.append((mark[1], " ".join(row[0][0].strip() for row in rows)))
    return texts


def test_the_keys_are_shown_on_the_current_line_only(proposed: ChatScreen, editor: Editor) -> None:
    editor.nvim.command("set columns=240 | vertical resize 130")
    proposed.go("patch_document")
    row0 = proposed.find("patch_document")
    words = "<CR> go there · a accept · r reject · A accept all · R reject all · e edit"
    assert _shown_hints(editor, proposed) == [(row0, words + " · d side by side")]
    proposed.go("read_document")
    assert _shown_hints(editor, proposed) == []
    editor.feed("G")
    assert _shown_hints(editor, proposed) == []


def test_keys_that_have_no_room_beside_the_line_stand_below_it(
    proposed: ChatScreen, editor: Editor
) -> None:
    editor.nvim.current.window.width = 30
    proposed.go("patch_document")
    [(_, text)] = _shown_hints(editor, proposed)
    assert "side by side" in text and "r reject" in text


def test_the_same_keys_elsewhere_write_in_the_prompt(proposed: ChatScreen, editor: Editor) -> None:
    proposed.go("read_document")
    editor.feed("amore")
    assert proposed.prompt() == "more"
    assert proposed.calls("accept") == []
