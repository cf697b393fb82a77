"""Features that image models, speech models and Gemma refuse."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Request
from ...readers.gemini import declarations, get, key_of
from ...rule import Finding, broken, met
from ._rulebook import ASK, MUST, REJECT, TOOLS, body, book, refused


@book.rule(
    "REQ-021",
    MUST,
    REJECT,
    source="recorded refusals (gemini-2.0-flash-preview-image-generation, gemini-2.5-flash-image)",
    refusal=refused("{what} is not enabled for models/{model}"),
    models=["gemini-2.0-flash-preview-image-generation", "gemini-2.5-flash-image*", "gemma-3*"],
    examples=[body(ASK, named="gemini-2.5-flash-image")],
    counterexamples=[
        body(ASK, named="gemini-2.5-flash-image", tools=TOOLS),
        body(ASK, named="gemini-2.5-flash-image", generationConfig={"responseMimeType": "application/json"}),
    ],
)
def some_models_do_not_call(request: Request) -> Iterator[Finding]:
    """Image models and Gemma 3 do not accept function declarations or a JSON response format."""
    type = get(get(request.body, "generationConfig"), "responseMimeType")
    if any(True for _ in declarations(request.body)):
        yield broken(
            "/tools",
            "this model does not support function calls",
            what="Function calling",
            model=request.model,
        )
    elif type == "application/json":
        place = f"/{key_of(request.body, 'generationConfig')}"
        yield broken(
            place, "this model does not support a JSON response", what="JSON mode", model=request.model
        )
    else:
        yield met("/model")


@book.rule(
    "REQ-022",
    MUST,
    REJECT,
    source="recorded refusals (gemini-2.5-flash-preview-tts, gemini-2.5-pro-preview-tts)",
    refusal=refused(
        "The requested combination of response modalities (TEXT) is not supported by the model. models/{model} "
        "accepts the following combination of response modalities:\n* AUDIO\n"
    ),
    models=["gemini-2.5-*-tts"],
    examples=[
        body(ASK, named="gemini-2.5-flash-preview-tts", generationConfig={"responseModalities": ["AUDIO"]})
    ],
    counterexamples=[body(ASK, named="gemini-2.5-flash-preview-tts")],
)
def speakers_speak(request: Request) -> Iterator[Finding]:
    """A request to a speech model asks for audio."""
    asked = get(get(request.body, "generationConfig"), "responseModalities")
    mute = not asked or "TEXT" in asked
    yield broken("/generationConfig", "it is asked for text", model=request.model) if mute else met("/model")


@book.rule(
    "REQ-026",
    MUST,
    REJECT,
    source=[
        "https://github.com/google/adk-python/issues/3900",
        "https://github.com/0xPlaygrounds/rig/issues/788",
    ],
    refusal=refused("Developer instruction is not enabled for models/{model}"),
    models=["gemma-3*"],
    examples=[body(ASK, named="gemma-3-27b-it")],
    counterexamples=[body(ASK, named="gemma-3-27b-it", systemInstruction={"parts": [{"text": "Be brief."}]})],
)
def gemma_is_not_instructed(request: Request) -> Iterator[Finding]:
    """Gemma 3 does not accept a system instruction.

    Fix: put the instructions into the first user content.
    """
    given, place = get(request.body, "systemInstruction"), f"/{key_of(request.body, 'systemInstruction')}"
    yield broken(place, "a system instruction is set", model=request.model) if given else met("/contents")
