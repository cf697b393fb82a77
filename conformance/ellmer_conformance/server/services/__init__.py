"""The other endpoints of providers: lists of models, token counts, files, batches. Each provider has one module.

They are as simple as possible: every model exists unless its name says otherwise, a token is four characters, and
files live as long as the conversation. The requests of a batch are judged and answered from the script when it is
submitted. It is done after two polls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

from ...contract import readers
from ...contract.exchange import Request
from ..chat_api_lookup import chat_api_of
from ..chat_apis.base import ChatApi, Ticket
from ..http.messages import HttpRequest, Reply
from ..http.routes import Route
from ..replies import refuse
from . import anthropic, gemini, mistral, ollama, openai
from .service_request import ServiceRequest, StoredObjects

__all__ = ["Services"]


_SHELVES = 1024  # conversations whose files and batches are kept
_MODULES: Mapping[str, ModuleType] = {
    "anthropic": anthropic,
    "gemini": gemini,
    "mistral": mistral,
    "ollama": ollama,
    "openai-chat": openai,
}


class Services:
    """The services of one server; `chat` answers a request of a batch."""

    def __init__(self, chat: Callable[[HttpRequest], Reply]) -> None:
        self._chat = chat
        self._shelves: dict[tuple[str, str], StoredObjects] = {}

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
                service = ServiceRequest(http, route, api, match.groupdict(), self._shelf(route), self._chat)
                reply: Reply = serve(service)
                return reply
        return None

    def _shelf(self, route: Route) -> StoredObjects:
        stored = self._shelves.setdefault((route.case, route.nonce or ""), StoredObjects())
        if len(self._shelves) > _SHELVES:
            del self._shelves[next(iter(self._shelves))]
        return stored


def provider_of(http: HttpRequest, route: Route) -> str:
    """Returns the provider of a path. Some providers have the same paths, so the headers or the provider's name
    decide.
    """
    if any(pattern.search(route.path) for _, pattern, _ in ollama.ROUTES):
        return "ollama"
    if readers.provider_of((route.nonce or "").partition("@")[2] or http.host) == "mistral":
        return "mistral" if "/models" in route.path else "openai-chat"
    if "/v1beta/" in route.path or "x-goog-api-key" in http.headers:
        return "gemini"
    named = {"anthropic-version", "x-api-key"} & http.headers.keys()
    return "anthropic" if named or "/messages" in route.path else "openai-chat"


def api_at(http: HttpRequest, route: Route, wire: str) -> ChatApi:
    """Returns the provider's api, outside of a chat."""
    provider = {"gemini": "google", "openai-chat": "openai"}.get(wire, wire)
    return chat_api_of(Ticket(Request(wire, provider, {}, route.url, http.method), route.case, 0))
