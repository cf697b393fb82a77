"""Stored answers of OpenAI's Responses API, background answers, and conversations.

https://developers.openai.com/api/reference/resources/responses, https://developers.openai.com/api/reference/resources/conversations
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ....contract.observed.exchange import Json, Request
from ....contract.readers.json_access import items_of, object_of, text_of
from ....contract.rule import Refusal
from ....scenarios.script import Usage
from ...chat_apis.base import HEX, pretty
from ...chat_apis.openai_responses import usage
from ...http.messages import Reply
from ...issued.signatures import encoded, sign
from ..pages import page
from ..service_request import Conversation, ServiceRequest, StoredObjects, StoredResponse

__all__ = ["ROUTES", "Conversation", "StoredResponse", "continued", "items_in", "names_items", "stored"]

_BAD = "invalid_request_error"
_MOST, _BYTES = 1024, 64 * 1024 * 1024  # answers of a conversation that are stored, and their size


def continued(request: Request, shelf: StoredObjects) -> Request | Refusal:
    """Returns the request with the items that it refers to, or the provider's error for an unknown id.

    Args:
        request: A request to Responses.
        shelf: The stored objects of its conversation.
    """
    previous, conversation = request.body.get("previous_response_id"), _conversation_id(request.body)
    items: list[Json] = []
    if refusal := _contradiction(request.body):
        return refusal
    if isinstance(previous, str) and previous:
        if previous not in shelf.responses:
            sentence = f"Previous response with id '{previous}' not found."
            return Refusal(sentence, 400, _BAD, "previous_response_not_found", "previous_response_id")
        items = shelf.responses[previous].items
    elif conversation:
        if conversation not in shelf.conversations:
            return Refusal(f"Conversation with id '{conversation}' not found.", 404, _BAD)
        items = shelf.conversations[conversation].items
    named = _named(request, shelf)
    if isinstance(named, Refusal):
        return named
    if not items and named is None:
        return request
    news = items_in(request.body.get("input")) if named is None else named
    return replace(request, body={**request.body, "input": [*items, *news]})


def _contradiction(body: Json) -> Refusal | None:
    """Returns the error for settings that exclude each other. The sentences are UNVERIFIED, that they are refused is documented:
    https://developers.openai.com/api/reference/resources/responses and https://developers.openai.com/api/docs/guides/background
    """
    if body.get("previous_response_id") and _conversation_id(body):
        sentence = (
            "Mutually exclusive parameters: only one of 'previous_response_id' and 'conversation' may be set."
        )
        return Refusal(sentence, 400, _BAD, "mutually_exclusive_parameters", "previous_response_id")
    if body.get("background") is True and body.get("store") is False:
        return Refusal("Background mode requires 'store' to be true.", 400, _BAD, None, "background")
    return None


def _named(request: Request, shelf: StoredObjects) -> list[Json] | Refusal | None:
    """Returns the input with the items that it names by their ids, or the error for an unknown id. It is `None` if the input
    names none.

    The sentence is OpenAI's: https://github.com/vercel/ai/issues/9119
    """
    items = items_in(request.body.get("input"))
    if request.provider not in _KEEPING or not names_items(request.body):
        return None
    known = {str(item.get("id")): item for kept in shelf.responses.values() for item in kept.items}
    known |= {str(item.get("id")): item for kept in shelf.conversations.values() for item in kept.items}
    for id in (str(item.get("id")) for item in items if _is_reference(item)):
        if id not in known:
            return Refusal(f"Item with id '{id}' not found.", _KEEPING[request.provider], _BAD, None, "input")
    return [known[str(item.get("id"))] if _is_reference(item) else item for item in items]


#: The providers that keep the items of their answers, with the status for an unknown id.
_KEEPING = {"openai": 404, "azure": 400}


def names_items(body: Json) -> bool:
    """Tells whether the input of a request has references to stored items.

    Args:
        body: The body of the request.
    """
    items = body.get("input")
    return isinstance(items, list) and any(isinstance(item, dict) and _is_reference(item) for item in items)


def _is_reference(item: Json) -> bool:
    """Tells whether an item refers to a stored one. An item without a type and a role does, too."""
    return item.get("type") == "item_reference" or ("id" in item and not {"type", "role"} & item.keys())


def stored(request: Request, reply: Reply, shelf: StoredObjects, size: int) -> Reply:
    """Stores an answer unless the request says otherwise, and returns it in its first state.

    Args:
        request: The request with the items that it refers to.
        reply: The whole answer.
        shelf: The stored objects of its conversation.
        size: The memory of the request's body in bytes.
    """
    background = request.body.get("background") is True and not request.stream
    found = StoredResponse(items_in(request.body.get("input")), reply, background, size=size + reply.size)
    if request.body.get("store") is not False and reply.ending == "end":
        _keep(found, _id_in(reply), shelf.responses)
    if conversation := shelf.conversations.get(_conversation_id(request.body)):
        conversation.items = _numbered(found.items)
    if not background:
        return reply
    body = pretty(found.shown)
    return replace(reply, writes=(body,), length=len(body))


def _keep(found: StoredResponse, id: str, responses: dict[str, StoredResponse]) -> None:
    """Stores an answer. The oldest ones are dropped."""
    responses[id] = found
    size = sum(each.size for each in responses.values())
    while len(responses) > 1 and (len(responses) > _MOST or size > _BYTES):
        size -= responses.pop(next(iter(responses))).size


def _id_in(reply: Reply) -> str:
    start = reply.writes[0][:2000] if reply.writes else b""
    return start.partition(b"resp_")[2].partition(b'"')[0].decode("latin-1").join(["resp_", ""])


def _conversation_id(body: Json) -> str:
    value = body.get("conversation")
    return text_of(value) or text_of(object_of(value).get("id"))


def items_in(value: object) -> list[Json]:
    """Returns an input as items. A text is a message of the user.

    Args:
        value: The input of a request.
    """
    if isinstance(value, str):
        return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": value}]}]
    return [item for item in items_of(value) if isinstance(item, dict)]


def _numbered(items: Iterable[Json]) -> list[Json]:
    """Returns items with ids; those of the model have one."""
    return [
        {"id": f"msg_{number:048x}", "type": "message", "status": "completed"} | item
        for number, item in enumerate(items)
    ]


# endpoints: answers -------------------------------------------------------------------------------------


def _found(service: ServiceRequest) -> StoredResponse | None:
    return service.stored.responses.get(service.names["id"])


def _missing(service: ServiceRequest) -> Reply:
    """Returns the error for an unknown answer. Its sentence is that of servers that copy OpenAI's:
    https://github.com/vllm-project/vllm/pull/22137
    """
    return service.refuse(Refusal(f"Response with id '{service.names['id']}' not found.", 404, _BAD))


def retrieve(service: ServiceRequest) -> Reply:
    """Returns a stored answer. Each request for a background answer moves it to its next state."""
    found = _found(service)
    if found is None:
        return _missing(service)
    if dict(service.route.query).get("stream") == "true":
        return _streamed_again(service, found)
    found.looks += 1
    return service.reply(found.shown)


def _streamed_again(service: ServiceRequest, found: StoredResponse) -> Reply:
    """Returns the events of an answer again, after the one that the query names. The sentence of the error is UNVERIFIED.

    https://developers.openai.com/api/docs/guides/background
    """
    body = found.reply.body
    if not body.startswith(b"event:"):
        sentence = "This response cannot be streamed because it was not created with 'stream' set to true."
        return service.refuse(Refusal(sentence, 400, _BAD, None, "stream"))
    after = dict(service.route.query).get("starting_after", "")
    events = [event + b"\n\n" for event in body.split(b"\n\n") if event]
    writes = events[int(after) + 1 if after.isdecimal() else 0 :]
    return Reply(200, service.api.headers(stream=True), writes)


def delete(service: ServiceRequest) -> Reply:
    """Deletes a stored answer."""
    if service.stored.responses.pop(service.names["id"], None) is None:
        return _missing(service)
    return service.reply({"id": service.names["id"], "object": "response", "deleted": True})


def cancel(service: ServiceRequest) -> Reply:
    """Cancels a background answer. The error for another one is UNVERIFIED."""
    found = _found(service)
    if found is None:
        return _missing(service)
    if not found.background:
        return service.refuse(Refusal("Cannot cancel a synchronous response.", 400, _BAD))
    found.cancelled = not found.done
    return service.reply(found.shown)


def input_items(service: ServiceRequest) -> Reply:
    """Returns the items of the request, the latest first unless the query says otherwise."""
    found = _found(service)
    return service.reply(_listed(service, found.input)) if found else _missing(service)


def compact(service: ServiceRequest) -> Reply:
    """Returns a conversation in a shorter form: the user's messages, and one item in place of the rest.

    https://developers.openai.com/api/docs/guides/compaction
    """
    body = service.body
    missing = "model" if not body.get("model") else "input" if not _compacted(service) else ""
    if missing:
        return service.missing(missing)
    asked = {"model": body["model"], "input": _compacted(service)}
    if refusal := service.api.no_model(str(body["model"])) or service.objection("/v1/responses", asked):
        return service.refuse(refusal)
    items = _compacted(service)
    user_items = [
        {**item, "content": _contents(item.get("content"))} for item in items if item.get("role") == "user"
    ]
    texts = [
        text_of(part.get("text")) for item in items for part in map(object_of, _contents(item.get("content")))
    ]
    sealed = {"type": "compaction", "encrypted_content": encoded(sign(" ".join(texts)), "gAAAAAB")}
    item = {"id": f"cmp_{service.fresh('compaction', 48, HEX)}", **sealed, "created_by": None}
    counts = Usage(service.tokens("/v1/responses", asked), sum(map(len, texts)) // 16 + 1)
    return service.reply(
        {
            "id": f"resp_{service.fresh('compacted', 48, HEX)}",
            "object": "response.compaction",
            "created_at": service.api.ticket.created,
            "output": [*_numbered(user_items), item],
            "usage": usage(counts),
        }
    )


def _contents(value: object) -> list[object]:
    """Returns the content of a message as parts."""
    return [{"type": "input_text", "text": value}] if isinstance(value, str) else items_of(value)


def _compacted(service: ServiceRequest) -> list[Json]:
    """Returns the items that a request to compact names, with those of its previous answer."""
    previous = service.stored.responses.get(text_of(service.body.get("previous_response_id")))
    return [*(previous.items if previous else ()), *items_in(service.body.get("input"))]


def _listed(service: ServiceRequest, items: Iterable[Json]) -> Json:
    data = _numbered(items)
    if dict(service.route.query).get("order") != "asc":
        data.reverse()
    return {"object": "list", **page(service, data)}


# endpoints: conversations -------------------------------------------------------------------------------


def create(service: ServiceRequest) -> Reply:
    """Creates a conversation."""
    body = service.body
    id = f"conv_{service.fresh('conversation', 48, HEX)}"
    found = Conversation(id, object_of(body.get("metadata")), _numbered(items_in(body.get("items"))))
    service.stored.conversations[id] = found
    return service.reply(_shown(service, found))


def conversation(service: ServiceRequest) -> Reply:
    """Returns a conversation; with POST, after its metadata changed."""
    found = service.stored.conversations.get(service.names["id"])
    if found is None:
        return _no_conversation(service)
    if service.http.method == "POST":
        found.metadata = object_of(service.body.get("metadata"))
    return service.reply(_shown(service, found))


def delete_conversation(service: ServiceRequest) -> Reply:
    """Deletes a conversation."""
    if service.stored.conversations.pop(service.names["id"], None) is None:
        return _no_conversation(service)
    return service.reply({"id": service.names["id"], "object": "conversation.deleted", "deleted": True})


def items(service: ServiceRequest) -> Reply:
    """Returns the items of a conversation; with POST, the added ones."""
    found = service.stored.conversations.get(service.names["id"])
    if found is None:
        return _no_conversation(service)
    if service.http.method == "GET":
        return service.reply(_listed(service, found.items))
    added = items_in(service.body.get("items"))
    found.items = _numbered([*found.items, *added])
    return service.reply(_listed(service, found.items[len(found.items) - len(added) :]))


def item(service: ServiceRequest) -> Reply:
    """Returns an item of a conversation; with DELETE, the conversation without it."""
    found = service.stored.conversations.get(service.names["conversation"])
    if found is None:
        sentence = f"Conversation with id '{service.names['conversation']}' not found."
        return service.refuse(Refusal(sentence, 404, _BAD))
    same = [each for each in found.items if each.get("id") == service.names["id"]]
    if not same:
        return service.refuse(Refusal(f"Item with id '{service.names['id']}' not found.", 404, _BAD))
    if service.http.method == "GET":
        return service.reply(same[0])
    found.items.remove(same[0])
    return service.reply(_shown(service, found))


def _shown(service: ServiceRequest, found: Conversation) -> Mapping[str, object]:
    created = service.api.ticket.created
    return {"id": found.id, "object": "conversation", "created_at": created, "metadata": found.metadata}


def _no_conversation(service: ServiceRequest) -> Reply:
    return service.refuse(Refusal(f"Conversation with id '{service.names['id']}' not found.", 404, _BAD))


_ITEM = "/conversations/(?P<conversation>[^/]+)/items/(?P<id>[^/]+)"
ROUTES = (
    ("POST", "/responses/compact", compact),
    ("GET", _ITEM, item),
    ("DELETE", _ITEM, item),
    ("GET", "/responses/(?P<id>[^/]+)", retrieve),
    ("DELETE", "/responses/(?P<id>[^/]+)", delete),
    ("POST", "/responses/(?P<id>[^/]+)/cancel", cancel),
    ("GET", "/responses/(?P<id>[^/]+)/input_items", input_items),
    ("POST", "/conversations", create),
    ("GET", "/conversations/(?P<id>[^/]+)", conversation),
    ("POST", "/conversations/(?P<id>[^/]+)", conversation),
    ("DELETE", "/conversations/(?P<id>[^/]+)", delete_conversation),
    ("GET", "/conversations/(?P<id>[^/]+)/items", items),
    ("POST", "/conversations/(?P<id>[^/]+)/items", items),
)
