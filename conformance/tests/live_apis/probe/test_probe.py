"""A server is probed and judged by its answers: ours keeps all rules, and each mistake breaks its rule."""

import json
import subprocess
import sys
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from click.testing import CliRunner

from ellmer_conformance.adapters.endpoints import PROVIDER_ADDRESSES
from ellmer_conformance.cli.runs.probe import command
from ellmer_conformance.contract import rules
from ellmer_conformance.contract.observed.exchange import Exchange, Request, Response
from ellmer_conformance.contract.provider_answers.joined_streams import folded
from ellmer_conformance.contract.provider_answers.whole_answers import read
from ellmer_conformance.contract.readers import MODULES
from ellmer_conformance.contract.rule import verdict
from ellmer_conformance.live_apis.probe import Target, book, probed
from ellmer_conformance.live_apis.probe import server_rules as answer_rules
from ellmer_conformance.live_apis.probe.answers import Heard
from ellmer_conformance.live_apis.probe.questions import Question
from ellmer_conformance.report.report_json import read as read_report
from ellmer_conformance.report.report_json import schema
from ellmer_conformance.report.repro_scripts import as_curl, as_python
from ellmer_conformance.server import StrictServer


@pytest.fixture(scope="module")
def server():
    with StrictServer() as started:
        yield started


@pytest.fixture(scope="module")
def reports(server):
    found = {}

    def of(wire):
        if wire not in found:
            provider = MODULES[wire].PROVIDER
            place = PROVIDER_ADDRESSES[wire, provider]
            base = server.url("any", f"{wire}@{provider}") + place.path
            found[wire] = probed(
                Target(base, wire, place.model, provider=provider, name="strict", checks_keys=False)
            )
        return found[wire]

    return of


#: OpenAI's own API does not end a stream with `[DONE]`, as Open Responses wants it.
AS_OPENAI = {"openai-responses": {("OPR-003", "the last event is not `[DONE]`")}}
FEATURES = {"openai-responses": {"allowed_tools", "previous_response_id", "compaction", "WebSocket"}}


@pytest.mark.parametrize("wire", rules.WIRES)
def test_the_strict_server_keeps_what_a_server_owes(wire, reports):
    report = reports(wire)
    broken = {(row.rule, row.message) for row in report.rows if row.verdict in {"fail", "warn"}}

    assert broken == AS_OPENAI.get(wire, set())
    judged = {row.rule for row in report.rows if row.verdict == "pass"}
    assert {
        "SRV-001",
        "SRV-002",
        "SRV-005",
        "SRV-010",
        "SRV-012",
        "SRV-013",
        "SRV-015",
        "SRV-020",
        "SRV-031",
    } <= judged
    assert {skip["capability"] for skip in report.skipped if "capability" in skip} == {
        "tools",
        "images",
        "structured output",
        *FEATURES.get(wire, ()),
    }


def test_a_server_whose_provider_is_not_named_is_asked_in_the_same_way(server):
    place = PROVIDER_ADDRESSES["anthropic", "anthropic"]
    base = server.url("any", "anthropic@anthropic") + place.path

    report = probed(Target(base, "anthropic", place.model, name="strict", checks_keys=False))

    assert [(row.rule, row.case) for row in report.rows if row.verdict in {"fail", "warn"}] == []


def test_a_report_of_a_server_is_a_report_like_the_others(reports):
    import jsonschema

    document = json.loads(json.dumps(reports("openai-chat").as_json()))

    jsonschema.validate(document, schema())
    assert {play["way"] for play in document["plays"]} == {"probe"}
    assert document["summary"]["strict openai-chat"]["must_applicable"] > 10


def chat(**more):
    usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
    whole = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }
    return whole | more


def heard(
    body, *, question="text", stream=False, status=200, kind="question", wire="openai-chat", plain=None
):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    content_type = "text/event-stream" if stream else "application/json"
    exchange = Exchange(Request(wire, "", {}), Response(status, {"content-type": content_type}, raw))
    asked = Question(
        question, stream=stream, tool=question.startswith("tool"), schema=question == "structured"
    )
    found = Heard(wire, asked, exchange, kind, able={"tools": True, "structured output": True})
    if status != 200 or kind != "question":
        return found
    told = folded(wire, found.events) if stream else read(wire, found.value)
    return Heard(
        wire, asked, exchange, kind, able=found.able, told=told, plain=plain, steady=plain is not None
    )


def chunks(*events, end="data: [DONE]\n\n"):
    return ("".join(f"data: {json.dumps(event)}\n\n" for event in events) + end).encode()


def chunk(delta, reason=None, **more):
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [choice],
    } | more


FIRST, TEXT, LAST = chunk({"role": "assistant"}), chunk({"content": "Hi"}), chunk({}, "stop")
COUNTS = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": []}
COUNTS |= {"usage": {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}}
CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}


def calling(**function):
    call = CALL | {"function": CALL["function"] | function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return chat(choices=[{"index": 0, "message": message, "finish_reason": "tool_calls"}])


BROKEN = {
    "SRV-001": heard({"detail": "no"}, status=500),
    "SRV-002": heard(chat(usage={"prompt_tokens": "5"})),
    "SRV-003": heard(chat(choices="none")),
    "SRV-004": heard(chat(usage={"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 2})),
    "SRV-005": heard(chat(choices=[{"index": 0, "message": {"content": "Hi"}, "finish_reason": "done"}])),
    "SRV-006": heard({"error": {"message": "no field `store`", "type": "x"}}, status=400, kind="client"),
    "SRV-010": heard(b"", stream=True),
    "SRV-011": heard(chunks(FIRST, {"id": 1}, TEXT, LAST), stream=True),
    "SRV-012": heard(chunks(FIRST, LAST, TEXT), stream=True),
    "SRV-013": heard(chunks(FIRST, TEXT, LAST, end=""), stream=True),
    "SRV-014": heard(chunks(FIRST, TEXT, LAST), stream=True),
    "SRV-015": heard(chunks(FIRST, LAST), stream=True, plain=read("openai-chat", chat())),
    "SRV-020": heard(calling(arguments='{"city": 5'), question="tool_call"),
    "SRV-021": heard({"error": {"message": "no", "type": "x"}}, question="tool_result", status=400),
    "SRV-022": heard(chat(), question="structured"),
    "SRV-030": heard(chat(), kind="malformed"),
    "SRV-031": heard({"detail": "no such model"}, status=404, kind="malformed"),
    "SRV-032": heard({"error": {"message": "crash", "type": "x"}}, status=500, kind="rule"),
    "SRV-033": heard(chat(), kind="rule"),
    "SRV-034": heard({"error": {"message": "no", "type": "x"}}, status=400, kind="example"),
}


@pytest.mark.parametrize("id", [id for id in book.rules if not id.startswith("OPR-")])
def test_every_rule_of_a_server_catches_what_breaks_it(id, monkeypatch):
    monkeypatch.setattr(
        answer_rules, "complaint", lambda *_: "choices: not a list"
    )  # as the official SDK says it

    assert verdict(book.rules[id], BROKEN[id]).outcome in {"fail", "warn"}


@pytest.mark.parametrize(
    "fine",
    [
        heard(chat()),
        heard(chunks(FIRST, TEXT, LAST, COUNTS), stream=True),
        heard(calling(), question="tool_call"),
    ],
)
def test_what_is_right_breaks_nothing(fine):
    assert [v.rule.id for v in (verdict(rule, fine) for rule in book.rules.values()) if v.violations] == []


CUT = chat(
    choices=[{"index": 0, "message": {"role": "assistant", "content": "{"}, "finish_reason": "length"}]
)
CUT_STREAM = chunks(
    FIRST, TEXT, {**LAST, "choices": [{**LAST["choices"][0], "finish_reason": "length"}]}, COUNTS
)


def test_a_stream_with_tools_that_comes_whole_is_no_stream():
    """llm-katan 0.22.0 answers so, and only what follows from it was reported."""
    whole = heard(calling(), question="tool_call")
    streamed = replace(whole, question=replace(whole.question, stream=True, needs="tools"))

    assert verdict(book.rules["SRV-010"], streamed).outcome == "fail"


def test_a_stream_without_events_has_no_order_to_judge():
    assert verdict(book.rules["SRV-012"], heard(b"", stream=True)).outcome == "not-applicable"


@pytest.mark.parametrize("id", ["SRV-020", "SRV-022"])
def test_an_answer_that_the_limit_ended_need_be_no_call_and_no_value(id):
    question = "tool_call" if id == "SRV-020" else "structured"

    assert verdict(book.rules[id], heard(CUT, question=question)).outcome == "not-applicable"


@pytest.mark.parametrize(("steady", "outcome"), [(False, "pass"), (True, "fail")])
def test_one_of_two_answers_may_reach_the_limit_where_answers_differ(steady, outcome):
    streamed = heard(CUT_STREAM, stream=True, plain=read("openai-chat", chat()))

    assert verdict(book.rules["SRV-015"], replace(streamed, steady=steady)).outcome == outcome


@pytest.mark.parametrize(
    ("end", "limit"), [("end_turn", "max_tokens"), ("STOP", "MAX_TOKENS"), ("completed", "incomplete")]
)
def test_each_format_has_its_own_word_for_the_limit(end, limit):
    """llama.cpp's `/v1/messages` was blamed for an answer that its model did not end twice in the same way."""
    ended = heard(chunks(FIRST, TEXT, LAST, COUNTS), stream=True, plain=read("openai-chat", chat()))
    asked = {id: heard(CUT, question=q) for id, q in (("SRV-020", "tool_call"), ("SRV-022", "structured"))}
    found = {id: replace(each, told=replace(each.told, stop=limit)) for id, each in asked.items()}
    one = replace(
        ended, told=replace(ended.told, stop=end), plain=replace(ended.plain, stop=limit), steady=False
    )

    assert {verdict(book.rules[id], each).outcome for id, each in found.items()} == {"not-applicable"}
    assert verdict(book.rules["SRV-015"], one).outcome == "pass"
    assert verdict(book.rules["SRV-015"], replace(one, steady=True)).outcome == "fail"


@pytest.mark.parametrize(("status", "outcome"), [(500, "fail"), (501, "not-applicable"), (400, "pass")])
def test_a_feature_that_makes_the_server_fail_is_a_broken_contract(status, outcome):
    asked = heard({"error": {"message": "no", "type": "x"}}, question="image", status=status)
    asked = replace(asked, question=replace(asked.question, needs="images"))

    assert verdict(book.rules["SRV-032"], asked).outcome == outcome


@pytest.mark.parametrize(("id", "kind"), [("SRV-033", "rule"), ("SRV-034", "example")])
def test_a_server_that_is_busy_says_nothing_of_a_request(id, kind):
    """LiteLLM's proxy answers so while its upstream cools down."""
    busy = heard({"error": {"message": "cooldown", "type": "x"}}, status=429, kind=kind)

    assert verdict(book.rules[id], busy).outcome == "not-applicable"


class _Page(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(502)
        self.end_headers()
        self.wfile.write(b"<h1>Bad gateway</h1>")

    def log_message(self, *_):
        pass


def test_a_gateway_that_answers_pages_exits_with_1_and_says_so():
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as page:
        thread = Thread(target=page.serve_forever, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{page.server_address[1]}/v1"
        done = CliRunner().invoke(command, [url, "--wire", "openai-chat", "--model", "m", "--no-rules"])
        page.shutdown()

    assert done.exit_code == 1
    assert "Bad gateway" in done.output
    assert "capabilities: tools: broken: the answer is 502" in done.output


class _BelowV1(_Page):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(400 if self.path.startswith("/v1/") else 404)
        self.end_headers()


@pytest.mark.parametrize("given", ["", "/v1"])
def test_a_base_url_as_claude_code_takes_it_is_probed_with_the_path_of_the_version(given):
    with ThreadingHTTPServer(("127.0.0.1", 0), _BelowV1) as page:
        Thread(target=page.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{page.server_address[1]}"
        found = probed(Target(url + given, "anthropic", "m"), with_rules=False)
        page.shutdown()

    assert [*found.named.values()] == [f"probe:{url}/v1"]
    assert all(each["url"].startswith(f"{url}/v1/") for each in found.exchanges.values())


@pytest.mark.parametrize("case", ["no_json", "text"])
def test_what_a_server_answered_wrongly_is_asked_again_by_a_script(tmp_path, case):
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as page:
        Thread(target=page.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{page.server_address[1]}/v1"
        asked = [url, "--wire", "openai-chat", "--model", "m", "--no-rules", "--report", str(tmp_path)]
        CliRunner().invoke(command, asked)
        found = read_report(tmp_path / "report.json")
        failed = next(row for row in found.failures if row.case == case)
        (tmp_path / "again.py").write_text(as_python(found, failed), "utf-8")
        done = subprocess.run(
            [sys.executable, tmp_path / "again.py"], capture_output=True, text=True, check=True
        )
        page.shutdown()

    assert ('{"model": \n' in done.stdout) == (case == "no_json")
    assert done.stdout.endswith("\n502 None\n<h1>Bad gateway</h1>\n")
    assert as_curl(found, failed).startswith(f"curl -sS -i {url}/chat/completions")


class _NoRoute(_Page):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(404)
        self.end_headers()


def test_a_server_without_the_api_breaks_no_contract():
    """llmock 0.2.2 has no Messages API below /v1, and was told that it answers wrongly."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _NoRoute) as page:
        Thread(target=page.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{page.server_address[1]}/v1"
        done = CliRunner().invoke(command, [url, "--wire", "anthropic", "--model", "m", "--no-rules"])
        page.shutdown()

    assert done.exit_code == 2
    assert "there is no anthropic API, or no such model, at" in done.output
    assert "answers: not judged" in done.output


def test_a_server_that_is_not_there_could_not_be_asked():
    done = CliRunner().invoke(
        command, ["http://127.0.0.1:9/v1", "--wire", "openai-chat", "--model", "m", "--no-rules"]
    )

    assert done.exit_code == 2
    assert "no answer came from http://127.0.0.1:9/v1/chat/completions" in done.output
