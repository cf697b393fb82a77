"""Features that some models refuse: image models, speech models and Gemma; log probabilities, penalties, external files
and thinking.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from ...observed.exchange import Json, Request
from ...readers.gemini import contents, declarations, get, key_of, parts
from ...readers.json_access import items_of, object_of, text_of
from ...rule import Finding, broken, met
from ...rulebook import UnsupportedFeature, add_feature_rules
from ._refusals_and_examples import ASK, IMAGE, MUST, REJECT, TOOLS, body, book, refused, user


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
    """Image models and Gemma 3 do not accept function declarations or a JSON response format.

    Fix: leave the functions and the format out, or raise an error that names the model.
    """
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
    """A request to a speech model asks for audio.

    Fix: set `responseModalities: ["AUDIO"]`.
    """
    asked = _modalities(request)
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
    instruction, place = (
        get(request.body, "systemInstruction"),
        f"/{key_of(request.body, 'systemInstruction')}",
    )
    yield (
        broken(place, "a system instruction is set", model=request.model) if instruction else met("/contents")
    )


#: Recorded by others, in public.
_THOUGHT = (
    "https://github.com/maruel/genai/blob/b8b3577bb04a294db309725b0b5eb90d9dfaa95d/"
    "providers/gemini/testdata/TestClient/ThinkingBudget/"
)
_TESTS = (
    "https://github.com/maruel/genai/blob/adf2e655e8f588ad91e2c099bc90223011c4645c/providers/"
    "gemini/testdata/TestClient/Scoreboard/"
)
_OLDER = (
    "https://github.com/maruel/genai/blob/526f6fa8fc15d190e725008367fe12b5ef9c2aab/providers/"
    "gemini/testdata/TestClient/Scoreboard/"
)
_MIRASCOPE = "https://github.com/Mirascope/mirascope/blob/a6f93234d54784befae87d8ca511401109cffe18/"
_PAINTED = (
    "https://github.com/maruel/genai/blob/c78230053c677b2d43bcf671db9a360b15cc35c6/gemini/"
    "testdata/TestClient_Chat_allModels/"
)
_FILES = (
    "https://github.com/maruel/genai/blob/7856ce1e28743f2baba3a845054c2b19dea39888/providers/"
    "gemini/testdata/TestClient_Scoreboard/audio,image,pdf,text,video_text_gemini-2.0-flash/GenStream/"
)

_LATEST = ("gemini-flash-latest", "gemini-pro-latest", "gemini-flash-lite-latest", "gemini-2.5-*")
_FETCHED = ("generativelanguage.googleapis.com", "www.youtube.com", "youtube.com", "youtu.be")
_PAINTER = "gemini-2.0-flash-preview-image-generation"
_SPEAKER = "gemini-3.1-flash-tts-preview"
_GIF: Json = {"inlineData": {"mimeType": "image/gif", "data": "R0lGODdhAQABAAAAACwAAAAAAQABAAACAkQBADs="}}
_FILE: Json = {"fileData": {"mimeType": "audio/mpeg", "fileUri": "https://example.com/a.mp3"}}


def generation_config(request: Request) -> Json:
    """Returns the `generationConfig` of a request in either spelling; `{}` if there is none."""
    return object_of(get(request.body, "generationConfig"))


def config_place(request: Request) -> str:
    """Returns the JSON pointer to the `generationConfig` of a request."""
    return f"/{key_of(request.body, 'generationConfig')}"


def _logprobs(request: Request) -> str | None:
    config = generation_config(request)
    asked = get(config, "responseLogprobs") is True or get(config, "logprobs") is not None
    return config_place(request) if asked else None


def _penalty(request: Request) -> str | None:
    penalties = [get(generation_config(request), key) for key in ("presencePenalty", "frequencyPenalty")]
    return config_place(request) if any(value for value in penalties) else None


def _no_picture(request: Request) -> str | None:
    asked = _modalities(request)
    return config_place(request) if asked and "IMAGE" not in asked else None


def _modalities(request: Request) -> set[str]:
    """Returns the kinds of content that are asked for, in capitals. The API takes small letters, too."""
    asked = get(generation_config(request), "responseModalities")
    return {text_of(each).upper() for each in items_of(asked)}


def _thinks(request: Request) -> str | None:
    return config_place(request) if get(generation_config(request), "thinkingConfig") else None


def _moving(request: Request) -> str | None:
    """Returns a GIF."""
    for pointer, content in contents(request.body):
        for place, part in parts(content, pointer):
            data = get(part, "inlineData")
            if get(data, "mimeType") == "image/gif":
                return f"{place}/{key_of(part, 'inlineData')}/{key_of(data, 'mimeType')}"
    return None


def _foreign(request: Request) -> str | None:
    """Returns a file at an external URL."""
    for pointer, content in contents(request.body):
        for place, part in parts(content, pointer):
            file = get(part, "fileData")
            uri = text_of(get(file, "fileUri"))
            if uri.startswith("http") and uri.split("/")[2:3] and uri.split("/")[2] not in _FETCHED:
                return f"{place}/{key_of(part, 'fileData')}/{key_of(file, 'fileUri')}"
    return None


add_feature_rules(
    book,
    [
        UnsupportedFeature(
            "REQ-046",
            "Log probabilities are requested only from models that return them.",
            _LATEST,
            refused("Logprobs is not enabled for models/{model}"),
            (
                "recorded refusals (gemini-flash-latest, gemini-pro-latest, gemini-flash-lite-latest, gemini-2.5-flash-lite)",
                f"{_TESTS}gemini-pro-latest_thinking/GenStream-TopLogprobs.yaml",
                "https://github.com/googleapis/python-genai/issues/1921 (gemini-2.5-pro)",
                "https://github.com/langchain-ai/langchain-google/pull/1266 (gemini-2.5-flash)",
            ),
            _logprobs,
            body(ASK, named="gemini-flash-latest"),
            body(ASK, named="gemini-flash-latest", generationConfig={"responseLogprobs": True}),
            (
                refused("Logprobs is not enabled for this model"),
                refused("LogProbs is not supported in streaming mode"),
            ),
            since=date(2025, 9, 1),  # accepted before
            fix="leave `responseLogprobs` and `logprobs` out for these models.",
        ),
        UnsupportedFeature(
            "REQ-047",
            "Penalties are sent only to models that accept them.",
            ("gemini-2.5-*", "gemini-1.5-pro", "gemini-1.0-pro"),  # gemini-1.5-flash took them in 2025
            refused("Penalty is not enabled for models/{model}"),
            (
                "recorded refusal (gemini-2.5-flash)",
                f"{_MIRASCOPE}python/tests/e2e/cassettes/call_with_params/google/async.yaml",
                "https://github.com/vercel/ai/issues/8943 (gemini-2.5-pro)",
                "https://github.com/PublicAffairs/openai-gemini/issues/63 (a preview of gemini-2.5-flash)",
                "https://github.com/SillyTavern/SillyTavern/issues/3015 (gemini-1.0 and 1.5)",
                "https://github.com/google-gemini/cookbook/issues/1290 (the wording without the model)",
            ),
            _penalty,
            body(ASK, generationConfig={"presencePenalty": 0}),
            body(ASK, generationConfig={"presencePenalty": 0.1}),
            (refused("Penalty is not enabled for this model"),),
            fix="leave the penalties out for these models.",
        ),
        UnsupportedFeature(
            "REQ-048",
            "A request to an image model asks for text and images.",
            (_PAINTER,),
            refused(
                "The requested combination of response modalities is not supported by the model. models/{model} "
                "accepts the following combination of response modalities:\n* TEXT, IMAGE\n"
            ),
            (
                "recorded refusal (gemini-2.0-flash-preview-image-generation)",
                f"{_PAINTED}gemini-2.0-flash-preview-image-generation.yaml",
            ),
            _no_picture,
            body(ASK, named=_PAINTER, generationConfig={"responseModalities": ["TEXT", "IMAGE"]}),
            body(ASK, named=_PAINTER, generationConfig={"responseModalities": ["TEXT"]}),
            fix='set `responseModalities: ["TEXT", "IMAGE"]`.',
        ),
        UnsupportedFeature(
            "THK-023",
            "A speech model does not support thinking.",
            ("gemini-3.1-flash-tts*",),
            refused("Thinking is not enabled for this model"),
            (
                "recorded refusal (gemini-3.1-flash-tts-preview)",
                f"{_THOUGHT}gemini-3.1-flash-tts-preview/thinking.yaml",
            ),
            _thinks,
            body(ASK, named=_SPEAKER, generationConfig={"responseModalities": ["AUDIO"]}),
            body(ASK, named=_SPEAKER, generationConfig={"thinkingConfig": {"thinkingBudget": 512}}),
            fix="leave `thinkingConfig` out for these models.",
        ),
        UnsupportedFeature(
            "IMG-018",
            "The `fileUri` of a part names a file that was uploaded to Google, or a YouTube video.",
            ("gemini-2.0*",),
            refused("Invalid or unsupported file uri: {value}"),
            (
                "recorded refusal (gemini-2.0-flash); newer models fetch files since 2026",
                f"{_FILES}audio/URL.yaml",
                "https://github.com/vercel/ai/pull/16757 (all but Gemini 2.0 fetch them)",
            ),
            _foreign,
            body(user({"text": "Hi"}), named="gemini-2.0-flash"),
            body(user(_FILE), named="gemini-2.0-flash"),
            (refused("Unsupported file uri: {value}"),),
            fix="send the bytes as `inlineData`, or upload the file and send its URI.",
        ),
        UnsupportedFeature(
            "IMG-019",
            "Before 2026, the `fileUri` of a part for Gemini 2.5 named a file that was uploaded to Google, or a YouTube video.",
            ("gemini-2.5*",),
            refused("Unsupported file uri: {value}"),
            (
                "recorded refusals (gemini-2.5-flash, gemini-2.5-pro)",
                f"{_OLDER}gemini-2.5-flash/GenStreamMultiModal-Audio-aac-URL.yaml",
            ),
            _foreign,
            body(user({"text": "Hi"}), named="gemini-2.5-flash"),
            body(user(_FILE), named="gemini-2.5-flash"),
            until=date(2026, 1, 1),
            fix="send the bytes as `inlineData`, or upload the file and send its URI.",
        ),
        UnsupportedFeature(
            "IMG-032",
            "Before June 2026, Gemini 2.5 Flash-Lite took no GIF.",
            ("gemini-2.5-flash-lite*",),
            refused("Unsupported MIME type: {value}"),
            (
                "recorded refusal (gemini-2.5-flash-lite)",
                f"{_TESTS}gemini-2.5-flash-lite_thinking/GenSyncMultiModal-Image-gif-Inline.yaml",
            ),
            _moving,
            body(user(IMAGE), named="gemini-2.5-flash-lite"),
            body(user(_GIF), named="gemini-2.5-flash-lite"),
            until=date(2026, 5, 29),  # it is recorded as taking one on this day
            fix="convert the image to PNG.",
        ),
    ],
)
