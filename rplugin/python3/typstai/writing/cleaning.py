"""Takes from an answer what the model put around the text: talk, fences, quotes, thoughts."""

from __future__ import annotations

import re

from ..domain.fence import unfence
from .templates import TAG, TAGS

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_BEFORE = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_CODE_FENCE = re.compile(r"\A(`{3,}|~{3,})[^\n`]*\n(.*?)\n?[ \t]*\1[ \t]*\Z", re.DOTALL)
_FENCE_WITHIN = re.compile(r"^(`{3,})[a-z]*[ \t]*\n(.*?)\n\1[ \t]*$", re.DOTALL | re.MULTILINE)
_OPENERS = (
    "here", "sure", "certainly", "of course", "okay", "ok", "absolutely", "below", "the following",
    "rephrased", "revised", "rewritten", "simplified", "translated", "translation", "corrected",
    "improved", "this is", "i have", "i've", "hier", "gerne", "natürlich", "selbstverständlich",
    "klar", "unten", "umformuliert", "überarbeitet", "übersetzung", "korrigiert", "vereinfacht",
    "voici", "bien sûr", "aquí", "claro", "por supuesto", "ecco", "certo", "aqui", "hieronder",
)  # fmt: skip
_PREAMBLE = re.compile(
    rf"\A\**(?:{'|'.join(map(re.escape, _OPENERS))})\b[^\n]{{0,160}}?(?::\**|[!.])[ \t]*\n+",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"\A\**(?:rephrased|revised|rewritten|simplified|translated|translation|corrected|improved"
    r"|answer|output|result|text|überarbeitet|übersetzung|korrigiert|antwort)"
    r"(?: (?:text|version|passage|paragraph|fassung))?\**:\**[ \t]*(?=\S|\n)",
    re.IGNORECASE,
)
_CLOSERS = (
    "let me know", "i hope", "hope this", "feel free", "would you like", "if you", "note:",
    "note that", "*note", "**note", "changes made", "**changes", "explanation", "**explanation",
    "i have", "i've", "this version", "the revised", "key changes", "anmerkung", "hinweis:",
    "ich hoffe", "falls du", "falls sie", "wenn du", "wenn sie", "änderungen",
)  # fmt: skip
_CLOSING = re.compile(rf"\n[ \t]*\n(?:{'|'.join(map(re.escape, _CLOSERS))})[^⟦⟧]*\Z", re.IGNORECASE)
_QUOTES = (('"', '"'), ("“", "”"), ("„", "“"), ("„", "”"), ("«", "»"), ("»", "«"), ("'", "'"))
_GERMAN = re.compile("„[^“”]*[“”]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufeff]")


def clean(answer: str, target: str) -> str:
    """The text itself, without white space at its ends; empty when there is none.

    `target` is the passage that the model was given: what stands around it there
    too was not put around it.
    """
    text = _lines(_thoughtless(answer)).strip()
    text = _unwrapped(text, target)
    text = _without_talk(text, target)
    text = _unwrapped(text, target)
    text = _unquoted(text, target.strip())
    lines = (line.rstrip() for line in unfence(text, TAGS).split("\n"))
    return "\n".join(lines).strip()


def _thoughtless(answer: str) -> str:
    return _THOUGHT_BEFORE.sub("", _THOUGHT.sub("", answer))


def _lines(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", text)


def _unwrapped(text: str, target: str) -> str:
    """Without our own tags around it, and without a code fence that the target has not."""
    name = re.escape(TAG)
    inner = re.search(rf"<{name}>\n?(.*?)\n?</{name}>", text, re.DOTALL | re.IGNORECASE)
    text = inner[1] if inner else re.sub(rf"</?{name}>", "", text, flags=re.IGNORECASE)
    if "```" in target or "~~~" in target:
        return text.strip()
    whole = _CODE_FENCE.match(text.strip())
    if whole and whole[1] not in whole[2]:
        return whole[2].strip()
    return text.strip()


def _without_talk(text: str, target: str) -> str:
    opening = _PREAMBLE.match(text)
    if opening and not _PREAMBLE.match(f"{target.strip()}\n"):
        text = text[opening.end() :]
    label = _LABEL.match(text)
    if label and not _LABEL.match(target.strip()):
        text = text[label.end() :]
    closing = _CLOSING.search(text)
    if closing and not _CLOSING.search(target.rstrip()):
        text = text[: closing.start()]
    fenced = list(_FENCE_WITHIN.finditer(text))
    if len(fenced) == 1 and "```" not in target:
        text = fenced[0][2]
    return text.strip()


def _unquoted(text: str, target: str) -> str:
    """Without quotes around the whole, unless the target has some there itself."""
    for left, right in _QUOTES:
        inner = text[1:-1]
        if not (len(text) > 2 and text[0] == left and text[-1] == right):
            continue
        other = _GERMAN.sub("", inner).replace("\\" + right, "")
        if target[:1] == left or left in other or right in other:
            continue
        return inner.strip()
    return text
