"""Files and images: the format of their data."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator

from ...observed.exchange import Json, Request
from ...readers.json_access import decoded
from ...readers.openai_responses import items, parts, read
from ...rule import Finding, broken, met
from .._media import IMAGE_TYPES, redacted, sniffed
from .._openai.refusals import EXPECTED, path, refused
from ._refusals_and_examples import ASK, IMAGE, MUST, REJECT, body, book, call, output

PDF = f"data:application/pdf;base64,{b64encode(b'%PDF-1.4').decode()}"
MP3 = f"data:audio/mpeg;base64,{b64encode(b'ID3').decode()}"


def _file(**more: str) -> Json:
    return {"type": "input_file", "filename": "a.pdf", **more}


def _user(*parts: Json) -> Json:
    return {"role": "user", "content": list(parts)}


@book.rule(
    "IMG-005",
    MUST,
    REJECT,
    source="recorded refusals of sound as a file (gpt-5-mini)",
    refusal=refused(
        "Invalid file data: '{path}'. Expected a base64-encoded data URL with a valid file MIME type "
        "(e.g. 'data:text/plain;base64,SGVsbG8sIFdvcmxkIQ=='), but got unsupported MIME type '{type}'. Please see "
        "https://platform.openai.com/docs/assistants/tools/file-search#supported-files for supported file types.",
        code="invalid_value",
        param="{path}",
    ),
    examples=[
        body(_user(_file(file_data=PDF))),
        body(ASK, call("a"), output("a", [_file(file_data=PDF), IMAGE])),
    ],
    counterexamples=[
        body(_user(_file(file_data=MP3))),
        body(ASK, call("a"), output("a", [_file(file_data=MP3)])),
    ],
)
def files_are_documents(request: Request) -> Iterator[Finding]:
    """The `file_data` of a file is a data URL of a document, not of audio or video.

    Fix: send audio to Chat Completions, and leave video out.
    """
    for pointer, part in _files(request.body):
        data, place = part.get("file_data"), f"{pointer}/file_data"
        if isinstance(data, str) and data.startswith("data:"):
            type = data[5:].partition(";")[0].partition(",")[0]
            wrong = type.partition("/")[0] in {"audio", "video"}
            yield (
                broken(place, f"{type} is not a type of document", path=path(place), type=type)
                if wrong
                else met(place)
            )


@book.rule(
    "IMG-009",
    MUST,
    REJECT,
    source="recorded refusal (gpt-4.1)",
    refusal=refused("Failed to download file from {url}.", code="invalid_value", param="url"),
    examples=[body(_user(_file(file_url="https://example.com/a.pdf")))],
    counterexamples=[body(_user(_file(file_url=PDF)))],
)
def file_urls_are_urls(request: Request) -> Iterator[Finding]:
    """A `file_url` is an HTTP address, not a data URL.

    Fix: put a data URL into `file_data`.
    """
    for pointer, part in _files(request.body):
        url, place = part.get("file_url"), f"{pointer}/file_url"
        if isinstance(url, str):
            wrong = url.startswith("data:")
            yield broken(place, "`file_url` is a data URL", url=url) if wrong else met(place)


@book.rule(
    "IMG-017",
    MUST,
    REJECT,
    source=[
        "https://github.com/anomalyco/opencode/issues/23983",
        "https://github.com/openai/codex/pull/24169",
    ],
    refusal=refused("Invalid '{path}'. {reason}", code="invalid_value", param="{path}"),
    examples=[body(_user(IMAGE)), body(_user({"type": "input_image", "image_url": "https://x.test/a.png"}))],
    counterexamples=[
        body(_user({"type": "input_image", "image_url": PDF})),
        body(_user({"type": "input_image", "image_url": "data:image/png;base64,"})),
        body(_user({"type": "input_image", "image_url": "data:image/png;base64,{'type': 'image'}"})),
        body(_user({"type": "input_image", "image_url": "iVBORw0KGgo="})),
    ],
)
def image_urls_are_of_images(request: Request) -> Iterator[Finding]:
    """An `image_url` is an HTTP address, or a data URL with an image media type and base64 that is not empty.

    Fix: put `data:image/png;base64,` in front of the bytes; send a PDF as `input_file`.
    """
    for pointer, item in items(request.body):
        for place, part in parts(item, pointer):
            url, where = part.get("image_url"), f"{place}/image_url"
            if part.get("type") == "input_image" and isinstance(url, str) and not redacted(url):
                reason = _no_image(url)
                problem = "it is neither an address nor an image"
                yield broken(where, problem, path=path(where), reason=reason) if reason else met(where)


@book.rule(
    "IMG-010",
    MUST,
    REJECT,
    source="https://github.com/acoyfellow/my-ax/issues/89",
    refusal=refused(
        "The image data you provided does not represent a valid image. Please check your input and try again with one "
        "of the supported image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].",
        code="invalid_value",
        param="input",
    ),
    examples=[body(_user(IMAGE))],
    counterexamples=[
        body(_user({"type": "input_image", "image_url": "data:image/png;base64,bm90IGFuIGltYWdl"}))
    ],
)
def images_are_images(request: Request) -> Iterator[Finding]:
    """The bytes of an inline image are a PNG, JPEG, GIF or WebP.

    Fix: look at the first bytes of an image; convert another format, or refuse it before the request.
    """
    for item in read(request):
        if item.kind == "image" and item.media and item.media.data and item.media.type.startswith("image/"):
            data, problem = item.media.data, "the bytes are not an image of these formats"
            if not redacted(b64encode(data[:150]).decode()):
                yield met(item.pointer) if sniffed(data) in IMAGE_TYPES else broken(item.pointer, problem)


def _no_image(url: str) -> str | None:
    """Returns the error in an image's URL, or `None`."""
    if not url.startswith("data:"):
        fine = url.startswith(("http://", "https://"))
        return None if fine else "Expected a valid URL, but got a value with an invalid format."
    kind, _, data = url[5:].partition(";base64,")
    got = "an invalid base64-encoded value" if decoded(data) is None else None
    got = got if data else "empty base64-encoded bytes"
    got = got if kind.startswith("image/") else f"unsupported MIME type '{kind}'"
    return f"{EXPECTED}, but got {got}." if got else None


def _files(request: Json) -> Iterator[tuple[str, Json]]:
    for pointer, item in items(request):
        yield from ((place, part) for place, part in parts(item, pointer) if part.get("type") == "input_file")
