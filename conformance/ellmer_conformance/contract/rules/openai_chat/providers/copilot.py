"""GitHub Copilot: some models answer only at the Responses API."""

from __future__ import annotations

from ....rulebook import UnsupportedFeature, add_feature_rules
from ..._openai.refusals import refused
from .._refusals_and_examples import ASK, body
from ._elsewhere import elsewhere

copilot = elsewhere("copilot", without=["REQ-139"])

add_feature_rules(
    copilot,
    [
        UnsupportedFeature(
            "REQ-139",
            "The model is one that answers at Chat Completions, and not only at the Responses API.",
            ("gpt-5.[1-9]*-codex*", "gpt-5.4", "gpt-5.4-mini", "gpt-5.6-sol"),
            refused(
                'model "{model}" is not accessible via the /chat/completions endpoint',
                code="unsupported_api_for_model",
            ),
            (
                "https://github.com/egoist/chatwise-releases/issues/1273 (gpt-5.3-codex)",
                "https://github.com/caozhiyuan/copilot-api/issues/113 (gpt-5.4)",
                "https://github.com/proxysoul/Empryo/issues/46 (gpt-5.4-mini)",
                "https://github.com/anomalyco/opencode/issues/36305 (gpt-5.6-sol)",
            ),
            lambda request: "/model" if request.model else None,
            body(ASK, model="gpt-4.1"),
            body(ASK, model="gpt-5.3-codex"),
        )
    ],
)
