"""Documents: their names, and the text beside them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...exchange import Json, Request
from ...readers.bedrock import blocks, messages
from ...rule import Finding, broken, met
from ._blocks import media_of
from ._rulebook import ASK, MUST, PDF, REJECT, body, book, loop, refused, result, user

MATRIX = "recorded refusal (claude-sonnet-4-5)"
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
