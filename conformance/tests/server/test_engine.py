"""The engine accepts anything: no body, target or header makes it fail."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ellmer_conformance.scenarios.script import Answer, AnswerByMedia, Call, Say, Script, Think
from ellmer_conformance.server.chat_apis.base import pretty
from ellmer_conformance.server.engine import Engine
from ellmer_conformance.server.http.messages import HttpRequest
from ellmer_conformance.server.journal import Journal

ANSWER = Answer((Think("thought"), Say("text \ud83d"), Call("f", {"x": 1})))
ENGINES = {mode: Engine({"s": Script((AnswerByMedia((), ANSWER),))}, mode) for mode in ("reject", "observe")}
PATHS = (
    "/v1/chat/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1beta/models/gemini-3-flash:generateContent",
    "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    "/v1/projects/p/locations/l/publishers/google/models/gemini-3-flash:streamGenerateContent",
)
HEADERS = {
    "host": "127.0.0.1",
    "authorization": "Bearer k",
    "x-api-key": "k",
    "anthropic-version": "2023-06-01",
}
VOCABULARY = """
model messages input contents role content parts text type image_url url tools function name parameters user
assistant tool system thinking signature thoughtSignature functionCall functionResponse id tool_calls tool_use
tool_result tool_call_id call_id reasoning encrypted_content include stream stream_options instructions
generationConfig thinkingConfig function_call function_call_output output arguments gpt-5.6 claude-sonnet-5
data:image/png;base64,AA== base64 source media_type data inlineData mimeType file
"""
WORDS = st.sampled_from(VOCABULARY.split())
ODD = st.text(st.characters(exclude_categories=()), max_size=4)  # with halves of surrogate pairs
SCALARS = st.none() | st.booleans() | st.integers() | WORDS | ODD


def values(scalars):
    """Generates any JSON of these values."""
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | ODD, inner, max_size=5),
        max_leaves=25,
    )


VALUES = values(SCALARS | st.floats(allow_nan=False))


@settings(max_examples=50, deadline=None)
@example(body={"model": None, "stream": True}, path=PATHS[0], mode="observe")
@given(
    body=st.dictionaries(WORDS, VALUES, max_size=6),
    path=st.sampled_from(PATHS),
    mode=st.sampled_from(sorted(ENGINES)),
)
def test_any_json_gets_a_reply(body, path, mode):
    for prefix in ("", "/c/s/1"):
        request = HttpRequest("POST", prefix + path, HEADERS, json.dumps(body).encode())
        reply = ENGINES[mode].answer(request)
        assert reply.status in ({200} if mode == "observe" else {200, 400, 404})
        assert reply.response.body
        ENGINES[mode].journal.report("s", "1")


@pytest.mark.parametrize("path", PATHS)
def test_what_nobody_can_nest_is_refused(path):
    reply = ENGINES["reject"].answer(HttpRequest("POST", path, HEADERS, b"[" * 200_000))
    assert reply.status == 400


@settings(max_examples=40, deadline=None)
@given(
    target=st.text(st.characters(max_codepoint=255)),
    method=st.sampled_from(["GET", "POST", "PUT", "OPTIONS"]),
)
def test_any_target_gets_a_reply(target, method):
    reply = ENGINES["reject"].answer(HttpRequest(method, f"/{target}", {}))
    assert reply.status in {200, 400, 401, 403, 404, 405}


@pytest.mark.parametrize(
    ("journal", "kept"), [(Journal(entries=3), 3), (Journal(size=50_000), 4), (Journal(size=10), 1)]
)
def test_the_journal_keeps_the_last(journal, kept):
    engine = Engine({}, journal=journal)
    body = json.dumps({"model": "gpt-4.1", "messages": [{"role": "user", "content": "x" * 8000}]}).encode()
    for _ in range(9):
        assert engine.answer(HttpRequest("POST", "/v1/chat/completions", HEADERS, body)).status == 200
    entries = list(journal.of("any"))
    assert len(entries) == kept
    assert [entry.number for entry in entries] == [*range(10 - kept, 10)]


def said(engine, content, path="", **more):
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": content}], **more}
    request = HttpRequest("POST", f"{path}/v1/chat/completions", HEADERS, json.dumps(body).encode())
    return engine.answer(request).response


def test_a_request_in_nobodys_conversation_gets_the_same_bytes_whatever_came_before():
    first, other = Engine({}), Engine({})
    said(other, "Something else")
    assert said(first, "Hello") == said(other, "Hello") == said(first, "Hello")
    assert said(first, "Hello", stream=True) == said(other, "Hello", stream=True)
    ids = {json.loads(said(first, text).body)["id"] for text in ("Hello", "Hello!", "Hello?")}
    assert len(ids) == 3


def test_in_a_named_conversation_no_answer_is_like_another():
    engine = Engine({})
    assert said(engine, "Hello", "/c/any/1") != said(engine, "Hello", "/c/any/1")


def test_the_open_case_may_have_a_script_of_its_own():
    engine = Engine({"any": Script((Answer((Say("one"),)), Answer((Say("two"),))))})
    bodies = [json.loads(said(engine, "Hello").body) for _ in range(3)]
    assert [body["choices"][0]["message"]["content"] for body in bodies] == ["one", "two", "two"]
    assert len({body["id"] for body in bodies}) == 3


@settings(deadline=None)
@given(values(SCALARS))
def test_json_over_many_lines_is_that_of_python(value):
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    assert pretty(value) == text.encode("utf-8", "backslashreplace")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_may_be_spelt_otherwise(value):
    assert json.loads(pretty([value])) == [value]
