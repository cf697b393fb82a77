"""Every recorded stream gives the same events however its bytes are cut: in two parts at every place, and byte by byte.

What a chat does with the events does not depend on the chunks (`test_cut_bytes.py`), so the decoder alone is compared here. The
tests take the smallest stream of each wire format, and every seventh place; `nox -s invariants -- 20` takes twenty of each.
"""

import gzip
import json
import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ellmer_core.conversation.settings import StreamController
from ellmer_core.transport.http_clients import Connection, Limits
from ellmer_core.transport.http_exchange import HttpExchange, Unpacker
from ellmer_core.transport.sent_keys import SentKeys
from ellmer_harness.format.serializer import Serializer

pytestmark = pytest.mark.invariants

CASSETTES = Path(__file__).parents[2] / "cassettes"
FRAMINGS = {"bedrock": "aws_event_stream", "ollama": "ndjson"}
WIRES = sorted(folder.name for folder in CASSETTES.iterdir() if any(folder.glob("*/*.stream.json")))
STREAMS = int(os.environ.get("INVARIANTS", "1"))
STEP = 1 if "INVARIANTS" in os.environ else 7  # bytes between two places


def streams(wire):
    """Returns the smallest different streams of a wire format."""
    found = {}
    for path in sorted(CASSETTES.glob(f"{wire}/*/*.stream.json")):
        cassette = Serializer(path.parent, near=path.parent).deserialize(path.read_text(encoding="utf-8"))
        for each in cassette["interactions"]:
            body = each["response"]["body"]["string"] or b""
            kind = str(each["response"]["headers"].get("content-type"))
            if body and ("event" in kind or "ndjson" in kind):
                found.setdefault(body, path.name)
    return sorted(found, key=len)[:STREAMS]


def forms(wire, body):
    """Yields the stream as it is, in other forms that mean the same, damaged, and with more bytes after its end."""
    yield "", body
    packed = bytearray(gzip.compress(body, mtime=0))
    yield "gzip", bytes(packed)
    packed[len(packed) // 2] ^= 0xFF
    yield "gzip", bytes(packed)
    yield "", body + body + b"\x00\xff{]"
    if wire != "bedrock":
        plain = body.replace(b"\r\n", b"\n")
        yield "", b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n")
        yield "", plain.replace(b"\n", b"\r")


KEY = "data-1234567890123"


def events(wire, encoding, chunks, key=KEY):
    """Returns the events of a stream in chunks, and what went wrong."""
    exchange = HttpExchange(Connection(limits=Limits(None, None, None)), StreamController())
    exchange.framing, exchange.unpacker = FRAMINGS.get(wire, "sse"), Unpacker(encoding)
    exchange.keys = SentKeys({"x-api-key": key})
    found = []
    for chunk in chunks:
        found += exchange.fed(chunk)
        while exchange.unpacker.pending:
            found += exchange.fed(b"")
        if found and isinstance(found[-1], Exception):
            break
    else:
        found += exchange.flushed() or []
    return [(type(event), str(event)) if isinstance(event, Exception) else event for event in found]


@pytest.mark.parametrize("wire", WIRES)
def test_every_split_gives_the_same_events(wire, record_property):
    compared = 0
    for body in streams(wire):
        for encoding, form in forms(wire, body):
            whole = events(wire, encoding, [form])
            assert events(wire, encoding, [form[at : at + 1] for at in range(len(form))]) == whole
            different = [
                at
                for at in range(1, len(form), STEP)
                if events(wire, encoding, [form[:at], form[at:]]) != whole
            ]
            assert different == []
            compared += len(form) // STEP
    record_property("cases", compared)
    assert compared > 100


SECRET = "sk-proj-Ab3dE7gH9kL2mN5pQ8rT1uW4xY7f3A"
TEXTS = [
    SECRET,
    SECRET[:20],
    "s" * 9 + SECRET,
    "xx" + SECRET * 2 + "s",
    "sk-sk-proj-sk-" + SECRET,
    "classes of things",
    SECRET[12:26],
]
OTHERS = ["", ": c\n", "event: x\n", "id: 1\n", "data\n", 'data: {"x": "sk-p"}\n\n']


@given(
    st.sampled_from(TEXTS),
    st.lists(st.integers(1, 60)),
    st.sampled_from(OTHERS),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.lists(st.integers(1, 3_000)),
)
def test_a_key_is_replaced_however_deltas_and_bytes_are_cut(text, places, other, end, cuts):
    places = sorted({0, *places, len(text)})
    pieces = [text[start:stop] for start, stop in pairwise(places)]
    deltas = [json.dumps({"delta": {"content": piece}}) for piece in pieces]
    deltas.append(json.dumps({"other": SECRET}))
    body = "".join(f"{other}data: {delta}\n\n" for delta in deltas).replace("\n", end).encode()
    whole = events("openai-chat", "", [body], SECRET)
    chunks = [body[start:stop] for start, stop in pairwise(sorted({0, *cuts, len(body)}))]
    assert events("openai-chat", "", chunks, SECRET) == whole
    assert events("openai-chat", "", [body[at : at + 1] for at in range(len(body))], SECRET) == whole
    assert SECRET[:14] not in "".join(each["delta"]["content"] for each in whole if "delta" in each)
