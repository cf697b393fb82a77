"""Finds the api of a provider: each module of `chat_apis/` and of `chat_apis/providers/` has one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules

from ..contract.readers import MODULES
from . import chat_apis
from .chat_apis import providers
from .chat_apis.base import ChatApi, Ticket
from .chat_apis.openai_chat import OpenAIChat
from .chat_apis.providers.base import Compatible


def _found() -> Iterator[type[ChatApi]]:
    for package in (chat_apis, providers):
        for module in iter_modules(package.__path__, f"{package.__name__}."):
            if not module.ispkg and not module.name.rpartition(".")[2].startswith("_"):
                yield from _defined_in(module.name)


def _defined_in(name: str) -> Iterator[type[ChatApi]]:
    for each in vars(import_module(name)).values():
        if (
            isinstance(each, type)
            and issubclass(each, ChatApi)
            and each.__module__ == name
            and each is not ChatApi
        ):
            yield each


#: By wire format and provider.
CHAT_APIS = {(api.wire, api.provider): api for api in _found()}


def chat_api_of(ticket: Ticket) -> ChatApi:
    """Returns the provider's api for one reply."""
    return _api(ticket.request.wire, ticket.request.provider)(ticket)


@lru_cache(256)
def _api(wire: str, provider: str) -> type[ChatApi]:
    """Returns the api of the provider, or else of the format's author or of servers that copy OpenAI. For an
    unknown format, it is OpenAI's.
    """
    author = MODULES[wire].PROVIDER if wire in MODULES else ""
    copied = Compatible if provider and wire == Compatible.wire else CHAT_APIS.get((wire, author), OpenAIChat)
    return CHAT_APIS.get((wire, provider), copied)
