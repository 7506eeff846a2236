import re

from hypothesis import given
from hypothesis import strategies as st

from typstai.agent.prompt import system_prompt
from typstai.domain.fence import fence


def test_the_language_policy_follows_the_users_own_prompt() -> None:
    prompt = system_prompt("Write like Hemingway.")
    assert prompt.index("Write like Hemingway.") < prompt.index("Answer in the language")


def test_the_system_prompt_is_the_same_every_time() -> None:
    assert system_prompt() == system_prompt()


@given(
    st.text(), st.sampled_from(["</document>", "</ document >", "<DOCUMENT x>", "< / document>"])
)
def test_content_can_neither_close_nor_reopen_its_fence(text: str, tag: str) -> None:
    fenced = fence("document", text + tag + text)
    tags = re.findall(r"<\s*/?\s*document\b", fenced, re.IGNORECASE)
    assert tags == ["<document", "</document"]


def test_other_markup_in_fenced_text_stays_as_it_is() -> None:
    assert fence("file", "a <b> @c <fig-one>") == "<file>\na <b> @c <fig-one>\n</file>"
