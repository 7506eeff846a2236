"""The prompt: written by the user alone, undisturbed by whatever streams in above it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from chat_screen import ChatScreen, answer, question, random_event, rendered_again, tool
from editor import Editor


@pytest.fixture
def chat(editor: Editor) -> ChatScreen:
    return ChatScreen(editor)


@pytest.fixture
def stream(chat: ChatScreen) -> ChatScreen:
    """A chat in which an answer is being written."""
    chat.open()
    chat.start()
    chat.segment(1, kind="text", text="begin")
    return chat


def test_typing_goes_on_while_an_answer_streams(stream: ChatScreen, editor: Editor) -> None:
    editor.feed("ihello ")
    for number, key in enumerate("wonderful<CR>world".replace("<CR>", "\n")):
        stream.append(f" piece {number}\n\nnext")
        editor.feed(key if key != "\n" else "<CR>")
    assert stream.prompt() == "hello wonderful\nworld"
    assert stream.mode() == "i"


def test_the_cursor_stays_in_its_column_in_the_middle_of_a_word(
    stream: ChatScreen, editor: Editor
) -> None:
    editor.feed("iwrite ünder<Esc>0fn")
    column = editor.nvim.api.win_get_cursor(0)[1]
    stream.append("x\ny\nz")
    stream.segment(2, **tool("read", "running"))
    row, after = editor.nvim.api.win_get_cursor(0)
    assert (row - 1, after) == (stream.border0(), column)
    editor.feed("iX")
    assert stream.prompt() == "write üXnder"


def test_a_selection_stays_selected(stream: ChatScreen, editor: Editor) -> None:
    editor.feed("ione two three<Esc>0wviw")
    stream.append("x\ny\nz")
    assert stream.mode() == "v"
    editor.feed("d")
    assert stream.prompt() == "one  three"
    stream.append("!")
    assert stream.transcript()[-5:] == ["beginx", "y", "z!", "⋯", ""]


def test_a_pending_operator_and_its_count_stay_pending(stream: ChatScreen, editor: Editor) -> None:
    editor.feed("ione two three four<Esc>0d")
    stream.append("x\ny\nz")
    editor.feed("2w")
    assert stream.prompt() == "three four"


def test_registers_keep_what_they_had(stream: ChatScreen, editor: Editor) -> None:
    editor.feed("ione two<Esc>0yiw")
    before = editor.lua("return { vim.fn.getreg('\"'), vim.fn.getreg('0'), vim.fn.getreg('1') }")
    stream.append("x\ny\nz")
    stream.segment(1, kind="text", text="other")
    stream.event(kind="turn", turn=answer({"kind": "text", "text": "again"}))
    after = editor.lua("return { vim.fn.getreg('\"'), vim.fn.getreg('0'), vim.fn.getreg('1') }")
    assert after == before


def test_the_completion_menu_stays_open_and_completes(stream: ChatScreen, editor: Editor) -> None:
    editor.nvim.command("set completeopt=menuone,noinsert")
    editor.feed("ialpha alps al<C-n>")
    editor.wait_for("vim.fn.pumvisible() == 1")
    stream.append("x\ny\nz")
    assert editor.nvim.funcs.pumvisible() == 1
    editor.feed("<C-n><C-y>!")
    assert stream.prompt() in ("alpha alps alps!", "alpha alps alpha!")


def test_deleting_a_word_in_insert_mode_stays_in_the_prompt(
    stream: ChatScreen, editor: Editor
) -> None:
    editor.feed("ione two")
    stream.append("x\ny\nz")
    editor.feed("<C-w>2")
    assert stream.prompt() == "one 2"


def test_dot_repeats_in_the_prompt(stream: ChatScreen, editor: Editor) -> None:
    editor.feed("ione two three<Esc>0dw")
    stream.append("x\ny")
    editor.feed(".")
    assert stream.prompt() == "three"


@pytest.mark.parametrize("key", ["i", "a", "I", "A", "o", "O"])
def test_a_key_that_begins_to_write_goes_to_the_prompt(
    chat: ChatScreen, editor: Editor, key: str
) -> None:
    chat.open(question(), answer({"kind": "text", "text": "x"}))
    before = chat.transcript()
    editor.feed("idraft <Esc>gg" + key + "more")
    assert chat.prompt() == "draft more"
    assert chat.transcript() == before


def test_keys_that_write_keep_their_meaning_in_the_prompt(chat: ChatScreen, editor: Editor) -> None:
    chat.open()
    editor.feed("ib<Esc>Ia<Esc>Ad<Esc>ic<Esc>oe<Esc>Ox<Esc>2ig<Esc>")
    assert chat.prompt() == "abcd\nggx\ne"


@pytest.mark.parametrize("key", ["p", "P"])
def test_pasting_in_the_transcript_pastes_into_the_prompt(
    chat: ChatScreen, editor: Editor, key: str
) -> None:
    chat.open(question("Quote me"), answer())
    editor.feed("gg")
    chat.go("Quote")
    editor.feed('"xyiw"x' + key)
    assert chat.prompt() == "Quote"


def test_insert_mode_cannot_walk_into_the_transcript(chat: ChatScreen, editor: Editor) -> None:
    chat.open(question(), answer({"kind": "text", "text": "x"}))
    before = chat.transcript()
    editor.feed("iab<Up><Up>c<C-Home>d")
    assert sorted(chat.prompt()) == ["a", "b", "c", "d"]
    assert chat.transcript() == before
    assert editor.messages() == ""


def test_typing_on_after_backspace_at_the_start_keeps_every_letter(
    chat: ChatScreen, editor: Editor
) -> None:
    chat.open(question(), answer({"kind": "text", "text": "x"}))
    before = chat.transcript()
    editor.feed("iraft<Esc>I<BS><BS>d")
    editor.wait_for("vim.deep_equal(vim.list_slice(_G.lines(), 1, #...), ...)", before)
    editor.feed("!")
    assert chat.prompt() == "d!raft"


def test_undo_takes_back_one_insertion_or_command_at_a_time(
    stream: ChatScreen, editor: Editor
) -> None:
    editor.feed("ione two<Esc>")
    stream.append("x\ny")
    editor.feed("A three<CR>four<Esc>")
    stream.append("x\ny")
    editor.feed("ddA!<Esc>")
    streamed = stream.transcript()
    states: list[str] = []
    for _ in range(5):
        editor.feed("u")
        states.append(stream.prompt())
    assert states == ["one two three", "one two three\nfour", "one two", "", ""]
    editor.feed("<C-r><C-r>")
    assert stream.prompt() == "one two three\nfour"
    editor.feed("A5<Esc><C-r>")
    assert stream.prompt() == "one two three5\nfour"
    assert stream.transcript() == streamed


def test_a_sent_message_comes_back_by_undo(chat: ChatScreen, editor: Editor) -> None:
    chat.open()
    editor.feed("iFix it<Esc><CR>u")
    assert chat.prompt() == "Fix it"


def test_deleting_the_only_line_of_the_prompt_leaves_an_empty_prompt(
    chat: ChatScreen, editor: Editor
) -> None:
    chat.open(question(), answer())
    before = chat.transcript()
    editor.feed("ione<Esc>dd")
    assert (chat.prompt(), chat.transcript()) == ("", before)
    editor.feed("inew<Esc>")
    assert chat.prompt() == "new"
    editor.feed("uu")
    assert chat.prompt() == "one"


def _hint(chat: ChatScreen, editor: Editor) -> tuple[int, str]:
    [mark] = editor.lua(
        """
        return vim.api.nvim_buf_get_extmarks(..., vim.api.nvim_get_namespaces()["typstai.prompt"],
          0, -1, { details = true })
        """,
        chat.bufnr(),
    )
    return mark[1], " · ".join(line[0][0].strip() for line in mark[3]["virt_lines"])


def test_the_keys_stand_below_the_last_line_of_the_prompt(chat: ChatScreen, editor: Editor) -> None:
    chat.open()
    editor.feed("ione<CR>two<CR>three")
    row0, text = _hint(chat, editor)
    assert (row0, text.strip()) == (chat.border0() + 2, "<C-s> send · <C-c> stop · g? help")
    editor.feed("<Esc>dd")
    assert _hint(chat, editor)[0] == chat.border0() + 1


def _last_visible(editor: Editor, window: Any) -> tuple[int, int]:
    editor.nvim.command("redraw")
    last = editor.nvim.funcs.line("w$", window.handle)
    return last, editor.nvim.api.buf_line_count(window.buffer)


def test_a_writer_at_the_prompt_sees_the_end_and_the_keys(
    stream: ChatScreen, editor: Editor
) -> None:
    window = editor.nvim.current.window
    editor.feed("itext")
    stream.append("long line " * 40)
    for number in range(30):
        stream.append(f"\nline {number} " + "word " * (number % 7))
        last, count = _last_visible(editor, window)
        assert last == count
    info = editor.nvim.funcs.getwininfo(window.handle)[0]
    used = editor.nvim.api.win_text_height(window, {"start_row": info["topline"] - 1})["all"]
    assert used <= info["height"], "the row of keys, which is counted here, must fit too"


def test_an_answer_of_one_endless_line_is_followed(stream: ChatScreen, editor: Editor) -> None:
    window = editor.nvim.current.window
    editor.feed("itext")
    for _ in range(40):
        stream.append("and so on and so on and so on ")
    editor.nvim.command("redraw")
    assert _last_visible(editor, window)[0] == editor.nvim.api.buf_line_count(window.buffer)
    position = editor.nvim.funcs.screenpos(window.handle, stream.find("begin") + 1, 1)
    assert position["row"] == 0
    view = editor.nvim.funcs.winsaveview()
    assert view["topline"] == stream.find("begin") + 1 and view["skipcol"] > 0


def test_the_chat_follows_while_the_user_is_in_the_document(
    stream: ChatScreen, editor: Editor
) -> None:
    window = editor.nvim.current.window
    editor.nvim.command("wincmd p")
    for number in range(60):
        stream.append(f"\nline {number}")
    last, count = _last_visible(editor, window)
    assert last == count


def test_a_reader_who_scrolled_up_is_never_moved(stream: ChatScreen, editor: Editor) -> None:
    for number in range(80):
        stream.append(f"\nline {number}")
    editor.feed("gg10j")
    editor.nvim.command("redraw")
    before = editor.nvim.funcs.winsaveview()
    stream.append("\nmore\nmore")
    stream.segment(2, **tool("read", "running"))
    stream.finish()
    editor.nvim.command("redraw")
    assert editor.nvim.funcs.winsaveview() == before


def test_two_windows_on_a_chat_each_keep_their_place(stream: ChatScreen, editor: Editor) -> None:
    for number in range(80):
        stream.append(f"\nline {number}")
    writer = editor.nvim.current.window
    editor.nvim.command("split")
    reader = editor.nvim.current.window
    editor.feed("gg")
    editor.nvim.command("wincmd j")
    assert editor.nvim.current.window == writer
    editor.feed("Gitext")
    stream.append("\nmore\nmore")
    editor.nvim.command("redraw")
    assert editor.nvim.funcs.line("w0", reader.handle) == 1
    last, count = _last_visible(editor, writer)
    assert last == count and stream.prompt() == "text"


_KEYS = ("a", "ü", "日", " ", "<CR>", "<BS>", "<Left>", "<C-w>", "<Home>", "<End>", "<Del>", ".")


@pytest.mark.parametrize("seed", range(6))
def test_random_typing_amid_random_events_is_exact(
    chat: ChatScreen, editor: Editor, seed: int
) -> None:
    rng = random.Random(seed)
    chat.open()
    chat.start()
    chat.segment(1, kind="text", text="begin")
    twin = editor.lua(
        """
        local bufnr = vim.api.nvim_create_buf(false, true)
        vim.bo[bufnr].undolevels = -1
        return bufnr
        """
    )
    counts = {"segments": 1, "run": 1}
    typed = ["i"]
    editor.feed("i")
    for _ in range(60):
        if rng.random() < 0.5:
            random_event(chat, rng, counts)
        key = rng.choice(_KEYS)
        if not (key in ("<BS>", "<C-w>", "<Left>") and _at_start(chat, editor)):
            typed.append(key)
            editor.feed(key)
    editor.feed("<Esc>")
    prompt = chat.prompt()
    assert chat.transcript() == rendered_again(editor)
    assert chat.prompt() == prompt
    editor.lua("vim.api.nvim_win_set_buf(0, ...)", twin)
    editor.feed("".join(typed) + "<Esc>")
    assert "\n".join(editor.lines()) == prompt


def _at_start(chat: ChatScreen, editor: Editor) -> bool:
    row, column = editor.nvim.api.win_get_cursor(0)
    return row - 1 == chat.border0() and column == 0


_COMMANDS = (
    "ggdG", ":%d<CR>", "dd", "dk", "J", ":normal ggJ<CR>", "ihello<Esc>", "ofoo<CR>bar<Esc>", "p",
    "P", "yy", "yG", "yyp", "u", "<C-r>", "xp", "D", "C!<Esc>", "vGd", "ggVGd", "gg", "G", "kkk",
    ":%s/o/0/g<CR>", "I<BS><BS>z<Esc>", "cc<Esc>", "~", "guu", ">>", "<Tab>", ":m 0<CR>",
    ":g/e/d<CR>", "]]", "[[", "i<C-w><C-u>q<Esc>", "ip<C-n><C-n><C-y><Esc>", "V", "d2w",
    "<C-v>jd", "R12<Esc>", "dap", "cipnew<Esc>", "gqG", "=G", "gvd", ".", "3dd", "2J", ":edit<CR>",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_random_commands_amid_random_events_never_break_the_transcript(
    chat: ChatScreen, editor: Editor, seed: int
) -> None:
    rng = random.Random(seed)
    chat.open()
    chat.start()
    chat.segment(1, kind="text", text="begin")
    counts = {"segments": 1, "run": 1}
    for _ in range(50):
        if rng.random() < 0.5:
            random_event(chat, rng, counts)
        editor.feed(rng.choice(_COMMANDS))
    editor.feed("<Esc><Esc>")
    editor.feed("ilast words")
    transcript, prompt = chat.transcript(), chat.prompt()
    assert transcript == rendered_again(editor)
    assert chat.prompt() == prompt and "last words" in prompt
    assert "stack traceback" not in editor.messages()
