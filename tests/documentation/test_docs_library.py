"""The guide to the chat library: its examples run, and the tests that it names exist."""

import ast
import json
import re
import struct
import threading
import zlib
from base64 import b64encode
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from ellmer_core import refresh_prices
from ellmer_core.models.prices.price_lookup import prices

TESTS = Path(__file__).parents[1]
DOCS = TESTS.parent / "docs"
GUIDE = {name: (DOCS / f"{name}.md").read_text("utf-8") for name in ("library", "operation")}
FEATURES = (DOCS / "feature-tests.md").read_text("utf-8")
NAMED = re.findall(r"`(\w+\.py)::(\w+)`", FEATURES)
AREAS = (
    "constructors", "content", "types", "tools", "results", "chat", "streams", "errors and retries", "tokens and cost",
    "echo and print", "text out", "persistence", "many", "prompts", "models",
)  # fmt: skip


def functions_of(file):
    [path] = TESTS.rglob(file)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("file", sorted({file for file, _ in NAMED}))
def test_every_test_that_is_named_exists(file):
    assert not {name for each, name in NAMED if each == file} - functions_of(file)


def test_every_area_names_tests():
    rows = [
        [cell.strip() for cell in row.split("|")[1:-1]]
        for row in FEATURES.splitlines()
        if row.startswith("| ")
    ]
    proven = {area for area, _, tests in rows if "::" in tests}
    assert set(AREAS) <= proven


PRICE = {"model": "hosted", "match": "^hosted", "prices": [[0, 1.0, 2.0, None, None]]}
SOURCE = {
    "type": "url_citation",
    "url": "https://example.com/",
    "title": "Greetings",
    "start_index": 0,
    "end_index": 5,
}


USED = {"input_tokens": 1, "output_tokens": 1}


@contextmanager
def openai_that_says_hello():
    """The endpoints of OpenAI in the guide. Data for a schema is generated from the schema."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            if self.path.endswith("/prices.json"):
                return self.send({"providers": {"OpenAI-compatible": [PRICE]}})
            return self.send({"data": [{"id": "gpt-4.1", "created": 1744316542}]})

        def do_DELETE(self):
            self.send({"deleted": True})

        def do_POST(self):
            said = self.rfile.read(int(self.headers["content-length"]))
            if self.path.endswith("/files"):
                return self.send({"id": "file-1"})
            body = json.loads(said)
            if self.path.endswith("/input_tokens"):
                return self.send({"input_tokens": 5})
            if self.path.endswith("/messages"):
                said = [{"type": "text", "text": "Hello."}]
                return self.send({"content": said, "stop_reason": "end_turn", "usage": USED})
            wanted = body.get("text", {}).get("format")
            part = {
                "type": "output_text",
                "text": json.dumps(example(wanted["schema"])) if wanted else "Hello.",
                "annotations": [] if wanted else [SOURCE],
            }
            message = {"type": "message", "id": "msg", "role": "assistant", "content": [part]}
            output = order(body) or message
            return self.send({"status": "completed", "output": [*run_by_us(body), output], "usage": USED})

        def send(self, value):
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def order(body):
    """Returns a call of the tool that orders books, if the user has just asked for one."""
    last = body["input"][-1]
    ordered = last.get("role") == "user" and "Order" in json.dumps(last)
    if not ordered or "order" not in json.dumps(body.get("tools", [])):
        return None
    call = {"type": "function_call", "id": "fc", "call_id": f"call_{len(body['input'])}", "name": "order"}
    return {**call, "arguments": json.dumps({"book": "Emma", "copies": 500}), "status": "completed"}


def run_by_us(body):
    """Returns the items of the provider's own tools: an image, a search."""
    tools = [tool["type"] for tool in body.get("tools", [])]
    if "image_generation" in tools:
        yield {
            "type": "image_generation_call",
            "id": "ig",
            "status": "completed",
            "result": b64encode(png()).decode(),
        }
    if "web_search" in tools:
        yield {
            "type": "web_search_call",
            "id": "ws",
            "status": "completed",
            "action": {"query": "example.com"},
        }


def example(schema):
    match schema["type"]:
        case "object":
            return {name: example(inner) for name, inner in schema.get("properties", {}).items()}
        case "array":
            return [example(schema["items"])]
        case "string":
            return "Ann"
    return 33


def stream_from(url):
    """Returns httpx's `stream()`, with example.com at this URL."""
    real = httpx.stream
    return lambda method, place, **how: real(method, place.replace("https://example.com", url), **how)


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")


def test_the_examples_run(monkeypatch, tmp_path, capsys):
    pytest.importorskip("PIL", reason="Pillow is not installed")
    (tmp_path / "cat.png").write_bytes(png())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setattr("builtins.input", lambda _question: "y")
    names = {}
    with openai_that_says_hello() as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setattr(httpx, "stream", stream_from(url))
        for name, text in GUIDE.items():
            found = {"__name__": "guide"}  # a reader begins at any page
            for block in re.findall(r"(?<!-->\n)^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
                exec(compile(block, f"docs/{name}.md", "exec"), found)
            names |= found
    assert prices("OpenAI-compatible", "hosted")["output"] == 2.0
    refresh_prices(None)
    assert names["people"] == [names["Person"]("Ann", 33)] * 2
    assert names["texts"] == ["Hello.", "Hello."]
    assert (tmp_path / "drawn.png").read_bytes() == png()
    printed = capsys.readouterr().out
    assert "Greetings https://example.com/ Hello" in printed
    assert [turn.role for turn in names["again"].get_turns()][:4] == ["user", "assistant"] * 2
    assert (tmp_path / "chat.md").read_text(encoding="utf-8").count("Hello.") == 2
