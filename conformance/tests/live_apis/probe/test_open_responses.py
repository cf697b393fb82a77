"""Open Responses, version 2026-04-24: a server that keeps it breaks no rule, and each mistake breaks its own."""

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx
import pytest
from websockets.sync.server import serve

from ellmer_conformance.contract.observed.exchange import Exchange, Request, Response
from ellmer_conformance.contract.rule import verdict
from ellmer_conformance.live_apis.probe import Probe, Target, book, open_responses
from ellmer_conformance.live_apis.probe.answers import Heard
from ellmer_conformance.live_apis.probe.open_responses_questions import OpenResponses
from ellmer_conformance.live_apis.probe.questions import Question

MESSAGE = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant"}
MESSAGE |= {"content": [{"type": "output_text", "text": "Bonjour", "annotations": []}]}
USAGE = {"input_tokens": 5, "output_tokens": 3, "total_tokens": 8}
USAGE |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
NULLS = (
    "incomplete_details",
    "previous_response_id",
    "instructions",
    "error",
    "reasoning",
    "max_output_tokens",
)
NULLS += ("max_tool_calls", "safety_identifier", "prompt_cache_key")
RESOURCE = {
    **dict.fromkeys(NULLS),
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "completed_at": 2,
    "status": "completed",
    "model": "m",
    "output": [MESSAGE],
    "tools": [],
    "tool_choice": "auto",
    "truncation": "disabled",
    "parallel_tool_calls": True,
    "text": {"format": {"type": "text"}},
    "top_p": 1.0,
    "temperature": 1.0,
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "top_logprobs": 0,
    "store": True,
    "background": False,
    "service_tier": "default",
    "metadata": {},
    "usage": USAGE,
}


def call(name):
    item = {"type": "function_call", "id": "fc_1", "status": "completed", "call_id": "c1", "name": name}
    return RESOURCE | {"output": [item | {"arguments": '{"city": "Paris"}'}]}


def events(resource=RESOURCE):
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": []}
    begun = {**resource, "status": "in_progress", "output": []}
    told = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": MESSAGE | {"content": []}},
        {"type": "response.content_part.added", **place, "part": part},
        {"type": "response.output_text.delta", **place, "delta": "Bon"},
        {"type": "response.output_text.delta", **place, "delta": "jour"},
        {"type": "response.output_text.done", **place, "text": "Bonjour"},
        {"type": "response.content_part.done", **place, "part": part | {"text": "Bonjour"}},
        {"type": "response.output_item.done", "output_index": 0, "item": MESSAGE},
        {"type": "response.completed", "response": resource},
    ]
    return [{**each, "sequence_number": number} for number, each in enumerate(told)]


def stream(told=None, end="data: [DONE]\n\n"):
    named = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in told or events())
    return (named + end).encode()


def heard(body, question="text", *, status=200, kind="specification", **asked):
    streamed = isinstance(body, bytes)
    content_type = "text/event-stream" if streamed else "application/json"
    raw = body if streamed else json.dumps(body).encode()
    exchange = Exchange(
        Request("openai-responses", "", asked), Response(status, {"content-type": content_type}, raw)
    )
    whole = Question(question, stream=streamed and not question.startswith("websocket"))
    return Heard("openai-responses", whole, exchange, kind, able={"previous_response_id": True})


def without(place):
    return [each for each in events() if each["type"] != place]


def failed(code="server_error", **more):
    return stream([{"type": "error", "status": 400, "error": {"code": code, "message": "no"}} | more], "")


LOST = failed("previous_response_not_found")
CUT = RESOURCE | {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
CUT |= {"output": [MESSAGE | {"status": "incomplete"}]}
COMPACTED = {"id": "cmp_1", "object": "response.compaction", "created_at": 1, "usage": USAGE}
COMPACTED |= {"output": [{"type": "compaction", "id": "i1", "encrypted_content": "x"}]}
REFUSED = {"error": {"type": "invalid_request", "code": None, "message": "no", "param": "input"}}
FINE = [
    heard(RESOURCE),
    heard(stream()),
    heard(CUT, "cut_short"),
    heard(RESOURCE, "no_tool"),
    heard(call("get_weather"), "named_tool"),
    heard(call("get_weather"), "allowed_tools"),
    heard(RESOURCE | {"previous_response_id": "resp_0"}, "continued", previous_response_id="resp_0"),
    heard(REFUSED, "unknown_response", status=404),
    heard(REFUSED, kind="question", status=400),
    heard(COMPACTED, "compacted"),
    heard(stream(end=""), "websocket_continued"),
    heard(stream(events(RESOURCE | {"output": []}), ""), "websocket_prepared"),
    heard(LOST, "websocket_unknown"),
    heard(failed(), "websocket_failed"),
    heard(b"", "websocket_first", status=404),
    heard({"detail": "Not Found"}, "compacted", status=404),
]
TWO_ITEMS = CUT | {"output": [MESSAGE | {"status": "incomplete"}, MESSAGE]}
OWN = RESOURCE | {"output": [{"type": "acme:search", "id": "s1", "status": "completed"}]}
UNNAMED = RESOURCE | {"output": [{"type": "search", "id": "s1", "status": "completed"}]}
BROKEN = [
    ("OPR-001", heard({**RESOURCE, "usage": {"input_tokens": 5}})),
    ("OPR-001", heard({name: value for name, value in RESOURCE.items() if name != "completed_at"})),
    ("OPR-001", heard(RESOURCE | {"output": [{"type": "message", "id": "msg_1"}]})),
    ("OPR-002", heard(stream([{"type": "response.output_text.delta", "delta": "x"}]))),
    ("OPR-003", heard(stream(end=""))),
    ("OPR-003", heard(stream().replace(b"event: response.created", b"event: created"))),
    ("OPR-004", heard(stream([each | {"sequence_number": 1} for each in events()]))),
    ("OPR-004", heard(stream(without("response.output_item.added")))),
    ("OPR-004", heard(stream(without("response.content_part.added")))),
    ("OPR-004", heard(stream(without("response.output_item.done")))),
    ("OPR-004", heard(stream([*events()[:4], *events()[5:]]))),
    ("OPR-004", heard(stream([*events()[:4], {"type": "error", "sequence_number": 4, "error": {"message": "no"}}]))),
    ("OPR-005", heard(RESOURCE | {"status": "done"})),
    ("OPR-005", heard(CUT | {"status": "completed"})),
    ("OPR-005", heard(TWO_ITEMS)),
    ("OPR-005", heard(CUT | {"incomplete_details": None})),
    ("OPR-006", heard(UNNAMED)),
    ("OPR-006", heard(stream([*events(), {"type": "trace", "sequence_number": 9}]))),
    ("OPR-007", heard(call("get_weather"), "no_tool")),
    ("OPR-007", heard(RESOURCE, "named_tool")),
    ("OPR-008", heard(call("get_time"), "allowed_tools")),
    ("OPR-009", heard(RESOURCE, "continued", previous_response_id="resp_0")),
    ("OPR-009", heard(RESOURCE, "unknown_response")),
    ("OPR-010", heard({"error": {"message": "no", "type": "x"}}, kind="question", status=400)),
    ("OPR-011", heard(COMPACTED | {"object": "response"}, "compacted")),
    ("OPR-012", heard(stream(events()[:3], ""), "websocket_first")),
    ("OPR-013", heard(LOST, "websocket_continued")),
    ("OPR-013", heard(stream(end=""), "websocket_prepared")),
    ("OPR-014", heard(failed("not_found"), "websocket_unknown")),
    ("OPR-014", heard(stream(end=""), "websocket_evicted")),
    ("OPR-014", heard(stream(end=""), "websocket_failed")),
]  # fmt: skip


def violated(one):
    return {id for id in open_responses.RULES if verdict(book.rules[id], one).violations}


@pytest.mark.parametrize("fine", FINE, ids=lambda each: each.question.name)
def test_what_is_right_breaks_no_rule(fine):
    assert violated(fine) == set()


def test_an_item_of_the_implementer_is_allowed():
    assert violated(heard(OWN)) == set()


@pytest.mark.parametrize(("rule", "wrong"), BROKEN)
def test_each_mistake_breaks_its_rule(rule, wrong):
    assert rule in violated(wrong)


def test_every_rule_has_a_mistake():
    assert {rule for rule, _ in BROKEN} == set(open_responses.RULES)


# --- A server that keeps the specification ---------------------------------------------------------------


class _Http(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        found = _answer(body)
        status = 400 if found.get("error") else 200
        self._say(status, COMPACTED if self.path.endswith("/compact") else found)

    def _say(self, status, value):
        raw = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_):
        pass


def _answer(body):
    before, choice = body.get("previous_response_id"), body.get("tool_choice")
    if before == open_responses.TURNS["websocket_unknown"]["previous_response_id"]:
        return REFUSED
    if isinstance(choice, dict):
        return call("get_weather")
    return (CUT if "max_output_tokens" in body else RESOURCE) | {"previous_response_id": before}


def _socket(connection):
    """Keeps the last response, and forgets it after a failed turn."""
    last = ""
    for number, message in enumerate(connection):
        body = json.loads(message)
        wanted, bad = body.get("previous_response_id"), isinstance(body["input"], list)
        if (wanted and wanted != last) or bad:
            last = ""
            code = "previous_response_not_found" if not bad else "invalid_request"
            connection.send(
                json.dumps({"type": "error", "status": 400, "error": {"code": code, "message": "no"}})
            )
            continue
        last = f"resp_{number}"
        whole = RESOURCE | {"id": last, "output": [] if body.get("generate") is False else [MESSAGE]}
        for each in events(whole):
            connection.send(json.dumps(each, indent=1))


@contextmanager
def _running(server, *polled):
    Thread(target=server.serve_forever, args=polled, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()


def asked(port, able):
    target = Target(f"http://127.0.0.1:{port}/v1", "openai-responses", "m", timeout=5)
    with httpx.Client(trust_env=False) as client:
        probe = Probe(target, client, able=able)
        OpenResponses(probe).ask()
    return probe


def test_a_server_over_http_is_asked_everything_but_websockets():
    with _running(ThreadingHTTPServer(("127.0.0.1", 0), _Http), 0.01) as server:
        probe = asked(server.server_address[1], {"tools": True})
        server.server_close()

    assert [each.question.name for each in probe.heard] == [
        *open_responses.QUESTIONS,
        "compacted",
        "websocket_first",
    ]
    assert {id for each in probe.heard for id in violated(each)} == set()
    assert probe.able["compaction"]
    assert probe.able["previous_response_id"]
    assert not probe.able["WebSocket"]


def test_a_websocket_is_asked_in_turns():
    with serve(_socket, "127.0.0.1", 0) as server, _running(server):
        probe = asked(server.socket.getsockname()[1], {"tools": False})

    turns = [each for each in probe.heard if each.question.name.startswith("websocket")]
    assert [each.question.name for each in turns] == [*open_responses.TURNS]
    assert {id for each in turns for id in violated(each)} == set()
    assert probe.able["WebSocket"]
