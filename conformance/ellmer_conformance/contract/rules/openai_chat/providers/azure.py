"""Azure OpenAI runs OpenAI's own models and checks: the deployment in the URL names the model."""

from __future__ import annotations

from ....rule import Refusal
from ....rulebook import UnsupportedFeature, add_feature_rules
from .._refusals_and_examples import ASK, TOOL, body, book

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/agentjido/req_llm/blob/1c985d8a8ba0b3f291cae9ceff6d8369fd6342b7/test/"
    "support/fixtures/azure/"
)

# The model behind a deployment called `gpt-4` is not known.
azure = book.extend(
    "azure",
    without=["REQ-001"],
    REQ_004={"preview": True},
    REQ_024={"preview": True},
    REQ_061={"preview": True},
    REQ_062={"preview": True},
    REQ_101={"preview": True},
    REQ_144={"preview": True},
    STO_001={"preview": True},
    IMG_016={"preview": True},
    REQ_030={
        "models": (),  # whichever model the deployment runs
        "source": (
            "https://github.com/openai/openai-python/issues/2826 (gpt-5-mini)",
            "https://github.com/agno-agi/agno/issues/5393 (gpt-5)",
            "https://github.com/Azure/azure-sdk-for-net/issues/51873",
        ),
    },
)


add_feature_rules(
    azure,
    [
        UnsupportedFeature(
            "REQ-055",
            "`tool_choice` is a string.",
            ("mai-ds*",),
            Refusal("tool_choice: Input should be a valid string", 422, type="422"),
            ("recorded refusal (mai-ds-r1)", f"{_TESTS}mai_ds_r1/object_basic.json"),
            lambda request: "/tool_choice" if isinstance(request.body.get("tool_choice"), dict) else None,
            body(ASK, model="mai-ds-r1", tools=[TOOL], tool_choice="auto"),
            body(
                ASK,
                model="mai-ds-r1",
                tools=[TOOL],
                tool_choice={"type": "function", "function": {"name": "add"}},
            ),
            fix="send `auto` or `required`, and declare only the function that is to be called.",
        )
    ],
)
