"""Features that some models lack, in the service's words."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from ...observed.exchange import Json, Request
from ...readers.json_access import elements
from ...readers.mistral import messages
from ...rule import Finding, Refusal, broken, met
from ._refusals_and_examples import (
    ASK,
    IMAGE,
    MINISTRAL,
    MUST,
    REJECT,
    THOUGHT,
    A,
    body,
    book,
    call,
    incapable,
    result,
    says,
    user,
)

DEAF = ("mistral-*", "magistral*", "pixtral*", "codestral*", "devstral*", "labs-devstral*", "open-mi*")
SOUND: Json = {"type": "input_audio", "input_audio": "SUQz"}
THREE_B = "ministral-3b-latest"


@book.rule(
    "REQ-022",
    MUST,
    REJECT,
    source="recorded refusals (voxtral-small-latest, mistral-vibe-cli-latest, mistral-tiny-latest)",
    refusal=incapable("Image input is not enabled for this model"),
    models=["voxtral*", "mistral-vibe-cli*", "mistral-tiny*"],
    examples=[body(user(SOUND), model="voxtral-small-latest")],
    counterexamples=[body(user(IMAGE), model="voxtral-small-latest")],
)
def some_models_see_nothing(request: Request) -> Iterator[Finding]:
    """Images are sent only to vision models; Voxtral and Mistral Vibe models do not accept them.

    Fix: raise an error that names the model, or write a text in the image's place.
    """
    yield from _without(request.body, "image_url")


@book.rule(
    "REQ-026",
    MUST,
    REJECT,
    source="https://github.com/maruel/genai/blob/526f6fa8fc15d190e725008367fe12b5ef9c2aab/providers/mistral/testdata/"
    "TestClient/Scoreboard/ministral-3b-latest/GenStreamMultiModal-Image-gif-Inline.yaml",
    refusal=incapable("Image input is not enabled for this model"),
    models=["ministral-3b*", "ministral-8b*"],
    until=date(2025, 12, 2),  # the day of the first Ministral that sees
    examples=[body(ASK, model=THREE_B)],
    counterexamples=[body(user(IMAGE), model=THREE_B)],
)
def ministral_once_saw_nothing(request: Request) -> Iterator[Finding]:
    """The first Ministral models do not accept images.

    Fix: take a later Ministral, or write a text in the image's place.
    """
    yield from _without(request.body, "image_url")


@book.rule(
    "REQ-027",
    MUST,
    REJECT,
    source="recorded refusal (mistral-small)",
    refusal=Refusal(
        "A request containing images has been given to a model which does not have the 'vision' capability.",
        type="invalid_request_error",
    ),
    models=["mistral-small"],
    examples=[body(ASK, model="mistral-small")],
    counterexamples=[body(user(IMAGE), model="mistral-small")],
)
def old_models_see_nothing(request: Request) -> Iterator[Finding]:
    """Images are sent only to vision models; the first Small model is not one.

    Fix: take a later Small model, or write a text in the image's place.
    """
    yield from _without(request.body, "image_url")


@book.rule(
    "REQ-023",
    MUST,
    REJECT,
    source=[
        "recorded refusal (ministral-3b-2512)",
        "https://docs.mistral.ai/capabilities/audio/ (Voxtral hears)",
    ],
    refusal=incapable("Audio input is not enabled for this model"),
    models=[*MINISTRAL, *DEAF],
    examples=[body(ASK, model=THREE_B)],
    counterexamples=[body(user(SOUND), model=THREE_B)],
)
def some_models_hear_nothing(request: Request) -> Iterator[Finding]:
    """Audio is sent only to audio models.

    Fix: send audio to a Voxtral model, or send a transcript.
    """
    yield from _without(request.body, "input_audio")


@book.rule(
    "THK-007",
    MUST,
    REJECT,
    source="recorded refusal (ministral-3b-latest)",
    refusal=incapable("Reasoning input is not enabled for this model"),
    models=MINISTRAL,
    examples=[body(ASK, says("5"), ASK, model=THREE_B)],
    counterexamples=[body(ASK, says([THOUGHT, {"type": "text", "text": "5"}]), ASK, model=THREE_B)],
)
def thoughts_go_back_to_thinkers(request: Request) -> Iterator[Finding]:
    """Thinking is sent back only to models that support it.

    Fix: remove another model's thinking from the history.
    """
    yield from _without(request.body, "thinking")


@book.rule(
    "REQ-016",
    MUST,
    REJECT,
    source="recorded refusal (ministral-3b-latest)",
    refusal=incapable("Logprobs are not enabled for this model"),
    models=["ministral-3b*", "mistral-small*"],
    examples=[body(ASK, model=THREE_B)],
    counterexamples=[body(ASK, logprobs=True, model=THREE_B)],
)
def some_models_tell_no_logprobs(request: Request) -> Iterator[Finding]:
    """Log probabilities are requested only from models that return them.

    Fix: leave the request for log probabilities out for these models.
    """
    asked = request.body.get("logprobs") is True or bool(request.body.get("top_logprobs"))
    yield broken("/logprobs", "log probabilities are requested") if asked else met("/model")


@book.rule(
    "REQ-032",
    MUST,
    REJECT,
    source="https://github.com/devoxx/DevoxxGenieIDEAPlugin/issues/338 (Codestral, Mistral Large)",
    refusal=Refusal("top_p must be 1 when using greedy sampling.", type="invalid_request_error"),
    examples=[body(ASK, temperature=0, top_p=1), body(ASK, temperature=0.1, top_p=0.5)],
    counterexamples=[body(ASK, temperature=0, top_p=0.5)],
)
def the_greedy_choose_from_all(request: Request) -> Iterator[Finding]:
    """With a `temperature` of 0, `top_p` is 1 or not set.

    Fix: leave `top_p` out if the temperature is 0.
    """
    if request.body.get("temperature") == 0:
        narrow = request.body.get("top_p") not in (None, 1)
        yield broken("/top_p", "`top_p` is set beside a temperature of 0") if narrow else met("/temperature")


@book.rule(
    "REQ-021",
    MUST,
    REJECT,
    source="recorded refusal (mistral-small-latest)",
    refusal=incapable(
        "reasoning_effort='{effort}' is not supported for this model. "
        "Must be one of (<ReasoningEffort.none: 'none'>, <ReasoningEffort.high: 'high'>)"
    ),
    models=["mistral-small-latest", "mistral-small-26*"],
    examples=[body(ASK, reasoning_effort="high")],
    counterexamples=[body(ASK, reasoning_effort="low")],
)
def effort_is_all_or_nothing(request: Request) -> Iterator[Finding]:
    """The reasoning effort is `none` or `high`.

    Fix: map every other level to `high`.
    """
    effort, place = request.body.get("reasoning_effort"), "/reasoning_effort"
    if isinstance(effort, str):
        fine = effort in {"none", "high"}
        yield met(place) if fine else broken(place, f"{effort!r} is not a supported effort", effort=effort)


@book.rule(
    "TRM-003",
    MUST,
    REJECT,
    source="https://github.com/LibreChat-AI/agents/issues/344 (another server of the model); not seen at the service",
    refusal=incapable("Unexpected content chunk types in tool message: ['image_url']"),
    preview=True,
    examples=[
        body(ASK, call(A), result(A, "[see below]"), user(IMAGE)),
        body(ASK, call(A), result(A, [{"type": "text", "text": "5"}])),
    ],
    counterexamples=[body(ASK, call(A), result(A, [IMAGE]))],
)
def results_are_text(request: Request) -> Iterator[Finding]:
    """A tool message has only text. An image from a tool goes into a user message after the results.

    Why: older servers refuse an image here. Newer ones accept it, but it is not known whether the model sees it. Fix:
    write into the result that the image follows, and send it after the last result.
    """
    for pointer, message in messages(request.body):
        if message.get("role") == "tool":
            for place, part in elements(message.get("content"), f"{pointer}/content"):
                text = part.get("type") in {None, "text", "reference"}
                yield (
                    met(place)
                    if text
                    else broken(place, f"a tool message has a part of type {part.get('type')}")
                )


def _without(request: Json, kind: str) -> Iterator[Finding]:
    """Yields a finding for each message: whether it has a part of a type."""
    for pointer, message in messages(request):
        places = [
            p
            for p, part in elements(message.get("content"), f"{pointer}/content")
            if part.get("type") == kind
        ]
        yield broken(places[0], f"the history has a part of type {kind}") if places else met(pointer)
