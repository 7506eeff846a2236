"""Text actions as a user reaches them: keys, motions, ranges, commands; and what comes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from action_writer import PARAGRAPH, SHORTER, TEXT, Writer
from editor import Editor, start_editor
from endpoint import Close, Endpoint, Wait, answer, delta, thought
from session import Session

RANGE = "return require('typstai.text.selection').operator('char')"


@pytest.fixture
def writer(session: Session, endpoint: Endpoint) -> Writer:
    return Writer(session, endpoint)


def test_a_paragraph_is_rephrased_reviewed_accepted_and_undone(writer: Writer) -> None:
    document = writer.open()
    before = writer.session.lines(document)
    writer.endpoint.reply(answer(SHORTER))
    writer.editor.feed(r"2j\wrip")
    assert writer.outcome() == ("applied", "")
    assert writer.session.lines(document) == before
    (hunk,) = writer.hunks()
    assert hunk["new"] == ["The first sentence is short."]
    assert writer.told() == ["rephrase: 1 change proposed."]
    writer.editor.feed(r"\a")
    assert writer.session.lines(document)[2] == SHORTER
    writer.editor.feed("u")
    assert writer.session.lines(document) == before


def test_each_changed_sentence_of_a_paragraph_is_decided_on_its_own(writer: Writer) -> None:
    document = writer.open("Das ist schön, z. B. hier. It stays. We was there.\n")
    new = "Das ist schöner, z. B. hier. It stays. We were there. And so were you."
    writer.endpoint.reply(answer(new))
    writer.act("rephrase", range=[0, 0, 0, 99])
    assert writer.ended()["status"] == "applied"
    assert writer.told() == ["rephrase: 2 changes proposed."]
    assert [(hunk["old"], hunk["new"]) for hunk in writer.hunks()] == [
        (["Das ist schön, z. B. hier."], ["Das ist schöner, z. B. hier."]),
        (["We was there."], ["We were there. And so were you."]),
    ]
    writer.editor.feed(r"gg0\r")
    writer.editor.feed(r"]c\a")
    first, last = "Das ist schön, z. B. hier. It stays.", "We were there. And so were you."
    assert writer.session.lines(document) == [f"{first} {last}"]


def test_another_sentence_of_the_same_line_keeps_what_is_proposed_beside_it(
    writer: Writer,
) -> None:
    document = writer.open()
    writer.endpoint.reply(answer("The first sentence is short."))
    writer.endpoint.reply(answer("So is the second."))
    for start, finish in ((0, 27), (28, 47)):
        writer.act("rephrase", range=[2, start, 2, finish])
        assert writer.ended()["status"] == "applied"
    assert len(writer.hunks()) == 2
    writer.editor.lua("require('typstai.proposals').accept_all()")
    expected = "The first sentence is short. So is the second."
    assert writer.session.lines(document)[2] == expected


SELECTING = [
    ("the first word by motion", r"2j0\wr2w", "The first "),
    ("a count before the operator", r"2j02\wrw", "The first "),
    ("a sentence as a text object", r"2j0\wris", "The first sentence is long."),
    ("a paragraph as a text object", r"2j\wrip", PARAGRAPH),
    ("characters", r"2j0wve\wr", "first"),
    ("characters from right to left", r"2j0wevb\wr", "first"),
    ("characters to the end of the line", r"2j0wv$\wr", PARAGRAPH.removeprefix("The ")),
    ("lines", r"2jV\wr", PARAGRAPH),
    ("lines upwards", r"2jVkk\wr", f"= Report\n\n{PARAGRAPH}"),
    ("a block, as its lines", r"2j0w<C-v>e\wr", PARAGRAPH),
    ("a command on the paragraph", ":3 | TypstAI rephrase<CR>", PARAGRAPH),
    ("a command on the selection", r"2j0wve:TypstAI rephrase<CR>", "first"),
    ("a command on lines", ":1,3TypstAI rephrase<CR>", f"= Report\n\n{PARAGRAPH}"),
]


@pytest.mark.parametrize(("keys", "target"), [case[1:] for case in SELECTING],
                         ids=[case[0] for case in SELECTING])  # fmt: skip
def test_the_model_gets_exactly_what_was_selected(writer: Writer, keys: str, target: str) -> None:
    writer.open()
    writer.endpoint.reply(answer("Other words."))
    writer.editor.feed(keys)
    assert writer.ended()["status"] == "applied"
    assert writer.target() == target.strip()


CHARACTERS = [
    ("¿qué?", "vE", "inclusive"),
    ("日本語", "vE", "inclusive"),
    ("cafe\u0301", "vE", "inclusive"),
    ("\t", "v", "inclusive"),
    ("¿qué?", "vE", "exclusive"),
    ("日本語", "v2l", "exclusive"),
    ("cafe\u0301", "vE", "exclusive"),
    ("left of it", "v2h", "exclusive"),
    ("left of it", "v2h", "inclusive"),
    ("to the end", "v$", "inclusive"),
    ("to the end", "v$h", "exclusive"),
]


WAYS = {
    "an operator": "g@",
    "marks": "<Esc><Cmd>lua _G.range = require('typstai.text.selection').visual()<CR>",
}
OPERATE = """
function _G.operate(kind) _G.range = require('typstai.text.selection').operator(kind) end
vim.o.operatorfunc = "v:lua.operate"
"""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("word", "keys", "selection"), CHARACTERS)
def test_a_selection_is_what_neovim_itself_would_yank(
    editor: Editor, word: str, keys: str, selection: str, way: str
) -> None:
    editor.nvim.command(f"set selection={selection}")
    editor.nvim.api.buf_set_lines(0, 0, -1, True, [f"a {word} b"])
    editor.lua(OPERATE)
    editor.feed(f"0W{keys}y")
    yanked = editor.nvim.funcs.getreg('"').removesuffix("\n")
    editor.feed(f"0W{keys}{WAYS[way]}")
    first, start, last, end = editor.wait_for("_G.range")
    assert editor.nvim.api.buf_get_text(0, first, start, last, end, {}) == [yanked]
    assert yanked


@pytest.mark.parametrize("way", WAYS)
def test_a_joined_emoji_is_selected_whole(editor: Editor, way: str) -> None:
    """Neovim 0.10 itself would yank a half of it."""
    editor.nvim.api.buf_set_lines(0, 0, -1, True, ["a 👩‍🚀 b"])
    editor.lua(OPERATE)
    editor.feed(f"0Wv{WAYS[way]}")
    first, start, last, end = editor.wait_for("_G.range")
    assert editor.nvim.api.buf_get_text(0, first, start, last, end, {}) == ["👩‍🚀"]


def test_a_range_outside_of_the_document_is_refused(writer: Writer) -> None:
    writer.open()
    writer.act("rephrase", range=[90, 0, 91, 0])
    assert writer.outcome() == ("failed", "error")
    writer.act("rephrase", range=[2, 9, 2, 3])
    assert writer.outcome() == ("failed", "error")
    assert writer.endpoint.requests == []


def test_a_range_beyond_the_ends_of_lines_is_cut_to_the_text(writer: Writer) -> None:
    writer.open()
    writer.endpoint.reply(answer("Words, the last ones."))
    writer.act("rephrase", range=[6, 0, 99, 999])
    assert writer.ended()["status"] == "applied"
    assert writer.target() == "Last words."


def test_the_dot_command_does_it_again_elsewhere_and_asks_nothing(writer: Writer) -> None:
    writer.open(actions={"context_blocks": 0})
    writer.endpoint.reply(answer("First."), to="first sentence")
    writer.endpoint.reply(answer("Final."), to="Last words")
    writer.editor.feed(r"2j\wyip")
    writer.editor.feed("formal<CR>")
    assert writer.ended()["status"] == "applied"
    writer.editor.feed("G.")
    assert writer.ended()["status"] == "applied"
    tones = [request.body["messages"][1]["content"].split("\n")[1]
             for request in writer.endpoint.requests]  # fmt: skip
    assert tones == ["formal", "formal"]


def test_a_tone_is_completed_and_remembered(writer: Writer) -> None:
    writer.open()
    writer.endpoint.reply(answer(SHORTER))
    writer.endpoint.reply(answer(SHORTER))
    writer.editor.feed("2j:TypstAI style<CR>")
    writer.editor.feed("aca<Tab><CR>")
    assert writer.ended()["status"] == "applied"
    assert "<tone>\nacademic\n</tone>" in writer.endpoint.requests[0].body["messages"][1]["content"]
    writer.editor.feed(":TypstAI style<CR>")
    writer.editor.feed("<CR>")
    assert writer.ended()["status"] == "applied"
    assert "<tone>\nacademic\n</tone>" in writer.endpoint.requests[1].body["messages"][1]["content"]


def answered(binary: str, endpoint: Endpoint, folder: Path, action: str, keys: str) -> str:
    """The message of an action done in a Neovim of its own, with a file for 'shada'."""
    endpoint.reply(answer(SHORTER))
    with start_editor(binary, "-i", str(folder / "main.shada")) as editor:
        writer = Writer(Session(editor, folder), endpoint)
        writer.open()
        writer.editor.feed(f"2j:TypstAI {action}<CR>")
        writer.editor.feed(keys)
        assert writer.ended()["status"] == "applied"
    return endpoint.requests[-1].body["messages"][1]["content"]


@pytest.mark.parametrize(("action", "name"), [("style", "tone"), ("translate", "language")])
def test_a_tone_and_a_language_are_offered_again_after_a_restart(
    nvim_binary: str, endpoint: Endpoint, tmp_path: Path, action: str, name: str
) -> None:
    first = answered(nvim_binary, endpoint, tmp_path, action, "plain <CR>")
    again = answered(nvim_binary, endpoint, tmp_path, action, "<CR>")
    assert f"<{name}>\nplain\n</{name}>" in first
    assert f"<{name}>\nplain\n</{name}>" in again


@pytest.mark.parametrize("value", [7, "a\nb"])
def test_a_remembered_tone_that_is_none_is_not_offered(writer: Writer, value: object) -> None:
    writer.open()
    writer.editor.lua("vim.g.TYPSTAI_TONE = ...", value)
    writer.endpoint.reply(answer(SHORTER))
    writer.editor.feed("2j:TypstAI style<CR>")
    writer.editor.feed("plain<CR>")
    assert writer.ended()["status"] == "applied"
    assert "<tone>\nplain\n</tone>" in writer.endpoint.requests[0].body["messages"][1]["content"]


def test_a_language_is_taken_from_the_command_line(writer: Writer) -> None:
    writer.open()
    writer.endpoint.reply(answer("Der erste Satz ist lang. Der zweite auch."))
    writer.editor.feed("2j:TypstAI translate Ger<Tab><CR>")
    assert writer.ended()["status"] == "applied"
    message = writer.endpoint.requests[0].body["messages"][1]["content"]
    assert "<language>\nGerman\n</language>" in message


def test_not_answering_the_question_ends_it_without_a_word(writer: Writer) -> None:
    writer.open()
    writer.editor.feed(":TypstAI ask<CR>")
    writer.editor.feed("<Esc>")
    assert writer.outcome() == ("failed", "aborted")
    assert writer.endpoint.requests == []
    assert writer.editor.lua("return #_G.told") == 0


def test_the_menu_lists_every_action_and_does_the_chosen_one(writer: Writer) -> None:
    own = [{"id": "haiku", "title": "As a haiku", "prompt": "Write it as a haiku."}]
    writer.open(actions={"custom": own})
    writer.endpoint.reply(answer("Long is the first one."))
    writer.editor.lua(
        "vim.ui.select = function(items, opts, choose)"
        " _G.titles = vim.tbl_map(opts.format_item, items) choose(items[#items]) end"
    )
    writer.editor.feed("2j:TypstAI actions<CR>")
    assert writer.ended()["action"] == "haiku"
    titles = writer.editor.lua("return _G.titles")
    assert titles[:2] == ["Rephrase", "Simplify"]
    assert titles[-1] == "As a haiku"
    system = writer.endpoint.requests[0].body["messages"][0]["content"]
    assert "Task: Write it as a haiku." in system
    assert "first sentence" not in system


def test_typing_elsewhere_meanwhile_moves_the_answer_with_its_text(writer: Writer) -> None:
    document = writer.open()
    writer.endpoint.reply(Wait("go"), answer(SHORTER))
    writer.editor.feed(r"2j\wrip")
    writer.endpoint.wait_reached("go")
    writer.editor.feed("ggOone<CR>two<CR>three<Esc>Goend<Esc>")
    writer.endpoint.release("go")
    assert writer.ended()["status"] == "applied"
    writer.editor.lua("require('typstai.proposals').accept_all()")
    lines = writer.session.lines(document)
    assert lines[:6] == ["one", "two", "three", "= Report", "", SHORTER]
    assert lines[-1] == "end"


def test_typing_in_the_passage_meanwhile_makes_it_stale(writer: Writer) -> None:
    document = writer.open()
    writer.endpoint.reply(Wait("go"), answer(SHORTER))
    writer.editor.feed(r"2j\wrip")
    writer.endpoint.wait_reached("go")
    writer.editor.feed("3G0wisecond-best <Esc>")
    writer.endpoint.release("go")
    assert writer.outcome() == ("stale", "")
    assert writer.hunks() == []
    assert (
        writer.session.lines(document)[2]
        == "The second-best first sentence is long. The second one too."
    )
    assert "you changed the passage" in writer.told()[0]


def test_typing_in_the_same_line_beside_the_passage_does_no_harm(writer: Writer) -> None:
    document = writer.open()
    writer.endpoint.reply(Wait("go"), answer("The first one is short."))
    writer.editor.feed(r"2j0\wris")
    writer.endpoint.wait_reached("go")
    writer.editor.feed("A And more.<Esc>")
    writer.endpoint.release("go")
    assert writer.ended()["status"] == "applied"
    writer.editor.lua("require('typstai.proposals').accept_all()")
    expected = "The first one is short. The second one too. And more."
    assert writer.session.lines(document)[2] == expected


def test_several_actions_run_at_once_and_each_finds_its_place(writer: Writer) -> None:
    document = writer.open(actions={"context_blocks": 0})
    writer.endpoint.reply(Wait("one"), answer(SHORTER), to="The first")
    writer.endpoint.reply(Wait("two"), answer("Last word."), to="Last words")
    writer.editor.feed(r"3G\wripG\wsip")
    writer.endpoint.wait_reached("one")
    writer.endpoint.wait_reached("two")
    writer.endpoint.release("two")
    assert writer.ended()["action"] == "simplify"
    writer.endpoint.release("one")
    assert writer.ended()["action"] == "rephrase"
    writer.editor.lua("require('typstai.proposals').accept_all()")
    lines = writer.session.lines(document)
    assert (lines[2], lines[6]) == (SHORTER, "Last word.")


def test_asking_again_for_the_same_passage_replaces_the_first_answer(writer: Writer) -> None:
    writer.open()
    writer.endpoint.reply(answer(SHORTER))
    writer.endpoint.reply(answer("The first sentence is brief. The second one too."))
    for _ in range(2):
        writer.act("rephrase", range=[2, 0, 2, 99])
        assert writer.ended()["status"] == "applied"
    (hunk,) = writer.hunks()
    assert "brief" in hunk["new"][0]


def test_a_spinner_stands_at_the_passage_while_it_is_worked_on(writer: Writer) -> None:
    writer.open()
    writer.endpoint.reply(Wait("go"), answer(SHORTER))
    writer.editor.feed(r"2j\wrip")
    writer.endpoint.wait_reached("go")
    shown = {mark[1]: mark[3] for mark in writer.marks() if "virt_text" in mark[3]}
    assert list(shown) == [2]
    assert shown[2]["virt_text"][0][0].endswith("rephrase · <C-c> stop")
    assert any(mark[3].get("hl_group") == "TypstAIDim" for mark in writer.marks())
    writer.endpoint.release("go")
    writer.ended()
    assert writer.marks() == []


STOPPING = {"the key": "<C-c>", "the command": ":TypstAI stop<CR>"}


@pytest.mark.parametrize("way", STOPPING)
def test_stopping_ends_the_request_and_gives_the_key_back(writer: Writer, way: str) -> None:
    writer.open()
    writer.editor.nvim.command("nnoremap <buffer> <C-c> :let g:mine = 1<CR>")
    writer.endpoint.reply(delta("Half"), Wait("never"))
    writer.editor.feed(r"2j\wrip")
    writer.endpoint.wait_reached("never")
    writer.editor.press(STOPPING[way])
    assert writer.outcome() == ("failed", "aborted")
    writer.endpoint.requests[0].connection.wait_closed()
    assert writer.told() == ["rephrase: stopped."]
    assert writer.marks() == []
    writer.editor.press("<C-c>")
    assert writer.editor.nvim.vars["mine"] == 1


NOTHING = [
    ("a blank line", "\n\n", [0, 0, 1, 0], ("empty", "no-content")),
    ("only code", "#set text(red)\n#let x = 1\n", [0, 0, 1, 99], ("empty", "no-target")),
    ("within raw text", "```\nsome words here\n```\n", [1, 0, 1, 99], ("empty", "no-target")),
    ("a formula", "$ a + b $\n", [0, 0, 0, 99], ("empty", "no-target")),
    ("70,000 characters", "some words\n" * 6364, [0, 0, 6363, 99], ("failed", "error")),
]


@pytest.mark.parametrize(("text", "place", "outcome"), [case[1:] for case in NOTHING],
                         ids=[case[0] for case in NOTHING])  # fmt: skip
def test_what_cannot_be_worked_on_costs_no_request(
    writer: Writer, text: str, place: list[int], outcome: tuple[str, str]
) -> None:
    writer.open(text)
    writer.act("rephrase", range=place)
    assert writer.outcome() == outcome
    assert len(writer.told()) == 1
    assert writer.endpoint.requests == []


def test_a_read_only_document_is_refused_before_the_model_is_asked(writer: Writer) -> None:
    writer.open()
    writer.editor.nvim.command("setlocal readonly")
    writer.act("rephrase")
    assert writer.outcome() == ("failed", "error")
    assert writer.told() == ["rephrase: The document is read-only."]
    assert writer.endpoint.requests == []


def test_the_same_text_again_is_no_change(writer: Writer) -> None:
    writer.open()
    writer.endpoint.reply(answer(PARAGRAPH))
    writer.act("rephrase", range=[2, 0, 2, 99])
    assert writer.outcome() == ("empty", "no-change")
    assert writer.hunks() == []


def test_reasoning_never_reaches_the_document(writer: Writer) -> None:
    writer.open()
    writer.endpoint.reply(thought("Secret."), answer("<think>Also ", "secret.</think>", SHORTER))
    writer.act("rephrase", range=[2, 0, 2, 99])
    assert writer.ended()["status"] == "applied"
    assert writer.hunks()[0]["new"] == ["The first sentence is short."]


def test_a_lost_citation_is_told_and_its_hunk_is_marked(writer: Writer) -> None:
    writer.open()
    writer.endpoint.reply(answer("We ran it 43 times and compared with ⟦2⟧."))
    writer.act("rephrase", range=[4, 0, 4, 99])
    assert writer.ended()["warnings"] == ["drops @fig-one", "42 → 43"]
    (proposal,) = writer.editor.lua("return require('typstai').proposals.list()")
    assert proposal["verdict"].startswith("! drops @fig-one · ! 42 → 43")
    assert "check it: drops @fig-one, 42 → 43" in writer.told()[0]
    writer.editor.feed("5G")
    hints = writer.editor.lua(
        "return vim.api.nvim_buf_get_extmarks(0, "
        "vim.api.nvim_create_namespace('typstai.hint'), 0, -1, { details = true })"
    )
    assert "! drops @fig-one, ! 42 → 43" in str(hints)


def test_a_failing_model_is_told_in_one_sentence(writer: Writer) -> None:
    writer.open()
    writer.endpoint.reply(delta("Half"), Close())
    writer.act("rephrase", range=[2, 0, 2, 99])
    assert writer.outcome() == ("failed", "error")
    assert len(writer.told()) == 1
    assert writer.marks() == []


def test_a_host_that_dies_ends_the_action(writer: Writer) -> None:
    writer.open()
    writer.endpoint.reply(Wait("never"))
    writer.act("rephrase", range=[2, 0, 2, 99])
    writer.endpoint.wait_reached("never")
    writer.editor.lua("vim.uv.kill(require('typstai.host').pid, 'sigkill')")
    assert writer.outcome() == ("failed", "error")
    assert writer.marks() == []


def test_without_a_model_spelling_and_grammar_are_fixed_by_rules(writer: Writer) -> None:
    document = writer.open(
        "This is an test of teh speling that we have done with @Knuht and Zagoli.\n"
    )
    writer.editor.lua("require('typstai.rpc').call('model.choose', { name = 'offline' })")
    writer.act("fix")
    assert writer.ended()["status"] == "applied"
    writer.editor.lua("require('typstai.proposals').accept_all()")
    expected = "This is a test of the spelling that we have done with @Knuht and Zagoli."
    assert writer.session.lines(document) == [expected]


def test_hints_of_both_checkers_go_to_the_model(writer: Writer) -> None:
    writer.open("This is an test of the wrods that we have, and a smal one it is.\n")
    writer.editor.nvim.command("setlocal spell spelllang=en")
    writer.endpoint.reply(
        answer("This is a test of the words that we have, and a small one it is.")
    )
    writer.act("fix")
    assert writer.ended()["status"] == "applied"
    message = writer.endpoint.requests[0].body["messages"][1]["content"]
    hints = message.split("<hints>\n")[1].split("\n</hints>")[0]
    assert "an → a (Incorrect indefinite article.)" in hints
    assert "wrods → " in hints
    assert "(spelling: bad)" in hints


def test_redacting_is_off_until_it_is_switched_on(writer: Writer) -> None:
    writer.open()
    writer.act("redact", range=[2, 0, 2, 99])
    assert writer.outcome() == ("failed", "error")
    assert writer.endpoint.requests == []


def test_personal_data_is_masked_by_a_model_on_this_machine(writer: Writer) -> None:
    document = writer.open(
        "Before it.\n\nAda King (ada\\@example.org) met Ada in Turin.\n", actions={"redact": True}
    )
    writer.endpoint.reply(answer('[{"text": "Ada King", "kind": "name"}]'))
    writer.act("redact", range=[2, 0, 2, 99])
    assert writer.ended()["status"] == "applied"
    writer.editor.lua("require('typstai.proposals').accept_all()")
    assert writer.session.lines(document)[2] == "█NAME 1█ (█EMAIL 1█) met Ada in Turin."
    assert "Before it" not in str(writer.endpoint.requests[0].body)


def test_personal_data_is_not_sent_to_a_model_that_is_not_trusted(writer: Writer) -> None:
    model = {"name": "far", "base_url": "https://example.invalid/v1", "model": "m"}
    writer.session.setup(models=[model], actions={"redact": True})
    writer.session.document(TEXT)
    writer.act("redact", range=[2, 0, 2, 99])
    assert writer.outcome() == ("failed", "error")
    assert "not trusted with personal data" in writer.told()[0]


def test_a_model_of_its_own_answers_the_actions(writer: Writer) -> None:
    models = [
        {"name": "chat", "base_url": "http://127.0.0.1:9/v1", "model": "big"},
        {"name": "small", "base_url": writer.endpoint.url, "model": "small"},
    ]
    writer.session.setup(models=models, actions={"model": "small"})
    writer.session.document(TEXT)
    writer.endpoint.reply(answer(SHORTER))
    writer.act("rephrase", range=[2, 0, 2, 99])
    assert writer.ended()["status"] == "applied"
    assert writer.endpoint.requests[0].body["model"] == "small"


def test_the_keys_of_typst_buffers_can_be_removed_and_leave_the_users_own(
    writer: Writer,
) -> None:
    writer.editor.nvim.command("nnoremap <LocalLeader>ws :let g:mine = 1<CR>")
    writer.session.setup(keymaps={"actions": {"rephrase": False, "fix": "gF"}})
    writer.session.document(TEXT)
    maps = {item["lhs"] for item in writer.editor.nvim.api.buf_get_keymap(0, "n")}
    assert {r"\wy", r"\wt", r"\wc", "gF", r"\wa"} <= maps
    assert not maps & {r"\wr", r"\ws", r"\wf"}
    writer.editor.nvim.command("set filetype=text")
    left = {item["lhs"] for item in writer.editor.nvim.api.buf_get_keymap(0, "n")}
    assert not left & maps


COSTS = """
local function milliseconds(work)
  local began = vim.uv.hrtime()
  work()
  return (vim.uv.hrtime() - began) / 1e6
end
local ours, theirs = math.huge, math.huge
for _ = 1, 25 do
  ours = math.min(ours, milliseconds(function()
    vim.cmd.runtime("ftplugin/typst.lua")
    require("typstai.actions.keys").attach()
  end))
  theirs = math.min(theirs, milliseconds(function()
    vim.cmd("unlet! b:did_ftplugin | runtime! ftplugin/markdown.vim")
  end))
end
return { ours, theirs }
"""


def test_opening_a_typst_file_costs_no_more_than_twice_neovims_own_plugin_for_markdown(
    editor: Editor,
) -> None:
    ours, theirs = editor.lua(COSTS)
    assert ours < 2 * theirs


def test_a_name_that_an_answer_lost_is_told_but_for_a_translation(
    writer: Writer,
) -> None:
    def verdicts() -> list[str]:
        listed = writer.editor.lua("return require('typstai').proposals.list()")
        return [item["verdict"] for item in listed]

    text = "We set it in LaTeX, by the rules of Alan Turing. It is done.\n"
    writer.open(text)
    writer.endpoint.reply(answer("We set it by the usual rules. It is done."))
    writer.act("rephrase", range=[0, 0, 0, 99])
    assert writer.ended()["status"] == "applied"
    assert verdicts() == ["! drops LaTeX, Alan Turing"]
    writer.editor.lua("require('typstai.proposals').reject_all()")
    writer.endpoint.reply(answer("Wir setzen nach den Regeln. Es ist fertig."))
    writer.act("translate", range=[0, 0, 0, 99], params={"language": "German"})
    assert writer.ended()["status"] == "applied"
    assert verdicts() == ["compiles as before"]
