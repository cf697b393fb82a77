"""The providers of ellmer_core.

Every provider is found by its module or its entry point, as users find it. The module declares its address and its
features, so a new provider is tested by adding its file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from urllib.parse import urlsplit

import ellmer_core as ec
from ellmer_core import providers as modules
from ellmer_core.wire.base import Wire

from ...contract.readers import provider_of
from .. import Capabilities, Place
from ..shared.endpoints import WHERE

__all__ = ["Provider", "providers", "providers_by_key"]

_IMAGE = ec.ContentImageInline("image/png", "")
_AUDIO = ec.ContentFile("audio/wav", "", "a.wav")
_PDF = ec.ContentPDF("application/pdf", "", "a.pdf")
_ANY_MODEL = "example-model"  # if the provider has no model


@dataclass(frozen=True)
class Provider:
    """A provider of ellmer_core: the name of its constructor is `chat_<name>`."""

    name: str
    construct: Callable[..., ec.Chat]
    wire: type[Wire]

    @property
    def url(self) -> str:
        """Its base URL, or an example if each account has its own."""
        return self.wire.base_url or self.wire.example_url

    @property
    def key(self) -> tuple[str, str]:
        """The wire format and provider under the suite's names, or under its own name if the suite does not know its
        host.
        """
        host = urlsplit(self.url).netloc
        known = provider_of(host)
        return self.wire.name, self.name if known == host.partition(":")[0] else known

    @property
    def place(self) -> Place:
        """Its place."""
        suites = WHERE.get(self.key)
        return suites or Place(self.url, self.wire.default_model or _ANY_MODEL, self.wire.key_vars)

    @cached_property
    def capabilities(self) -> Capabilities:
        """Its declared features for the model of a case."""
        wire = ec.Chat(self.wire(model=self.place.model)).wire
        images, pdfs, tools = not wire.refuses(_IMAGE), not wire.refuses(_PDF), wire.supports.tools
        forced = wire.profile.forced and wire.profile.forced_thinking
        return Capabilities(
            structured="native",  # where the API has no schemas, the prompt has
            tools="native" if tools else "refused",
            image_in_user="native" if images else "refused",
            audio_in_user="refused" if wire.refuses(_AUDIO) else "native",
            image_in_tool_result="pointer" if images and tools else "refused",
            pdf_in_user="native" if pdfs else "refused",
            pdf_in_tool_result="pointer" if pdfs and tools else "refused",
            changed_prompt="native",
            compaction="native",
            approval="native" if tools else "refused",
            citations="native",
            uploads="native" if wire.uploads else "refused",
            tool_choice="native" if forced and tools else "refused",
            stop_sequences="native",
            json_mode="native",
            model_override="native",
            prompt_caching="native",
            usage_limits="native",
        )


def providers() -> Iterator[Provider]:
    """Yields every provider: the modules of `ellmer_core.providers`, and the providers of other packages."""
    for module in sorted(each.name for each in iter_modules(modules.__path__)):
        found = import_module(f"{modules.__name__}.{module}")
        yield from _provider(module, vars(found).get(f"chat_{module}"))
    for entry in sorted(entry_points(group="ellmer_core.providers")):
        yield from _provider(entry.name, entry.load())


def _provider(name: str, construct: Callable[..., ec.Chat] | None) -> Iterator[Provider]:
    """Yields the provider of a module, if it has one (GitHub's was retired, and shared modules have none)."""
    if construct:
        for each in vars(import_module(construct.__module__)).values():
            if isinstance(each, type) and issubclass(each, Wire) and each.__module__ == construct.__module__:
                yield Provider(name, construct, each)


@cache
def providers_by_key() -> Mapping[tuple[str, str], Provider]:
    """Returns the providers by wire format and name, each format's own provider first. Installed packages are
    searched once.
    """
    found = {provider.key: provider for provider in providers()}
    return {key: found[key] for key in sorted(found, key=lambda key: [*WHERE, key].index(key))}
