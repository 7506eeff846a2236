"""Ghost text from the first key to its end: shown, trimmed, dismissed, given up."""

import pytest

from endpoint import Wait, answer, delta, failure
from ghost_writer import Writer

TEXT = "The cats sat on"
REST = " the mat."


def shown(writer: Writer, rest: str = REST) -> None:
    writer.endpoint.reply(answer(rest))
    writer.type("i" + TEXT)
    writer.wait_shown(rest)


def test_what_comes_next_is_shown_at_the_cursor_and_not_in_the_buffer(writer: Writer) -> None:
    shown(writer)
    assert writer.drawn() == [0, len(TEXT), [REST]]
    assert writer.visible()
    assert writer.lines() == [TEXT]
    assert writer.why() == ""


def test_what_is_shown_is_in_no_undo_history_and_no_register(writer: Writer) -> None:
    shown(writer)
    before = writer.editor.lua("return vim.fn.undotree().seq_last")
    writer.type("<C-o>:let @z = getline('.')<CR>")
    assert writer.editor.lua("return { vim.fn.getreg('z'), vim.fn.undotree().seq_last }") == [
        TEXT,
        before,
    ]


def test_typing_the_next_characters_trims_it_without_asking_again(writer: Writer) -> None:
    shown(writer)
    writer.type(" th")
    assert writer.next_change() == "e mat."
    assert writer.drawn() == [0, len(TEXT) + 3, ["e mat."]]
    writer.settle()
    assert len(writer.endpoint.requests) == 1


def test_typing_it_to_the_end_asks_for_more(writer: Writer) -> None:
    shown(writer)
    writer.endpoint.reply(answer(" They slept."))
    writer.type(REST)
    writer.wait_shown(" They slept.")
    assert writer.drawn()[1] == len(TEXT + REST)


@pytest.mark.parametrize("keys", ["x", "<BS>", "<C-w>", "<Left>", "<Home>", "<CR>", "<C-u>"])
def test_anything_else_discards_it(writer: Writer, keys: str) -> None:
    shown(writer)
    writer.endpoint.reply(Wait("never"))
    writer.type(keys)
    assert writer.next_change() == ""
    assert writer.drawn() is None


@pytest.mark.parametrize("keys", ["<Esc>", "<C-c>", "<C-o>", "<C-]>", "<C-x>"])
def test_leaving_insert_mode_and_the_dismiss_key_take_it_away(writer: Writer, keys: str) -> None:
    shown(writer)
    writer.type(keys)
    assert writer.next_change() == ""
    assert writer.drawn() is None
    assert writer.lines() == [TEXT]


def test_going_to_another_buffer_or_window_in_insert_mode_takes_it_away(writer: Writer) -> None:
    writer.editor.nvim.command("vsplit")
    shown(writer)
    writer.editor.nvim.command("wincmd w")
    assert writer.next_change() == ""
    writer.editor.nvim.command("wincmd w")
    assert writer.drawn() is None
    writer.endpoint.reply(answer(" again"))
    writer.type(" it")
    writer.wait_shown(" again")
    writer.editor.lua("vim.api.nvim_win_set_buf(0, vim.api.nvim_create_buf(true, false))")
    assert writer.next_change() == ""


def test_text_that_another_plugin_changes_elsewhere_leaves_it_alone(writer: Writer) -> None:
    shown(writer)
    writer.editor.lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, { 'above' })")
    writer.editor.lua("vim.api.nvim_buf_set_lines(0, -1, -1, true, { 'below' })")
    writer.type("<Tab>")
    assert writer.lines() == ["above", TEXT + REST, "below"]


def test_text_that_appears_behind_the_cursor_discards_it(writer: Writer) -> None:
    shown(writer)
    writer.editor.lua("vim.api.nvim_buf_set_text(0, 0, #..., 0, #..., { ')' })", TEXT)
    writer.type("<Ignore>")
    assert writer.next_change() == ""


@pytest.mark.parametrize(
    "leave",
    [
        "vim.cmd.stopinsert()",
        "vim.api.nvim_win_set_cursor(0, { 1, 0 })",
        "vim.cmd.vsplit()",
        "vim.api.nvim_win_set_buf(0, vim.api.nvim_create_buf(true, false))",
        "vim.fn.complete(1, { 'one', 'two' })",
        "require('typstai').ghost.dismiss()",
        "require('typstai').ghost.enable(false)",
        "vim.cmd('TypstAI ghost off')",
    ],
)
def test_whatever_ends_it_closes_the_connection_of_its_request(writer: Writer, leave: str) -> None:
    writer.endpoint.reply(delta(" the"), Wait("never"))
    writer.type("i" + TEXT)
    writer.endpoint.wait_reached("never")
    assert writer.why() == "waiting"
    writer.editor.lua(leave)
    writer.type("<Ignore>")
    writer.endpoint.requests[0].connection.wait_closed()
    assert not writer.visible()


def test_the_next_request_ends_the_one_under_way(writer: Writer) -> None:
    writer.endpoint.reply(delta(" the"), Wait("never"))
    writer.type("i" + TEXT)
    writer.endpoint.wait_reached("never")
    writer.endpoint.reply(answer(" all day."))
    writer.type(" it")
    writer.wait_shown(" all day.")
    writer.endpoint.requests[0].connection.wait_closed()
    assert writer.drawn() == [0, len(TEXT) + 3, [" all day."]]


def test_an_answer_to_what_is_being_typed_shows_what_is_left_of_it(writer: Writer) -> None:
    writer.endpoint.reply(Wait("go"), answer(REST))
    writer.type("i" + TEXT)
    writer.endpoint.wait_reached("go")
    # From now on no pause is long enough.
    writer.editor.lua("require('typstai.config').get().autocomplete.debounce = 1e6")
    writer.type(" the")
    writer.endpoint.release("go")
    writer.wait_shown(" mat.")


def test_an_answer_to_something_else_is_dropped(writer: Writer) -> None:
    writer.endpoint.reply(Wait("go"), answer(REST))
    writer.type("i" + TEXT)
    writer.endpoint.wait_reached("go")
    writer.editor.lua("require('typstai.config').get().autocomplete.debounce = 1e6")
    writer.type(" a")
    writer.endpoint.release("go")
    writer.wait_why("")
    assert writer.drawn() is None
    assert not writer.visible()


def test_no_more_than_three_lines_are_shown(writer: Writer) -> None:
    writer.endpoint.reply(answer(" a\nb\nc\nd\ne"))
    writer.type("i" + TEXT)
    writer.wait_shown(" a\nb\nc")
    assert writer.drawn()[2] == [" a", "b", "c"]


def test_text_for_more_than_three_screen_lines_is_cut_at_a_word(writer: Writer) -> None:
    words = " word" * 100
    writer.endpoint.reply(answer(words))
    writer.type("i" + TEXT)
    text = writer.next_change()
    lines = writer.drawn()[2]
    assert words.startswith(text) and text.endswith("word")
    assert len(lines) == 3
    assert all(len(line) <= 80 for line in lines)
    writer.type("<Tab>")
    assert writer.lines() == [TEXT + text]


def test_a_pause_is_waited_for(writer: Writer) -> None:
    writer.use(debounce=1_000_000)
    writer.type("i" + TEXT)
    writer.settle()
    assert writer.why() == ""
    writer.endpoint.reply(answer(REST))
    writer.call("trigger")
    writer.wait_shown(REST)
    assert len(writer.endpoint.requests) == 1


def test_what_was_asked_once_is_not_asked_again(writer: Writer) -> None:
    shown(writer)
    writer.type("x<BS><BS>")
    writer.endpoint.reply(answer("never asked"))
    writer.type("n")
    writer.wait_shown(REST)
    assert [request.raw.count(b"cats sat onx") for request in writer.endpoint.requests] == [0]


def test_a_rate_limit_is_counted_down_in_the_status_and_disturbs_nobody(writer: Writer) -> None:
    writer.endpoint.reply(failure(429, "later", retry_after="20"))
    writer.type("i" + TEXT)
    writer.wait_why("rate limited 20 s")
    statusline = writer.editor.lua("return require('typstai').statusline()")
    assert statusline == "typstai: ghost text rate limited 20 s"
    writer.type(" and on")
    writer.settle()
    writer.editor.wait_for("require('typstai').status().ghost:find('^rate limited')")
    assert len(writer.endpoint.requests) == 1
    assert writer.editor.messages() == ""


def test_a_failure_is_told_once_until_the_model_answers(writer: Writer) -> None:
    for _ in range(2):
        writer.endpoint.reply(failure(401, "bad key"))
    writer.type("i" + TEXT)
    writer.wait_why("failed")
    writer.type(" a")
    writer.endpoint.wait_requests(2)
    writer.wait_why("failed")
    assert writer.editor.messages().count("bad key") == 1
    writer.endpoint.reply(answer(REST))
    writer.type(" b")
    writer.wait_shown(REST)
    assert writer.why() == ""
    writer.endpoint.reply(failure(401, "bad key"))
    writer.type(" c")
    writer.wait_why("failed")
    writer.editor.wait_for("select(2, vim.fn.execute('messages'):gsub('bad key', '')) == 2")


def test_nothing_is_stored_of_it(writer: Writer) -> None:
    shown(writer)
    writer.type("<Tab><Esc>")
    assert writer.editor.lua("return require('typstai').status().running") is False
    assert REST not in writer.session.log()
    data = [path for path in writer.session.data.rglob("*") if path.is_file()]
    assert not any(b"the mat" in path.read_bytes() for path in data)
