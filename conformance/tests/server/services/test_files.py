"""Files of OpenAI and Anthropic at the strict server: when they expire, and what is left of deleted ones."""

import json
from base64 import b64encode

import pytest
from servers.questions import NONCES

from ellmer_conformance.contract.request import Request
from ellmer_conformance.scenarios.cases import scripts
from ellmer_conformance.scenarios.cases._media_and_tools import REPORT
from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.services.service_request import File
from ellmer_conformance.server.services.uploads import with_uploads

BEARER = {"authorization": "Bearer key"}
HEADERS = {"openai": BEARER, "anthropic": {"x-api-key": "key", "anthropic-version": "2023-06-01"}}
MISSING = {
    "openai": ("invalid_request_error", "No such File object: {}"),
    "anthropic": ("not_found_error", "File not found: {}"),
}
ANCHOR, SECONDS = "expires_after.anchor", "expires_after.seconds"


@pytest.fixture
def ask(server, client):
    """Sends requests of one conversation."""
    url = server.url("any", next(NONCES))

    def ask(method, path, provider="openai", **body):
        return client.request(method, f"{url}/v1{path}", headers=HEADERS[provider], **body)

    return ask


@pytest.fixture
def upload(ask):
    """Uploads a file with more fields."""

    def upload(provider="openai", **fields):
        named = {
            f"expires_after[{key}]" if key in {"anchor", "seconds"} else key: value
            for key, value in fields.items()
        }
        file = {"file": ("notes.txt", b"hello", "text/plain")}
        return ask("POST", "/files", provider, data={"purpose": "user_data"} | named, files=file)

    return upload


# when they expire -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [3_600, 86_400, 2_592_000])
def test_a_file_expires_after_the_seconds_that_the_upload_says(ask, upload, seconds):
    file = upload(anchor="created_at", seconds=str(seconds), purpose="batch").json()
    assert file["expires_at"] == file["created_at"] + seconds
    assert ask("GET", f"/files/{file['id']}").json() == file
    assert ask("GET", "/files").json()["data"] == [file]


@pytest.mark.parametrize(("purpose", "seconds"), [("user_data", None), ("batch", 2_592_000)])
def test_a_file_without_an_expiry_has_the_one_of_its_purpose(upload, purpose, seconds):
    file = upload(purpose=purpose).json()
    assert file["expires_at"] == (file["created_at"] + seconds if seconds else None)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        (
            {"anchor": "created_at", "seconds": "3599"},
            (SECONDS, "integer_below_min_value", ">= 3600, but got 3599"),
        ),
        ({"anchor": "created_at", "seconds": "-1"}, (SECONDS, "integer_below_min_value", "but got -1")),
        ({"anchor": "created_at", "seconds": "2592001"}, (SECONDS, "integer_above_max_value", "<= 2592000")),
        ({"anchor": "created_at", "seconds": "3600.5"}, (SECONDS, "invalid_type", "expected an integer")),
        ({"anchor": "created_at", "seconds": "9" * 5_000}, (SECONDS, "invalid_type", "expected an integer")),
        ({"anchor": "created_at"}, (SECONDS, "missing_required_parameter", f"'{SECONDS}'")),
        ({"seconds": "3600"}, (ANCHOR, "missing_required_parameter", f"'{ANCHOR}'")),
        ({"anchor": "{now}", "seconds": "3600"}, (ANCHOR, "invalid_value", "'{now}'")),
    ],
)
def test_an_expiry_that_openai_does_not_offer_is_refused(ask, upload, fields, error):
    param, code, said = error
    reply = upload(**fields)
    told = reply.json()["error"]
    assert (reply.status_code, told["type"]) == (400, "invalid_request_error")
    assert (told["param"], told["code"]) == (param, code)
    assert said in told["message"]
    assert ask("GET", "/files").json()["data"] == []


# deleted files --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", HEADERS)
@pytest.mark.parametrize(("method", "end"), [("GET", ""), ("GET", "/content"), ("DELETE", "")])
def test_a_deleted_file_is_not_found(ask, upload, provider, method, end):
    kept, gone = (upload(provider).json()["id"] for _ in range(2))
    assert ask("DELETE", f"/files/{gone}", provider).status_code == 200
    reply = ask(method, f"/files/{gone}{end}", provider)
    type, said = MISSING[provider]
    assert (reply.status_code, reply.json()["error"]["type"]) == (404, type)
    assert reply.json()["error"]["message"] == said.format(gone)
    assert [file["id"] for file in ask("GET", "/files", provider).json()["data"]] == [kept]


def test_the_deleted_answers_of_a_batch_stay_deleted_when_it_is_polled_again(ask):
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello"}]}
    line = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": body}
    lines = {"file": ("batch.jsonl", json.dumps(line).encode())}
    file = ask("POST", "/files", data={"purpose": "batch"}, files=lines).json()["id"]
    given = {"input_file_id": file, "endpoint": line["url"], "completion_window": "24h"}
    batch = ask("POST", "/batches", json=given).json()["id"]
    answers = [ask("GET", f"/batches/{batch}").json()["output_file_id"] for _ in range(2)][-1]
    assert ask("GET", f"/files/{answers}/content").status_code == 200
    assert ask("DELETE", f"/files/{answers}").status_code == 200
    assert ask("GET", f"/batches/{batch}").json()["output_file_id"] == answers
    assert ask("GET", f"/files/{answers}/content").status_code == 404


def test_a_batch_has_the_times_of_what_has_happened(ask):
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hello"}]}
    line = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": body}
    lines = {"file": ("batch.jsonl", json.dumps(line).encode())}
    file = ask("POST", "/files", data={"purpose": "batch"}, files=lines).json()["id"]
    given = {"input_file_id": file, "endpoint": line["url"], "completion_window": "24h"}
    submitted = ask("POST", "/batches", json=given).json()
    ended = [ask("GET", f"/batches/{submitted['id']}").json() for _ in range(2)][-1]
    steps = ["in_progress_at", "finalizing_at", "completed_at", "failed_at", "cancelled_at"]

    assert (submitted["status"], [submitted[step] for step in steps]) == ("validating", [None] * 5)
    assert submitted["model"] is None
    assert ended["status"] == "completed"
    assert [ended[step] and ended[step] - ended["created_at"] for step in steps] == [60, 120, 121, None, None]
    assert ended["request_counts"] == {"total": 1, "completed": 1, "failed": 0}


# files in a conversation ----------------------------------------------------------------------------------

FILE = File("file-1", "a.pdf", "application/pdf", b"%PDF-1.4")
SENT = b64encode(FILE.data).decode()


@pytest.mark.parametrize(
    ("part", "inline"),
    [
        (
            {"type": "file", "file": {"file_id": "file-1"}},
            {"file_data": f"data:application/pdf;base64,{SENT}"},
        ),
        ({"type": "input_file", "file_id": "file-1"}, {"filename": "a.pdf", "type": "input_file"}),
        ({"type": "input_image", "file_id": "file-1"}, {"image_url": f"data:application/pdf;base64,{SENT}"}),
        (
            {"source": {"type": "file", "file_id": "file-1"}},
            {"type": "base64", "media_type": "application/pdf", "data": SENT},
        ),
        (
            {"fileData": {"fileUri": "https://x/v1beta/files/file-1"}},
            {"mimeType": "application/pdf", "data": SENT},
        ),
        ({"type": "file", "file": {"file_id": "another"}}, {"file_id": "another"}),
    ],
)
def test_an_uploaded_file_is_read_as_if_it_were_inline(part, inline):
    request = Request("openai-chat", "openai", {"messages": [{"role": "user", "content": [part]}]})
    found = with_uploads(request, {FILE.id: FILE}).body["messages"][0]["content"][0]

    assert any(inline.items() <= each.items() for each in (found, *found.values()) if isinstance(each, dict))


def test_a_model_sees_a_file_that_was_uploaded(client):
    """A client may upload a PDF of its user and name it, as Google's ADK does at OpenAI."""
    file = {"file": ("report.pdf", REPORT.data, "application/pdf")}
    with StrictServer(scripts()) as server:
        url = f"{server.url('pdf_from_user', next(NONCES))}/v1"
        fields = {"headers": BEARER, "data": {"purpose": "user_data"}, "files": file}
        named = {"type": "file", "file": {"file_id": client.post(f"{url}/files", **fields).json()["id"]}}
        body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": [named]}]}
        answer = client.post(f"{url}/chat/completions", headers=BEARER, json=body).json()

    assert answer["choices"][0]["message"]["content"] == "The total is 42 EUR."
