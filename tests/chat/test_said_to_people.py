"""A chat's messages for its user: errors with hints, waiting results, failures of tools, fetched images."""

import json
import logging

import pytest

from ellmer_core import tool
from ellmer_core._chat.error_messages import in_plain_words
from ellmer_core.contents import files
from ellmer_core.contents.content import (
    ContentImageInline,
    ContentImageRemote,
    ContentToolRequest,
    ContentToolResult,
)
from ellmer_core.contents.json_serialization import contents_record, contents_replay
from ellmer_core.contents.turns import AssistantTurn, UserTurn
from ellmer_core.conversation.io_operations import Clock, Fetch, Send
from ellmer_core.errors import ContentError, EllmerWarning, ProviderError, ServerError, UsageError
from ellmer_core.providers.anthropic import Anthropic
from ellmer_core.providers.google_gemini import chat_google_gemini
from ellmer_core.providers.google_vertex import chat_google_vertex
from ellmer_core.providers.openai_compatible import chat_openai_compatible
from ellmer_core.wire.shared.endings_and_errors import error_of

PNG = ContentImageInline("image/png", "iVBORw0KGgo=")
URL = "https://example.com/a.png"


@pytest.mark.parametrize(
    ("status", "headers", "message", "said"),
    [
        (
            400,
            {},
            "temperature: not taken",
            r"status 400\): temperature: not taken\nChange what the message names",
        ),
        (400, {}, "prompt is too long: 9 tokens", r"compact\(\)"),
        (
            401,
            {},
            "invalid x-api-key",
            r"status 401\): invalid x-api-key\nCheck the key: .*ANTHROPIC_API_KEY",
        ),
        (403, {}, "no", "may use this model"),
        (404, {}, "model: nope", "Check the model's name"),
        (429, {"Retry-After": "7"}, "slow down", "Retry in 7 seconds"),
        (529, {}, "Overloaded", "The provider failed"),
    ],
)
def test_an_error_says_whose_it_is_and_what_to_do(status, headers, message, said):
    body = json.dumps({"error": {"message": message}}).encode()
    error = Anthropic(model="claude-x").error(status, {**headers, "request-id": "req_1"}, body)
    assert str(error).startswith("Anthropic's claude-x (status ")
    with pytest.raises(ProviderError, match=said):
        raise error
    assert (error.message, error.status, error.request_id) == (message, status, "req_1")
    assert error.retry_after == (7.0 if headers else None)


def test_an_error_that_nobody_placed_is_its_message_and_what_to_do():
    assert str(error_of(500, {}, b'{"error": "oh"}')).startswith("oh\n")


def test_results_that_wait_are_printed():
    call = ContentToolRequest("a", "f", {})
    chat = chat_openai_compatible(base_url="http://x", model="m", api_key="k")
    chat.set_turns([UserTurn("Go"), AssistantTurn([call])])
    chat._history.results = {0: ContentToolResult("5", request=call)}
    lines = str(chat).splitlines()
    assert lines[-2].startswith("── user [not sent yet] ──")
    assert lines[-1] == "[tool result  (a)]: 5"
    assert len(chat.get_turns()) == 2


def test_a_tool_that_fails_warns_with_a_traceback(caplog):
    from ellmer_core.tool_execution import invoke

    @tool
    def broken():
        """Breaks."""
        raise ValueError("no luck")

    invoke(ContentToolRequest("a", "broken", {}, tool=broken))
    invoke(ContentToolRequest("b", "broken", {"no": 1}, tool=broken))
    [warning] = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert warning.getMessage() == "tool broken: ValueError"
    assert "in broken" in caplog.text


def test_a_replayed_chat_keeps_the_model_of_the_chat_it_is_given():
    old = chat_openai_compatible(base_url="http://x", model="old", api_key="k")
    old.set_turns([UserTurn("1"), AssistantTurn("2")])
    new = chat_openai_compatible(base_url="http://x", model="new", api_key="k")
    assert contents_replay(contents_record(old), chat=new).get_model() == "new"
    assert [turn.text for turn in new.get_turns()] == ["1", "2"]
    new.restore(old.record())
    assert new.get_model() == "old"


# Images by URL ----------------------------------------------------------------------------------------------


def sent(chat, *inputs, fetched=()):
    """Returns the first request, and the URLs that were fetched for it."""
    answers, asked = dict(fetched), []
    loop = chat._talk(inputs, chat._plan(stream=False, tool_mode="sequential")).loop
    effect = next(loop)
    while not isinstance(effect, Send):
        if isinstance(effect, Fetch):
            asked.append(effect.url)
            outcome = answers.get(effect.url)
            effect = loop.send(outcome) if outcome else loop.throw(UsageError(f"{effect.url} is private"))
        else:
            effect = loop.send(0.0 if isinstance(effect, Clock) else None)
    loop.close()
    return effect.request.json, asked


def gemini(**options):
    return chat_google_gemini(api_key="k", model="gemini-3.5-flash", **options)


def test_an_image_is_fetched_once_if_the_caller_allows_it():
    chat = gemini(fetch="https")
    body, asked = sent(chat, "Look:", ContentImageRemote(URL), fetched={URL: PNG})
    assert body["contents"][0]["parts"][1] == {"inlineData": {"mimeType": "image/png", "data": PNG.data}}
    assert asked == [URL]
    assert sent(chat, "Again:", ContentImageRemote(URL))[1] == []
    assert sent(chat.fork(), "Again:", ContentImageRemote(URL))[1] == []


def test_an_image_is_not_fetched_unless_the_caller_allows_it():
    with pytest.raises(ContentError, match="fetch='https'"):
        sent(gemini(), "Look:", ContentImageRemote(URL))
    with pytest.raises(UsageError, match="fetch="):
        gemini(fetch="http")


def test_an_image_that_cannot_be_fetched_is_refused_when_new_and_named_when_old():
    chat = gemini(fetch="https")
    with pytest.raises(ContentError, match=f"{URL} is private"):
        sent(chat, "Look:", ContentImageRemote(URL))
    call = ContentToolRequest("a", "f", {})
    result = ContentToolResult({"n": 1, "image": ContentImageRemote(URL)}, request=call)
    chat.set_turns([UserTurn("Draw"), AssistantTurn([call]), UserTurn([result]), AssistantTurn("Done.")])
    with pytest.warns(EllmerWarning, match="is private"):
        body, _ = sent(chat, "And now?")
    assert f"an image at {URL} here, which this model cannot be shown" in json.dumps(body)
    assert chat.get_turns()[2].contents[0] is result


def test_what_an_api_fetches_itself_is_left_to_it():
    chat = chat_google_vertex(api_key="k", model="gemini-3.5-flash", project="p", location="l", fetch="https")
    body, asked = sent(chat, "Look:", ContentImageRemote(URL))
    assert asked == []
    assert body["contents"][0]["parts"][1]["fileData"]["fileUri"] == URL


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/a.png",
        "https://127.0.0.1/a.png",
        "https://[::1]/a",
        "https://169.254.169.254/a",
        "file:///a",
    ],
)
def test_only_public_addresses_over_https_are_fetched(url):
    with pytest.raises(UsageError, match=r"private network|must start with https:"):
        files.fetched_image(url)


def test_calls_without_ids_are_named_by_their_function():
    calls = [ContentToolRequest(f"made-up-{n}", name, {}) for n, name in enumerate(["draw", "draw", "plot"])]
    results = [ContentToolResult(PNG, request=call) for call in calls]
    body = gemini().wire.request([UserTurn("Draw"), AssistantTurn(calls), UserTurn(results)]).json
    tags = [part["text"] for part in body["contents"][-1]["parts"] if "tool-call-id" in part.get("text", "")]
    assert tags == [f'<content tool-call-id="{name}">' for name in ("draw (1)", "draw (2)", "plot")]
    assert "made-up" not in json.dumps(body)


@pytest.mark.parametrize(
    ("error", "quoted", "detail"),
    [
        (ValueError("a bug"), "", "a bug"),
        (KeyError(), "", "KeyError"),
        (ServerError("Overloaded", status=529), "Overloaded", ""),
    ],
)
def test_only_a_provider_is_quoted(error, quoted, detail):
    told = in_plain_words(error)
    assert told.quoted == quoted
    assert told.detail == detail or (quoted and quoted in told.detail)
