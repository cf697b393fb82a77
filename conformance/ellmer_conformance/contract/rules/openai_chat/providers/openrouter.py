"""OpenRouter: error bodies with a sentence and the status, for its own checks and those of the providers
behind it.

The rules of OpenAI are previews for `openai/…` models, because OpenRouter rewrites a request for the provider that it
chooses. Of 250 accepted requests of recorded projects, more than a hundred break OpenAI's own rules: with parameters of other
names, with `max_tokens`, `temperature` and `top_p` for reasoning models, and with files that have no name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date

from ....observed.exchange import Request
from ....readers.json_access import object_of
from ....readers.openai_chat import all_parts
from ....rule import Finding, Refusal, broken, met
from ....rulebook import NO_IMAGES, NO_TOOLS, UnsupportedFeature, add_feature_rules
from ..._openai.refusals import path, refused
from .._refusals_and_examples import ASK, IMAGE, MUST, REJECT, TOOL, body
from ..features import a_part, forced, functions
from ._capabilities import refusing_models
from ._elsewhere import compact, elsewhere

#: Recorded by others, in public.
_TESTS = (
    "https://github.com/agentjido/req_llm/blob/f722d38fac9656b1d34cf9954ea6c1c98d0670cd/test/"
    "support/fixtures/openrouter/"
)


def _numbered(refusal: Refusal) -> tuple[Mapping[str, str], bytes]:
    """Returns OpenRouter's error body: a sentence and the status, with the user's id if it is known. The body of a provider
    behind it, which alone has a parameter, is inside.
    """
    user = {} if refusal.status == 401 else {"user_id": "user_conformance"}
    error: dict[str, object] = {"message": refusal.message, "code": refusal.status}
    if refusal.param:
        about = {"type": refusal.type, "param": refusal.param, "code": refusal.code}
        raw = {"error": {"message": refusal.message, **about}}
        inner = {"raw": json.dumps(raw, indent=2), "provider_name": "Azure"}
        error = {"message": "Provider returned error", "code": refusal.status, "metadata": inner}
    return compact({"error": error} | user)


openrouter = elsewhere(
    "openrouter",
    error_body=_numbered,
    only=["REQ-003"],
    without=["IMG-037"],
    REQ_003={
        "source": (
            (
                "https://github.com/estiens/open_router_enhanced/blob/236f756d7d5a25700a8f8fec8f79cb2a32e821f6/spec/fixtures/"
                "vcr_cassettes/error_handling_parameter_validation.yml (gpt-3.5-turbo)"
            ),
        ),
        "formerly": (refused('Input required: specify "prompt" or "messages"'),),
    },
)

_LEARN = "To learn more about provider routing, visit: https://openrouter.ai/docs/guides/routing/provider-selection"
_GEMMA = "google/gemma-3-12b-it"
#: Recorded by others, in public.
_FORK = (
    "https://github.com/nschechter/req_llm/blob/6f2565237149841385f0933adf362521128d0b4b/test/"
    "support/fixtures/openrouter/"
)
_TOOLLESS = (
    "cognitivecomputations/dolphin3.0-mistral-24b",
    "deepseek/deepseek-r1-0528-qwen3-8b:free",
    "deepseek/deepseek-r1-0528:free",
    "deepseek/deepseek-r1:free",
    "google/gemma-2-9b-it:free",
    "google/gemma-3-27b-it",
    "google/gemma-3n-e4b-it:free",
    "microsoft/mai-ds-r1:free",
    "minimax/minimax-01",
    "mistralai/mistral-nemo:free",
    "moonshotai/kimi-dev-72b:free",
    "moonshotai/kimi-k2:free",
    "nousresearch/deephermes-3-llama-3-8b-preview",
    "qwen/qwen2.5-vl-32b-instruct:free",
    "qwen/qwen2.5-vl-72b-instruct:free",
    "qwen/qwen3-14b:free",
    "qwen/qwen3-30b-a3b:free",
    "qwen/qwen3-8b:free",
)

#: Models whose reasoning `reasoning.mandatory` in OpenRouter's list of models says to be always on.
_REASONING = (
    "google/gemini-3.7-flash*",
    "minimax/minimax-m2.5*",
    "stealth/ox-alpha*",
    "stepfun/step-3.5-flash*",
)


def _switched_off(request: Request) -> str | None:
    """Finds reasoning that is switched off."""
    asked = object_of(request.body.get("reasoning"))
    off = asked.get("enabled") is False or asked.get("effort") == "none"
    return "/reasoning" if off else None


add_feature_rules(
    openrouter,
    [
        UnsupportedFeature(
            "THK-017",
            "The reasoning of a model that always reasons is not switched off.",
            _REASONING,
            Refusal("Reasoning is mandatory for this endpoint and cannot be disabled."),
            (
                "https://github.com/elie222/rakazo/issues/114 (gemini-3.7-flash)",
                "https://github.com/musistudio/claude-code-router/issues/1215 (minimax-m2.5)",
                "https://github.com/musistudio/claude-code-router/issues/1238 (step-3.5-flash)",
                "https://github.com/earendil-works/pi/issues/8454 (ox-alpha, effort `none`)",
            ),
            _switched_off,
            body(ASK, model="google/gemini-3.7-flash", reasoning={"effort": "low"}),
            body(ASK, model="google/gemini-3.7-flash", reasoning={"enabled": False}),
            fix="leave the switch out for these models, or set a low effort.",
        ),
        UnsupportedFeature(
            "REQ-052",
            "Tools are sent only to models that a provider serves with tools.",
            (
                "google/gemma-3-12b*",
                "google/gemma-3-4b*",
                "meta-llama/llama-guard-4-12b*",
                "perplexity/*",
                *refusing_models("openrouter", "tools", "support tool use"),
            ),
            Refusal(
                "No endpoints found that support tool use. To learn more about provider routing, visit: "
                "https://openrouter.ai/docs/provider-routing",
                404,
            ),
            (
                "recorded refusal (gemma-3-12b-it)",
                f"{_TESTS}google_gemma_3_12b_it/no_tool.json",
                "https://github.com/Kilo-Org/kilocode/issues/9006 (llama-guard-4-12b)",
                "https://github.com/home-assistant/home-assistant.io/issues/41145 (perplexity)",
            ),
            functions(),
            body(ASK, model=_GEMMA),
            body(ASK, model=_GEMMA, tools=[TOOL]),
            formerly=(
                Refusal(f"No endpoints found that support tool use. {_LEARN}", 404),
                Refusal(
                    'No endpoints found that support tool use. Try disabling "{value[0][function][name]}". '
                    + _LEARN,
                    404,
                ),
            ),
            fix=NO_TOOLS,
        ),
        UnsupportedFeature(
            "REQ-056",
            "In the autumn of 2025, tools were sent only to models that a provider served with tools.",
            _TOOLLESS,
            Refusal(
                "No endpoints found that support tool use. To learn more about provider routing, visit: "
                "https://openrouter.ai/docs/provider-routing",
                404,
            ),
            (
                "recorded refusals of each model",
                f"{_TESTS}google_gemma_3_27b_it/object_streaming.json",
                f"{_FORK}minimax_minimax_01/multi_tool.json",
                f"{_TESTS}deepseek_deepseek_r1_0528_free/object_streaming.json",
            ),
            functions(),
            body(ASK, model="moonshotai/kimi-k2:free"),
            body(ASK, model="moonshotai/kimi-k2:free", tools=[TOOL]),
            since=date(2025, 10, 1),
            until=date(2026, 1, 1),  # the providers behind a model change, and nobody recorded it later
            fix=NO_TOOLS,
        ),
        UnsupportedFeature(
            "REQ-057",
            "In the autumn of 2025, GPT-5 Image had only the temperature 1.",
            ("openai/gpt-5-image",),
            refused(
                "Unsupported parameter: 'temperature' is not supported with this model.", param="temperature"
            ),
            ("recorded refusals (gpt-5-image)", f"{_FORK}openai_gpt_5_image/basic.json"),
            lambda request: None if request.body.get("temperature") in (None, 1) else "/temperature",
            body(ASK, model="openai/gpt-5-image", temperature=1),
            body(ASK, model="openai/gpt-5-image", temperature=0),
            since=date(2025, 10, 1),
            until=date(2026, 1, 1),  # OpenRouter rewrites requests, and nobody recorded it later
            fix="leave `temperature` out for this model.",
        ),
        UnsupportedFeature(
            "REQ-054",
            "A tool choice is sent only to models that a provider serves with it.",
            ("mistralai/mistral-7b-instruct:free",),
            Refusal(
                "No endpoints found that support the provided 'tool_choice' value. To learn more about provider routing, "
                "visit: https://openrouter.ai/docs/provider-routing",
                404,
            ),
            (
                "recorded refusal (mistral-7b-instruct:free)",
                f"{_TESTS}mistralai_mistral_7b_instruct_free/object_streaming.json",
            ),
            forced,
            body(ASK, model="mistralai/mistral-7b-instruct:free", tools=[TOOL]),
            body(ASK, model="mistralai/mistral-7b-instruct:free", tools=[TOOL], tool_choice="required"),
            fix="leave `tool_choice` out for these models.",
        ),
        UnsupportedFeature(
            "REQ-055",
            "A tool choice is sent only to models that a provider serves with it. Since 2026, the error has other words.",
            ("qwen/qwen3.5-122b-a10b", "qwen/qwen3.5-35b-a3b"),
            Refusal(
                "No endpoints found that support the provided 'tool_choice' value. To learn more about provider routing, "
                "visit: https://openrouter.ai/docs/guides/routing/provider-selection",
                404,
            ),
            (
                "recorded refusals (qwen3.5-122b-a10b, qwen3.5-35b-a3b)",
                (
                    "https://github.com/maruel/genai/blob/effe0e55f9be27a58634c99cd40ffac2d4b31b79/"
                    "providers/openrouter/testdata/TestClient/Scoreboard/qwen/qwen3.5-35b-a3b_thinking/GenSync-Tools-SquareRoot-1.yaml"
                ),
            ),
            forced,
            body(ASK, model="qwen/qwen3.5-35b-a3b", tools=[TOOL], tool_choice="auto"),
            body(ASK, model="qwen/qwen3.5-35b-a3b", tools=[TOOL], tool_choice="required"),
            fix="leave `tool_choice` out for these models.",
        ),
        UnsupportedFeature(
            "REQ-050",
            "Images are sent only to models that accept them.",
            (
                "deepseek/deepseek-v4*",
                "deepseek/deepseek-r1*",
                "openai/gpt-oss*",
                "meta-llama/llama-3.[13]-*",
            ),
            Refusal("No endpoints found that support image input", 404),
            (
                "https://github.com/NousResearch/hermes-agent/pull/23411 (deepseek-v4-pro)",
                "https://openrouter.ai/docs/guides/overview/models (which models take images)",
            ),
            a_part("image_url"),
            body(ASK, model="deepseek/deepseek-v4-pro"),
            body({"role": "user", "content": [IMAGE]}, model="deepseek/deepseek-v4-pro"),
            fix=NO_IMAGES,
        ),
    ],
)


def _file(model: str = "openai/gpt-4o", **file: str) -> dict[str, object]:
    part = {"type": "file", "file": {"file_data": "https://example.com/a.pdf", **file}}
    return body({"role": "user", "content": [part]}, model=model)


@openrouter.rule(
    "IMG-037",
    MUST,
    REJECT,
    source="https://github.com/activeagents/activeagent/blob/9881cf2c6573deb5b35fefab324c77467a4a1139/test/fixtures/"
    "vcr_cassettes/openrouter_pdf_remote_no_plugin.yml (openai/gpt-4o)",
    refusal=refused(
        "Missing required parameter: '{path}'.", code="missing_required_parameter", param="{path}"
    ),
    models=["openai/gpt-4o*"],
    examples=[
        _file(filename="a.pdf"),
        _file(file_name="a.pdf"),
        {**_file(), "plugins": [{"id": "file-parser"}]},
        _file(model="google/gemini-2.5-flash"),
    ],
    counterexamples=[_file()],
)
def files_have_names(request: Request) -> Iterator[Finding]:
    """A file for a model of OpenAI has a name, unless a plugin of OpenRouter reads it.

    Why: without a plugin, the file is passed on as it is. Fix: send the file's own name, or make one such as
    `document.pdf`.
    """
    for pointer, part in () if request.body.get("plugins") else all_parts(request.body):
        file, place = object_of(part.get("file")), f"{pointer}/file"
        if "file_data" in file:
            named = file.keys() & {"file_id", "filename", "file_name"}
            yield met(place) if named else broken(place, "it has no name", path=f"{path(place)}.file_id")
