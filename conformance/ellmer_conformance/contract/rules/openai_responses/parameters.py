"""Options: their ranges, those that exclude each other, and those that a model refuses."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from ...observed.exchange import Request
from ...readers.json_access import items_of, object_of
from ...readers.openai_responses import items, type_of
from ...rule import Finding, broken, met
from ...scope import matches
from .._media import redacted
from .._openai.refusals import (
    LAZY,
    OUT_OF_RANGE,
    REASONING,
    RESPONSES_EFFORTS,
    THINKING,
    TRUTH,
    WORDED,
    choices,
    enter_client_keys,
    enter_flex,
    enter_metadata,
    listed,
    misfits,
    ranges,
    refused,
)
from ._refusals_and_examples import ASK, MUST, REJECT, body, book

# The values of an option that each model accepts, from its refusals and its pages. Other models are not checked.
CHOICES = {
    ("reasoning", "effort"): RESPONSES_EFFORTS,
    ("reasoning", "context"): {"o3": "auto current_turn"},
    ("text", "verbosity"): dict.fromkeys(
        ("gpt-5.1-codex-max", "gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano", "gpt-4o", "gpt-4o-mini"), "medium"
    ),
}
LOGPROBS = "message.output_text.logprobs"
#: Models that always reason, beside those of `REASONING`.
_ALWAYS = ("gpt-5-pro*", "gpt-5.2-pro*", "gpt-5.4-pro*", "gpt-5.5", "gpt-5.5-pro*", "gpt-5.[123]-chat-latest")
_NO_CHAT = ("!gpt-5-chat*", "!gpt-5.[4-9]-chat*", "!gpt-6*chat*")  # nobody recorded what these take
_GENAI = "https://github.com/maruel/genai/blob/"  # recorded by others, in public
_BOARD = "providers/openairesponses/testdata/TestClient/Scoreboard/"
KINDS = {
    "max_output_tokens": "an integer",
    "temperature": "a decimal",
    "top_p": "a decimal",
    "top_logprobs": "an integer",
    "stream": "a boolean",
    "store": "a boolean",
    "background": "a boolean",
    "parallel_tool_calls": "a boolean",
}


@book.rule(
    "REQ-013",
    MUST,
    REJECT,
    source="recorded refusals (gpt-4o, o1-mini)",
    refusal=OUT_OF_RANGE,
    examples=[body(ASK, temperature=2, max_output_tokens=16)],
    counterexamples=[body(ASK, temperature=-1), body(ASK, max_output_tokens=10)],
)
def numbers_are_in_range(request: Request) -> Iterator[Finding]:
    """Numeric options are in range: `temperature` 0 to 2, `top_p` 0 to 1, `top_logprobs` 0 to 20,
    `max_output_tokens` at least 16.

    Fix: check the caller's value before the request, and name the range in your error.
    """
    bounds = {
        "temperature": (0.0, 2.0),
        "top_p": (0.0, 1.0),
        "top_logprobs": (0, 20),
        "max_output_tokens": (16, 2**31),
    }
    yield from ranges(request.body, bounds)


@book.rule(
    "REQ-014",
    MUST,
    REJECT,
    source="https://github.com/openai/openai-openapi (CreateResponse)",
    refusal=refused(
        "Mutually exclusive parameters. Ensure you are only providing one of: 'previous_response_id' or "
        "'conversation'.",
        code="mutually_exclusive_parameters",
    ),
    preview=True,  # the reference says so; no refusal is on record
    examples=[body(ASK, previous_response_id="resp_1")],
    counterexamples=[body(ASK, previous_response_id="resp_1", conversation="conv_1")],
)
def one_thing_is_continued(request: Request) -> Iterator[Finding]:
    """A request sets `previous_response_id` or `conversation`, not both.

    Fix: keep one of the two for a conversation.
    """
    found = [key for key in ("previous_response_id", "conversation") if request.body.get(key)]
    if found:
        yield (
            broken(f"/{found[-1]}", "the request continues a response and a conversation")
            if len(found) > 1
            else met(f"/{found[0]}")
        )


@book.rule(
    "REQ-017",
    MUST,
    REJECT,
    source=[
        "recorded refusal of temperature (gpt-5-mini)",
        "https://github.com/lfnovo/open-notebook/issues/107",
        "https://github.com/hotovo/aider-desk/issues/427 (gpt-5-codex)",
        "https://github.com/epam/ai-dial-chat/issues/8538 (gpt-5.1-codex)",
        "https://github.com/AnswerDotAI/shell_sage/issues/77 (gpt-5.2-codex)",
        "https://github.com/BerriAI/litellm/pull/39631 (gpt-6-astra)",
        f"{TRUTH}gpt-5.5%5D.yaml",
        f"{TRUTH}gpt-5.5-pro%5D.yaml",
        f"{TRUTH}gpt-5.3-chat-latest%5D.yaml",
    ],
    refusal=refused("Unsupported parameter: '{key}' is not supported with this model.", param="{key}"),
    models=[*REASONING, "gpt-5*-codex*", *_ALWAYS, *THINKING, *_NO_CHAT],
    examples=[body(ASK, model="gpt-5-mini", top_p=1), body(ASK, model="gpt-5.3-codex", temperature=0.5)],
    counterexamples=[
        body(ASK, model="gpt-5-mini", temperature=0),
        body(ASK, model="gpt-5", top_p=0.5),
        body(ASK, model="gpt-6-astra", temperature=0),
        body(ASK, model="gpt-5.4-pro", temperature=0.5),
        body(ASK, model="gpt-5.2-chat-latest", temperature=0.5),
    ],
)
def reasoning_models_are_not_sampled(request: Request) -> Iterator[Finding]:
    """While a model reasons, `temperature` and `top_p` are 1 or not set.

    GPT-5.6, GPT-6 Sol and GPT-6 Luna accept them with `reasoning.effort: "none"`. GPT-5.3 Codex does not reason if no
    effort is set. Fix: leave `temperature` and `top_p` out for these models.
    """
    lazy = request.model.startswith("gpt-5.3-codex")
    if (_effort(request) or ("none" if lazy else "")) == "none":
        yield met("/reasoning/effort")
        return
    for key in ("temperature", "top_p"):
        set_to = request.body.get(key) not in (None, 1)
        yield broken(f"/{key}", f"this model has no {key}", key=key) if set_to else met("/model")


@book.rule(
    "REQ-018",
    MUST,
    REJECT,
    source=[
        "recorded refusals of fourteen models",
        "https://github.com/anomalyco/opencode/issues/4451",
        "https://github.com/Laisky/one-api/issues/266",
        "https://github.com/farion1231/cc-switch/pull/7370",
        "https://github.com/openai/codex/issues/9035",
        "https://github.com/experientiallabs/experiential/issues/764 (gpt-5.6-luna)",
        "https://github.com/BerriAI/litellm-docs/pull/1173 (gpt-6-astra)",
        "https://developers.openai.com/api/docs/models/gpt-6.1-terra",
        "https://developers.openai.com/api/docs/models/gpt-6-sol",
        "https://developers.openai.com/api/docs/models/gpt-6.2-sol",
        "https://developers.openai.com/api/docs/guides/latest-model/gpt-5.6",
        "https://github.com/bolna-ai/bolna/pull/852 (gpt-5.2, gpt-5.4 and gpt-5.6, minimal)",
    ],
    refusal=refused(
        "Unsupported value: '{value}' is not supported with the '{model}' model. Supported values are: {known}.",
        code="unsupported_value",
        param="{path}",
    ),
    examples=[
        body(ASK, model="gpt-5", reasoning={"effort": "low"}),
        body(ASK, model="gpt-6-luna", reasoning={"effort": "max"}),
    ],
    counterexamples=[
        body(ASK, model="gpt-5", reasoning={"effort": "none"}),
        body(ASK, model="gpt-5.1", reasoning={"effort": "minimal"}),
        body(ASK, model="o4-mini", reasoning={"effort": "minimal"}),
        body(ASK, model="gpt-5-pro", reasoning={"effort": "low"}),
        body(ASK, model="gpt-6-astra", reasoning={"effort": "none"}),
        body(ASK, model="gpt-6-sol", reasoning={"effort": "minimal"}),
        body(ASK, model="gpt-6.2-sol", reasoning={"effort": "none"}),
        body(ASK, model="o3", reasoning={"context": "all_turns"}),
        body(ASK, model="gpt-5.1-codex-max", text={"verbosity": "low"}),
        body(ASK, model="gpt-4.1-mini", text={"verbosity": "low"}),
    ],
)
def the_choice_is_the_models(request: Request) -> Iterator[Finding]:
    """The effort, the verbosity and the reasoning context are values that the model supports.

    Fix: send a value that the error lists, and keep a table of them for each model.
    """
    for (outer, inner), models in CHOICES.items():
        value, place = object_of(request.body.get(outer)).get(inner), f"/{outer}/{inner}"
        known = choices(request.model, models)
        if isinstance(value, str) and known:
            facts = {
                "value": value,
                "model": request.model,
                "known": listed(known),
                "path": f"{outer}.{inner}",
            }
            yield met(place) if value in known else broken(place, f"this model has no {value!r}", **facts)


@book.rule(
    "REQ-015",
    MUST,
    REJECT,
    source="recorded refusal (gpt-5-chat-latest)",
    refusal=refused(
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
        code="unsupported_parameter",
        param="reasoning.effort",
    ),
    models=["gpt-3.5*", "gpt-4*", "gpt-5-chat*"],
    examples=[body(ASK, model="gpt-4.1-mini")],
    counterexamples=[body(ASK, model="gpt-5-chat-latest", reasoning={"effort": "low"})],
)
def chat_models_do_not_reason(request: Request) -> Iterator[Finding]:
    """A model that does not reason does not accept a reasoning effort.

    Fix: leave `reasoning` out for these models.
    """
    asked = _effort(request) is not None
    yield broken("/reasoning/effort", "this model does not reason") if asked else met("/model")


@book.rule(
    "REQ-016",
    MUST,
    REJECT,
    source=[
        "recorded refusal (gpt-5.6-sol)",
        "https://github.com/vllm-project/vllm/pull/23319 (gpt-5-mini, include)",
        f"{_GENAI}0abc5936c9319c625a44baeebc03559210125002/{_BOARD}gpt-5.4_thinking/GenSync-TopLogprobs.yaml",
        f"{_GENAI}3e2e13c153271d9739cca6e9b421c38f8761dcde/{_BOARD}gpt-5.5_thinking/GenSync-TopLogprobs.yaml",
        "https://developers.openai.com/api/docs/guides/deployment-checklist (the GPT-6 family)",
    ],
    refusal=refused(
        "logprobs are not supported with reasoning models.",
        code="unsupported_parameter",
        param="{key}",
    ),
    models=[*REASONING, *LAZY, "gpt-5.5", "gpt-5.2-chat-latest", *THINKING, *_NO_CHAT],
    examples=[
        body(ASK, model="gpt-5-mini"),
        body(ASK, model="gpt-5.4", top_logprobs=2),
        body(ASK, model="gpt-6-sol", top_logprobs=2, reasoning={"effort": "none"}),
    ],
    counterexamples=[
        body(ASK, model="gpt-5.6-sol", top_logprobs=2),
        body(ASK, model="gpt-6-astra", include=[LOGPROBS]),
        body(ASK, model="gpt-5.4-mini", top_logprobs=2, reasoning={"effort": "medium"}),
    ],
)
def reasoning_models_have_no_logprobs(request: Request) -> Iterator[Finding]:
    """A model that reasons does not return log probabilities, neither by `top_logprobs` nor by `include`.

    GPT-5.6, GPT-6 Sol and GPT-6 Luna return them with `reasoning.effort: "none"`, which is what GPT-5.4 does if no
    effort is set. Fix: leave `top_logprobs` and the entry of `include` out for these models.
    """
    included = LOGPROBS in items_of(request.body.get("include"))
    key = "include" if included else "top_logprobs"
    lazy = any(matches(request.model, pattern) for pattern in LAZY)
    thinks = (_effort(request) or ("none" if lazy else "")) != "none"
    asked = (included or bool(request.body.get("top_logprobs"))) and thinks
    problem = "this model does not return log probabilities while it reasons"
    yield broken(f"/{key}", problem, key=key) if asked else met("/model")


def _effort(request: Request) -> str | None:
    effort = object_of(request.body.get("reasoning")).get("effort")
    return effort if isinstance(effort, str) else None


@book.rule(
    "REQ-034",
    MUST,
    REJECT,
    source="https://github.com/openai/openai-openapi (CreateResponse)",
    refusal=WORDED,
    examples=[body(ASK, temperature=1, store=False, max_output_tokens=None)],
    counterexamples=[body(ASK, temperature="0.5"), body(ASK, stream="yes")],
)
def options_have_their_types(request: Request) -> Iterator[Finding]:
    """Every option has its declared type: numbers are not strings, and counts are whole numbers.

    Fix: convert values that come from configuration files and environment variables before you send them.
    """
    yield from misfits(request.body, KINDS)


enter_client_keys(book, body, ASK)
enter_metadata(book, body, ASK)
enter_flex(book, body, ASK)


@book.rule(
    "REQ-043",
    MUST,
    REJECT,
    source="https://github.com/microsoft/agent-framework/issues/7483",
    refusal=refused("Encrypted content is not supported with this model.", param="include"),
    models=["gpt-3.5*", "gpt-4*", "gpt-5-chat*"],
    examples=[body(ASK, model="gpt-4.1", include=["web_search_call.action.sources"])],
    counterexamples=[body(ASK, model="gpt-4.1", include=["reasoning.encrypted_content"])],
)
def who_does_not_think_encrypts_nothing(request: Request) -> Iterator[Finding]:
    """Encrypted reasoning is requested only from reasoning models.

    Fix: add `reasoning.encrypted_content` to `include` only for reasoning models.
    """
    asked = "reasoning.encrypted_content" in items_of(request.body.get("include"))
    yield broken("/include", "this model has no thoughts") if asked else met("/model")


@book.rule(
    "REQ-037",
    MUST,
    REJECT,
    source="https://github.com/BerriAI/litellm/issues/5803 (Chat Completions, whose validator is the same)",
    refusal=refused(
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param="stream_options"
    ),
    examples=[body(ASK, stream=True, stream_options={"include_obfuscation": False})],
    counterexamples=[body(ASK, stream_options={"include_obfuscation": False})],
)
def stream_options_are_of_streams(request: Request) -> Iterator[Finding]:
    """`stream_options` requires `stream`.

    Fix: set `stream_options` only together with `stream: true`.
    """
    if request.body.get("stream_options"):
        place = "/stream_options"
        streamed = request.body.get("stream") is True
        yield met(place) if streamed else broken(place, "the request has `stream_options` and no `stream`")


@book.rule(
    "REQ-075",
    MUST,
    REJECT,
    source="https://github.com/continuedev/continue/issues/11494 (the ids of items)",
    refusal=refused(
        "Invalid 'previous_response_id': '{id}'. Expected an ID that begins with 'resp'.",
        code="invalid_value",
        param="previous_response_id",
    ),
    examples=[body(ASK, previous_response_id="resp_1")],
    counterexamples=[body(ASK, previous_response_id="chatcmpl-1")],
)
def a_response_is_continued(request: Request) -> Iterator[Finding]:
    """`previous_response_id` is the id of a response: `resp…`.

    Fix: send the `id` of the response itself, and not that of a message or of a conversation.
    """
    id, place = request.body.get("previous_response_id"), "/previous_response_id"
    if isinstance(id, str) and not redacted(id):
        yield (
            met(place)
            if id.startswith("resp")
            else broken(place, f"{id!r} is not the id of a response", id=id)
        )


# --- GPT-6 -----------------------------------------------------------------------------------------------

_UPDATE = {"type": "configuration_update", "reasoning": {"effort": "high"}}


@book.rule(
    "REQ-133",
    MUST,
    REJECT,
    source="https://openrouter.ai/docs/cookbook/evaluate-and-optimize/model-migrations/gpt-6-astra.md",
    refusal=refused("The 'configuration_update' item type is not supported with pro or tournament models."),
    models=["gpt>=6"],
    since=date(2026, 9, 3),
    examples=[
        body(ASK, _UPDATE, model="gpt-6-astra"),
        body(ASK, model="gpt-6-astra", reasoning={"mode": "pro"}),
    ],
    counterexamples=[body(ASK, _UPDATE, model="gpt-6-astra", reasoning={"mode": "pro"})],
)
def the_pro_mode_has_no_updates(request: Request) -> Iterator[Finding]:
    """With `reasoning.mode: "pro"`, the input has no `configuration_update`.

    Fix: set `reasoning.effort` of the request, or leave `reasoning.mode` out.
    """
    pro = object_of(request.body.get("reasoning")).get("mode") == "pro"
    for pointer, item in items(request.body):
        if type_of(item) == "configuration_update":
            yield broken(pointer, "the input has an update in the pro mode") if pro else met(pointer)


@book.rule(
    "REQ-135",
    MUST,
    REJECT,
    source="https://pypi.org/project/openai/3.53.0/ (BackgroundOptions)",
    refusal=refused(
        "A 'completion_window' of '{window}' requires {needed}.", param="background_options.completion_window"
    ),
    preview=True,  # the SDK's reference says so; no refusal is on record
    since=date(2026, 11, 17),
    examples=[
        body(ASK, model="gpt-6.2-sol", background=True, background_options={"completion_window": "8h"}),
        body(ASK, model="gpt-6.2-sol", background_options={"completion_window": "soonest"}),
    ],
    counterexamples=[
        body(ASK, model="gpt-6.2-sol", background_options={"completion_window": "2h"}),
        body(
            ASK,
            model="gpt-6.2-sol",
            background=True,
            stream=True,
            background_options={"completion_window": "2h"},
        ),
        body(
            ASK,
            model="gpt-6.2-sol",
            background=True,
            service_tier="priority",
            background_options={"completion_window": "8h"},
        ),
    ],
)
def late_answers_are_made_in_the_background(request: Request) -> Iterator[Finding]:
    """A completion window of 2 or 8 hours requires `background`, the standard service tier, and no stream.

    Fix: set `background: true`, and leave `stream` and `service_tier` out.
    """
    window = object_of(request.body.get("background_options")).get("completion_window")
    if window not in ("2h", "8h"):
        return
    place, sent = "/background_options/completion_window", request.body
    needs = {
        "`background: true`": sent.get("background") is True,
        "`stream: false`": not sent.get("stream"),
        "the standard service tier": sent.get("service_tier") in (None, "auto", "default"),
    }
    missing = [need for need, given in needs.items() if not given]
    yield (
        broken(place, f"it requires {missing[0]}", window=window, needed=missing[0])
        if missing
        else met(place)
    )


@book.rule(
    "REQ-136",
    MUST,
    REJECT,
    source="https://developers.openai.com/api/docs/guides/flex-processing",
    refusal=refused("Service tier 'flex' is not available for this model.", param="service_tier"),
    models=["gpt>=6.2"],
    preview=True,  # the guide says so; the words of the refusal are not on record
    since=date(2026, 11, 17),
    examples=[body(ASK, model="gpt-6.2-sol", service_tier="default")],
    counterexamples=[body(ASK, model="gpt-6.2-sol", service_tier="flex")],
)
def newer_models_have_no_flex_tier(request: Request) -> Iterator[Finding]:
    """`service_tier: "flex"` is not sent to GPT-6.2 and later models.

    Fix: send `background: true` with `background_options.completion_window`.
    """
    flex = request.body.get("service_tier") == "flex"
    yield broken("/service_tier", "this model has no flex tier") if flex else met("/model")
