"""Models that refuse a system prompt."""

from __future__ import annotations

from collections.abc import Iterator

from ....exchange import Request
from ....readers.openai_chat import messages
from ....rule import Finding, broken, met
from ..._openai.refusals import path, refused
from .._rulebook import ASK, MUST, REJECT, body, book


@book.rule(
    "SYS-004",
    MUST,
    REJECT,
    source="recorded refusals of `system` and `developer` (o1-mini)",
    refusal=refused(
        "Unsupported value: '{path}' does not support '{role}' with this model.",
        code="unsupported_value",
        param="{path}",
    ),
    models=["o1-mini*", "o1-preview*"],
    examples=[body(ASK, model="o1-mini")],
    counterexamples=[body({"role": "system", "content": "Be brief."}, ASK, model="o1-mini")],
)
def first_reasoning_models_have_no_system_prompt(request: Request) -> Iterator[Finding]:
    """The first reasoning models do not accept `system` or `developer` messages.

    Fix: put the instructions at the start of the first user message.
    """
    for pointer, message in messages(request.body):
        role, place = message.get("role"), f"{pointer}/role"
        wrong = role in {"system", "developer"}
        yield (
            broken(place, f"this model does not accept {role} messages", path=path(place), role=role)
            if wrong
            else met(place)
        )
