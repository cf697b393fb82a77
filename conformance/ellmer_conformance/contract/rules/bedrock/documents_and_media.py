"""Documents, their names and the text beside them; videos, and media in S3 or in tool results, that Claude and Nova refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...observed.exchange import Json, Request
from ...readers.bedrock import blocks, media_of, messages
from ...rule import Finding, broken, met
from ._refusals_and_examples import (
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

MATRIX = "recorded refusal (claude-sonnet-4-5)"
_WITHOUT_S3 = ("claude<5",)  # nobody recorded what the models after these do
_NAME = re.compile(r"\s?[\w\-()\[\]]+(?:\s[\w\-()\[\]]+)*\s?", re.ASCII)


def _named(name: str) -> Json:
    return {"document": {**PDF["document"], "name": name}}


@book.rule(
    "IMG-013",
    MUST,
    REJECT,
    source=[
        "https://github.com/vercel/ai/issues/20365",
        "https://github.com/simonw/llm-bedrock/issues/8",
        "https://github.com/karthink/gptel/issues/1427",
    ],
    refusal=refused(
        "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, "
        "and square brackets. The name can't contain more than one consecutive whitespace character. Check that the "
        "file name conforms to these restrictions and retry your request."
    ),
    examples=[
        body(user(_named("Report 2026 (final) [v2]"), "Sum it up.")),
        body(user(_named("report_1"), "Sum it up.")),
    ],
    counterexamples=[
        body(user(_named("report.pdf"), "Sum it up.")),
        body(user(_named("Report -  final"), "Sum it up.")),
        body(user(_named("résumé"), "Sum it up.")),
    ],
)
def document_names_are_plain(request: Request) -> Iterator[Finding]:
    """The name of a document has only letters, digits, single spaces, `-`, `_`, brackets and parentheses.

    Why: the name is for the model; it is not a file name. Fix: drop the extension and replace other characters.
    """
    for pointer, kind, media in media_of(request.body):
        name, place = media.get("name"), f"{pointer}/{kind}/name"
        if kind == "document" and isinstance(name, str) and name:
            yield met(place) if _NAME.fullmatch(name) else broken(place, f"{name!r} is not a valid name")


@book.rule(
    "IMG-014",
    MUST,
    REJECT,
    source=[
        "https://github.com/maximhq/bifrost/issues/7003",
        "https://github.com/ag-ui-protocol/ag-ui/issues/2425",
    ],
    refusal=refused(
        "Messages can't contain duplicate document names. Rename the document and retry your request."
    ),
    examples=[body(user(_named("one"), _named("two"), "Compare."))],
    counterexamples=[
        body(user(PDF, PDF, "Compare.")),
        body(user(PDF, "Sum it up."), ASK, user(PDF, "Again.")),
    ],
)
def document_names_are_unique(request: Request) -> Iterator[Finding]:
    """Each document of a request has its own name, across all messages.

    Fix: append a number.
    """
    seen: set[str] = set()
    for pointer, kind, media in media_of(request.body):
        name, place = media.get("name"), f"{pointer}/{kind}/name"
        if kind == "document" and isinstance(name, str):
            yield broken(place, f"{name!r} occurs twice") if name in seen else met(place)
            seen.add(name)


@book.rule(
    "IMG-012",
    MUST,
    REJECT,
    source=[MATRIX, "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Message.html"],
    refusal=refused(
        "A text block must be included when using documents. Add a text block and retry your request."
    ),
    examples=[body(user(PDF, "Sum it up.")), loop(result("a", PDF))],
    counterexamples=[body(user(PDF)), loop(result("a"), PDF)],
)
def documents_come_with_text(request: Request) -> Iterator[Finding]:
    """A message with a document also has a text block. A document in a tool result does not need one.

    Fix: add a short text, for example the document's name.
    """
    for pointer, message in messages(request.body):
        kinds = {key for _, block in blocks(message, pointer) for key in block}
        if "document" in kinds:
            yield (
                met(pointer) if "text" in kinds else broken(pointer, "the message has a document and no text")
            )


POINT: Json = {"cachePoint": {"type": "default"}}
NOTES: Json = {"document": {"format": "md", "name": "notes", "source": {"bytes": "IyBOb3Rlcw=="}}}


@book.rule(
    "ORD-018",
    MUST,
    REJECT,
    source=[
        "https://github.com/strands-agents/harness-sdk/issues/1966",
        "https://github.com/strands-agents/harness-sdk/pull/2001 (a point before the document, or behind a PDF, is accepted)",
        "https://github.com/pizza-bot-app/pizza-bot/pull/6",
    ],
    refusal=refused(f"{PASSED_ON}{{place}}.type: Field required"),
    models=CLAUDE,
    examples=[
        body(user("Sum it up.", POINT, NOTES)),
        body(user(NOTES, "Sum it up.", POINT)),
        body(user("Sum it up.", PDF, POINT)),
    ],
    counterexamples=[body(user("Sum it up.", NOTES, POINT))],
)
def no_point_follows_a_text_document(request: Request) -> Iterator[Finding]:
    """For Claude, no cache point stands directly behind a document that is not a PDF.

    Why: Bedrock makes the point a mark of the block before it, and such a document has none. Fix: set the point before the document.
    """
    for pointer, message in messages(request.body):
        before: object = None
        for place, block in blocks(message, pointer):
            if "cachePoint" in block:
                document = before.get("document") if isinstance(before, dict) else None
                is_text = isinstance(document, dict) and document.get("format") != "pdf"
                problem = "the cache point stands behind a document that is not a PDF"
                yield broken(place, problem, place=dotted(place)) if is_text else met(place)
            before = block


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
    """Claude does not accept video.

    Fix: raise an error before the request, or take a Nova model.
    """
    for pointer, message in messages(request.body):
        videos = [place for place, kind, _ in media_of({"messages": [message]}) if kind == "video"]
        yield broken(pointer, "a video is sent") if videos else met(pointer)


@book.rule(
    "REQ-023",
    MUST,
    REJECT,
    source=MATRIX,
    refusal=refused("This model doesn't support the s3Uri field. Remove s3Uri and try again."),
    models=_WITHOUT_S3,
    examples=[loop(result("a", IMAGE))],
    counterexamples=[loop(result("a", STORED_IMAGE))],
)
def claude_sees_no_stored_images(request: Request) -> Iterator[Finding]:
    """An image for Claude is sent as bytes, not as an S3 location.

    Why: Bedrock does not fetch it. An S3 document in a tool result is accepted, but not read. Fix: fetch the object
    from S3, and send its bytes.
    """
    for pointer, kind, media in media_of(request.body):
        if kind == "image":
            stored = "s3Location" in (media.get("source") or {})
            yield broken(pointer, "the image is an S3 location") if stored else met(pointer)


@book.rule(
    "REQ-025",
    MUST,
    REJECT,
    source=[MATRIX, "https://github.com/strands-agents/harness-sdk/pull/3610"],
    refusal=refused(f"{PASSED_ON}{{place}}.document.source.type: Field required"),
    formerly=[refused("{place}.document.source.type: Field required")],
    models=_WITHOUT_S3,
    examples=[body(user(PDF, "Sum it up.")), loop(result("a", STORED_PDF))],
    counterexamples=[loop(result("a"), "See the document.", STORED_PDF)],
)
def claude_reads_no_stored_documents(request: Request) -> Iterator[Finding]:
    """A user's document for Claude is sent as bytes, not as an S3 location.

    Fix: fetch the object from S3, and send its bytes.
    """
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
