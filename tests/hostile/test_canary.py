"""A recognizable key goes through all output and storage of the library, with a server that repeats it."""

import copy
import json
import logging
import pickle
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from wires.every_provider import PLACES

import ellmer_core as ec
from ellmer_core.errors import EllmerError
from ellmer_harness import SecretFound, use_cassette

pytest.importorskip("opentelemetry.sdk")

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

KEY = "canary9f8e7d6c5b4a39281706f5e4d3"
GOOD = {"choices": [{"message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}]}
PROVIDERS = ["openai_completions", "anthropic", "google_gemini", "mistral", "cohere", "groq", "azure_openai"]


class Answering(BaseHTTPRequestHandler):
    """Refuses a wrong key with an error that repeats it, and answers other requests."""

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.server.seen.append(f"{self.path} {self.headers}")
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        told = {"error": {"message": "Incorrect API key provided."}} if status > 299 else GOOD
        body = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Prints nothing."""


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        server.seen, server.statuses = [], []
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def heard(monkeypatch, caplog, capsys):
    """Returns the logged, printed and exported text."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    caplog.set_level(logging.DEBUG)
    spans = exporter.get_finished_spans
    return lambda: [caplog.text, *capsys.readouterr(), *(span.to_json() for span in spans())]


@pytest.fixture(autouse=True)
def places(monkeypatch):
    for name, value in PLACES.items():
        monkeypatch.setenv(name, value)


def talk(chat):
    """Runs a few successful and failed turns. Returns the errors with their causes."""
    said = []
    for _ in range(2):
        try:
            chat.chat("Hi", echo="all")
        except EllmerError as error:
            said += [str(error), repr(error), repr(vars(error)), *traceback.format_exception(error)]
    return said


def outputs(chat, folder):
    """Yields all output and saved forms of a chat."""
    wire = chat.wire
    yield from (repr(chat), str(chat), repr(wire), str(wire), repr(vars(wire)), repr(chat.get_turns()))
    yield json.dumps(chat.record())
    yield json.dumps(ec.contents_record(chat.get_turns()))
    for name in ("chat.md", "chat.html"):
        yield ec.export(chat, folder / name).read_text(encoding="utf-8")
    for value in (chat, wire):
        try:
            yield pickle.dumps(value).decode("latin-1")
        except (TypeError, ec.UsageError) as error:
            yield str(error)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.filterwarnings("ignore::ellmer_core.EllmerWarning")
def test_no_output_has_the_key(provider, server, heard, tmp_path):
    server.statuses = [401]
    url = f"http://127.0.0.1:{server.server_port}"
    chat = getattr(ec, f"chat_{provider}")(model="m", api_key=KEY, base_url=url, max_tries=1)
    said = talk(chat)
    shown = [*said, *outputs(chat, tmp_path), *heard()]
    assert said, "the key was refused"
    assert any(KEY in request for request in server.seen), "the key was sent"
    assert [place for place, text in enumerate(shown) if KEY in text] == []


def test_no_cassette_has_the_key(server, tmp_path):
    url = f"http://127.0.0.1:{server.server_port}"
    chat = ec.chat_openai_completions(model="m", api_key=KEY, base_url=url, echo="none")
    with use_cassette(tmp_path / "a.json", mode="record"):
        chat.chat("Hi")
    with pytest.raises(SecretFound) as refused, use_cassette(tmp_path / "b.json", mode="record"):
        chat.chat(f"export OPENAI_API_KEY={KEY}")
    assert any(KEY in request for request in server.seen)
    assert KEY not in "".join(traceback.format_exception(refused.value))
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["a.json"]
    assert KEY not in (tmp_path / "a.json").read_text(encoding="utf-8")


# --- Keys of Amazon Bedrock ------------------------------------------------------------------------------

SECRET, TOKEN = "wJa1rXUtnFEMI/K7MDENG+bPxRfiCYzEXAMPL3KEY", "IQoJb3JpZ2luX2VjEAb9" + "dG9rZW4/1+" * 30 + "=="
BEDROCK = "ABSK" + "QmVkcm9ja0FQSUtleS1/" * 6 + "4kZQ=="


def session():
    """Returns the keys of a session. A function of a module can be pickled."""
    return ec.AwsKeys("AKIA2345672345672345", SECRET, TOKEN)


AWS = {
    "an API key": ({"api_key": BEDROCK}, [BEDROCK]),
    "a session": ({"credentials": session}, [SECRET, TOKEN]),
}


def refusing(request):
    """Returns AWS's own refusal, which quotes the headers that were signed, and a secret that it should not know."""
    told = "\n".join(f"{name}:{value}" for name, value in request.headers.items())
    said = f"The Canonical String for this request should have been 'POST\n{told}'. {SECRET}"
    head = {"x-amzn-requestid": said.replace("\n", " ")[:2000]}
    return httpx.Response(403, json={"message": said}, headers=head)


def forms_of(error):
    """Yields an error in each form in which trackers and workers pass it on."""
    yield from (str(error), repr(error), repr(vars(error)), *traceback.format_exception(error))
    for each in (copy.copy(error), copy.deepcopy(error)):
        yield repr(vars(each)) + str(each)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        pickled = pickle.dumps(error, protocol)
        yield pickled.decode("latin-1")
        yield str(pickle.loads(pickled))


@pytest.mark.parametrize(("options", "secrets"), AWS.values(), ids=AWS)
@pytest.mark.parametrize(
    "ask",
    [
        ec.Chat.chat,
        lambda chat, text: list(chat.stream(text)),
        lambda chat, text: chat.chat_structured(text, type=int),
    ],
)
def test_no_error_span_or_log_of_bedrock_has_a_key(options, secrets, ask, heard, tmp_path):
    client = httpx.Client(transport=httpx.MockTransport(refusing))
    chat = ec.chat_aws_bedrock(region="us-east-1", model="m", client=client, max_tries=1, **options)
    with pytest.raises(ec.AuthenticationError) as raised:
        ask(chat, "Hi")
    shown = [*forms_of(raised.value), *outputs(chat, tmp_path), *heard()]
    assert "Canonical String" in str(raised.value)
    pieces = [piece for key in secrets for piece in (key, key[10:26], key[-12:])]
    assert [(piece, text[:200]) for piece in pieces for text in shown if piece in text] == []
