"""Claude on Vertex AI: Anthropic Messages with the model in the path and the version in the body.

https://platform.claude.com/docs/en/build-with-claude/claude-on-vertex-ai
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from ...contract.rule import Refusal
from ..http.messages import HttpRequest, Reply, plain
from ..http.routes import Route
from ..replies import refuse
from ..services.service_request import StoredObjects
from .translation import Translation, anthropic_version, api_for, body_of, to_path, without_stream

_PATH = re.compile(r"/publishers/anthropic/models/(?P<model>[^/:]+):(?P<method>rawPredict|streamRawPredict)$")
_PLACE = "/v1/projects/{project}/locations/{location}/publishers/anthropic/models"
PATHS = (
    ("anthropic", "POST", f"{_PLACE}/{{id}}:rawPredict"),
    ("anthropic", "POST", f"{_PLACE}/{{id}}:streamRawPredict"),
    ("anthropic", "POST", f"{_PLACE}/count-tokens:rawPredict"),
)


def translation(
    http: HttpRequest,
    route: Route,
    stored: StoredObjects,  # noqa: ARG001 - all translations get it
    today: date | None,
) -> Translation | None:
    """Returns the request as one to Anthropic, or `None` if the path is not one of Vertex AI for Claude."""
    found = _PATH.search(route.path)
    if not found:
        return None
    body = body_of(http)
    version, counts = body.pop("anthropic_version", None), found["model"].startswith("count-tokens")
    if counts:
        path, keys = "/v1/messages/count_tokens", {"anthropic-version": "2023-06-01"}
        return Translation(to_path(http, route, path, without_stream(body), keys), lambda reply: reply)
    named = anthropic_version(version, "vertex", found["model"], today)
    if refusal := _refusal(version, named, body):
        api = api_for(http, route, "anthropic", "anthropic")
        return Translation(None, _back, refuse(api, refusal))
    body = {"model": found["model"].replace("@", "-"), **body}
    return Translation(to_path(http, route, "/v1/messages", body, {"anthropic-version": named or ""}), _back)


def _refusal(version: object, named: str | None, body: dict[str, object]) -> Refusal | None:
    """Returns the error for a missing or unknown version or a model in the body. Its sentences are UNVERIFIED."""
    if version is None:
        return Refusal("anthropic_version: Field required", 400, "invalid_request_error")
    if named is None:
        sentence = f'anthropic-version: "{version}" is not a valid version'
        return Refusal(sentence, 400, "invalid_request_error")
    if "model" in body:
        return Refusal("model: Extra inputs are not permitted", 400, "invalid_request_error")
    return None


def _back(reply: Reply) -> Reply:
    """Returns the reply with the ids of Vertex."""
    writes = [write.replace(b'"msg_01', b'"msg_vrtx_01') for write in reply.writes]
    if reply.length is not None:
        return replace(plain(reply.status, reply.headers, b"".join(writes)), ending=reply.ending)
    return replace(reply, writes=writes)
