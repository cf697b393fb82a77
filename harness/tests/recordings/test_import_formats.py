"""Parts that recorders leave out, their other spellings, and errors for unreadable recordings."""

import gzip
import json
import zlib
from base64 import b64encode

import brotli
import httpx
import pytest
import zstandard

from ellmer_harness import Miss, use_cassette
from ellmer_harness.cli import main
from ellmer_harness.format.compression import is_coded
from ellmer_harness.recordings import Unreadable, read
from ellmer_harness.recordings.interaction import value_of

API = "https://api.example.com"
DATE = "Tue, 01 Sep 2026 15:21:26 GMT"
CODINGS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}


def imported(tmp_path, value, name="a.json"):
    """Returns the cassette of an imported recording."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    (tmp_path / name).write_bytes(data)
    assert main(["import", str(tmp_path / name), "--out", str(tmp_path / "c.json")]) == 0
    return json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))


def entry(request=None, response=None, **more):
    return {
        "request": {"method": "GET", "uri": API, "headers": {}, "body": None, **(request or {})},
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {},
            "body": {"string": "hi"},
            **(response or {}),
        },
        **more,
    }


def test_where_it_is_from_is_noted(tmp_path):
    cassette = imported(
        tmp_path, {"version": 1, "interactions": [entry(response={"headers": {"Date": [DATE]}})]}
    )
    assert cassette["metadata"]["ellmer_harness"] == {
        "format": 1,
        "recorded_from": "imported",
        "imported_from": "vcrpy",
        "recorded_at": "2026-09-01T15:21:26Z",
        "not_compared": ["headers"],
    }


def test_a_request_whose_body_was_not_kept_matches_any(tmp_path):
    form = {"fields": {"file": {"path": "apples.pdf", "type": "application/pdf"}}}
    cassette = imported(tmp_path, {"http_interactions": [entry({"method": "POST", "body": form})]})
    assert cassette["metadata"]["ellmer_harness"]["not_compared"] == ["headers", "body"]
    with use_cassette(tmp_path / "c.json"):
        assert (
            httpx.post(API, files={"file": b"%PDF"}, headers={"anthropic-version": "2023-06-01"}).text == "hi"
        )


def test_a_request_whose_url_was_removed_is_found_by_its_body(tmp_path, capsys):
    """The cassettes of langchain-openai have no URLs."""
    entries = [entry({"method": "POST", "uri": "**REDACTED**", "body": f'{{"n": {n}}}'}) for n in (1, 2)]
    cassette = imported(tmp_path, {"version": 1, "interactions": entries})
    assert cassette["metadata"]["ellmer_harness"]["not_compared"] == ["headers", "url"]
    assert "URLs are not compared (2)" in capsys.readouterr().err
    with use_cassette(tmp_path / "c.json", allow_unused=True):
        assert httpx.post(f"{API}/any", json={"n": 2}).text == "hi"
    with pytest.raises(Miss), use_cassette(tmp_path / "c.json", allow_unused=True):
        httpx.post(f"{API}/any", json={"n": 3})


def test_a_form_whose_content_type_was_not_kept_is_compared_by_field(tmp_path):
    imported(tmp_path, {"http_interactions": [entry({"method": "POST", "body": {"string": "b=2&a=1"}})]})
    with use_cassette(tmp_path / "c.json"):
        assert httpx.post(API, data={"a": "1", "b": "2"}).text == "hi"


def test_what_the_first_httpx_stubs_of_vcrpy_wrote(tmp_path):
    response = {
        "status_code": 200,
        "http_version": "HTTP/1.1",
        "content": "hi",
        "headers": {"content-encoding": "gzip"},
    }
    imported(tmp_path, {"version": 1, "interactions": [entry() | {"response": response}]})
    with use_cassette(tmp_path / "c.json"):
        assert httpx.get(API).text == "hi"


def test_the_other_spellings_of_a_body(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "x.bin").write_bytes(b"\x00\xff")
    spellings = [
        {"base64_string": "AP8="},
        {"base64": "AP8="},
        {"on_disk": "files/x.bin"},
        {"file": True, "string": "files/x.bin"},
        {"raw_gzip": b64encode(gzip.compress(b"\x00\xff")).decode()},
    ]
    (tmp_path / "a.json").write_text(
        json.dumps({"http_interactions": [entry(response={"body": body}) for body in spellings]})
    )
    assert [each.content for each in read(tmp_path / "a.json").interactions] == [b"\x00\xff"] * len(spellings)


def test_text_is_in_the_encoding_that_it_was_decoded_from(tmp_path):
    encodings = {
        "ISO-8859-1": b"caf\xe9",
        "utf-8": b"caf\xc3\xa9",
        "ASCII-8BIT": b"caf\xc3\xa9",
        None: b"caf\xc3\xa9",
    }
    bodies = [{"encoding": encoding, "string": "café"} for encoding in encodings]
    (tmp_path / "a.json").write_text(
        json.dumps({"http_interactions": [entry(response={"body": body}) for body in bodies]})
    )
    assert [each.content for each in read(tmp_path / "a.json").interactions] == [*encodings.values()]


def test_bodies_that_say_their_type(tmp_path):
    """cassetter writes such bodies."""
    bodies = {
        b"": {"type": "none"},
        b'{"a": [1]}': {"type": "json", "content": {"a": [1]}},
        b"data: 1\n\n": {"type": "text", "content": "data: 1\n\n"},
        b"\x00\xff": {"type": "binary", "content": "00ff"},
    }
    interactions = [
        entry({"method": "POST", "body": body}, {"status": 200, "body": body}) for body in bodies.values()
    ]
    (tmp_path / "a.json").write_text(json.dumps({"version": 1, "interactions": interactions}))
    found = read(tmp_path / "a.json").interactions
    assert [(each.body, each.content) for each in found] == [(body, body) for body in bodies]


CASSETTER = """
version: 1
interactions: []
ws_interactions:
- uri: wss://ws.example.com/x
  headers: {sec-websocket-protocol: [v1], x-a: ["1"]}
  frames:
  - {direction: send, frame_type: text, body: {type: text, content: hi}, offset_ms: 0}
  - {direction: recv, frame_type: binary, body: {type: binary, content: "00ff"}, offset_ms: 1}
  - {direction: recv, frame_type: text, body: {type: json, content: {a: 1}}, offset_ms: 2}
  - {direction: recv, frame_type: close, body: {type: binary, content: "03e8627965"}, offset_ms: 3}
  recorded_at: '2026-01-05T00:00:00Z'
grpc_interactions:
- request: {method: /a.B/One, metadata: {x-a: ["1"]}, body: {type: binary, content: 0a0161}}
  response: {status_code: 0, status_message: OK, metadata: {}, body: {type: binary, content: 0a026121}}
- request: {method: /a.B/Many, metadata: {}, body: {type: binary, content: 0a0162}}
  response: {status_code: 0, body: {type: binary, content: 000000040a026230000000040a026231}}
- request: {method: /a.B/Sent, body: {type: binary, content: 000000030a0178000000030a0179}}
  response: {status_code: 5, status_message: gone, body: {type: none}}
"""


def test_websockets_and_grpc_of_cassetter(tmp_path):
    (tmp_path / "a.yaml").write_text(CASSETTER)
    found = read(tmp_path / "a.yaml")
    assert found.kind == "cassetter"
    talk, one, many, sent = found.interactions
    assert (talk.method, talk.url, talk.status) == ("GET", "wss://ws.example.com/x", 101)
    assert (talk.sent, value_of(talk.headers, "sec-websocket-protocol")) == ([("x-a", "1")], "v1")
    assert lines(talk.content) == [
        {"sent": "hi"},
        {"received_base64": "AP8="},
        {"received": '{"a": 1}'},
        {"closed": 1000, "reason": "bye"},
    ]
    assert (one.url, one.body) == ("grpc://unknown/a.B/One", b'{"protobuf":{"1":"a"}}')
    assert lines(one.content) == [{"received": {"protobuf": {"1": "a!"}}}, {"status": "OK"}]
    assert [each["received"]["protobuf"]["1"] for each in lines(many.content)[:-1]] == ["b0", "b1"]
    assert lines(sent.content) == [
        {"sent": {"protobuf": {"1": "x"}}},
        {"sent": {"protobuf": {"1": "y"}}},
        {"half_closed": True},
        {"status": "NOT_FOUND", "details": "gone"},
    ]


def lines(content):
    return [json.loads(line) for line in content.splitlines()]


def test_toml_of_cassetter(tmp_path):
    (tmp_path / "a.toml").write_text(
        """
        version = 1
        [[interactions]]
        recorded_at = "2026-02-01T00:00:00Z"
        [interactions.request]
        method = "POST"
        uri = "https://api.example.com/json"
        body_type = "json"
        body_content = '{"value": null}'
        [interactions.request.headers]
        content-type = ["application/json"]
        [interactions.response]
        status = 200
        body_type = "binary"
        body_content = "0001ff"
        [interactions.response.headers]
        """
    )
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n')
    (only,) = read(tmp_path / "a.toml").interactions
    assert (only.body, only.content, only.status) == (b'{"value": null}', b"\x00\x01\xff", 200)
    assert read(tmp_path / "pyproject.toml") is None


def test_what_the_recorder_of_mastra_writes(tmp_path):
    request = {"url": API, "method": "POST", "body": {"q": 1}, "timestamp": 1788276086000}
    response = {"status": 200, "statusText": "OK", "headers": {"date": DATE}}
    pieces = {**response, "chunks": ["data: é", "\n\n"], "chunkTimings": [0, 5], "isStreaming": True}
    told = [
        {"hash": "a", "request": request, "response": each}
        for each in ({**response, "body": {"a": 2}}, pieces)
    ]
    (tmp_path / "a.json").write_text(json.dumps({"meta": {"name": "x"}, "recordings": told}))

    found = read(tmp_path / "a.json")

    assert found.kind == "Mastra"
    assert [each.body for each in found.interactions] == [b'{"q": 1}'] * 2
    assert [each.content for each in found.interactions] == [b'{"a": 2}', "data: é\n\n".encode()]
    assert [each.chunks for each in found.interactions] == [(), (8, 2)]
    assert [each.place for each in found.interactions] == ["/recordings/0", "/recordings/1"]


def test_what_php_and_the_first_vcr_for_ruby_wrote(tmp_path):
    (tmp_path / "a.yml").write_text(
        "- request:\n    method: :get\n    url: https://x/1\n"
        "  response: {status: {http_version: '1.1', code: '404', message: Gone}, body: hi}\n"
        "- request: {method: GET, url: 'https://x/2'}\n"
        "  response: {status: 201 Created, code: 500, body: hi}\n"
        "- request: {method: GET, url: 'https://x/3'}\n"
        "  response: {status: OK, code: 202, body: hi}\n"
    )
    found = read(tmp_path / "a.yml").interactions
    assert [(each.method, each.status, each.reason) for each in found] == [
        ("GET", 404, "Gone"),
        ("GET", 201, "Created"),
        ("GET", 202, ""),
    ]


def test_bodies_beside_a_har_and_in_its_charset(tmp_path):
    (tmp_path / "1f2e.json").write_bytes(b'{"a": 1}')
    entries = [
        {"mimeType": "application/json", "_file": "1f2e.json"},
        {"mimeType": "text/html; charset=iso-8859-1", "text": "café"},
        {"mimeType": "application/json", "text": '{"é": 1}'},
    ]
    request = {"method": "GET", "url": API, "headers": []}
    log = {"entries": [{"request": request, "response": {"status": 200, "content": it}} for it in entries]}
    (tmp_path / "a.har").write_text(json.dumps({"log": log}))
    found = read(tmp_path / "a.har").interactions
    assert [each.content for each in found] == [b'{"a": 1}', b"caf\xe9", b'{"\xc3\xa9": 1}']


def test_yaml_of_ruby(tmp_path):
    (tmp_path / "a.yml").write_text(
        "---\nhttp_interactions:\n- request: {method: get, uri: 'https://x/', body: {encoding: US-ASCII, string: ''}}\n"
        "  response: {status: {code: 200, message: OK}, headers: {}, body: {encoding: ASCII-8BIT, string: !binary 'AP8='}}\n"
        "  recorded_at: Tue, 01 Sep 2026 15:21:26 GMT\n"
    )
    [one] = read(tmp_path / "a.yml").interactions
    assert (one.method, one.content, one.when.isoformat()) == (
        "GET",
        b"\x00\xff",
        "2026-09-01T15:21:26+00:00",
    )


def test_yaml_with_the_strings_of_multidict(tmp_path):
    istr = "!!python/object/apply:multidict._multidict.istr"
    (tmp_path / "a.yaml").write_text(
        f"interactions:\n- request:\n    body: '{{}}'\n    headers:\n      ? {istr}\n      - Content-Type\n"
        "      : - application/json\n    method: POST\n    uri: https://x/\n"
        "  response: {status: {code: 200, message: OK}, headers: {}, body: {string: ''}}\nversion: 1\n"
    )
    [one] = read(tmp_path / "a.yaml").interactions
    assert one.sent == [("content-type", "application/json")]


def test_a_har_of_a_browser(tmp_path):
    """The file has failed requests, web sockets, forms in fields, and an answer without a body."""

    def one(url, request=None, response=None, **more):
        return {
            "request": {"method": "GET", "url": url, **(request or {})},
            "response": {"status": 0} | (response or {}),
            **more,
        }

    fields = {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a", "value": "1 2"}]}
    entries = [
        one(f"{API}/gone", response={"_error": "net::ERR_NAME_NOT_RESOLVED"}),
        one(f"{API}/slow", response={"_error": "net::ERR_TIMED_OUT"}),
        one(
            f"{API}/cancelled", {"headers": [{"name": ":path", "value": "/"}, {"name": "X-A", "value": "1"}]}
        ),
        one("wss://api.example.com/live", _resourceType="websocket"),
        one("data:image/png;base64,AA=="),
        one(
            f"{API}/form#top", {"method": "POST", "postData": fields}, {"status": 200, "content": {"size": 9}}
        ),
    ]
    cassette = imported(
        tmp_path, b"\xef\xbb\xbf" + json.dumps({"log": {"entries": entries}}).encode(), "a.har"
    )
    assert [each["request"]["uri"] for each in cassette["interactions"]] == [
        f"{API}/{p}" for p in ("gone", "slow", "form")
    ]
    with use_cassette(tmp_path / "c.json"), httpx.Client() as client:
        with pytest.raises(httpx.ConnectError, match="NAME_NOT_RESOLVED"):
            client.get(f"{API}/gone")
        with pytest.raises(httpx.ReadTimeout):
            client.get(f"{API}/slow")
        assert client.post(f"{API}/form", data={"a": "1 2"}).content == b""


BAD = {
    "cut.yaml": (b"interactions:\n- request: {method: POST", "damaged or truncated"),
    "cut.json": (b'{"interactions": [{"request": {', "damaged or truncated"),
    "cut.yaml.gz": (gzip.compress(b"interactions: []")[:-9], "cannot be read"),
    "latin.yaml": (b"interactions:\n- \xe9", "not valid UTF-8"),
    "odd.json": (
        json.dumps({"interactions": [{"request": {"method": "GET"}}]}).encode(),
        "/interactions/0 is not a request",
    ),
    "uneven.yaml": (b"requests: [{uri: 'https://x/'}]\nresponses: []\n", "shorter"),
    "away.json": (
        json.dumps({"http_interactions": [entry(response={"body": {"on_disk": "x.bin"}})]}).encode(),
        "put it beside",
    ),
    "base64.json": (
        json.dumps({"http_interactions": [entry(response={"body": {"base64_string": "A"}})]}).encode(),
        "is inconsistent",
    ),
    "zip.json": (
        json.dumps({"http_interactions": [entry(response={"body": {"raw_gzip": "AAAA"}})]}).encode(),
        "is inconsistent",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_with_a_recording_is_told(tmp_path, capsys, name):
    data, problem = BAD[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(Unreadable, match=problem):
        read(tmp_path / name)
    assert main(["import", str(tmp_path / name), "--out", str(tmp_path / "out")]) == 1
    assert str(tmp_path / name) in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_calls_of_tools_between_exchanges_are_no_exchanges(tmp_path):
    tool = {"request": {"method": "POST", "uri": "tool://BashProcess/run"}, "response": "Tue Jun 13"}
    (tmp_path / "c.json").write_text(json.dumps({"interactions": [tool, entry()]}))
    assert [each.place for each in read(tmp_path / "c.json").interactions] == ["/interactions/1"]


@pytest.mark.parametrize(("coding", "compress"), CODINGS.items())
def test_whether_a_body_is_in_its_encoding_shows(coding, compress):
    for plain in (
        b"{}",
        b"\x89PNG\r\n\x1a\n" + bytes(30),
        bytes(range(256)),
        b"data: 1\n\n",
        b"\x00\x00\x00\x54\x00",
        b'{"p": null, "": null}',  # begins like deflate without a header
        b"80 of 100",  # and this like one with a header
        b"3",  # nothing at all, in brotli
    ):
        assert is_coded(compress(plain), coding)
        assert not is_coded(plain, coding)
