"""No key goes to another host, and terminals do not interpret received text."""

import json
import pickle

import httpx
import pytest
from chats.scripted import CHAT, talk
from wires.eight_wires import WIRES, each_wire

import ellmer_core as ec
from ellmer_core.errors import EllmerError
from ellmer_core.wire.anthropic.to_wire import AnthropicMessages
from ellmer_core.wire.gemini.to_wire import Gemini
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat
from ellmer_core.wire.shared.endings_and_errors import error_of

# Where requests go ------------------------------------------------------------------------------------------


def test_a_client_that_follows_redirects_takes_no_key_elsewhere():
    seen = []

    def answer(request):
        seen.append(request.url.host)
        return httpx.Response(307, headers={"location": "http://evil.example/"})

    for wire in (
        CHAT,
        AnthropicMessages(model="m", base_url="http://x"),
        Gemini(model="m", base_url="http://x"),
    ):
        client = httpx.Client(transport=httpx.MockTransport(answer), follow_redirects=True)
        with pytest.raises(ec.BadRequestError, match="No redirect is followed"):
            ec.Chat(wire, client=client, max_tries=1).chat("Hi")
    assert set(seen) == {"x"}


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://x:99999999/", "http://\x00/", "//", "http://[fe80::1%25x]/"]
)
def test_a_base_url_that_is_none_is_a_usage_error(url):
    chat = ec.Chat(OpenAIChat(model="m", base_url=url), max_tries=1, timeouts=ec.Timeouts(connect=0.5))
    with pytest.raises(EllmerError):
        chat.chat("Hi")


# What is seen -----------------------------------------------------------------------------------------------

ESCAPES = "\x1b]52;c;aGk=\x07\x1b[2J\x9b31mred\rover"


def obeyed(text):
    return set(text) & {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))}


def test_nothing_that_a_model_says_is_obeyed_by_the_terminal(capsys):
    said = {"choices": [{"message": {"content": ESCAPES}, "finish_reason": "stop"}]}
    events = [{"choices": [{"index": 0, "delta": {"content": ESCAPES[:3]}}]}]
    events += [{"choices": [{"index": 0, "delta": {"content": ESCAPES[3:]}, "finish_reason": "stop"}]}]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in events)

    def answer(request):
        if json.loads(request.content).get("stream", False):
            return httpx.Response(200, text=stream, headers={"content-type": "text/event-stream"})
        return httpx.Response(200, json=said)

    for mode in ("none", "output", "all"):
        chat = talk(answer)
        chat.chat(ESCAPES, echo=mode)
        printed = capsys.readouterr()
        assert not obeyed(printed.out + printed.err)
        assert not obeyed(f"{chat}{chat.last_turn()}{chat.last_turn().contents[0]}")
        assert ESCAPES[-8:] in chat.last_turn().text  # the text itself is the model's


def test_nothing_that_a_tool_or_its_call_says_is_obeyed(capsys):
    call = {
        "id": ESCAPES,
        "type": "function",
        "function": {"name": "f", "arguments": json.dumps({"x": ESCAPES})},
    }
    bodies = iter(
        [
            [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}],
            [{"message": {"content": "."}, "finish_reason": ESCAPES}],
        ]
    )
    chat = talk(lambda _: httpx.Response(200, json={"choices": next(bodies)}))

    @chat.register_tool
    def f(x: str) -> str:
        """F."""
        raise ValueError(x)

    with pytest.warns(ec.EllmerWarning) as warned:
        chat.chat("Hi", echo="none")
    assert not obeyed(str(chat)), str(chat)
    assert not obeyed("".join(str(each.message) for each in warned))


def test_an_error_is_shown_without_what_a_terminal_obeys():
    body = {"error": {"message": ESCAPES, "type": ESCAPES}}
    error = error_of(400, {}, json.dumps(body).encode())
    assert not obeyed(str(error))
    assert error.message == ESCAPES
    assert not obeyed(str(error_of(502, {}, ESCAPES.encode())))


def test_nobody_sees_the_key(tmp_path):
    chat = ec.chat_openai(
        model="m",
        api_key="sk-canary",
        base_url="https://me:pass-canary@api.x/v1",
        api_headers={"x-key": "head-canary"},
    )
    wire = chat.wire
    for shown in (
        repr(wire),
        str(wire),
        repr(vars(wire)),
        repr(vars(wire)["credentials"]),
        repr(dict(vars(wire))),
        json.dumps(chat.record()),
        str(chat),
    ):
        assert "canary" not in shown
    with pytest.raises(TypeError, match="API keys are not pickled"):
        pickle.dumps(wire)
    assert wire.base_url == "https://api.x/v1"
    assert wire.post("u", {}, stream=False).headers["authorization"].startswith("Basic ")
    assert wire.headers()["authorization"] == "Bearer sk-canary"


@each_wire
@pytest.mark.parametrize("model", ["m?key=1", "m#x", "a/../../../v1/files", "..", "m\r\nx: y", "m%2e%2e"])
def test_the_name_of_a_model_leads_to_no_other_path(wire, model):
    asked = []

    def answer(request):
        asked.append(request.url)
        return httpx.Response(400, json={})

    client = httpx.Client(transport=httpx.MockTransport(answer))
    make, _, path = WIRES[wire]
    base = f"https://api.example/beta{path}"
    with pytest.raises(ec.EllmerError):
        make(model=model, base_url=base, api_key="any-key-at-all", client=client, max_tries=1).chat("Hi")

    for url in asked:
        assert str(url).startswith(f"{base}/")
        assert url.query in {b"", b"alt=sse"}
        assert not url.fragment
