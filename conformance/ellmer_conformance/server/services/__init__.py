"""The other endpoints of providers: lists of models, token counts, embeddings, files, batches, stored answers.

Each provider has one module with `ROUTES`, and `NOT_SERVED` for the endpoints that are answered with 501.

They are as simple as possible: every model exists unless its name says otherwise, a token is four characters, and
files live as long as the conversation. The requests of a batch are judged and answered from the script when it is
submitted. It is done after two polls.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from threading import Lock
from types import ModuleType

from ellmer_core.base.budget import STORED, memory_of

from ...contract import readers
from ...contract.observed.exchange import Request
from ...contract.rule import Refusal
from ..chat_api_lookup import CHAT_APIS, chat_api_of
from ..chat_apis.base import ChatApi, Ticket
from ..http.messages import HttpRequest, Reply
from ..http.routes import Route
from ..replies import refuse
from . import anthropic, bedrock, cohere, gemini, message_threads, mistral, ollama, openai
from .gemini.cached_contents import with_cache
from .openai import stored_completions, stored_responses
from .service_request import File, ServiceRequest, StoredObjects, TooMuch
from .uploads import with_uploads

__all__ = ["Services", "endpoints"]


_SHELVES = 1024  # conversations whose files and batches are kept
_MODULES: Mapping[str, ModuleType] = {
    "anthropic": anthropic,
    "bedrock": bedrock,
    "cohere": cohere,
    "gemini": gemini,
    "mistral": mistral,
    "ollama": ollama,
    "openai-chat": openai,
}


class Services:
    """The services of one server; `chat` answers a request of a batch."""

    def __init__(self, chat: Callable[[HttpRequest], Reply]) -> None:
        self._chat = chat
        self._shelves: dict[tuple[str, str, str], StoredObjects] = {}
        self._taken = 0  # bytes of memory that they need at most
        self._lock = Lock()  # long requests are answered in other threads

    def answer(self, http: HttpRequest, route: Route, *, locks: bool = True) -> Reply | None:
        """Returns the reply of a service, or `None` if there is none. Without `locks`, no key is needed."""
        wire = provider_of(http, route)
        for method, pattern, serve in _MODULES[wire].ROUTES:
            match = pattern.search(route.path)
            if match and method == http.method:
                api = api_at(http, route, wire)
                invited = "upload_id" in dict(route.query)  # the URL of a started upload is its key
                if locks and not invited and (refusal := api.locked(http.headers, dict(route.query))):
                    return refuse(api, refusal)
                service = ServiceRequest(
                    http, route, api, match.groupdict(), self.stored_for(route, wire), self._chat
                )
                try:
                    reply: Reply = serve(service)
                except TooMuch as error:
                    return refuse(api, Refusal(f"This is more than the strict server takes: {error}.", 400))
                self._takes(service.stored, memory_of(http.body))
                return reply
        if _is_not_served(wire, route.path):
            return ServiceRequest(
                http, route, api_at(http, route, wire), {}, self.stored_for(route, wire), self._chat
            ).not_served()
        return None

    def missing(self, http: HttpRequest, route: Route) -> Reply:
        """Returns the provider's error for an unknown path."""
        api = api_at(http, route, provider_of(http, route))
        return refuse(api, api.no_such(http.method, route.path))

    def continued(self, request: Request, route: Route) -> Request | Refusal:
        """Returns a request with the items or the cache that it refers to, or the error for an unknown id."""
        if request.wire == "gemini":
            return with_cache(request, self.stored_for(route, request.wire))
        if request.wire == "anthropic":
            return message_threads.continued(request, self.stored_for(route, request.wire))
        return stored_responses.continued(request, self.stored_for(route, request.wire))

    def stored(self, request: Request, reply: Reply, route: Route, size: int) -> Reply:
        """Stores an answer, if the API does so, and returns it in its first state."""
        shelf = self.stored_for(route, request.wire)
        self._takes(shelf, size + reply.size)
        if request.wire == "openai-chat":
            stored_completions.keep(request, reply, shelf)
            return reply
        if request.wire == "anthropic":
            message_threads.keep(request, reply, shelf)
            return reply
        return stored_responses.stored(request, reply, shelf, size)

    def _takes(self, shelf: StoredObjects, size: int) -> None:
        """Notes that a conversation stores so many bytes. Above the limit, other conversations are forgotten, the oldest first."""
        with self._lock:
            shelf.taken += size
            self._taken += size
            while self._taken > STORED.unpacked:
                oldest = next((place for place, each in self._shelves.items() if each is not shelf), None)
                if oldest is None:
                    shelf.forget()
                    self._taken = shelf.taken
                    return
                self._taken -= self._shelves.pop(oldest).taken

    def with_uploads(self, request: Request, case: str, nonce: str) -> Request:
        """Returns a request with the uploaded files of its conversation in place of their ids."""
        files = self.files_of(case, nonce, request.wire)
        return with_uploads(request, files) if files else request

    def files_of(self, case: str, nonce: str, wire: str) -> Mapping[str, File]:
        """Returns the files that were uploaded in a conversation, by id."""
        stored = self._shelves.get((case, nonce, wire.replace("openai-responses", "openai-chat")))
        return stored.files if stored else {}

    def stored_for(self, route: Route, wire: str) -> StoredObjects:
        """Returns the store of a provider's conversations. Both formats of OpenAI share one."""
        place = route.case, route.nonce or "", wire.replace("openai-responses", "openai-chat")
        with self._lock:
            stored = self._shelves.setdefault(place, StoredObjects())
            if len(self._shelves) > _SHELVES:
                self._taken -= self._shelves.pop(next(iter(self._shelves))).taken
        return stored


def endpoints() -> Iterator[tuple[str, str, str, bool]]:
    """Yields the wire format, the method and the path of each endpoint besides chat, and whether it is served."""
    for wire, module in _MODULES.items():
        for method, pattern, _ in module.ROUTES:
            yield wire, method, _shown(pattern.pattern), True
        for path in module.NOT_SERVED:
            yield wire, "", path.removesuffix("$"), False


def _shown(pattern: str) -> str:
    """Returns a path as documentation writes it: `/models/{id}`."""
    path = re.sub(r"\(\?:(?:-|beta1)[^)]*\)\?", "", re.sub(r"\(\?P<(\w+)>[^)]*\)", r"{\1}", pattern))
    path = path.replace("(^|/v1)", "/v1").replace("/v1(?:alpha|beta)?", "/v1beta").replace("/v[12]", "/v2")
    return re.sub(r"[$^]|/\?$|\\", "", path.replace("/?$", ""))


@cache
def _not_served(wire: str) -> re.Pattern[str]:
    paths = (
        re.escape(path).replace(r"\{id\}", "[^/]+").replace(r"\$", "/?$")
        for path in _MODULES[wire].NOT_SERVED
    )
    return re.compile(rf"({'|'.join(paths)})(?:[/:]|$)")


def _is_not_served(wire: str, path: str) -> bool:
    return _not_served(wire).search(path) is not None


def provider_of(http: HttpRequest, route: Route) -> str:
    """Returns the wire format whose endpoint a path is. Some providers have the same paths, so the headers or the
    provider's name decide.
    """
    for wire in ("ollama", "bedrock"):
        if any(pattern.search(route.path) for _, pattern, _ in _MODULES[wire].ROUTES) or _is_not_served(
            wire, route.path
        ):
            return wire
    named = named_provider(http, route)
    if named in {"mistral", "cohere"}:
        return named
    if re.search(
        r"/v[12]/(embed|tokenize|detokenize|rerank|check-api-key)$|/v2/audio/", route.path
    ) or _is_not_served("cohere", route.path):
        return "cohere"
    if owner := _owner_of(route.path):
        return owner
    if "/v1beta/" in route.path or "x-goog-api-key" in http.headers:
        return "gemini"
    keys = {"anthropic-version", "x-api-key"} & http.headers.keys()
    return "anthropic" if keys else "openai-chat"


_OWN_PATHS = (
    ("anthropic", re.compile(r"(?:/v1)?/messages(?:/|$)")),
    (
        "openai-chat",
        re.compile(
            r"(?:/v1)?/(?:embeddings|moderations|audio|images|videos|responses|conversations|chat/completions|completions|vector_stores"
            r"|fine_tuning|assistants|threads|uploads|containers|evals|realtime)(?:/|$)"
        ),
    ),
)


def _owner_of(path: str) -> str:
    """Returns the wire format of the provider that alone has a path, whatever keys a request carries, or an empty text."""
    return next((wire for wire, pattern in _OWN_PATHS if pattern.match(path)), "")


def named_provider(http: HttpRequest, route: Route) -> str:
    """Returns the provider that a nonce, a host, or the SDK's name in `user-agent` names, or an empty text."""
    name = (route.nonce or "").partition("@")[2] or http.host
    agent = http.headers.get("user-agent", "").lower()
    return "cohere" if agent.startswith("cohere") else readers.provider_of(name) or ""


def api_at(http: HttpRequest, route: Route, wire: str) -> ChatApi:
    """Returns the provider's api, outside of a chat."""
    own = {"gemini": "google", "openai-chat": "openai"}.get(wire, wire)
    provider = named_provider(http, route) if wire == "openai-chat" else own
    provider = provider if (wire, provider) in CHAT_APIS else own
    return chat_api_of(Ticket(Request(wire, provider, {}, route.url, http.method), route.case, 0))
