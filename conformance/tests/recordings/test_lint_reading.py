"""Every format of recordings is read correctly. Unreadable files are reported, and the exit code is 2."""

import gzip
import json
import tracemalloc
import zlib
from base64 import b64encode
from pathlib import Path

import brotli
import pytest
import yaml
import zstandard
from conformance_command import run
from traffic.every_recorder import (
    ANSWER,
    BAD,
    GOOD,
    URL,
    WRITERS,
    braintrust,
    har,
    httpmock,
    httprr,
    istr,
    mockserver,
    mockservers,
    nock,
    polly,
    ruby,
    vcr_yaml,
    vcrpy,
    wiremock,
)
from vcr.serializers import yamlserializer

from ellmer_conformance.recordings.lint import lint_file
from ellmer_conformance.recordings.recorded_requests import read, request_of
from ellmer_harness.recordings import Unreadable, find


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
    text = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "a\u2028b\x85c" + "x" * 200_000}]}
    line = json.dumps({"url": URL, "body": text}, ensure_ascii=False).encode() + b"\n"
    data = b'\xef\xbb\xbf{"level": "info"}\n' + line * 100 + b'{"level": "info"}\r\n'
    (tmp_path / name).write_bytes(gzip.compress(data, 1) if name.endswith("gz") else data)

    tracemalloc.start()
    report = lint_file(tmp_path / name)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (report.problem, report.judged, report.complaints) == (None, 100, [])
    assert dict(report.skipped) == {"the line has no exchange": 2}
    assert most < len(data) / 4, most


@pytest.mark.parametrize(
    "write",
    [vcr_yaml, ruby, har, polly, nock, httprr, httpmock, wiremock, mockserver, mockservers, braintrust, istr],
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


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("cut.json", b'{"interactions": [{"request": {', "truncated"),
        ("cut.yaml", b"interactions:\n- request: {method: POST", "truncated"),
        ("cut.yaml.gz", gzip.compress(b"interactions: []", mtime=0)[:-4], "cannot be read"),
        ("no.json", b'{"interactions": "\xff\xfe\x00"}', "not valid UTF-8"),
        ("deep.json", b'{"interactions": ' + b"[" * 100_000, "nested too deep"),
        ("cut.jsonl", b'{"url": "x"}\n{"url', "line 2 is damaged or truncated"),
        ("cut.jsonl.gz", gzip.compress(b'{"url": "x"}\n' * 99, mtime=0)[:-9], "cannot be read"),
        (
            "odd.json",
            b'{"interactions": [{"request": {"url": "https://a.test"}, "response": "x"}]}',
            "is inconsistent",
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


NO_RECORDINGS = {
    "settings.json": '// with comments\n{"strict": true,}',
    "template.yaml": "name: {{ .Values.name }}\n{{- if .Values.on }}\n",
    "launch.json": '// of an editor\n{"request": "launch", "url": "http://localhost:8080",}',
    "chart.yaml": "entries:\n  {{- range .Values.entries }}\n  - request: {{ . }}\n",
    "manifest.yaml": "apiVersion: v1\nkind: Route\n{{- if .on }}\nrequest:\n  path: /a\nresponse: {{ .status }}\n",
    "data.json": '{"url": "x", "headers": "none", "response": 1}',
    "queue.json": '{"requests": [1, 2], "responses": [3]}',
    "index.json": '{"entries": [{"name": "x"}], "version": 1}',
    "words.jsonl": '{"a": 1}\nnot json\n',
    "deep.json": "[" * 100_000,
    "grpc.yaml": yaml.safe_dump({"interactions": [{"request": {"method": "/chat/Get", "message": ""}}]}),
    "pact.json": json.dumps(
        {
            "consumer": {"name": "shop"},
            "provider": {"name": "api"},
            "interactions": [{"request": {"method": "GET", "path": "/a"}, "response": {"status": 200}}],
        }
    ),
    "socket.json": json.dumps({"interactions": [{"kind": "websocket", "sent": ["{}"]}]}),
}


@pytest.mark.parametrize("name", NO_RECORDINGS)
def test_what_is_no_recording_is_counted_and_no_error(tmp_path, name):
    """What has the keys of a recording by chance cannot fail a run: settings, templates, data, logs of words."""
    (tmp_path / name).write_text(NO_RECORDINGS[name])
    vcr_yaml(tmp_path, GOOD)
    outcome = run("lint", tmp_path)
    assert outcome.exit_code == 0, outcome.output
    assert "1  not a recording of HTTP" in outcome.output


# --- Pairs of files, and bodies as an SDK of AWS takes them --------------------------------------------------


def pair(folder, request, **answers):
    (folder / "request.json").write_text(json.dumps(request))
    for name, answer in answers.items():
        (folder / f"{name.replace('_', '-')}.json").write_text(json.dumps(answer))
    return lint_file(folder / "request.json")


HI = [{"role": "user", "content": "Hi"}]


def test_a_pair_with_a_stream_in_place_of_a_response(tmp_path):
    report = pair(
        tmp_path,
        {"model": "claude-opus-5", "max_tokens": 5, "messages": HI},
        response_streaming=[{"type": "message_start", "message": {}}],
    )

    assert (report.form, report.wires["anthropic"].accepted) == ("a pair of files", 1)


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ('Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"no"}}', 400),
        ("Error: 429 slow down", 429),
        ('Error: ApiError: {"error": {"code": 400, "message": "no"}}', 400),
        ("ValidationException: a: Extra inputs are not permitted", 400),
        ({"code": 400}, 400),
    ],
)
def test_a_pair_with_the_error_of_an_sdk(tmp_path, told, status):
    report = pair(tmp_path, {"model": "gpt-4.1", "messages": HI}, error={"error": told})
    [recording] = read(tmp_path / "request.json")

    assert recording.status == status
    assert [tally.refused for tally in report.wires.values()] == [1]


def test_a_command_of_aws(tmp_path):
    picture = {str(at): byte for at, byte in enumerate(b"\x89PNG")}
    request = {
        "modelId": "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "messages": [
            {
                "role": "user",
                "content": [
                    {"text": "What is this?"},
                    {"image": {"format": "png", "source": {"bytes": picture}}},
                    {
                        "image": {
                            "format": "png",
                            "source": {"bytes": {"type": "Buffer", "data": [137, 80, 78, 71]}},
                        }
                    },
                ],
            }
        ],
    }
    report = pair(tmp_path, request, response={"output": {}})

    [recording] = read(tmp_path / "request.json")
    sent = request_of(recording)
    images = [part["image"]["source"]["bytes"] for part in sent.body["messages"][0]["content"][1:]]

    assert report.wires["bedrock"].judged == 1
    assert sent.model == request["modelId"]
    assert "modelId" not in sent.body
    assert images == [b64encode(b"\x89PNG").decode()] * 2


@pytest.mark.parametrize(
    ("version", "provider"), [("bedrock-2023-05-31", "bedrock"), ("vertex-2023-10-16", "vertex")]
)
def test_a_body_whose_version_names_the_provider(tmp_path, version, provider):
    request = {"anthropic_version": version, "max_tokens": 5, "messages": HI}
    report = pair(tmp_path, request, response={"type": "message", "model": "claude-haiku-4-5-20251001"})

    assert report.wires["anthropic"].judged == 1
    assert report.providers == {provider: 1}
    assert report.complaints == []  # the model is in the address there
