"""Removes real keys and organisations from the output and the cassettes of a live recording."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from ellmer_harness.secrets.redaction import letter_by_letter, spellings

from ..scenarios.canary_keys import is_canary

_SHORTEST = 8  # characters of a value that may be a key
_NAMES = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD)(?:_|$)")
_OWNERS = re.compile(
    r"(org(?<!\worg)|proj(?<!\wproj)|user(?<!\wuser))-[A-Za-z0-9]{12,}\b"
)  # fast: see transcripts


def redacted(text: str) -> str:
    """Returns the text without the keys of the environment, in each spelling that recordings are searched for, and without ids of
    organisations, projects and users.
    """
    for key in _keys():
        for spelled in (*spellings(key), *letter_by_letter(key)):
            text = text.replace(spelled, "[key]")
    return _OWNERS.sub(r"\1-REDACTED", text)


def redacted_value(value: Any) -> Any:
    """Returns a JSON value, redacted."""
    if value is None:
        return None
    return json.loads(redacted(json.dumps(value)))


def _keys() -> Iterator[str]:
    """Yields the real keys that are set, the longest first."""
    values = {os.environ.get(name, "") for name in os.environ if _NAMES.search(name)}
    yield from sorted((v for v in values if len(v) >= _SHORTEST and not is_canary(v)), key=len, reverse=True)
