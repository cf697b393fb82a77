"""The fields of an upload to OpenAI that say when the file expires.

https://developers.openai.com/api/reference/resources/files/methods/create
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ...contract.rule import Refusal

__all__ = ["lifetime"]

_SHORTEST, _LONGEST = 3_600, 2_592_000  # seconds: an hour, and 30 days
_ANCHOR, _SECONDS = "expires_after.anchor", "expires_after.seconds"
_INTEGER = re.compile(r"-?[0-9]{1,18}")


def lifetime(fields: Mapping[str, str]) -> int | Refusal | None:
    """Returns the seconds until a file expires, or OpenAI's error for wrong fields. Without the fields, a file for
    batches expires after 30 days, and other files do not expire.
    """
    anchor, seconds = fields.get("expires_after[anchor]"), fields.get("expires_after[seconds]")
    if anchor is None and seconds is None:
        return _LONGEST if fields.get("purpose") == "batch" else None
    if anchor is None or seconds is None:
        missing = _ANCHOR if anchor is None else _SECONDS
        return _refusal(f"Missing required parameter: '{missing}'.", "missing_required_parameter", missing)
    if anchor != "created_at":
        said = f"Invalid value: '{anchor}'. Supported values are: 'created_at'."
        return _refusal(said, "invalid_value", _ANCHOR)
    if not _INTEGER.fullmatch(seconds):
        said = f"Invalid type for '{_SECONDS}': expected an integer, but got a string instead."
        return _refusal(said, "invalid_type", _SECONDS)
    return _out_of_range(int(seconds)) or int(seconds)


def _out_of_range(seconds: int) -> Refusal | None:
    if _SHORTEST <= seconds <= _LONGEST:
        return None
    below = seconds < _SHORTEST
    side, bound = ("below minimum", f">= {_SHORTEST}") if below else ("above maximum", f"<= {_LONGEST}")
    said = f"integer {side} value. Expected a value {bound}, but got {seconds} instead."
    code = f"integer_{'below_min' if below else 'above_max'}_value"
    return _refusal(f"Invalid '{_SECONDS}': {said}", code, _SECONDS)


def _refusal(message: str, code: str, param: str) -> Refusal:
    return Refusal(message, 400, "invalid_request_error", code, param)
