"""Explains errors in plain words, and says what to do about them."""

from __future__ import annotations

from ..errors import (
    AuthenticationError,
    BadRequestError,
    ConnectError,
    ContentError,
    IncompleteResponseError,
    RateLimitError,
    ServerError,
    TimeoutError,
    ToolRoundsError,
    UsageError,
)

__all__ = ["in_plain_words"]

#: The first that fits.
WORDS: tuple[tuple[type[BaseException], str], ...] = (
    (
        RateLimitError,
        "The provider asks for a pause: too many requests or tokens. Wait a little, then retry.",
    ),
    (AuthenticationError, "The provider does not accept the API key. Change the key of this app."),
    (BadRequestError, "The provider refused the request."),
    (ServerError, "The provider has a problem. Retry in a moment."),
    (TimeoutError, "The provider did not answer in time."),
    (ConnectError, "The provider cannot be reached. Check the network, then retry."),
    (IncompleteResponseError, "The answer was cut off. The received part is kept."),
    (ToolRoundsError, "The model called tools too often and was stopped."),
    (ContentError, "The model does not accept what was sent."),
    (UsageError, "This could not be sent."),
)


def in_plain_words(error: BaseException) -> tuple[str, str]:
    """Returns a plain sentence, and the original message of the provider or the program."""
    words = next((words for kind, words in WORDS if isinstance(error, kind)), "Something went wrong here.")
    return words, str(error) or type(error).__name__
