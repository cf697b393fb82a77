"""Rules about whole conversations, for every wire format: what a client must do for its user. Each judges a
`Run` of a case.

These rules are of kind *loss*: the provider may answer 200, and data is lost all the same. Pointers lead
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
