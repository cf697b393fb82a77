"""A key that is quoted where an error is not the answer's status: in an answer that cannot be read, in what an exception carries,
and in the log of the HTTP client.
"""

import json
import logging
import traceback

import httpx
import pytest

import ellmer_core as ec
from ellmer_core.base.budget import CLIENT_ERROR
from ellmer_core.transport import keys_in_errors
from ellmer_core.transport.keys_in_errors import HIDDEN
from ellmer_core.transport.sent_keys import SentKeys

KEY = "sk-proj-Ab3dE7gH9kL2mN5pQ8rT1uW4xY7f3A"
BEARER = {"authorization": f"Bearer {KEY}"}
SSE = {"content-type": "text/event-stream"}
QUOTED = {
    "masked in its middle": "The key ***L2mN5p*** was revoked.",
    "masked with words": "The key sk-proj-[redacted]7f3A was revoked.",
    "six characters": f"Unknown key {KEY[20:26]}.",
    "its end": f"The key that ends in {KEY[-5:]} was revoked.",
    "in UTF-16, in a path": f"/keys/{KEY.encode('utf-16-le').hex()}/usage",
    "in UTF-16, on a line of its own": f"Unauthorized\n{KEY.encode('utf-16-le').hex()}",
}
LEAKS = ("L2mN5p", "7f3A", KEY[20:26], KEY[12:18].encode("utf-16-le").hex())
ANSWERS = {
    "an error behind status 200": lambda text: httpx.Response(200, json={"error": {"message": text}}),
    "a page": lambda text: httpx.Response(200, html=f"<html>{text}</html>"),
    "another object": lambda text: httpx.Response(200, json={"hello": text}),
    "values of wrong types": lambda text: httpx.Response(200, json={"choices": text}),
    "an event of wrong types": lambda text: httpx.Response(
        200, headers=SSE, text=f"data: {json.dumps({'choices': text})}\n\n"
    ),
    "an event with a message": lambda text: httpx.Response(
        200, headers=SSE, text=f"data: {json.dumps({'message': text, 'object': 'error'})}\n\n"
    ),
}


def answering(answer, make=ec.chat_openai_completions, **options):
    client = httpx.Client(transport=httpx.MockTransport(lambda _: answer))
    return make(api_key=KEY, model="m", client=client, max_tries=1, echo="none", **options)


def shown(error):
    """Returns all texts of an exception, and of those that it followed or holds."""
    texts, left = [], [error]
    while left:
        each = left.pop()
        if isinstance(each, BaseException):
            texts += [str(each), repr(each), *traceback.format_exception(each)]
            left += [each.args, vars(each), each.__cause__, each.__context__, getattr(each, "object", None)]
            left += [getattr(each, "obj", None), *getattr(each, "exceptions", ())]
        elif isinstance(each, dict):
            left += [*each, *each.values()]
        elif isinstance(each, list | tuple):
            left += each
        elif isinstance(each, httpx.Request):
            left += each.headers.values()
        else:
            texts.append(repr(each))
    return "\n".join(texts)


@pytest.mark.parametrize("make", [ec.chat_openai_completions, ec.chat_mistral, ec.chat_cohere])
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("text", QUOTED.values(), ids=QUOTED)
def test_an_answer_that_is_an_error_is_searched_as_one(make, answer, text):
    for ask in (ec.Chat.chat, lambda chat, prompt: list(chat.stream(prompt))):
        with pytest.raises(ec.EllmerError) as raised:
            ask(answering(answer(text), make), "Hi")
        assert [leak for leak in LEAKS if leak in shown(raised.value)] == []


@pytest.mark.parametrize("text", QUOTED.values(), ids=QUOTED)
def test_an_answer_outside_of_a_conversation_is_searched_as_well(text):
    chat = answering(httpx.Response(200, json={"hello": text}), ec.chat_anthropic)
    with pytest.raises(ec.EllmerError) as raised:
        chat.token_count("Hi")
    assert [leak for leak in LEAKS if leak in shown(raised.value)] == []


def test_an_exception_has_no_key_wherever_it_carries_it():
    inner, cause = (
        ValueError({"deep": [f"Bad key {KEY}"]}),
        UnicodeDecodeError("utf-8", KEY.encode(), 0, 1, KEY),
    )
    error = ExceptionGroup("errors of tasks", [inner])
    error.__cause__, error.__context__ = cause, AttributeError(KEY, obj=f"x{KEY}")
    inner.add_note(f"Note of {KEY}")
    inner.request = httpx.Request("POST", "https://api.test", headers={"x-api-key": KEY})
    inner.body = (KEY, {KEY: KEY.encode()})
    SentKeys(BEARER).hide_in_exception(error)
    assert KEY not in shown(error)
    assert inner.__notes__ == [f"Note of {HIDDEN}"]


@pytest.mark.parametrize("level", [logging.INFO, logging.DEBUG])
def test_the_log_of_the_http_client_has_no_key(caplog, level):
    caplog.set_level(level)
    said = f"HTTP/1.1 401 No key {KEY}\r\nx-key: {KEY}\r\ncontent-length: 0\r\n\r\n".encode()
    with pytest.raises(ec.AuthenticationError):
        answering(httpx.Response(401, extensions={"reason_phrase": f"No key {KEY}".encode()})).chat("Hi")
    logging.getLogger("httpcore.http11").debug("receive_response_headers.complete return_value=%r", said)
    logging.getLogger("hpack.hpack").debug("Adding %s to the header table", (b"authorization", KEY.encode()))
    assert (
        "401 No" in caplog.text
    )  # what precedes the key is hidden, too, if another key in this process ends with it
    assert "[key]" in caplog.text
    assert KEY not in caplog.text


@pytest.fixture
def searched(monkeypatch):
    """The sizes of the texts that are searched for keys."""
    sizes, real = [], keys_in_errors.hidden_traces
    monkeypatch.setattr(
        keys_in_errors, "hidden_traces", lambda text, keys: sizes.append(len(text)) or real(text, keys)
    )
    return sizes


@pytest.mark.parametrize("unit", ["7", "[],", " 199", "\\", f"{KEY[20:26]} ", "\\u0073"])
def test_of_an_error_of_a_megabyte_only_its_beginning_is_searched(unit, searched):
    body = json.dumps({"error": {"message": unit * (1_000_000 // len(unit))}})
    with pytest.raises(ec.BadRequestError):
        answering(httpx.Response(400, text=body)).chat("Hi")
    assert CLIENT_ERROR.unpacked // 2 < sum(searched) < 3 * CLIENT_ERROR.unpacked


@pytest.mark.parametrize("streamed", [True, False])
def test_an_error_within_an_answer_is_as_short_as_another(streamed, searched):
    error = json.dumps({"error": {"message": "199 " * 2_500_000, "details": ["199 "] * 10_000}})
    answer = httpx.Response(
        200, headers=SSE if streamed else {}, text=f"data: {error}\n\n" if streamed else error
    )
    with pytest.raises(ec.ProviderError) as raised:
        answering(answer).chat("Hi")
    assert 0 < sum(searched) < 5 * CLIENT_ERROR.unpacked  # not all of it, which has forty times as much
    assert len(json.dumps(raised.value.body)) < 500_000
