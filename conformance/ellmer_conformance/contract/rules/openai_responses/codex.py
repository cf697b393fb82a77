"""The endpoint of a ChatGPT subscription, `chatgpt.com/backend-api/codex/responses`, which Codex uses: it keeps nothing, and takes fewer
parameters than the API.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from ...observed.exchange import Request
from ...rule import Refusal
from ...rulebook import UnsupportedFeature, add_feature_rules
from ._refusals_and_examples import ASK, OWN, body, book


def _detail(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    return {"content-type": "application/json"}, json.dumps({"detail": refusal.message}).encode()


CODEX = book.extend("codex", only=[], without=OWN, error_body=_detail)

_BRIEF = {"instructions": "Be brief.", "store": False}


def _stored(request: Request) -> str | None:
    return None if request.body.get("store") is False else "/store"


def _uninstructed(request: Request) -> str | None:
    return None if request.body.get("instructions") else "/instructions"


def _no_list(request: Request) -> str | None:
    return "/input" if isinstance(request.body.get("input"), str) else None


def _chained(request: Request) -> str | None:
    return "/previous_response_id" if request.body.get("previous_response_id") else None


def _untaken(id: str, name: str, source: str) -> UnsupportedFeature:
    """Returns the rule about a parameter of the API that the endpoint does not take."""
    return UnsupportedFeature(
        id,
        f"A request has no `{name}`.",
        (),
        Refusal(f"Unsupported parameter: {name}"),
        source,
        lambda request: f"/{name}" if name in request.body else None,
        body(ASK, **_BRIEF),
        body(ASK, **{name: "24h"}, **_BRIEF),
        fix="leave it out at this endpoint.",
    )


add_feature_rules(
    CODEX,
    [
        UnsupportedFeature(
            "REQ-176",
            "`store` is false.",
            (),
            Refusal("Store must be set to false"),
            (
                "https://github.com/openai/codex/issues/26173",
                "https://github.com/RayBytes/ChatMock/pull/52 (without `store`, too)",
            ),
            _stored,
            body(ASK, **_BRIEF),
            body(ASK, **_BRIEF | {"store": True}),
            fix="set `store: false` in every request.",
        ),
        UnsupportedFeature(
            "REQ-177",
            "A request has `instructions`.",
            (),
            Refusal("Instructions are required"),
            "https://github.com/cubezhao/ai-tools-mng/issues/79",
            _uninstructed,
            body(ASK, **_BRIEF),
            body(ASK, store=False),
            fix="send the system prompt as `instructions`, or a short one of your own.",
        ),
        UnsupportedFeature(
            "REQ-178",
            "The input is a list.",
            (),
            Refusal("Input must be a list"),
            "https://github.com/cubezhao/ai-tools-mng/issues/79",
            _no_list,
            body(ASK, **_BRIEF),
            {"model": "gpt-5.3-codex", "input": "What is 2 + 3?", **_BRIEF},
            fix="wrap the text in a message of the user.",
        ),
        UnsupportedFeature(
            "REQ-179",
            "Over HTTP, a request does not name an earlier answer (`previous_response_id`).",
            (),
            Refusal("Unsupported parameter: previous_response_id"),
            (
                "https://github.com/r1n7aro/Locus/issues/35",
                "https://github.com/NousResearch/hermes-agent/pull/8088",
                "https://github.com/agentjido/req_llm/pull/736 (a WebSocket takes it)",
            ),
            _chained,
            body(ASK, **_BRIEF),
            body(ASK, previous_response_id="resp_0", **_BRIEF),
            fix="send the whole history, with the encrypted reasoning.",
        ),
        _untaken("REQ-182", "max_output_tokens", "https://github.com/decolua/9router/issues/812"),
        _untaken(
            "REQ-183",
            "prompt_cache_retention",
            "https://github.com/router-for-me/CLIProxyAPI/issues/897",
        ),
        _untaken("REQ-184", "safety_identifier", "https://github.com/router-for-me/CLIProxyAPI/issues/1028"),
    ],
)
