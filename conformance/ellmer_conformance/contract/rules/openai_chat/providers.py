"""Other providers of Chat Completions, and what is known about them.

At another provider, a rule refuses only if a refusal was recorded there. OpenAI's other rules are previews. Loss
rules hold everywhere.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ...rule import Refusal
from ...rulebook import RuleBook
from .._refused_features import Lack, enter
from . import dialects
from ._rulebook import ASK, TOOL, body, book
from .dialects import elsewhere

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/agentjido/req_llm/blob/1c985d8a8ba0b3f291cae9ceff6d8369fd6342b7/test/"
    "support/fixtures/azure/"
)

__all__ = ["dialect"]

# Azure runs OpenAI's own models and checks: the deployment in the URL names the model.
# The model behind a deployment called `gpt-4` is not known.
AZURE = book.extend(
    "azure",
    without=["REQ-001"],
    REQ_004={"preview": True},
    REQ_024={"preview": True},
    REQ_061={"preview": True},
    REQ_062={"preview": True},
    REQ_101={"preview": True},
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


enter(
    AZURE,
    [
        Lack(
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
        )
    ],
)

_OWN = frozenset(module.name for module in iter_modules(dialects.__path__))


def dialect(vendor: str) -> RuleBook:
    """Returns the rules of a provider."""
    if vendor in {"", book.vendor}:
        return book
    if vendor == "azure":
        return AZURE
    if vendor in _OWN:
        found: RuleBook = getattr(import_module(f".dialects.{vendor}", __package__), vendor)
        return found
    return elsewhere(vendor)
