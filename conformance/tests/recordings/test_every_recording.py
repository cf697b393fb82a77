"""Every recording is judged, or is counted with its reason: other endpoints, missing addresses, ignored folders."""

import json
import subprocess
from dataclasses import replace

import pytest
from conformance_command import run
from traffic.every_recorder import ANSWER, BAD, GOOD, rec, vcr_yaml

from ellmer_conformance.recordings.lint import lint, lint_file
from ellmer_conformance.recordings.recorded_requests import Assumed, Recording, Skip, is_missed, request_of
from ellmer_harness.bulk.sources import sources
from ellmer_harness.recordings import Unreadable, read

USER = {"role": "user", "content": "Hi"}
CLAUDE = {"model": "claude-sonnet-4-5", "messages": [USER]}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}
GPT = {"model": "gpt-4.1", "input": "Hi"}


def asked(url, body, answer=b"{}", **more):
    return request_of(
        Recording("/0", "POST", url, body=json.dumps(body).encode(), status=200, response=answer, **more)
    )


@pytest.mark.parametrize(
    ("url", "body", "wire"),
    [
        ("https://api.anthropic.com/v1/messages/count_tokens", CLAUDE, "anthropic"),
        ("https://api.openai.com/v1/responses/input_tokens", GPT, "openai-responses"),
        ("https://api.openai.com/v1/responses/compact", GPT, "openai-responses"),
        ("https://generativelanguage.googleapis.com/v1beta/models/gemini-3:countTokens", GEMINI, "gemini"),
        (
            "https://generativelanguage.googleapis.com/v1beta/models/gemini-3:countTokens",
            {"generateContentRequest": GEMINI},
            "gemini",
        ),
        (
            "https://generativelanguage.googleapis.com/v1beta/cachedContents?key=x",
            {**GEMINI, "ttl": "9s"},
            "gemini",
        ),
        (
            "https://generativelanguage.googleapis.com/v1beta/cachedContents",
            {**GEMINI, "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}},
            "gemini",
        ),
        ("https://api.mistral.ai/v1/agents/completions", {"agent_id": "a", "messages": [USER]}, "mistral"),
        ("https://text.pollinations.ai/openai", {"model": "openai", "messages": [USER]}, "openai-chat"),
    ],
    ids=[
        "count_tokens",
        "input_tokens",
        "compact",
        "countTokens",
        "inner",
        "cached",
        "cached with a choice",
        "agents",
        "pollinations",
    ],
)
def test_other_endpoints_with_the_same_body_are_judged(url, body, wire):
    found = asked(url, body)
    assert not isinstance(found, Skip), found
    assert found.wire == wire
    assert "ttl" not in found.body
    assert "agent_id" not in found.body
    assert "toolConfig" not in found.body


@pytest.mark.parametrize(
    ("body", "answer", "wire", "provider"),
    [
        ({"model": "gpt-5", "messages": [USER]}, b"{}", "openai-chat", "openai"),
        ({"model": "mine", "messages": [USER]}, b"{}", "openai-chat", "localhost"),
        (CLAUDE, b'{"type": "message"}', "anthropic", "anthropic"),
        ({"model": "gpt-5", "input": []}, b'{"object": "response"}', "openai-responses", "openai"),
        (GEMINI, b"{}", "gemini", "google"),
    ],
    ids=["chat", "elsewhere", "anthropic", "responses", "gemini"],
)
def test_a_removed_address_is_told_by_the_body(body, answer, wire, provider):
    found = asked("**REDACTED**", body, answer)
    assert (found.wire, found.provider) == (wire, provider)


@pytest.mark.parametrize(
    ("day", "outcome"),
    [
        ("", "warning"),
        ("Mon, 05 Jan 2026 10:00:00 GMT", None),
        ("Wed, 01 Jul 2026 10:00:00 GMT", "violation"),
    ],
)
def test_an_accepted_request_without_a_day_may_precede_a_rule(tmp_path, day, outcome):
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    sent = {"model": "openai/gpt-oss-120b", "messages": [{"role": "user", "content": [image]}]}
    exchange = {
        "request": {
            "method": "POST",
            "url": "https://inference.baseten.co/v1/chat/completions",
            "body": sent,
        },
        "response": {"status": 200, "headers": {"date": day}, "body": "{}"},
    }
    (tmp_path / "a.json").write_text(json.dumps([exchange]))
    found = {each.rule: each.outcome for each in lint_file(tmp_path / "a.json").complaints}
    assert found.get("REQ-052") == outcome


@pytest.mark.parametrize(
    ("prefix", "provider"),
    [("{MLDEV_URL_PREFIX}", "google"), ("{VERTEX_URL_PREFIX}/publishers/google", "vertex")],
)
def test_a_replay_of_googles_client_is_read(tmp_path, prefix, provider):
    request = {
        "method": "post",
        "url": f"{prefix}/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
        "headers": {"Content-Type": "application/json"},
        "body_segments": [GEMINI],
    }
    answer = {"status_code": 200, "headers": {}, "body_segments": [{"a": 1}, {"a": 2}]}
    (tmp_path / "a.json").write_text(
        json.dumps({"replay_id": "x", "interactions": [{"request": request, "response": answer}]})
    )
    (found,) = read(tmp_path / "a.json").interactions
    assert found.content == b'data: {"a": 1}\n\ndata: {"a": 2}\n\n'
    assert lint_file(tmp_path / "a.json").providers == {provider: 1}


@pytest.mark.parametrize(
    ("address", "path", "provider"),
    [
        ("generativelanguage.googleapis.com", "/v1beta/models/gemini-2.5-flash:generateContent", "google"),
        (
            "us-central1-aiplatform.googleapis.com",
            "/v1beta1/projects/REDACTED/locations/REDACTED/publishers/google/models/gemini-2.5-flash:generateContent",
            "vertex",
        ),
    ],
)
def test_a_recording_of_googles_test_server_is_read(tmp_path, address, path, provider):
    request = {"method": "POST", "url": path, "bodySegments": [GEMINI], "serverAddress": address, "port": 443}
    refused = {"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}
    answer = {"statusCode": 400, "headers": {}, "bodySegments": [refused]}
    (tmp_path / "a.json").write_text(
        json.dumps({"recordID": "x", "interactions": [{"request": request, "response": answer}]})
    )
    (found,) = read(tmp_path / "a.json").interactions
    assert (found.status, json.loads(found.content)) == (400, refused)
    assert found.url == f"https://{address}{path}"
    assert lint_file(tmp_path / "a.json").providers == {provider: 1}


def test_a_mapping_of_wiremock_may_have_a_pattern_of_paths(tmp_path):
    request = {"method": "DELETE", "urlPathPattern": "/v1/files/.+"}
    (tmp_path / "a.json").write_text(
        json.dumps({"request": request, "response": {"status": 200, "body": "{}"}})
    )
    assert dict(lint_file(tmp_path / "a.json").skipped) == {"not a chat request": 1}


def test_a_mapping_of_wiremock_in_a_folder_has_its_body_in_files(tmp_path):
    (tmp_path / "mappings" / "chat").mkdir(parents=True)
    (tmp_path / "__files").mkdir()
    (tmp_path / "__files" / "answer.json").write_text(json.dumps(ANSWER))
    request = {"method": "POST", "urlPath": "/v1/chat/completions", "bodyPatterns": []}
    path = tmp_path / "mappings" / "chat" / "a.json"
    path.write_text(
        json.dumps({"request": request, "response": {"status": 200, "bodyFileName": "answer.json"}})
    )
    assert json.loads(read(path).interactions[0].content) == ANSWER


def test_an_address_without_its_project_still_names_provider_and_model():
    place = "https://us-central1-aiplatform.googleapis.com/v1/projects/[REDACTED]/locations/us-central1/"
    found = asked(f"{place}publishers/google/models/gemini-2.5-flash:countTokens", GEMINI)
    assert (found.wire, found.provider, found.model) == ("gemini", "vertex", "gemini-2.5-flash")


@pytest.mark.parametrize(
    ("body", "answer", "wire"),
    [
        ({"model": "gpt-5", "messages": [USER]}, b'{"object":"chat.completion"}', "openai-chat"),
        ({"model": "gpt-5", "messages": [USER]}, b'{"error": {}}', "openai-responses"),
        ({"model": "gpt-5", "input": "Hi"}, b'{"object":"chat.completion"}', "openai-responses"),
    ],
    ids=["a chat", "refused", "no chat"],
)
def test_an_address_that_was_changed_by_hand_is_told_by_body_and_answer(body, answer, wire):
    found = asked("https://api.openai.com/v1/responses?a=1", body, answer)
    assert found.wire == wire
    assert found.url.endswith("/chat/completions?a=1" if wire == "openai-chat" else "/responses?a=1")


ERRORS = {
    "vllm": '{"object": "error", "message": "...", "type": "BadRequestError", "param": null, "code": 400}',
    "llamacpp": '{"error":{"code":400,"message":"...","type":"invalid_request_error"}}',
    "127.0.0.1": '{"error": {"message": "...", "type": "invalid_request_error", "param": null, "code": null}}',
}


@pytest.mark.parametrize("provider", ERRORS)
def test_a_local_server_is_told_by_its_errors(provider):
    sent = {"model": "Qwen/Qwen3-0.6B", "messages": [USER]}
    recording = Recording("/0", "POST", "http://127.0.0.1:8000/v1/chat/completions")
    recording = replace(
        recording, body=json.dumps(sent).encode(), status=400, response=ERRORS[provider].encode()
    )
    assert request_of(recording).provider == provider
    assert request_of(replace(recording, status=200, response=b"{}")).provider == "127.0.0.1"


def test_an_item_type_that_a_mask_of_ids_changed_is_read_as_it_was():
    call = {"type": "function_call", "call_id": "call_abc123", "name": "add", "arguments": "{}"}
    result = {"type": "function_call_abc123", "call_id": "call_abc123", "output": "5"}
    found = asked("https://api.openai.com/v1/responses", {**GPT, "input": [call, result]})
    assert found.body["input"] == [call, {**result, "type": "function_call_output"}]


@pytest.mark.parametrize(("status", "judged"), [(200, False), (400, True)])
def test_a_body_that_asks_nothing_was_not_accepted_but_written_by_hand(status, judged):
    for body in (b'{"mock": "first"}', b'{"model": "claude-opus-5", "messages": "<removed>"}'):
        recording = Recording("/0", "POST", "https://api.anthropic.com/v1/messages", body=body)
        found = request_of(replace(recording, status=status))
        assert isinstance(found, Skip) is not judged
        assert judged or not is_missed(found.reason)


def test_an_address_that_nothing_tells_is_missed_and_named():
    found = asked("**REDACTED**", {"input": "Hi", "model": "text-embedding-3"})
    assert isinstance(found, Skip)
    assert is_missed(found.reason)
    assert "--wire" in found.reason


def test_wire_and_provider_are_for_what_the_address_does_not_tell(tmp_path):
    body = json.dumps({"model": "m", "messages": [USER]}).encode()
    foreign = Recording("/0", "POST", "https://llm.example/ask", body=body, status=200)
    assert is_missed(request_of(foreign).reason)
    found = request_of(foreign, Assumed("openai-chat", "groq"))
    assert (found.wire, found.provider) == ("openai-chat", "groq")
    known = Recording("/0", "POST", "https://api.openai.com/v1/chat/completions", body=body, status=200)
    assert request_of(known, Assumed("anthropic", "groq")).provider == "openai"
    vcr_yaml(tmp_path, GOOD)
    assert run("lint", tmp_path, "--wire", "anthropic").exit_code == 0


def test_other_endpoints_are_named_and_nothing_is_missed():
    found = asked("https://api.openai.com/v1/threads/thread_a1/runs", {})
    assert found == Skip("not a chat request: openai's /v1/threads/*/runs")
    assert not is_missed(found.reason)


def test_what_git_ignores_and_folders_of_tools_are_left_out(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("build/\nlocal.yaml\n")
    for folder in ("build", "node_modules/x", "kept", "vendor"):
        (tmp_path / folder).mkdir(parents=True)
        vcr_yaml(tmp_path / folder, GOOD)
    vcr_yaml(tmp_path / "kept", GOOD).rename(tmp_path / "local.yaml")
    vcr_yaml(tmp_path / "kept", GOOD)
    (tmp_path / "kept" / "again").symlink_to(tmp_path)

    found = [path.relative_to(tmp_path).as_posix() for path in sources([tmp_path], ["vendor/*"])]
    assert found == [".gitignore", "kept/a.yaml"]
    assert [path.name for path in sources([tmp_path / "build"])] == ["a.yaml"], "it was named"
    assert "1 request judged" in run("lint", tmp_path, "--exclude", "vendor").output


def test_a_folder_of_which_most_was_missed_is_no_success(tmp_path):
    vcr_yaml(tmp_path, GOOD)
    for name in ("b.json", "c.json"):
        (tmp_path / name).write_text(json.dumps({"entries": [{"matchKey": "POST x"}]}))
    result = lint([tmp_path])
    assert result.skipped == {"not a recording of HTTP, but resembles braintrust": 2}
    assert (result.judged, result.missed, result.exit_code) == (1, 2, 2)


def test_a_truncated_rec_is_damaged(tmp_path):
    path = rec(tmp_path, GOOD)
    path.write_text(path.read_text()[:200])
    with pytest.raises(Unreadable, match="a part between"):
        read(path)


def test_an_exception_of_llama_stack_is_a_refusal(tmp_path):
    raised = {
        "is_exception": True,
        "exception_data": {"status_code": 400, "body": {"message": "no"}},
        "body": None,
    }
    sent = {"method": "POST", "url": "https://api.openai.com/v1/chat/completions", "body": BAD}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"test_id": "t", "request": sent, "response": raised}))
    (complaint,) = lint_file(path).complaints
    assert (complaint.outcome, complaint.answered) == ("agreed", 400)


def test_the_lines_of_a_text_are_joined(tmp_path):
    entry = {
        "RequestUri": "https://api.openai.com/v1/responses",
        "RequestBody": None,
        "StatusCode": 200,
        "ResponseHeaders": {"Content-Type": ["text/event-stream"]},
        "ResponseBody": ["data: 1\n", "\n"],
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"Entries": [entry, {**entry, "ResponseBody": ANSWER}]}))
    first, second = read(path).interactions
    assert (first.body, first.content, json.loads(second.content)) == (b"", b"data: 1\n\n", ANSWER)


def test_many_files_have_a_summary(tmp_path):
    for number in range(20):
        vcr_yaml(tmp_path, BAD if number < 3 else GOOD).rename(tmp_path / f"{number}.yaml")
    lines = run("lint", tmp_path).output.splitlines()
    assert "Formats:   vcrpy (20)" in lines
    assert "Providers: openai (20)" in lines
    assert "Causes:    openai-chat/PAIR-001 (3)" in lines
    assert not any(
        line.startswith("Formats:") for line in run("lint", tmp_path / "1.yaml").output.splitlines()
    )


@pytest.mark.parametrize(
    ("answer", "answered"),
    [
        ({"completion": "An image.", "stop_reason": "stop"}, None),
        ({"content": [], "stop_reason": "end_turn"}, 200),
    ],
)
def test_an_answer_without_what_each_answer_has_shows_nothing(tmp_path, answer, answered):
    url = (
        "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-haiku-20240307-v1:0/invoke"
    )
    link = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.jpg"}}
    asked = {
        "anthropic_version": "bedrock-2023-05-31",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": [link]}],
    }
    request = {"method": "POST", "url": url, "headers": {}, "body": json.dumps(asked)}
    response = {"status": 200, "headers": {}, "body": json.dumps(answer)}
    (tmp_path / "a.json").write_text(
        json.dumps({"interactions": [{"request": request, "response": response}]})
    )
    found = lint_file(tmp_path / "a.json")
    assert {each.answered for each in found.complaints} == {answered}
