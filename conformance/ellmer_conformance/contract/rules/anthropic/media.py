"""Inline images and documents: accepted media types, and bytes that match the declared type."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from ...observed.exchange import Json, Request
from ...readers.json_access import decoded, object_of, read_once
from ...rule import Finding, broken, met
from .._media import IMAGE_TYPES, PNG, pixels, redacted, sniffed
from ._refusals_and_examples import IMAGE, MUST, REJECT, body, book, refused, user
from ._turns import all_blocks

#: The first report. In October 2025 claude-sonnet-4-5 is recorded to take a PNG that is declared as a JPEG.
CHECKED = date(2025, 12, 30)
SDK = "https://github.com/anthropics/anthropic-sdk-python (Base64ImageSourceParam, Base64PDFSourceParam)"


def _inline(kind: str, type: str, data: str) -> Json:
    return {"type": kind, "source": {"type": "base64", "media_type": type, "data": data}}


def _linked(url: str) -> Json:
    return {"type": "image", "source": {"type": "url", "url": url}}


@book.rule(
    "IMG-006",
    MUST,
    REJECT,
    source=SDK,
    refusal=refused("{place}.source.base64.media_type: Input should be {expected}"),
    examples=[body(user(IMAGE)), body(user(_inline("document", "application/pdf", "JVBERi0=")))],
    counterexamples=[
        body(user(_inline("image", "image/svg+xml", PNG))),
        body(user(_inline("document", "text/csv", "YSxi"))),
    ],
)
def media_types_are_taken(request: Request) -> Iterator[Finding]:
    """An inline image is a JPEG, PNG, GIF or WebP, and an inline document is a PDF.

    Fix: convert the image; send plain text as a source of type `text`.
    """
    images = "'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
    for pointer, place, block in _inlined(request.body):
        type, image = block["source"].get("media_type"), block.get("type") == "image"
        fine, where = (
            type in (IMAGE_TYPES if image else ("application/pdf",)),
            f"{pointer}/source/media_type",
        )
        facts = {"place": place, "expected": images if image else "'application/pdf'"}
        yield met(where) if fine else broken(where, f"{type} is not taken here", **facts)


@book.rule(
    "IMG-036",
    MUST,
    REJECT,
    source=[
        "https://github.com/anthropics/claude-code/issues/12750",
        "https://github.com/anthropics/claude-code/issues/9007",
        "https://github.com/Yeachan-Heo/gajae-code/pull/2806 (no base64)",
    ],
    refusal=refused("{place}.source.base64: {reason}"),
    examples=[body(user(IMAGE))],
    counterexamples=[
        body(user(_inline("image", "image/png", ""))),
        body(user(_inline("image", "image/png", "[the image was not found]"))),
    ],
)
def images_have_bytes(request: Request) -> Iterator[Finding]:
    """The data of an inline image are base64 and not empty.

    Fix: leave out an image whose file is empty or lost.
    """
    for pointer, place, block in _inlined(request.body):
        data, where = block["source"].get("data"), f"{pointer}/source/data"
        if block.get("type") == "image" and isinstance(data, str) and not redacted(data):
            reason = "invalid base64 data" if decoded(data) is None else ""
            reason = reason if data else "image cannot be empty"
            yield broken(where, reason, place=place, reason=reason) if reason else met(where)


@book.rule(
    "IMG-010",
    MUST,
    REJECT,
    source=[
        "recorded (claude-sonnet-4-5), of a file behind a URL",
        "https://github.com/anthropics/claude-code/issues/1747",
    ],
    refusal=refused("Could not process image"),
    formerly=[refused("{place}.source.base64.data: The file format is invalid or unsupported")],
    examples=[body(user(IMAGE))],
    counterexamples=[body(user(_inline("image", "image/png", "bm90IGFuIGltYWdl")))],
)
def images_are_images(request: Request) -> Iterator[Finding]:
    """The bytes of an inline image are a JPEG, PNG, GIF or WebP.

    Fix: look at the first bytes of an image; convert another format, or refuse it before the request.
    """
    for pointer, place, block in _inlined(request.body):
        data = block["source"].get("data")
        found = decoded(data) if isinstance(data, str) and not redacted(data) else None
        if block.get("type") == "image" and found:
            fine = sniffed(found) in IMAGE_TYPES
            where = f"{pointer}/source/data"
            yield (
                met(where)
                if fine
                else broken(where, "the bytes are not an image of a known format", place=place)
            )


@book.rule(
    "IMG-015",
    MUST,
    REJECT,
    source=[
        "https://github.com/vybestack/llxprt-code/issues/2130",
        "https://github.com/UKGovernmentBEIS/inspect_evals/issues/1367",
        "https://github.com/anthropics/claude-code/issues/15746",
    ],
    since=CHECKED,
    refusal=refused(
        "{place}.source.base64: The image was specified using the {told} media type, but the image appears to be a "
        "{found} image"
    ),
    formerly=[refused("{place}.source.base64.data: Image does not match the provided media type {told}")],
    models=[
        "!claude-3-opus*",
        "!claude-3-sonnet*",
        "!claude-3-haiku*",
        "!claude-3-5-*",
    ],  # recorded as accepted
    examples=[body(user(IMAGE))],
    counterexamples=[body(user(_inline("image", "image/jpeg", PNG)))],
)
def images_are_what_they_are_called(request: Request) -> Iterator[Finding]:
    """The declared media type of an inline image matches its bytes.

    Fix: detect the type from the bytes, not from the file name or an upload header.
    """
    for pointer, place, block in _inlined(request.body):
        told, data = block["source"].get("media_type"), block["source"].get("data")
        if (
            block.get("type") == "image"
            and told in IMAGE_TYPES
            and isinstance(data, str)
            and not redacted(data)
        ):
            found = sniffed(decoded(data) or b"")
            wrong, where = found in IMAGE_TYPES and found != told, f"{pointer}/source/media_type"
            facts = {"place": place, "told": told, "found": found}
            yield (
                broken(where, f"it is declared as {told}, but it is {found}", **facts)
                if wrong
                else met(where)
            )


#: PNGs of one row, with 2001 and 8001 pixels.
_2001 = "iVBORw0KGgoAAAANSUhEUgAAB9EAAAABAQAAAABBRGPuAAAADElEQVR42mNgGLkAAAD8AAEy0wUiAAAAAElFTkSuQmCC"
_8001 = "iVBORw0KGgoAAAANSUhEUgAAH0EAAAABAQAAAACU2s6JAAAAEUlEQVR42mNgGAWjYBQMfwAAA+oAAf4i1lEAAAAASUVORK5CYII="
_MANY = 20  # images in one request


@book.rule(
    "IMG-040",
    MUST,
    REJECT,
    source=[
        "https://platform.claude.com/docs/en/build-with-claude/vision.md",
        "https://github.com/anthropics/claude-code/issues/4778",
        "https://github.com/anthropics/claude-code/issues/49537 (more than 20 images, in both wordings)",
        "https://github.com/can1357/oh-my-pi/pull/10633 (September 2026)",
    ],
    since=date(2025, 8, 4),  # the first report
    refusal=refused(
        "{place}.source.base64.data: At least one of the image dimensions exceed max allowed size{where}: {most} pixels"
    ),
    formerly=[  # as Claude Code tells it
        refused("An image in the conversation exceeds the dimension limit for many-image requests ({most}px)")
    ],
    examples=[
        body(user(IMAGE)),
        body(user(*[_inline("image", "image/png", _2001)] * _MANY, "What is this?")),
    ],
    counterexamples=[
        body(user(_inline("image", "image/png", _8001), "What is this?")),
        body(user(*[_inline("image", "image/png", _2001)] * (_MANY + 1), "What is this?")),
    ],
)
def images_are_not_too_large(request: Request) -> Iterator[Finding]:
    """An image is at most 8000 pixels wide and high, and at most 2000 in a request with more than 20 images.

    Fix: make the image smaller before it is sent. Claude itself scales down what has more than some 1600 pixels.
    """
    images = [each for each in _inlined(request.body) if each[2].get("type") == "image"]
    all_images = [block for _, _, block in all_blocks(request.body) if block.get("type") == "image"]
    most, where = (2000, " for many-image requests") if len(all_images) > _MANY else (8000, "")
    for pointer, place, block in images:
        data = block["source"].get("data")
        size = pixels(decoded(data) or b"") if isinstance(data, str) and not redacted(data) else None
        if size:
            problem = f"the image is {size[0]} × {size[1]} pixels"
            facts = {"place": place, "where": where, "most": most}
            at = f"{pointer}/source/data"
            yield broken(at, problem, **facts) if max(size) > most else met(at)


@book.rule(
    "IMG-042",
    MUST,
    REJECT,
    source=["https://github.com/BrokkAi/brokk-app/issues/2269", "https://github.com/looplj/axonhub/pull/742"],
    since=date(2026, 1, 2),
    refusal=refused("Only HTTPS URLs are supported."),
    examples=[body(user(_linked("https://example.com/a.png"))), body(user(IMAGE))],
    counterexamples=[
        body(user(_linked("http://example.com/a.png"))),
        body(user(_linked(f"data:image/png;base64,{PNG}"))),
    ],
)
def urls_are_https(request: Request) -> Iterator[Finding]:
    """The URL of an image or a document begins with `https:`.

    Fix: send the bytes of a `data:` URL as a source of type `base64`, and download what only HTTP has.
    """
    for pointer, _, block in all_blocks(request.body):
        source = object_of(block.get("source"))
        if block.get("type") in {"image", "document"} and source.get("type") == "url":
            url, where = str(source.get("url")), f"{pointer}/source/url"
            fine = url.lower().startswith("https:") or redacted(url)
            yield met(where) if fine else broken(where, f"it begins with {url.partition(':')[0]}:")


@read_once
def _inlined(request: Json) -> Iterator[tuple[str, str, Json]]:
    for pointer, place, block in all_blocks(request):
        source = block.get("source")
        if (
            block.get("type") in {"image", "document"}
            and isinstance(source, dict)
            and source.get("type") == "base64"
        ):
            yield pointer, place, block
