"""Tool calls: their arguments as text and as objects, valid ids, and truncated calls."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from hashlib import sha256
from math import isfinite
from typing import Any

from ...contents.content import Content, replaced
from ...contents.tool_requests_and_results import ContentToolRequest
from ..framing.json_text import bounded
from .json_bodies import json_text

__all__ = ["STRUCTURED", "call_of", "distinct", "legal_id", "legal_name", "raw", "strict_json", "tool_input"]

Json = dict[str, Any]


#: The tool that a model is forced to call if it has no structured output, or none beside tools.
STRUCTURED = "give_structured_data"


def call_of(
    id: str, name: str, raw: object, *, cut: bool = False, extra: Json | None = None
) -> ContentToolRequest:
    """Returns a tool call. `raw` is JSON text, or an object in formats with objects.

    `cut` says that the provider did not end the answer normally, so the call may be incomplete.
    """
    value, problem = _arguments(raw)
    if isinstance(name, str) and (legal := legal_name(name)) != name:
        name, problem = legal, f"no tool is called {name!r:.100}"
    if cut:
        problem = "the answer was cut off in this call: its arguments may be incomplete"
    return ContentToolRequest(
        id,
        name,
        {} if problem else value,
        raw=raw if isinstance(raw, str) else None,
        problem=problem,
        extra=extra or {},
    )


def _arguments(raw: object) -> tuple[Json, str | None]:
    """Returns the arguments, and the error if the text is not an object. Empty text means no arguments."""
    try:
        value = strict_json(raw) if isinstance(raw, str) and raw.strip() else raw
    except (ValueError, RecursionError) as error:
        return {}, f"the arguments are not JSON ({error})"
    if value is None or (isinstance(value, str) and not value.strip()):
        return {}, None
    if not isinstance(value, dict):
        return {}, f"the arguments are not a JSON object but {type(value).__name__}"
    return value, None


def strict_json(text: str) -> Any:
    """Parses strict JSON: no NaN, no Infinity, no number that is too large. Raises `ValueError`."""
    value = json.loads(text, parse_constant=_not_json, parse_float=_finite)
    bounded(value)
    return value


def _not_json(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")


def _finite(number: str) -> float:
    if not isfinite(value := float(number)):
        raise ValueError(f"{number} is too large")
    return value


def tool_input(text: str) -> Any:
    """Returns the input of a streamed call, for a format with objects. If it is not JSON, because it was truncated,
    it is the original text, and `call_of()` reports it.
    """
    try:
        return strict_json(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return text


def raw(request: ContentToolRequest) -> str:
    """Returns the arguments as JSON text: the model's exact text if it is a JSON object, else `{}`."""
    text = request.raw or ""
    whole = text.strip() not in {"", "null"} and _is_object(text)
    return text if whole else json_text(dict(request.arguments))


def _is_object(text: str) -> bool:
    """Tells whether the text is a JSON object, because a server may parse it when it is sent back."""
    return not _arguments(text)[1]


def distinct(contents: Iterable[Content], seed: object) -> list[Content]:
    """Returns the contents with a distinct id for every tool call, so that each result matches its call.

    A call without an id gets one that is made from `seed` (the provider's whole answer). The same answer gives the
    same id, and different answers give different ids. An id that appears twice in one answer is kept for the first
    call.
    """
    seen: set[str] = set()
    out: list[Content] = []
    for place, content in enumerate(contents):
        if isinstance(content, ContentToolRequest) and (not content.id or content.id in seen):
            content = replaced(content, id=f"call_{_digest(json_text([seed, place]))}")  # noqa: PLW2901 - the renamed call takes its place
        if isinstance(content, ContentToolRequest):
            seen.add(content.id)
        out.append(content)
    return out


def legal_id(id: str, pattern: str, length: int = 24) -> str:
    """Returns `id` if it matches `pattern`, else letters and digits that are made from it. Call and result get the
    same id.
    """
    return id if re.fullmatch(pattern, id) else _digest(id)[:length]


def legal_name(name: str) -> str:
    """Returns `name` if every format accepts it as a tool's name, else the nearest valid one. An invalid name of the
    model would make the provider refuse each further request.
    """
    return (
        name
        if re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)
        else re.sub(r"[^\w-]", "_", name, flags=re.ASCII)[:64] or "unnamed"
    )


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
