"""Each reader of a stream, besides those of providers' answers, reads the same however the bytes were cut: the messages of MCP servers, the
recorder, the program behind `run --command`, and requests to the strict server.
"""

import codecs
import gzip
import json
from random import Random

import httpx
import pytest

from ellmer_conformance.runner.command import declared
from ellmer_conformance.server.http import connection
from ellmer_core.base.budget import MCP_SERVER, SERVER_HEAD
from ellmer_harness import use_cassette

pytest.importorskip("mcp")
from ellmer_core.mcp import reading

pytestmark = pytest.mark.invariants


def cuts(body, random, places=None):
    """Yields the bytes one by one, in small pieces, and in two parts: at every place, or at so many."""
    yield [body[at : at + 1] for at in range(len(body))]
    for size in (2, 3, 7, 64):
        yield [body[at : at + size] for at in range(0, len(body), size)]
    every = range(1, len(body))
    for at in every if places is None else random.sample(every, min(places, len(every))):
        yield [body[:at], body[at:]]


# --- Messages of MCP servers -----------------------------------------------------------------------------


@pytest.fixture
def small_messages(monkeypatch):
    monkeypatch.setattr(reading, "MCP_SERVER", MCP_SERVER._replace(received=400, values=25))


def message(random):
    """Returns a message: good, too long, with too many values, cut, empty, or none."""
    text = "".join(random.choices(["a", "é", "😀", "\\n", '\\"', "\u2028", "\u0085"], k=random.randrange(40)))
    result = {
        "text": text,
        "big": "y" * random.choice([0, 0, 300, 900]),
        "many": [0] * random.choice([0, 0, 40]),
    }
    told = {"jsonrpc": "2.0", "id": random.choice([1, "é", 10**19, "z" * 90]), "result": result}
    line = json.dumps(told, ensure_ascii=random.random() < 0.5)
    return random.choice([line, line, line, line[:-5], f"nonsense {text}", ""])


def lines_of(chunks):
    decoder = codecs.getincrementaldecoder(reading.LINES)()
    return "".join(decoder.decode(chunk) for chunk in chunks)


@pytest.mark.usefixtures("small_messages")
@pytest.mark.parametrize("seed", range(12))
def test_the_lines_of_an_mcp_server(seed, record_property):
    random, compared = Random(seed), 0
    text = random.choice(["\n", "\r\n"]).join(message(random) for _ in range(4)) + "\n"
    body = bytearray(text.encode())
    if seed % 3 == 0:  # one line is not UTF-8
        at = random.randrange(len(body))
        body[at:at] = random.choice([b"\xff", b"\xc3", b"\xed\xa0\x80"])
    whole = lines_of([bytes(body)])
    for chunks in cuts(bytes(body), random):
        assert lines_of(chunks) == whole
        compared += 1
    record_property("cases", compared)


def test_a_line_that_is_not_utf_8_is_an_error_of_its_own_request():
    good, bad = (
        b'{"jsonrpc": "2.0", "id": 1, "result": {}}\n',
        b'{"jsonrpc": "2.0", "id": 2, "result": "\xff"}\n',
    )

    first, error, last = lines_of([good + bad + good]).splitlines()

    assert first == last == good.decode().strip()
    assert (json.loads(error)["id"], json.loads(error)["error"]["message"]) == (2, reading._NOT_UTF_8)


@pytest.mark.usefixtures("small_messages")
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_the_events_of_an_mcp_server_over_http(seed, record_property):
    random, compared = Random(seed), 0
    end = ("\n", "\r\n", "\r")[seed % 3]
    told = [message(random) for _ in range(20)]
    told = [
        each for each in told if seed % 2 or len(each) < 250
    ]  # in each other stream, no message is too large
    body = "".join(f"event: message{end}data: {each}{end}{end}" for each in told).encode()

    def exceeded(chunks):
        count = reading._Count(streamed=True)
        return any(count.exceeded(chunk) for chunk in chunks)

    whole = exceeded([body])
    for chunks in cuts(body, random):
        assert exceeded(chunks) is whole
        compared += 1
    record_property("cases", compared)


# --- The recorder ----------------------------------------------------------------------------------------


SECRET = "q7RtLm29XzAb55VnKpWc"
KEY = "sk-proj-Zx9Qw3Er5Ty7Ui1Op2As4Df6Gh8Jk0Lz"
DELTAS = ["Hé", SECRET[:7], SECRET[7:], KEY[:11], KEY[11:20], KEY[20:], " 😀"]
STREAM = "".join(
    f"event: d\r\ndata: {json.dumps({'delta': text}, ensure_ascii=False)}\r\n\r\n" for text in DELTAS
).encode()
ANSWERS = {
    "JSON": (
        "application/json",
        "",
        json.dumps({"a": f"hä 😀 {SECRET}", "b": KEY}, ensure_ascii=False).encode(),
    ),
    "events": ("text/event-stream", "", STREAM),
    "events with LF": ("text/event-stream", "", STREAM.replace(b"\r\n", b"\n")),
    "events with CR": ("text/event-stream", "", STREAM.replace(b"\r\n", b"\r")),
    "events that are cut": ("text/event-stream", "", STREAM[:-9]),
    "events that are not UTF-8": ("text/event-stream", "", STREAM + b"data: \xff\xfe\r\n\r\n"),
    "lines": (
        "application/x-ndjson",
        "",
        "".join(f"{json.dumps({'m': each})}\n" for each in DELTAS).encode(),
    ),
    "compressed": ("text/event-stream", "gzip", gzip.compress(STREAM, mtime=0)),
    "bytes": ("image/png", "", b"\x89PNG\r\n\x1a\n" + bytes(range(256))),
    "plain text": ("text/plain", "", f"line\u2028 {KEY}\n".encode()),
}
PIECES_ARE_FOUND = {name for name in ANSWERS if name.startswith("events")} | {"lines", "compressed"}


class Served(httpx.BaseTransport):
    def __init__(self, headers, chunks):
        self.headers, self.chunks = headers, chunks

    def handle_request(self, request):
        return httpx.Response(200, headers=self.headers, stream=Chunks(self.chunks))


class Chunks(httpx.SyncByteStream, httpx.AsyncByteStream):
    def __init__(self, chunks):
        self.chunks = chunks

    def __iter__(self):
        return iter(self.chunks)

    async def __aiter__(self):
        for chunk in self.chunks:
            yield chunk


def recorded(folder, name, chunks):
    """Returns the files of a recording, without the sizes of the chunks, or the error."""
    kind, coding, _ = ANSWERS[name]
    headers = {"content-type": kind} | ({"content-encoding": coding} if coding else {})
    path = folder / "a.json"
    for each in (each for each in folder.rglob("*") if each.is_file()):
        each.unlink()
    try:
        with (
            use_cassette(path, mode="rewrite", mask=True, recorded_from="this machine"),
            httpx.Client(transport=Served(headers, chunks)) as client,
            client.stream("POST", "https://api.test/v1", json={}) as answer,
        ):
            for _ in answer.iter_raw():
                pass
    except Exception as error:  # noqa: BLE001 - compared
        return type(error).__name__, str(error)
    files = {each.name: each.read_bytes() for each in folder.rglob("*") if each.is_file()}
    cassette = json.loads(files["a.json"])
    for each in cassette["interactions"]:
        each["response"].pop("stream", None)
    return files | {"a.json": cassette["interactions"]}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_recorder_writes_the_same(name, tmp_path, monkeypatch, record_property):
    monkeypatch.setenv("MY_SERVICE_API_KEY", SECRET)
    body, compared = ANSWERS[name][2], 0
    whole = recorded(tmp_path, name, [body])
    for chunks in cuts(body, Random(name), places=12):
        assert recorded(tmp_path, name, chunks) == whole
        compared += 1
    record_property("cases", compared)
    assert SECRET not in str(whole)
    assert KEY not in str(whole)
    assert (whole[0] == "SecretFound" if isinstance(whole, tuple) else False) is (name in PIECES_ARE_FOUND)


# --- The program behind `run --command` ------------------------------------------------------------------


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"])
def test_a_declaration_is_a_line_whatever_letters_it_has(mark):
    told = json.dumps({"name": f"a{mark}b", "features": ["cancel"]}, ensure_ascii=False)
    told = told if mark > "\x1f" else json.dumps({"name": "ab", "features": ["cancel"]})

    assert declared(f"starting{mark}up\n{told}\r\n").features == {"cancel"}


# --- Requests to the strict server -----------------------------------------------------------------------


class Called:
    """Notes what a `Reader` calls, up to the reply that ends the connection."""

    def __init__(self):
        self.calls, self.ended = [], False

    def note(self, *call, ends=False):
        if not self.ended:
            self.calls.append(call)
        self.ended = self.ended or ends

    def came(self, request):
        self.note(request.method, request.target, dict(request.headers), request.body)

    def waits(self):
        self.note("waits")

    def too_large(self, request):
        self.note("too large", request.target, ends=True)

    def nonsense(self, status, _):
        self.note(status, ends=True)


def called(chunks, cache):
    receiver = Called()
    reader = connection.Reader(receiver, connection.KnownRequests() if cache else None)
    for chunk in chunks:
        if not receiver.ended:
            reader.feed(chunk)
    return receiver.calls


def request(random):
    """Returns a request: with a body, in chunks, with long headers, too large, or nonsense."""
    body = b"b" * random.choice([0, 1, 200, 450, 600])
    head = "".join(f"x-{n}: {'v' * random.choice([1, 100])}\r\n" for n in range(random.randrange(4)))
    begin = f" /{'p' * random.choice([1, 70, 90])} HTTP/1.1\r\nhost: a\r\n{head}"
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in (body[:7], body[7:]) if each)
    return random.choice([
        f"POST{begin}content-length: {len(body)}\r\n\r\n".encode() + body,
        f"GET{begin}\r\n".encode(),
        f"POST{begin}transfer-encoding: chunked\r\n\r\n".encode() + chunks + b"0\r\n\r\n",
        f"POST{begin}expect: 100-continue\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body,
        b"nonsense\r\n\r\n",
    ])  # fmt: skip


@pytest.mark.parametrize("cache", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_requests_to_the_strict_server(cache, seed, monkeypatch, record_property):
    limits = {"SERVER": 500, "SERVER_HEAD": 300, "SERVER_TARGET": 80}
    for name, received in limits.items():
        monkeypatch.setattr(connection, name, getattr(connection, name)._replace(received=received))
    random, compared = Random(seed), 0
    body = b"".join(request(random) for _ in range(4))
    whole = called([body], cache)
    for chunks in cuts(body, random):
        assert called(chunks, cache) == whole
        compared += 1
    record_property("cases", compared)


def test_many_requests_at_once_are_all_answered():
    one = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n" + b"b" * 1000
    many = one * (2 * SERVER_HEAD.received // len(one) + 2)

    assert [call[0] for call in called([many[:-3], many[-3:]], cache=False)] == ["POST"] * many.count(b"POST")
