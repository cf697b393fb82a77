"""Perplexity: user and assistant alternate, and error bodies repeat the status."""

from __future__ import annotations

from collections.abc import Iterator

from ....observed.exchange import Request
from ....readers.openai_chat import messages
from ....rule import Finding, Refusal, broken, met
from ....rulebook import NO_TOOLS, UnsupportedFeature, add_feature_rules
from ..._openai.refusals import coded_error_body
from .._refusals_and_examples import ASK, MUST, REJECT, TOOL, body
from ..features import functions
from ._chat_templates import sides_alternate
from ._elsewhere import elsewhere

perplexity = elsewhere("perplexity", error_body=coded_error_body)
#: Recorded by others in public, in December 2024.
_RECORDED = "https://github.com/withmartian/llm-adapters/blob/"
_LLAMA = "test_async%5Bperplexity-meta-llama-llama-3.1-8b-instruct%5D.yaml"


def _misordered(what: str) -> Refusal:
    return Refusal(f"After the (optional) system message(s), {what}", type="invalid_message", code=400)


perplexity.rule(
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
)(sides_alternate)


@perplexity.rule(
    "ORD-016",
    MUST,
    REJECT,
    source=f"{_RECORDED}4818c22a48d2fe3a3397aed748aeb493f8047ca0/tests/adapters/assistant/cassettes/test_assistant_last/{_LLAMA}",
    refusal=Refusal("Last message must have role `user`.", type="invalid_message", code=400),
    examples=[body({"role": "system", "content": "Be brief."}, ASK)],
    counterexamples=[body(ASK, {"role": "assistant", "content": "5"})],
)
def the_user_speaks_last(request: Request) -> Iterator[Finding]:
    """The last message is one of the user, or the result of a tool.

    Fix: leave a last assistant message out, or send it as a part of the question.
    """
    for pointer, message in [*messages(request.body)][-1:]:
        role = message.get("role")
        ends = role in ("user", "tool")
        yield met(pointer) if ends else broken(pointer, f"the last message has the role {role}")


@perplexity.rule(
    "REQ-147",
    MUST,
    REJECT,
    source=f"{_RECORDED}4e366a1775a8e736aac2afb5951b2787f0c50134/tests/adapters/cassettes/test_stop/{_LLAMA}",
    refusal=Refusal(
        "custom stop words are not implemented for completions.", type="unsupported_parameter", code=400
    ),
    examples=[body(ASK, stop=None)],
    counterexamples=[body(ASK, stop="\n"), body(ASK, stop=["\n"])],
)
def there_are_no_stop_words(request: Request) -> Iterator[Finding]:
    """A request has no stop sequences.

    Fix: leave `stop` out, or cut the answer yourself.
    """
    if "stop" in request.body:
        given = request.body["stop"] not in (None, [])
        yield broken("/stop", "the API has no stop sequences") if given else met("/stop")


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
            fix=NO_TOOLS,
        )
    ],
)
