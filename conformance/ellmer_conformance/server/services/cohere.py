"""Cohere's models, embeddings and tokens.

https://docs.cohere.com/reference/list-models, https://docs.cohere.com/reference/embed
"""

from __future__ import annotations

import re
from zlib import crc32

from ...contract.observed.exchange import Json
from ...contract.readers.json_access import items_of, object_of, text_of
from ...contract.rule import Refusal
from ..http.messages import Reply
from ..model.media_made import words_of_sound
from .service_request import ServiceRequest, few
from .vectors import as_base64, texts_of, token_count, vector

_MODELS = {
    "command-a-03-2025": ["chat", "generate"],
    "command-a-vision-07-2025": ["chat"],
    "command-r7b-12-2024": ["chat", "generate"],
    "embed-v4.0": ["embed"],
}
_SIZES = {"embed-v4.0": 1536}


def models(service: ServiceRequest) -> Reply:
    """Returns the list of models."""
    return service.reply({"models": [_model(name) for name in _MODELS]})


def model(service: ServiceRequest) -> Reply:
    """Returns a model, known or not."""
    name = service.names["id"]
    if missing := service.api.no_model(name):
        return service.refuse(missing)
    return service.reply(_model(name))


def _model(name: str) -> Json:
    facts = {"name": name, "endpoints": _MODELS.get(name, ["chat"]), "finetuned": False}
    return {**facts, "context_length": 256_000, "default_endpoints": [], "features": ["tools"]}


def embed(service: ServiceRequest) -> Reply:
    """Returns a vector for each text, in the requested types."""
    body = service.body
    inputs = [
        text_of(object_of(part).get("text"))
        for item in items_of(body.get("inputs"))
        for part in items_of(object_of(item).get("content"))
    ]
    texts = texts_of(body.get("texts")) or few(inputs)
    if not texts:
        return service.refuse(Refusal("at least one text or image is required", 400))
    name = text_of(body.get("model"))
    if missing := service.api.no_model(name):
        return service.refuse(missing)
    asked = body.get("output_dimension")
    size = asked if isinstance(asked, int) else _SIZES.get(name, 1024)
    vectors = [vector(text, size) for text in texts]
    kinds = [kind for kind in items_of(body.get("embedding_types")) if isinstance(kind, str)] or ["float"]
    return service.reply(
        {
            "id": service.api.ticket.uuid("embed"),
            "embeddings": {kind: [_converted(kind, numbers) for numbers in vectors] for kind in kinds},
            "texts": texts,
            "meta": {"api_version": {"version": "2"}, "billed_units": {"input_tokens": token_count(texts)}},
        }
    )


def _converted(kind: str, numbers: list[float]) -> object:
    match kind:
        case "base64":
            return as_base64(numbers)
        case "int8":
            return [max(-128, min(127, round(number * 127))) for number in numbers]
        case "uint8":
            return [max(0, min(255, round(number * 127) + 128)) for number in numbers]
    return numbers


def tokenize(service: ServiceRequest) -> Reply:
    """Returns the tokens of a text: its words with the space before them."""
    text = text_of(service.body.get("text"))
    if not text:
        return service.refuse(Refusal("text is required", 400))
    words = re.findall(r"(?<!\s)\s*\S+", text)
    tokens = [crc32(word.encode("utf-8", "replace")) % 200_000 for word in words]
    return service.reply(
        {"tokens": tokens, "token_strings": words, "meta": {"api_version": {"version": "1"}}}
    )


def detokenize(service: ServiceRequest) -> Reply:
    """Returns a text for tokens. The server knows no words for numbers, so it writes the numbers."""
    tokens = items_of(service.body.get("tokens"))
    if not tokens:
        return service.refuse(Refusal("tokens is required", 400))
    return service.reply({"text": " ".join(map(str, tokens)), "meta": {"api_version": {"version": "1"}}})


def rerank(service: ServiceRequest) -> Reply:
    """Returns the documents in the order of the words that they share with a query.

    https://docs.cohere.com/reference/rerank
    """
    body = service.body
    given = few(items_of(body.get("documents")), 10_000)
    documents = [text_of(object_of(each).get("text") or each) for each in given]
    query, name = text_of(body.get("query")), text_of(body.get("model"))
    if not query or not documents:
        return service.refuse(Refusal("query and documents are required", 400))
    if missing := service.api.no_model(name):
        return service.refuse(missing)
    of_query = vector(query, _RERANKED)
    scores = [
        round(max(0.0, sum(a * b for a, b in zip(of_query, vector(text, _RERANKED), strict=True))), 7)
        for text in documents
    ]
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    most = body.get("top_n")
    results = [{"index": index, "relevance_score": scores[index]} for index in order]
    meta = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
    return service.reply(
        {
            "id": service.api.ticket.uuid("rerank"),
            "results": results[: most if isinstance(most, int) else None],
            "meta": meta,
        }
    )


def transcription(service: ServiceRequest) -> Reply:
    """Returns the words of a sound that this server made, or a sentence about another one."""
    _, file = service.form()
    if file is None:
        return service.refuse(Refusal("file is required", 400))
    return service.reply(
        {"text": words_of_sound(file.data) or f"I hear a sound of {len(file.data):,} bytes."}
    )


def check_key(service: ServiceRequest) -> Reply:
    """Says that the key is valid. A wrong one has been refused."""
    return service.reply({"valid": True, "organization_id": None, "owner_id": None})


_RERANKED = 256  # numbers of the vectors that are compared
ROUTES = (
    ("POST", re.compile(r"/v1/check-api-key$"), check_key),
    ("POST", re.compile(r"/v1/detokenize$"), detokenize),
    ("POST", re.compile(r"/v[12]/rerank$"), rerank),
    ("POST", re.compile(r"/v2/audio/transcriptions$"), transcription),
    ("GET", re.compile(r"/v1/models/?$"), models),
    ("GET", re.compile(r"/v1/models/(?P<id>[^/]+)$"), model),
    ("POST", re.compile(r"/v[12]/embed$"), embed),
    ("POST", re.compile(r"/v1/tokenize$"), tokenize),
)
NOT_SERVED = (
    "/v1/classify", "/v1/connectors", "/v1/datasets", "/v1/embed-jobs", "/v1/finetuning",
    "/v1/generate", "/v1/summarize", "/v2/batches", "/v2/parse",
)  # fmt: skip
