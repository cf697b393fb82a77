"""Errors of a chat in plain words, for the people who use an app."""

from __future__ import annotations

from dataclasses import dataclass

from .. import errors
from ..base.printable_text import printable

#: The first that fits. Each says what happened and what a person can do.
WORDS: tuple[tuple[type[BaseException], str], ...] = (
    (errors.RateLimitError, "The provider asks for a pause. Nothing is lost: wait a little, then retry."),
    (
        errors.AuthenticationError,
        "The provider does not accept the API key of this app. Whoever runs the app can change it.",
    ),
    (errors.BadRequestError, "The provider refused the request. You can edit your message and try again."),
    (errors.ServerError, "The provider is overloaded or has a problem. Nothing is lost: retry in a moment."),
    (errors.RequestTimeoutError, "The provider did not answer in time. Nothing is lost: retry."),
    (errors.ConnectError, "The provider cannot be reached. Check the network, then retry."),
    (errors.IncompleteResponseError, "The answer was cut off. The received part is kept."),
    (
        errors.ToolRoundsError,
        "The model called tools too often and was stopped. You can tell it how to go on.",
    ),
    (
        errors.ContentError,
        "The model does not accept what was sent. You can edit your message and try again.",
    ),
    (errors.UsageError, "This could not be sent. You can edit your message and try again."),
)


@dataclass(frozen=True)
class Explanation:
    """An error in plain words, as the chat app shows it.

    Args:
        words: Two sentences for a person.
        quoted: The provider's own message; empty if the provider said nothing.
        detail: The whole error, for whoever wrote the app; empty if there is no more to say.
    """

    words: str
    quoted: str = ""
    detail: str = ""


def in_plain_words(error: BaseException) -> Explanation:
    """Returns an error in plain sentences, with the provider's message and the text for developers."""
    words = next((words for kind, words in WORDS if isinstance(error, kind)), "Something went wrong here.")
    quoted = printable(error.message) if isinstance(error, errors.ProviderError) else ""
    detail = str(error) or type(error).__name__
    return Explanation(words, quoted, "" if detail == quoted else detail)
