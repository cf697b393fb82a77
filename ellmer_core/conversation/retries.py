"""Whether and when a failed request is sent again. It uses no clock and no randomness."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors import ConnectError, ProviderError, RequestTimeoutError

FIRST, LONGEST = 0.5, 30.0  # seconds: of the growing wait before the second, the third, … try
PATIENCE = 120.0  # seconds: a longer wait raises an error instead of sleeping

#: OpenAI answers 429 also to what no waiting cures: an empty account, a request larger than the limit.
_HOPELESS = r"(?i)insufficient_quota|request too large"


def wait(error: Exception, headers: Mapping[str, str], tries: int) -> tuple[float, float] | None:
    """Returns the shortest and longest wait before a retry, or `None` if a retry would not help."""
    floor = error.retry_after if isinstance(error, ProviderError) else None
    return pause(tries, floor) if worth_retrying(error, headers) else None


def worth_retrying(error: Exception, headers: Mapping[str, str]) -> bool:
    """Tells whether the same request may succeed later. `headers` (lower case) are those of the answer, if
    any.

    A timeout counts only while connecting. After that, the model may be at work, and a retry would start it twice.
    """
    match error:
        case ProviderError(status=int(status)):
            reason = f"{error.type} {error.code} {error.message}"
            refused = headers.get("x-should-retry", "").lower() == "false" or re.search(_HOPELESS, reason)
            return (status in {408, 409, 429} or status >= 500) and not refused
        case RequestTimeoutError():
            return error.phase == "connect"
        case _:
            return isinstance(error, ConnectError)


def pause(tries: int, floor: float | None) -> tuple[float, float] | None:
    """Returns the shortest and longest wait in seconds after `tries` attempts, or `None` if the wait would be too
    long.
    """
    growing = min(FIRST * 2 ** (tries - 1), LONGEST)
    least = max(growing, floor or 0.0)
    return (least, least + growing) if least <= PATIENCE else None
