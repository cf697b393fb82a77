"""Fireworks: error fields are at the top level, unknown fields are refused, and text models accept no images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ....observed.exchange import Request
from ....readers.json_access import object_of
from ....readers.openai_chat import tools
from ....rule import Finding, Refusal, broken, met
from ....rulebook import NO_IMAGES, UnsupportedFeature, add_feature_rules
from ..._openai.refusals import refused
from ..._references import dangling
from .._refusals_and_examples import ASK, IMAGE, MUST, REJECT, body
from ..features import a_part
from ._elsewhere import compact, elsewhere


def _bare(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    fields = {"object": "error", "type": refusal.type, "code": refusal.code, "message": refusal.message}
    return compact(fields)


def _refused(message: str) -> Refusal:
    return refused(message, code="invalid_request_error")


#: Fields of other APIs that Fireworks refused.
FOREIGN = frozenset({"promptCacheKey", "vl_high_resolution_images"})
_OSS = "accounts/fireworks/models/gpt-oss-120b"

fireworks = elsewhere("fireworks", error_body=_bare)


@fireworks.rule(
    "REQ-004",
    MUST,
    REJECT,
    source=[
        "https://github.com/anomalyco/opencode/issues/4386 (promptCacheKey)",
        "https://github.com/web-infra-dev/midscene/issues/1322 (vl_high_resolution_images)",
    ],
    refusal=_refused("Extra inputs are not permitted, field: '{key}', value: {value!r}"),
    formerly=[_refused("Extra inputs are not permitted, field: '{key}', value: {value!r}.")],
    examples=[body(ASK, model=_OSS, prompt_cache_key="a")],
    counterexamples=[body(ASK, model=_OSS, promptCacheKey="a")],
)
def there_are_no_fields_of_others(request: Request) -> Iterator[Finding]:
    """The request has no options of other providers, such as `vl_high_resolution_images`.

    Fix: leave out the field that the error names.
    """
    for key, value in request.body.items():
        problem = f"`{key}` is not a parameter"
        wrong = key in FOREIGN
        yield broken(f"/{key}", problem, key=key, value=value) if wrong else met(f"/{key}")


def _lost(request: Request) -> str | None:
    """Returns the place of the first reference in the schema of a function that leads nowhere."""
    for pointer, tool in tools(request.body):
        for place, _ in dangling(object_of(tool.get("function")).get("parameters")):
            return "/".join([f"{pointer}/function/parameters", *place, "$ref"])
    return None


_NODE = {"type": "object", "properties": {"x": {"$ref": "#/$defs/X"}}}


def _tool(**schema: object) -> dict[str, object]:
    return {"type": "function", "function": {"name": "add", "parameters": {**_NODE, **schema}}}


add_feature_rules(
    fireworks,
    [
        UnsupportedFeature(
            "SCH-024",
            "Every `$ref` in the schema of a function leads to a definition.",
            (),
            _refused(
                "Error resolving schema reference '{value}': AttributeError(\"'NoneType' object has no attribute 'lookup'\")"
            ),
            (
                "https://github.com/BerriAI/litellm/issues/26692",
                "https://github.com/NousResearch/hermes-agent/issues/56979",
            ),
            _lost,
            body(ASK, model=_OSS, tools=[_tool(**{"$defs": {"X": {"type": "string"}}})]),
            body(ASK, model=_OSS, tools=[_tool()]),
            fix="keep `$defs` in the schema, or write each definition where it is used.",
        ),
        UnsupportedFeature(
            "REQ-050",
            "Images are sent only to models that accept them.",
            ("*/kimi-k2-instruct*", "*/gpt-oss-*"),
            _refused(
                "Cannot preprocess image len(combined_imgs) = 1, len(image_ranges) = 0, please provide valid images"
            ),
            (
                "https://github.com/pydantic/pydantic-ai/issues/2424 (kimi-k2-instruct)",
                "https://docs.fireworks.ai/guides/querying-vision-language-models (gpt-oss is none of them)",
            ),
            a_part("image_url"),
            body(ASK, model=_OSS),
            body({"role": "user", "content": [IMAGE]}, model=_OSS),
            fix=NO_IMAGES,
        ),
    ],
)
