"""What Converse says beside the message: token counts, and the trace of a guardrail."""

from __future__ import annotations

from ....contract.exchange import Json
from ....contract.readers.json_access import object_of, text_of
from ....scenarios.script import Usage

__all__ = ["token_counts", "trace"]

_GUARD_UNITS = (
    "contentPolicyUnits",
    "contextualGroundingPolicyUnits",
    "sensitiveInformationPolicyFreeUnits",
    "sensitiveInformationPolicyUnits",
    "topicPolicyUnits",
    "wordPolicyUnits",
)


def token_counts(usage: Usage, *, cached: bool) -> Json:
    """Returns the token counts. Cached tokens are counted separately; some models always name them."""
    counts = {
        "cacheReadInputTokenCount": usage.cached,
        "cacheReadInputTokens": usage.cached,
        "cacheWriteInputTokenCount": 0,
        "cacheWriteInputTokens": 0,
    }
    return {
        **(counts if cached or usage.cached else {}),
        "inputTokens": usage.input - usage.cached,
        "outputTokens": usage.output,
        "serverToolUsage": {},
        "totalTokens": usage.input + usage.output,
    }


def trace(asked: Json) -> Json:
    """Returns a guardrail's trace, if the request asks for it."""
    guard = object_of(asked.get("guardrailConfig"))
    if text_of(guard.get("trace")) not in {"enabled", "enabled_full"}:
        return {}
    looked = {"guardrailProcessingLatency": 231, "usage": dict.fromkeys(_GUARD_UNITS, 0)}
    assessed = {str(guard.get("guardrailIdentifier")): {"invocationMetrics": looked}}
    return {"trace": {"guardrail": {"actionReason": "No action.", "inputAssessment": assessed}}}
