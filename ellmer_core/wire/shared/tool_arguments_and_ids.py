"""Tool calls: their arguments as text and as objects, ids that a format takes, and calls that were cut off."""

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


#: The tool that a model without structured output of its own, or without it beside tools, is made to call.
STRUCTURED = "give_structured_data"


def call_of(
    id: str, name: str, raw: object, *, cut: bool = False, extra: Json | None = None
) -> ContentToolRequest:
    """Returns a tool call as it came: `raw` is JSON text, or an object where the format has objects.

    `cut` says that the provider did not end the answer as a whole one, so that nobody knows the call to be.
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
    """Returns the arguments, and why there are none where the text is not an object. No text at all: no
    arguments.
    """
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
    """Parses JSON, and only that: no NaN, no Infinity, no number too large to be one. Raises `ValueError`."""
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
    """Returns the input of a call that streamed as text into a format that has objects; where it is not JSON,
    because it was cut off, the text as it came: `call_of()` says so then.
    """
    try:
        return strict_json(text) if text.strip() else {}
    except (ValueError, RecursionError):
        return text


def raw(request: ContentToolRequest) -> str:
    """Returns the arguments as JSON text: exactly as the model wrote them, where it wrote a JSON object; else
    `{}`.
    """
    text = request.raw or ""
    whole = text.strip() not in {"", "null"} and _is_object(text)
    return text if whole else json_text(dict(request.arguments))


def _is_object(text: str) -> bool:
    """Tells whether the text is a JSON object; a server may parse what it is sent back."""
    return not _arguments(text)[1]


def distinct(contents: Iterable[Content], seed: object) -> list[Content]:
    """Returns the same contents, with an id of its own for every tool call, so that its result finds it.

    A call that came without an id gets one made from `seed` (the provider's whole answer): stable, since the
    same answer gives the same id, and as good as unique, since no two answers are alike. An id that came twice
    in one answer is kept the first time.
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
    """`id` where it matches `pattern`, else letters and digits made from it: the same for call and result."""
    return id if re.fullmatch(pattern, id) else _digest(id)[:length]


def legal_name(name: str) -> str:
    """`name` where every format takes it as a tool's, else the nearest one that they do: a name that goes back as the
    model wrote it would have each further request refused."""
    return (
        name
        if re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)
        else re.sub(r"[^\w-]", "_", name, flags=re.ASCII)[:64] or "unnamed"
    )


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
