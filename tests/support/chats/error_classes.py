"""The class of an error by its status, and by a text about a too long context."""

import re

from ellmer_core.errors import (
    AuthenticationError,
    BadRequestError,
    ContextWindowError,
    RateLimitError,
    ServerError,
)

#: In the providers' own words, as recorded.
TOO_LONG = re.compile(
    r"(?:prompt|input) is too long|too many total text bytes|input token count|input tokens exceeded|maximum (?:context|prompt) length"
    r"|context (?:window|length|size)|too large for model with|too many tokens|is too large to process"
    r"|length of (?:the|all) messages|input tokens exceeds",
    re.IGNORECASE,
)


def error_class(status, message):
    if status in {401, 403}:
        return AuthenticationError
    if status == 429:
        return RateLimitError
    if status in {400, 413, 422, 500} and TOO_LONG.search(message):
        return ContextWindowError
    return ServerError if status >= 500 or status in {408, 409, 424} else BadRequestError
