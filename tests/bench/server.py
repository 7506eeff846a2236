"""A model endpoint as fast as the loopback device, in a process of its own.

The model's name chooses what is sent: `flood` is 20,000 deltas of one token as fast as the client
reads; `first` is one token after a pause in which the client can become idle; `large` is a third
of a mebibyte in large deltas. Every answer ends with a marker: three letters that no other answer
has, so that a terminal prints them whole. `GET /times` tells when each marker's answer began.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import urlopen

DELTAS = 20_000
PAUSE_SECONDS = 0.08
LARGE_DELTAS, LARGE_WORDS = 400, 150

_WORDS = "the count of riders on a wet morning falls but not by as much as many would have said"
_PROMPT = re.compile(rb"run (\d+)")


def prompt(number: int) -> str:
    """What to ask for the answer with this number."""
    return f"run {number}"


def marker(number: int) -> str:
    """Three letters that end the answer with this number, and no other."""
    first = 0x0400 + 3 * number
    return "".join(chr(first + offset) for offset in range(3))


def event(text: str) -> bytes:
    """One server-sent event with a delta of that text, in a chunk of its own."""
    return _chunk({"id": "c1", "choices": [{"index": 0, "delta": {"content": text}}]})


def flood() -> bytes:
    """All deltas of the flood, ready to be sent: words in lines of fifteen."""
    words = _WORDS.split()
    texts = (words[i % len(words)] + ("\n" if i % 15 == 14 else " ") for i in range(DELTAS - 1))
    return b"".join(map(event, texts))


def large() -> bytes:
    words = (_WORDS.split() * LARGE_WORDS)[:LARGE_WORDS]
    return event(" ".join(words) + "\n\n") * LARGE_DELTAS


def end(number: int) -> bytes:
    """The marker on a line of its own, the reason of the end, and the end."""
    choice: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": "stop"}
    stop = _chunk({"id": "c1", "choices": [choice]})
    return event(f"\n{marker(number)}\n") + stop + _chunked(b"data: [DONE]\n\n") + b"0\r\n\r\n"


def _chunk(value: dict[str, Any]) -> bytes:
    return _chunked(b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n")


def _chunked(data: bytes) -> bytes:
    """As real endpoints send: each event is one chunk of the body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    bodies = {b"flood": flood(), b"large": large(), b"first": b""}
    times: dict[int, int] = {}

    def do_GET(self) -> None:
        self._head("application/json")
        self.wfile.write(json.dumps(self.times).encode())
        self.close_connection = True

    def do_POST(self) -> None:
        request = self.rfile.read(int(self.headers["content-length"]))
        number = int(_PROMPT.findall(request)[-1])
        model = json.loads(request)["model"].encode()
        self._head("text/event-stream")
        self.wfile.write(event(""))
        time.sleep(PAUSE_SECONDS)
        self.times[number] = time.monotonic_ns()
        self.wfile.write(self.bodies[model] + end(number))
        self.close_connection = True

    def _head(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("connection", "close")
        if kind == "text/event-stream":
            self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: standard output is for the address."""


@contextmanager
def serving() -> Generator[str]:
    """Run the server as a child; its address, `http://127.0.0.1:PORT`."""
    argv = [sys.executable, "-m", "bench.server"]
    folder = Path(__file__).resolve().parent.parent
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def began_ns(address: str, number: int) -> int:
    """When the first byte of that answer was sent, on the machine's monotonic clock."""
    with urlopen(f"{address}/times") as reply:
        return json.load(reply)[str(number)]


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
