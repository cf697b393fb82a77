"""Videos, and media in S3 or in tool results, that Claude and Nova refuse."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Json, Request
from ...readers.bedrock import blocks, messages
from ...rule import Finding, broken, met
from ._blocks import media_of
from ._rulebook import (
    ASK,
    CLAUDE,
    IMAGE,
    MUST,
    NOVA,
    NOVA_LITE,
    PASSED_ON,
    PDF,
    REJECT,
    VIDEO,
    body,
    book,
    dotted,
    loop,
    refused,
    result,
    user,
)
from .documents import MATRIX

S3: Json = {"s3Location": {"uri": "s3://bucket/a"}}
STORED_IMAGE: Json = {"image": {"format": "png", "source": S3}}
STORED_PDF: Json = {"document": {"format": "pdf", "name": "report", "source": S3}}


@book.rule(
    "REQ-022",
    MUST,
    REJECT,
    source=MATRIX,
    refusal=refused(
        "This model doesn't support the video content block that you provided. Update the content block and try again."
    ),
    models=CLAUDE,
    examples=[body(ASK)],
    counterexamples=[loop(result("a", VIDEO)), body(user(VIDEO, "What happens?"))],
)
def claude_sees_no_video(request: Request) -> Iterator[Finding]:
    """Claude does not accept video."""
    for pointer, message in messages(request.body):
        videos = [place for place, kind, _ in media_of({"messages": [message]}) if kind == "video"]
        yield broken(pointer, "a video is sent") if videos else met(pointer)


@book.rule(
    "REQ-023",
    MUST,
    REJECT,
    source=MATRIX,
    refusal=refused("This model doesn't support the s3Uri field. Remove s3Uri and try again."),
    models=CLAUDE,
    examples=[loop(result("a", IMAGE))],
    counterexamples=[loop(result("a", STORED_IMAGE))],
)
def claude_sees_no_stored_images(request: Request) -> Iterator[Finding]:
    """An image for Claude is sent as bytes, not as an S3 location.

    Why: Bedrock does not fetch it. An S3 document in a tool result is accepted, but not read.
    """
    for pointer, kind, media in media_of(request.body):
        if kind == "image":
            stored = "s3Location" in (media.get("source") or {})
            yield broken(pointer, "the image is an S3 location") if stored else met(pointer)


@book.rule(
    "REQ-025",
    MUST,
    REJECT,
    source=MATRIX,
    refusal=refused(f"{PASSED_ON}{{place}}.document.source.type: Field required"),
    models=CLAUDE,
    examples=[body(user(PDF, "Sum it up.")), loop(result("a", STORED_PDF))],
    counterexamples=[loop(result("a"), "See the document.", STORED_PDF)],
)
def claude_reads_no_stored_documents(request: Request) -> Iterator[Finding]:
    """A user's document for Claude is sent as bytes, not as an S3 location."""
    for pointer, message in messages(request.body):
        for place, block in blocks(message, pointer):
            document = block.get("document")
            if isinstance(document, dict):
                stored = "s3Location" in (document.get("source") or {})
                yield (
                    broken(place, "the document is an S3 location", place=dotted(place))
                    if stored
                    else met(place)
                )


@book.rule(
    "TRM-004",
    MUST,
    REJECT,
    source=["recorded refusals (nova-2-lite)", "pydantic-ai, provider notes (verified live 2026-07)"],
    refusal=refused(
        f"{PASSED_ON}Malformed input request: #{{where}}: extraneous key [toolResult] is not permitted, "
        "please reformat your input and try again."
    ),
    models=NOVA,
    examples=[loop(result("a", STORED_IMAGE), model=NOVA_LITE)],
    counterexamples=[
        loop(result("a", VIDEO), model=NOVA_LITE),
        loop(result("a", STORED_PDF), model=NOVA_LITE),
    ],
)
def nova_results_have_images_at_most(request: Request) -> Iterator[Finding]:
    """A tool result for Nova has only text, JSON and images, not video or PDF.

    Fix: send the media beside the result in the same message.
    """
    for pointer, kind, media in media_of(request.body):
        place, inside, _ = pointer.partition("/toolResult")
        if inside:
            refused_ = kind == "video" or media.get("format") == "pdf"
            yield broken(pointer, f"a tool result has a {kind}", where=place) if refused_ else met(pointer)
