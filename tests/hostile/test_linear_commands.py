"""n pieces of a file cost each command O(n): counted in lines of Python at n, 2n and 4n pieces. Twice the pieces take at most 2.3 times the
lines. (`test_linear_patterns.py` counts what regular expressions do within a line.)
"""

import contextlib
import io
import json
from itertools import pairwise

import httpx
import pytest
from click.testing import CliRunner
from code_blocks import ROOT
from counted_lines import lines_of

from ellmer_conformance.cli.recordings import calibrate, coverage, lint
from ellmer_conformance.cli.rules import explain
from ellmer_conformance.server import proxy
from ellmer_conformance.server.http.messages import HttpRequest
from ellmer_conformance.server.http.routes import parse_route
from ellmer_harness.cli import main

pytestmark = pytest.mark.invariants

SIZES, MOST, FIXED = (30, 60, 120), 2.3, 2000  # of tools, an API takes 128 at most
URL = "https://api.openai.com/v1/chat/completions"
USER = {"role": "user", "content": "Hi"}


def body(**more):
    return {"model": "gpt-4.1", "messages": [USER], **more}


def function(name, properties):
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def called(n, ids):
    calls = [
        {"id": ids(at), "type": "function", "function": {"name": "f", "arguments": "{}"}} for at in range(n)
    ]
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "a"} for call in calls]
    return [USER, {"role": "assistant", "content": None, "tool_calls": calls}, *results]


def nested(n, inner=1):
    for _ in range(n):
        inner = {"a": inner}
    return inner


#: What a request has n of.
BODIES = {
    "messages": lambda n: body(messages=[{"role": "user", "content": f"m{at}"} for at in range(n)]),
    "messages of no role": lambda n: body(messages=[{"role": f"r{at}", "content": "m"} for at in range(n)]),
    "parts": lambda n: body(messages=[{"role": "user", "content": [{"type": "text", "text": "a"}] * n}]),
    "images": lambda n: body(
        messages=[
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}] * n,
            }
        ]
    ),
    "calls": lambda n: body(messages=called(n, "c{}".format)),
    "calls of one id": lambda n: body(messages=called(n, lambda _: "c")),
    "results without calls": lambda n: body(
        messages=called(n, "c{}".format)[:1] + called(n, "c{}".format)[2:]
    ),
    "tools": lambda n: body(tools=[function(f"f{at}", {}) for at in range(n)]),
    "tools of one name": lambda n: body(tools=[function("f", {})] * n),
    "properties": lambda n: body(tools=[function("f", {f"p{at}": {"type": "string"} for at in range(n)})]),
    "references": lambda n: body(
        tools=[function("f", {f"p{at}": {"$ref": "#/$defs/a"} for at in range(n)} | {"q": {}})]
    ),
    "values of an enum": lambda n: body(
        tools=[function("f", {"p": {"type": "string", "enum": [f"e{at}" for at in range(n)]}})]
    ),
    "stop texts": lambda n: body(stop=[f"s{at}" for at in range(n)]),
    "metadata": lambda n: body(metadata={f"k{at}": "v" for at in range(n)}),
    "levels": lambda n: body(metadata=nested(n)),
    "values of no use": lambda n: body(metadata=[[]] * n),
}


def exchange(asked, answer="{}", headers=(), kind="application/json", status=200):
    return {
        "request": {"method": "POST", "uri": URL, "headers": dict(headers), "body": json.dumps(asked)},
        "response": {
            "status": {"code": status, "message": "OK"},
            "headers": {"content-type": [kind]},
            "body": {"string": answer},
        },
    }


def streamed(n):
    events = ({"choices": [{"index": 0, "delta": {"content": f"w{at}"}}]} for at in range(n))
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events)


#: What a file has n of.
FILES = {
    **{name: lambda n, made=made: [exchange(made(n))] for name, made in BODIES.items()},
    "exchanges": lambda n: [exchange(body(user=f"u{at}")) for at in range(n)],
    "exchanges that break a rule": lambda n: [exchange(body(temperature=3)) for _ in range(n)],
    "headers": lambda n: [exchange(body(), headers={f"x-{at}": ["v"] for at in range(n)})],
    "values of a header": lambda n: [exchange(body(), headers={"accept": [f"v{at}" for at in range(n)]})],
    "events": lambda n: [exchange(body(stream=True), streamed(n), kind="text/event-stream")],
    "sentences of an error": lambda n: [
        exchange(body(x=1), json.dumps({"error": {"message": "'x' is wrong. " * n}}), status=400)
    ],
    "words of an error": lambda n: [
        exchange(body(x=1), json.dumps({"error": {"message": "word " * n}}), status=400)
    ],
    "lists in an answer": lambda n: [exchange(body(), json.dumps({"a": [[{"b": at}] for at in range(n)]}))],
}


def shown(*arguments):
    def use(path):
        words = [
            each.replace("FILE", str(path)).replace("OTHER", str(path.parent / "b.json"))
            for each in arguments
        ]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main([each.replace("OUT", str(path.parent / "out")) for each in words])

    return use


def judged(command, *arguments):
    def use(path):
        done = CliRunner().invoke(command, [each.replace("FILE", str(path)) for each in arguments])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception

    return use


def explained(path):
    for each in json.loads(path.read_text())["interactions"][:1]:
        CliRunner().invoke(
            explain.command, ["--wire", "openai-chat", "--", each["response"]["body"]["string"]]
        )


def relayed(path):
    """Does with the exchanges of a file what the proxy does with those between a client and an API."""
    for each in json.loads(path.read_text())["interactions"]:
        sent = {name: ", ".join(values) for name, values in each["request"]["headers"].items()}
        headers = {"authorization": "Bearer sk-0123456789abcdef", **sent}
        http = HttpRequest("POST", "/v1/chat/completions", headers, each["request"]["body"].encode())
        proxy.judged(http, parse_route(http.target, "api.openai.com"))
        answer = httpx.Response(200, headers={"content-type": "application/json"})
        proxy._report(answer, each["response"]["body"]["string"].encode(), proxy.keys_of(http), ended=True)


def pasted(path):
    import judge

    judge.judged(path.read_text())


READERS = {
    "lint": judged(lint.command, "FILE", "-v", "--write", "sarif=FILE.sarif", "--write", "comment=FILE.md"),
    "calibrate": judged(calibrate.command, "FILE"),
    "coverage": judged(coverage.command, "FILE"),
    "explain": explained,
    "the proxy": relayed,
    "the judge's page": pasted,
    "ls": shown("ls", "FILE"),
    "show": shown("show", "FILE"),
    "scan": shown("scan", "FILE"),
    "diff": shown("diff", "FILE", "OTHER"),
    "import": shown("import", "FILE", "--mask", "--overwrite", "--out", "OUT"),
    "export": shown("export", "FILE", "--out", "OUT"),
}


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_site" / "_judge"))

    def write(name, n):
        for file, pieces in (("a.json", n), ("b.json", n - 1)):
            text = json.dumps({"version": 1, "interactions": FILES[name](pieces)})
            (tmp_path / file).write_text(text, encoding="utf-8")
        return tmp_path / "a.json"

    return write


def superlinear(use, written, names):
    """Returns the lines that a command takes for n, 2n and 4n pieces, where twice the pieces take more than 2.3 times the lines."""
    found = {}
    for name in names:
        counts = []
        use(written(name, 3))  # what is imported, compiled and kept once is not counted
        for n in SIZES:
            path = written(name, n)
            counts.append(lines_of(lambda path=path: use(path)))
        if any(more > MOST * less + FIXED for less, more in pairwise(counts)):
            found[name] = counts
    return found


@pytest.mark.parametrize("reader", READERS)
def test_twice_the_pieces_take_twice_the_lines(written, reader, record_property):
    record_property("cases", len(FILES))
    assert superlinear(READERS[reader], written, FILES) == {}


def test_a_command_that_compares_all_pieces_is_found(written):
    def compared(path):
        asked = json.loads(path.read_text())["interactions"]
        return [one for one in asked for other in asked if one is other]

    assert [*superlinear(compared, written, ["exchanges", "headers"])] == ["exchanges"]
