"""Recordings of generated traffic, as ours and as vcrpy's."""

# ruff: noqa: PLC0415, S311
# Imports are measured, so they are not at the top. Random numbers only make text.

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

__all__ = ["URL", "Json", "cassettes", "requests", "response", "write"]

Json = dict[str, Any]

URL = "https://api.example.com/v1/chat"
# English as models write it: mostly ASCII, some of their quotes and dashes, some lines and code.
TEXT = (
    "the tool returned a list of three cities and their temperatures in degrees so here is what I found about each "
    'of them:\n- Paris is mild with light rain expected later today\n- Malmö is "cold" and windy\n- `rome` isn’t in '
    "the data you gave me but it was 24.5 last week – would you like me to look it up again or shall we go on?\n\n"
    "def mean(values): return sum(values) / len(values) and then the answer follows from that as you can see"
)

# The headers of a call through a provider's SDK and of the answer through its CDN.
ASKED = """
accept: application/json
accept-encoding: gzip, deflate, br, zstd
connection: keep-alive
content-length: 1024
content-type: application/json
host: api.example.com
user-agent: SDK/Python 1.0
x-stainless-arch: x64
x-stainless-async: false
x-stainless-lang: python
x-stainless-os: Linux
x-stainless-retry-count: 0
"""
ANSWERED = f"""
cf-cache-status: DYNAMIC
cf-ray: 9a1b2c3d4e5f6a7b-FRA
connection: keep-alive
content-type: application/json
date: Fri, 20 Nov 2026 14:00:00 GMT
server: cloudflare
set-cookie: __cf_bm={"x" * 120}; path=/; HttpOnly; Secure
transfer-encoding: chunked
strict-transport-security: max-age=31536000; includeSubDomains; preload
via: 1.1 google
x-content-type-options: nosniff
x-ratelimit-limit-requests: 500
alt-svc: h3=":443"; ma=86400
x-ratelimit-remaining-requests: 499
x-request-id: req_{"0" * 32}
x-processing-ms: 1234
"""


def requests(kilobytes: int, count: int) -> list[bytes]:
    """Returns different chat requests of about the same size, in messages of 300 bytes."""
    lots, words, found = Random(kilobytes), TEXT.split(" "), []
    texts = [" ".join(lots.choices(words, k=60)) for _ in range(max(1, kilobytes * 3))]
    for number in range(count):
        messages = [
            {"role": "user", "content": f"question {number}"},
            *({"role": "user", "content": t} for t in texts),
        ]
        found.append(
            json.dumps(
                {"model": "m", "messages": messages}, separators=(",", ":"), ensure_ascii=False
            ).encode()
        )
    return found


def response(number: int) -> Json:
    return {"id": number, "choices": [{"message": {"role": "assistant", "content": f"answer {number}"}}]}


def cassettes(folder: Path, kilobytes: int, count: int, *, yaml: bool = True) -> tuple[Path, Path]:
    """Returns the same interactions as a cassette of ours and as one of vcrpy's."""
    return write(folder / f"{kilobytes}-{count}", requests(kilobytes, count), yaml=yaml)


def write(folder: Path, bodies: list[bytes], *, yaml: bool = True) -> tuple[Path, Path]:
    """Writes the recordings of the same traffic: vcrpy's with all headers, ours with those of our list."""
    from vcr.serializers import yamlserializer

    from ellmer_harness import Scrub
    from ellmer_harness.format.serializer import Serializer

    asked, answered = pairs(ASKED), pairs(ANSWERED)
    folder.mkdir(parents=True, exist_ok=True)
    scrub = Scrub({})
    ours, theirs = folder / "c.json", folder / "c.yaml"
    serializer = Serializer(folder / "blobs", near=folder)
    ours.write_text(
        serializer.serialize(cassette(bodies, kept(scrub.request(asked)), kept(scrub.response(answered))))
    )
    serializer.blobs.save()
    if yaml:
        theirs.write_text(yamlserializer.serialize(cassette(bodies, kept(asked), kept(answered))))
    return ours, theirs


def cassette(bodies: list[bytes], asked: Json, answered: Json) -> Json:
    interactions = [
        {
            "request": {"method": "POST", "uri": URL, "body": body.decode(), "headers": {**asked}},
            "response": {
                "status": {"code": 200, "message": "OK"},
                "headers": {**answered},
                "body": {"string": json.dumps(response(number))},
            },
        }
        for number, body in enumerate(bodies)
    ]
    return {"version": 1, "interactions": interactions}


def pairs(headers: str) -> list[tuple[str, str]]:
    split = (line.partition(": ") for line in headers.strip().splitlines())
    return [(name, value) for name, _, value in split]


def kept(headers: list[tuple[str, str]]) -> Json:
    return {name: [value] for name, value in headers}
