"""Other providers of Responses, and the known facts about them."""

from __future__ import annotations

from collections.abc import Iterator

from ...observed.exchange import Request
from ...readers.openai_responses import items, type_of
from ...rule import Finding, Refusal, broken, met
from ...rulebook import RuleBook
from .._openai.refusals import flat_error_body
from ._refusals_and_examples import ASK, MUST, OWN, REJECT, body, book, call, output
from .codex import CODEX
from .llamacpp import LLAMACPP
from .perplexity import PERPLEXITY

UNSEEN = Refusal(
    "No tool output found for tool call {id}.", type="invalid_request_error", code="invalid_request_error"
)

DEEPSEEK = book.extend(
    "deepseek",
    only=["PAIR-001"],
    without=OWN,
    PAIR_001={"refusal": UNSEEN, "examples": (body(ASK, call("a"), output("a")),)},
)


@DEEPSEEK.rule(
    "ORD-004",
    MUST,
    REJECT,
    source="recorded refusal (deepseek-v4-flash)",
    refusal=UNSEEN,
    examples=[body(ASK, call("a"), call("b"), output("a"), output("b"))],
    counterexamples=[
        body(ASK, call("a"), {"role": "assistant", "content": "…"}, call("b"), output("a"), output("b"))
    ],
)
def batches_are_whole(request: Request) -> Iterator[Finding]:
    """Parallel calls are next to each other, and their outputs come directly after them.

    Why: OpenAI accepts outputs anywhere, but DeepSeek only after the calls. Fix: send text first, then all
    calls, then all outputs.
    """
    found = list(items(request.body))
    for index, (pointer, item) in enumerate(found):
        if type_of(item) == "function_call":
            batch = index
            while batch < len(found) and type_of(found[batch][1]) == "function_call":
                batch += 1
            outputs = []
            while batch < len(found) and type_of(found[batch][1]) == "function_call_output":
                outputs.append(found[batch][1].get("call_id"))
                batch += 1
            id = item.get("call_id")
            yield (
                met(pointer)
                if id in outputs
                else broken(pointer, f"the output of {id!r} does not follow the calls", id=id)
            )


AZURE = book.extend("azure", REQ_004={"preview": True}, REQ_101={"preview": True}, REQ_144={"preview": True})


XAI = book.extend("xai", only=[], without=OWN, error_body=flat_error_body)


@XAI.rule(
    "REQ-138",
    MUST,
    REJECT,
    source=[
        "https://github.com/10-X-eng/vibecad/issues/4",
        "https://reference.langchain.com/javascript/langchain-xai/XAIResponsesCreateParams (`instructions`)",
    ],
    refusal=Refusal("Argument not supported: instructions and previous_response_id together", code="400"),
    examples=[
        body(ASK, instructions="Be brief."),
        body(ASK, previous_response_id="resp_0"),
    ],
    counterexamples=[body(ASK, instructions="Be brief.", previous_response_id="resp_0")],
)
def instructions_are_not_repeated(request: Request) -> Iterator[Finding]:
    """A request that names an earlier answer (`previous_response_id`) has no `instructions`.

    Why: OpenAI takes both, and forgets earlier instructions. Fix: send a system message in the first request of the
    conversation.
    """
    both = bool(request.body.get("instructions") and request.body.get("previous_response_id"))
    if request.body.get("previous_response_id"):
        yield broken("/instructions", "it stands beside an earlier answer") if both else met("/instructions")


#: Those whose rules are known, besides the format's own provider.
PROVIDERS = ("azure", "codex", "deepseek", "llamacpp", "perplexity", "xai")


def book_of(provider: str) -> RuleBook:
    """Returns the rules of a provider. Refusals by others are not known."""
    if provider in {"", book.provider}:
        return book
    books = {
        "azure": AZURE,
        "codex": CODEX,
        "deepseek": DEEPSEEK,
        "llamacpp": LLAMACPP,
        "perplexity": PERPLEXITY,
        "xai": XAI,
    }
    return books.get(provider) or book.extend(provider, only=[], without=OWN)
