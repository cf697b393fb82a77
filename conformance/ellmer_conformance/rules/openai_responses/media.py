"""Files and images: what their data must be."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator

from ...exchange import Json, Request
from ...rule import Finding, broken, met
from ...wires.openai_responses import items, parts
from .._openai import path, refused
from ._book import ASK, IMAGE, MUST, REJECT, body, book, call, output

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
    """The data of a file is a data URL of a document, not of sound or film."""
    for pointer, part in _files(request.body):
        data, place = part.get("file_data"), f"{pointer}/file_data"
        if isinstance(data, str) and data.startswith("data:"):
            type = data[5:].partition(";")[0].partition(",")[0]
            wrong = type.partition("/")[0] in {"audio", "video"}
            yield (
                broken(place, f"{type} is no document", path=path(place), type=type) if wrong else met(place)
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
    """A `file_url` is the address of a file.

    Fix: a data URL goes into `file_data`.
    """
    for pointer, part in _files(request.body):
        url, place = part.get("file_url"), f"{pointer}/file_url"
        if isinstance(url, str):
            wrong = url.startswith("data:")
            yield broken(place, "a data URL is nothing to download", url=url) if wrong else met(place)


def _files(request: Json) -> Iterator[tuple[str, Json]]:
    for pointer, item in items(request):
        yield from ((place, part) for place, part in parts(item, pointer) if part.get("type") == "input_file")
