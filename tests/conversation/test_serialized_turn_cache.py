"""Cached JSON is reused, with identical bytes."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ellmer_core
from ellmer_core.contents.content import (
    ContentImageInline,
    ContentPDF,
    ContentText,
    ContentThinking,
    ContentToolRequest,
    ContentToolResult,
    ContentUnknown,
)
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, SystemTurn, UserTurn
from ellmer_core.conversation.request_cache import RequestCache, encoded
from ellmer_core.errors import ContentError, UsageError
from ellmer_core.tools.definition import tool

OK = AssistantTurn("ok")
HOW = {"stream": False, "type": None}
MAKERS = {
    "openai-responses": lambda: ellmer_core.chat_openai(api_key="k"),
    "openai-chat": lambda: ellmer_core.chat_openai_completions(api_key="k"),
    "anthropic-cached": lambda: ellmer_core.chat_anthropic(api_key="k", cache="5m"),
    "bedrock-cached": lambda: ellmer_core.chat_aws_bedrock(
        model="anthropic.claude-x", region="eu-x", api_key="k", cache="5m"
    ),
    "anthropic": lambda: ellmer_core.chat_anthropic(api_key="k"),
    "gemini": lambda: ellmer_core.chat_google_gemini(api_key="k"),
    "bedrock": lambda: ellmer_core.chat_aws_bedrock(model="anthropic.claude-x", region="eu-x", api_key="k"),
    "bedrock-llama": lambda: ellmer_core.chat_aws_bedrock(model="meta.llama3-x", region="eu-x", api_key="k"),
    "ollama": lambda: ellmer_core.chat_ollama(model="m"),
    "mistral": lambda: ellmer_core.chat_mistral(api_key="k"),
    "cohere": lambda: ellmer_core.chat_cohere(api_key="k"),
    "deepseek": lambda: ellmer_core.chat_deepseek(api_key="k"),
    "perplexity": lambda: ellmer_core.chat_perplexity(api_key="k"),
}
wires = pytest.mark.parametrize("name", MAKERS)


def wire_of(name):
    return MAKERS[name]().wire


@tool
def look(place: str) -> str:
    """Looks."""
    return place


texts = st.text(max_size=8) | st.sampled_from(["Grüße", '"\\\n', "\ud83d", " "])
pictures = st.sampled_from(
    [ContentImageInline("image/png", "iVBORw0KGgo="), ContentPDF("application/pdf", "JVBERi0=")]
)
words = st.text(max_size=8)  # half a surrogate pair is refused at the tool's door
values = words | st.integers() | pictures | st.lists(words | pictures, max_size=3)


@st.composite
def conversations(draw):
    """Generates turns: a question or results, then an answer, which may have calls."""
    turns, calls = draw(st.lists(texts.map(SystemTurn), max_size=1)), []
    for _ in range(draw(st.integers(1, 5))):
        results = [ContentToolResult(draw(values), request=call) for call in draw(st.permutations(calls))]
        asked = draw(st.lists(texts.map(ContentText) | pictures, max_size=2))
        turns.append(UserTurn([*results, *asked] or "?"))
        said = draw(st.lists(texts.map(ContentText) | texts.map(ContentThinking), max_size=2))
        names = draw(st.lists(st.integers(0, 99), max_size=3, unique=True))
        calls = [ContentToolRequest(f"call_{n}", "look", {"place": draw(texts)}) for n in names]
        turns.append(
            AssistantTurn([*said, *calls]) if calls or draw(st.booleans()) else AssistantPartialTurn(said)
        )
    return [*turns, UserTurn([ContentToolResult("x", request=call) for call in calls] or "?")]


@wires
@settings(deadline=None, max_examples=15)
@given(turns=conversations(), stream=st.booleans())
def test_byte_for_byte_what_writing_anew_gives(name, turns, stream):
    wire, written = wire_of(name), RequestCache()
    tools = (look,)
    for end in range(1, len(turns) + 1):
        if isinstance(turns[end - 1], UserTurn):
            try:
                anew = wire.request(turns[:end], tools, stream=stream)
            except ContentError:
                with pytest.raises(ContentError):
                    written.request(wire, turns[:end], tools, stream=stream, type=None)
                return
            request, body = written.request(wire, turns[:end], tools, stream=stream, type=None)
            assert body == encoded(anew.json)
            assert (request.url, request.headers, request.stream) == (anew.url, anew.headers, anew.stream)


def long_chat(pairs=30):
    calls = [ContentToolRequest(f"c{n}", "look", {"place": "x"}) for n in range(pairs)]
    said = [
        turn
        for call in calls
        for turn in (
            UserTurn("?"),
            AssistantTurn([call]),
            UserTurn([ContentToolResult("y", request=call)]),
            OK,
        )
    ]
    return [SystemTurn("Be brief."), *said]


@wires
def test_an_old_turn_is_written_once(name, monkeypatch):
    wire, written, turns, times = wire_of(name), RequestCache(), long_chat(), []
    message = type(wire).message
    monkeypatch.setattr(
        type(wire), "message", lambda self, turn: [times.append(turn), message(self, turn)][1]
    )
    for turn in (UserTurn("One?"), UserTurn("Two?"), UserTurn("Three?")):
        turns = [*turns, turn]
        written.request(wire, turns, (), **HOW)
        turns = [*turns, AssistantTurn("Yes.")]

    assert len(times) == len(set(map(id, times)))


@wires
def test_a_tool_is_defined_once(name, monkeypatch):
    wire, written, times = wire_of(name), RequestCache(), []
    define = type(wire).tool
    monkeypatch.setattr(type(wire), "tool", lambda self, tool: [times.append(tool), define(self, tool)][1])
    bodies = [written.request(wire, [UserTurn(said)], (look,), **HOW)[1] for said in ("One?", "Two?")]

    assert times == [look]
    assert bodies[1] == bodies[0].replace(b"One?", b"Two?")


@wires
def test_tools_come_and_go(name):
    wire, written, other = wire_of(name), RequestCache(), replace(look, name="other")
    for tools in [(look,), (look, other), (other,), (other, look), (look,), ()]:
        anew = wire.request([UserTurn("Hi")], tools)
        assert written.request(wire, [UserTurn("Hi")], tools, **HOW)[1] == encoded(anew.json)


def test_tools_of_a_single_request_are_forgotten():
    wire, written = wire_of("openai-chat"), RequestCache()
    for _ in range(100):
        written.request(wire, [UserTurn("Hi")], (replace(look),), **HOW)

    assert len(written.tools.tools) == len(written.tools.texts) == 1
    assert len(written.texts) < 40


@wires
def test_old_bytes_are_used_again(name, monkeypatch):
    wire, written, turns = wire_of(name), RequestCache(), [*long_chat(), UserTurn("?")]
    written.request(wire, turns, (), **HOW)
    asked = []
    monkeypatch.setattr(
        "ellmer_core.conversation.request_cache.encoded",
        lambda body: [asked.append(body), encoded(body)][1],
    )
    _, body = written.request(wire, [*turns, AssistantTurn("Yes."), UserTurn("And?")], (), **HOW)

    assert len(body) > 3000
    assert sum(len(encoded(one)) for one in asked) < 600


def test_another_model_or_system_prompt_is_another_request():
    wire, written = wire_of("anthropic"), RequestCache()
    call = ContentToolRequest("c", "look")
    seen = ContentToolResult(ContentImageInline("image/png", "iVBORw0KGgo="), request=call)
    turns = [SystemTurn("Be brief."), UserTurn("Hi"), AssistantTurn([call]), UserTurn([seen])]
    changes = [{"model": "n"}, {"tool_media": "native"}, {"api_args": {"x": 1}}, {"base_url": "http://x"}]
    for changed in [wire, *(replace(wire, **change) for change in changes)]:
        for system in ("Be brief.", "Be long."):
            said = [SystemTurn(system), *turns[1:]]
            request, body = written.request(changed, said, (), **HOW)
            assert (json.loads(body), request.url) == (changed.request(said).json, changed.request(said).url)


def test_the_key_is_asked_for_anew():
    wire, written = wire_of("openai-chat"), RequestCache()
    keys = iter("ab")
    wire = replace(wire, credentials=lambda: next(keys))
    sent = [written.request(wire, [UserTurn("Hi")], (), **HOW)[0].headers["authorization"] for _ in "ab"]

    assert sent == ["Bearer a", "Bearer b"]


def test_a_fork_goes_its_own_way():
    wire, written, turns = wire_of("openai-chat"), RequestCache(), [UserTurn("Hi"), AssistantTurn("Ho")]
    written.request(wire, turns[:1], (), **HOW)
    fork = written.copy()
    bodies = [
        one.request(wire, [*turns, UserTurn(said)], (), **HOW)[1]
        for one, said in ((written, "a"), (fork, "b"))
    ]

    assert [json.loads(body)["messages"][-1]["content"] for body in bodies] == ["a", "b"]


def test_what_is_no_longer_said_is_not_kept():
    wire, written = wire_of("openai-chat"), RequestCache()
    written.request(wire, [*long_chat(), UserTurn("?")], (), **HOW)
    written.request(wire, [UserTurn("Hi")], (), **HOW)

    assert len(written.turns) == len(written.texts) == 1


def test_a_turn_that_cannot_be_written_is_refused_each_time():
    wire, written = wire_of("openai-chat"), RequestCache()
    bad = UserTurn([ContentUnknown("openai-chat", {"type": "text", "text": object()})])
    for _ in range(2):
        with pytest.raises(UsageError, match="cannot be written as JSON"):
            written.request(wire, [UserTurn("Hi"), bad, UserTurn("And?")], (), **HOW)

    assert json.loads(written.request(wire, [UserTurn("Ho")], (), **HOW)[1])["messages"][0]["content"] == "Ho"


def test_what_is_not_json_is_refused():
    wire = replace(wire_of("openai-chat"), api_args={"x": [object()], "y": float("nan")})

    with pytest.raises(UsageError, match="cannot be written as JSON"):
        RequestCache().request(wire, [UserTurn("Hi")], (), **HOW)


@wires
@settings(deadline=None, max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 3)), min_size=2, max_size=8))
def test_a_conversation_that_is_cut_and_goes_on_is_written_as_anew(name, steps):
    wire, written, turns = wire_of(name), RequestCache(), []
    for number, (kept, added) in enumerate(steps):
        turns = turns[: kept // 2 * 2]
        for n in range(added):
            turns += [UserTurn(f"{number}.{n}?"), AssistantTurn(f"{number}.{n}.")]
        asked = [*turns, UserTurn(f"{number}")]
        _, body = written.request(wire, asked, (), stream=False, type=None)
        assert body == encoded(wire.request(asked, (), stream=False).json)
