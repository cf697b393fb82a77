"""Correct behaviour in another form is not blamed. Each of these was once a false finding."""

import base64
import json
import os
import socket
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from broken_on_purpose import BROKEN

from ellmer_conformance.adapters import Capabilities
from ellmer_conformance.adapters.ellmer_core import EllmerCore
from ellmer_conformance.contract import rules
from ellmer_conformance.contract.observed.exchange import Exchange, Request, Response
from ellmer_conformance.contract.observed.run import Run, ToolRun, Trouble
from ellmer_conformance.contract.rule import verdict
from ellmer_conformance.contract.rules import behaviour
from ellmer_conformance.contract.rules.behaviour._rulebook import share_ids
from ellmer_conformance.contract.rules.behaviour.answers.streams import difference
from ellmer_conformance.runner.against_server import play_direct
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.scenarios.canary_keys import about_planted_keys, environment, planted
from ellmer_conformance.scenarios.case import Case, ask
from ellmer_conformance.scenarios.cases import all_cases, scripts
from ellmer_conformance.scenarios.cases._media_and_tools import BLUE, RED, weather
from ellmer_conformance.scenarios.messages import Image, Reply, Text, Tool
from ellmer_conformance.scenarios.script import Answer, Call, Cut, Failure, Refuse, Say, Script, Usage
from ellmer_conformance.server import StrictServer
from ellmer_conformance.server.engine import Engine
from ellmer_conformance.server.http.messages import HttpRequest

CASES = all_cases()


@pytest.fixture(scope="module")
def server():
    with StrictServer(scripts()) as started:
        yield started


def outcome(id, run):
    return verdict(behaviour.book.rules[id], run).outcome


def failures(adapter, case, server, wire="openai-chat", mode="sync"):
    run = play_direct(adapter, wire, adapter.wires[wire][0], CASES[case], mode, server=server)
    return {v.rule.id for v in judge(run) if v.outcome == "fail"}


class ApiError(Exception):
    status = 200


def a_run(case, *bodies, replies=(), stream=False):
    exchanges = [
        Exchange(Request("openai-chat", "openai", body, stream=stream), Response(200)) for body in bodies
    ]
    return Run(case, "openai-chat", "openai", "stream" if stream else "sync", exchanges, replies)


HEADERS = {"host": "127.0.0.1", "authorization": "Bearer k", "content-type": "application/json"}
ASKED = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hi"}]}
HI = {"messages": [{"role": "user", "content": "Hi"}]}


@pytest.mark.parametrize(
    ("step", "stream", "expected"),
    [
        (Cut(Answer((Say("Hi"),))), False, "not-applicable"),
        (Failure(after=Answer((Say("Hi"),))), True, "fail"),
    ],
)
def test_status_200_is_wrong_only_for_an_error_inside_a_stream(step, stream, expected):
    case = Case([step], [ask("Hi", outcome="incomplete")])

    assert (
        outcome("STR-010", a_run(case, HI, replies=[Reply(error=ApiError("cut"))], stream=stream)) == expected
    )


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"input": 1200, "output": 60}, "pass"),
        ({"input": 176, "output": 60}, "pass"),  # Anthropic's input_tokens: without what a cache had
        ({"input": 1200, "output": 28}, "pass"),  # Gemini's candidatesTokenCount: without thoughts
        ({"input": 2400, "output": 60}, "fail"),
    ],
)
def test_counts_may_be_the_providers_or_added_up(counts, expected):
    case = Case([Answer((Say("One."),), usage=Usage(1200, 60, 1024, 32))], [ask("Hi", text="One.")])

    assert outcome("USG-001", a_run(case, HI, replies=[Reply("One.", usage=counts)])) == expected


@pytest.mark.parametrize("id", ["PAR-001", "HIS-002", "HIS-006"])
def test_a_typed_error_ends_a_conversation(id):
    call = Answer((Call("get_weather", {"city": "Paris"}),))
    case = Case([call, Answer((Say("One."),))], [ask("Hi", text="One.")], tools=[weather])

    assert outcome(id, a_run(case, HI, replies=[Reply(error=ApiError("no such tool"))])) == "not-applicable"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [(Reply(error=ApiError("the model refused")), "not-applicable"), (Reply("No."), "fail")],
)
def test_a_refusal_that_is_an_error_may_be_left_out(reply, expected):
    """openai-agents raises one, and gives the turn up."""
    case = Case(
        [Answer((Refuse("No."),)), Answer((Say("Yes."),))],
        [ask("A secret?", text="No.", outcome="incomplete"), ask("And now?", text="Yes.")],
    )
    bodies = [{"messages": [{"role": "user", "content": each}]} for each in ("A secret?", "And now?")]

    assert outcome("HIS-002", a_run(case, *bodies, replies=[reply, Reply("Yes.")])) == expected


class TriesOnce(EllmerCore):
    def session(self, endpoint, **more):
        return super().session(replace(endpoint, max_retries=0), **more)


def test_who_never_tries_again_is_blamed_for_that_alone(server):
    assert failures(TriesOnce(), "overloaded_for_good", server) == set()


def test_images_in_another_order_are_not_called_lost(server):
    found = failures(BROKEN.swaps_images(), "tool_returns_two_images", server)

    assert "TRM-007" in found
    assert not {"TXT-005", "TRM-001"} & found


def test_a_client_that_refuses_two_credentials_gets_one():
    keys = environment(("ANTHROPIC_API_KEY",))

    assert "ANTHROPIC_AUTH_TOKEN" not in keys
    assert keys["OPENAI_API_KEY"] != keys["ANTHROPIC_API_KEY"]
    assert "the suite sets keys that open nothing" in about_planted_keys(
        "two credentials", ("ANTHROPIC_API_KEY",)
    )
    assert about_planted_keys("no such file", ()) == ""


def test_an_error_before_anything_is_sent_is_a_refusal():
    error = UnicodeEncodeError("utf-8", "\ud83d", 0, 1, "surrogates not allowed")
    run = a_run(CASES["half_a_character"], replies=[Reply(error=error)])

    assert outcome("UNI-002", run) == "pass"
    assert outcome("UNI-002", a_run(CASES["half_a_character"], HI, replies=[Reply(error=error)])) == "fail"


def test_an_api_that_takes_media_apart_owes_their_own_order_alone():
    def picture(image):
        import base64

        url = f"data:image/png;base64,{base64.b64encode(image.data).decode()}"
        return {"type": "image_url", "image_url": {"url": url}}

    texts = [{"type": "text", "text": text} for text in ("Compare this", "with this.")]
    case = Case(
        [Answer((Say("Yes."),))], [ask(Text("Compare this"), RED, Text("with this."), BLUE, text="Yes.")]
    )
    apart = {"messages": [{"role": "user", "content": [*texts, picture(RED), picture(BLUE)]}]}
    turned = {"messages": [{"role": "user", "content": [*texts, picture(BLUE), picture(RED)]}]}

    assert outcome("IMG-002", a_run(case, apart)) == "fail"
    assert outcome("IMG-002", replace(a_run(case, apart), apart=True)) == "pass"
    assert outcome("IMG-002", replace(a_run(case, turned), apart=True)) == "fail"
    assert Capabilities().interleaved_parts == "native"


def test_equal_ids_are_the_providers_fault_first():
    run = a_run(CASES["calls_with_one_id"], HI, HI, replies=[Reply("no")])
    found = judge(run)

    assert share_ids(run)
    assert {v.rule.id for v in found if v.violations}
    assert not [v for v in found if v.outcome == "fail"]


def test_an_object_whose_members_come_in_another_order_has_the_same_numbers():
    said = {"n": 2**53 + 1, "zero": -0.0}
    case = Case([Answer((Call("keep", said),))], [ask("Keep it")])
    run = a_run(case, HI)
    swapped = replace(run, tool_runs=[ToolRun("keep", dict(reversed(said.items())), "kept")])
    signless = replace(run, tool_runs=[ToolRun("keep", said | {"zero": 0.0}, "kept")])

    assert [outcome("UNI-003", each) for each in (swapped, signless)] == ["pass", "warn"]


@pytest.mark.parametrize(("wire", "expected"), [("gemini", "pass"), ("openai-chat", "fail")])
def test_only_geminis_dialect_writes_words_of_a_schema_with_underscores(wire, expected):
    forms = [{"type": "string", "enum": ["cash", "card"]}, {"type": "integer"}]
    days = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    until = {"type": ["string", "null"], "format": "date"}
    wanted = {"type": "object", "properties": {"pay": {"anyOf": forms}, "days": days, "until": until}}
    strings = {"type": "ARRAY", "items": {"type": "STRING"}, "min_items": 1}
    sent = {"type": "OBJECT", "properties": {"pay": {"any_of": forms}, "days": strings, "until": until}}
    tool = {"name": "book", "description": "Books.", "parameters": sent}
    offered = {
        "gemini": {"contents": [], "tools": [{"functionDeclarations": [tool]}]},
        "openai-chat": {"messages": [], "tools": [{"type": "function", "function": tool}]},
    }
    case = Case([], [], tools=[Tool("book", "Books.", lambda **_: "booked", wanted)])
    exchange = Exchange(Request(wire, "any", offered[wire]), Response(200))
    run = Run(case, wire, "any", "sync", [exchange])

    assert [outcome("SCH-026", run), outcome("SCH-028", run)] == [expected, "pass"]


@pytest.mark.parametrize(
    ("way", "number", "expected"),
    [
        ("server", 2**53 + 1, "pass"),
        ("server", 2**53, "fail"),
        ("command", 2**53, "pass"),
        ("command", 2**53 + 4, "fail"),
        ("command", str(2**53 + 1), "fail"),
    ],
)
def test_a_value_may_be_rounded_only_by_a_program_of_another_language(way, number, expected):
    case = CASES["structured_note"]
    value = {**case.steps[0].value, "number": number}
    run = replace(a_run(case, HI, replies=[Reply(value=value)]), way=way)

    assert outcome("STO-002", run) == expected


@pytest.mark.parametrize(("text", "expected"), [("[tool output omitted]", "pass"), ("(no output)", "fail")])
def test_a_note_that_something_is_left_out_is_a_note(text, expected):
    case = CASES["tool_returns_image"]
    call = {"id": "c", "type": "function", "function": {"name": "draw", "arguments": "{}"}}
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    told = {"role": "tool", "tool_call_id": "c", "content": text}
    after = {"messages": [*HI["messages"], answer, told]}
    run = replace(
        a_run(case, HI, after), tool_runs=[ToolRun("draw", {}, RED)], refused=["image_in_tool_result"]
    )

    assert outcome("TRM-010", run) == expected


def test_media_that_are_sent_as_they_are_were_not_dropped():
    case = CASES["tool_returns_unsupported_image"]
    svg = Image(b"<svg/>", "image/svg+xml")
    call = {"id": "c", "type": "function", "function": {"name": "draw", "arguments": "{}"}}
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    told = {"role": "tool", "tool_call_id": "c", "content": "A logo:"}
    url = {"url": f"data:image/svg+xml;base64,{base64.b64encode(svg.data).decode()}"}
    shown = {"role": "user", "content": [{"type": "image_url", "image_url": url}]}
    runs = [
        replace(
            a_run(case, HI, {"messages": [*HI["messages"], answer, told, *more]}),
            tool_runs=[ToolRun("draw", {}, ["A logo:", svg])],
        )
        for more in ([shown], [{"role": "user", "content": "<svg/>"}], [])
    ]

    assert [outcome("TRM-010", run) for run in runs] == ["pass", "pass", "fail"]


def test_a_result_without_an_id_belongs_to_the_tool_that_it_names():
    """Gemini's calls may have no ids, so that a weather report beside two pictures is no lost picture."""
    case = CASES["parallel_tools_return_images"]
    names = ("draw", "get_weather", "draw")
    calls = [{"functionCall": {"name": name, "args": {}}} for name in names]

    def run(*told):
        results = [
            {"functionResponse": {"name": name, "response": {"content": text}}}
            for name, text in zip(names, told, strict=True)
        ]
        asked = {"contents": [{"role": "user", "parts": [{"text": "Draw."}]}]}
        turns = [{"role": "model", "parts": calls}, {"role": "user", "parts": results}]
        bodies = (asked, {"contents": [*asked["contents"], *turns]})
        played = replace(a_run(case), wire="gemini", provider="google", refused=["image_in_tool_result"])
        drawn = ToolRun("draw", {}, RED)
        exchanges = [Exchange(Request("gemini", "google", body), Response(200)) for body in bodies]
        return replace(
            played, tool_runs=[drawn, ToolRun("get_weather", {}, "9C"), drawn], exchanges=exchanges
        )

    assert outcome("TRM-010", run("[image omitted]", "9C", "[image omitted]")) == "pass"
    assert outcome("TRM-010", run("", "9C", "[image omitted]")) == "fail"


def test_calls_of_one_answer_may_run_in_any_order():
    runs = [ToolRun("get_weather", {"city": city}, "9C") for city in ("Paris", "Oslo")]
    one, other = (replace(a_run(CASES["two_parallel_tools"], HI), tool_runs=r) for r in (runs, runs[::-1]))

    assert difference(one, other) == ""
    assert "tool runs" in difference(one, replace(other, tool_runs=runs[:1]))
    lost = ToolRun(runs[0].name, {}, "")
    assert difference(one, replace(other, tool_runs=[lost, runs[1]])) == difference(
        one, replace(other, tool_runs=[runs[1], lost])
    )


def test_a_process_that_dies_under_a_variation_is_the_difference():
    run = a_run(CASES["two_parallel_tools"], HI)
    died = replace(run, trouble=Trouble("the command exited with 1:\nno memory", ours=False))

    assert difference(run, died) == "the command exited with 1:\nno memory"


class Fetches(EllmerCore):
    """Fetches the images that tools return by URL."""

    def session(self, endpoint, *, tools=(), **more):
        return super().session(endpoint, tools=[replace(t, run=self.fetching(t.run)) for t in tools], **more)

    def fetching(self, run):
        def fetched(**arguments):
            image = run(**arguments)
            socket.create_connection((urlsplit(image.url).hostname, 443))
            return image

        return fetched


def test_a_client_that_fetches_an_image_by_its_address_calls_nobody_it_may_not(server):
    run = play_direct(
        Fetches(), "anthropic", "anthropic", CASES["tool_returns_remote_image"], "sync", server=server
    )

    assert run.elsewhere == []
    assert run.tool_runs
    assert outcome("AUT-005", run) == "pass"
    assert all("itself downloads" in run.unseen[rule] for rule in ("TRM-010", "TXT-005", "UNI-001"))
    assert {"PAR-001", "TXT-005"} <= set(run.unseen)
    assert not [found for found in judge(run) if found.outcome == "fail"]


def test_the_media_type_beside_an_image_is_taken():
    url = {"url": "data:image/png;base64,iVBORw0KGgo=", "format": "image/png"}
    body = {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": url}]}]}
    request = Request("openai-chat", "openai", {"model": "gpt-4.1", **body})
    rule = rules.book("openai-chat", "openai").rules["REQ-101"]

    assert verdict(rule, request).outcome != "fail"


def test_a_loop_that_never_ends_is_ended():
    engine = Engine({"s": Script((Answer((Call("again", {}),)),))})
    http = HttpRequest("POST", "/c/s/1/v1/chat/completions", HEADERS, json.dumps(ASKED).encode())

    statuses = [engine.answer(http).status for _ in range(63)]

    assert statuses == [*[200] * 61, 400, 400]


@pytest.mark.parametrize(("apart", "expected"), [(True, "pass"), (False, "fail")])
def test_media_of_two_kinds_keep_their_order_where_each_has_a_list_of_its_own(server, apart, expected):
    run = play_direct(
        EllmerCore(), "openai-chat", "openai", CASES["tool_returns_mixed_list"], "sync", server=server
    )
    *before, said = (each.request.body for each in run.exchanges)
    flipped = [
        {**m, "content": m["content"][::-1]} if isinstance(m["content"], list) else m
        for m in said["messages"]
    ]
    other = a_run(run.case, *before, said | {"messages": flipped})

    assert outcome("TRM-007", replace(other, tool_runs=run.tool_runs, apart=apart)) == expected


@pytest.mark.parametrize(("failed", "expected"), [(429, "not-applicable"), (400, "fail")])
def test_a_turn_after_a_failure_that_was_not_tried_again_may_have_the_earlier_answer(failed, expected):
    """The script's first answer is then the answer to the second question."""
    steps = (ask("What is it like?", text="Fine."), ask("And then?", text="Evening."))
    script = (Failure("rate-limit"), Answer((Say("Fine."),)))
    case = Case(name="limited", steps=steps, script=script, max_retries=1)
    replies = (Reply("", complete=False, error=ApiError("too many requests")), Reply("Fine.", stop="stop"))
    run = a_run(case, ASKED, HI, replies=replies)
    first, second = run.exchanges
    run = replace(run, exchanges=[replace(first, response=Response(failed)), second])
    judged = verdict(behaviour.book.rules["TXT-005"], run)

    assert any("/replies/1" in each.pointer for each in judged.violations) == (expected == "fail")
    assert judged.outcome == expected


@pytest.mark.parametrize(("images", "expected"), [((0, 1), "pass"), ((1, 0), "fail")])
def test_media_inside_of_results_belong_to_their_calls_whichever_comes_first(server, images, expected):
    case = CASES["parallel_tools_return_images"]
    run = play_direct(EllmerCore(), "anthropic", "anthropic", case, "sync", server=server)
    *before, last = (each.request.body for each in run.exchanges)
    *said, shown = last["messages"]
    first, second = (
        [each for each in shown["content"] if each["type"] == "image"][place] for place in images
    )
    red, rome, green = (each for each in shown["content"] if each["type"] == "tool_result")
    turned = [green | {"content": [second]}, rome, red | {"content": [first]}]
    other = a_run(case, *before, last | {"messages": [*said, shown | {"content": turned}]})
    exchanges = [replace(each, request=replace(each.request, wire="anthropic")) for each in other.exchanges]

    assert outcome("TRM-007", replace(run, exchanges=exchanges)) == expected


def test_a_client_does_not_see_that_pytest_runs_it():
    """chatlas sends a seed under pytest, which nobody asked for."""
    with planted(()):
        assert "PYTEST_CURRENT_TEST" not in os.environ
    assert "PYTEST_CURRENT_TEST" in os.environ
