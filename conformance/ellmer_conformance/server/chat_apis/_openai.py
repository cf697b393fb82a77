"""The base of the chat_apis of Chat Completions and Responses: ids, headers, keys, failures."""

# ruff: noqa: ARG002 - a api does not use every argument
from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

from ellmer_core.base.budget import remembered

from ...contract.observed.exchange import Json
from ...contract.rule import Refusal
from ...scenarios.script import Call
from ..http.messages import Headers
from .base import HEX, WRONG_KEY, ChatApi, FailureKind, arguments_text

_KEYS = "https://platform.openai.com/account/api-keys"
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}$|-\d{4}$")

#: The 401 and 429 are recorded; 503 is documented at https://developers.openai.com/api/docs/guides/error-codes
FAILURES: Mapping[FailureKind, Refusal] = {
    "overloaded": Refusal("The engine is currently overloaded, please try again later", 503, "server_error"),
    "server-error": Refusal(
        "The server had an error while processing your request. Sorry about that!", 500, "server_error"
    ),
    "rate-limit": Refusal(
        "Rate limit reached for gpt-4.1 in organization org-conformance on tokens per min (TPM): Limit 200000, "
        "Used 195869, Requested 4412. Please try again in 84ms. Visit "
        "https://platform.openai.com/account/rate-limits to learn more.",
        429,
        "tokens",
        "rate_limit_exceeded",
    ),
    "context-length": Refusal(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 150008 tokens. "
        "Please reduce the length of the messages.",
        400,
        "invalid_request_error",
        "context_length_exceeded",
        "messages",
    ),
}


class OpenAI(ChatApi):
    """The host api.openai.com, for both of its formats."""

    provider: ClassVar[str] = "openai"
    arguments_key: ClassVar[bytes] = b'"arguments":'
    failures: ClassVar[Mapping[FailureKind, Refusal]] = FAILURES
    retry: ClassVar[Mapping[FailureKind, Headers]] = {
        "rate-limit": (("retry-after-ms", "84"), ("retry-after", "1"))
    }

    @property
    def model(self) -> str:
        """The dated name of the model for an alias."""
        return _dated(self.ticket.request.model)

    def call_id(self, call: Call, index: int) -> str:
        """Returns an id: `call_` and 24 characters."""
        return call.id or f"call_{self.ticket.token(f'call {index}', 24)}"

    def headers(self, *, stream: bool) -> Headers:
        """Returns the headers: version, timing, limits and the request's id."""
        return (
            ("content-type", "text/event-stream; charset=utf-8" if stream else "application/json"),
            ("openai-organization", "org-conformance"),
            ("openai-processing-ms", str(200 + self.ticket.number)),
            ("openai-version", "2020-10-01"),
            ("x-ratelimit-limit-requests", "500"),
            ("x-ratelimit-limit-tokens", "200000"),
            ("x-ratelimit-remaining-requests", "499"),
            ("x-ratelimit-remaining-tokens", "199960"),
            ("x-ratelimit-reset-requests", "120ms"),
            ("x-ratelimit-reset-tokens", "12ms"),
            ("x-request-id", f"req_{self.ticket.token('request', 32, HEX)}"),
        )

    @cached_property
    def custom_tools(self) -> frozenset[str]:
        """The names of the tools that take a text instead of an object."""
        tools = self.asked.get("tools")
        found = (
            [each for each in tools if isinstance(each, dict) and each.get("type") == "custom"]
            if tools
            else []
        )
        return frozenset(str((object_at(each, "custom") or each).get("name")) for each in found)

    @property
    def azure(self) -> bool:
        """Whether the request is one to Azure, which has `/openai` before its paths and its own header."""
        request = self.ticket.request
        return request.provider.startswith("azure") or "/openai/" in request.url

    # refusals ---------------------------------------------------------------------------------------------

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        scheme, _, key = headers.get("authorization", "").partition(" ")
        if self.azure and "api-key" in headers:
            scheme, key = "bearer", headers["api-key"]
        if scheme.lower() != "bearer" or not key:
            return Refusal(
                "You didn't provide an API key. You need to provide your API key in an Authorization header "
                "using Bearer auth (i.e. Authorization: Bearer YOUR_KEY), or as the password field (with blank "
                "username) if you're accessing the API from your browser and are prompted for a username and "
                f"password. You can obtain an API key from {_KEYS}.",
                401,
                "invalid_request_error",
            )
        if key == WRONG_KEY:
            sentence = f"Incorrect API key provided: {key}. You can find your API key at {_KEYS}."
            return Refusal(sentence, 401, "invalid_request_error", "invalid_api_key")
        return None

    def no_json(self, detail: str) -> Refusal:
        return Refusal(
            "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your "
            "HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid "
            "JSON. If you have trouble figuring out how to fix this, please contact us through our help center "
            "at help.openai.com.)",
            type="invalid_request_error",
        )

    def no_such(self, method: str, path: str) -> Refusal:
        return Refusal(f"Invalid URL ({method} {path})", 404, "invalid_request_error")


@remembered(1024)
def _dated(name: str) -> str:
    return name if not name or _DATED.search(name) else f"{name}-2026-03-05"


def input_text(call: Call) -> str:
    """Returns the text of a call of a custom tool: the only value of its arguments, or all of them."""
    values = [*call.arguments.values()]
    only = values[0] if call.text is None and len(values) == 1 else None
    return only if isinstance(only, str) else arguments_text(call)


def fields(refusal: Refusal) -> Json:
    """Returns the error object."""
    return {
        "message": refusal.message,
        "type": refusal.type or "invalid_request_error",
        "param": refusal.param,
        "code": refusal.code,
    }


def object_at(value: Json, key: str) -> Json:
    """Returns the object under a key, or an empty one."""
    found = value.get(key)
    return found if isinstance(found, dict) else {}
