"""The transcript: a view of turns that events build up and nothing else can change."""

from __future__ import annotations

from typing import Any

import pytest

from chat_screen import ChatScreen, answer, question, tool
from editor import Editor


@pytest.fixture
def chat(editor: Editor) -> ChatScreen:
    return ChatScreen(editor)


def _user(text: str, **fields: Any) -> dict[str, Any]:
    return question(text, **fields)


def _text(text: str) -> dict[str, Any]:
    return {"kind": "text", "text": text}


def _reasoning(text: str, seconds: float = 6.0) -> dict[str, Any]:
    return {"kind": "reasoning", "text": text, "seconds": seconds}


def test_a_conversation_reads_from_top_to_bottom(chat: ChatScreen) -> None:
    selection = {"path": "results.typ", "start_line": 40, "end_line": 52, "text": "x"}
    read = tool("read_document", "done", label="results.typ 1-118")
    chat.open(
        _user("Fix it.", selections=[selection]),
        answer(_reasoning("hm"), _text("I read first.\n"), read, seconds=12.0),
    )
    assert chat.transcript() == [
        "",
        "You · main.typ",
        "Fix it.",
        "+ selection results.typ:40-52",
        "",
        "Assistant · m",
        "▸ Thinking · 6 s",
        "I read first.",
        "✓ read_document results.typ 1-118",
        "complete · 12 s",
        "",
    ]


def test_a_users_turn_shows_the_time_it_was_sent(chat: ChatScreen, editor: Editor) -> None:
    chat.open(_user("Hi", at=1_700_000_000))
    clock = editor.lua("return os.date('%H:%M', 1700000000)")
    assert chat.lines()[1] == f"You · main.typ · {clock}"


def test_an_answer_grows_by_what_arrives(chat: ChatScreen) -> None:
    chat.open()
    chat.start()
    chat.segment(1, **_text(""))
    for piece in ("\n\nHel", "lo", "\n", "\nwor", "ld  ", "\n\n"):
        chat.append(piece)
    assert chat.transcript()[-5:] == ["Hello", "", "world", "⋯", ""]
    chat.finish(seconds=3.2)
    assert chat.transcript()[-5:] == ["Hello", "", "world", "complete · 3 s", ""]


def test_appending_touches_only_the_end_of_the_answer(chat: ChatScreen, editor: Editor) -> None:
    chat.open()
    chat.start()
    chat.segment(1, **_text("one\ntwo"))
    editor.lua(
        """
        _G.edits = {}
        vim.api.nvim_buf_attach(..., false, { on_bytes = function(_, _, _, row0, col, _, _, _,
            old_bytes, _, _, new_bytes)
          table.insert(_G.edits, { row0, col, old_bytes, new_bytes })
        end })
        """,
        chat.bufnr(),
    )
    row0 = chat.find("two")
    chat.append(" three")
    assert editor.lua("return _G.edits") == [[row0, 3, 0, 6]]


def test_a_tools_state_changes_in_its_one_line(chat: ChatScreen, editor: Editor) -> None:
    chat.open()
    chat.start()
    chat.segment(1, **tool("read_document", "running"))
    editor.lua(
        """
        _G.edits = {}
        vim.api.nvim_buf_attach(..., false, { on_lines = function(_, _, _, first0, last0, new0)
          table.insert(_G.edits, { first0, last0, new0 })
        end })
        """,
        chat.bufnr(),
    )
    for state, glyph in (
        ("waiting", "◆"),
        ("failed", "✗"),
        ("rejected", "–"),
        ("cancelled", "–"),
        ("done", "✓"),
    ):
        chat.segment(1, **tool("read_document", state, label="a.typ"))
        assert chat.lines()[chat.find("read_document")].startswith(f"{glyph} read_document a.typ")
    changed = editor.lua("return _G.edits")
    row0 = chat.find("read_document")
    assert {tuple(edit) for edit in changed} == {(row0, row0 + 1, row0 + 1)}


def test_a_failed_tool_says_why_on_its_line(chat: ChatScreen) -> None:
    chat.open(_user("x"), answer(tool("search", "failed", result="no_match: not found\nmore")))
    assert "✗ search no_match: not found" in chat.lines()


@pytest.mark.parametrize(
    ("status", "error", "line"),
    [
        ("complete", "", "complete · 12 s · 2.1k tok"),
        ("incomplete", "32 rounds", "incomplete · 32 rounds · 12 s · 2.1k tok"),
        ("cancelled", "", "cancelled · 12 s · 2.1k tok"),
        ("failed", "The model refused the key.", "✗ The model refused the key."),
        ("failed", "", "✗ The run failed; see :TypstAI log."),
    ],
)
def test_a_turn_ends_in_one_line(chat: ChatScreen, status: str, error: str, line: str) -> None:
    chat.open()
    chat.start()
    chat.segment(1, **_text("partial"))
    chat.finish(status, error=error, seconds=12.0, input_tokens=2000, output_tokens=100)
    assert chat.transcript()[-3:] == ["partial", line, ""]


@pytest.mark.parametrize("key", ["<Tab>", "za", "<CR>"])
def test_reasoning_unfolds_in_place_while_it_streams(
    chat: ChatScreen, editor: Editor, key: str
) -> None:
    chat.open()
    chat.start()
    chat.segment(1, **_reasoning("first\nsecond", 0.0))
    chat.append(" more")
    assert not any("second" in line for line in chat.lines())
    chat.go("Thinking")
    editor.feed(key)
    row0 = chat.find("Thinking")
    assert chat.lines()[row0 : row0 + 3] == ["▾ Thinking", "  first", "  second more"]
    chat.append(", and\nthird")
    assert chat.lines()[row0 + 2 : row0 + 4] == ["  second more, and", "  third"]
    assert editor.nvim.api.win_get_cursor(0)[0] - 1 == row0
    editor.feed(key)
    assert chat.lines()[row0 : row0 + 2] == ["▸ Thinking", "⋯"]


def test_unfolded_stays_unfolded_when_the_segment_or_turn_comes_again(
    chat: ChatScreen, editor: Editor
) -> None:
    chat.open()
    chat.start()
    chat.segment(1, **_reasoning("thought"))
    chat.go("Thinking")
    editor.feed("<Tab>")
    chat.segment(1, **_reasoning("thought again"))
    assert "  thought again" in chat.lines()
    chat.event(kind="turn", turn=answer(_reasoning("last thought"), _text("so")))
    assert "  last thought" in chat.lines() and "so" in chat.lines()


def test_a_tools_detail_unfolds_below_its_line(chat: ChatScreen, editor: Editor) -> None:
    chat.open(_user("x"), answer(tool("read", "done", detail="a\n\nb\n"), _text("end")))
    chat.go("read")
    editor.feed("<Tab>")
    row0 = chat.find("✓ read")
    assert chat.lines()[row0 : row0 + 5] == ["✓ read", "    a", "", "    b", "end"]


def test_a_second_turn_with_the_same_id_replaces_the_first(chat: ChatScreen) -> None:
    chat.open(_user("One"), answer(_text("old\nold")), _user("Two", id="q2"))
    chat.event(kind="turn", turn=answer(_text("new")))
    assert [line for line in chat.lines() if line in ("One", "old", "new", "Two")] == [
        "One",
        "new",
        "Two",
    ]


def test_control_characters_never_break_a_line(chat: ChatScreen, editor: Editor) -> None:
    nasty = "a\nb\r\0c\x1bd"
    chat.open(
        _user(nasty, file=nasty, selections=[{"path": nasty, "start_line": 1, "end_line": 2}]),
        answer(
            tool(nasty, "done", label=nasty, detail=nasty),
            _text(nasty),
            _reasoning(nasty),
            model=nasty,
            status="failed",
            error=nasty,
        ),
        title=nasty,
    )
    assert "✓ a b c d a b c d" in chat.lines()
    assert "✗ a b c d" in chat.lines()
    chat.event(kind="title", title=nasty)
    assert not any("\0" in line or "\x1b" in line for line in chat.lines())
    assert editor.messages() == ""


def test_ascii_replaces_every_glyph(chat: ChatScreen, editor: Editor) -> None:
    editor.lua("require('typstai.config').get().ui.ascii = true")
    states = ("running", "waiting", "done", "failed", "rejected", "cancelled")
    tools = [tool("t", state, label="l", id=state) for state in states]
    chat.open(_user("x"), answer(_reasoning("r\x01"), *tools, _text("y\x01")))
    chat.event(kind="turn", turn=answer(id="r2", status="running"))
    chat.go("Thinking")
    editor.feed("<Tab>g?")
    assert "".join(editor.lines()).isascii()
    editor.feed("q")
    assert "".join(chat.lines()).isascii()
    marks = editor.lua(
        "return vim.api.nvim_buf_get_extmarks(..., -1, 0, -1, { details = true })", chat.bufnr()
    )
    drawn = [
        chunk[0]
        for mark in marks
        for line in [*mark[3].get("virt_lines", []), mark[3].get("virt_text", [])]
        for chunk in line
    ]
    assert drawn and "".join(drawn).isascii()
    assert editor.nvim.current.window.options["winbar"].isascii()


def test_events_of_another_chat_or_turn_change_nothing(chat: ChatScreen, editor: Editor) -> None:
    chat.open(_user("x"), answer(_text("y")))
    before = chat.lines()
    editor.lua(
        "require('typstai.chat').event(...)",
        {"chat": "other", "event": {"kind": "finish", "id": "r1"}},
    )
    chat.event(kind="append", id="gone", index=1, text="z")
    chat.append("z", index=7)
    assert chat.lines() == before


_CHANGES = {
    "delete everything": ":%delete<CR>",
    "delete everything in normal mode": ":normal ggdG<CR>",
    "substitute": r":%s/\w/#/g<CR>",
    "filter": ":%!sort<CR>",
    "backspace over the start": "I<BS><BS><BS><Esc>",
    "delete word back over the start": "I<C-w><C-u><Esc>",
    "join upwards": ":normal kJ<CR>",
    "delete upwards": "dk",
    "delete to the top": "dgg",
    "move to the top": ":move 0<CR>",
    "global": ":g/./delete<CR>",
    "macro": ":let @q = 'ggdGk'<CR>:normal @q<CR>",
    "undo": ":undo<CR>",
    "append above": ":1put ='x'<CR>",
    "reload": ":edit<CR>",
}


@pytest.mark.parametrize("keys", _CHANGES.values(), ids=_CHANGES.keys())
def test_a_foreign_change_of_the_transcript_is_repaired_and_the_prompt_kept(
    chat: ChatScreen, editor: Editor, keys: str
) -> None:
    chat.open(_user("One"), answer(_reasoning("r"), _text("Two\n\nthree")))
    before = chat.transcript()
    editor.feed("idraft of mine<Esc>" + keys)
    editor.wait_for("vim.deep_equal(vim.list_slice(_G.lines(), 1, #...), ...)", before)
    assert chat.transcript() == before
    assert chat.prompt() == "draft of mine"
    chat.event(kind="append", id="r1", index=2, text=" and four")
    assert "three and four" in chat.lines()
    assert editor.nvim.api.win_get_cursor(0)[0] > chat.border0()


def test_text_typed_over_the_whole_buffer_lands_in_the_prompt(
    chat: ChatScreen, editor: Editor
) -> None:
    chat.open(_user("One"), answer(_text("Two")))
    before = chat.transcript()
    editor.feed("idraft<Esc>:normal ggcG, new<CR>")
    assert (chat.transcript(), chat.prompt()) == (before, "draft, new")


def test_a_change_by_another_plugin_in_a_hidden_chat_is_repaired(
    chat: ChatScreen, editor: Editor
) -> None:
    bufnr = chat.open(_user("One"), answer(_text("Two")))
    before = editor.lines(bufnr)
    editor.feed("q")
    editor.lua(
        "vim.bo[...].modifiable = true vim.api.nvim_buf_set_lines(..., 0, 3, false, {})", bufnr
    )
    editor.wait_for("#vim.api.nvim_buf_get_lines(..., 0, -1, false) > 4", bufnr)
    assert editor.lines(bufnr) == before


def test_keys_that_change_text_do_nothing_to_the_transcript(
    chat: ChatScreen, editor: Editor
) -> None:
    chat.open(_user("One"), answer(_text("Two")))
    before = chat.lines()
    editor.feed("gg")
    assert editor.nvim.current.buffer.options["modifiable"] is False
    editor.feed("ddxJ~<Esc>")
    assert chat.lines() == before
    editor.feed("G")
    assert editor.nvim.current.buffer.options["modifiable"] is True


def _highlights(editor: Editor, bufnr: int) -> set[tuple[str, str]]:
    marks = editor.lua(
        """
        local namespace = vim.api.nvim_get_namespaces()["typstai.markdown"]
        local found = {}
        for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(..., namespace, 0, -1,
            { details = true })) do
          local text = vim.api.nvim_buf_get_text(..., mark[2], mark[3], mark[4].end_row,
            mark[4].end_col, {})
          table.insert(found, { mark[4].hl_group, table.concat(text, "\\n") })
        end
        return found
        """,
        bufnr,
    )
    return {(group, text) for group, text in marks}


def test_markdown_is_highlighted_a_paragraph_at_a_time(chat: ChatScreen, editor: Editor) -> None:
    bufnr = chat.open()
    chat.start()
    chat.segment(1, **_text("see **this** now\n\nand **tha"))
    strong = ("@markup.strong.markdown_inline", "**this**")
    marks_from = "#vim.api.nvim_buf_get_extmarks(select(1, ...), select(2, ...), {0}, -1, {{}}) > 0"
    namespace = editor.nvim.api.get_namespaces()["typstai.markdown"]
    editor.wait_for(marks_from.format(0), bufnr, namespace)
    assert strong in _highlights(editor, bufnr)
    chat.append("t** too")
    chat.finish()
    place = f"{{ {chat.find('that')}, 0 }}"
    editor.wait_for(marks_from.format(place), bufnr, namespace)
    found = _highlights(editor, bufnr)
    assert {strong, ("@markup.strong.markdown_inline", "**that**")} <= found


def test_markdown_is_loaded_before_an_answer_needs_it(editor: Editor) -> None:
    editor.lua(
        """
        local markdown = require("typstai.chat.markdown")
        local prepare = markdown.prepare
        markdown.prepare = function()
          _G.prepared = not prepare()
          return not _G.prepared
        end
        """
    )
    empty = {"id": "c1", "project": "/home/ada/thesis", "title": "", "turns": []}
    editor.lua("require('typstai.chat').load(...)", empty)
    editor.wait_for("_G.prepared and package.loaded['vim.treesitter.languagetree'] ~= nil")


def test_collecting_garbage_makes_no_long_query_be_compiled_again(
    chat: ChatScreen, editor: Editor
) -> None:
    chat.open()
    compiled = editor.lua(
        """
        collectgarbage()
        collectgarbage()
        local parse, count = vim._ts_parse_query, 0
        vim._ts_parse_query = function(language, source)
          count = count + (#source > 500 and 1 or 0)
          return parse(language, source)
        end
        local spans = require("typstai.chat.markdown").spans({ "**a**" })
        vim._ts_parse_query = parse
        return { count, #spans > 0 }
        """
    )
    assert compiled == [0, True]


def test_treesitter_started_in_every_buffer_does_not_reach_the_chat(
    chat: ChatScreen, editor: Editor
) -> None:
    editor.lua(
        """
        vim.api.nvim_create_autocmd("FileType", { callback = function(event)
          pcall(vim.treesitter.start, event.buf)
        end })
        """
    )
    bufnr = chat.open(_user("x"), answer(_text("y")))
    assert editor.lua("return vim.treesitter.highlighter.active[...] == nil", bufnr)


def test_a_code_fence_loads_no_parser_by_the_name_a_model_gave(
    chat: ChatScreen, editor: Editor
) -> None:
    editor.lua(
        """
        _G.asked = {}
        local add = vim.treesitter.language.add
        vim.treesitter.language.add = function(name, ...)
          table.insert(_G.asked, name)
          return add(name, ...)
        end
        """
    )
    bufnr = chat.open(_user("x"), answer(_text("**a**\n\n```lua\nlocal x\n```\n\n```../x\ny\n```")))
    editor.wait_for(
        "#vim.api.nvim_buf_get_extmarks(..., vim.api.nvim_get_namespaces()['typstai.markdown'],"
        " 0, -1, {}) > 0",
        bufnr,
    )
    assert set(editor.lua("return _G.asked")) <= {"markdown", "markdown_inline", "typst"}
