"""A script in a file or in Python decides what the server answers, and a journal shows what was asked."""

import json
import time
from pathlib import Path

import httpx
import jsonschema
import pytest
import yaml
from wires.requests_of_each_format import EACH, HI, STREAMED, post

import ellmer_core as ec
from ellmer_conformance.scenarios import answer_script
from ellmer_conformance.scenarios.answer_script import AnswerScript, script_of
from ellmer_conformance.scenarios.script import ScriptError
from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.scripts.script_recording import write_script

SCHEMA = Path(answer_script.__file__).with_suffix(".schema.json")
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}}


def chat(server):
    return ec.chat_openai_completions(
        base_url=f"{server.origin}/v1", api_key="k", model="gpt-4.1", echo="none"
    )


@EACH
@STREAMED
def test_an_entry_answers_in_every_format(wire, stream):
    with StrictServer(
        script=[{"when": {"user": "Hi"}, "text": ["Lissa", "bon"], "usage": {"input": 3, "output": 2}}]
    ) as server:
        reply = post(server, wire, stream=stream)
        assert reply.status_code == 200
        assert "Lissa" in reply.text
        assert ("Lissabon" in reply.text) != (stream and wire != "openai-responses")
        assert [entry.matched for entry in server.requests] == ["answers.0"]


@EACH
def test_an_error_has_the_providers_form_and_the_scripts_headers(wire):
    error = {"status": 429, "message": "Slow down.", "headers": {"retry-after": "7"}}
    with StrictServer(script=[{"error": error}]) as server:
        reply = post(server, wire)
        assert (reply.status_code, reply.headers["retry-after"]) == (429, "7")
        assert "Slow down." in reply.text
        assert json.loads(reply.text)


@EACH
def test_calls_go_out_in_every_format(wire):
    with StrictServer(script=[{"calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}]}]) as server:
        assert "get_weather" in post(server, wire).text


def test_a_conversation_with_a_tool():
    @ec.tool
    def get_weather(city: str) -> str:
        """Looks up the weather."""
        return f"rain in {city}"

    script = [
        {"when": {"result": "get_weather"}, "text": "Take an umbrella."},
        {
            "when": {"tool": "get_weather", "user": {"contains": "WEATHER"}},
            "calls": [{"name": "get_weather", "arguments": {"city": "Oslo"}}],
        },
    ]
    with StrictServer(script=script) as server:
        talk = chat(server)
        talk.register_tool(get_weather)
        assert talk.chat("The weather?") == "Take an umbrella."
        assert [entry.matched for entry in server.requests] == ["answers.1", "answers.0"]


CONDITIONS = {
    "exact": ({"user": "Hi"}, {"user": "hi"}),
    "contains": ({"user": {"contains": "h"}}, {"user": {"contains": "x"}}),
    "regex": ({"user": {"regex": "^H.$"}}, {"user": {"regex": "^i"}}),
    "model": ({"model": {"contains": "4.1"}}, {"model": "gpt-5"}),
    "first request": ({"nth": 1}, {"nth": 2}),
    "header": ({"header": {"X-Team": "blue"}}, {"header": {"x-team": "red"}}),
    "session": ({"session": "s1"}, {"session": "s2"}),
    "wire": ({"wire": "openai-chat"}, {"wire": "anthropic"}),
    "stream": ({"stream": False}, {"stream": True}),
    "no result": ({"result": False}, {"result": True}),
    "tool": ({"tool": "get_weather"}, {"tool": "draw"}),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_fits_or_not(name):
    fits, other = CONDITIONS[name]
    script = [{"when": other, "text": "wrong"}, {"when": fits, "text": "right"}]
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}
    with StrictServer(script=script) as server:
        reply = post(server, "openai-chat", headers={"x-team": "blue", "x-session-id": "s1"}, tools=[tool])
    assert reply.json()["choices"][0]["message"]["content"] == "right"


def texts(server, count):
    return [post(server, "openai-chat").json()["choices"][0]["message"]["content"] for _ in range(count)]


def test_steps_times_and_the_model():
    steps = [{"text": "one"}, {"text": "two"}]
    script = [{"steps": steps, "times": 3}, {"ask_model": True, "times": 1}, {"text": "end"}]
    with StrictServer(script=script) as server:
        assert texts(server, 6) == ["one", "two", "two", "Hello! How can I help you?", "end", "end"]


def test_a_probability_is_the_same_with_the_same_seed():
    def run(seed):
        with StrictServer(script=[{"text": "a", "probability": 0.5, "seed": seed}, {"text": "b"}]) as server:
            return texts(server, 20)

    assert run(1) == run(1) != run(2)
    assert {*run(1)} == {"a", "b"}


def test_unmatched_requests_go_to_the_model_or_are_an_error():
    script = [{"when": {"user": "Bye"}, "text": "Bye!"}]
    with StrictServer(script=script) as server:
        assert texts(server, 1) == ["Hello! How can I help you?"]
    with StrictServer(script=script, strict_script=True) as server:
        reply = post(server, "openai-chat")
        assert reply.status_code == 404
        assert "None of the 1 entries of the script fits" in reply.json()["error"]["message"]


def test_an_illegal_request_is_refused_before_the_script():
    with StrictServer(script=[{"text": "never"}]) as server:
        reply = post(server, "openai-chat", messages=[{"role": "tool", "tool_call_id": "c", "content": "5"}])
        assert reply.status_code == 400
        assert server.requests[0].violations


def test_raw_bytes_and_events():
    with StrictServer(script=[{"raw": {"status": 203, "body": {"odd": True}}}]) as server:
        reply = post(server, "openai-chat")
        assert (reply.status_code, reply.json()) == (203, {"odd": True})
    with StrictServer(script=[{"raw": {"events": [{"n": 1}, "data: [DONE]\n\n"]}}]) as server:
        assert post(server, "openai-chat", stream=True).text == 'data: {"n":1}\n\ndata: [DONE]\n\n'


@pytest.mark.parametrize("ending", ["reset", "half-close"])
def test_a_connection_breaks(ending):
    script = [{"text": "Hello there", "pace": {"after": 150, "ending": ending}}]
    with StrictServer(script=script) as server, pytest.raises(httpx.TransportError):
        post(server, "openai-chat", stream=True)


def test_garbage_and_slices_arrive():
    with StrictServer(script=[{"text": "Hello", "pace": {"slices": [3], "garbage": True}}]) as server:
        assert b"\x00\xff{]garbage" in post(server, "openai-chat", stream=True).content


def test_the_first_piece_waits():
    with StrictServer(script=[{"text": "Hello", "pace": {"first": 0.2}}]) as server:
        start = time.monotonic()
        assert post(server, "openai-chat").status_code == 200
        assert time.monotonic() - start >= 0.2


def test_the_journal_has_everything():
    with StrictServer(script=[{"text": "Hello"}]) as server:
        texts(server, 2)
        found = httpx.get(f"{server.origin}/journal").json()
        assert [row["matched"] for row in found["requests"]] == ["answers.0"] * 2
        assert found["requests"][0]["request"]["body"]["messages"] == HI


# files ----------------------------------------------------------------------------------------------------


def test_a_file_is_read_again_when_it_changes(tmp_path, capsys):
    path = tmp_path / "answers.yaml"
    path.write_text("answers: [{text: first}]")
    with StrictServer(script=path) as server:
        assert texts(server, 1) == ["first"]
        path.write_text("answers: [{text: the second}]")
        assert texts(server, 1) == ["the second"]
        path.write_text("answers: [{texts: no such field}]")
        assert texts(server, 1) == ["the second"]
        assert (
            "answers.0: there is no field 'texts' here; the fields are when, text, "
            in capsys.readouterr().err
        )


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        ([{"text": "a", "error": {}}], "one kind of answer"),
        ([{}], "one kind of answer"),
        ([{"when": {"user": {"regex": "("}}, "text": "a"}], "not a regular expression"),
        ([{"text": "a", "pace": {"ending": "boom"}}], "answers.0.pace.ending"),
        ({"answer": []}, "script: there is no field 'answer' here; the fields are answers, strict"),
        ([{"when": {"contains": "a"}, "text": "a"}], "answers.0.when: there is no field 'contains' here"),
        ("text", "script"),
        ([{"wen": {}, "text": "a"}], "did you mean 'when'"),
        ([{"error": {"kind": "rate-limits"}}], "and not 'rate-limits'; did you mean 'rate-limit'"),
        ([{"when": {"user": False}, "text": "a"}], "answers.0.when.user: .* in quotes$"),
    ],
)
def test_a_wrong_script_says_where(script, fault):
    with pytest.raises(ScriptError, match=fault if ".*" in fault else fault.replace(".", r"\.")):
        script_of(script)


def test_the_published_schema_is_that_of_the_classes():
    assert json.loads(SCHEMA.read_text("utf-8")) == AnswerScript.model_json_schema(), (
        "write it again: python -m ellmer_conformance.scenarios.answer_script"
    )
    jsonschema.validate(
        {"answers": [{"when": {"nth": 1}, "text": "Hi"}]}, json.loads(SCHEMA.read_text("utf-8"))
    )


@EACH
@STREAMED
def test_a_recorded_script_answers_as_the_api_did(wire, stream, tmp_path):
    call = {"name": "get_weather", "arguments": {"city": "Oslo"}}
    original = [
        {"when": {"nth": 1}, "text": "Good day.", "usage": {"input": 7, "output": 3}},
        {"calls": [call]},
    ]
    path = tmp_path / "answers.yaml"
    with StrictServer(script=original) as api, StrictServer(mode="proxy", upstream=api.origin) as proxy:
        for _ in range(2):
            post(proxy, wire, stream=stream)
    assert write_script(proxy.requests, path) == 2
    first, second = yaml.safe_load(path.read_text("utf-8"))["answers"]
    assert (first["text"], first["times"]) == ("Good day.", 1)
    assert second["calls"] == [call]
    with StrictServer(script=path) as server:
        assert "Good" in post(server, wire).text
        assert "get_weather" in post(server, wire).text


def test_the_page_gets_the_script_with_its_matches_and_its_fault(tmp_path):
    path = tmp_path / "answers.yaml"
    path.write_text("answers: [{when: {user: Hi}, text: Hello.}, {text: other}]")
    with StrictServer(script=path) as server:
        assert texts(server, 2)
        shown = httpx.get(f"{server.origin}/reports").json()["script"]
        assert (shown["path"], shown["fault"], shown["count"]) == (str(path), None, 2)
        assert shown["entries"][0]["entry"] == {"when": {"user": "Hi"}, "text": "Hello."}
        assert sum(each["uses"] for each in shown["entries"]) == 2
        path.write_text("answers: [{texts: no such field}]")
        fault = httpx.get(f"{server.origin}/reports").json()["script"]["fault"]
        assert "there is no field 'texts' here" in fault
    with StrictServer() as server:
        assert "script" not in httpx.get(f"{server.origin}/reports").json()
