"""vLLM: errors have their own form, and the arguments of calls are parsed for the model's template."""

from __future__ import annotations

from collections.abc import Mapping

from ....rule import Refusal
from ....rulebook import NO_IMAGES, UnsupportedFeature, add_feature_rules
from .._refusals_and_examples import ASK, IMAGE, MUST, REJECT, body, call, result
from ..features import a_part
from ._chat_templates import add_template_rules
from ._elsewhere import arguments_are_json, compact, elsewhere


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
            fix=NO_IMAGES,
        ),
    ],
)


vllm.rule(
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
)(arguments_are_json)

add_template_rules(vllm, lambda said: Refusal(said, type="BadRequestError"))
