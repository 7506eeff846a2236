"""Every error this package raises on purpose.

    TypstAIError
    ├── SettingsError        the user's configuration must change
    ├── EditorError          Neovim refused a request
    ├── ToolError            the model is told and may try again
    ├── ModelError           a model endpoint failed; the user is told
    │   ├── ConnectError         no connection, TLS or proxy trouble, time-out
    │   ├── StatusError          an HTTP status that is not a success
    │   └── StreamError          the stream broke, or carried an error object
    ├── CompilerError        the Typst worker could not answer
    └── StorageError         the chat database could not be read or written

A message is one sentence for the person who must react; details go to the log.
"""

from __future__ import annotations

from typing import Literal

Remedy = Literal["none", "wait", "shorten"]
"""What may help after a model failed: nothing we can do, a later try, a shorter request."""


class TypstAIError(Exception):
    """Base of all errors raised on purpose; `str(error)` is fit to be shown."""


class SettingsError(TypstAIError):
    """An option has a wrong value, or names something that does not exist."""


class EditorError(TypstAIError):
    """Neovim could not do what was asked (`code` is stable, for programs)."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ToolError(TypstAIError):
    """A tool call cannot be carried out; the model reads `code: message`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def for_model(self) -> str:
        """Text of the tool result, its stable code first."""
        return f"error {self.code}: {self}"


class ModelError(TypstAIError):
    """A model endpoint failed; the message names the endpoint and the cure."""

    def __init__(
        self, message: str, *, remedy: Remedy = "none", retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.remedy: Remedy = remedy
        self.retry_after = retry_after
        """Seconds the server asked to wait, when it said."""


class ConnectError(ModelError):
    """No connection: refused, name not found, TLS, proxy, or time-out."""


class StatusError(ModelError):
    """The endpoint answered with an HTTP status that is not a success."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        remedy: Remedy = "none",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, remedy=remedy, retry_after=retry_after)
        self.status = status


class StreamError(ModelError):
    """The stream ended early, was malformed, too large, or carried an error."""


class CompilerError(TypstAIError):
    """The Typst worker timed out, ran out of memory, or could not start."""


class StorageError(TypstAIError):
    """The chat database could not be opened, read or written."""
