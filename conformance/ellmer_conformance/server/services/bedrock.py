"""Bedrock's token counts, and embeddings by InvokeModel.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens.html
https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from urllib.parse import unquote

from ...contract.readers.json_access import items_of, object_of, text_of
from ...contract.rule import Refusal
from ..chat_apis.bedrock import GUARD_UNITS
from ..http.messages import Reply
from .openai import flagged
from .service_request import ServiceRequest
from .vectors import token_count, vector

_TITAN = 1024  # numbers of a vector, unless the request says otherwise


def count(service: ServiceRequest) -> Reply:
    """Returns the tokens of a request to Converse."""
    source = object_of(service.body.get("input"))
    converse = object_of(source.get("converse"))
    if not converse and (invoked := object_of(source.get("invokeModel"))):
        return _count_invoked(service, text_of(invoked.get("body")))
    if not converse:
        sentence = "The provided request is not valid: input.converse is required here."
        return service.refuse(Refusal(sentence, 400, "ValidationException"))
    path = f"/model/{service.names['id']}/converse"
    refusal = service.objection(path, converse)
    if refusal:
        return service.refuse(refusal)
    return service.reply({"inputTokens": service.tokens(path, converse)})


def _count_invoked(service: ServiceRequest, encoded: str) -> Reply:
    """Returns the tokens of a request to InvokeModel for Claude, whose body is base64."""
    try:
        body = object_of(json.loads(b64decode(encoded)))
    except ValueError:
        body = {}
    asked = {"model": "claude-sonnet-5", "max_tokens": 1, **body}
    asked.pop("anthropic_version", None)
    if refusal := service.objection("/v1/messages", asked):
        return service.refuse(Refusal(refusal.message, 400, "ValidationException"))
    return service.reply({"inputTokens": service.tokens("/v1/messages", asked)})


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


def guard(service: ServiceRequest) -> Reply:
    """Applies a guardrail: it blocks a text with a word that moderations flag.

    https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ApplyGuardrail.html
    """
    content = items_of(service.body.get("content"))
    texts = [text_of(object_of(object_of(each).get("text")).get("text")) for each in content]
    if not any(texts):
        sentence = "1 validation error detected: Value at 'content' failed to satisfy constraint: Member must not be null"
        return service.refuse(Refusal(sentence, 400, "ValidationException"))
    blocked = any(flagged(text) for text in texts)
    outputs = [{"text": "Sorry, the model cannot answer this question."}] if blocked else []
    units = dict.fromkeys(GUARD_UNITS, 0) | {"contentPolicyUnits": len(texts)}
    action = "GUARDRAIL_INTERVENED" if blocked else "NONE"
    return service.reply({"action": action, "outputs": outputs, "assessments": [{}], "usage": units})


ROUTES = (
    ("POST", re.compile(r"/guardrail/(?P<id>[^/]+)/version/(?P<version>[^/]+)/apply$"), guard),
    ("POST", re.compile(r"/model/(?P<id>[^/]+)/count-tokens$"), count),
    ("POST", re.compile(r"/model/(?P<id>[^/]+)/invoke(?:-with-response-stream)?$"), invoke),
)
NOT_SERVED = (
    "/model/{id}/invoke-with-bidirectional-stream", "/async-invoke",
    "/guardrail-checks", "/foundation-models", "/guardrails", "/inference-profiles",
)  # fmt: skip
