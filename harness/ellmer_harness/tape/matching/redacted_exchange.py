"""The recorded form of an exchange: allowed headers, no secrets. The lookup uses the same form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from vcr.request import Request

from ...exchange.messages import Headers, Sent
from ...exchange.reply import Reply, cut, saved
from ...secrets.cassette_scan import masks
from ...secrets.placeholders import Masking
from ...secrets.redaction import Scrub

__all__ = ["masked", "request", "response"]


def request(
    scrub: Scrub,
    method: str,
    url: str,
    headers: Headers,
    body: bytes,
    *,
    normalize: Callable[[Sent], Sent] | None = None,
) -> Request:
    """Returns the request in the recorded form: allowed headers, no secrets, normalized."""
    kept: dict[str, str] = {}
    for name, value in scrub.request(headers):
        kept[name] = f"{kept[name]}, {value}" if name in kept else value
    if normalize is None:
        return Request(method, scrub.url(url), scrub.body(body), kept)
    sent = normalize(Sent(method, scrub.url(url), kept, scrub.body(body)))
    return Request(sent.method, sent.url, sent.body, dict(sent.headers))


def masked(request: Request) -> Request:
    """Returns the request as a cassette that was imported with `--mask` has it, where all secrets of a kind
    are equal.
    """
    found = masks({"uri": request.uri, "body": request.body})
    scrub = Scrub(found)
    return Request(request.method, scrub.url(request.uri), scrub.body(request.body), request.headers)


def response(scrub: Scrub, reply: Reply, *, live: bool, masking: Masking | None = None) -> dict[str, Any]:
    """Returns the answer in the recorded form: allowed headers, no secrets, correct chunk sizes."""
    sizes, waits = [len(piece.data) for piece in reply.pieces], [piece.wait for piece in reply.pieces]
    body, headers = scrub.body(reply.body, sizes), scrub.response(reply.headers)
    if masking:
        headers = [pair for pair in headers if pair[0] != "set-cookie"] + [*masking.cookies(reply.headers)]
    if body != reply.body:
        headers = [(name, str(len(body)) if name == "content-length" else value) for name, value in headers]
    if not live and any(name == "content-length" for name, _ in headers):
        sizes, waits = [len(body)], []  # no stream: where the network cut it is different every time
    clean = replace(reply, headers=headers, pieces=cut(body, sizes, waits))
    return saved(clean, timed=live)
