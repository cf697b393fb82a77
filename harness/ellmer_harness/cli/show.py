"""print a recording as a readable conversation

Bodies are shown as structure. Events of the same shape in a row are joined. Media are named, not printed.
Credentials are masked. With --raw, bodies are printed byte for byte.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from ..display import Events, Media, outline, shown, size, view
from ..exchange.messages import Headers
from ..format.serializer import OURS
from ..recordings import Interaction
from ..recordings.interaction import value_of
from ..secrets.quoted_keys import forms_of_keys, sent_keys, text_without_keys
from ..secrets.redaction import Scrub, masked
from ._terminal import complain, one, one_line, say

_DULL = {"accept-encoding", "connection", "host", "user-agent", "content-length", "date", "server"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of the command."""
    parser.add_argument("path", type=Path, metavar="FILE", help="the recording to show")
    parser.add_argument(
        "-n", "--number", type=int, action="append", help="print only the n-th interaction; repeatable"
    )
    parser.add_argument("--raw", action="store_true", help="print bodies byte for byte, and all headers")


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    found, scrub = one(options.path), Scrub.of(None)
    if not options.raw:
        say(
            one_line(
                _title(options.path, found.kind, len(found.interactions), found.metadata.get(OURS) or {})
            )
        )
    numbers = options.number or range(1, len(found.interactions) + 1)
    for number in numbers:
        if not 1 <= number <= len(found.interactions):
            complain(
                f"ellmer-harness: {options.path} has no interaction {number}, only {len(found.interactions)}"
            )
            return 2
        it = found.interactions[number - 1]
        if options.raw:
            _raw(it, scrub)
        else:
            say("\n" + "\n".join(_lines(number, it, scrub)))
    return 0


def _title(path: Path, kind: str, count: int, ours: dict[str, str]) -> str:
    origin = (
        f"recorded from {ours.get('recorded_from', 'unknown')}"
        if kind == "ours"
        else f"a recording of {kind}"
    )
    when = f", {ours['recorded_at']}" if "recorded_at" in ours else ""
    return f"{path}: {count} interaction{'s' * (count != 1)}, {origin}{when}"


def _lines(number: int, it: Interaction, scrub: Scrub) -> Iterator[str]:
    """Yields the lines of an exchange. A key that it sends is replaced wherever it or its answer quotes it."""
    seen, keys = view(it), forms_of_keys(sent_keys(it.url, it.sent))
    lines = [
        f"#{number}  {it.method} {shown(scrub.url(it.url))}",
        *_message(it.sent, seen.request, scrub),
        f"  → {_answer(it, seen.response)}",
        *_message(it.headers, seen.response, scrub),
    ]
    yield from (text_without_keys(line, keys) for line in lines)


def _answer(it: Interaction, body: object) -> str:
    if it.error:
        return f"{it.status or ''} {it.error.get('error')}: {it.error.get('message', '')}".strip()
    if it.status is None:
        return "no answer"
    parts = [f"{it.status} {it.reason}".strip(), value_of(it.headers, "content-type")]
    if isinstance(body, Events):
        parts.append(f"{body.count} event{'s' * (body.count != 1)}")
    if it.stream and "ms" in it.stream:
        parts.append(f"{sum(map(int, it.stream['ms'].split()))} ms")
    if it.stream and it.stream.get("end") == "closed":
        parts.append("the client stopped reading")
    return shown(", ".join(filter(None, [*parts, size(len(it.content or b""))])))


def _message(headers: Headers, body: object, scrub: Scrub) -> Iterator[str]:
    for name, value in headers:
        if name not in _DULL:
            yield f"    {shown(name)}: {shown(masked(name, scrub.text(value)))}"
    if body is None:
        return
    yield ""
    for line in _body(body):
        yield f"    {scrub.text(line)}".rstrip()


def _body(body: object) -> Iterator[str]:
    if isinstance(body, Events):
        for name, value, times in body.folded:
            first, *rest = outline(value)
            label = f"{name or '-'}{f' × {times}' if times > 1 else ''}"
            yield f"{label}: {first}" if not rest else f"{label}:"
            yield from (f"  {line}" for line in ([first, *rest] if rest else []))
    elif isinstance(body, Media):
        yield str(body)
    else:
        yield from outline(body)


def _raw(it: Interaction, scrub: Scrub) -> None:
    head = [f"{it.method} {scrub.url(it.url)}", *(f"{n}: {masked(n, v)}" for n, v in it.sent), "", ""]
    answer = [f"{it.status} {it.reason}", *(f"{n}: {masked(n, v)}" for n, v in it.headers), "", ""]
    keys = forms_of_keys(sent_keys(it.url, it.sent))
    for lines, body in ((head, it.body), (answer, it.content)):
        sys.stdout.write("\n".join(one_line(text_without_keys(line, keys)) for line in lines))
        sys.stdout.flush()
        sys.stdout.buffer.write((body or b"") + b"\n\n")
        sys.stdout.buffer.flush()
