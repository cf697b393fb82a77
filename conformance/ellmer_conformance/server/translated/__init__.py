"""Requests in formats that repeat another one: they are judged and answered in that format, and the reply is written back.

| format | is judged and answered as |
|---|---|
| Claude on Vertex (`:rawPredict`, `:streamRawPredict`) | Anthropic Messages |
| Bedrock InvokeModel, with and without a stream | the format of the model's maker |
| Cohere v1 | Cohere v2 |
| Gemini Interactions | Gemini |
"""

from __future__ import annotations

from datetime import date

from ..http.messages import HttpRequest
from ..http.routes import Route
from ..services.service_request import StoredObjects
from . import bedrock_invoke, cohere_v1, interactions, vertex_anthropic
from .translation import Translation

__all__ = ["PATHS", "Translation", "translation_of"]

_FORMATS = (vertex_anthropic, bedrock_invoke, cohere_v1, interactions)

#: Wire format, method and path of each endpoint, for the page of endpoints.
PATHS = tuple(path for each in _FORMATS for path in each.PATHS)


def translation_of(
    http: HttpRequest, route: Route, stored: StoredObjects, today: date | None = None
) -> Translation | None:
    """Returns the request in a format that has rules with the way back, or `None` for a request in another format.

    Args:
        http: The request.
        route: The meaning of its target.
        stored: The objects that the server keeps for its conversation.
        today: The day as of which the request is judged; `None` means today.
    """
    if http.method != "POST":
        return None
    found = (each.translation(http, route, stored, today) for each in _FORMATS)
    return next((each for each in found if each), None)
