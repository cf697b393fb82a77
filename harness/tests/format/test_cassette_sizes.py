"""A cassette is never larger than vcrpy's of the same traffic, whatever the bodies are. The headers are those of a
provider's SDK and of its answers: vcrpy keeps them all, and we the few on our list."""

import json
from base64 import b64encode
from copy import deepcopy
from random import Random

import pytest
from vcr.serializers import yamlserializer

from ellmer_harness.format.json_text import layout
from ellmer_harness.format.serializer import Serializer
from ellmer_harness.secrets.redaction import Scrub

LOTS = Random(4)
ASKED = (
    *(("accept", "*/*"), ("accept-encoding", "gzip, deflate, br, zstd"), ("connection", "keep-alive")),
    *(("content-length", "1024"), ("content-type", "application/json"), ("host", "api.example.com")),
    *(("user-agent", "SDK/Python 1.0"), ("x-stainless-arch", "x64"), ("x-stainless-async", "false")),
    *(("x-stainless-lang", "python"), ("x-stainless-os", "Linux"), ("x-stainless-retry-count", "0")),
)
ANSWERED = (
    *(("connection", "keep-alive"), ("date", "Fri, 20 Nov 2026 14:00:00 GMT"), ("server", "nginx/1.27")),
    *(("transfer-encoding", "chunked"), ("strict-transport-security", "max-age=31536000; includeSubDomains")),
    *(("vary", "Accept-Encoding, Origin"), ("x-content-type-options", "nosniff")),
    *(("cache-control", "no-cache, no-store"), ("x-request-id", "0b5e2a7c4d1f")),
)


def words(count):
    return " ".join(
        LOTS.choices(
            ["the", "tool", "returned", "“three”", "cities,", "and", "what", "they’re", "called"], k=count
        )
    )


def chunk(number):
    delta = {"index": 0, "delta": {"content": words(2)}, "finish_reason": None}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": number, "choices": [delta]}


def events(count):
    sent = [json.dumps(chunk(number), separators=(",", ":")) for number in range(count)]
    return "".join(f"data: {event}\n\n" for event in sent).encode()


FEATURES = [
    {
        "type": "Feature",
        "bbox": [n, 1.5, n + 1, 2.5],
        "properties": {"datetime": "2026-11-20T14:00:00Z", "eo:cloud_cover": n / 7},
        "assets": {f"B{b:02}": {"href": f"https://example.com/{n}/B{b:02}.tif", "roles": ["data"]} for b in range(12)},
    }
    for n in range(40)
]  # fmt: skip

BODIES = {
    "a word": ("application/json", b'{"ok":true}'),
    "a small answer": ("application/json", json.dumps(chunk(1)).encode()),
    "nested JSON": ("application/json", json.dumps({"features": FEATURES}).encode()),
    "nested JSON, compact": ("application/json", json.dumps(FEATURES, separators=(",", ":")).encode()),
    "nested JSON, indented": ("application/json", json.dumps(FEATURES, indent=4).encode()),
    "an embedding": ("application/json", json.dumps({"data": [[LOTS.random() for _ in range(800)]]}).encode()),
    "a few events": ("text/event-stream", events(3)),
    "many events": ("text/event-stream", events(200)),
    "lines of JSON": ("application/x-ndjson", b"".join(json.dumps(f).encode() + b"\n" for f in FEATURES)),
    "a text": ("text/plain", words(3000).encode()),
    "a page": ("text/html", "".join(f"  <p class='a'>{words(12)}</p>\n" for _ in range(200)).encode()),
    "few bytes": ("application/octet-stream", LOTS.randbytes(300)),
    "many bytes": ("application/octet-stream", LOTS.randbytes(30_000)),
    "an image in JSON": ("application/json", json.dumps({"b64": b64encode(LOTS.randbytes(30_000)).decode()}).encode()),
}  # fmt: skip


def recorded(asked, answered, kind, body):
    headers = [
        {name: [value] for name, value in pairs} for pairs in (asked, [*answered, ("content-type", kind)])
    ]
    question = {"model": "m", "messages": [{"role": "user", "content": words(40)}]}
    return {
        "request": {
            "method": "POST",
            "uri": "https://api.example.com/v1/chat",
            "headers": headers[0],
            "body": json.dumps(question, ensure_ascii=False).encode(),
        },
        "response": {"status": {"code": 200, "message": "OK"}, "headers": headers[1], "body": {"string": body}},
    }  # fmt: skip


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("name", BODIES)
def test_a_cassette_is_never_larger_than_vcrpys(name, count, tmp_path):
    kind, body = BODIES[name]
    scrub = Scrub({})
    ours = recorded(scrub.request([*ASKED]), scrub.response([*ANSWERED]), kind, body)
    theirs = recorded(ASKED, ANSWERED, kind, body)
    theirs["request"]["body"] = theirs["request"]["body"].decode()
    serializer = Serializer(tmp_path / "blobs", near=tmp_path)
    live = {
        "recorded_from": "live",
        "recorded_at": "2026-11-20T14:00:00Z",
        "recorded_with": {"vcrpy": "9.4.2"},
    }

    stock = yamlserializer.serialize({"version": 1, "interactions": [deepcopy(theirs) for _ in range(count)]})
    text = serializer.serialize(
        {"version": 1, "interactions": [ours] * count, "metadata": {"ellmer_harness": live}}
    )
    serializer.blobs.save()

    size = len(text.encode()) + sum(path.stat().st_size for path in tmp_path.rglob("*.*"))
    assert size <= len(stock.encode())
    assert all(
        one["response"]["body"]["string"] == body for one in serializer.deserialize(text)["interactions"]
    )


def test_a_large_body_has_one_item_a_line():
    items = [{"name": f"item {n}", "parts": [{"n": n}, {"n": n + 1}]} for n in range(100)]
    lines = layout({"body": {"json": {"items": items}}}).splitlines()

    assert '{"name":"item 7","parts":[{"n":7},' in lines
    assert json.loads("\n".join(lines)) == {"body": {"json": {"items": items}}}


def test_a_string_that_looks_like_a_border_is_not_broken():
    value = {"body": {"json": {"items": [["},{", {"a": n}] for n in range(200)]}}}

    assert json.loads(layout(value)) == value


def test_a_large_stream_has_one_event_a_line():
    sent = [{"data": chunk(n)} for n in range(50)]
    lines = layout({"body": {"sse": sent}}).splitlines()

    assert json.loads(lines[9].rstrip(",")) == sent[7]
