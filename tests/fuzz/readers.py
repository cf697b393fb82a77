"""Every reader of a file that somebody else may have written. A typed error is what a person sees of it."""

import contextlib
import io
import json
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from click.testing import CliRunner

import ellmer_core as ec
from ellmer_core.errors import EllmerError
from ellmer_core.render.html import notebook_html
from ellmer_core.render.markdown import contents_markdown

from .judgement import Reader

CALL = ec.ContentToolRequest("call_1", "weather", {"city": "Paris"})


def _saved_chats() -> list[bytes]:
    chat = ec.chat_openai(model="gpt-4.1", api_key="k")
    answer = ec.AssistantTurn([ec.ContentText("Let me see."), CALL])
    result = ec.ContentToolResult({"celsius": [21.5, 20]}, request=CALL)
    image = ec.ContentImageInline("image/png", "iVBORw0KGgo=")
    chat.set_turns(
        [
            ec.SystemTurn("Be brief."),
            ec.UserTurn(["Hi", image]),
            answer,
            ec.UserTurn([result]),
            ec.AssistantTurn("21 °C"),
        ]
    )
    return [json.dumps(chat.record()).encode()]


def _restored(path: Path) -> str:
    chat = ec.chat_openai(model="gpt-4.1", api_key="k")
    try:
        chat.restore(json.loads(path.read_bytes()))
    except (EllmerError, ValueError, RecursionError) as error:
        return _one_line(str(error)) if isinstance(error, EllmerError) else ""
    shown = [str(chat), repr(chat), contents_markdown(chat) or "", notebook_html(chat) or ""]
    again = ec.chat_openai(model="gpt-4.1", api_key="k")
    again.restore(json.loads(json.dumps(chat.record())))
    return "\n".join(shown[:2])


def _one_line(error: str) -> str:
    """Returns an error, which no name in a record may break into lines."""
    assert not {"\n::", "\n##"} & {error[at : at + 3] for at in range(len(error))}, error
    return error


def _conformance(name: str, *arguments: str) -> Callable[[Path], str]:
    def read(path: Path) -> str:
        from importlib import import_module

        command = import_module(f"ellmer_conformance.cli.{name}").command
        ended = CliRunner().invoke(command, [each.replace("FILE", str(path)) for each in arguments])
        if ended.exception is not None and not isinstance(ended.exception, SystemExit):
            raise ended.exception
        return str(ended.output)

    return read


def _harness(*arguments: str) -> Callable[[Path], str]:
    def read(path: Path) -> str:
        from ellmer_harness.cli import main

        shown = io.StringIO()
        with (
            contextlib.redirect_stdout(shown),
            contextlib.redirect_stderr(shown),
            contextlib.suppress(SystemExit),
        ):
            main([each.replace("FILE", str(path)) for each in arguments])
        return shown.getvalue()

    return read


def _all_of(*reads: Callable[[Path], str]) -> Callable[[Path], str]:
    return lambda path: "\n".join(read(path) for read in reads)


def _raised(read: Callable[[Path], Any], *errors: type[Exception]) -> Callable[[Path], str]:
    def shown(path: Path) -> str:
        try:
            read(path)
        except errors as error:
            return str(error)
        return ""

    return shown


def _text(*texts: str) -> Callable[[], list[bytes]]:
    return lambda: [text.encode() for text in texts]


BASELINE = """# known
[[expect]]
rule = "ORD-003"
case = ["dangling_call", "plain_*"]
reason = "the text is sent before the results"
issue = "https://github.com/me/my-adapter/issues/123"
until = 2027-03-01
when = "openai < 4"
fingerprint = "sha256:0123456789ab"

[[flaky]]
rule = "ERR-001"
reason = "a race"
issue = "https://github.com/me/my-adapter/issues/124"
seen = "3/40"
"""
SCRIPT = """answers:
  - when: {user: {contains: weather}, tool: get_weather, nth: 1}
    calls: [{name: get_weather, arguments: {city: Paris}}]
  - when: {result: get_weather}
    text: It is 21 °C in Paris.
  - when: {user: {regex: "^a.b"}, header: {x-a: b}}
    error: {status: 429}
"""


@cache
def _reports() -> list[bytes]:
    from broken_runs.report import Ours, played

    from ellmer_conformance.report import finished
    from ellmer_conformance.report.results import Report

    return [json.dumps(finished(Report.joined([played(Ours(), "plain_text")])).as_json()).encode()]


def _baseline(path: Path) -> str:
    from ellmer_conformance.report.results import Report

    report = path.with_name("report.json")
    report.write_text(json.dumps(Report().as_json()), "utf-8")
    return _conformance("reports.baseline", "check", "--baseline", "FILE", "--report", str(report))(path)


def _exchange(question: str = "Hi", answer: str = "Hello") -> dict[str, Any]:
    asked = {"model": "gpt-4.1", "messages": [{"role": "user", "content": question}]}
    choice = {"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}
    said = {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-4.1", "choices": [choice]}
    head = {"content-type": ["application/json"]}
    return {
        "request": {
            "method": "POST",
            "uri": "https://api.openai.com/v1/chat/completions",
            "headers": head,
            "body": {"json": asked},
        },
        "response": {"status": {"code": 200, "message": "OK"}, "headers": head, "body": {"json": said}},
    }


def _cassettes() -> list[bytes]:
    blob = {"blob": "0" * 64 + ".png"}
    streamed = _exchange()
    streamed["response"] |= {
        "body": {"sse": [{"data": {"choices": []}}]},
        "stream": {"sizes": "events", "ms": "1"},
    }
    ours = {
        "ellmer_harness": {
            "format": 1,
            "recorded_from": "live",
            "recorded_at": "2026-11-01T00:00:00Z",
            "blobs": "blobs",
        }
    }
    media = _exchange()
    media["response"]["body"] = blob
    return [
        json.dumps({"version": 1, "metadata": ours, "interactions": each}).encode()
        for each in ([_exchange()], [streamed], [media], [_exchange("a", "b"), streamed])
    ]


class _Provider(BaseHTTPRequestHandler):
    """Answers each request as the cassette of the seeds does."""

    def do_POST(self) -> None:
        """Answers."""
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps(_exchange()["response"]["body"]["json"]).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Logs nothing."""


@cache
def _provider() -> str:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Provider)
    Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def _verified(path: Path) -> str:
    import httpx

    from ellmer_harness import use_cassette
    from ellmer_harness.errors import HarnessError, Miss

    path.write_bytes(path.read_bytes().replace(b"https://api.openai.com", _provider().encode()))
    asked = _exchange()["request"]
    try:
        with use_cassette(path, mode="verify"), httpx.Client() as client:
            client.post(f"{_provider()}/v1/chat/completions", json=asked["body"]["json"])
    except (HarnessError, Miss, httpx.HTTPError) as error:
        return str(error)
    return ""


UNUSED = {
    "unused": {"c.json": ["#1 POST https://api.openai.com/v1/chat/completions"]},
    "orphans": ["work/o.json"],
}
SCHEMA = {
    "type": "object",
    "properties": {"a": {"$ref": "#/$defs/n"}},
    "$defs": {"n": {"type": "integer"}},
    "required": ["a"],
}
PRICES = [{"provider": "OpenAI", "model": "gpt-4.1", "input": 2.0, "output": 8.0, "cached_input": 0.5}]


def _schema(path: Path) -> None:
    ec.type_from_schema(path=str(path))


def _batch(path: Path) -> None:
    from ellmer_core.jobs.batch import _state

    _state(path, {"prompts": "a"}, tagged=True)


def _script(path: Path) -> str:
    from ellmer_conformance.scenarios.answer_script import load
    from ellmer_conformance.scenarios.script import ScriptError

    try:
        load(path)
    except ScriptError as error:
        return str(error)
    return ""


READERS = {
    "saved-chat": Reader("chat.json", _saved_chats, _restored, quotes=True),
    "baseline": Reader("b.toml", _text(BASELINE), _baseline),
    "script": Reader("s.yaml", _text(SCRIPT), _script),
    "script-json": Reader(
        "s.json",
        _text(
            '{"answers": [{"when": {"user": "a", "nth": 1}, "text": "b"}, {"calls": [{"name": "f", "arguments": {}}]}]}'
        ),
        _script,
    ),
    "cassette": Reader(
        "c.json",
        _cassettes,
        _all_of(
            _harness("ls", "FILE"),
            _harness("scan", "FILE"),
            _harness("export", "FILE", "--out", "out"),
            _harness("diff", "FILE", "FILE"),
        ),
    ),
    "shown-cassette": Reader("c.json", _cassettes, _harness("show", "FILE"), quotes=True),
    "linted": Reader(
        "c.json",
        _cassettes,
        _all_of(
            _conformance("recordings.lint", "FILE"),
            _conformance("recordings.calibrate", "FILE"),
            _conformance("recordings.coverage", "FILE"),
        ),
    ),
    "verified": Reader("c.json", _cassettes, _verified, quotes=True),
    "unused": Reader(
        "u.json",
        lambda: [json.dumps(UNUSED).encode()],
        _harness("prune", ".", "--report", "FILE", "--orphans", "--dry-run"),
    ),
    "schema": Reader("t.json", lambda: [json.dumps(SCHEMA).encode()], _raised(_schema, EllmerError)),
    "batch": Reader(
        "b.json",
        lambda: [
            json.dumps(
                {
                    "version": 1,
                    "stage": "submitting",
                    "asked": {"prompts": "a"},
                    "tag": "t",
                    "since": 1,
                    "request": {},
                }
            ).encode()
        ],
        _raised(_batch, EllmerError),
    ),
    "report": Reader(
        "report.json",
        _reports,
        _all_of(
            _conformance("reports.diff", "FILE", "FILE"), _conformance("reports.merge", "FILE", "-o", "out")
        ),
    ),
}
