"""Together: features that its models refuse. Each model runs on an engine with its own error texts.

`Prompt cannot be empty` is recorded for prompts that are not empty, so there is no rule for it.
"""

from __future__ import annotations

from ....observed.exchange import Json, Request
from ....readers.json_access import object_of
from ....readers.openai_chat import tools
from ....rulebook import NO_IMAGES, NO_TOOLS, UnsupportedFeature, add_feature_rules
from ..._openai.refusals import refused
from .._refusals_and_examples import ASK, IMAGE, TOOL, body
from ..features import a_part, functions
from ._elsewhere import elsewhere, refuses_images

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/maruel/genai/blob/6c6c18f3c029476c3cfb55b6d9d2f4f7e17af6f2/providers/"
    "togetherai/testdata/TestClient/Scoreboard/"
)
_OLDER = (
    "https://github.com/maruel/genai/blob/926c8ae1230988724dee875cd7af40cf46f9f3ca/providers/"
    "togetherai/testdata/TestClient/Scoreboard/"
)

together = elsewhere("together")

_VIDEO = {"type": "video_url", "video_url": {"url": "https://example.com/a.mp4"}}
_GEMMA = "google/gemma-3-27b-it"
_RNJ = "essentialai/rnj-1-instruct"
_TOOL: Json = {
    "type": "function",
    "function": {"name": "add", "parameters": {"$schema": "…", "type": "object", "properties": {}}},
}


def _named_schema(request: Request) -> str | None:
    """Finds a forced call with a function whose schema names its dialect."""
    named = any(
        "$schema" in object_of(object_of(tool.get("function")).get("parameters"))
        for _, tool in tools(request.body)
    )
    return "/tools" if named and request.body.get("tool_choice") == "required" else None


add_feature_rules(
    together,
    [
        refuses_images(
            "openai/gpt-oss*",
            "meta-llama/Llama-3.3*",
            example="openai/gpt-oss-120b",
            source="https://docs.together.ai/docs/vision-overview",
        ),
        UnsupportedFeature(
            "REQ-050",
            "Images are sent only to models that accept them.",
            ("deepcogito/cogito-v2*", "arcee-ai/trinity*", "essentialai/rnj*"),
            refused("{model}-FP8 is not a multimodal model None"),
            (
                "recorded refusals (cogito-v2-1-671b, trinity-mini, rnj-1-instruct)",
                f"{_TESTS}arcee-ai/trinity-mini/GenStreamMultiModal-Image-jpg-Inline.yaml",
            ),
            a_part("image_url", "video_url", "input_audio"),
            body(ASK, model=_RNJ),
            body({"role": "user", "content": [IMAGE]}, model=_RNJ),
            fix=NO_IMAGES,
        ),
        UnsupportedFeature(
            "REQ-051",
            "Videos are sent only to models that accept them.",
            ("google/gemma-3*",),
            refused("Unknown video model type: gemma3"),
            (
                "recorded refusal (gemma-3-27b-it)",
                f"{_OLDER}google/gemma-3-27b-it/GenSyncMultiModal-Video-mp4-Inline.yaml",
            ),
            a_part("video_url"),
            body({"role": "user", "content": [IMAGE]}, model=_GEMMA),
            body({"role": "user", "content": [_VIDEO]}, model=_GEMMA),
            fix="raise an error that names the model, or send some frames as images.",
        ),
        UnsupportedFeature(
            "REQ-053",
            "`logprobs` is a boolean.",
            ("google/gemma-3*",),
            refused(
                "[{{'type': 'bool_parsing', 'loc': ('body', 'logprobs'), 'msg': 'Input should be a valid boolean, unable to "
                "interpret input', 'input': 2}}]"
            ),
            ("recorded refusal (gemma-3-27b-it)", f"{_OLDER}google/gemma-3-27b-it/GenSync-TopLogprobs.yaml"),
            lambda request: "/logprobs" if request.body.get("logprobs") not in {None, True, False} else None,
            body(ASK, model=_GEMMA, logprobs=1),
            body(ASK, model=_GEMMA, logprobs=2),
            fix="send true or false, and the number of alternatives as `top_logprobs`.",
        ),
        UnsupportedFeature(
            "REQ-052",
            "Tools are sent only to models whose calls the server can parse.",
            ("google/gemma-3*", "deepcogito/cogito-v2*"),
            refused('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
            (
                "recorded refusals (gemma-3-27b-it, cogito-v2-1-671b)",
                f"{_OLDER}google/gemma-3-27b-it/GenSync-Tools-SquareRoot-1-any.yaml",
            ),
            functions("auto"),
            body(ASK, model=_GEMMA),
            body(ASK, model=_GEMMA, tools=[TOOL], tool_choice="auto"),
            fix=NO_TOOLS,
        ),
        UnsupportedFeature(
            "SCH-022",
            "The schema of a function that must be called has no `$schema`.",
            ("google/gemma-3*",),
            refused("The provided JSON schema contains features not supported by xgrammar."),
            (
                "recorded refusal (gemma-3-27b-it)",
                f"{_OLDER}google/gemma-3-27b-it/GenStream-Tools-SquareRoot-1.yaml",
            ),
            _named_schema,
            body(ASK, model=_GEMMA, tools=[TOOL], tool_choice="required"),
            body(ASK, model=_GEMMA, tools=[_TOOL], tool_choice="required"),
            fix="drop `$schema` from the schema.",
        ),
    ],
)
