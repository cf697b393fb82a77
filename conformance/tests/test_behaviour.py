"""Every behaviour rule meets a run that keeps it and a run that breaks it."""

import base64
import json
from dataclasses import replace

import pytest

from ellmer_conformance.canary import CANARY
from ellmer_conformance.case import Case, ask
from ellmer_conformance.cases._parts import BLUE, RED, REPORT, weather
from ellmer_conformance.exchange import Exchange, Request, Response
from ellmer_conformance.neutral import Reply, Text, ToolCall, Turn
from ellmer_conformance.rule import verdict
from ellmer_conformance.rules.behaviour import book
from ellmer_conformance.run import Run, ToolRun, Trouble
from ellmer_conformance.script import Answer, Call, Cut, Failure, Say, Usage


def user(text):
    return {"role": "user", "content": text}


def calling(*calls):
    made = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for id, name, arguments in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(id, text):
    return {"role": "tool", "tool_call_id": id, "content": text}


def picture(image):
    return {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,{base64.b64encode(image.data).decode()}"},
    }


def tag(id):
    return {"type": "text", "text": f'<content tool-call-id="{id}">'}


def exchange(*messages, answer=""):
    request = Request("openai-chat", "openai", {"model": "gpt-4.1", "messages": list(messages)})
    return Exchange(request, Response(200, body=answer.encode()))


PARIS, OSLO = ("c1", "get_weather", {"city": "Paris"}), ("c2", "get_weather", {"city": "Oslo"})
QUESTION = "Weather in Paris and Oslo?"
ASKED = user(QUESTION)


def two_tools():
    """Two parallel calls, both answered."""
    return Run(
        case=Case(
            tools=[weather],
            script=[
                Answer((Call("get_weather", PARIS[2]), Call("get_weather", OSLO[2]))),
                Answer((Say("21C and 9C."),), usage=Usage(95, 11)),
            ],
            steps=[ask(QUESTION, text="21C and 9C.")],
        ),
        wire="openai-chat",
        vendor="openai",
        mode="stream",
        exchanges=[
            exchange(ASKED, answer='"id": "c1" "id": "c2"'),
            exchange(ASKED, calling(PARIS, OSLO), result("c1", "21C, sunny"), result("c2", "9C, rain")),
        ],
        tool_runs=[
            ToolRun("get_weather", {"city": "Paris"}, "21C, sunny"),
            ToolRun("get_weather", {"city": "Oslo"}, "9C, rain"),
        ],
        replies=[
            Reply("21C and 9C.", stop="stop", usage={"input": 95, "output": 11}, pieces=["21C ", "and 9C."])
        ],
        transcript="[tool request (c1)]: f()\n[tool request (c2)]: f()\n"
        "[tool result  (c1)]: 21C\n[tool result  (c2)]: 9C\n",
        replayed=True,
        snapshot_diff="",
    )


def last_request(run, *messages):
    return replace(run, exchanges=[*run.exchanges[:-1], exchange(ASKED, *messages)])


def failing():
    """Two parallel calls; Paris fails."""
    run = two_tools()
    runs = [ToolRun("get_weather", {"city": "Paris"}, error=KeyError("Paris")), run.tool_runs[1]]
    return replace(
        last_request(run, calling(PARIS, OSLO), result("c1", "error: Paris"), result("c2", "9C, rain")),
        tool_runs=runs,
    )


def unknown():
    """The model calls a tool that was not offered."""
    run = two_tools()
    return replace(run, case=replace(run.case, tools=[]), tool_runs=[])


def dangling():
    """A history that ends in an open call."""
    run = two_tools()
    history = [Turn("user", (Text("hi"),)), Turn("assistant", (ToolCall(*PARIS),))]
    said = exchange(ASKED, calling(PARIS), result("c1", "never ran"), user("go on"))
    return replace(run, case=replace(run.case, history=history), exchanges=[said])


def pictures(*, steps=2):
    """A tool returns two images; a second question follows."""
    run = two_tools()
    hoisted = {
        "role": "user",
        "content": [
            tag("c1"),
            picture(RED),
            {"type": "text", "text": "</content>"},
            tag("c1"),
            picture(BLUE),
        ],
    }
    case = Case(
        tools=[weather],
        script=run.case.script,
        steps=[ask("Draw.", text="21C and 9C.")] * steps,
    )
    return replace(
        last_request(run, calling(PARIS), result("c1", "[see below]"), hoisted),
        case=case,
        tool_runs=[ToolRun("get_weather", {"city": "Paris"}, [RED, BLUE])],
        transcript="[inline image]",
    )


def nested():
    """A tool returns a PDF two levels deep."""
    run = last_request(two_tools(), calling(PARIS), result("c1", "get_weather returned a PDF at value[1][0]"))
    return replace(run, tool_runs=[ToolRun("get_weather", {"city": "Paris"}, ["x", [REPORT]])])


def cut():
    """The answer stops inside a call."""
    call = Call("get_weather", {"city": "Paris"})
    case = Case(
        tools=[weather],
        script=[Cut(Answer((Say("Let me"), call)), at="inside-arguments")],
        steps=[ask(QUESTION, text="Let me", outcome="incomplete")],
    )
    return replace(
        two_tools(),
        case=case,
        exchanges=[exchange(ASKED)],
        tool_runs=[],
        transcript="",
        replies=[Reply("Let me", complete=False, error=EOFError("cut"))],
    )


def failed():
    """The provider fails in the middle of an answer."""
    case = Case(
        script=[Failure(after=Answer((Say("One"),)))],
        steps=[ask(QUESTION, text="One", outcome="incomplete")],
    )
    return replace(cut(), case=case)


def short():
    """The token limit ends the text; in `calls`, a call."""
    case = Case(
        script=[Answer((Say("Once upon"),), stop="length")],
        steps=[ask(QUESTION, text="Once upon")],
    )
    return replace(
        cut(), case=case, replies=[Reply("Once upon", stop="length", usage={"input": 10, "output": 5})]
    )


def short_call():
    """The token limit ends a call's arguments."""
    case = Case(
        tools=[weather],
        script=[Answer((Call("get_weather", text='{"ci'),), stop="length")],
        steps=[ask(QUESTION, text="")],
    )
    return replace(cut(), case=case, replies=[Reply("")])


def refused():
    """The adapter says it takes no images."""
    run = last_request(two_tools(), calling(PARIS), result("c1", "(an image was left out)"))
    pictured = [ToolRun("get_weather", {"city": "Paris"}, RED)]
    return replace(run, refused=["image_in_tool_result"], tool_runs=pictured)


def keyed(run=None, **changed):
    """Requests with the session's key in its header; nothing else was called or changed."""
    run = run or two_tools()
    request = {"headers": {"authorization": f"Bearer {CANARY}"}} | changed
    exchanges = [replace(e, request=replace(e.request, **request)) for e in run.exchanges]
    return replace(run, exchanges=exchanges, elsewhere=[], altered=[])


def locked_out():
    """The provider refuses, and that is the end of it."""
    return replace(cut(), exchanges=[Exchange(exchange(ASKED).request, Response(401))])


RAN = [ToolRun("get_weather", {"city": "Pa"}, "?")]

STRANGER = {"authorization": "Bearer conformance-key-OPENAI_API_KEY"}

#: rule id: (a run that keeps it, how to break it)
BREAKS = {
    "PAIR-003": (dangling, lambda r: replace(r, exchanges=[exchange(ASKED, calling(PARIS), user("go on"))])),
    "PAIR-004": (
        two_tools,
        lambda r: last_request(r, calling(("x9", *PARIS[1:])), result("x9", "21C, sunny")),
    ),
    "PAIR-010": (
        failing,
        lambda r: last_request(r, calling(PARIS, OSLO), result("c1", ""), result("c2", "9C, rain")),
    ),
    "PAIR-012": (unknown, lambda r: last_request(r, calling(PARIS, OSLO))),
    "PAR-001": (two_tools, lambda r: last_request(r, calling(PARIS, OSLO), result("c1", "21C, sunny"))),
    "PAR-004": (
        two_tools,
        lambda r: last_request(r, calling(PARIS, OSLO), result("c1", "9C, rain"), result("c2", "21C, sunny")),
    ),
    "PAR-005": (two_tools, lambda r: replace(r, tool_runs=r.tool_runs[:1])),
    "PAR-006": (
        failing,
        lambda r: last_request(r, calling(PARIS, OSLO), result("c1", "e"), result("c2", "e")),
    ),
    "TRM-001": (pictures, lambda r: last_request(r, calling(PARIS), result("c1", "[see below]"))),
    "TRM-006": (
        pictures,
        lambda r: last_request(r, calling(PARIS), {"role": "user", "content": [picture(RED), picture(BLUE)]}),
    ),
    "TRM-007": (
        pictures,
        lambda r: last_request(r, calling(PARIS), {"role": "user", "content": [picture(BLUE), picture(RED)]}),
    ),
    "TRM-010": (refused, lambda r: last_request(r, calling(PARIS), result("c1", "done"))),
    "TRM-011": (
        pictures,
        lambda r: last_request(
            r, calling(PARIS), {"role": "user", "content": [picture(RED), picture(RED), picture(BLUE)]}
        ),
    ),
    "TRM-012": (nested, lambda r: last_request(r, calling(PARIS), result("c1", "TypeError"))),
    "TRM-014": (
        pictures,
        lambda r: replace(r, transcript=f"image: {base64.b64encode(RED.data).decode()}"),
    ),
    "STR-007": (cut, lambda r: replace(r, replies=[Reply("Let me", stop=None)])),
    "STR-008": (cut, lambda r: replace(r, tool_runs=RAN)),
    "STR-009": (cut, lambda r: replace(r, replies=[Reply("Let me", stop="stop")])),
    "STR-010": (failed, lambda r: replace(r, replies=[Reply("One", stop="stop")])),
    "STP-001": (short, lambda r: replace(r, replies=[Reply("Once upon", stop="stop")])),
    "STP-004": (short_call, lambda r: replace(r, tool_runs=RAN)),
    "TXT-001": (two_tools, lambda r: replace(r, snapshot_diff="- a\n+ b")),
    "TXT-002": (two_tools, lambda r: replace(r, transcript=r.transcript.replace("(c2)", "(c1)"))),
    "TXT-004": (two_tools, lambda r: replace(r, transcript=f"{r.transcript}conformance-key-0000")),
    "TXT-005": (two_tools, lambda r: replace(r, replies=[Reply("21C and")])),
    "USG-001": (two_tools, lambda r: replace(r, replies=[replace(r.replies[0], usage={"input": 1})])),
    "AUT-002": (keyed, lambda r: keyed(r, url=f"https://api.openai.com/v1/chat?key={CANARY}")),
    "AUT-003": (keyed, lambda r: keyed(r, headers=STRANGER)),
    "AUT-005": (keyed, lambda r: replace(r, elsewhere=["raw.githubusercontent.com:443"])),
    "ERR-002": (locked_out, lambda r: replace(r, exchanges=[*r.exchanges, *r.exchanges])),
    "HIS-001": (keyed, lambda r: replace(r, altered=["the schema of get_weather"])),
    "HIS-002": (
        two_tools,
        lambda r: replace(r, exchanges=[r.exchanges[0], exchange(calling(PARIS, OSLO))]),
    ),
    "RUN-001": (two_tools, lambda r: replace(r, trouble=Trouble("no request was seen", ours=False))),
    "UNI-001": (two_tools, lambda r: replace(r, exchanges=[exchange(user("Weather in Oslo?"))])),
    "CAS-01": (two_tools, lambda r: replace(r, misses=["no recording of this request"])),
    "CAS-02": (two_tools, lambda r: replace(r, unplayed=["POST …: never played"])),
}


def test_every_behaviour_rule_has_its_counterexample():
    assert set(BREAKS) == set(book.rules)


@pytest.mark.parametrize("id", BREAKS)
def test_a_run_that_keeps_the_rule_passes(id):
    keeping, _ = BREAKS[id]

    found = verdict(book.rules[id], keeping())

    assert found.outcome == "pass", [v.message for v in found.violations]


@pytest.mark.parametrize("id", BREAKS)
def test_a_run_that_breaks_the_rule_is_caught(id):
    keeping, breaking = BREAKS[id]

    found = verdict(book.rules[id], breaking(keeping()))

    assert found.violations
    assert all(v.pointer.startswith("/") and v.message for v in found.violations)


@pytest.mark.parametrize("coherent", [two_tools, failing, failed, short, short_call])
def test_a_good_run_breaks_nothing(coherent):
    run = coherent()

    broken = [v.rule.id for v in (verdict(rule, run) for rule in book.rules.values()) if v.violations]

    assert not broken
