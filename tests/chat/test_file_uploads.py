"""Files that providers store: they are uploaded, used in requests, deleted, and sent themselves to another provider."""

import asyncio
import json

import pytest

import ellmer_core as ec
from ellmer_core.contents.content import ContentUploaded

WHEN = "2030-01-02T03:04:05.123456789Z"
GOOGLE = {
    "name": "files/g1",
    "uri": "https://generativelanguage.googleapis.com/v1beta/files/g1",
    "expirationTime": WHEN,
}
ANSWERS = {
    "anthropic": ({"content": [{"type": "text", "text": "A cat."}], "stop_reason": "end_turn"}),
    "openai": ({"status": "completed", "output": [{"type": "message", "id": "m", "content": [{"type": "output_text", "text": "A cat."}]}]}),
    "google_gemini": ({"candidates": [{"content": {"parts": [{"text": "A cat."}]}, "finishReason": "STOP"}]}),
}  # fmt: skip
STORED = {
    "anthropic": ({"id": "file_1", "type": "file"}, "file_1", None, "/files", "/files/file_1"),
    "openai": ({"id": "file-1", "expires_at": 1893553445}, "file-1", 1893553445, "/files", "/files/file-1"),
    "google_gemini": (
        {"file": {**GOOGLE, "state": "ACTIVE"}},
        GOOGLE["uri"],
        1893553445.0,
        "/upload/files",
        "/files/g1",
    ),
}


@pytest.fixture
def pdf(tmp_path):
    path = tmp_path / 'ca"t.pdf'
    path.write_bytes(b"%PDF-1.4 cat")
    return path


@pytest.fixture
def chatting(server, monkeypatch):
    def chatting(provider, **options):
        make = getattr(ec, f"chat_{provider}")
        return make(base_url=server.url, api_key="k", model="m", echo="none", max_tries=1, **options)

    return chatting


def json_of(value):
    return [json.dumps(value).encode()]


@pytest.mark.parametrize("provider", STORED)
@pytest.mark.parametrize("mode", ["blocking", "async"])
def test_a_file_is_uploaded_asked_about_and_deleted(provider, mode, server, reply, chatting, pdf):  # noqa: PLR0917 - fixtures
    stored, uri, expires, path, deleted = STORED[provider]
    server.answers(reply(json_of(stored)), reply(json_of(ANSWERS[provider])), reply(json_of({})))
    chat = chatting(provider)

    if mode == "blocking":
        file = chat.upload(pdf)
        assert chat.chat("What is it?", file) == "A cat."
        chat.delete_upload(file)
    else:

        async def all_of_it():
            file = await chat.upload_async(pdf)
            assert await chat.chat_async("What is it?", file) == "A cat."
            await chat.delete_upload_async(file)
            return file

        file = asyncio.run(all_of_it())

    assert (file.uri, file.type, file.expires_at) == (uri, "application/pdf", expires)
    upload, question, deletion = server.asked
    assert (upload.method, upload.path) == ("POST", path)
    assert b"%PDF-1.4 cat" in upload.body
    assert b'ca"t' not in upload.body.partition(b"%PDF")[0] or provider == "google_gemini"
    assert uri in json.dumps(question.json)
    assert "JVBERi" not in json.dumps(question.json)  # the bytes stay where they are
    assert (deletion.method, deletion.path) == ("DELETE", deleted)
    if provider == "anthropic":
        assert all(one.headers["anthropic-beta"] == "files-api-2025-04-14" for one in server.asked)


def test_openai_is_told_when_to_delete_it(server, reply, chatting, pdf):
    server.answers(reply(json_of(STORED["openai"][0])))
    chatting("openai").upload(pdf, expires_in=3600)

    assert b'name="expires_after[seconds]"\r\n\r\n3600\r\n' in server.asked[0].body


@pytest.mark.parametrize(
    ("provider", "seconds"), [("openai", 60), ("anthropic", 3600), ("google_gemini", 3600)]
)
def test_an_expiry_that_the_provider_does_not_keep_is_refused_before_it_is_sent(
    provider, seconds, chatting, pdf, server
):
    with pytest.raises(ec.UsageError, match="expires_in"):
        chatting(provider).upload(pdf, expires_in=seconds)
    assert len(server.asked) == 0


@pytest.mark.parametrize("provider", ["anthropic", "google_gemini"])
def test_another_provider_is_sent_the_file_itself(provider, server, reply, chatting, pdf):
    server.answers(
        reply(json_of(STORED["openai"][0])),
        reply(json_of(ANSWERS["openai"])),
        reply(json_of(ANSWERS[provider])),
    )
    first, other = chatting("openai"), chatting(provider)
    first.chat("What is it?", first.upload(pdf))
    saved = json.loads(json.dumps(first.record()))
    other.restore(saved)

    assert other.chat("And now?") == "A cat."
    assert "JVBERi" in json.dumps(server.asked[2].json)
    assert "file-1" not in json.dumps(server.asked[2].json)


@pytest.mark.parametrize("mode", ["blocking", "async"])
def test_a_file_that_the_provider_has_deleted_meanwhile_is_sent_along(mode, server, reply, chatting, pdf):
    gone = {"id": "file-1", "expires_at": 1_700_000_000}
    server.answers(reply(json_of(gone)), *[reply(json_of(ANSWERS["openai"]))] * 2)
    chat = chatting("openai")
    file = chat.upload(pdf)
    ask = chat.chat if mode == "blocking" else lambda *said: asyncio.run(chat.chat_async(*said))
    ask("What is it?", file)
    ask("And now?")

    for question in server.asked[1:]:
        assert "JVBERi" in json.dumps(question.json)
        assert "file-1" not in json.dumps(question.json)
    assert file in chat.get_turns()[0].contents  # the history keeps what was said


def test_the_path_of_a_gateway_stays_in_front_of_googles_uploads(server, reply, pdf):
    stored = STORED["google_gemini"][0]
    server.answers(reply(json_of(stored)))

    chat = ec.chat_google_gemini(base_url=f"{server.url}/gateway/v1beta", api_key="k", model="m")

    assert chat.upload(pdf).uri == GOOGLE["uri"]
    assert [one.path for one in server.asked] == ["/gateway/upload/v1beta/files"]


def test_google_is_waited_for(server, reply, chatting, pdf, monkeypatch):
    monkeypatch.setattr("ellmer_core.transport.single_requests.PAUSE", 0.001)
    later = {**GOOGLE, "state": "PROCESSING"}
    server.answers(
        reply(json_of({"file": later})), reply(json_of(later)), reply(json_of({**GOOGLE, "state": "ACTIVE"}))
    )

    assert chatting("google_gemini").upload(pdf).uri == GOOGLE["uri"]
    assert [one.path for one in server.asked] == ["/upload/files", "/files/g1", "/files/g1"]


def test_what_google_cannot_process_is_said(server, reply, chatting, pdf):
    server.answers(reply(json_of({"file": {**GOOGLE, "state": "FAILED"}})))

    with pytest.raises(ec.BadRequestError, match="could not process"):
        chatting("google_gemini").upload(pdf)


@pytest.mark.parametrize("body", [b"no", b"[]", b'{"file": 3}', b'{"id": 3}'])
@pytest.mark.parametrize("provider", STORED)
def test_an_answer_without_a_file_is_no_upload(provider, body, server, reply, chatting, pdf):  # noqa: PLR0917 - fixtures
    server.answers(reply([body]))

    with pytest.raises(ec.ResponseError):
        chatting(provider).upload(pdf)


def test_who_keeps_no_files_says_so_and_nobody_deletes_for_others(chatting, pdf):
    with pytest.raises(ec.UsageError, match="does not store files"):
        chatting("groq").upload(pdf)
    with pytest.raises(ec.UsageError, match="uploaded to Anthropic"):
        chatting("openai").delete_upload(ContentUploaded("f", "application/pdf", "anthropic", "Anthropic"))


def test_a_beta_of_the_callers_stays(server, reply, chatting):
    server.answers(reply(json_of(ANSWERS["anthropic"])))
    chat = chatting("anthropic", api_headers={"anthropic-beta": "other-1"})
    chat.chat("Hi", ContentUploaded("file_1", "application/pdf", "anthropic"))

    assert server.asked[0].headers["anthropic-beta"] == "other-1,files-api-2025-04-14"
