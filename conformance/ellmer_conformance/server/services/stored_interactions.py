"""Gemini's stored interactions: retrieve, delete, cancel. `translated/interactions.py` makes them.

https://ai.google.dev/api/interactions-api
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ...contract.rule import Refusal
from ..http.messages import Reply
from .service_request import Interaction, ServiceRequest


def _of_one(serve: Callable[[ServiceRequest, Interaction], Reply]) -> Callable[[ServiceRequest], Reply]:
    """Returns a service that looks for the interaction first."""

    def served(service: ServiceRequest) -> Reply:
        found = service.stored.interactions.get(service.names["id"])
        if found is None:
            return service.refuse(Refusal(f"Interaction {service.names['id']} not found.", 404, "NOT_FOUND"))
        return serve(service, found)

    return served


@_of_one
def retrieve(service: ServiceRequest, found: Interaction) -> Reply:
    """Returns an interaction. Each look at a background one lets it go on."""
    found.looks += 1
    return service.reply(found.shown)


@_of_one
def delete(service: ServiceRequest, found: Interaction) -> Reply:  # noqa: ARG001 - it only has to be there
    """Deletes an interaction."""
    del service.stored.interactions[service.names["id"]]
    return service.reply({})


@_of_one
def cancel(service: ServiceRequest, found: Interaction) -> Reply:
    """Cancels a background interaction that runs."""
    if not found.background:
        sentence = "Only interactions in the background can be cancelled."
        return service.refuse(Refusal(sentence, 400, "FAILED_PRECONDITION"))
    found.cancelled = True
    return service.reply(found.shown)


_PLACE = r"/v1(?:alpha|beta)?/interactions/(?P<id>[^/:]+)"
ROUTES: tuple[tuple[str, re.Pattern[str], Callable[[ServiceRequest], Reply]], ...] = (
    ("GET", re.compile(rf"{_PLACE}$"), retrieve),
    ("DELETE", re.compile(rf"{_PLACE}$"), delete),
    ("POST", re.compile(rf"{_PLACE}/cancel$"), cancel),
)
