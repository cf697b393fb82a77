"""Vertex AI: Gemini with a creation time, a traffic type, and an access token instead of a key."""

# ruff: noqa: ARG002 - a api does not use every argument
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ...contract.observed.exchange import Json
from ...contract.rule import Refusal
from ...scenarios.script import Answer, Usage
from .base import WRONG_KEY, FailureKind
from .gemini import Gemini

_USAGE = (
    "promptTokenCount",
    "candidatesTokenCount",
    "totalTokenCount",
    "cachedContentTokenCount",
    "trafficType",
    "promptTokensDetails",
    "candidatesTokensDetails",
    "thoughtsTokenCount",
)


class Vertex(Gemini):
    """The host of Vertex AI: Gemini's answers without an index, with a creation time and a traffic type."""

    provider: ClassVar[str] = "vertex"
    failures: ClassVar[Mapping[FailureKind, Refusal]] = {
        **Gemini.failures,
        "context-length": Refusal(
            "The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).",
            400,
            "INVALID_ARGUMENT",
        ),
    }
    unknown_model: ClassVar[Refusal] = Refusal(
        "Publisher Model `{path}` was not found or your project does not have access to it. Please ensure you are "
        "using a valid model version. For more information, see: "
        "https://cloud.google.com/vertex-ai/generative-ai/docs/learn/model-versions",
        404,
        "NOT_FOUND",
    )

    def response(self, parts: Sequence[Json], answer: Answer | None, usage: Json) -> Json:
        response = super().response(parts, answer, usage)
        for candidate in response.get("candidates", ())[:1]:  # a blocked prompt has none
            for key in ("index", "finishMessage"):
                candidate.pop(key, None)
        id = response.pop("responseId")
        return response | {"createTime": self.ticket.moment("%Y-%m-%dT%H:%M:%S.000000Z"), "responseId": id}

    @property
    def averages(self) -> bool:
        return not self.modern  # of Gemini 2.5, too

    def content(self, parts: Sequence[Json]) -> Json:
        return {"role": "model", "parts": list(parts)} if parts else {"role": "model"}

    def usage(self, usage: Usage, share: float = 1.0) -> Json:
        counts = super().usage(usage, share)
        written = [{"modality": "TEXT", "tokenCount": counts["candidatesTokenCount"]}]
        counts |= {"trafficType": "ON_DEMAND", "candidatesTokensDetails": written}
        return {key: counts[key] for key in _USAGE if key in counts}

    def locked(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Refusal | None:
        key = headers.get("authorization", "").partition(" ")[2] or headers.get("x-goog-api-key")
        if key and key != WRONG_KEY:
            return None
        fault = "Request had invalid" if key else "Request is missing required"
        return Refusal(
            f"{fault} authentication credential{'s' if key else ''}. Expected OAuth 2 access token, login cookie "
            "or other valid authentication credential. See "
            "https://developers.google.com/identity/sign-in/web/devconsole-project.",
            401,
            "UNAUTHENTICATED",
        )
