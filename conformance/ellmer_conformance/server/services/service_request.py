"""A request to one of these endpoints, and the objects that the server stores."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from ellmer_core.base.budget import SERVER, has_more_values

from ...contract import readers
from ...contract.observed.exchange import Json
from ...contract.readers.json_access import bounded, items_of, object_of
from ...contract.rule import Refusal, objection
from ...contract.rules import book
from ..chat_apis.base import ChatApi, compact, utf8
from ..http.messages import LENGTH, HttpRequest, Reply, plain
from ..http.routes import Route
from ..model.behaviour import input_tokens
from ..replies import refuse

_BOUNDARY = re.compile(r'boundary="?([^";]+)')
_FIELD = re.compile(rb'\bname="(?P<name>[^"]*)"(?:.*?\bfilename="(?P<filename>[^"]*)")?', re.DOTALL)
_TYPE = re.compile(rb"content-type:\s*([^\r\n]+)", re.IGNORECASE)
T = TypeVar("T")
_PROMISED = 2  # looks at a batch or a background answer until it is done


class TooMuch(ValueError):
    """A request has more values, texts or lines than the server takes."""


def few(items: list[T], most: int = 2048) -> list[T]:
    """Returns the items of a request unchanged if there are not too many to answer.

    Args:
        items: The items.
        most: How many there may be. Default: as many as OpenAI's embeddings take.

    Raises:
        TooMuch: There are more.
    """
    if len(items) > most:
        raise TooMuch(f"it has {len(items):,} entries, and {most:,} are allowed")
    return items


class File(NamedTuple):
    """An uploaded file."""

    id: str
    name: str
    type: str
    data: bytes
    purpose: str = ""
    lifetime: int | None = None  # seconds until it expires


class Asked(NamedTuple):
    """A request of a batch and its answer. A request whose name begins with `expired` is not answered in time."""

    name: str
    status: int
    body: Any

    @property
    def expired(self) -> bool:
        """Whether the batch expired before the request was answered."""
        return self.name.startswith("expired")


@dataclass
class Batch:
    """A batch and the number of its polls."""

    id: str
    requests: list[Asked]
    settings: Json
    looks: int = 0
    cancelled: bool = False

    @property
    def done(self) -> bool:
        """Whether the answers are available."""
        return self.looks >= _PROMISED and not self.cancelled

    @property
    def just_done(self) -> bool:
        """Whether the last poll was the first that found the answers."""
        return self.looks == _PROMISED and not self.cancelled


@dataclass
class StoredResponse:
    """A stored answer. A background answer is queued, then in progress, then complete.

    Args:
        input: The items of the request and of the answers before it.
        reply: The whole answer as it was sent or will be.
        background: Whether the request asked for an answer in the background.
        looks: Number of times that it was retrieved.
        cancelled: Whether it was cancelled.
        size: The size of the request and the answer in bytes.
    """

    input: list[Json]
    reply: Reply
    background: bool = False
    looks: int = 0
    cancelled: bool = False
    size: int = 0

    @cached_property
    def value(self) -> Json:
        """The answer as JSON. Of a stream, it is in the last event."""
        body = self.reply.body
        if body.startswith(b"event:"):
            last = body.rstrip().rpartition(b"\ndata: ")[2]
            return object_of(json.loads(last).get("response"))
        return object_of(json.loads(body))

    @property
    def done(self) -> bool:
        """Whether a background answer was requested often enough to be complete."""
        return self.looks >= _PROMISED

    @property
    def shown(self) -> Json:
        """The answer in its present state."""
        if not self.background or (self.done and not self.cancelled):
            return self.value
        status = "cancelled" if self.cancelled else "in_progress" if self.looks else "queued"
        return self.value | {
            "status": status,
            "output": [],
            "usage": None,
            "completed_at": None,
            "background": True,
        }

    @property
    def items(self) -> list[Json]:
        """The items of the conversation up to this answer."""
        return [*self.input, *items_of(self.value.get("output"))]


@dataclass
class Conversation:
    """A conversation that the server keeps.

    Args:
        id: Its id.
        metadata: What the client noted about it.
        items: Its items, oldest first.
    """

    id: str
    metadata: Json = field(default_factory=dict)
    items: list[Json] = field(default_factory=list)


@dataclass
class Interaction:
    """A stored interaction of Gemini. A background one is in progress until it was looked at twice.

    Args:
        value: The whole interaction.
        steps: The steps of the conversation up to it.
        background: Whether the request asked for it in the background.
        looks: Number of times that it was retrieved.
        cancelled: Whether it was cancelled.
    """

    value: Json
    steps: list[Json]
    background: bool = False
    looks: int = 0
    cancelled: bool = False

    @property
    def shown(self) -> Json:
        """The interaction in its present state."""
        if not self.background or (self.looks >= _PROMISED and not self.cancelled):
            return self.value
        status = "cancelled" if self.cancelled else "in_progress"
        return {name: each for name, each in self.value.items() if name not in {"steps", "usage"}} | {
            "status": status
        }


@dataclass
class StoredObjects:
    """The files, batches and answers of a conversation.

    `kept` has the other objects by their kind and id, such as `cachedContents`.
    """

    files: dict[str, File] = field(default_factory=dict)
    batches: dict[str, Batch] = field(default_factory=dict)
    responses: dict[str, StoredResponse] = field(default_factory=dict)
    conversations: dict[str, Conversation] = field(default_factory=dict)
    interactions: dict[str, Interaction] = field(default_factory=dict)
    kept: dict[str, dict[str, Json]] = field(default_factory=dict)
    count: int = 0
    taken: int = 0  # bytes of memory that all of it needs at most

    def forget(self) -> None:
        """Forgets everything but the newest file."""
        newest = list(self.files.items())[-1:]
        for objects in (
            self.files,
            self.batches,
            self.responses,
            self.conversations,
            self.interactions,
            self.kept,
        ):
            objects.clear()
        self.files.update(newest)
        self.taken = sum(len(file.data) for _, file in newest)


@dataclass(frozen=True)
class ServiceRequest:
    """A request, its provider and conversation, and the names in its path."""

    http: HttpRequest
    route: Route
    api: ChatApi
    names: Mapping[str, str]
    stored: StoredObjects
    chat: Callable[[HttpRequest], Reply]

    @property
    def provider(self) -> str:
        """The provider that the request is for."""
        return self.api.ticket.request.provider

    # in ---------------------------------------------------------------------------------------------------

    @property
    def body(self) -> Json:
        """The JSON object of the request, or an empty one.

        Raises:
            TooMuch: It has more values or levels than the server takes.
        """
        if has_more_values(self.http.body, SERVER.values):
            raise TooMuch(f"it has more than {SERVER.values:,} values")
        try:
            value = bounded(json.loads(self.http.body))
        except RecursionError as error:
            raise TooMuch(str(error)) from None
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def form(self) -> tuple[dict[str, str], File | None]:
        """Returns the fields and the file of a `multipart/form-data` body."""
        fields: dict[str, str] = {}
        file = None
        for head, type, data in self._parts():
            named = _FIELD.search(head)
            if named and named["filename"] is not None:
                file = File("", named["filename"].decode("utf-8", "replace"), type, data)
            elif named:
                fields[named["name"].decode()] = data.decode("utf-8", "replace")
        return fields, file

    def related(self) -> list[tuple[str, bytes]]:
        """Returns the parts of a `multipart/related` body, each with its type."""
        return [(type, data) for _, type, data in self._parts()]

    def _parts(self) -> Iterator[tuple[bytes, str, bytes]]:
        """Yields the parts of a body: the headers of each, its type and its data."""
        found = _BOUNDARY.search(self.http.headers.get("content-type", ""))
        for part in self.http.body.split(f"--{found[1]}".encode())[1:-1] if found else ():
            head, _, data = part.partition(b"\r\n\r\n")
            kind = _TYPE.search(head)
            type = kind[1].decode("latin-1") if kind else "application/octet-stream"
            yield head, type, data.removesuffix(b"\r\n")

    def objection(self, path: str, body: Json) -> Refusal | None:
        """Returns the provider's error for a chat request with this body."""
        request = readers.request("POST", f"http://127.0.0.1/c/-/-{path}", {}, utf8(compact(body)))
        broken = objection(book(request.wire, request.provider).judge(request))
        return broken.refusal if broken else None

    def tokens(self, path: str, body: Json) -> int:
        """Returns the approximate number of tokens of a chat request."""
        request = readers.request("POST", f"http://127.0.0.1/c/-/-{path}", {}, utf8(compact(body)))
        return input_tokens(request)

    def ask(self, name: str, path: str, body: Json) -> Asked:
        """Answers one request of a batch like a single request."""
        target = f"/c/{quote(self.route.case, safe='')}/{quote(self.route.nonce or '-', safe='')}{path}"
        headers = {key: value for key, value in self.http.headers.items() if key != LENGTH}
        reply = self.chat(HttpRequest("POST", target, headers, utf8(compact(body))))
        try:
            return Asked(name, reply.status, json.loads(reply.body))
        except ValueError:
            return Asked(name, 500, {"error": {"message": "A batch has no streams.", "type": "server_error"}})

    # kept -------------------------------------------------------------------------------------------------

    def fresh(self, label: str, length: int, alphabet: str) -> str:
        """Returns the random-looking part of an id, which is the same for the same position in the conversation."""
        self.stored.count += 1
        return self.api.ticket.token(f"{label} {self.stored.count}", length, alphabet)

    def keep(self, file: File) -> File:
        """Adds a file to the stored files."""
        self.stored.files[file.id] = file
        return file

    def look(self) -> Batch | None:
        """Returns the batch in the path after one more poll."""
        batch = self.stored.batches.get(self.names["id"])
        if batch:
            batch.looks += 1
        return batch

    # out --------------------------------------------------------------------------------------------------

    def reply(self, value: object) -> Reply:
        """Returns a reply with JSON."""
        return plain(200, self.api.headers(stream=False), utf8(compact(value)))

    def refuse(self, refusal: Refusal) -> Reply:
        """Returns a reply with an error in the provider's form."""
        return refuse(self.api, refusal)

    def missing(self, name: str) -> Reply:
        """Returns a reply with OpenAI's error for a parameter that is missing."""
        sentence = f"Missing required parameter: '{name}'."
        return self.refuse(
            Refusal(sentence, 400, "invalid_request_error", "missing_required_parameter", name)
        )

    def not_served(self) -> Reply:
        """Returns the reply for an endpoint that the provider has and this server has not."""
        sentence = (
            f"{self.http.method} {self.route.path} is an endpoint of the provider that the strict server does not serve. "
            "The page “Endpoints” of its documentation has the list."
        )
        return refuse(self.api, Refusal(sentence, 501, "not_implemented"))

    def data(self, data: bytes, type: str) -> Reply:
        """Returns a reply with bytes."""
        return plain(200, [("content-type", type)], data)

    def lines(self, values: list[Json]) -> Reply:
        """Returns a reply with JSON Lines."""
        return self.data(b"".join(utf8(f"{compact(value)}\n") for value in values), "application/x-jsonl")

    def moment(self, hours: int = 0) -> str:
        """Returns the time of the conversation, plus some hours, as RFC 3339."""
        ticket = self.api.ticket
        return ticket._replace(number=ticket.number + 1200 * hours).moment("%Y-%m-%dT%H:%M:%SZ")
