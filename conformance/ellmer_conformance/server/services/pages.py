"""Pages of lists: the part that a query asks for, and whether there is more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...contract.observed.exchange import Json
from .service_request import ServiceRequest


def page(service: ServiceRequest, data: Sequence[Json], *, usual: int = 20) -> Json:
    """Returns a page of a list as OpenAI and Anthropic have them: `after` and `before` name the id beside it, and `limit` its size.

    Args:
        service: The request.
        data: The whole list, in the order of the answer.
        usual: The size of a page that names none.
    """
    query = dict(service.route.query)
    part, more = _between(data, query), False
    limit = _limit(query, usual)
    if len(part) > limit:
        from_the_end = ("before" in query or "before_id" in query) and not {
            "after",
            "after_id",
        } & query.keys()
        part, more = part[-limit:] if from_the_end else part[:limit], True
    ends = {"first_id": part[0]["id"] if part else None, "last_id": part[-1]["id"] if part else None}
    return {"data": list(part), "has_more": more, **ends}


def google_page(service: ServiceRequest, name: str, data: Sequence[Json]) -> Json:
    """Returns a page of a list as Gemini has them: `pageSize` is its size, and `pageToken` where it begins.

    Args:
        service: The request.
        name: The field of the list. It is missing if there is nothing.
        data: The whole list.
    """
    query = dict(service.route.query)
    start = int(token) if (token := query.get("pageToken", "0")).isdecimal() else 0
    size = query.get("pageSize", "")
    end = start + (int(size) if size.isdecimal() and int(size) else 50)
    found: Json = {name: list(data[start:end])} if data[start:end] else {}
    return found | ({"nextPageToken": str(end)} if end < len(data) else {})


def _between(data: Sequence[Json], query: Mapping[str, str]) -> Sequence[Json]:
    ids = [each.get("id") for each in data]
    after, before = query.get("after") or query.get("after_id"), query.get("before") or query.get("before_id")
    start = ids.index(after) + 1 if after in ids else 0
    end = ids.index(before) if before in ids else len(data)
    return data[start:end]


def _limit(query: Mapping[str, str], usual: int) -> int:
    asked = query.get("limit", "")
    return max(1, min(int(asked), 10_000)) if asked.isdecimal() else usual
