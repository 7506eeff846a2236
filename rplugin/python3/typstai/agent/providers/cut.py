"""Whether a server read less than it was sent.

Ollama cuts a request to the context it was started with and says nothing: the
model then answers without having seen the beginning. What gives it away is the
number of tokens that the server counted.
"""

from __future__ import annotations

from .. import history
from .base import ModelRequest, Usage

MOST_CHARACTERS_PER_TOKEN = 6.0
"""Measured at most 3.9 with a vocabulary of 49,000 over 150 files of Typst and prose; larger
vocabularies reach 4.8 in English. Definitions of tools count besides and are not in here.
"""
LEAST_TOKENS = 1000
"""Below that it is no cut: a server may count only what it had not read before."""


BEGINS = "The server read only "


def told_cut(request: ModelRequest, usage: Usage) -> str:
    """A sentence for the user when the server cannot have read all of the request, else ""."""
    characters = len(request.system) + sum(map(history.size, request.messages))
    least = int(characters / MOST_CHARACTERS_PER_TOKEN)
    if usage.estimated or not LEAST_TOKENS <= usage.input_tokens < least:
        return ""
    return (
        f"{BEGINS}{usage.input_tokens:,} of at least {least:,} tokens, so the model"
        " has not seen the beginning. Raise the context length of the server (Ollama:"
        " OLLAMA_CONTEXT_LENGTH), or set context_window to what it has."
    )
