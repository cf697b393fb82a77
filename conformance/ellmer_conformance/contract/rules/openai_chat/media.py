"""Chat Completions: images, audio and files, and contents that are missing."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping

from ...observed.exchange import Json, Request
from ...readers.json_access import decoded, object_of
from ...readers.openai_chat import all_parts, messages, parts, read
from ...rule import Finding, broken, met
from .._media import IMAGE_TYPES, PNG, is_garbled, redacted, sniffed
from .._openai.refusals import EXPECTED, path, refused
from ._refusals_and_examples import ASK, IMAGE, LOSS, MUST, REJECT, body, book, call, result

# --- media -----------------------------------------------------------------------------------------------


OLD = (
    "gpt-3.5*",
    "gpt-4*",
    "chatgpt-4o*",
    "o1*",
    "o3*",
    "o4*",
)  # models that refuse what newer ones overlook
#: They answered to an image in a tool message, and their counts of tokens have no image in them: gpt-4.1 at Azure in December 2025.
OVERLOOKING = ("gpt-4.1", "gpt-4.1-nano*")
_ANSWERED = "https://github.com/crmne/ruby_llm/blob/{}/spec/fixtures/vcr_cassettes/chat_content_object_support_{}_preserves_content_objects_returned_from_tools.yml"
RECORDED = "https://github.com/llmrb/llm.rb/blob/ad6b23e88a99dd9fe5e55ed7ccef0b461715a0ca"
PDF: Json = {
    "filename": "a.pdf",
    "file_data": f"data:application/pdf;base64,{b64encode(b'%PDF-1.4').decode()}",
}
OGG: Json = {"filename": "a.ogg", "file_data": f"data:audio/ogg;base64,{b64encode(b'OggS').decode()}"}
_GARBLED = PNG.replace("DUlEQVR42mNk", "DUlEQVQAAAAA")  # the beginning of its pixels
SOUND: Json = {"type": "input_audio", "input_audio": {"data": "SUQz", "format": "mp3"}}


def _user(*parts: Json) -> Json:
    return {"role": "user", "content": list(parts)}


def _shown(url: str) -> Json:
    return {"type": "image_url", "image_url": {"url": url}}


@book.rule(
    "TRM-003",
    MUST,
    REJECT,
    source=[
        "recorded refusal (gpt-4o-mini)",
        "https://github.com/OpenHands/OpenHands/issues/7700",
        "https://github.com/dreadnode/rigging/issues/41",
    ],
    refusal=refused(
        "Invalid '{path}'. Image URLs are only allowed for messages with role 'user', "
        "but this message with role '{role}' contains an image URL.",
        code="invalid_value",
        param="{path}",
    ),
    models=(*OLD, *(f"!{name}" for name in OVERLOOKING)),
    examples=[body(ASK, call("a"), result("a", "[see below]"), _user(IMAGE))],
    counterexamples=[body(ASK, call("a"), result("a", [IMAGE]))],
)
def results_are_text(request: Request) -> Iterator[Finding]:
    """A tool message has only text. An image from a tool goes into a user message after the results.

    Why: older models refuse an image here, and newer ones answer 200 but do not see it. Fix: write "[see
    below]" into the result, and send the image in a user message.
    """
    yield from _pictures(request, {"tool", "function"})


@book.rule(
    "IMG-008",
    MUST,
    REJECT,
    source="https://github.com/openai/openai-node/issues/1030",
    refusal=refused(
        "Invalid '{path}'. Image URLs are only allowed for messages with role 'user', "
        "but this message with role '{role}' contains an image URL.",
        code="invalid_value",
        param="{path}",
    ),
    models=OLD,
    examples=[body(_user(IMAGE), {"role": "assistant", "content": "A cat."}, ASK)],
    counterexamples=[body(ASK, {"role": "assistant", "content": [IMAGE]}, ASK)],
)
def only_the_user_shows_images(request: Request) -> Iterator[Finding]:
    """Only user messages have images, not assistant or system messages.

    Fix: put the image into a user message.
    """
    yield from _pictures(request, {"assistant", "system", "developer"})


@book.rule(
    "TRM-030",
    MUST,
    REJECT,
    source=[
        "https://github.com/epam/ai-dial-adapter-openai/issues/434",
        "tool message parts are text in the specification",
    ],
    refusal=refused(
        "Invalid value: 'file'. Supported values are: 'text', 'refusal', 'image_url', and 'input_audio'.",
        code="invalid_value",
        param="{path}",
    ),
    models=(
        *OLD,
        *(f"!{name}" for name in OVERLOOKING),
    ),  # as for images: nobody recorded what newer models do
    examples=[
        body(
            ASK,
            call("a"),
            result("a", [{"type": "text", "text": "[see below]"}]),
            _user({"type": "file", "file": PDF}),
        )
    ],
    counterexamples=[body(ASK, call("a"), result("a", [{"type": "file", "file": PDF}]), model="gpt-4o")],
)
def a_result_has_no_files(request: Request) -> Iterator[Finding]:
    """A tool message has no file. A document from a tool goes into a user message after the results.

    Fix: write into the result that the document follows, and send it after the last result.
    """
    yield from _in_results(request, "file", "a file in a tool message")


@book.rule(
    "TRM-031",
    MUST,
    LOSS,
    source="https://github.com/openai/openai-openapi/issues/523",
    examples=[body(ASK, call("a"), result("a", [{"type": "text", "text": "21 degrees"}]))],
    counterexamples=[body(ASK, call("a"), result("a", [SOUND]), model="gpt-audio")],
)
def a_result_has_no_sound(request: Request) -> Iterator[Finding]:
    """A tool message has no audio. The specification allows only text there, and the model may not hear the audio.

    Fix: send the audio in a user message after the results.
    """
    yield from _in_results(request, "input_audio", "audio in a tool message")


@book.rule(
    "TRM-015",
    MUST,
    LOSS,
    source=[
        "https://github.com/openai/openai-openapi/issues/523",
        _ANSWERED.format("f5761f9cb15b89cd3116d4bf316fad8ff5049fa8", "azure_openai_gpt-4_1"),
        _ANSWERED.format("f01c5fe568459799fc0ad02014d0ab18dfe0035b", "openai_gpt-4_1-nano"),
    ],
    models=["gpt-5*", "gpt-6*", *OVERLOOKING],
    examples=[body(ASK, call("a"), result("a", "[see below]"), _user(IMAGE), model="gpt-5.2")],
    counterexamples=[body(ASK, call("a"), result("a", [IMAGE]), model="gpt-5.2")],
)
def an_image_in_a_result_is_not_seen(request: Request) -> Iterator[Finding]:
    """A tool message has no image. Newer models accept an image there, but do not see it.

    Why: the model answers as if it had seen the image. Fix: send the image in a user message after the results.
    """
    yield from _pictures(request, {"tool", "function"})


@book.rule(
    "REQ-023",
    MUST,
    REJECT,
    source="recorded refusals (gpt-5-mini at OpenAI and at Azure)",
    refusal=refused(
        "Invalid '{path}'. Content blocks are expected to be either text or image_url type.",
        code="invalid_value",
        param="{path}",
    ),
    models=["gpt-5*", "gpt-4.1*", "o4-mini*", "!*audio*"],
    examples=[body(_user(IMAGE), model="gpt-5-mini")],
    counterexamples=[body(_user(SOUND), model="gpt-5-mini")],
)
def models_without_ears_hear_nothing(request: Request) -> Iterator[Finding]:
    """Audio is sent only to audio models.

    Fix: raise an error that names the model, or send a transcript of the audio.
    """
    for pointer, message in messages(request.body):
        heard = any(part.get("type") == "input_audio" for _, part in parts(message, pointer))
        yield (
            broken(pointer, "this model does not accept audio", path=path(pointer)) if heard else met(pointer)
        )


@book.rule(
    "IMG-005",
    MUST,
    REJECT,
    source=[
        "recorded refusals of audio files (gpt-audio)",
        "https://github.com/vercel/ai/issues/7266 (data that are not base64)",
        (
            "https://github.com/braintrustdata/lingua/blob/75f55048ff58a75d000e79bf42b5367bda2ea202/payloads/"
            "snapshots/chatCompletionsUrlBackedAudioFileParam/chat-completions/error.json"
        ),
    ],
    refusal=refused(
        "Invalid file data: '{path}'. Expected a base64-encoded data URL with an application/pdf MIME type "
        "(e.g. 'data:application/pdf;base64,SGVsbG8sIFdvcmxkIQ=='), but got {got}.",
        code="invalid_value",
        param="{path}",
    ),
    examples=[body(_user({"type": "file", "file": PDF}))],
    counterexamples=[
        body(_user({"type": "file", "file": OGG})),
        body(_user({"type": "file", "file": {**PDF, "file_data": "data:application/pdf;base64,a.pdf"}})),
        body(_user({"type": "file", "file": {**PDF, "file_data": "https://example.com/a.pdf"}})),
    ],
)
def files_are_pdf(request: Request) -> Iterator[Finding]:
    """The `file_data` of a file part is a data URL of a PDF, in base64.

    Fix: send audio as `input_audio`, images as `image_url`, and other text as text.
    """
    for pointer, part in all_parts(request.body):
        data, place = object_of(part.get("file")).get("file_data"), f"{pointer}/file/file_data"
        if isinstance(data, str) and not redacted(data):
            got = _no_pdf(data) if data.startswith("data:") else "a value without the 'data:' prefix"
            yield broken(place, f"it is {got}", path=path(place), got=got) if got else met(place)


@book.rule(
    "IMG-037",
    MUST,
    REJECT,
    source="https://github.com/activeagents/activeagent/blob/5b5b17c745925187e5daa73d1076e56655e1ec2b/test/fixtures/"
    "vcr_cassettes/integration/open_ai/chat/common_format/messages_test/test_agent_document_base64_bare.yml",
    refusal=refused(
        "Missing required parameter: '{path}'.", code="missing_required_parameter", param="{path}"
    ),
    examples=[
        body(_user({"type": "file", "file": PDF})),
        body(_user({"type": "file", "file": {"file_id": "file-1"}})),
    ],
    counterexamples=[body(_user({"type": "file", "file": {"file_data": PDF["file_data"]}}))],
)
def files_have_names(request: Request) -> Iterator[Finding]:
    """A file part has its `file_id`, or its `file_data` with a `filename`.

    Why: without a name, the API ignores the data and asks for an id. Fix: send the file's own name, or make one such as
    `document.pdf`.
    """
    for pointer, part in all_parts(request.body):
        file, place = object_of(part.get("file")), f"{pointer}/file"
        if file.keys() & {"file_data", "filename"} and not file.keys() & {"data", "url"}:
            fine = "file_id" in file or {"file_data", "filename"} <= file.keys()
            problem = "it has neither an id nor data with a name"
            yield met(place) if fine else broken(place, problem, path=f"{path(place)}.file_id")


def _no_pdf(url: str) -> str | None:
    """Returns the other type of a data URL that is not a PDF, or `None`."""
    head, _, data = url[5:].partition(",")
    type = head.partition(";")[0]
    if type.partition("/")[0] in {"audio", "video", "image"}:
        return f"unsupported MIME type '{type}'"
    broken_off = type == "application/pdf" and not redacted(data) and decoded(data) is None
    return "an invalid base64-encoded value" if broken_off else None


@book.rule(
    "IMG-017",
    MUST,
    REJECT,
    source="https://github.com/nraiden/cofounder/issues/72",
    refusal=refused("Invalid MIME type. Only image types are supported.", code="invalid_image_format"),
    examples=[body(_user(IMAGE))],
    counterexamples=[body(_user(_shown(PDF["file_data"])))],
)
def images_are_called_images(request: Request) -> Iterator[Finding]:
    """The data URL of an image has an image media type.

    Fix: send a PDF as a `file`.
    """
    for item in read(request):
        if item.kind == "image" and item.media and item.media.data:
            fine = not item.media.type or item.media.type.startswith("image/")
            yield met(item.pointer) if fine else broken(item.pointer, f"it is declared as {item.media.type}")


@book.rule(
    "IMG-036",
    MUST,
    REJECT,
    source=[
        "https://github.com/sipherxyz/comfyui-art-venture/pull/75",
        "https://github.com/Alibaba-NLP/OmniSearch/issues/3 (no `data:`)",
        f"{RECORDED}/spec/fixtures/cassettes/openai/completions/bad_request.yml (a path)",
    ],
    refusal=refused("{text}", code="{code}", param="{path}"),
    examples=[body(_user(IMAGE)), body(_user(_shown("https://x.test/a.png")))],
    counterexamples=[
        body(_user(_shown(url)))
        for url in ("data:image/png;base64,", "data:image/png;base64,undefined", "/a.png", "iVBORw0KGgo" * 6)
    ],
)
def image_urls_are_of_images(request: Request) -> Iterator[Finding]:
    """The URL of an image is an HTTP address, or a data URL with base64 that is not empty.

    Fix: put `data:image/png;base64,` in front of the bytes, and leave out an image whose file is empty.
    """
    for pointer, part in all_parts(request.body):
        url, place = object_of(part.get("image_url")).get("url"), f"{pointer}/image_url/url"
        if part.get("type") == "image_url" and isinstance(url, str) and not redacted(url):
            told = _no_image(url, path(place))
            yield broken(place, "it is neither an address nor an image", **told) if told else met(place)


def _no_image(url: str, place: str) -> Mapping[str, str | None]:
    """Returns what the API says of an image's URL: its text, its code and the path. The result is empty for a valid URL."""
    head, mark, data = url.partition(";base64,")
    if url.startswith("data:"):
        wrong = mark and (not data or decoded(data) is None) and head[5:].startswith("image/")
        return {"text": "Invalid base64 image_url.", "code": None, "path": None} if wrong else {}
    if url.startswith("/"):
        text = f"Failed to download image from {url}. Image URL is invalid."
        return {"text": text, "code": "invalid_image_url", "path": None}
    if len(url) < 64 or decoded(url) is None:  # other schemes are not judged
        return {}
    text = f"Invalid image URL: '{place}'. {EXPECTED}, but got a value without the 'data:' prefix."
    return {"text": text, "code": "invalid_value", "path": place}


@book.rule(
    "IMG-010",
    MUST,
    REJECT,
    source="recorded refusal of bytes that are not an image (gpt-4o-mini)",
    refusal=refused(
        "You uploaded an unsupported image. "
        "Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
        code="invalid_image_format",
    ),
    examples=[body(_user(IMAGE))],
    counterexamples=[body(_user(_shown("data:image/png;base64,bm90IGFuIGltYWdl")))],
)
def images_are_images(request: Request) -> Iterator[Finding]:
    """The bytes of an inline image are a PNG, JPEG, GIF or WebP.

    Fix: look at the first bytes of an image; convert another format, or refuse it before the request.
    """
    for item in read(request):
        data = item.media.data if item.kind == "image" and item.media else b""
        if data and not redacted(b64encode(data[:150]).decode()):
            fine = sniffed(data) in IMAGE_TYPES
            yield (
                met(item.pointer)
                if fine
                else broken(item.pointer, "the bytes are not an image of these formats")
            )


@book.rule(
    "IMG-038",
    MUST,
    REJECT,
    source=(
        "https://github.com/vicentereig/dspy.rb/blob/579c211c265064c01dbd44c103a0cfd08aa30d02/"
        "spec/vcr_cassettes/openai_multimodal_base64.yml (gpt-4o-mini)"
    ),
    refusal=refused(
        "You uploaded an unsupported image. Please make sure your image is valid.", code="image_parse_error"
    ),
    examples=[body(_user(IMAGE))],
    counterexamples=[body(_user(_shown(f"data:image/png;base64,{_GARBLED}")))],
)
def images_can_be_unpacked(request: Request) -> Iterator[Finding]:
    """The pixels of an inline PNG can be unpacked.

    Fix: open the image before you send it, and raise an error if it is damaged.
    """
    for item in read(request):
        data = item.media.data if item.kind == "image" and item.media else b""
        if data and sniffed(data) == "image/png" and not redacted(b64encode(data[:150]).decode()):
            wrong = is_garbled(data)
            yield broken(item.pointer, "its pixels cannot be unpacked") if wrong else met(item.pointer)


def _pictures(request: Request, roles: set[str]) -> Iterator[Finding]:
    for pointer, message in messages(request.body):
        role = message.get("role")
        if role in roles:
            shown = any(part.get("type") == "image_url" for _, part in parts(message, pointer))
            problem = f"an image in a message of the {role}"
            yield broken(pointer, problem, path=path(pointer), role=role) if shown else met(pointer)


def _in_results(request: Request, kind: str, problem: str) -> Iterator[Finding]:
    """Yields parts of a kind in tool messages."""
    for pointer, message in messages(request.body):
        for place, part in parts(message, pointer) if message.get("role") == "tool" else ():
            wrong = part.get("type") == kind
            yield broken(place, problem, path=f"{path(place)}.type") if wrong else met(place)


# --- missing contents ------------------------------------------------------------------------------------


@book.rule(
    "REQ-006",
    MUST,
    REJECT,
    source=[
        "https://github.com/run-llama/llama_index/issues/17555",
        "https://github.com/langchain-ai/langchainjs/issues/4153",
    ],
    refusal=refused(
        "Invalid value for 'content': expected a string, got null.", param="messages.[{index}].content"
    ),
    examples=[body(ASK, call("call_1"), result("call_1", "")), body({"role": "user", "content": ""})],
    counterexamples=[
        body({"role": "user"}),
        body({"role": "user", "content": None}),
        body(ASK, {"role": "assistant", "content": None}),
        body(ASK, call("call_1"), result("call_1", None)),
    ],
)
def content_is_there(request: Request) -> Iterator[Finding]:
    """A message has content, unless it is an assistant message with tool calls, a refusal or audio.

    Why: null is not an empty text. Fix: send `""`, which is accepted, or leave the message out.
    """
    for i, (pointer, message) in enumerate(messages(request.body)):
        if message.get("role") not in {"user", "system", "assistant", "tool"}:
            continue
        instead = ("tool_calls", "function_call", "refusal", "audio")
        if message.get("role") == "assistant" and any(message.get(key) is not None for key in instead):
            continue
        missing = message.get("content") is None
        yield broken(pointer, "the message has no content", index=i) if missing else met(pointer)
