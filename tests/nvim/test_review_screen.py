"""The review as it looks: keys in, screen out, on a real terminal."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from editor import ROOT
from reviewing import Change, proposal
from terminal import Terminal

TEXT = """\
= Results
We measured the effect of temperature on the growth of the samples in the winter of last year.
The value is #strnog[high].
日本語 with cafe\u0301 and 👩‍👩‍👧 in it.
The end of the section.
"""
PROSE, VALUE, WIDE, END = TEXT.split("\n")[1:5]
CHANGES: list[Change] = [
    (1, [PROSE], [PROSE.replace("growth", "size").replace(" of last year", "")]),
    (2, [VALUE], [VALUE.replace("strnog", "strong")]),
    (3, [WIDE], [WIDE.replace("with", "beside")]),
    (5, [], ["A new last paragraph.", "And its second line."]),
]
_PROPOSE = """
require("typstai.rpc").call = function() end
require("typstai.proposals").propose(vim.json.decode([==[%s]==]))
"""


@contextmanager
def review(
    binary: str,
    folder: Path,
    changes: Sequence[Change] = CHANGES,
    *,
    verdict: str = "",
    options: str = "number",
    columns: int = 100,
    lines: int = 16,
) -> Generator[Terminal]:
    """A document with these changes proposed, on a screen of that size."""
    path, script = folder / "text.typ", folder / "propose.lua"
    path.write_text(TEXT, encoding="utf-8")
    args = proposal(*changes, chat="", verdict=verdict)
    script.write_text(_PROPOSE % json.dumps(args), encoding="utf-8")
    argv = [
        binary, "--clean", "-n", "-i", "NONE", "--cmd", f"set runtimepath^={ROOT}",
        "-c", f"set {options}", str(path), "-c", f"luafile {script}",
    ]  # fmt: skip
    with Terminal(argv, columns=columns, lines=lines) as terminal:
        terminal.wait_for("= Results")
        yield terminal


def screen(terminal: Terminal) -> str:
    """The screen without the blanks at which prose happens to be broken."""
    return " ".join(terminal.text().split())


def shows(terminal: Terminal, *texts: str) -> None:
    """Wait until all of these are on the screen: what is drawn may come in several goes."""
    terminal.wait_until(lambda: all(text in screen(terminal) for text in texts))


@pytest.mark.parametrize("options", ["number", "nonumber signcolumn=yes:2", "signcolumn=no nowrap"])
@pytest.mark.parametrize("columns", [120, 44])
def test_every_change_can_be_read_in_windows_of_any_width(
    nvim_binary: str, tmp_path: Path, options: str, columns: int
) -> None:
    with review(nvim_binary, tmp_path, options=options, columns=columns, lines=24) as terminal:
        terminal.send("]c")
        terminal.wait_for("◆ 1/4")
        terminal.send("]c]c]c")
        terminal.wait_for("◆ 4/4")
        shows(terminal, "strnogstrong", "withbeside")
        shows(terminal, "A new last paragraph.", "And its second line.")


def test_a_change_of_wide_and_combining_characters_leaves_the_columns_straight(
    nvim_binary: str, tmp_path: Path
) -> None:
    with review(nvim_binary, tmp_path, [CHANGES[2]], options="nonumber") as terminal:
        terminal.wait_for("withbeside")
        terminal.send(":4\r\\a")
        terminal.wait_for(lambda text: "withbeside" not in text)
        shows(terminal, "日本語 beside caf")


def test_what_hangs_below_the_last_line_is_seen_once_the_cursor_is_there(
    nvim_binary: str, tmp_path: Path
) -> None:
    with review(nvim_binary, tmp_path, [CHANGES[3]], lines=7) as terminal:
        assert "A new last paragraph." not in terminal.text()
        terminal.send("G")
        terminal.wait_for("And its second line.")


def test_a_warning_keeps_its_room_before_the_names_of_the_keys(
    nvim_binary: str, tmp_path: Path
) -> None:
    verdict = "! drops @fig-one · fixes 1 error, adds none"
    with review(nvim_binary, tmp_path, verdict=verdict, columns=90) as terminal:
        terminal.send(":3\r")
        terminal.wait_for("! drops @fig-one")
        shows(terminal, r"\a")


def test_a_stale_hunk_says_what_to_do(nvim_binary: str, tmp_path: Path) -> None:
    with review(nvim_binary, tmp_path, columns=110) as terminal:
        terminal.send(":3\rAx\x1b")
        terminal.wait_for("◇ 2/4 · you changed this line")
        terminal.wait_for(r"\r reject · ask again")
        terminal.send("u")
        terminal.wait_for("◆ 2/4")
        terminal.wait_for("strnogstrong")


def test_a_change_is_edited_in_a_window_of_its_own_and_write_shows_it_in_the_document(
    nvim_binary: str, tmp_path: Path
) -> None:
    with review(nvim_binary, tmp_path, lines=24) as terminal:
        terminal.send(":3\r:TypstAI edit\r")
        terminal.wait_for("typstai://p1/h2")
        terminal.send(":s/high/quite high/\r")
        terminal.wait_for("quite high")
        terminal.send(":wq\r")
        terminal.wait_for(lambda text: "typstai://" not in text)
        terminal.wait_for("◆ 2/4")
        terminal.send("\\a")
        terminal.wait_for("The value is #strong[quite high].")


def test_side_by_side_shows_both_texts_wrapped_and_q_closes_it(
    nvim_binary: str, tmp_path: Path
) -> None:
    with review(nvim_binary, tmp_path, lines=24, columns=100) as terminal:
        terminal.send(":TypstAI diff\r")
        terminal.wait_for("q close")
        text = terminal.text()
        assert "#strnog" in text
        assert "#strong" in text
        assert "A new last paragraph." in text
        assert "◆" not in text
        terminal.send("q")
        terminal.wait_for("strnogstrong")
        assert "q close" not in terminal.text()


def test_counts_and_the_dot_command_work_on_the_screen(nvim_binary: str, tmp_path: Path) -> None:
    with review(nvim_binary, tmp_path) as terminal:
        terminal.send("2]c")
        terminal.wait_for("◆ 2/4")
        terminal.send("\\a")
        terminal.wait_for("The value is #strong[high].")
        terminal.send("]c.")
        terminal.wait_for("日本語 beside caf")
        terminal.send("2[c")
        terminal.wait_for("◆ 4/4")


def test_a_fold_stays_closed_over_a_change_until_the_motion_goes_there(
    nvim_binary: str, tmp_path: Path
) -> None:
    with review(nvim_binary, tmp_path, [CHANGES[1]]) as terminal:
        terminal.send(":2,4fold\r")
        terminal.wait_for("+--")
        assert "strnogstrong" not in terminal.text()
        terminal.send("gg]c")
        terminal.wait_for("◆ 1/1")
        shows(terminal, "strnogstrong")


REWRITTEN: list[Change] = [
    (
        1,
        [PROSE],
        ["Over one whole winter, we looked at how warmth changes what grows in our jars."],
    ),
    (2, [VALUE, WIDE], [f"Something else entirely stands here {i}." for i in range(3)]),
]


@pytest.mark.parametrize("columns", [100, 80, 44])
@pytest.mark.parametrize("cursor", [2, 3, 4])
def test_the_keys_never_stand_between_what_goes_and_what_comes(
    nvim_binary: str, tmp_path: Path, columns: int, cursor: int
) -> None:
    with review(nvim_binary, tmp_path, REWRITTEN, columns=columns, lines=24) as terminal:
        terminal.wait_for("entirely stands here 2.")
        terminal.send(f":{cursor}\r")
        terminal.wait_for("◆")
        rows = terminal.text().split("\n")
        hint = next(i for i, row in enumerate(rows) if "◆" in row)
        last = "jars." if cursor == 2 else "stands here 2."
        end = next(i for i, row in enumerate(rows) if last in row)
        assert not rows[hint].strip().startswith("◆") or hint > end, terminal.text()


@pytest.mark.parametrize(
    "options",
    ["number", "relativenumber", "nonumber", "number numberwidth=7", "number foldcolumn=2",
     "relativenumber foldcolumn=1 numberwidth=1", "number signcolumn=yes", "number signcolumn=no"],
)  # fmt: skip
def test_the_column_of_signs_takes_its_cells_from_new_lines_once(
    nvim_binary: str, tmp_path: Path, options: str
) -> None:
    with review(
        nvim_binary, tmp_path, REWRITTEN, options=options, columns=46, lines=24
    ) as terminal:
        shows(terminal, "stands here 2. ", END)
        before = terminal.text().split(END)[0]
        terminal.send(":lua require('typstai.review').refresh(1)\r:echo 'drawn again'\r")
        terminal.wait_for("drawn again")
        terminal.wait_for(lambda text: text.split(END)[0] == before)


def test_new_lines_stand_in_the_order_in_which_they_will_be_read(
    nvim_binary: str, tmp_path: Path
) -> None:
    with review(nvim_binary, tmp_path, REWRITTEN, lines=24) as terminal:
        terminal.wait_for("entirely stands here 2.")
        text = terminal.text()
        words = ["growth of", "our jars", "here 0", "#strnog", "here 1", "日本語", "here 2"]
        assert sorted(words, key=text.index) == words, text


def test_the_keys_of_new_lines_stand_below_them_where_the_line_above_is_full(
    nvim_binary: str, tmp_path: Path
) -> None:
    added: list[Change] = [(2, [], ["A new line below the long one."])]
    with review(nvim_binary, tmp_path, added, columns=101) as terminal:
        terminal.send(":2\r")
        terminal.wait_for("◆ 1/1")
        rows = terminal.text().split("\n")
        hint = next(i for i, row in enumerate(rows) if "◆" in row)
        assert rows[hint].strip().startswith("◆")
        assert "A new line below" in rows[hint - 1], terminal.text()


@pytest.mark.parametrize("lines", [5, 6, 7, 8])
def test_the_motion_shows_the_keys_also_at_the_bottom_of_a_window(
    nvim_binary: str, tmp_path: Path, lines: int
) -> None:
    with review(nvim_binary, tmp_path, REWRITTEN[:1], lines=lines) as terminal:
        terminal.send("]c")
        terminal.wait_for("◆ 1/1")
        shows(terminal, "jars.")


def fold_row(terminal: Terminal) -> str:
    return next(row for row in terminal.text().split("\n") if "+--" in row)


def test_a_closed_fold_shows_that_a_change_is_in_it(nvim_binary: str, tmp_path: Path) -> None:
    with review(nvim_binary, tmp_path, [CHANGES[2]]) as terminal:
        terminal.wait_for("withbeside")
        terminal.send(":2,5fold\r")
        terminal.wait_for(lambda text: "+--" in text and fold_row(terminal).startswith("▎"))
        terminal.send(":4\rzo")
        terminal.wait_for("withbeside")
        terminal.wait_for(lambda text: text.count("▎") == 1)
        marked = [row for row in terminal.text().split("\n") if row.startswith("▎")]
        assert len(marked) == 1
        assert "withbeside" in marked[0]
        terminal.send("zc")
        terminal.wait_for(lambda text: "+--" in text and fold_row(terminal).startswith("▎"))
        terminal.send(":TypstAI reject\r")
        terminal.wait_for(lambda text: "▎" not in text)


def test_concealed_text_does_not_hide_what_changes(nvim_binary: str, tmp_path: Path) -> None:
    options = "conceallevel=2 concealcursor=n"
    with review(nvim_binary, tmp_path, [CHANGES[1]], options=options) as terminal:
        terminal.send(":syntax match Hidden /#\\|value/ conceal\r:3\r")
        terminal.wait_for("The  is strnogstrong[high].   ◆ 1/1")


def test_light_and_dark_tell_what_goes_from_what_comes(nvim_binary: str, tmp_path: Path) -> None:
    for background in ("dark", "light"):
        options = f"termguicolors background={background}"
        with review(nvim_binary, tmp_path, [CHANGES[1]], options=options) as terminal:
            terminal.wait_for("strnogstrong")
            row = (
                terminal.text()
                .split("\n")
                .index(next(line for line in terminal.text().split("\n") if "strnogstrong" in line))
            )
            cells = terminal.look().rows[row]
            column = "".join(cell.text for cell in cells).index("strnogstrong")
            gone, come = cells[column], cells[column + len("strnog")]
            assert (gone.strike, come.strike) == (True, False)
            assert gone.fore != cells[column - 2].fore
            assert come.back not in (gone.back, None)
