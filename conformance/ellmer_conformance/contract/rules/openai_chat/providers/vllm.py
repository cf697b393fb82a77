"""vLLM: errors have their own form, and the arguments of calls are parsed for the model's template."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from ....observed.exchange import Request
from ....readers.json_access import object_of
from ....readers.openai_chat import calls_of, messages
from ....rule import Finding, Refusal, broken, met
from ....rulebook import UnsupportedFeature, add_feature_rules
from .._refusals_and_examples import ASK, IMAGE, MUST, REJECT, body, call, result
from ..features import a_part
from ._elsewhere import compact, elsewhere


def _numbered(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    error = {"message": refusal.message, "type": refusal.type, "param": refusal.param, "code": refusal.status}
    return compact({"error": error})


#: Recorded by others, in public.
_RECORDED = (
    "https://github.com/llamastack/llama-stack/blob/41cf79e6d2f7aea0e6fa6d3ab88eaf6c2c94888a/"
    "tests/integration/responses/recordings/"
)

vllm = elsewhere("vllm", error_body=_numbered)
_TEXT = "Qwen/Qwen3-0.6B"

add_feature_rules(
    vllm,
    [
        UnsupportedFeature(
            "REQ-050",
            "Images are sent only to models that accept them.",
            (_TEXT,),
            Refusal("{model} is not a multimodal model None", type="BadRequestError"),
            (
                "recorded refusal (Qwen3-0.6B)",
                f"{_RECORDED}422730f2fc4a33c28b7190398ff08c57b823131cf58f31844ac3b18d9b9e5ec4.json",
            ),
            a_part("image_url"),
            body(ASK, model=_TEXT),
            body({"role": "user", "content": [IMAGE]}, model=_TEXT),
        ),
    ],
)


@vllm.rule(
    "PAIR-021",
    MUST,
    REJECT,
    source=[
        "https://github.com/vllm-project/vllm/issues/43995",
        "https://github.com/vllm-project/vllm/issues/47761",
        "https://github.com/local-inference-lab/vllm/issues/684",
    ],
    refusal=Refusal("{text}", type="BadRequestError"),
    examples=[body(ASK, call("a"), result("a"))],
    counterexamples=[
        body(ASK, {"role": "assistant", "tool_calls": [{"function": {"name": "add", "arguments": "{"}}]})
    ],
)
def arguments_are_json(request: Request) -> Iterator[Finding]:
    """The arguments of a call are JSON, because the server parses them for its templates.

    Fix: send `{}` if the model wrote anything else.
    """
    for pointer, message in messages(request.body):
        for index, tool_call in enumerate(calls_of(message)):
            arguments = object_of(tool_call.get("function")).get("arguments")
            if isinstance(arguments, str) and arguments:
                place = f"{pointer}/tool_calls/{index}/function/arguments"
                error = _unparsed(arguments)
                yield broken(place, "it is not JSON", text=error) if error else met(place)


def _unparsed(text: str) -> str:
    """Returns the error of Python's JSON decoder for a text, or an empty string if the text is JSON."""
    try:
        json.loads(text)
    except ValueError as error:
        return str(error)
    return ""
