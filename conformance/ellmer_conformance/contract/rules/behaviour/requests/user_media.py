"""Images, PDFs and audio from the user: complete, in their place, and with the right type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .....scenarios.messages import PDF, Audio, Image, Text
from ....counts import counted
from ....observed.run import Run, all_media_of
from ....readers.json_access import kind_of
from ....rule import Finding
from .._rulebook import LOSS, MUST, SHOULD, at, book, found, objects, taken

_KINDS = {"image": "image", "document": "document", "other": "audio"}


@book.rule(
    "IMG-001",
    MUST,
    LOSS,
    source=[
        "https://developers.openai.com/api/docs/guides/images-vision",
        "https://github.com/maiphucgiang/codebuddy2api/issues/25",
    ],
)
def user_media_arrive(run: Run) -> Iterator[Finding]:
    """An image, a PDF or audio from the user reaches the provider as media with the same bytes.

    Why: a model that did not get an image describes one anyway. Fix: send the part or block that the
    wire format has for it with standard base64, and the data-URL prefix only where the format has it.
    """
    if run.refused or not run.sent_items:
        return
    sent = {(item.media.sha256, item.kind) for items in run.sent_items for item in items if item.media}
    for media in _given(run):
        kind = kind_of(media)
        problem = f"{media.type} {media.sha256[:8]} did not reach the provider as {_KINDS[kind]}"
        yield found((media.sha256, kind) in sent, "/exchanges", problem)


@book.rule("IMG-002", MUST, LOSS, source="https://github.com/earendil-works/pi/issues/8579")
def user_parts_keep_their_order(run: Run) -> Iterator[Finding]:
    """Text, images, documents and audio of a user turn arrive once and in the order in which they were given.

    Why: a caption describes the image that follows it. If a library documents that it takes texts and media separately,
    each kind must keep its own order. Fix: build the content in one pass over the caller's parts.
    """
    parts = [part for ask in run.case.steps[:1] for part in ask.parts]
    if (
        run.refused
        or not run.sent_items
        or not any(isinstance(p, Audio | Image | PDF) for p in parts)
        or run.case.history
    ):
        return
    wanted = ["text" if isinstance(p, Text) else all_media_of([p])[0].sha256 for p in parts]
    items = [item for item in run.sent_items[0] if item.role == "user"]
    sent = [item.media.sha256 if item.media else "text" for item in items if item.text or item.media]
    if run.apart:
        wanted, sent = ([each for each in some if each != "text"] for some in (wanted, sent))
    yield found(
        sent == wanted,
        "/exchanges/0/request",
        f"{counted(len(sent), 'part')} arrived, in another order or number",
    )


@book.rule("IMG-003", MUST, LOSS, source="https://github.com/anthropics/claude-code/issues/50010")
def media_come_alone(run: Run) -> Iterator[Finding]:
    """A turn with only an image is sent without an empty text.

    Why: Anthropic refuses an empty text, and Gemini refuses an empty part. Fix: send no text where the caller gave
    none.
    """
    if not any(isinstance(p, Image | PDF) for ask in run.case.steps for p in ask.parts):
        return
    for index, items in enumerate(run.sent_items):
        for item in items:
            if item.role == "user" and item.kind == "text":
                yield found(item.text.strip(), at(index, item), "an empty text was sent")
            elif item.role == "user" and item.media:
                yield found(True, at(index, item), "")


@book.rule("IMG-007", SHOULD, LOSS, source="https://developers.openai.com/api/docs/guides/images-vision")
def detail_is_the_callers(run: Run) -> Iterator[Finding]:
    """The `detail` of an image is sent only if the caller set it.

    Why: the detail decides how many tokens an image costs. Fix: leave `detail` out unless the caller set it.
    """
    if run.wire != "openai-chat":
        return
    for index, exchange in enumerate(run.exchanges):
        for part in objects(exchange.request.body):
            if isinstance(part.get("image_url"), dict):
                fine = "detail" not in part["image_url"]
                yield found(fine, f"/exchanges/{index}/request", "`detail` was set without the caller")


@book.rule("TRM-008", MUST, LOSS, source="https://platform.claude.com/docs/en/build-with-claude/pdf-support")
def pdfs_are_documents(run: Run) -> Iterator[Finding]:
    """A PDF is sent as a document of type `application/pdf`, with its name if the format has a field for it.

    Why: an API reads a PDF only in the part that it has for documents. Fix: send it in the part that the format has for
    documents, with its media type and its name.
    """
    documents = {media.sha256: media for media in (*_given(run), *run.tool_media()) if media.filename}
    for index, items in enumerate(run.sent_items):
        for item in items:
            media = item.media and documents.get(item.media.sha256)
            if item.media and media:
                fine = item.kind == "document" and item.media.type == "application/pdf"
                yield found(fine, at(index, item), f"it is an {item.kind} of type {item.media.type!r}")
                if run.wire in {"openai-chat", "openai-responses"}:
                    problem = f"{media.filename} is called {item.media.filename or 'nothing'}"
                    yield found(item.media.filename == media.filename, at(index, item), problem)


@book.rule("IMG-030", MUST, LOSS, source="https://github.com/1jehuang/jcode/issues/465")
def images_are_what_they_say(run: Run) -> Iterator[Finding]:
    """The media type of an image in the request matches its bytes.

    Why: Anthropic refuses an image whose type does not fit its bytes, and other APIs may misread it. Fix: take the
    media type from the first bytes, and not from the file's name.
    """
    types = {media.sha256: media.type for media in (*_given(run), *run.tool_media()) if media.data}
    for index, items in enumerate(run.sent_items):
        for item in items:
            media = item.media
            if media and media.sha256 in types and media.type and not media.type.endswith("*"):
                fine = media.type.lower() == types[media.sha256]
                yield found(fine, at(index, item), f"{types[media.sha256]} was sent as {media.type}")


@book.rule(
    "IMG-031",
    MUST,
    LOSS,
    source=[
        "https://www.rfc-editor.org/rfc/rfc4648#section-4",
        "https://protobuf.dev/programming-guides/json/",
    ],
)
def media_are_standard_base64(run: Run) -> Iterator[Finding]:
    """Media are sent as standard base64, with padding and without line breaks.

    Why: APIs refuse other forms, or read other bytes from them. Fix: `base64.b64encode`, and not `encodebytes` or the URL-safe
    alphabet. Gemini reads both alphabets, because its JSON is that of Protocol Buffers.
    """
    alphabet = _EITHER if run.wire == "gemini" else _STANDARD
    for index, _ in taken(run):
        for pointer, text in _encoded(run.exchanges[index].request.body, ""):
            fine = alphabet.fullmatch(text) and len(text) % 4 == 0
            yield found(
                fine, f"/exchanges/{index}/request{pointer}", f"{text[:24]!r}… is not standard base64"
            )


_STANDARD = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_EITHER = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")
#: Keys whose strings are bytes, where an object beside them says of which type they are.
_TYPED = ("media_type", "mimeType", "mime_type", "format")
_BYTES = ("data", "bytes", "file_data")
_NOT_MEDIA = re.compile(r"text$|reasoning\.")  # OpenRouter's `reasoning.encrypted` has `data` and `format`


def _encoded(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """Yields the base64 texts of a body with their pointers: data URLs, and data beside their media type."""
    if isinstance(value, list):
        for index, each in enumerate(value):
            yield from _encoded(each, f"{pointer}/{index}")
    if not isinstance(value, dict):
        return
    typed = any(name in value for name in _TYPED) and not _NOT_MEDIA.match(str(value.get("type")))
    for key, each in value.items():
        place = f"{pointer}/{key}"
        typed = typed or (
            key == "bytes" and pointer.endswith("/source")
        )  # Bedrock's type stands beside the source
        if isinstance(each, str) and each.startswith("data:") and ";base64," in each[:80]:
            yield place, each.partition(";base64,")[2]
        elif isinstance(each, str) and key in _BYTES and typed:
            yield place, each
        elif key not in {"arguments", "args", "input_schema", "parameters"}:
            yield from _encoded(each, place)


def _given(run: Run) -> list[Any]:
    return [m for ask in run.case.steps[: len(run.replies)] for m in all_media_of(list(ask.parts))]
