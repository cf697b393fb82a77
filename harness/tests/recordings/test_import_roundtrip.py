"""Recordings of every format are imported, replayed through httpx, and exported, byte for byte."""

import gzip
import json
import re
import zlib
from base64 import b64encode
from dataclasses import dataclass, replace
from http import HTTPStatus
from struct import pack
from zlib import crc32

import brotli
import httpx
import pytest
import vcr
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vcr.request import Request
from vcr.serialize import deserialize, serialize
from vcr.serializers import jsonserializer, yamlserializer

from ellmer_harness import use_cassette
from ellmer_harness.cli import main
from ellmer_harness.format.serializer import Serializer

API = "https://api.example.com"
DATE = "Tue, 01 Sep 2026 15:21:26 GMT"
CODINGS = {"": bytes, "gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}
PLAIN = {"gzip": gzip.decompress, "deflate": zlib.decompress, "br": brotli.decompress, "": bytes}


@dataclass(frozen=True)
class Call:
    """A request and the answer, as they were on the wire."""

    path: str
    body: bytes
    sent: str
    status: int
    reason: str
    headers: list[tuple[str, str]]
    content: bytes
    undone: bool = False

    @property
    def method(self):
        return "POST" if self.body else "GET"

    @property
    def url(self):
        return API + self.path

    @property
    def coding(self):
        return dict(self.headers).get("content-encoding", "")

    @property
    def plain(self):
        return PLAIN[self.coding](self.content)

    @property
    def decoded(self):
        """Returns the answer as clients and many recorders have it: decoded, but with its headers."""
        return replace(self, content=self.plain, undone=True)


def frame(payload):
    headers = b"".join(
        bytes([len(n)]) + n + b"\x07" + pack(">H", len(v)) + v for n, v in [(b":event-type", b"chunk")]
    )
    prelude = pack(">II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + pack(">I", crc32(prelude)) + headers + payload
    return message + pack(">I", crc32(message))


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
#: Hypothesis takes words out of our own code, too: a value whose name tells a secret is refused, which others test.
names = words.filter(
    lambda name: not re.search("key|token|secret|pass|auth|cred|sig|session|cookie|pin", name, re.IGNORECASE)
)
values = st.dictionaries(names, words | st.integers() | st.none() | st.lists(words, max_size=3), max_size=4)
answers = st.one_of(
    st.tuples(st.just("application/json"), values.map(lambda v: json.dumps(v, ensure_ascii=False).encode())),
    st.tuples(
        st.just("text/event-stream"),
        st.lists(values, max_size=4).map(
            lambda vs: b"".join(b"data: %s\n\n" % json.dumps(v).encode() for v in vs)
        ),
    ),
    st.tuples(
        st.just("application/vnd.amazon.eventstream"),
        st.lists(values, max_size=3).map(lambda vs: b"".join(frame(json.dumps(v).encode()) for v in vs)),
    ),
    st.tuples(st.just("image/png"), st.binary(max_size=40).map(lambda data: b"\x89PNG" + data * 150)),
    st.tuples(st.just("text/plain"), words.map(str.encode)),
)
posts = st.one_of(
    st.just(("", b"")),
    values.map(lambda v: ("application/json", json.dumps(v).encode())),
    st.just(("application/x-www-form-urlencoded", b"a=1&b=%20x")),
    st.just(
        (
            "multipart/form-data; boundary=xyz",
            b'--xyz\r\nContent-Disposition: form-data; name="f"\r\n\r\n\xff\r\n--xyz--\r\n',
        )
    ),
    st.binary(min_size=1, max_size=30).map(lambda data: ("application/octet-stream", b"\xff" + data)),
)
twice = st.just([("link", "</a>; rel=next"), ("link", "</b>; rel=last")])


def call(number, drawn):
    post, status, answer, coding, extra = drawn
    headers = [("content-type", answer[0]), *extra, ("date", DATE)]
    headers += [("content-encoding", coding)] if coding and answer[1] else []
    content = CODINGS[coding](answer[1]) if answer[1] else b""
    return Call(f"/{number}?q=é&b", post[1], post[0], status, "Some Reason", headers, content)


calls = st.lists(
    st.tuples(
        posts,
        st.sampled_from([200, 201, 404, 429]),
        answers,
        st.sampled_from([*CODINGS]),
        twice | st.just([]),
    ),
    min_size=1,
    max_size=4,
).map(lambda found: [call(at, each) for at, each in enumerate(found)])


def grouped(headers):
    found = {}
    for name, value in headers:
        found.setdefault(name.title(), []).append(value)
    return found


def vcrpy(calls, serializer):
    requests = [
        Request(one.method, one.url, one.body or None, {"Content-Type": one.sent} if one.sent else {})
        for one in calls
    ]
    responses = [
        {
            "status": {"code": one.status, "message": one.reason},
            "headers": grouped(one.headers),
            "body": {"string": one.content},
        }
        for one in calls
    ]
    return serialize({"requests": requests, "responses": responses}, serializer)


def vcrpy_yaml(calls):
    return "a.yaml", vcrpy(calls, yamlserializer).encode(), calls


def vcrpy_json(calls):
    """Writes only text, because vcrpy itself fails to save anything else."""
    calls = [one for one in calls if text(one.content) is not None and text(one.body) is not None]
    return "a.json", vcrpy(calls, jsonserializer).encode(), calls


def langchain(calls):
    whole = yaml.safe_load(vcrpy(calls, yamlserializer))["interactions"]
    sides = {
        "requests": [each["request"] for each in whole],
        "responses": [each["response"] for each in whole],
    }
    return "a.yaml.gz", gzip.compress(yaml.safe_dump(sides).encode()), calls


def pydantic_ai(calls):
    """Writes JSON in parsed form, anything else as vcrpy does, without the content-encoding."""
    calls = [one.decoded for one in calls]
    whole = yaml.safe_load(vcrpy(calls, yamlserializer))
    for one, each in zip(calls, whole["interactions"], strict=True):
        if one.sent == "application/json":
            each["request"]["parsed_body"] = json.loads(each["request"].pop("body"))
        if dict(one.headers)["content-type"] == "application/json":
            each["response"]["parsed_body"] = json.loads(each["response"].pop("body")["string"])
    return "a.yaml", yaml.safe_dump(whole, sort_keys=False).encode(), calls


def r_body(body):
    if text(body) is None:
        return {"raw_gzip": b64encode(zlib.compress(body)).decode()}  # memCompress(type = "gzip")
    return {"string": body.decode()}


def r_vcr(calls, dump=lambda value: yaml.safe_dump(value).encode(), name="a.yml"):
    """Writes no request headers, single values without a list, and no content-encoding."""
    calls = [replace(one.decoded, reason=HTTPStatus(one.status).phrase) for one in calls]
    interactions = [
        {
            "request": {
                "method": one.method,
                "uri": one.url,
                **({"body": r_body(one.body)} if one.body else {}),
            },
            "response": {
                "status": one.status,
                "headers": {n: v if len(v) > 1 else v[0] for n, v in grouped(one.headers).items()},
                "body": r_body(one.content),
            },
            "recorded_at": "2026-09-01 15:21:26",
        }
        for one in calls
    ]
    return name, dump({"http_interactions": interactions, "recorded_with": "VCR-vcr/2.1.0"}), calls


def r_vcr_json(calls):
    return r_vcr(calls, lambda value: json.dumps(value).encode(), "a.json")


def har(calls):
    calls = [one.decoded for one in calls]
    entries = [
        {
            "startedDateTime": "2026-09-01T15:21:26.000Z",
            "request": {
                "method": one.method,
                "url": one.url,
                "headers": [
                    {"name": ":authority", "value": "api.example.com"},
                    {"name": "Content-Type", "value": one.sent},
                ],
                **({"postData": {"mimeType": one.sent, **har_text(one.body)}} if one.body else {}),
            },
            "response": {
                "status": one.status,
                "statusText": one.reason,
                "headers": [{"name": name, "value": value} for name, value in one.headers],
                "content": {"mimeType": "", **har_text(one.content)},
            },
        }
        for one in calls
    ]
    return "a.har", json.dumps({"log": {"version": "1.2", "entries": entries}}).encode(), calls


def har_text(body):
    return (
        {"text": body.decode()}
        if text(body) is not None
        else {"text": b64encode(body).decode(), "encoding": "base64"}
    )


def text(body):
    try:
        return body.decode()
    except UnicodeDecodeError:
        return None


FORMATS = [vcrpy_yaml, vcrpy_json, langchain, pydantic_ai, r_vcr, r_vcr_json, har]


def ask(one):
    """Sends the recorded request, and returns the whole answer."""
    headers = {"content-type": one.sent} if one.sent else {}
    with httpx.stream(one.method, one.url, content=one.body or None, headers=headers) as response:
        raw = b"".join(response.iter_raw())
        coding = response.headers.get("content-encoding", "")
        return response.status_code, response.reason_phrase, response.headers.get_list("link"), coding, raw


def expected(one, *, exactly=True):
    content = one.content
    if not exactly and dict(one.headers)["content-type"] == "application/json":
        content = json.dumps(json.loads(content)).encode()
    links = [value for name, value in one.headers if name == "link"]
    return one.status, one.reason, links, "" if one.undone else one.coding, content


@pytest.mark.parametrize("write", FORMATS, ids=lambda write: write.__name__)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls)
def test_import_replay_export(tmp_path, write, calls):
    name, data, calls = write(calls)
    (tmp_path / name).write_bytes(data)
    assert main(["import", str(tmp_path / name), "--out", str(tmp_path / "c.json"), "--overwrite"]) == 0

    with use_cassette(tmp_path / "c.json", allow_idle=True):
        for one in reversed(calls):  # found by what they ask, not by their order
            assert ask(one) == expected(one, exactly=write is not pydantic_ai)

    assert main(["export", str(tmp_path / "c.json"), "--out", str(tmp_path / "out.yaml")]) == 0
    ours = deserialize(
        (tmp_path / "c.json").read_text(encoding="utf-8"), Serializer(tmp_path / "blobs", near=tmp_path)
    )
    theirs = deserialize((tmp_path / "out.yaml").read_text(encoding="utf-8"), yamlserializer)
    assert theirs[1] == ours[1]
    assert [one._to_dict() for one in theirs[0]] == [one._to_dict() for one in ours[0]]

    (tmp_path / "again").mkdir(exist_ok=True)
    assert (
        main(["import", str(tmp_path / "out.yaml"), "--out", str(tmp_path / "again.json"), "--overwrite"])
        == 0
    )
    first, again = (
        json.loads((tmp_path / file).read_text(encoding="utf-8")) for file in ("c.json", "again.json")
    )
    assert again["interactions"] == first["interactions"]


def test_stock_vcrpy_replays_what_came_out(tmp_path):
    one = Call(
        "/a",
        b"{}",
        "application/json",
        200,
        "OK",
        [("content-type", "image/png"), ("link", "1"), ("link", "2")],
        b"\x89PNG\xff",
    )
    (tmp_path / "a.har").write_bytes(har([one])[1])
    assert main(["export", str(tmp_path / "a.har"), "--out", str(tmp_path)]) == 0
    with vcr.use_cassette(tmp_path / "a.yaml", record_mode="none", match_on=["method", "uri", "body"]):
        assert ask(one) == expected(one)


def test_chunks_and_exceptions_survive_yaml(server, record, tmp_path):
    server.chunked([b"data: 1\n", b"\ndata: 2\n\n"])
    server.raw()
    with use_cassette(tmp_path / "c.json", **record):
        httpx.get(f"{API}/stream")
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.get(f"{API}/cut")
    assert main(["export", str(tmp_path / "c.json"), "--out", str(tmp_path / "c.yaml")]) == 0
    assert main(["import", str(tmp_path / "c.yaml"), "--out", str(tmp_path / "d.json")]) == 0

    with use_cassette(tmp_path / "d.json"), httpx.Client() as client:
        with client.stream("GET", f"{API}/stream") as response:
            assert [*response.iter_raw()] == [b"data: 1\n", b"\ndata: 2\n\n"]
        with pytest.raises(httpx.RemoteProtocolError):
            client.get(f"{API}/cut")
