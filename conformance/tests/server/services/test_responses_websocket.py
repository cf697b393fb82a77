"""The strict server's WebSocket for Responses, with a real client: turns are judged and answered like POSTs."""

import json
from contextlib import contextmanager

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from ellmer_conformance.scenarios.script import Answer, Cut, Delivery, Say, Script
from ellmer_conformance.server import StrictServer, strict_server
from ellmer_conformance.server.http import connection

KEY = {"authorization": "Bearer sk-of-a-test"}
ENDS = {"response.completed", "response.incomplete", "error"}
ASK = {"type": "response.create", "model": "gpt-4.1", "store": False, "input": "Remember cobalt."}
TOOL = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}, "strict": False}


@pytest.fixture(scope="module")
def server():
    with StrictServer() as running:
        yield running


@contextmanager
def opened(server, nonce="socket", case="any", **headers):
    url = server.url(case, nonce).replace("http", "ws", 1) + "/v1/responses"
    with connect(url, additional_headers=headers or KEY, proxy=None) as socket:
        yield socket


def turn(socket, **fields):
    return told(socket, json.dumps(ASK | fields))


def told(socket, *messages):
    """Returns the events of a turn. Several messages are the fragments of one."""
    socket.send(messages if len(messages) > 1 else messages[0])
    found = []
    while not found or found[-1]["type"] not in ENDS:
        found.append(json.loads(socket.recv(timeout=10)))
    return found


def test_a_turn_has_the_events_of_a_stream(server):
    with opened(server) as socket:
        found = turn(socket, stream_id="agent_1")

    assert [each["sequence_number"] for each in found] == [*range(len(found))]
    assert found[0]["type"] == "response.created"
    assert found[-1]["response"]["output"][0]["content"][0]["text"]
    assert {each["stream_id"] for each in found} == {"agent_1"}


def test_a_response_that_is_not_stored_is_continued_on_its_connection_alone(server):
    with opened(server, "alone") as socket, opened(server, "alone") as other:
        id = turn(socket)[-1]["response"]["id"]
        more = {"previous_response_id": id, "input": "Which word?"}
        lost, kept = turn(other, **more)[-1], turn(socket, **more)[-1]

    assert lost["status"] == 400
    assert lost["error"]["message"] == f"Previous response with id '{id}' not found."
    assert kept["response"]["previous_response_id"] == id
    assert "cobalt" in str(server.exchanges("any", "alone")[-1].request.body["input"])


def test_a_failed_turn_forgets_the_response_that_it_continued(server):
    output = {"type": "function_call_output", "call_id": "call_missing", "output": "of no call"}
    with opened(server, "evicted") as socket:
        more = {"previous_response_id": turn(socket)[-1]["response"]["id"]}
        failed, lost = turn(socket, input=[output], **more)[-1], turn(socket, **more)[-1]

    assert "No tool call found for function call output" in failed["error"]["message"]
    assert lost["error"]["code"] == "previous_response_not_found"


def test_a_prepared_response_has_no_output_and_is_continued(server):
    with opened(server, "prepared") as socket:
        prepared = turn(socket, generate=False, tools=[TOOL])[-1]["response"]
        found = turn(socket, previous_response_id=prepared["id"], input="Go on.")[-1]["response"]

    assert prepared["output"] == []
    assert found["status"] == "completed"
    assert len(server.exchanges("any", "prepared")) == 2  # the handshake, and the turn that was generated


def test_a_stored_response_is_continued_on_another_connection_and_over_http(server):
    with opened(server, "stored") as socket:
        first = turn(socket, store=True)[-1]["response"]["id"]
    with opened(server, "stored") as socket:
        second = turn(socket, previous_response_id=first, input="Which word?")[-1]["response"]["id"]
        third = turn(socket, previous_response_id=second, input="Sure?")[-1]

    assert third["type"] == "response.completed"
    assert "cobalt" in str(server.exchanges("any", "stored")[-1].request.body["input"])


@pytest.mark.parametrize(
    ("message", "param"),
    [
        ("{", None),
        ("[1]", "type"),
        ('{"type": "response.steer"}', "type"),
        (json.dumps(ASK | {"temperature": 9}), "temperature"),
        (json.dumps(ASK | {"generate": False, "temperature": 9}), "temperature"),
        (json.dumps(ASK | {"generate": False, "previous_response_id": "resp_0"}), "previous_response_id"),
        (json.dumps(ASK | {"stream_id": "a b"}), "stream_id"),
        (json.dumps(ASK | {"background": True}), "background"),
        (json.dumps(ASK | {"colour": "red"}), "colour"),
    ],
)
def test_a_wrong_message_is_refused_and_the_connection_stays(server, message, param):
    with opened(server, "wrong") as socket:
        [refused] = told(socket, message)
        after = turn(socket)[-1]

    assert (refused["type"], refused["status"], refused["error"]["param"]) == ("error", 400, param)
    assert after["type"] == "response.completed"


def test_the_requests_of_turns_are_judged_like_others(server):
    with opened(server, "judged") as socket:
        turn(socket, tools=[TOOL | {"name": "no name"}])

    assert [each.rule for each in server.verdicts("any", "judged") if each.outcome == "fail"]


def test_a_message_may_come_in_fragments_and_pings_are_answered(server):
    with opened(server, "fragments") as socket:
        text = json.dumps(ASK)
        assert told(socket, text[:9], text[9:])[-1]["type"] == "response.completed"
        assert socket.ping().wait(10)


def test_a_handshake_without_a_key_is_refused_over_http(server):
    with pytest.raises(InvalidStatus) as found, opened(server, **{"x-nothing": "1"}):
        pass

    assert found.value.response.status_code == 401


@pytest.mark.parametrize("ending", ["end", "reset"])
def test_a_cut_answer_ends_the_connection(ending):
    cut = Delivery(Cut(Answer((Say("Once upon a time"),))), ending=ending)
    with (
        StrictServer({"cut": Script((cut,))}) as server,
        opened(server, case="cut") as socket,
        pytest.raises(ConnectionClosed),
    ):
        turn(socket)


def test_a_connection_ends_after_sixty_minutes_with_openais_words(monkeypatch):
    monkeypatch.setattr(connection, "LONGEST_WEBSOCKET", -1.0)
    monkeypatch.setattr(strict_server, "PATIENCE", 0.08)
    with StrictServer() as swept, opened(swept) as socket:
        error = json.loads(socket.recv(timeout=10))["error"]
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=10)

    assert error["code"] == "websocket_connection_limit_reached"
