"""Stored chat completions: they are kept if the request says `store: true`.

https://developers.openai.com/api/reference/resources/chat
"""

from __future__ import annotations

import json
from collections.abc import Callable

from ....contract.observed.exchange import Json, Request
from ....contract.readers.json_access import items_of, object_of
from ....contract.rule import Refusal
from ...http.messages import Reply
from ..pages import page
from ..service_request import ServiceRequest, StoredObjects

_KIND, _BAD = "chat.completion", "invalid_request_error"
_MOST = 1024  # completions of a conversation that are stored


def keep(request: Request, reply: Reply, shelf: StoredObjects) -> None:
    """Stores a completion that is not a stream. (OpenAI stores streams, too.)

    Args:
        request: The request.
        reply: Its answer.
        shelf: The stored objects of its conversation.
    """
    try:
        value = object_of(json.loads(reply.body))
    except ValueError:
        return
    completions = shelf.kept.setdefault(_KIND, {})
    completions[str(value.get("id"))] = {"completion": value, "request": request.body}
    if len(completions) > _MOST:
        del completions[next(iter(completions))]


def _shown(found: Json) -> Json:
    asked = found["request"]
    settings = {name: asked.get(name) for name in ("temperature", "top_p", "tools", "tool_choice", "seed")}
    return {**found["completion"], **settings, "metadata": asked.get("metadata") or {}, "input_user": None}


def _of_one(serve: Callable[[ServiceRequest, Json], Reply]) -> Callable[[ServiceRequest], Reply]:
    """Returns a service that looks for the completion first."""

    def served(service: ServiceRequest) -> Reply:
        found = service.stored.kept.get(_KIND, {}).get(service.names["id"])
        if found is None:
            sentence = f"No chat completion found with id '{service.names['id']}'."
            return service.refuse(Refusal(sentence, 404, _BAD))
        return serve(service, found)

    return served


def completions(service: ServiceRequest) -> Reply:
    """Returns the stored completions, oldest first."""
    query = dict(service.route.query)
    found = [_shown(each) for each in service.stored.kept.get(_KIND, {}).values()]
    wanted = {name[9:-1]: value for name, value in query.items() if name.startswith("metadata[")}
    data = [
        each
        for each in found
        if wanted.items() <= each["metadata"].items() and query.get("model") in {None, each["model"]}
    ]
    if query.get("order") == "desc":
        data.reverse()
    return service.reply({"object": "list", **page(service, data)})


@_of_one
def completion(service: ServiceRequest, found: Json) -> Reply:
    """Returns a stored completion; with POST, after its metadata changed."""
    if service.http.method == "POST":
        found["request"] = {**found["request"], "metadata": object_of(service.body.get("metadata"))}
    return service.reply(_shown(found))


@_of_one
def delete(service: ServiceRequest, found: Json) -> Reply:  # noqa: ARG001 - it only has to be there
    """Deletes a stored completion."""
    del service.stored.kept[_KIND][service.names["id"]]
    return service.reply({"object": "chat.completion.deleted", "id": service.names["id"], "deleted": True})


@_of_one
def messages(service: ServiceRequest, found: Json) -> Reply:
    """Returns the messages of the request of a stored completion."""
    asked = items_of(found["request"].get("messages"))
    id = service.names["id"]
    data = [{"id": f"{id}-{number}", **object_of(each)} for number, each in enumerate(asked)]
    return service.reply({"object": "list", **page(service, data)})


ROUTES = (
    ("GET", "/chat/completions", completions),
    ("GET", "/chat/completions/(?P<id>[^/]+)", completion),
    ("POST", "/chat/completions/(?P<id>[^/]+)", completion),
    ("DELETE", "/chat/completions/(?P<id>[^/]+)", delete),
    ("GET", "/chat/completions/(?P<id>[^/]+)/messages", messages),
)
