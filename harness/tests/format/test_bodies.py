"""Every recorded body is replayed byte for byte, and readable bodies are stored in readable form."""

import gzip
import json
import struct
import zlib
from base64 import b64encode, urlsafe_b64encode

import brotli
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ellmer_harness.errors import CassetteError
from ellmer_harness.format import aws_event_stream as eventstream
from ellmer_harness.format import bodies as forms
from ellmer_harness.format.blobs import Blobs
from ellmer_harness.format.bodies import decode, encode
from ellmer_harness.format.compression import undo
from ellmer_harness.format.json_text import BETWEEN, compact, layout, spell
from ellmer_harness.format.json_text import parse as parse_json
from ellmer_harness.format.serializer import Serializer
from ellmer_harness.format.sse_and_ndjson import parse, parse_quickly, write

JSON = "application/json"
SSE = "text/event-stream"
AWS = "application/vnd.amazon.eventstream"

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
spellings = st.builds(
    lambda value, ascii_only, indent, separators, around: (
        around + json.dumps(value, ensure_ascii=ascii_only, indent=indent, separators=separators) + around
    ),
    values,
    st.booleans(),
    st.sampled_from([None, None, 1, 2, 4, "\t"]),
    st.sampled_from([(",", ":"), (", ", ": "), (",", ": ")]),
    st.sampled_from(["", "\n", "  "]),
)
lines = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=20)
fields = st.builds(
    "{}{}{}".format,
    st.sampled_from(["data", "event", "id", "retry", "", "x"]),
    st.sampled_from([":", ": "]),
    lines | values.map(json.dumps),
)
sse_streams = st.builds(
    lambda events, eol, tail: "".join("".join(f + eol for f in event) + eol for event in events) + tail,
    st.lists(st.lists(fields, max_size=4), max_size=6),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.just("") | fields,
)
ndjson = st.lists(values.map(json.dumps) | lines, max_size=6).map("\n".join)
alike = st.builds(
    lambda events, separators, name, eol: "".join(
        name + "data: " + json.dumps(event, ensure_ascii=False, separators=separators) + eol * 2
        for event in events
    ),
    st.lists(st.dictionaries(st.text(max_size=5), values, max_size=3), min_size=1, max_size=6),
    st.sampled_from([(",", ":"), (", ", ": ")]),
    st.sampled_from(["", "event: x\n"]),
    st.sampled_from(["\n", "\r\n"]),
)
bodies = st.binary(max_size=200) | st.one_of(spellings, sse_streams, alike, ndjson, st.text()).map(
    lambda t: t.encode("utf-8", "surrogatepass")
)
types = st.sampled_from(
    [
        JSON,
        SSE,
        AWS,
        "application/x-ndjson",
        "text/plain; charset=latin-1",
        "text/plain;charset=utf-16",
        "x; charset=x",
        "",
    ]
)
CODINGS = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}


def form_of(body, content_type=JSON, coding=""):
    return encode(body, content_type, coding, Blobs(None))


@given(bodies, types, st.sampled_from(sorted(CODINGS)))
@settings(max_examples=150, deadline=None)
def test_every_body_survives(body, content_type, coding):
    compressed = CODINGS[coding](body)
    blobs = Blobs(None)
    form = encode(compressed, content_type, coding, blobs)
    again = json.loads(layout(form))  # as it is read from the file
    assert decode(again, blobs) == compressed
    layout(form).encode()


@given(
    st.binary(max_size=60),
    st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip, br", "unheard-of"]),
    types,
)
@settings(deadline=None)
def test_a_body_that_is_not_what_its_coding_says_survives(body, coding, content_type):
    form = form_of(body, content_type, coding)
    assert decode(form, Blobs(None)) == body


class TestReadable:
    def test_json_is_a_structure(self):
        assert form_of(b'{"a":[1,2.5,"\xc3\xbc"]}') == {"json": {"a": [1, 2.5, "ü"]}}
        assert form_of(b'{"a": "\\u00fc"}\n') == {"json": {"a": "ü"}, "style": "spaced ascii", "end": "\n"}
        assert form_of(b'{"a":"\\u003cb\\u003e \\/"}') == {"json": {"a": "<b> /"}, "style": "slash escape:<>"}
        assert form_of(b'{\n\t"a": 1\n}')["style"] == "tab"

    @pytest.mark.parametrize(
        "text", ['{"a":1.10}', '{"a":1,"a":2}', '{"a":NaN}', '{"a":"\\ud800"}', '{"a":1e400}', "[" * 5000]
    )
    def test_json_that_cannot_be_written_again_is_text(self, text):
        assert form_of(text.encode()) == {"text": text}

    def test_events_are_entries(self):
        stream = b': hello\n\nevent: a\ndata: {"x":1}   \n\ndata: {"y":2  }\n\ndata: [DONE]\n\ndata: cut'
        assert form_of(stream, SSE) == {
            "sse": [
                {"comment": " hello"},
                {"event": "a", "text": '{"x":1}   '},
                {"data": {"y": 2}, "pad": 2},
                {"text": "[DONE]"},
                {"raw": "data: cut"},
            ]
        }
        assert form_of(b'data:{"x": 1}\r\n\r\n', SSE) == {
            "sse": [{"data": {"x": 1}}],
            "style": "crlf tight spaced",
        }

    def test_an_event_may_be_spelled_in_its_own_way(self):
        stream = b'data: {"x":1,"y":2}\n\ndata: {"type": "ping"}\n\ndata: {"x":1,"y":3}\n\n'
        assert form_of(stream, SSE)["sse"][1] == {"data": {"type": "ping"}, "style": "spaced"}

    def test_lines_are_entries(self):
        assert form_of(b'{"a":1}\n{"b":2}\n', "application/x-ndjson") == {"ndjson": [{"a": 1}, {"b": 2}]} | {}
        assert form_of(b'{"a":1}\nnope\n{"raw":1}', "")["ndjson"][1] == {"raw": "nope"}

    def test_frames_are_entries(self):
        frame = aws_frame({":event-type": "delta"}, b'{"text":"hi"}')
        form = form_of(frame * 2 + frame[:20], AWS)
        assert form["eventstream"][0] == {"headers": {":event-type": "delta"}, "json": {"text": "hi"}}
        assert form["eventstream"][2].keys() == {"base64"}

    @pytest.mark.parametrize("charset", ["iso-8859-1", "utf-16", "shift_jis"])
    def test_text_in_another_charset_is_text(self, charset):
        text = "カフェ vu\n" if charset == "shift_jis" else "déjà vu\n"
        assert form_of(text.encode(charset), f"text/html; charset={charset}") == {
            "text": text,
            "charset": charset,
        }

    @pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
    def test_compressed_bodies_are_readable(self, coding):
        form = form_of(CODINGS[coding](b'{"a":1}'), JSON, coding)
        assert form["json"] == {"a": 1}
        assert form["coding"]["coding"] == coding

    def test_a_stream_flushed_chunk_by_chunk_is_kept_as_it_came_and_shown(self):
        engine = zlib.compressobj(wbits=31)
        body = b"".join(engine.compress(part) + engine.flush(zlib.Z_SYNC_FLUSH) for part in (b'{"a":', b"1}"))
        form = form_of(body, JSON, "gzip")
        assert form["base64"] == b64encode(body).decode()
        assert form["reads"] == {"json": {"a": 1}}

    def test_what_goes_wrong_in_a_codec_of_ours_is_told(self):
        with pytest.raises(CassetteError, match="a body in the cassette cannot be read"):
            decode({"json": {"a": "\ud800"}}, Blobs(None))

    def test_a_cut_gzip_body_gives_what_it_can(self):
        assert undo(gzip.compress(b"hello" * 100, 0)[:60], "gzip").startswith(b"hello")


def aws_frame(headers, payload):
    block = b"".join(
        bytes([len(n)]) + n.encode() + b"\x07" + struct.pack(">H", len(v)) + v.encode()
        for n, v in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(block) + len(payload), len(block))
    message = prelude + struct.pack(">I", zlib.crc32(prelude)) + block + payload
    return message + struct.pack(">I", zlib.crc32(message))


class TestBlobs:
    PNG = b"\x89PNG" + bytes(range(256)) * 20

    def test_media_become_files_named_by_content(self, tmp_path):
        blobs = Blobs(tmp_path)
        url = "data:image/png;base64," + b64encode(self.PNG).decode()
        body = json.dumps({"a": url, "b": [urlsafe_b64encode(self.PNG[::-1]).decode()]}).encode()
        form = encode(body, JSON, "", blobs)
        blobs.save()

        assert form["json"]["a"]["before"] == "data:image/png;base64,"
        assert form["json"]["a"]["$blob"].endswith(".png")
        assert form["json"]["b"][0]["as"] == "base64url"
        assert (tmp_path / form["json"]["a"]["$blob"]).read_bytes() == self.PNG
        assert len(layout(form)) < 500
        assert decode(form, Blobs(tmp_path)) == body

    def test_lists_of_numbers_are_no_strings(self):
        assert not forms._has_long_strings(json.dumps({"embedding": [0.125] * 4000, "x": "y"}).encode())
        assert forms._has_long_strings(json.dumps({"a": "x" * 4096, "numbers": [1.5] * 4000}).encode())

    def test_binary_bodies_too(self, tmp_path):
        blobs = Blobs(tmp_path)
        form = encode(self.PNG, "image/png", "", blobs)
        blobs.save()
        assert decode(form, Blobs(tmp_path)) == self.PNG
        assert list(form) == ["blob"]

    def test_a_body_with_our_own_marker_is_left_alone(self):
        body = json.dumps({"$blob": "x", "long": b64encode(self.PNG).decode()}).encode()
        blobs = Blobs(None)
        assert decode(encode(body, JSON, "", blobs), blobs) == body
        assert not blobs.fresh

    def test_a_missing_or_changed_blob_is_an_error(self, tmp_path):
        blobs = Blobs(tmp_path)
        name = blobs.put(self.PNG)
        with pytest.raises(CassetteError, match="cannot be read"):
            Blobs(tmp_path).get(name)
        blobs.save()
        (tmp_path / name).write_bytes(b"else")
        with pytest.raises(CassetteError, match="does not match its hash"):
            Blobs(tmp_path).get(name)


@given(values)
def test_the_layout_is_json_and_the_same_value(value):
    text = layout(value)
    assert json.loads(text) == value
    assert text == layout(json.loads(text))


def test_a_body_nested_deeper_than_most_parsers_go(tmp_path):
    deep = b"[" * 500 + b"]" * 500
    request = {"method": "POST", "uri": "https://x/", "headers": {}, "body": deep}
    response = {
        "status": {"code": 200, "message": ""},
        "headers": {},
        "body": {"string": b"1e22 12345678901234567890123"},
    }
    serializer = Serializer(tmp_path)
    text = serializer.serialize({"version": 1, "interactions": [{"request": request, "response": response}]})
    assert '"text": "[[[[' in text
    assert serializer.deserialize(text)["interactions"][0]["request"]["body"] == deep


def test_the_layout_breaks_what_is_long():
    text = layout({"short": [1, {"a": 2}], "long": ["x" * 60, "y" * 60]})
    assert text.splitlines() == [
        "{",
        '  "short": [1, {"a": 2}],',
        '  "long": [',
        f'    "{"x" * 60}",',
        f'    "{"y" * 60}"',
        "  ]",
        "}",
    ]


def test_the_serializer_takes_text_and_none_as_vcrpy_gives_them(tmp_path):
    request = {"method": "POST", "uri": "https://x/", "headers": {}, "body": None}
    response = {
        "status": {"code": 204, "message": None},
        "headers": {"Content-Type": ["text/plain"]},
        "body": {"string": "é"},
    }
    serializer = Serializer(tmp_path)
    again = serializer.deserialize(
        serializer.serialize({"version": 1, "interactions": [{"request": request, "response": response}]})
    )
    assert again["interactions"][0]["request"]["body"] == b""
    assert again["interactions"][0]["response"]["body"] == {"string": "é".encode()}


@given(values)
@example([{"small": [1e-05, -3e-07, 0.0001], "large": 1e22}, [[], {}, "a,\n]"]])
@example([[], {}, "a,\n]", ["\ud800"], {"": {"a": [{}]}}])
@example([3, ":5e-7", {"a\\": 5e-7, "b": '\\": 5e-7', "c ": -5e-07, "[": 1e-09}, ': 5e-7, "'])
@example(["\\x41 \xe9", "\\U0001f600 \U0001f600 \u2019", "\\\\x7f \x7f", 1e23])
@example([1e-07, 'x, 1e-7, \\"', {"[0.00001]": -2.5e-06, "1e-05,": 'y" : 0.00002,'}, 1e16, "é\x7f"])
def test_text_is_that_of_json(value):
    assert compact(value) == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert spell(value, "indent2") == json.dumps(value, ensure_ascii=False, indent=2)
    assert spell(value, "spaced") == json.dumps(value, ensure_ascii=False)
    assert spell(value, "colon") == json.dumps(value, ensure_ascii=False, separators=(",", ": "))
    assert spell(value, "indent4 ascii") == json.dumps(value, indent=4)
    assert spell(value, "ascii") == json.dumps(value, separators=(",", ":"))


def test_numbers_with_exponents_are_written_once():
    assert parse_json(b'{"score":8.3e-05}').text == b'{"score":8.3e-05}'


@given(st.one_of(alike, sse_streams).map(lambda text: text.encode("utf-8", "replace")))
def test_a_stream_that_is_read_at_once_has_the_same_form(body):
    assert parse_quickly(body) in (None, parse(body))


@pytest.mark.parametrize("end", ["", "data: [DONE]\n\n"])
def test_the_form_of_a_plain_stream_has_its_text_at_once(end):
    body = f'data: {{"a":1}}\n\ndata: {{"b":"ü"}}\n\n{end}'.encode()
    form = parse_quickly(body)

    assert form == parse(body)
    assert form.text == compact(form["sse"]).encode()


@pytest.mark.parametrize(
    "data",
    [
        ['{"a":1},{"b":[{}', "{}]}"],
        [f'{{"a": "{BETWEEN}"}}', '{"b": 1}'],
        ['{"a":1}', '{"a": 1}'],
        ['{"a":[{}', "{}]}", '{},{"b":1}'],
        ['{"a":1}', '{"a":1,"a":2}'],
        ['{"a":1e16}', '{"a":1}'],
        ['{"a":[1}', "{2]}"],
    ],
)
def test_events_that_are_no_json_by_themselves_are_told_apart(data):
    body = "".join(f"data: {each}\n\n" for each in data).encode()
    assert parse_quickly(body) is None
    assert write(parse(body) or {"sse": []}) in (body, b"")


@pytest.mark.parametrize("end", ["},{", "},{,", "},{:"])
def test_a_string_that_looks_like_the_border_of_objects_stays_whole(end):
    value = {"json": {"items": [{"a": "x" * 60 + end, "b": n} for n in range(60)]}}
    assert json.loads(layout({"body": value})) == {"body": value}


@pytest.mark.parametrize(
    "texts", [[",", "a"], ["a", ","], ['",', "a"], ["a", '",'], ["", ",", ""], ['\\",', ',"']]
)
def test_a_text_that_looks_like_the_border_of_texts_stays_whole(texts):
    value = {"json": texts * 300}
    assert json.loads(layout({"body": value})) == {"body": value}


def test_a_frame_that_cannot_be_rebuilt_is_kept_as_it_is():
    whole = eventstream.write({"eventstream": [{"headers": {":event-type": "x"}, "json": {"a": 1}}]})
    broken = whole[:-1] + bytes([whole[-1] ^ 1])  # a wrong checksum
    form = eventstream.parse(whole + broken)

    assert [sorted(entry) for entry in form["eventstream"]] == [["headers", "json"], ["base64"]]
    assert eventstream.write(form) == whole + broken
