from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from typstai.agent.providers import sse
from typstai.agent.providers.sse import Event, SSEDecoder
from typstai.errors import StreamError


def decode(*pieces: bytes) -> list[Event]:
    decoder = SSEDecoder()
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return events + decoder.finish()


def data(*pieces: bytes) -> list[bytes]:
    return [event.data for event in decode(*pieces)]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_lines_end_with_lf_cr_or_crlf(end: bytes) -> None:
    assert data(b"data: a" + end + end + b"data: b" + end + end) == [b"a", b"b"]


def test_crlf_cut_in_the_middle_is_one_line_end() -> None:
    assert data(b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n", b"data: c\r\n\r\n") == [
        b"a\nb",
        b"c",
    ]


@pytest.mark.parametrize("odd", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c"])
def test_what_python_calls_a_line_break_stays_inside_the_data(odd: str) -> None:
    assert data(f'data: "a{odd}b"\n\n'.encode()) == [f'"a{odd}b"'.encode()]


def test_several_data_lines_are_joined_by_a_line_feed() -> None:
    assert data(b"data: {\ndata:  1\ndata\ndata:}\n\n") == [b"{\n 1\n\n}"]


def test_comments_and_keep_alives_are_no_events() -> None:
    assert data(b":\n\n", b": PROCESSING\n\n\n\n", b"data: a\n:x\n\n") == [b"a"]


@pytest.mark.parametrize("cut", [0, 1, 2, 3, 4])
def test_a_byte_order_mark_is_skipped_wherever_it_is_cut(cut: int) -> None:
    body = b"\xef\xbb\xbfdata: a\n\n"
    assert data(body[:cut], body[cut:]) == [b"a"]


def test_the_type_of_an_event_does_not_stick_to_the_next() -> None:
    body = b"event: error\ndata: a\n\nevent: ping\n\ndata: b\n\n"
    assert decode(body) == [Event("error", b"a"), Event("", b"b")]


def test_an_event_without_its_last_blank_line_is_completed_by_the_end() -> None:
    assert data(b"data: a\n\ndata: [DONE]") == [b"a", b"[DONE]"]


def test_only_one_space_after_the_colon_is_removed() -> None:
    assert data(b"data:  a \n\n", b"data:b\n\n") == [b" a ", b"b"]


def test_unknown_fields_are_ignored() -> None:
    assert data(b"id: 1\nretry: 5\nDATA: no\ndatax: no\ndata: a\n\n") == [b"a"]


def test_a_stream_over_the_cap_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_STREAM_BYTES", 100)
    with pytest.raises(StreamError, match="longer than 100 bytes"):
        decode(*[b": keep-alive\n\n"] * 10)


def test_a_line_that_never_ends_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "MAX_LINE_BYTES", 100)
    with pytest.raises(StreamError, match="a line longer than 100 bytes"):
        decode(*[b"x" * 10] * 11)
    with pytest.raises(StreamError, match="a line longer than 100 bytes"):
        decode(b"data: a\n" + b"x" * 101 + b"\n")


def test_the_caps_are_those_of_the_specification() -> None:
    assert sse.MAX_STREAM_BYTES == 4 * 1024 * 1024


@given(st.lists(st.sampled_from([b"data: a", b"data:", b":", b"\r", b"\n", b"\xef\xbb\xbf", b"x"])))
def test_any_cut_gives_the_same_events(pieces: list[bytes]) -> None:
    body = b"".join(pieces)
    assert decode(*(body[at : at + 1] for at in range(len(body)))) == decode(body)
