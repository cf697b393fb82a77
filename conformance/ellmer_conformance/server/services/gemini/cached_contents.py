"""Gemini's cached contents, which a request names and which are then read before its own.

https://ai.google.dev/api/caching. A cache can only be used with its own model; the README of
https://github.com/PatchedReality/ai-cli-switchboard quotes the refusal.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ....contract.observed.exchange import Json, Request
from ....contract.readers.gemini import get
from ....contract.readers.json_access import items_of, object_of, text_of
from ....contract.rule import Refusal
from ...chat_apis.base import ALNUM, pretty
from ...http.messages import Reply, plain
from ...model.behaviour import CACHED_TOKENS
from ..pages import google_page
from ..service_request import ServiceRequest, StoredObjects

_KIND = "cachedContents"
_LEAST = 1024  # tokens of a cache; larger models want more: https://ai.google.dev/gemini-api/docs/caching
_NOTHING = [{"role": "user", "parts": [{"text": "."}]}]
_READ = ("systemInstruction", "tools", "toolConfig")


def with_cache(request: Request, shelf: StoredObjects) -> Request | Refusal:
    """Returns a request with the contents of the cache that it names, or the provider's error for an unknown one, or one of another
    model.

    Args:
        request: A request to Gemini.
        shelf: The stored objects of its conversation.
    """
    name = text_of(get(request.body, "cachedContent"))
    if not name:
        return request
    found = shelf.kept.get(_KIND, {}).get(name.rpartition("/")[2])
    if found is None:
        return Refusal("CachedContent not found (or permission denied)", 403, "PERMISSION_DENIED")
    ours, theirs = f"models/{request.model}", found["shown"]["model"]
    if ours != theirs:
        sentence = (
            f"Model used by GenerateContent request ({ours}) and CachedContent ({theirs}) has to be the same."
        )
        return Refusal(sentence, 400, "INVALID_ARGUMENT")
    asked = found["asked"]
    contents = [*items_of(get(asked, "contents")), *items_of(request.body.get("contents"))]
    more = {field: value for field in _READ if (value := get(asked, field)) is not None}
    count = {CACHED_TOKENS: found["shown"]["usageMetadata"]["totalTokenCount"]}
    return replace(request, body={**request.body, **more, **count, "contents": contents})


def create(service: ServiceRequest) -> Reply:
    """Stores contents, to which later requests refer by name."""
    body = service.body
    model = text_of(body.get("model")).removeprefix("models/")
    if missing := service.api.no_model(model, "createCachedContent"):
        return service.refuse(missing)
    if not model or not (get(body, "contents") or get(body, "systemInstruction")):
        return service.refuse(
            Refusal("CachedContent.model and its contents are required.", 400, "INVALID_ARGUMENT")
        )
    asked: Json = {field: value for field in ("contents", *_READ) if (value := get(body, field)) is not None}
    count = _tokens(service, model, asked)
    if isinstance(count, Refusal):
        return service.refuse(count)
    id = service.fresh("cache", 26, ALNUM[26:])
    shown = {
        "name": f"{_KIND}/{id}",
        "model": f"models/{model}",
        **({"displayName": get(body, "displayName")} if get(body, "displayName") else {}),
        "createTime": service.moment(),
        "updateTime": service.moment(),
        "expireTime": get(body, "expireTime") or service.moment(1),
        "usageMetadata": {"totalTokenCount": count},
    }
    service.stored.kept.setdefault(_KIND, {})[id] = {"asked": asked, "shown": shown}
    return _reply(service, shown)


def _tokens(service: ServiceRequest, model: str, asked: Json) -> int | Refusal:
    """Returns the number of tokens of contents, or why they cannot be cached."""
    path = f"/v1beta/models/{model}:generateContent"
    counted = asked if asked.get("contents") else asked | {"contents": _NOTHING}
    if refusal := service.objection(path, counted):
        return refusal
    count = service.tokens(path, counted)
    sentence = f"Cached content is too small. total_token_count={count}, min_total_token_count={_LEAST}"
    return count if count >= _LEAST else Refusal(sentence, 400, "INVALID_ARGUMENT")


def caches(service: ServiceRequest) -> Reply:
    """Returns the list of caches."""
    found = [each["shown"] for each in service.stored.kept.get(_KIND, {}).values()]
    return _reply(service, google_page(service, _KIND, found))


def cache(service: ServiceRequest) -> Reply:
    """Returns a cache; with PATCH, after its time of expiry changed; with DELETE, after it was deleted."""
    shelf = service.stored.kept.get(_KIND, {})
    found = shelf.get(service.names["id"])
    if found is None:
        return service.refuse(
            Refusal("CachedContent not found (or permission denied)", 403, "PERMISSION_DENIED")
        )
    if service.http.method == "DELETE":
        del shelf[service.names["id"]]
        return _reply(service, {})
    if service.http.method == "PATCH":
        found["shown"]["expireTime"] = get(object_of(service.body), "expireTime") or service.moment(2)
    return _reply(service, found["shown"])


def _reply(service: ServiceRequest, value: Json) -> Reply:
    return plain(200, service.api.headers(stream=False), pretty(value))


_PLACE = r"/v1(?:alpha|beta)?/cachedContents"
ROUTES = (
    ("POST", re.compile(rf"{_PLACE}$"), create),
    ("GET", re.compile(rf"{_PLACE}$"), caches),
    *((method, re.compile(rf"{_PLACE}/(?P<id>[^/:]+)$"), cache) for method in ("GET", "PATCH", "DELETE")),
)
