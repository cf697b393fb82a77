"""What audio models and search models require and refuse."""

from __future__ import annotations

from collections.abc import Iterator

from ....exchange import Request
from ....readers.json_access import object_of
from ....readers.openai_chat import messages, parts
from ....rule import Finding, broken, met
from ..._openai.refusals import path, refused
from .._rulebook import ASK, IMAGE, MUST, REJECT, body, book


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
    """A request to an audio model contains audio or asks for audio."""
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
    source="recorded refusal (gpt-4o)",
    refusal=refused("Web search options not supported with this model.", param="web_search_options"),
    models=["gpt-4o*", "gpt-4.1*", "!*search*"],
    examples=[body(ASK)],
    counterexamples=[body(ASK, web_search_options={})],
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
    """A search model does not accept stop sequences, `temperature`, `top_p` or penalties."""
    given = [key for key in _SAMPLING if request.body.get(key) not in (None, [])]
    facts = {"s": "s" if len(given) > 1 else "", "keys": ", ".join(given)}
    yield (
        broken(f"/{given[0]}", f"a search model does not accept `{given[0]}`", **facts)
        if given
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
    """An audio model does not accept images."""
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
    """An audio model does not return log probabilities."""
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
    """A search model does not support the response format `json_object`."""
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
    """A search model does not accept files."""
    for pointer, message in messages(request.body):
        for place, part in parts(message, pointer):
            file, where = part.get("type") == "file", f"{place}/type"
            yield broken(where, "this model does not accept files", path=path(where)) if file else met(where)
