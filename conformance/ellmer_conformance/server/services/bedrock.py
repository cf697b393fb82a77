"""Bedrock's token counts, and embeddings by InvokeModel.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html
https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from ...contract.readers.json_access import object_of, text_of
from ...contract.rule import Refusal
from ..http.messages import Reply
from .service_request import ServiceRequest
from .vectors import token_count, vector

__all__ = ["NOT_SERVED", "ROUTES"]

_TITAN = 1024  # numbers of a vector, unless the request says otherwise


def count(service: ServiceRequest) -> Reply:
    """Returns the tokens of a request to Converse."""
    converse = object_of(object_of(service.body.get("input")).get("converse"))
    if not converse:
        sentence = "The provided request is not valid: input.converse is required here."
        return service.refuse(Refusal(sentence, 400, "ValidationException"))
    path = f"/model/{service.names['id']}/converse"
    refusal = service.objection(path, converse)
    if refusal:
        return service.refuse(refusal)
    return service.reply({"inputTokens": service.tokens(path, converse)})


def invoke(service: ServiceRequest) -> Reply:
    """Returns the embedding of a text by a Titan model. Other models have bodies that are not served."""
    if "titan-embed" not in unquote(service.names["id"]):
        return service.not_served()
    text, asked = text_of(service.body.get("inputText")), service.body.get("dimensions")
    if not text:
        sentence = "Malformed input request: #: required key [inputText] not found, please reformat your input and try again."
        return service.refuse(Refusal(sentence, 400, "ValidationException"))
    numbers = vector(text, asked if isinstance(asked, int) else _TITAN)
    return service.reply({"embedding": numbers, "inputTextTokenCount": token_count([text])})


ROUTES = (
    ("POST", re.compile(r"/model/(?P<id>[^/]+)/count-tokens$"), count),
    ("POST", re.compile(r"/model/(?P<id>[^/]+)/invoke$"), invoke),
)
NOT_SERVED = (
    "/model/{id}/invoke-with-response-stream", "/model/{id}/invoke-with-bidirectional-stream", "/async-invoke",
    "/guardrail", "/foundation-models", "/guardrails", "/inference-profiles",
)  # fmt: skip
