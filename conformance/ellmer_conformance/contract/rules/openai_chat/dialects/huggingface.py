"""Hugging Face: messages that are not a list are refused in plain text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ....exchange import Request
from ....rule import Finding, Refusal, broken, met
from ..._lacks import Lack, enter
from ..._openai.refusals import envelope
from .._features import a_part
from .._rulebook import ASK, IMAGE, MUST, REJECT, body
from . import compact, elsewhere

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/maruel/genai/blob/66b63e62283f032dc40f348b3a9885221bad394e/providers/"
    "huggingface/testdata/TestClient/Scoreboard/"
)

_CHECK = "Invalid request. Please check the parameters"  # a provider behind the router


def _plain(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    if refusal.message.startswith(_CHECK):
        return compact({"detail": refusal.message})
    if refusal.status == 422:
        return {"content-type": "text/plain; charset=utf-8"}, refusal.message.encode(
            "utf-8", "backslashreplace"
        )
    return envelope(None)(refusal)


huggingface = elsewhere("huggingface", without=["REQ-003"], envelope=_plain)


@huggingface.rule(
    "REQ-003",
    MUST,
    REJECT,
    source="recorded refusal (Meta-Llama-3-70B-Instruct)",
    refusal=Refusal(
        "Failed to deserialize the JSON body into the target type: messages: invalid type: string {value}, expected a "
        "sequence at line 1 column 91",
        status=422,
    ),
    examples=[body(ASK)],
    counterexamples=[{"model": "meta-llama/Meta-Llama-3-70B-Instruct", "messages": "Hi"}],
)
def messages_are_a_list(request: Request) -> Iterator[Finding]:
    """`messages` is a list."""
    value = request.body.get("messages")
    text = isinstance(value, str)
    yield broken("/messages", "it is a string", value=json.dumps(value)) if text else met("/messages")


_QWEN = "Qwen/Qwen3-4B"

enter(
    huggingface,
    [
        Lack(
            "REQ-050",
            "An image goes to a model that sees.",
            ("Qwen/Qwen3-4B",),
            Refusal(_CHECK + " and try again. Details: /model-storage/{model}-FP8 is not a multimodal model"),
            (
                "recorded refusal (Qwen3-4B)",
                f"{_TESTS}Qwen/Qwen3-4B_thinking/GenSyncMultiModal-Image-jpg-URL.yaml",
            ),
            a_part("image_url"),
            body(ASK, model=_QWEN),
            body({"role": "user", "content": [IMAGE]}, model=_QWEN),
        ),
    ],
)
