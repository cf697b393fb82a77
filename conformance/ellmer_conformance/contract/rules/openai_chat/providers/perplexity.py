"""Perplexity: user and assistant alternate, and error bodies repeat the status."""

from __future__ import annotations

from collections.abc import Iterator

from ....observed.exchange import Request
from ....readers.openai_chat import messages
from ....rule import Finding, Refusal, broken, met
from ....rulebook import UnsupportedFeature, add_feature_rules
from ..._openai.refusals import coded_error_body
from .._refusals_and_examples import ASK, MUST, REJECT, TOOL, body
from ..features import functions
from ._elsewhere import elsewhere

perplexity = elsewhere("perplexity", error_body=coded_error_body)


def _misordered(what: str) -> Refusal:
    return Refusal(f"After the (optional) system message(s), {what}", type="invalid_message", code=400)


@perplexity.rule(
    "ORD-009",
    MUST,
    REJECT,
    source="recorded refusal (sonar)",
    refusal=_misordered("user or tool message(s) should alternate with assistant message(s)."),
    formerly=[_misordered("user and assistant roles should be alternating.")],
    examples=[
        body({"role": "system", "content": "Be brief."}, ASK, {"role": "assistant", "content": "5"}, ASK)
    ],
    counterexamples=[body(ASK, ASK), body({"role": "assistant", "content": "5"}, ASK)],
)
def sides_alternate(request: Request) -> Iterator[Finding]:
    """After the system messages, user and assistant messages alternate, starting with the user.

    Fix: merge consecutive user messages.
    """
    found = [(pointer, message.get("role")) for pointer, message in messages(request.body)]
    while found and found[0][1] == "system":
        found.pop(0)
    before = "assistant"
    for pointer, role in found:
        side = "assistant" if role == "assistant" else "user"
        wrong = side == before and role != "tool"
        yield (
            broken(pointer, f"a message of the role {role} follows one of the role {before}")
            if wrong
            else met(pointer)
        )
        before = side


add_feature_rules(
    perplexity,
    [
        UnsupportedFeature(
            "REQ-052",
            "Tools are sent only to models that support them.",
            ("sonar",),
            Refusal("Tool calling is not supported for this model"),
            ("https://github.com/pipecat-ai/pipecat/pull/4862",),
            functions(),
            body(ASK, model="sonar"),
            body(ASK, model="sonar", tools=[TOOL]),
        )
    ],
)
