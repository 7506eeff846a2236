"""The process that serves the small model: llama.cpp's own HTTP server on loopback.

Runs as a script and imports nothing of this package. The first line of stdin
holds its settings, one line on stdout answers with the address (or why there is
none), and from then on it serves until stdin closes, as it does when its host
ends, however that ends.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
from pathlib import Path
from typing import Any, BinaryIO

CONTEXT_TOKENS = 8192
"""What the model was trained for."""
MAX_ANSWER_TOKENS = 1024
"""A small model may repeat itself without end."""
MEMORY_MIB = 2048
"""Of address space; with a full context it uses half of it."""
HTTP_THREADS = 4
"""An idle connection keeps one busy for some seconds."""
MOST_THREADS = 4
REPEAT_PENALTY = 1.05
"""Without it the model soon says one sentence over and over; more keeps it from using the words
of the question.
"""
NICENESS = 5
"""Typing comes first."""


def main() -> None:
    """Serve until stdin closes."""
    host = _take_stdout()
    settings: dict[str, str] = json.loads(sys.stdin.buffer.readline())
    sys.path.append(settings["library"])
    _limit_resources()
    try:
        server = _serve(settings["weights"], settings["key"])
        _tell(host, {"url": server.listening_address})
    except Exception as error:  # the binding raises whatever its C++ raises
        _tell(host, {"error": f"{type(error).__name__}: {error}"})
        os._exit(1)
    sys.stdin.buffer.read()
    os._exit(0)


def _serve(weights: str, key: str) -> Any:
    """A server that answers; to be kept, as it ends with its last reference."""
    binding: Any = importlib.import_module("xllamacpp")  # has no types
    params = binding.CommonParams()
    params.model.path = weights
    params.api_keys = [key]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_threads_http = HTTP_THREADS
    params.n_ctx = CONTEXT_TOKENS
    params.n_predict = MAX_ANSWER_TOKENS
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _threads()
    params.sampling.penalty_repeat = REPEAT_PENALTY
    params.cache_ram_mib = 0
    params.verbosity = 0
    params.ui = params.endpoint_slots = False
    return binding.Server(params)


def _threads() -> int:
    """Half of the cores: its threads wait for each other by spinning, so that on a busy machine
    one more than there is room for makes it ten times slower.
    """
    return max(1, min(MOST_THREADS, (os.cpu_count() or 1) // 2))


def _limit_resources() -> None:
    """Running out of memory must end this process, not the machine's patience."""
    os.nice(NICENESS)
    if sys.platform != "linux":
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = MEMORY_MIB * 1024 * 1024
    soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _take_stdout() -> BinaryIO:
    """The pipe to the host, out of reach of anything that prints."""
    mine = os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("wb") as quiet:
        os.dup2(quiet.fileno(), 1)
    return mine


def _tell(host: BinaryIO, reply: dict[str, str]) -> None:
    host.write(json.dumps(reply).encode() + b"\n")
    host.flush()


if __name__ == "__main__":
    main()
