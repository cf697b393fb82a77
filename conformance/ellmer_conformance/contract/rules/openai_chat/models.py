"""Chat Completions: what models take."""

from __future__ import annotations

from collections.abc import Iterator

from ...observed.exchange import Request
from ...readers.json_access import object_of
from ...readers.openai_chat import messages, parts
from ...rule import Finding, Refusal, broken, met
from ...scope import generation
from .._openai.refusals import (
    CHAT_EFFORTS,
    LAZY,
    REASONING,
    THINKING,
    choices,
    listed,
    path,
    refused,
    undated,
)
from ._refusals_and_examples import ADAPTERS, ASK, IMAGE, MUST, REJECT, TOOL, body, book

# --- models that do not chat -----------------------------------------------------------------------------

_NO_CHATS = ("text-embedding-", "gpt-3.5-turbo-instruct")
_RESPONSES_ONLY = ("o1-pro", "gpt-5.3-codex")


@book.rule(
    "REQ-139",
    MUST,
    REJECT,
    source=[
        "https://github.com/mrdotb/req_llm/blob/edc2b8c4434c8c5024bb1ce15067c0083c0a0956/test/support/fixtures/openai/text_embedding_ada_002/basic.json",
        "https://github.com/enricoros/big-AGI/issues/169 (gpt-3.5-turbo-instruct)",
        f"{ADAPTERS}/cassettes/test_stop/test_async%5Bopenai-openai-o1-pro%5D.yaml",
        "https://github.com/egoist/chatwise-releases/issues/1256 (gpt-5.3-codex)",
    ],
    refusal=Refusal(
        "This is not a chat model and thus not supported in the v1/chat/completions endpoint. "
        "Did you mean to use v1/completions?",
        404,
        type="invalid_request_error",
        param="model",
    ),
    examples=[body(ASK, model="gpt-5-mini")],
    counterexamples=[
        body(ASK, model="text-embedding-ada-002"),
        body(ASK, model="gpt-3.5-turbo-instruct"),
        body(ASK, model="o1-pro"),
    ],
)
def the_model_chats(request: Request) -> Iterator[Finding]:
    """The model is one that chats, not one for embeddings, for completions or for the Responses API alone.

    Fix: send `o1-pro` and `gpt-5.3-codex` to the Responses API.
    """
    if request.model.startswith(_NO_CHATS) or undated(request.model) in _RESPONSES_ONLY:
        yield broken("/model", f"{request.model!r} does not chat")
    elif request.model:
        yield met("/model")


# --- reasoning models ------------------------------------------------------------------------------------


NO_CHAT = ("!*chat*", "!*search*", "!*audio*")  # of a family's models, those that do not reason
#: The same, where the recorded chat models of GPT-5.1 and later are as the others.
_NO_CHAT = ("!gpt-5-chat*", "!gpt-5.[4-9]-chat*", "!gpt-6*chat*", *NO_CHAT[1:])
_GENAI = "https://github.com/maruel/genai/blob/"  # recorded by others, in public
_BOARD = "providers/openaichat/testdata/TestClient/Scoreboard/"


@book.rule(
    "REQ-015",
    MUST,
    REJECT,
    source=[
        "recorded refusal (gpt-5-mini)",
        "https://github.com/bolna-ai/bolna/pull/1019 (gpt-6-astra)",
        "https://qiita.com/kai_kou/items/92d3e48a0e78bfa1d853 (gpt-6-sol)",
    ],
    refusal=refused(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        code="unsupported_parameter",
        param="max_tokens",
    ),
    models=["o1*", "o3*", "o4*", "gpt>=5", *NO_CHAT],
    examples=[body(ASK, model="gpt-5-mini", max_completion_tokens=5)],
    counterexamples=[body(ASK, model="gpt-5-mini", max_tokens=5)],
)
def reasoning_models_count_completion_tokens(request: Request) -> Iterator[Finding]:
    """A request to a reasoning model sets `max_completion_tokens`, not `max_tokens`.

    Fix: send the same number as `max_completion_tokens`.
    """
    if request.body.get("max_tokens") is not None:
        yield broken("/max_tokens", "a reasoning model has no `max_tokens`")
    elif "max_completion_tokens" in request.body:
        yield met("/max_completion_tokens")


#: The most tokens that a model writes, as its refusals tell them; the first name that fits counts.
_MOST_TOKENS = {
    "gpt-4o-2024-05-13": 4096,
    "gpt-4o-audio": 16384,
    "gpt-4o-mini": 16384,
    "gpt-4o": 16384,
    "gpt-4-turbo": 4096,
    "gpt-4-1106-preview": 4096,
    "gpt-3.5-turbo-1106": 4096,
}


@book.rule(
    "REQ-175",
    MUST,
    REJECT,
    source=[
        "https://github.com/enoch3712/ExtractThinker/issues/346 (gpt-4o)",
        "https://github.com/algorithmicsuperintelligence/optillm/issues/4 (gpt-4o in 2024)",
        "https://github.com/logancyang/obsidian-copilot/issues/256 (gpt-4-turbo)",
        "https://github.com/ChatGPTNextWeb/NextChat/issues/3195 (gpt-3.5-turbo-1106, gpt-4-1106-preview)",
    ],
    refusal=refused(
        "max_tokens is too large: {given}. This model supports at most {most} completion tokens, whereas you provided {given}.",
        param="max_tokens",
        code="invalid_value",
    ),
    models=[f"{name}*" for name in _MOST_TOKENS],
    examples=[body(ASK, model="gpt-4o", max_tokens=16384)],
    counterexamples=[body(ASK, model="gpt-4o", max_tokens=32000)],
)
def the_token_limit_is_one_the_model_has(request: Request) -> Iterator[Finding]:
    """`max_tokens` is at most the output limit of the model.

    Fix: lower `max_tokens`, or leave it out.
    """
    given, place = request.body.get("max_tokens"), "/max_tokens"
    most = next((most for name, most in _MOST_TOKENS.items() if request.model.startswith(name)), None)
    if isinstance(given, int) and most:
        problem = f"{given} tokens are requested, and the limit is {most}"
        yield met(place) if given <= most else broken(place, problem, given=given, most=most)


@book.rule(
    "REQ-016",
    MUST,
    REJECT,
    source=[
        "recorded refusals (o1-mini, gpt-5.6-luna)",
        f"{_GENAI}5f224cb2b6a40ff924832ce4e2284161fcf6d458/{_BOARD}gpt-5.4/GenSync-Stop.yaml",
        f"{_GENAI}aa47b9751581c36a786f0607f4733195a8400923/{_BOARD}gpt-5.5/GenStream-Stop.yaml",
        f"{_GENAI}9a06f3c5e5678ac2351cb5d76a334109352cf80f/{_BOARD}gpt-5.2-chat-latest/GenSync-Stop.yaml",
        "https://github.com/bolna-ai/bolna/pull/1019 (gpt-6-astra)",
        f"{ADAPTERS}/cassettes/test_stop/test_async%5Bopenai-openai-o1-mini%5D.yaml (accepted)",
        "https://github.com/withmartian/llm-adapters/blob/4e366a1775a8e736aac2afb5951b2787f0c50134/tests/adapters/cassettes/test_stop/test_async%5Bopenai-openai-o1-preview%5D.yaml",
    ],
    refusal=refused(
        "Unsupported parameter: 'stop' is not supported with this model.",
        code="unsupported_parameter",
        param="stop",
    ),
    models=[
        "o1-mini*",
        "o1-preview*",
        "o3",
        "o3-2025*",
        "o4-mini*",
        "gpt-5",
        "gpt-5-mini*",
        "gpt-5-nano*",
        "gpt-5.2-chat-latest",
        *LAZY,
        "gpt-5.5",
        *THINKING,
        *_NO_CHAT,
    ],
    examples=[body(ASK, model="gpt-5-mini", stop=None), body(ASK, model="o1-mini", stop="\n")],
    counterexamples=[
        body(ASK, model="gpt-5.6-luna", stop=["\n"]),
        body(ASK, model="gpt-5.4", stop=["\n"]),
    ],
)
def reasoning_models_take_no_stop(request: Request) -> Iterator[Finding]:
    """A reasoning model does not accept stop sequences. Since February 2025, o1-mini accepts one that is not in a list.

    Fix: leave `stop` out for these models, or cut the answer yourself.
    """
    if "stop" in request.body:
        stop = request.body["stop"]
        stops = stop not in (None, []) and not (isinstance(stop, str) and request.model.startswith("o1-mini"))
        yield broken("/stop", "a reasoning model has no `stop`") if stops else met("/stop")


@book.rule(
    "REQ-017",
    MUST,
    REJECT,
    source=[
        "https://github.com/QwenLM/qwen-code/issues/921",
        "https://github.com/OpenHands/OpenHands/issues/4131",
    ],
    refusal=refused(
        "Unsupported value: 'temperature' does not support {value} with this model. "
        "Only the default (1) value is supported.",
        code="unsupported_value",
        param="temperature",
    ),
    models=[*REASONING, "!o1", "!o1-2024*", "!o3-mini*", *NO_CHAT],
    examples=[body(ASK, model="gpt-5-mini", temperature=1)],
    counterexamples=[body(ASK, model="gpt-5-mini", temperature=0.5)],
)
def reasoning_models_have_one_temperature(request: Request) -> Iterator[Finding]:
    """For a model that always reasons, `temperature` is 1 or not set.

    Fix: leave `temperature` out for these models.
    """
    value = request.body.get("temperature")
    if isinstance(value, int | float):
        problem = f"the temperature is {value}, and this model has only 1"
        yield met("/temperature") if value == 1 else broken("/temperature", problem, value=value)


@book.rule(
    "REQ-130",
    MUST,
    REJECT,
    source=[
        "https://github.com/OpenGradient/tee-gateway/pull/154 (gpt-6-astra)",
        "https://github.com/bolna-ai/bolna/pull/1019 (gpt-6-astra)",
        "https://github.com/mnfst/modelparams.dev/pull/356 (gpt-6-astra, top_p)",
        "https://github.com/ItzCrazyKns/Vane/issues/1173 (gpt-5.6)",
    ],
    refusal=refused("Unsupported parameter: '{key}' is not supported with this model.", param="{key}"),
    models=[*THINKING, *NO_CHAT],
    examples=[
        body(ASK, model="gpt-6-astra", top_p=1),
        body(ASK, model="gpt-6-sol", reasoning_effort="none", temperature=0.5),
    ],
    counterexamples=[
        body(ASK, model="gpt-6-astra", temperature=0),
        body(ASK, model="gpt-6.2-sol", top_p=0.5),
    ],
)
def thinking_models_are_not_sampled(request: Request) -> Iterator[Finding]:
    """From GPT-5.6 on, `temperature` and `top_p` are 1 or not set while the model reasons.

    Fix: leave them out, or set `reasoning_effort: "none"` where the model has it (GPT-5.6, GPT-6 Sol and Luna).
    """
    if request.body.get("reasoning_effort") == "none":
        yield met("/reasoning_effort")
        return
    for key in ("temperature", "top_p"):
        set_to = request.body.get(key) not in (None, 1)
        yield broken(f"/{key}", f"this model has no {key}", key=key) if set_to else met("/model")


def _thinks_by_default(model: str) -> bool:
    """Tells whether a model reasons unless a request says `none`."""
    found = generation(model, "gpt")
    return found is not None and found >= (5, 6)


def _with_tools(instead: str) -> Refusal:
    text = "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions."
    return refused(f"{text} {instead}", param="reasoning_effort")


@book.rule(
    "REQ-021",
    MUST,
    REJECT,
    source=[
        "a public recording (gpt-5.6)",
        "https://github.com/BerriAI/litellm/pull/34569 (gpt-5.6, whatever the effort)",
        "https://github.com/charmbracelet/crush/issues/2913 (gpt-5.5)",
        "https://github.com/pipecat-ai/pipecat/issues/4043 (gpt-5.4)",
        "https://github.com/openai/openai-openapi/issues/541 (gpt-5.4)",
        "https://github.com/genkit-ai/genkit/pull/6303 (gpt-6-astra, at every effort)",
        "https://github.com/onyx-dot-app/onyx/issues/15008 (gpt-6-sol)",
        "https://developers.openai.com/api/docs/changelog (29 September 2026, gpt-6.1-sol)",
        "https://developers.openai.com/api/docs/guides/deployment-checklist (the GPT-6 family)",
    ],
    refusal=_with_tools("To use function tools, use /v1/responses or set reasoning_effort to 'none'."),
    formerly=[_with_tools("Please use /v1/responses instead.")],
    models=["gpt>=5.4", *NO_CHAT],
    examples=[
        body(ASK, model="gpt-5.6-luna", tools=[TOOL], reasoning_effort="none"),
        body(ASK, model="gpt-5.5", tools=[TOOL]),
    ],
    counterexamples=[
        body(ASK, model="gpt-5.6-luna", tools=[TOOL]),
        body(ASK, model="gpt-5.4", tools=[TOOL], reasoning_effort="low"),
        body(ASK, model="gpt-6-astra", tools=[TOOL], reasoning_effort="low"),
        body(ASK, model="gpt-6.1-sol", tools=[TOOL]),
    ],
)
def tools_need_reasoning_off(request: Request) -> Iterator[Finding]:
    """From gpt-5.4 on, a Chat Completions request has function tools or a reasoning effort, not both.

    Why: from gpt-5.6 on, a model reasons by default and so requires `reasoning_effort: "none"`. GPT-6 Astra and later
    models do not have this effort, so they accept no function tools in Chat Completions. Fix: use the Responses API.
    """
    if request.body.get("tools"):
        by_default = "low" if _thinks_by_default(request.model) else "none"
        off = (request.body.get("reasoning_effort") or by_default) == "none"
        problem = "function tools while the model reasons"
        yield met("/tools") if off else broken("/reasoning_effort", problem, model=request.model)


@book.rule(
    "REQ-027",
    MUST,
    REJECT,
    source=[
        "recorded refusal (gpt-5.6-sol)",
        f"{_GENAI}9a06f3c5e5678ac2351cb5d76a334109352cf80f/{_BOARD}gpt-5.2-chat-latest/GenSync-TopLogprobs.yaml",
        f"{_GENAI}aa47b9751581c36a786f0607f4733195a8400923/{_BOARD}gpt-5.5/GenSync-TopLogprobs.yaml",
    ],
    refusal=refused(
        "Unsupported parameter: 'logprobs' is not supported with this model.",
        code="unsupported_parameter",
        param="logprobs",
    ),
    formerly=[
        Refusal("You are not allowed to request logprobs from this model", 403, type="invalid_request_error")
    ],
    models=[*REASONING, "gpt-5.2-chat-latest", "gpt-5.5", *THINKING, *_NO_CHAT],
    examples=[
        body(ASK, model="gpt-5-mini"),
        body(ASK, model="gpt-5.6-sol", logprobs=True, reasoning_effort="none"),
    ],
    counterexamples=[
        body(ASK, model="gpt-5.6-sol", logprobs=True),
        body(ASK, model="gpt-5.5", logprobs=True),
    ],
)
def reasoning_models_have_no_logprobs(request: Request) -> Iterator[Finding]:
    """A model that reasons does not return log probabilities.

    Fix: leave `logprobs` and `top_logprobs` out for these models.
    """
    asked = request.body.get("logprobs") is True and request.body.get("reasoning_effort") != "none"
    yield broken("/logprobs", "this model does not return log probabilities") if asked else met("/model")


@book.rule(
    "REQ-031",
    MUST,
    REJECT,
    source=[
        "https://github.com/immersive-translate/immersive-translate/issues/3529",
        "https://github.com/Kilo-Org/cloud/pull/3807",
        "the Responses API refuses the same, recorded",
        "https://github.com/genkit-ai/genkit/pull/6303 (gpt-6-astra)",
        "https://github.com/bolna-ai/bolna/pull/852 (gpt-5.2, gpt-5.4 and gpt-5.6, minimal)",
        "https://developers.openai.com/api/docs/models/gpt-6-sol",
        "https://developers.openai.com/api/docs/models/gpt-6.2-sol",
    ],
    refusal=refused(
        "Unsupported value: 'reasoning_effort' does not support '{effort}' with this model. "
        "Supported values are: {known}.",
        code="unsupported_value",
        param="reasoning_effort",
    ),
    examples=[
        body(ASK, model="gpt-5-mini", reasoning_effort="minimal"),
        body(ASK, model="gpt-6-sol", reasoning_effort="none"),
    ],
    counterexamples=[
        body(ASK, model="gpt-5", reasoning_effort="none"),
        body(ASK, model="gpt-5.1", reasoning_effort="minimal"),
        body(ASK, model="gpt-6-astra", reasoning_effort="none"),
        body(ASK, model="gpt-6-luna", reasoning_effort="minimal"),
        body(ASK, model="gpt-6.2-sol", reasoning_effort="none"),
    ],
)
def the_effort_is_the_models(request: Request) -> Iterator[Finding]:
    """The effort is one of the levels that the model supports.

    Fix: send a level that the error lists, and keep a table of them for each model.
    """
    effort, efforts = request.body.get("reasoning_effort"), choices(request.model, CHAT_EFFORTS)
    if efforts and isinstance(effort, str):
        facts = {"effort": effort, "known": listed(efforts)}
        fine, place = effort in efforts, "/reasoning_effort"
        yield (
            met(place)
            if fine
            else broken(place, f"this model does not support the effort {effort!r}", **facts)
        )


@book.rule(
    "REQ-032",
    MUST,
    REJECT,
    source=[
        "https://github.com/lfnovo/open-notebook/issues/107 (gpt-5, top_p)",
        "https://github.com/sigoden/aichat/issues/1144 (o1, temperature)",
        "https://github.com/npiv/chatblade/issues/100 (o3-mini, temperature)",
        f"{ADAPTERS}_v7/cassettes/test_top_p_v7/test_async%5Bopenai-openai-o1-mini%5D.yaml (o1-mini, top_p)",
    ],
    refusal=refused(
        "Unsupported parameter: '{key}' is not supported with this model.",
        code="unsupported_parameter",
        param="{key}",
    ),
    models=["gpt-5", "gpt-5-2025*", "gpt-5-mini*", "gpt-5-nano*", "o1", "o1-2024*", "o1-mini*", "o3-mini*"],
    examples=[body(ASK, model="gpt-5-mini", top_p=1, temperature=1)],
    counterexamples=[body(ASK, model="gpt-5", top_p=0.5), body(ASK, model="o3-mini", temperature=0)],
)
def some_models_are_not_sampled(request: Request) -> Iterator[Finding]:
    """GPT-5 and o1-mini do not accept `top_p`; o1 and o3-mini do not accept `temperature` either.

    Fix: leave these options out for these models.
    """
    for key in ("top_p",) if request.model.startswith(("gpt", "o1-mini")) else ("top_p", "temperature"):
        set_to = request.body.get(key) not in (None, 1)
        yield broken(f"/{key}", f"this model has no {key}", key=key) if set_to else met("/model")


@book.rule(
    "REQ-040",
    MUST,
    REJECT,
    source=[
        "https://github.com/langchain-ai/langchain/issues/29704 (o3-mini, parallel_tool_calls)",
        "https://github.com/nextai-translator/nextai-translator/issues/1781 (gpt-5-mini, presence_penalty)",
    ],
    refusal=refused(
        "Unsupported parameter: '{key}' is not supported with this model.",
        code="unsupported_parameter",
        param="{key}",
    ),
    models=["o1", "o1-2024*", "o3-mini*", "gpt-5", "gpt-5-2025*", "gpt-5-mini*", "gpt-5-nano*", *THINKING],
    examples=[
        body(ASK, model="gpt-5-mini", tools=[TOOL], parallel_tool_calls=True, presence_penalty=0),
        body(ASK, model="gpt-5.6-terra", reasoning_effort="none", presence_penalty=0.5),
    ],
    counterexamples=[
        body(ASK, model="o3-mini", tools=[TOOL], parallel_tool_calls=True),
        body(ASK, model="gpt-5.6-terra", presence_penalty=0.5),
    ],
)
def some_options_do_not_go_with_reasoning(request: Request) -> Iterator[Finding]:
    """Reasoning models do not accept penalties or a logit bias. GPT-5.6 and GPT-6 do not accept a prediction, and o1
    and o3-mini do not accept `parallel_tool_calls`.

    GPT-5.6 accepts penalties with `reasoning_effort: "none"`. Fix: leave the option out for these models.
    """
    body, latest = request.body, _thinks_by_default(request.model)
    refuses = ["logit_bias"]
    refuses += [] if latest and body.get("reasoning_effort") == "none" else _PENALTIES
    refuses += ["prediction"] if latest else []
    refuses += ["parallel_tool_calls"] if request.model.startswith("o") else []
    found = [key for key in refuses if body.get(key) or (key == "parallel_tool_calls" and key in body)]
    for key in found:
        yield broken(f"/{key}", f"this model has no {key}", key=key)
    if not found:
        yield met("/model")


_PENALTIES = ["presence_penalty", "frequency_penalty"]


# --- system prompts --------------------------------------------------------------------------------------


@book.rule(
    "SYS-004",
    MUST,
    REJECT,
    source="recorded refusals of `system` and `developer` (o1-mini)",
    refusal=refused(
        "Unsupported value: '{path}' does not support '{role}' with this model.",
        code="unsupported_value",
        param="{path}",
    ),
    models=["o1-mini*", "o1-preview*"],
    examples=[body(ASK, model="o1-mini")],
    counterexamples=[body({"role": "system", "content": "Be brief."}, ASK, model="o1-mini")],
)
def first_reasoning_models_have_no_system_prompt(request: Request) -> Iterator[Finding]:
    """The first reasoning models do not accept `system` or `developer` messages.

    Fix: put the instructions at the start of the first user message.
    """
    for pointer, message in messages(request.body):
        role, place = message.get("role"), f"{pointer}/role"
        wrong = role in {"system", "developer"}
        yield (
            broken(place, f"this model does not accept {role} messages", path=path(place), role=role)
            if wrong
            else met(place)
        )


# --- audio and search ------------------------------------------------------------------------------------


@book.rule(
    "REQ-018",
    MUST,
    REJECT,
    source="recorded refusals of text-only requests (gpt-audio)",
    refusal=refused(
        "This model requires that either input content or output modality contain audio.",
        code="invalid_value",
        param="model",
    ),
    models=["gpt-audio*", "gpt-4o*-audio-preview*"],
    examples=[body(ASK, model="gpt-audio", modalities=["text", "audio"])],
    counterexamples=[body(ASK, model="gpt-audio")],
)
def audio_models_hear_or_speak(request: Request) -> Iterator[Finding]:
    """A request to an audio model contains audio or asks for audio.

    Fix: set `modalities: ["text", "audio"]` with an `audio` object, or take a text model.
    """
    heard = any(
        part.get("type") == "input_audio"
        for _, message in messages(request.body)
        for _, part in parts(message, "")
    )
    spoken = "audio" in (request.body.get("modalities") or [])
    earlier = any(message.get("audio") for _, message in messages(request.body))
    yield (
        met("/model")
        if heard or spoken or earlier
        else broken("/model", "the request has no audio input or output")
    )


@book.rule(
    "REQ-019",
    MUST,
    REJECT,
    source="recorded refusals (gpt-4o, gpt-4.1, gpt-audio)",
    refusal=refused("Web search options not supported with this model.", param="web_search_options"),
    models=["gpt-4o*", "gpt-4.1*", "gpt-audio*", "!*search*"],
    examples=[body(ASK)],
    counterexamples=[body(ASK, model="gpt-4o", web_search_options={})],
)
def only_search_models_search(request: Request) -> Iterator[Finding]:
    """`web_search_options` is sent only to search models.

    Fix: use a `-search-preview` model, or the web search tool of the Responses API.
    """
    asked = request.body.get("web_search_options") is not None
    yield broken("/web_search_options", "this model is not a search model") if asked else met("/model")


_SAMPLING = ("frequency_penalty", "presence_penalty", "stop", "temperature", "top_p")


@book.rule(
    "REQ-025",
    MUST,
    REJECT,
    source=[
        "recorded refusal of `stop` (gpt-4o-mini-search-preview)",
        "https://github.com/vercel/ai/issues/5609 (temperature)",
        "https://github.com/ChatGPTNextWeb/NextChat/issues/6569 (the penalties, top_p)",
    ],
    refusal=refused("Model incompatible request argument{s} supplied: {keys}"),
    models=["*-search-preview*"],
    examples=[body(ASK, model="gpt-4o-mini-search-preview")],
    counterexamples=[
        body(ASK, model="gpt-4o-mini-search-preview", stop=["."]),
        body(ASK, model="gpt-4o-search-preview", temperature=0, top_p=0.5),
    ],
)
def search_models_are_not_sampled(request: Request) -> Iterator[Finding]:
    """A search model does not accept stop sequences, `temperature`, `top_p` or penalties.

    Fix: leave these options out for models with `search` in their names.
    """
    keys = [key for key in _SAMPLING if request.body.get(key) not in (None, [])]
    facts = {"s": "s" if len(keys) > 1 else "", "keys": ", ".join(keys)}
    yield (
        broken(f"/{keys[0]}", f"a search model does not accept `{keys[0]}`", **facts)
        if keys
        else met("/model")
    )


@book.rule(
    "REQ-022",
    MUST,
    REJECT,
    source="recorded refusal of an image (gpt-audio)",
    refusal=refused("This model does not support image_url content.", code="invalid_value", param="{path}"),
    models=["gpt-audio*", "gpt-4o-audio*"],
    examples=[body(ASK, model="gpt-audio", modalities=["text", "audio"])],
    counterexamples=[body({"role": "user", "content": [IMAGE]}, model="gpt-audio", modalities=["audio"])],
)
def audio_models_see_nothing(request: Request) -> Iterator[Finding]:
    """An audio model does not accept images.

    Fix: raise an error before the request, or take a vision model.
    """
    for pointer, message in messages(request.body):
        place = f"{pointer}/content"
        seen = any(part.get("type") == "image_url" for _, part in parts(message, pointer))
        yield broken(place, "this model does not accept images", path=path(place)) if seen else met(place)


@book.rule(
    "REQ-028",
    MUST,
    REJECT,
    source="recorded refusal (gpt-audio)",
    refusal=refused("This model does not support the 'logprobs' parameter.", param="logprobs"),
    models=["gpt-audio*"],
    examples=[body(ASK, model="gpt-audio", modalities=["text", "audio"])],
    counterexamples=[body(ASK, model="gpt-audio", modalities=["text", "audio"], logprobs=True)],
)
def audio_models_have_no_logprobs(request: Request) -> Iterator[Finding]:
    """An audio model does not return log probabilities.

    Fix: leave `logprobs` and `top_logprobs` out for audio models.
    """
    asked = request.body.get("logprobs") is True
    yield broken("/logprobs", "this model does not return log probabilities") if asked else met("/model")


@book.rule(
    "REQ-029",
    MUST,
    REJECT,
    source="recorded refusal (gpt-4o-mini-search-preview)",
    refusal=refused(
        "Response format 'json_object' is not supported with web_search.", param="response_format"
    ),
    models=["*-search-preview*"],
    examples=[body(ASK, model="gpt-4o-mini-search-preview")],
    counterexamples=[
        body(
            {"role": "user", "content": "In JSON, please."},
            model="gpt-4o-mini-search-preview",
            response_format={"type": "json_object"},
        )
    ],
)
def search_models_have_no_json_mode(request: Request) -> Iterator[Finding]:
    """A search model does not support the response format `json_object`.

    Fix: ask for JSON in words.
    """
    asked = object_of(request.body.get("response_format")).get("type") == "json_object"
    yield (
        broken("/response_format", "a search model does not support `json_object`")
        if asked
        else met("/model")
    )


@book.rule(
    "REQ-030",
    MUST,
    REJECT,
    source="recorded refusal (gpt-4o-mini-search-preview)",
    refusal=refused(
        "Invalid Value: 'file'. This model does not support file content types.",
        code="invalid_value",
        param="{path}",
    ),
    models=["*-search-preview*"],
    examples=[body({"role": "user", "content": [IMAGE]}, model="gpt-4o-mini-search-preview")],
    counterexamples=[
        body(
            {"role": "user", "content": [{"type": "file", "file": {"file_id": "file-1"}}]},
            model="gpt-4o-mini-search-preview",
        )
    ],
)
def search_models_read_no_files(request: Request) -> Iterator[Finding]:
    """A search model does not accept files.

    Fix: send the text of the file, or take another model.
    """
    for pointer, message in messages(request.body):
        for place, part in parts(message, pointer):
            file, where = part.get("type") == "file", f"{place}/type"
            yield broken(where, "this model does not accept files", path=path(where)) if file else met(where)


# --- tools and images ------------------------------------------------------------------------------------


@book.rule(
    "REQ-039",
    MUST,
    REJECT,
    source=[
        "recorded refusals (gpt-5-chat-latest, gpt-4o-mini-search-preview)",
        "https://github.com/dzhng/deep-research/issues/96 (o1-mini)",
        "https://github.com/UKGovernmentBEIS/inspect_ai/pull/1290 (o1-mini, o1-preview)",
    ],
    refusal=Refusal(
        "tools is not supported in this model. For a list of supported models, refer to "
        "https://platform.openai.com/docs/guides/function-calling#models-supporting-function-calling.",
        404,
        type="invalid_request_error",
    ),
    models=["gpt-5-chat-latest", "o1-mini*", "o1-preview*", "*-search-preview*"],
    examples=[body(ASK, model="gpt-5-chat-latest")],
    counterexamples=[
        body(ASK, model="gpt-5-chat-latest", tools=[TOOL]),
        body(ASK, model="o1-mini", tools=[TOOL]),
    ],
)
def some_models_have_no_tools(request: Request) -> Iterator[Finding]:
    """The chat model of GPT-5 and the first small reasoning models do not accept tools.

    Fix: leave `tools` out, or raise an error that names the model.
    """
    yield (
        broken("/tools", "this model does not support tools") if request.body.get("tools") else met("/model")
    )


@book.rule(
    "IMG-016",
    MUST,
    REJECT,
    source=[
        "https://github.com/browser-use/web-ui/issues/274",
        "https://github.com/nextcloud/integration_openai/issues/282",
    ],
    refusal=refused(
        "Invalid content type. image_url is only supported by certain models.",
        param="messages.[{index}].content.[{part}].type",
    ),
    models=[
        "gpt-3.5*",
        "gpt-4",
        "gpt-4-0613",
        "gpt-4-0314",
        "gpt-4-32k*",
        "o1-mini*",
        "o1-preview*",
        "o3-mini*",
    ],
    examples=[body({"role": "user", "content": [{"type": "text", "text": "Hi"}]}, model="o3-mini")],
    counterexamples=[body({"role": "user", "content": [IMAGE]}, model="o3-mini")],
)
def images_go_to_models_that_see(request: Request) -> Iterator[Finding]:
    """Images are sent only to vision models; GPT-3.5, the first GPT-4 and the small first o-models are not.

    Fix: raise an error that names the model, or write a text in the image's place.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        for i, (place, part) in enumerate(parts(message, pointer)):
            seen = part.get("type") == "image_url"
            yield (
                broken(place, "this model does not accept images", index=index, part=i)
                if seen
                else met(place)
            )
