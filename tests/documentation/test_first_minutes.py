"""The first minutes with every format's own provider: its default model, and a newcomer's first calls."""

import warnings
from hashlib import sha256

import pytest

import ellmer_core as ec
from ellmer_conformance.adapters.ellmer_core import adapter
from ellmer_conformance.adapters.endpoints import PROVIDER_ADDRESSES
from ellmer_conformance.scenarios.cases._media_and_tools import RED
from ellmer_conformance.scenarios.script import Answer, AnswerByMedia, Call, Say, Script, StructuredAnswer
from ellmer_conformance.server import StrictServer

HELLO = Answer((Say("Hello."),))
SCRIPTS = {
    "hello": Script((HELLO,)),
    "draws": Script((Answer((Call("draw"),)), AnswerByMedia((sha256(RED.data).hexdigest(),), HELLO, HELLO))),
    "ada": Script((StructuredAnswer({"name": "Ada"}),)),
}
PARAMS = [
    {"temperature": 0.2},
    {"top_p": 0.9, "top_k": 5, "seed": 1, "max_tokens": 5000},
    {"thinking": "low"},
    {"thinking": "off"},
    {"thinking": 5000, "temperature": 0.5},
    {"reasoning_effort": "high"},
    {"reasoning_tokens": 2000},
    {"frequency_penalty": 0.5, "presence_penalty": 0.5, "log_probs": True, "stop_sequences": ["END"]},
]


@pytest.fixture(scope="module")
def server():
    with StrictServer(SCRIPTS) as running:
        yield running


@pytest.fixture
def ask(server, request):
    """Makes a chat with the default model of a provider, for a script."""
    wire, provider = request.param
    known, place = adapter().providers[wire, provider], PROVIDER_ADDRESSES[wire, provider]
    given = {"api_key": "any-key"} if known.wire.key_vars else {"credentials": lambda: "any-key"}
    given |= {} if known.wire.default_model else {"model": place.model}
    made = []

    def chat(script, name, **options):
        url = f"{server.url(script, f'{wire}-{provider}-{name}')}@{provider}{place.path}"
        made.append(known.construct(base_url=url, echo="none", max_tries=1, **given, **options))
        return made[-1]

    with warnings.catch_warnings(action="ignore", category=ec.EllmerWarning):  # parameters that are left out
        yield chat
    for one in made:
        one.close()


EVERYONE = [key for key in PROVIDER_ADDRESSES if key in adapter().providers]
everyone = pytest.mark.parametrize("ask", EVERYONE, indirect=True, ids="/".join)


@everyone
def test_no_parameter_ends_in_a_400(ask):
    for number, given in enumerate(PARAMS):
        assert ask("hello", f"params-{number}", params=given).chat("Hi") == "Hello."


@everyone
def test_no_tool_with_an_image_and_no_structured_question_ends_in_a_400(ask):
    @ec.tool
    def draw():
        """Draws a picture."""
        return RED.data

    chat = ask("draws", "tool")
    chat.register_tool(draw)
    assert chat.chat("Draw something.") == "Hello."
    assert ask("ada", "data").chat_structured("Who?", type=ec.type_object(name=ec.type_string())) == {
        "name": "Ada"
    }
