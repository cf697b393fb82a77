"""What some models do not take, that others do."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Request
from ...rule import Finding, broken, met
from ...wires.openai_chat import messages, parts
from ...wires.values import object_of
from .._openai import REASONING, path, refused
from ._book import ASK, IMAGE, MUST, REJECT, TOOL, body, book

NO_CHAT = ("!*chat*", "!*search*", "!*audio*")  # of a family's models, those that do not reason


@book.rule(
    "REQ-015",
    MUST,
    REJECT,
    source="recorded refusal (gpt-5-mini)",
    refusal=refused(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        code="unsupported_parameter",
        param="max_tokens",
    ),
    models=["o1*", "o3*", "o4*", "gpt-5*", *NO_CHAT],
    examples=[body(ASK, model="gpt-5-mini", max_completion_tokens=5)],
    counterexamples=[body(ASK, model="gpt-5-mini", max_tokens=5)],
)
def reasoning_models_count_completion_tokens(request: Request) -> Iterator[Finding]:
    """A reasoning model takes `max_completion_tokens`, not `max_tokens`."""
    if request.body.get("max_tokens") is not None:
        yield broken("/max_tokens", "a reasoning model has no `max_tokens`")
    elif "max_completion_tokens" in request.body:
        yield met("/max_completion_tokens")


@book.rule(
    "REQ-016",
    MUST,
    REJECT,
    source="recorded refusals (o1-mini, gpt-5.6-luna)",
    refusal=refused(
        "Unsupported parameter: 'stop' is not supported with this model.",
        code="unsupported_parameter",
        param="stop",
    ),
    models=[
        "o1-mini*",
        "o3",
        "o3-2025*",
        "o4-mini*",
        "gpt-5",
        "gpt-5-mini*",
        "gpt-5-nano*",
        "gpt-5.6*",
        *NO_CHAT,
    ],
    examples=[body(ASK, model="gpt-5-mini", stop=None)],
    counterexamples=[body(ASK, model="gpt-5.6-luna", stop=["\n"])],
)
def reasoning_models_take_no_stop(request: Request) -> Iterator[Finding]:
    """A reasoning model takes no stop sequences."""
    if "stop" in request.body:
        given = request.body["stop"] not in (None, [])
        yield broken("/stop", "a reasoning model has no `stop`") if given else met("/stop")


@book.rule(
    "REQ-017",
    MUST,
    REJECT,
    source="measured on the live API",
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
    """A model that always reasons takes no temperature but 1."""
    value = request.body.get("temperature")
    if isinstance(value, int | float):
        problem = f"the temperature is {value}, and this model has only 1"
        yield met("/temperature") if value == 1 else broken("/temperature", problem, value=value)


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
    """The first reasoning models take neither `system` nor `developer` messages.

    Fix: put the instructions at the head of the first user message.
    """
    for pointer, message in messages(request.body):
        role, place = message.get("role"), f"{pointer}/role"
        wrong = role in {"system", "developer"}
        yield broken(place, f"no {role} messages here", path=path(place), role=role) if wrong else met(place)


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
    """A request to an audio model has audio in it or asks for some."""
    heard = any(
        part.get("type") == "input_audio"
        for _, message in messages(request.body)
        for _, part in parts(message, "")
    )
    spoken = "audio" in (request.body.get("modalities") or [])
    earlier = any(message.get("audio") for _, message in messages(request.body))
    yield met("/model") if heard or spoken or earlier else broken("/model", "there is no audio, in or out")


@book.rule(
    "REQ-019",
    MUST,
    REJECT,
    source="recorded refusal (gpt-4o)",
    refusal=refused("Web search options not supported with this model.", param="web_search_options"),
    models=["gpt-4o*", "gpt-4.1*", "!*search*"],
    examples=[body(ASK)],
    counterexamples=[body(ASK, web_search_options={})],
)
def only_search_models_search(request: Request) -> Iterator[Finding]:
    """`web_search_options` goes to a search model.

    Fix: use a `-search-preview` model, or the web search tool of the Responses API.
    """
    asked = request.body.get("web_search_options") is not None
    yield broken("/web_search_options", "this model does not search") if asked else met("/model")


@book.rule(
    "REQ-025",
    MUST,
    REJECT,
    source="recorded refusal (gpt-4o-mini-search-preview)",
    refusal=refused("Model incompatible request argument supplied: {key}"),
    models=["*-search-preview*"],
    examples=[body(ASK, model="gpt-4o-mini-search-preview")],
    counterexamples=[body(ASK, model="gpt-4o-mini-search-preview", stop=["."])],
)
def search_models_take_no_stop(request: Request) -> Iterator[Finding]:
    """A search model takes no stop sequences."""
    given = request.body.get("stop") not in (None, [])
    yield broken("/stop", "a search model has no `stop`", key="stop") if given else met("/model")


@book.rule(
    "REQ-021",
    MUST,
    REJECT,
    source="a live run's refusal (gpt-5.6-luna), and a public recording of the same generation",
    refusal=refused(
        "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. "
        "To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
        param="reasoning_effort",
    ),
    models=["gpt-5.6*", *NO_CHAT],
    examples=[body(ASK, model="gpt-5.6-luna", tools=[TOOL], reasoning_effort="none")],
    counterexamples=[body(ASK, model="gpt-5.6-luna", tools=[TOOL])],
)
def tools_need_reasoning_off(request: Request) -> Iterator[Finding]:
    """From gpt-5.6 on, function tools in Chat Completions need `reasoning_effort: "none"`.

    Why: these models reason unless told not to. Fix: use the Responses API.
    """
    if request.body.get("tools"):
        off = request.body.get("reasoning_effort") == "none"
        problem = "function tools while the model reasons"
        yield met("/tools") if off else broken("/reasoning_effort", problem, model=request.model)


@book.rule(
    "REQ-022",
    MUST,
    REJECT,
    source="recorded refusal of an image (gpt-audio)",
    refusal=refused("This model does not support image_url content.", code="invalid_value", param="{path}"),
    models=["gpt-audio*"],
    examples=[body(ASK, model="gpt-audio", modalities=["text", "audio"])],
    counterexamples=[body({"role": "user", "content": [IMAGE]}, model="gpt-audio", modalities=["audio"])],
)
def audio_models_see_nothing(request: Request) -> Iterator[Finding]:
    """An audio model takes no images."""
    for pointer, message in messages(request.body):
        place = f"{pointer}/content"
        seen = any(part.get("type") == "image_url" for _, part in parts(message, pointer))
        yield broken(place, "this model takes no images", path=path(place)) if seen else met(place)


@book.rule(
    "REQ-027",
    MUST,
    REJECT,
    source="recorded refusal (gpt-5.6-sol)",
    refusal=refused(
        "Unsupported parameter: 'logprobs' is not supported with this model.",
        code="unsupported_parameter",
        param="logprobs",
    ),
    models=[*REASONING, "gpt-5.6*", *NO_CHAT],
    examples=[body(ASK, model="gpt-5-mini")],
    counterexamples=[body(ASK, model="gpt-5.6-sol", logprobs=True)],
)
def reasoning_models_have_no_logprobs(request: Request) -> Iterator[Finding]:
    """A reasoning model gives no log probabilities."""
    asked = request.body.get("logprobs") is True
    yield broken("/logprobs", "this model gives none") if asked else met("/model")


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
    """An audio model gives no log probabilities."""
    asked = request.body.get("logprobs") is True
    yield broken("/logprobs", "this model gives none") if asked else met("/model")


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
    counterexamples=[body(ASK, model="gpt-4o-mini-search-preview", response_format={"type": "json_object"})],
)
def search_models_have_no_json_mode(request: Request) -> Iterator[Finding]:
    """A search model has no `json_object`."""
    asked = object_of(request.body.get("response_format")).get("type") == "json_object"
    yield broken("/response_format", "a search model has no json_object") if asked else met("/model")


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
    """A search model takes no files."""
    for pointer, message in messages(request.body):
        for place, part in parts(message, pointer):
            file, where = part.get("type") == "file", f"{place}/type"
            yield broken(where, "this model takes no files", path=path(where)) if file else met(where)
