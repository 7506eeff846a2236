"""Whether a server read less than it was sent.

Ollama cuts a request to the context it was started with and says nothing: the
model then answers without having seen the beginning. What gives it away is the
number of tokens that the server counted. It is held against a bound, not a guess:
no vocabulary joins two words that a blank separates, and none has tokens for whole
Chinese, Japanese or Korean sentences. What a text really takes is more, by a third
in English and by twice in German.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .base import AssistantMessage, ModelRequest, ToolMessage, Usage, UserMessage

SAFE_PART = 0.8
"""Of the bound: below it something was lost."""
LEAST_TOKENS = 1000
"""Below that it is no cut: a server may count only what it had not read before."""
WIDE_PER_TOKEN = 4
"""Characters of scripts without blanks; running text has fewer than two."""
BEGINS = "The server read only "
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")


def told_cut(request: ModelRequest, usage: Usage) -> str:
    """A sentence for the user when the server cannot have read all of the request, else "".

    Images and tools do not count: not every server passes them on.
    """
    least = sum(map(fewest_tokens, _texts(request)))
    if usage.estimated or not LEAST_TOKENS <= usage.input_tokens < SAFE_PART * least:
        return ""
    return (
        f"{BEGINS}{usage.input_tokens:,} of at least {least:,} tokens, so the model"
        " has not seen all of it. Raise the context length of the server (Ollama:"
        " OLLAMA_CONTEXT_LENGTH), or set context_window to what it has."
    )


def fewest_tokens(text: str) -> int:
    """The fewest tokens that any model makes of a text."""
    words, wide = _WIDE.subn(" ", text)
    return len(words.split()) + wide // WIDE_PER_TOKEN


def _texts(request: ModelRequest) -> Iterator[str]:
    yield request.system
    for message in request.messages:
        match message:
            case UserMessage(text=text) | AssistantMessage(text=text) | ToolMessage(text=text):
                yield text
