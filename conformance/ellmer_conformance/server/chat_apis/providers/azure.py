"""Azure OpenAI: OpenAI's answers, with the content filter's results for the prompt first, and for each piece after
it.

https://learn.microsoft.com/azure/ai-foundry/openai/reference; order and names as recorded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ....contract.observed.exchange import Json
from ....contract.rule import Refusal
from ....scenarios.script import Answer
from ...http.messages import Headers
from ..base import FailureKind, Frame, compact, sse, utf8
from ..openai_chat import OpenAIChat

_HARMS = ("hate", "self_harm", "sexual", "violence")
_SAFE = {harm: {"filtered": False, "severity": "safe"} for harm in _HARMS}
_PROMPT = [{"prompt_index": 0, "content_filter_results": _SAFE}]


class Azure(OpenAIChat):
    """A resource at openai.azure.com."""

    provider: ClassVar[str] = "azure"
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        **OpenAIChat.failures,
        "rate-limit": Refusal(
            "Your requests to example-model have exceeded rate limit.", 429, code="RateLimitReached"
        ),
    }
    retry: ClassVar[Mapping[FailureKind, Headers]] = {
        "rate-limit": (("retry-after", "1"), ("retry-after-ms", "1000"))
    }

    def body(self, answer: Answer) -> bytes:
        return utf8(compact(ordered(self.completion(answer))))

    def completion(self, answer: Answer) -> Json:
        completion = super().completion(answer)
        for choice in completion["choices"]:
            choice["content_filter_results"] = _SAFE
        return completion | {"prompt_filter_results": _PROMPT}

    def frames(self, answer: Answer) -> Iterator[Frame]:
        nobody = {"choices": [], "created": 0, "id": "", "model": "", "object": ""}
        yield Frame("open", sse(compact(nobody | {"prompt_filter_results": _PROMPT})))
        yield from super().frames(answer)

    def chunk(self, delta: Json, finish: str | None = None) -> bytes:
        results = _SAFE if delta.get("content") else {}
        choice = {
            "content_filter_results": results,
            "delta": delta,
            "finish_reason": finish,
            "index": self.index,
        }
        usage = {"usage": None} if self.options.get("include_usage") else {}
        return self.event({"choices": [choice | self.probabilities(delta.get("content"))], **usage})

    def event(self, rest: Json) -> bytes:
        return sse(compact(ordered(json.loads(super().event(rest).removeprefix(b"data: ")))))

    def headers(self, *, stream: bool) -> Headers:
        return (("content-type", "text/event-stream; charset=utf-8" if stream else "application/json"),)


def ordered(value: Any) -> Any:
    """Returns the object with sorted keys, as Azure has them."""
    if isinstance(value, list):
        return [ordered(each) for each in value]
    return {key: ordered(value[key]) for key in sorted(value)} if isinstance(value, dict) else value
