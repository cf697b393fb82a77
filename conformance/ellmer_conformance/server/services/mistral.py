"""Mistral's models. The other endpoints are as OpenAI's.

https://docs.mistral.ai/api/#tag/models
"""

from __future__ import annotations

import re

from ...contract.exchange import Json
from ...contract.rule import Refusal
from ..http.messages import Reply
from . import openai
from .service_request import ServiceRequest

__all__ = ["NOT_SERVED", "ROUTES"]


_MODELS = ("mistral-small-latest", "mistral-medium-latest", "mistral-large-latest", "codestral-latest")


def models(service: ServiceRequest) -> Reply:
    """Returns the list of models."""
    return service.reply({"object": "list", "data": [_model(name) for name in _MODELS]})


def model(service: ServiceRequest) -> Reply:
    """Returns a model, known or not."""
    name = service.names["id"]
    if service.api.no_model(name):
        return service.refuse(Refusal(f"Invalid model: {name}", 404, "invalid_model"))
    return service.reply(_model(name))


def _model(name: str) -> Json:
    able = dict.fromkeys(("completion_chat", "function_calling", "vision"), True)
    return {
        "id": name,
        "object": "model",
        "created": 1_744_316_542,
        "owned_by": "mistralai",
        "capabilities": able | dict.fromkeys(("completion_fim", "fine_tuning", "classification"), False),
        "name": name,
        "description": "A model of the strict server.",
        "max_context_length": 131_072,
        "aliases": [],
        "deprecation": None,
        "default_model_temperature": 0.3,
        "type": "base",
    }


ROUTES = (
    ("GET", re.compile(r"/v1/models/?$"), models),
    ("GET", re.compile(r"/v1/models/(?P<id>[^/]+)$"), model),
    *(route for route in openai.ROUTES if re.search("embeddings|moderations|files", route[1].pattern)),
)
NOT_SERVED = (
    "/v1/agents", "/v1/audio", "/v1/batch", "/v1/chat/classifications", "/v1/chat/moderations", "/v1/classifications",
    "/v1/conversations", "/v1/fim", "/v1/fine_tuning", "/v1/libraries", "/v1/ocr",
)  # fmt: skip
