"""What every client owes its user, whatever the wire format: rules over a whole `Run` of a case.

These rules are of kind *loss*: the provider may answer 200 to all of it, and something is gone. Pointers lead
into the run: `/exchanges/1/request/…` (then the place in the body), `/replies/0`, `/tool_runs`, `/varied/crlf`.
"""

from . import (
    cassettes,
    echoed,
    endings,
    errors,
    history,
    leaks,
    media,
    replies,
    results,
    runs,
    secrets,
    streams,
    structured,
    thoughts,
    tools,
    transcripts,
    uninvited,
    user_media,
)
from ._rulebook import book

__all__ = [
    "book",
    "cassettes",
    "echoed",
    "endings",
    "errors",
    "history",
    "leaks",
    "media",
    "replies",
    "results",
    "runs",
    "secrets",
    "streams",
    "structured",
    "thoughts",
    "tools",
    "transcripts",
    "uninvited",
    "user_media",
]
