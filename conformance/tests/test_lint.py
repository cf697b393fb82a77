"""Lint reads what people have, says what is wrong with it, and passes over nothing in silence."""

import gzip
import json
import os
import tracemalloc
import zlib
from base64 import b64encode
from pathlib import Path

import brotli
import pytest
import yaml
import zstandard
from click.testing import CliRunner
from vcr.cassette import Cassette
from vcr.request import Request
from vcr.serializers import jsonserializer, yamlserializer

from ellmer_conformance.cli import _group
from ellmer_conformance.contract.rules.openai_chat._rulebook import ASK, body, call, result
from ellmer_conformance.recordings.lint import lint, lint_file
from ellmer_conformance.recordings.reading import Unreadable, find, read

URL = "https://api.openai.com/v1/chat/completions"
GOOD = body(ASK, call("a"), result("a"))
BAD = body(ASK, call("a"), {"role": "user", "content": "Never mind."})
ANSWER = {"choices": [{"message": {"role": "assistant", "content": "5"}}]}


def run(*arguments):
    return CliRunner().invoke(_group, [str(each) for each in arguments])


def vcrpy(path, serializer, request, *, status=200):
    """A cassette that vcrpy itself writes."""
    cassette = Cassette(str(path), serializer=serializer)
    answer = {
        "status": {"code": status, "message": "OK"},
        "headers": {"Content-Type": ["application/json"]},
        "body": {"string": json.dumps(ANSWER).encode()},
    }
    cassette.append(Request("POST", URL, json.dumps(request), {"content-type": "application/json"}), answer)
    cassette._save(force=True)
    return path


def vcr_yaml(folder, request):
    return vcrpy(folder / "a.yaml", yamlserializer, request)


def vcr_json(folder, request):
    return vcrpy(folder / "a.json", jsonserializer, request)


def zipped(folder, request):
    path = folder / "a.yaml.gz"
    path.write_bytes(gzip.compress(vcr_yaml(folder, request).read_bytes()))
    (folder / "a.yaml").unlink()
    return path


def pydantic_ai(folder, request):
    entry = {
        "request": {"method": "POST", "uri": URL, "headers": {"accept": ["*/*"]}, "parsed_body": request},
        "response": {"status": {"code": 200}, "headers": {}, "parsed_body": ANSWER},
    }
    path = folder / "a.yaml"
    path.write_text(yaml.safe_dump({"interactions": [entry], "version": 1}))
    return path


def ruby(folder, request):
    """VCR for Ruby, and for R, which writes the same."""
    entry = {
        "request": {
            "method": "post",
            "uri": URL,
            "body": {"encoding": "UTF-8", "string": json.dumps(request)},
            "headers": {"Content-Type": ["application/json"]},
        },
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {},
            "body": {"encoding": "UTF-8", "string": json.dumps(ANSWER)},
        },
        "recorded_at": "Mon, 08 Sep 2025 08:00:00 GMT",
    }
    path = folder / "a.yml"
    path.write_text(yaml.safe_dump({"http_interactions": [entry], "recorded_with": "VCR 6.3.1"}))
    return path


def go(folder, request):
    entry = {
        "id": 0,
        "request": {"method": "POST", "url": URL, "body": json.dumps(request), "headers": {}},
        "response": {"code": 200, "status": "200 OK", "body": json.dumps(ANSWER)},
    }
    path = folder / "a.yaml"
    path.write_text(yaml.safe_dump({"version": 2, "interactions": [entry]}))
    return path


def har(folder, request):
    encoded = b64encode(json.dumps(ANSWER).encode()).decode()
    entry = {
        "startedDateTime": "2025-09-08T08:00:00Z",
        "request": {
            "method": "POST",
            "url": URL,
            "headers": [{"name": "Content-Type", "value": "application/json"}],
            "postData": {"mimeType": "application/json", "text": json.dumps(request)},
        },
        "response": {"status": 200, "content": {"text": encoded, "encoding": "base64"}},
    }
    path = folder / "a.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))
    return path


def polly(folder, request):
    """HAR of Polly.JS: the bytes of the network, chunk by chunk, compressed."""
    path = har(folder, request)
    log = json.loads(path.read_text())
    answer = gzip.compress(json.dumps(ANSWER).encode())
    chunks = json.dumps([b64encode(each).decode() for each in (answer[:20], answer[20:])])
    log["log"]["entries"][0]["response"] = {
        "status": 200,
        "headers": [{"name": "content-encoding", "value": "gzip"}],
        "content": {"encoding": "base64", "mimeType": "application/json", "text": chunks},
    }
    path.write_text(json.dumps(log))
    return path


def nock(folder, request):
    entry = {"scope": "https://api.openai.com:443", "method": "POST", "path": "/v1/chat/completions"}
    answer = [gzip.compress(json.dumps(ANSWER).encode()).hex()]
    path = folder / "a.json"
    path.write_text(
        json.dumps(
            [
                {
                    **entry,
                    "body": request,
                    "status": 200,
                    "response": answer,
                    "rawHeaders": ["content-encoding", "gzip"],
                }
            ]
        )
    )
    return path


def records(folder, request):
    entry = {
        "request": {"method": "POST", "url": URL, "body": request},
        "response": {"status": 200, "body": ANSWER},
    }
    path = folder / "a.json"
    path.write_text(json.dumps({"family": "openai-chat", "interactions": [entry]}))
    return path


def one_record(folder, request):
    path = folder / "a.json"
    exchange = {"method": "POST", "url": URL, "body": {"json": request}}
    path.write_text(json.dumps({"request": exchange, "response": {"status": 200, "body": ANSWER}}))
    return path


def lines(folder, request):
    """A log: a request, and a line that is none."""
    path = folder / "a.jsonl"
    path.write_text(json.dumps({"url": URL, "body": request}) + '\n\n{"level": "info", "text": "started"}\n')
    return path


def httprr(folder, request):
    """As httprr writes it: lengths, then both messages as they went over HTTP/1.1."""
    sent, got = json.dumps(request).encode(), json.dumps(ANSWER).encode()
    asked = (
        f"POST {URL} HTTP/1.1\r\nHost: api.openai.com\r\nContent-Length: {len(sent)}\r\n\r\n".encode() + sent
    )
    chunk = f"{len(got):x}".encode() + b"\r\n" + got + b"\r\n0\r\n\r\n"
    told = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk
    path = folder / "a.httprr"
    path.write_bytes(b"httprr trace v1\n%d %d\n" % (len(asked), len(told)) + asked + told)
    return path


def httpmock(folder, request):
    """httpmock keeps no host: the folder has the vendor's name."""
    when = {"path": "/v1/chat/completions", "method": "POST", "query_param": [], "body": json.dumps(request)}
    then = {"status": 200, "header": [{"name": "x", "value": "y"}], "body": json.dumps(ANSWER)}
    (folder / "openai").mkdir(exist_ok=True)
    path = folder / "openai" / "a.yaml"
    path.write_text(yaml.safe_dump({"when": when, "then": then}))
    return path


def wiremock(folder, request):
    stub = {
        "request": {
            "method": "POST",
            "urlPath": "/v1/chat/completions",
            "headers": {"Host": {"equalTo": "api.openai.com"}},
            "bodyPatterns": [{"equalToJson": json.dumps(request), "ignoreArrayOrder": True}],
        },
        "response": {"status": 200, "jsonBody": ANSWER},
    }
    path = folder / "a.json"
    path.write_text(json.dumps({"mappings": [stub]}))
    return path


def braintrust(folder, request):
    entry = {
        "id": "1",
        "matchKey": "POST api.openai.com/v1/chat/completions",
        "recordedAt": "2025-09-08T08:00:00Z",
        "request": {"method": "POST", "url": URL, "headers": {}, "body": {"kind": "json", "value": request}},
        "response": {"status": 200, "headers": {}, "body": {"kind": "json", "value": ANSWER}},
    }
    path = folder / "a.cassette.json"
    path.write_text(json.dumps({"version": 1, "meta": {}, "entries": [entry]}))
    return path


def istr(folder, request):
    """vcrpy beneath aiohttp: the keys of headers are objects of Python's."""
    path = vcr_yaml(folder, request)
    key = "? !!python/object/new:multidict._multidict.istr\n      - Content-Type\n      : "
    path.write_text(path.read_text().replace("content-type:", key, 1))
    assert "istr" in path.read_text()
    return path


WRITERS = [
    *(vcr_yaml, vcr_json, zipped, pydantic_ai, ruby, go, har, polly, nock, records, one_record, lines),
    *(httprr, httpmock, wiremock, braintrust, istr),
]


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_every_form_of_recording_is_judged(tmp_path, write):
    report = lint_file(write(tmp_path, GOOD))
    assert (report.problem, report.judged, report.complaints) == (None, 1, [])
    report = lint_file(write(tmp_path, BAD))
    (complaint,) = report.complaints
    assert (complaint.rule, complaint.outcome) == ("PAIR-001", "violation")
    assert complaint.pointer == "/messages/1/tool_calls"
    assert "did not have response messages: a" in complaint.says


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson.gz"])
def test_a_log_is_read_line_by_line(tmp_path, name):
    text = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "a\u2028b\x85c" + "x" * 10_000}]}
    line = json.dumps({"url": URL, "body": text}, ensure_ascii=False).encode() + b"\n"
    data = b'\xef\xbb\xbf{"level": "info"}\n' + line * 2_000 + b'{"level": "info"}\r\n'
    (tmp_path / name).write_bytes(gzip.compress(data, 1) if name.endswith("gz") else data)

    tracemalloc.start()
    report = lint_file(tmp_path / name)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (report.problem, report.judged, report.complaints) == (None, 2_000, [])
    assert dict(report.skipped) == {"a line without an exchange": 2}
    assert most < len(data) / 4, most


@pytest.mark.parametrize(
    "write",
    [vcr_yaml, ruby, har, polly, nock, httprr, httpmock, wiremock, braintrust, istr],
    ids=lambda write: write.__name__,
)
def test_the_answer_is_read_as_it_was(tmp_path, write):
    (recording,) = read(write(tmp_path, GOOD))
    assert json.loads(recording.response) == ANSWER


CODINGS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
    "identity": bytes,
}


@pytest.mark.parametrize(("coding", "compress"), CODINGS.items(), ids=CODINGS)
def test_an_answer_may_be_kept_compressed(tmp_path, coding, compress):
    for kept in (json.dumps(ANSWER).encode(), compress(json.dumps(ANSWER).encode())):
        response = {
            "status": {"code": 200},
            "headers": {"content-encoding": [coding]},
            "body": {"string": kept},
        }
        entry = {"request": {"method": "POST", "uri": URL, "body": json.dumps(GOOD)}, "response": response}
        (tmp_path / "a.yaml").write_text(yaml.safe_dump({"interactions": [entry]}))
        (recording,) = read(tmp_path / "a.yaml")
        assert json.loads(recording.response) == ANSWER


def test_a_yaml_file_may_hold_several_documents(tmp_path):
    path = vcr_yaml(tmp_path, GOOD)
    path.write_text(f"{path.read_text()}---\nnotes: []\n---\n{vcr_yaml(tmp_path, BAD).read_text()}")
    assert [each.place for each in read(path)] == ["/0/interactions/0", "/2/interactions/0"]
    assert lint_file(path).judged == 2


def test_what_is_told_of_a_recording(tmp_path):
    (recording,) = read(ruby(tmp_path, GOOD))
    assert (recording.method, recording.status, str(recording.when)) == ("POST", 200, "2025-09-08")
    assert json.loads(recording.response) == ANSWER


def test_a_violation_the_api_refused_too_agrees_with_it(tmp_path):
    path = vcrpy(tmp_path / "a.yaml", yamlserializer, BAD, status=400)
    result = lint([path])
    assert [complaint.outcome for _, complaint in result.complaints] == ["agreed"]
    assert result.exit_code == 0


def test_nothing_is_passed_over_in_silence(tmp_path):
    vcr_yaml(tmp_path, GOOD)
    (tmp_path / "notes.md").write_text("# Notes")
    (tmp_path / "package.json").write_text('{"name": "x"}')
    (tmp_path / "empty.yaml").write_text("interactions: []\nversion: 1\n")
    other = {
        "request": {"method": "GET", "url": "https://api.openai.com/v1/models"},
        "response": {"status": 200},
    }
    (tmp_path / "models.json").write_text(json.dumps(other))
    lost = {"request": {"method": "POST", "url": URL}, "response": {"status": 200}}
    (tmp_path / "lost.json").write_text(json.dumps(lost))
    odd = {"request": {"method": "POST", "url": URL, "body": "not JSON"}, "response": {"status": 200}}
    (tmp_path / "odd.json").write_text(json.dumps(odd))
    result = lint([tmp_path])
    assert len(result.files) == 7
    assert dict(result.skipped) == {
        "not a recording of HTTP": 2,
        "an empty recording": 1,
        "no chat request": 1,
        "the body was not recorded": 1,
        "the body is no JSON object": 1,
    }
    output = run("lint", tmp_path).output
    assert "not a recording of HTTP" in output
    assert "7 files, 1 request judged, 0 violations." in output


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("cut.json", b'{"interactions": [{"request": {', "cut short"),
        ("cut.yaml", b"interactions:\n- request: {method: POST", "cut short"),
        ("cut.yaml.gz", gzip.compress(b"interactions: []", mtime=0)[:-4], "cannot be read"),
        ("no.json", b"\xff\xfe\x00", "no text in UTF-8"),
        ("deep.json", b"[" * 100_000, "nested too deep"),
        ("cut.jsonl", b'{"url": "x"}\n{"url', "line 2 is damaged, or cut short"),
        ("cut.jsonl.gz", gzip.compress(b'{"url": "x"}\n' * 99, mtime=0)[:-9], "cannot be read"),
        (
            "odd.json",
            b'{"interactions": [{"request": {"url": "https://a.test"}, "response": "x"}]}',
            "hold together",
        ),
        (
            "future.json",
            b'{"metadata": {"ellmer_harness": {"format": 99}}, "version": 7, "interactions": []}',
            "version",
        ),
    ],
    ids=["json", "yaml", "gzip", "no text", "deep", "lines", "zipped lines", "odd", "future"],
)
def test_a_file_that_cannot_be_read_is_told_and_ends_with_2(tmp_path, name, content, told):
    (tmp_path / name).write_bytes(content)
    vcrpy(tmp_path / "fine.yaml", yamlserializer, GOOD)
    outcome = run("lint", tmp_path)
    assert outcome.exit_code == 2
    assert str(tmp_path / name) in outcome.output
    assert told in outcome.output
    assert "1 request judged" in outcome.output, "the other file is still judged"


def test_a_missing_path_is_told():
    outcome = run("lint", "nowhere/at/all")
    assert outcome.exit_code == 2
    assert "nowhere/at/all" in outcome.output
    with pytest.raises(Unreadable, match="no such file"):
        list(find([Path("nowhere")]))


def test_nothing_to_read_is_told(monkeypatch):
    monkeypatch.delenv("CONFORMANCE_TRAFFIC", raising=False)
    outcome = run("lint")
    assert outcome.exit_code == 2
    assert "CONFORMANCE_TRAFFIC" in outcome.output


def test_the_text_shows_place_rule_and_what_the_api_says(tmp_path):
    path = vcr_yaml(tmp_path, BAD)
    outcome = run("lint", path)
    assert outcome.exit_code == 1
    for told in (
        str(path),
        "PAIR-001 MUST reject (violation)",
        "/interactions/0/request/messages/1/tool_calls",
    ):
        assert told in outcome.output
    assert "An assistant message with 'tool_calls' must be followed" in outcome.output


def test_the_json_holds_everything(tmp_path):
    vcr_yaml(tmp_path, BAD)
    found = json.loads(run("lint", tmp_path, "--format", "json").output)
    assert found["exit_code"] == 1
    assert found["wires"]["openai-chat"]["violations"] == 1
    assert found["files"][0]["complaints"][0]["rule"] == "PAIR-001"


def test_github_and_sarif_point_at_the_file(tmp_path):
    path = vcr_yaml(tmp_path, BAD)
    annotation = run("lint", path, "--format", "github").output
    assert annotation.startswith(f"::error file={path},line=1,title=PAIR-001::")
    sarif = json.loads(run("lint", path, "--format", "sarif").output)["runs"][0]
    assert sarif["results"][0]["ruleId"] == sarif["tool"]["driver"]["rules"][0]["id"] == "PAIR-001"


def test_odd_names_and_lines_of_logs_are_written_as_the_forms_have_it(tmp_path):
    line = json.dumps({"url": URL, "body": BAD})
    (tmp_path / "a, b é.jsonl").write_text(f"{{}}\n{line}\n{{")

    annotations = run("lint", tmp_path, "--format", "github").output.splitlines()
    sarif = json.loads(run("lint", tmp_path, "--format", "sarif").output)["runs"][0]

    assert annotations[0].startswith(f"::error file={tmp_path}/a%2C b é.jsonl,line=2,title=PAIR-001::line 2/")
    (found,) = sarif["results"][0]["locations"]
    assert found["physicalLocation"] == {
        "artifactLocation": {"uri": f"{tmp_path}/a%2C%20b%20%C3%A9.jsonl"},
        "region": {"startLine": 2},
    }
    (trouble,) = sarif["invocations"][0]["toolExecutionNotifications"]
    assert not sarif["invocations"][0]["executionSuccessful"]
    assert trouble["message"]["text"].startswith("unreadable: line 3 is damaged, or cut short")


def test_several_processes_find_the_same(tmp_path):
    for number in range(4):
        vcrpy(tmp_path / f"{number}.yaml", yamlserializer, BAD if number % 2 else GOOD)
    alone, together = lint([tmp_path]), lint([tmp_path], jobs=2)
    assert [file.path for file in alone.files] == [file.path for file in together.files]
    assert [c for _, c in alone.complaints] == [c for _, c in together.complaints]
    assert run("lint", tmp_path, "-j", "0").output == run("lint", tmp_path).output


def test_a_warning_fails_nobody(tmp_path):
    path = vcr_yaml(tmp_path, body(ASK, call("a"), result("a", "")))
    outcome = run("lint", path)
    assert outcome.exit_code == 0
    assert "EMP-005 SHOULD loss (warning)" in outcome.output
    assert "EMP-005" not in run("lint", path, "--no-warnings").output


def test_calibrate_tells_flagged_missed_and_unknown(tmp_path):
    vcrpy(tmp_path / "flagged.yaml", yamlserializer, BAD)
    vcrpy(tmp_path / "fine.yaml", yamlserializer, GOOD)
    refusal = {"error": {"message": "Missing required parameter: 'x'.", "type": "invalid_request_error"}}
    for name, answer in (("missed", refusal), ("unknown", {"error": {"message": "Flux capacitor empty"}})):
        exchange = {"request": {"url": URL, "body": GOOD}, "response": {"status": 400, "body": answer}}
        (tmp_path / f"{name}.json").write_text(json.dumps(exchange))
    outcome = run("calibrate", tmp_path, "--format", "json")
    assert outcome.exit_code == 1
    found = json.loads(outcome.output)
    wanted = {
        "accepted": 2,
        "accepted_flagged": 1,
        "rejected": 2,
        "rejected_modelled": 1,
        "caught": 0,
        "missed": 1,
    }
    assert found["wires"]["openai-chat"] == {**wanted, "text_equal": 0}
    assert found["rules"]["PAIR-001"]["accepted_flagged"] == 1
    assert [case["rule"] for case in found["flagged"]] == ["PAIR-001"]
    assert found["unknown"][0]["said"] == "400 Flux capacitor empty"
    text = run("calibrate", tmp_path).output
    assert "flagged.yaml /interactions/0 [openai-chat, openai] PAIR-001 at /messages/1/tool_calls" in text


def test_calibrate_counts_what_is_caught(tmp_path):
    said = (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        "The following tool_call_ids did not have response messages: call_99"
    )
    answer = {"error": {"message": said, "type": "invalid_request_error"}}
    exchange = {
        "request": {"url": URL, "body": body(ASK, call("call_1"), ASK)},
        "response": {"status": 400, "body": answer},
    }
    (tmp_path / "a.json").write_text(json.dumps(exchange))
    outcome = run("calibrate", tmp_path, "--format", "json")
    assert outcome.exit_code == 0
    found = json.loads(outcome.output)
    assert (found["rules"]["PAIR-001"]["caught"], found["rules"]["PAIR-001"]["text_equal"]) == (1, 1)


def test_a_rule_of_the_past_says_until_when():
    assert "In force: until 2024-10-01" in run("explain", "ORD-009", "--wire", "anthropic").output
    listed = json.loads(run("list", "--wire", "anthropic", "--format", "json").output)
    days = {rule["id"]: (rule["since"], rule["until"]) for rule in listed}
    assert days["ORD-009"] == (None, "2024-10-01")
    assert days["ORD-001"] == (None, None)


def test_list_and_explain():
    listed = json.loads(run("list", "--format", "json").output)
    rule = next(row for row in listed if row["id"] == "ORD-002" and "openai-chat" in row["wires"])
    assert rule["level"] == "MUST"
    assert rule["source"]
    text = run("explain", "ord-002", "--wire", "openai-chat").output
    for told in (
        "Why:",
        "Fix:",
        "Smallest failing request:",
        "The API answers 400",
        "did not have response messages",
    ):
        assert told in text
    assert run("explain", "TXT-001").exit_code == 0, "rules over a whole conversation are explained, too"


@pytest.mark.parametrize("arguments", [["explain", "NOPE-1"], ["list", "--wire", "telegraph"]])
def test_an_unknown_rule_or_wire_is_told(arguments):
    outcome = run(*arguments)
    assert outcome.exit_code == 2
    assert "There" in outcome.output


def known(tmp_path, **entry):
    """A baseline of one entry."""
    said = {"rule": "PAIR-001", "case": "*.yaml", "reason": "old", "issue": "https://example.org/1"} | entry
    path = tmp_path / "baseline.toml"
    path.write_text("[[expect]]\n" + "\n".join(f"{key} = {json.dumps(value)}" for key, value in said.items()))
    return path


def test_an_expected_violation_fails_nobody(tmp_path):
    path = vcr_yaml(tmp_path, BAD)
    outcome = run("lint", path, "--baseline", known(tmp_path))
    assert outcome.exit_code == 0
    assert "PAIR-001 MUST reject (expected)" in outcome.output
    assert "told https://example.org/1" in outcome.output
    assert run("lint", path, "--baseline", known(tmp_path, rule="ORD-*")).exit_code == 1
    tally = json.loads(run("lint", path, "--baseline", known(tmp_path), "--format", "json").output)["wires"]
    assert (tally["openai-chat"]["violations"], tally["openai-chat"]["expected"]) == (0, 1)


def test_a_stale_entry_fails_unless_its_files_were_not_read(tmp_path):
    path = vcr_yaml(tmp_path, GOOD)
    outcome = run("lint", path, "--baseline", known(tmp_path))
    assert outcome.exit_code == 1
    assert "expect entry 1 (rule PAIR-001, case *.yaml) is stale" in outcome.output
    assert (
        "::error title=baseline::"
        in run("lint", path, "--baseline", known(tmp_path), "--format", "github").output
    )
    assert run("lint", path, "--baseline", known(tmp_path, case="other/*")).exit_code == 0


def test_a_faulty_baseline_ends_with_2(tmp_path):
    outcome = run("lint", vcr_yaml(tmp_path, GOOD), "--baseline", known(tmp_path, issue=""))
    assert outcome.exit_code == 2
    assert "issue is missing" in outcome.output


NO_RECORDINGS = {
    "settings.json": '// with comments\n{"strict": true,}',
    "template.yaml": "name: {{ .Values.name }}\n{{- if .Values.on }}\n",
    "grpc.yaml": yaml.safe_dump({"interactions": [{"request": {"method": "/chat/Get", "message": ""}}]}),
    "socket.json": json.dumps({"interactions": [{"kind": "websocket", "sent": ["{}"]}]}),
}


@pytest.mark.parametrize("name", NO_RECORDINGS)
def test_what_is_no_recording_is_counted_and_no_error(tmp_path, name):
    (tmp_path / name).write_text(NO_RECORDINGS[name])
    vcr_yaml(tmp_path, GOOD)
    outcome = run("lint", tmp_path)
    assert outcome.exit_code == 0, outcome.output
    assert "1  not a recording of HTTP" in outcome.output


def test_a_run_that_judged_nothing_is_no_success(tmp_path):
    (tmp_path / "settings.json").write_text("{}")
    outcome = run("lint", tmp_path)
    assert outcome.exit_code == 2
    assert "Nothing was judged, which is no success: not a recording of HTTP (1)." in outcome.output
    outcome = run("calibrate", tmp_path)
    assert outcome.exit_code == 2
    assert "Nothing was judged" in outcome.output


def test_what_the_api_refused_too_is_told_when_asked(tmp_path):
    vcrpy(tmp_path / "a.yaml", yamlserializer, BAD, status=400)
    assert "PAIR-001" not in run("lint", tmp_path).output
    assert "The API refused 1 violation of these, too" in run("lint", tmp_path).output
    assert "PAIR-001" in run("lint", "--verbose", tmp_path).output


def test_several_folders_are_named_as_in_a_path(tmp_path, monkeypatch):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        vcr_yaml(tmp_path / name, GOOD)
    monkeypatch.setenv(
        "CONFORMANCE_TRAFFIC", os.pathsep.join(str(tmp_path / name) for name in ("one", "two"))
    )
    assert "2 files, 2 requests judged" in run("lint").output
