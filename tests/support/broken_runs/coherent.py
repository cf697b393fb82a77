"""Runs of a conversation that keep the rules of behaviour, which tests change to break them."""

import json
from dataclasses import replace

from ellmer_conformance.contract.observed.exchange import Exchange, Request, Response
from ellmer_conformance.contract.observed.run import Run, ToolRun, Varied
from ellmer_conformance.scenarios.canary_keys import CANARY
from ellmer_conformance.scenarios.case import Case, ask
from ellmer_conformance.scenarios.cases._media_and_tools import weather
from ellmer_conformance.scenarios.messages import Reply
from ellmer_conformance.scenarios.script import Answer, AnswerByText, Call, Cut, Failure, Say, Usage
from ellmer_conformance.scenarios.variations import variation


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


OFFERED = {
    "type": "function",
    "function": {
        "name": weather.name,
        "description": weather.description,
        "parameters": dict(weather.parameters),
    },
}


def exchange(*messages, answer=""):
    request = Request(
        "openai-chat",
        "openai",
        {
            "model": "gpt-4.1",
            "messages": list(messages),
            "stream_options": {"include_usage": True},
            "tools": [OFFERED],
        },
        stream=True,
    )
    return Exchange(request, Response(200, body=answer.encode()))


PARIS, OSLO = ("c1", "get_weather", {"city": "Paris"}), ("c2", "get_weather", {"city": "Oslo"})
QUESTION = "Weather in Paris and Oslo?"
ASKED = user(QUESTION)


def two_tools():
    """Returns a run with two parallel calls, both answered."""
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
        provider="openai",
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
        transcript="[tool request (c1)]: get_weather()\n[tool request (c2)]: get_weather()\n"
        "[tool result  (c1)]: 21C\n[tool result  (c2)]: 9C\n",
        replayed=True,
        snapshot_diff="",
    )


def last_request(run, *messages):
    return replace(run, exchanges=[*run.exchanges[:-1], exchange(ASKED, *messages)])


def failing():
    """Returns a run with two parallel calls, of which Paris fails."""
    run = two_tools()
    runs = [ToolRun("get_weather", {"city": "Paris"}, error=KeyError("Paris")), run.tool_runs[1]]
    return replace(
        last_request(run, calling(PARIS, OSLO), result("c1", "error: Paris"), result("c2", "9C, rain")),
        tool_runs=runs,
    )


def cut():
    """Returns a run in which the answer stops inside a call."""
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
    """Returns a run in which the provider fails in the middle of an answer."""
    case = Case(
        tools=[weather],
        script=[Failure(after=Answer((Say("One"),)))],
        steps=[ask(QUESTION, text="One", outcome="incomplete")],
    )
    return replace(cut(), case=case)


def short():
    """Returns a run in which the token limit ends the text, or in `calls`, a call."""
    case = Case(
        tools=[weather],
        script=[Answer((Say("Once upon"),), stop="length")],
        steps=[ask(QUESTION, text="Once upon")],
    )
    return replace(
        cut(), case=case, replies=[Reply("Once upon", stop="length", usage={"input": 10, "output": 5})]
    )


def short_call():
    """Returns a run in which the token limit ends a call's arguments."""
    case = Case(
        tools=[weather],
        script=[Answer((Call("get_weather", text='{"ci'),), stop="length")],
        steps=[ask(QUESTION, text="")],
    )
    return replace(cut(), case=case, replies=[Reply("")])


def keyed(run=None, **changed):
    """Returns requests with the session's key in its header; nothing else was called or changed."""
    run = run or two_tools()
    request = {"headers": {"authorization": f"Bearer {CANARY}"}} | changed
    exchanges = [replace(e, request=replace(e.request, **request)) for e in run.exchanges]
    return replace(run, exchanges=exchanges, elsewhere=[], altered=[])


def under(*names, run=None):
    """Returns the run with unchanged runs under variations."""
    run = keyed(run or two_tools())
    return replace(run, varied=[Varied(variation(name), run) for name in names])


def otherwise(run, **changed):
    """Returns the run with changed runs under variations."""
    return replace(run, varied=[replace(v, run=replace(v.run, **changed)) for v in run.varied])


def broken_off(*names):
    """Returns runs whose first answer was truncated, with errors."""
    run = under(*names)
    case = replace(run.case, script=[Answer((Say("21C and 9C."),))])
    run = otherwise(replace(run, case=case), case=case)
    part = Exchange(run.exchanges[0].request, Response(200, body=b'{"delta": {"content": "21C "}}'))
    return otherwise(
        run, exchanges=[part], tool_runs=[], replies=[Reply("21C ", complete=False, error=EOFError("cut"))]
    )


class TooLong(Exception):
    status = 400


def given(*parts, body=None, system=None, wire="openai-chat", **case):
    """Returns a run with one turn of the user, sent as `body`."""
    case = Case(script=[Answer((Say("I see."),))], steps=[ask(*parts, text="I see.")], system=system, **case)
    request = Request(wire, "openai", body)
    headers = {"authorization": f"Bearer {CANARY}", "content-type": "", "accept": "", "user-agent": ""}
    said = Exchange(replace(request, headers=headers), Response(200))
    return replace(
        two_tools(),
        case=case,
        wire=wire,
        exchanges=[said],
        tool_runs=[],
        transcript="",
        replies=[Reply("I see.", stop="stop", usage={"input": 10, "output": 5})],
    )


def two_speakers(*texts):
    """Returns a run with two conversations of one adapter."""
    hears = AnswerByText({name: Answer((Say(f"Hello, {name}!"),)) for name in ("Ada", "Bo")})
    steps = [ask(name, text=f"Hello, {name}!", who=who) for who, name in enumerate(("Ada", "Bo"))]
    exchanges = [exchange(user("Ada")), exchange(user("Bo"))]
    replies = [Reply(text, stop="stop") for text in texts or ("Hello, Ada!", "Hello, Bo!")]
    case = Case(script=[hears, hears], steps=steps)
    return replace(
        two_tools(),
        case=case,
        mode="async",
        exchanges=exchanges,
        tool_runs=[],
        transcript="",
        replies=replies,
    )
