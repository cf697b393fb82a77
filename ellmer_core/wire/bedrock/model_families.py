"""The features that each family of models supports in Bedrock's one format.

The evidence is live: requests of public test suites that Bedrock accepted or refused (2025-2026), and
https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...contents.content import Content, ContentImage, ContentPDF
from ..shared.schema_limits import ANTHROPIC as CLAUDE_LIMITS
from ..shared.schema_limits import SchemaLimits

__all__ = ["Family", "family_of"]

_MORE = "additionalModelRequestFields"


@dataclass(frozen=True)
class Family:
    """The features of a family. The defaults are those of Amazon's own models and of untested models."""

    name: str = ""
    media_in_results: tuple[type[Content], ...] = (ContentImage,)
    alone: bool = False  # a message with results holds nothing else, not even text
    status: bool = True  # a result may say whether it is an error
    json_results: bool = False  # results are objects, never text
    assistant_first: bool = False  # a conversation may start with the model
    signed_thoughts: bool = False  # a thought is taken back only with its signature
    schemas: str = ""  # the models with native structured output; the others are given a tool to call
    schema_limits: SchemaLimits = field(default_factory=SchemaLimits)  # of that structured output
    forces: bool = False  # a model can be made to call a certain tool
    caches: bool = False  # a prompt may have marks up to which it is remembered
    params: Mapping[str, str] = field(default_factory=dict)  # as `Wire.param_names`
    with_param: Mapping[str, Any] = field(default_factory=dict)  # what else a parameter needs in the body


_CLAUDE = Family(
    "anthropic",
    media_in_results=(ContentImage, ContentPDF),
    assistant_first=True,
    forces=True,
    caches=True,
    signed_thoughts=True,
    schema_limits=CLAUDE_LIMITS,
    schemas=r"claude-[a-z]+-(4-[5-9]|[5-9]|\d\d)",
    params={
        "top_k": f"{_MORE}.top_k",
        "reasoning_tokens": f"{_MORE}.thinking.budget_tokens",
        "reasoning_effort": f"{_MORE}.output_config.effort",
    },
    with_param={
        "reasoning_tokens": {_MORE: {"thinking": {"type": "enabled"}}},
        "reasoning_effort": {_MORE: {"thinking": {"type": "adaptive"}}},
    },
)
_EFFORT = {"reasoning_effort": f"{_MORE}.reasoning_effort"}

FAMILIES = {
    r"anthropic\.": _CLAUDE,
    r"nova": Family("nova", forces=True, caches=True, params={"top_k": f"{_MORE}.inferenceConfig.topK"}),
    r"meta\.": Family("meta", media_in_results=(ContentImage, ContentPDF), alone=True),
    r"mistral\.": Family(
        "mistral",
        media_in_results=(ContentPDF,),
        alone=True,
        json_results=True,
        schemas="magistral-small|ministral-3|mistral-large-3|voxtral",
    ),
    r"writer\.": Family("writer", alone=True, status=False),
    r"qwen\.": Family(
        "qwen",
        media_in_results=(),
        assistant_first=True,
        schemas="qwen3",
        params={"reasoning_effort": f"{_MORE}.reasoning_config"},
    ),
    r"moonshot(ai)?\.": Family("moonshot", media_in_results=(), assistant_first=True, schemas="."),
    r"zai\.": Family("zai", assistant_first=True, schemas=".", params=_EFFORT),
    r"openai\.": Family("openai", schemas="gpt-oss", params=_EFFORT),
    r"deepseek\.": Family("deepseek", schemas=r"v3", params=_EFFORT),
    r"minimax\.": Family("minimax", schemas="minimax-m2"),
}


def family_of(model: str) -> Family:
    """Returns the family of a model id, an inference profile or an ARN."""
    return next((family for pattern, family in FAMILIES.items() if re.search(pattern, model)), Family())
