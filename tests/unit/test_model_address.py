from __future__ import annotations

import pytest

from typstai.agent.providers.endpoint import Endpoint
from typstai.errors import SettingsError


def at(base_url: str, allow: str = "") -> Endpoint:
    return Endpoint(name="mine", base_url=base_url, model="m", allow_insecure_origin=allow)


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"),
        ("https://a.b/v1/chat/completions", "https://a.b/v1/chat/completions"),
        ("http://localhost:11434", "http://localhost:11434/chat/completions"),
        ("https://x.y/d/gpt?api-version=1", "https://x.y/d/gpt/chat/completions?api-version=1"),
    ],
)
def test_the_path_of_completions_is_appended(base_url: str, url: str) -> None:
    assert at(base_url).url == url


@pytest.mark.parametrize(
    "base_url",
    [
        "https://example.org/v1",
        "http://localhost:8080/v1",
        "http://LOCALHOST/v1",
        "http://ollama.localhost:1/v1",
        "http://127.0.0.1:1/v1",
        "http://127.9.9.9/v1",
        "http://[::1]:8080/v1",
    ],
)
def test_tls_or_this_machine_needs_no_permission(base_url: str) -> None:
    assert at(base_url).base_url == base_url


@pytest.mark.parametrize(
    "base_url",
    [
        "http://example.org/v1",
        "http://192.168.1.5:11434/v1",
        "http://localhost.example.org/v1",
        "http://127.0.0.1.example.org/v1",
        "http://0.0.0.0:1/v1",
    ],
)
def test_cleartext_to_another_machine_is_refused(base_url: str) -> None:
    with pytest.raises(SettingsError, match="unencrypted"):
        at(base_url)


def test_cleartext_is_allowed_to_exactly_one_origin() -> None:
    allow = "http://192.168.1.5:11434"
    assert at("http://192.168.1.5:11434/v1", allow).origin == allow
    assert at("http://box/v1", "http://box:80").origin == "http://box"
    for other in ("http://192.168.1.5:8080/v1", "http://192.168.1.50:11434/v1", "http://box/v1"):
        with pytest.raises(SettingsError, match="unencrypted"):
            at(other, allow)


@pytest.mark.parametrize(
    "base_url",
    [
        "", "api.openai.com/v1", "ftp://a/v1", "https://", "https://a:x/v1", "https://a:99999/",
        "https://me:pw@a/v1", "https://a/v 1", "https://a/v1\n", "https://ä.org/v1", "https://[::1",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_by_the_name_of_the_model(base_url: str) -> None:
    with pytest.raises(SettingsError, match="model mine") as raised:
        at(base_url)
    assert "pw" not in str(raised.value)


@pytest.mark.parametrize("header", [{"x": "a\r\nb: c"}, {"x\n": "a"}, {"": "a"}, {"x": "ä"}])
def test_a_header_that_could_smuggle_another_is_refused(header: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="header"):
        Endpoint(name="mine", base_url="https://a/v1", model="m", headers=header)


def test_headers_and_proxy_are_in_no_repr() -> None:
    endpoint = Endpoint(
        name="mine", base_url="https://a/v1", model="m",
        headers={"api-key": "hidden-1"}, proxy="http://u:hidden-2@p",
    )  # fmt: skip
    assert "hidden" not in repr(endpoint)
