"""What a script may contain besides texts and calls: each format has it in its own form, or says that it has no place."""

import re

import httpx
import pytest
from servers.script_contents import DATA, ENTRIES, PAGE
from wires.requests_of_each_format import ASKED, EACH, STREAMED, post

from ellmer_conformance.scenarios.answer_script import AnswerEntry, script_of
from ellmer_conformance.scenarios.script import ScriptError
from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.chat_api_lookup import CHAT_APIS

SHOWN = {
    "citations": "example.com/paris",
    "search": "example.com/paris",
    "code": "42",
    "image": DATA,
    "audio": DATA,
    "refusal": "cannot",
    "choices": "Porto",
}
PROVIDERS = {"gemini": "google", "openai-chat": "openai", "openai-responses": "openai"}


@EACH
@STREAMED
@pytest.mark.parametrize("extra", ENTRIES)
def test_contents_are_written_or_the_error_names_the_format(wire, stream, extra):
    carried = extra in CHAT_APIS[wire, PROVIDERS.get(wire, wire)].carries
    with StrictServer(script=[ENTRIES[extra]]) as server:
        found = post(server, wire, stream=stream)
        assert found.status_code == (200 if carried else 400)
        text = found.content.decode("utf-8", "replace")
        if not carried:
            assert f"has {extra}, and the wire format {wire}" in text
        elif (wire, extra) not in {("openai-responses", "search"), ("openai-responses", "code")}:
            assert SHOWN[extra] in text  # those two show results only where the request includes them


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"text": "Hi", "citations": [PAGE]}, "not in the text"),
        ({"media": [{"data": "?"}]}, "not base64"),
        ({"media": [{"data": DATA, "type": "text/plain"}]}, "pattern"),
        ({"refusal": "No.", "error": {"status": 500}}, "one kind of answer"),
    ],
)
def test_a_fault_of_a_script_is_told(entry, said):
    with pytest.raises(ScriptError, match=said):
        script_of([entry])


def test_a_fault_with_a_probability_comes_in_the_same_order_each_time():
    script = [
        {"probability": 0.4, "seed": 7, "pace": {"after": 3, "ending": "reset"}, "text": "x"},
        {"text": "y"},
    ]

    def played():
        with StrictServer(script=script) as server:
            for _ in range(8):
                try:
                    post(server, "openai-chat")
                except httpx.TransportError:
                    continue
            return [entry.matched for entry in server.requests]

    first = played()
    assert set(first) == {"answers.0", "answers.1"}
    assert first == played()
    assert AnswerEntry(**ENTRIES["choices"]).answer().others[1].stop == "length"
    assert set(ASKED) == {wire for wire, _ in CHAT_APIS if wire in ASKED}


@STREAMED
def test_google_writes_what_a_page_could_obey_as_escapes(stream):
    with StrictServer(script=[{"text": "<b>one\u2028two & 'three'</b>"}]) as server:
        found = post(server, "gemini", stream=stream).text

    assert {r"\u003c", r"\u003e", r"\u2028"} == {*re.findall(r"\\u\w{4}", found)}
    assert not {"<", ">", "\u2028"} & {*found}
