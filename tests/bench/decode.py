"""Reading and decoding a flood of deltas with nothing else: what every client must pay."""

from __future__ import annotations

import time

import httpx
import msgspec

from .server import DELTAS, prompt


class _Delta(msgspec.Struct):
    content: str = ""


class _Choice(msgspec.Struct):
    delta: _Delta


class _Chunk(msgspec.Struct):
    choices: list[_Choice]


def seconds_for(address: str, number: int) -> float:
    """From the first byte of the answer to its end."""
    decoder = msgspec.json.Decoder(_Chunk)
    body = {"model": "flood", "messages": [{"role": "user", "content": prompt(number)}]}
    url = f"{address}/v1/chat/completions"
    deltas, began, rest = 0, 0.0, b""
    with httpx.Client(trust_env=False) as client, client.stream("POST", url, json=body) as reply:
        for data in reply.iter_raw():
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                if line.startswith(b"data: {"):
                    deltas += bool(decoder.decode(line[6:]).choices[0].delta.content)
            began = began or time.monotonic() if deltas else 0.0
    assert deltas == DELTAS
    return time.monotonic() - began
