"""Every behaviour rule meets a run that keeps it and a run that breaks it."""

import base64
import json
from dataclasses import replace

import pytest

from ellmer_conformance.adapters.zoo import ZOO, invented, planted
from ellmer_conformance.contract.exchange import Exchange, Request, Response
from ellmer_conformance.contract.observed_run import Run, ToolRun, Trouble, Varied
from ellmer_conformance.contract.rule import verdict
from ellmer_conformance.contract.rules.behaviour import book
from ellmer_conformance.scenarios.case import Case, ask
from ellmer_conformance.scenarios.cases._media_and_tools import BLUE, RED, REPORT, weather
from ellmer_conformance.scenarios.messages import Reply, Text, ToolCall, Turn
from ellmer_conformance.scenarios.planted_keys import CANARY
from ellmer_conformance.scenarios.script import Answer, Call, Cut, Failure, Hears, Say, Think, Usage
from ellmer_conformance.scenarios.variations import variation
from ellmer_conformance.scenarios.variations.odd_events import REDACTED


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
    history = [Turn("user", (Text(QUESTION),)), Turn("assistant", (ToolCall(*PARIS),))]
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


def under(*names, run=None):
    """The same run, played again under variations; nothing changed."""
    run = keyed(run or two_tools())
    return replace(run, varied=[Varied(variation(name), run) for name in names])


def otherwise(run, **changed):
    """The plays under the variations came out differently."""
    return replace(run, varied=[replace(v, run=replace(v.run, **changed)) for v in run.varied])


def broken_off(*names):
    """Plays whose first answer broke off, and that noticed."""
    run = under(*names)
    case = replace(run.case, script=[Answer((Say("21C and 9C."),))])
    run = otherwise(replace(run, case=case), case=case)
    part = Exchange(run.exchanges[0].request, Response(200, body=b'{"delta": {"content": "21C "}}'))
    return otherwise(
        run, exchanges=[part], tool_runs=[], replies=[Reply("21C ", complete=False, error=EOFError("cut"))]
    )


def stopping(stop):
    return [Reply("21C and 9C.", stop=stop, usage={"input": 95, "output": 11})]


def retried(*, waits=(2.0,), again=None):
    """The provider is busy once."""
    run = keyed(cut())
    case = Case(
        script=[Failure("rate-limit"), Answer((Say("Hello."),))],
        steps=[ask(QUESTION, text="Hello.")],
        max_retries=2,
    )
    busy = Exchange(run.exchanges[0].request, Response(429, {"retry-after": "2"}))
    answered = replace(run.exchanges[0], request=again or run.exchanges[0].request)
    replies = [Reply("Hello.", stop="stop", usage={"input": 10, "output": 5})]
    return replace(run, case=case, exchanges=[busy, answered], waits=list(waits), replies=replies)


class Busy(Exception):
    status = 529


class TooLong(Exception):
    status = 400


def overloaded(error=None):
    """The provider is overloaded; the next question is answered."""
    run = keyed(cut())
    case = Case(
        script=[Failure("overloaded"), Answer((Say("Hello."),))],
        steps=[ask(QUESTION, outcome="incomplete"), ask("And now?", text="Hello.")],
    )
    body = b'{"error": {"type": "overloaded_error", "message": "Overloaded"}}'
    exchanges = [
        Exchange(run.exchanges[0].request, Response(529, body=body)),
        exchange(user("And now?"), answer="Hello."),
    ]
    replies = [Reply(error=error or Busy("Overloaded")), Reply("Hello.", stop="stop")]
    return replace(run, case=case, exchanges=exchanges, replies=replies)


def twice_refused(second=None):
    """The prompt is too long; then there are too many requests."""
    run = keyed(cut())
    case = Case(
        script=[Failure("context-length"), Failure("rate-limit")],
        steps=[ask(QUESTION, outcome="incomplete"), ask(QUESTION, outcome="incomplete")],
    )
    return replace(
        run, case=case, replies=[Reply(error=TooLong("long")), Reply(error=second or Busy("busy"))]
    )


def handed_over(requests=1):
    """The provider fails after text, and retries are allowed."""
    run = failed()
    return replace(run, case=replace(run.case, max_retries=2), exchanges=run.exchanges * requests)


def valued(outcome="answered", reply=None, **answer):
    """A value with a schema is asked for."""
    value = {"name": "Ada"}
    step = ask(QUESTION, outcome=outcome, schema={"type": "object"}, value=value)
    case = Case(script=[Answer((Say('{"name": "Ada"}'),), **answer)], steps=[step])
    return replace(keyed(cut()), case=case, replies=[reply or Reply(value=value, stop="stop")])


def shaped(name):
    """A value is asked for, with its schema."""
    run = valued()
    step = replace(run.case.steps[0], schema={"type": "object", "properties": {"name": {}}})
    body = {"messages": [ASKED], "response_format": {"properties": {name: {}}}}
    asked = Exchange(Request("openai-chat", "openai", body), Response(200))
    return replace(run, case=replace(run.case, steps=[step]), exchanges=[asked])


def given(*parts, body=None, system=None, wire="openai-chat", **case):
    """One turn of the user, sent as `body`."""
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


def seen(*parts):
    """A body that says parts as OpenAI has it."""
    return {"messages": [{"role": "user", "content": [*parts]}]}


def words(text):
    return {"type": "text", "text": text}


def pdf(**changed):
    data = f"data:application/pdf;base64,{base64.b64encode(REPORT.data).decode()}"
    return {"type": "file", "file": {"filename": "report.pdf", "file_data": data} | changed}


def prompted(*messages):
    return given("Hi.", body={"messages": [*messages, user("Hi.")]}, system="Be terse.")


def tooled(*tools):
    """Requests with tools in them."""
    requests = [{"tools": [{"type": "function", "function": tool}]} for tool in tools]
    run = two_tools()
    exchanges = [
        replace(e, request=replace(e.request, body=e.request.body | more))
        for e, more in zip(run.exchanges, requests, strict=True)
    ]
    return replace(run, exchanges=exchanges)


SCHEMA = {"name": "get_weather", "parameters": weather.parameters}
OTHER_SCHEMA = {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}


def nothing(text):
    """A tool returns 0."""
    run = last_request(two_tools(), calling(PARIS), result("c1", text))
    return replace(run, tool_runs=[ToolRun("get_weather", {"city": "Paris"}, 0)])


def signed(signature):
    """Reasoning, whose signature goes back."""
    run = two_tools()
    case = replace(
        run.case, script=[Answer((Think("Hm."), Call("get_weather", PARIS[2]))), run.case.script[1]]
    )
    first = exchange(ASKED, answer='{"signature": "Ab"} {"signature": "cD"} "id": "c1"')
    second = exchange(ASKED, calling(PARIS) | {"signature": signature}, result("c1", "21C, sunny"))
    return replace(run, case=case, exchanges=[first, second])


def numbered(**arguments):
    run = two_tools()
    call = Call("get_weather", {"n": 2**53 + 1})
    case = replace(run.case, script=[Answer((call,)), run.case.script[1]])
    return replace(run, case=case, tool_runs=[ToolRun("get_weather", arguments, "?")])


def silent(**reply):
    """The model says nothing."""
    run = given("Hi.", body={"messages": [user("Hi.")]})
    case = replace(run.case, script=[Answer(())], steps=[ask("Hi.")])
    return replace(run, case=case, replies=[Reply(**reply)])


def two_speakers(*texts):
    """Two conversations of one adapter."""
    hears = Hears({name: Answer((Say(f"Hello, {name}!"),)) for name in ("Ada", "Bo")})
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


def parted(**usage):
    """Tokens from a cache."""
    run = given("Hi.", body={"messages": [user("Hi.")]})
    case = replace(run.case, script=[Answer((Say("I see."),), usage=Usage(100, 5, cached=64))])
    said = replace(run.exchanges[0], response=Response(200, body=b'{"cached_tokens": 64}'))
    usage = {"input": 100, "output": 5} | usage
    return replace(run, case=case, exchanges=[said], replies=[Reply("I see.", stop="stop", usage=usage)])


def streamed(**body):
    run = given("Hi.", body={"messages": [user("Hi.")]} | body)
    return replace(
        run, exchanges=[replace(e, request=replace(e.request, stream=True)) for e in run.exchanges]
    )


def moved(run, **headers):
    """Redirected, the request goes elsewhere."""
    there = Exchange(
        Request("openai-chat", "openai", {}, url="https://elsewhere.invalid/v1", headers=headers)
    )
    return otherwise(run, exchanges=[*run.varied[0].run.exchanges, there])


def given_up(**reply):
    """A request is cancelled; the next one is answered."""
    run = overloaded()
    steps = [replace(run.case.steps[0], cancelled=True), run.case.steps[1]]
    case = replace(run.case, steps=steps)
    return replace(run, case=case, replies=[run.replies[0], replace(run.replies[1], **reply)])


def redacted(*blocks):
    """Redacted thinking came, and goes back with the call."""
    run = under("redacted")
    request = Request("anthropic", "anthropic", {"messages": [{"role": "assistant", "content": [*blocks]}]})
    return otherwise(run, exchanges=[run.exchanges[0], Exchange(request, Response(200))])


OPAQUE = {"type": "redacted_thinking", "data": REDACTED}
CALLED = {"type": "tool_use", "id": "c1", "name": "get_weather", "input": {}}
HOME = Request(
    "openai-chat", "openai", {"messages": [ASKED]}, url="https://api.openai.com/v1/chat/completions"
)
WRONG = [Reply("21C and", stop="stop", usage={"input": 95, "output": 11})]
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
    "AUT-001": (keyed, lambda r: keyed(r, headers={"x-secret": CANARY})),
    "AUT-004": (
        lambda: under("moved", run=replace(cut(), exchanges=[Exchange(HOME, Response(200))])),
        lambda r: moved(r, authorization="Bearer x"),
    ),
    "AUT-006": (
        lambda: given("Hi.", body={"messages": [user("Hi.")]}),
        lambda r: keyed(r, headers={"authorization": f"Bearer {CANARY}"}),
    ),
    "ASY-005": (two_speakers, lambda _: two_speakers("Hello, Bo!", "Hello, Ada!")),
    "ASY-002": (lambda: replace(two_tools(), left=[True]), lambda r: replace(r, left=[False])),
    "ASY-003": (given_up, lambda _: given_up(error=RuntimeError("cancelled"))),
    "ASY-004": (
        lambda: replace(two_tools(), blocking=[]),
        lambda r: replace(r, blocking=["connect to ('127.0.0.1', 80)"]),
    ),
    "HIS-003": (
        lambda: replace(two_tools(), reloaded=True),
        lambda r: replace(r, exchanges=[*r.exchanges, exchange(user("Thanks!"))]),
    ),
    "THK-002": (lambda: redacted(OPAQUE, CALLED), lambda _: redacted(CALLED)),
    "EMP-003": (silent, lambda _: silent(error=IndexError("no choices"))),
    "ERR-001": (retried, lambda _: retried(waits=[0.5])),
    "ERR-003": (retried, lambda r: replace(r, exchanges=r.exchanges[1:])),
    "ERR-004": (retried, lambda _: retried(again=HOME)),
    "ERR-005": (overloaded, lambda _: overloaded(RuntimeError("Something went wrong"))),
    "ERR-009": (
        overloaded,
        lambda _: replace(overloaded(), replies=[Reply(error=Busy("Overloaded")), Reply(error=Busy("no"))]),
    ),
    "ERR-010": (handed_over, lambda _: handed_over(3)),
    "ERR-011": (twice_refused, lambda _: twice_refused(TooLong("busy"))),
    **{
        rule: (lambda name=name: broken_off(name), lambda r: otherwise(r, replies=[Reply("", stop="stop")]))
        for rule, name in {"ERR-006": "html-502", "ERR-007": "error-200", "ERR-008": "stall:2"}.items()
    },
    **{
        rule: (lambda name=name: under(name), lambda r: otherwise(r, replies=WRONG))
        for rule, name in {
            "STR-001": "every-byte",
            "STR-002": "inside-characters",
            "STR-003": "crlf",
            "STR-004": "comments",
            "STR-005": "bom",
            "STR-006": "unknown-events",
            "STR-012": "crosswise",
            "STR-013": "same-index",
            "STR-014": "arguments-null",
            "STR-015": "empty-choices",
            "STR-019": "after-the-end",
            "STR-020": "late-names",
            "USG-002": "counted-at-the-start",
        }.items()
    },
    "STR-011": (lambda: broken_off("reset:2"), lambda r: otherwise(r, replies=[Reply("21C ")])),
    "STR-017": (two_tools, lambda r: replace(r, replies=[replace(r.replies[0], pieces=["21C ", "and"])])),
    "STP-002": (
        lambda: otherwise(under("unknown-stop"), replies=stopping("brand_new")),
        lambda r: otherwise(r, replies=stopping("stop")),
    ),
    "STP-003": (
        lambda: otherwise(under("stop:pause_turn"), replies=stopping("pause_turn")),
        lambda r: otherwise(r, replies=stopping("stop")),
    ),
    "USG-003": (
        lambda: streamed(stream_options={"include_usage": True}),
        lambda _: streamed(),
    ),
    "USG-004": (lambda: parted(cached=64), lambda _: parted(cached=0)),
    "USG-005": (
        lambda: otherwise(under("uncounted"), replies=[Reply("21C and 9C.", usage={"input": None})]),
        lambda r: otherwise(r, replies=[Reply("21C and 9C.", usage={"input": 0})]),
    ),
    "STO-011": (lambda: shaped("name"), lambda _: shaped("title")),
    "STO-002": (valued, lambda _: valued(reply=Reply(value={"name": "ada"}))),
    "STO-003": (
        lambda: valued("incomplete", Reply(error=TooLong("no fit"))),
        lambda _: valued("incomplete", Reply(value={"name": 1})),
    ),
    "STO-004": (
        lambda: valued("incomplete", Reply(error=TooLong("cut at max_tokens")), stop="length"),
        lambda _: valued("incomplete", Reply(error=ValueError("Expecting value")), stop="length"),
    ),
    "IMG-001": (
        lambda: given(RED, body=seen(picture(RED))),
        lambda _: given(RED, body=seen(picture(BLUE))),
    ),
    "IMG-002": (
        lambda: given("This", RED, BLUE, body=seen(words("This"), picture(RED), picture(BLUE))),
        lambda _: given("This", RED, BLUE, body=seen(words("This"), picture(BLUE), picture(RED))),
    ),
    "IMG-003": (
        lambda: given(RED, body=seen(picture(RED))),
        lambda _: given(RED, body=seen(words(""), picture(RED))),
    ),
    "IMG-007": (
        lambda: given(RED, body=seen(picture(RED))),
        lambda _: given(RED, body=seen({"type": "image_url", "image_url": {"url": "x", "detail": "high"}})),
    ),
    "TRM-008": (
        lambda: given(REPORT, body=seen(pdf())),
        lambda _: given(REPORT, body=seen(pdf(filename=""))),
    ),
    "SYS-001": (
        lambda: prompted({"role": "system", "content": "Be terse."}),
        lambda _: prompted(user("Be terse.")),
    ),
    "SYS-003": (
        lambda: prompted({"role": "system", "content": "Be terse."}),
        lambda _: prompted(*[{"role": "system", "content": "Be terse."}] * 2),
    ),
    "SCH-006": (lambda: tooled(SCHEMA, SCHEMA), lambda _: tooled(OTHER_SCHEMA, OTHER_SCHEMA)),
    "SCH-007": (lambda: tooled(SCHEMA, SCHEMA), lambda _: tooled(SCHEMA, OTHER_SCHEMA)),
    "PAIR-011": (lambda: nothing("0"), lambda _: nothing("")),
    "HIS-004": (two_speakers, lambda r: replace(r, exchanges=[exchange(user("Ada"), user("Bo"))])),
    "HIS-005": (dangling, lambda r: replace(r, exchanges=[exchange(user("other"), calling(OSLO))])),
    "THK-006": (lambda: signed("AbcD"), lambda _: signed("AbcE")),
    "THK-008": (lambda: signed("AbcD"), lambda r: replace(r, replies=[Reply("Hm. 21C and 9C.")])),
    "UNI-002": (
        lambda: given("x\ud83d", body={"messages": [user("x\ufffd")]}),
        lambda _: given("x\ud83d", body={"messages": [user("x\ud83d")]}),
    ),
    "UNI-003": (lambda: numbered(n=2**53 + 1), lambda _: numbered(n=2**53)),
    "RUN-001": (two_tools, lambda r: replace(r, trouble=Trouble("no request was seen", ours=False))),
    "UNI-001": (two_tools, lambda r: replace(r, exchanges=[exchange(user("Weather in Oslo?"))])),
    "CAS-01": (two_tools, lambda r: replace(r, misses=["no recording of this request"])),
    "CAS-02": (two_tools, lambda r: replace(r, unplayed=["POST …: never played"])),
}


def test_every_behaviour_rule_has_its_counterexample():
    new = {planted.__name__, invented.__name__}
    by_creatures = {id for c in vars(ZOO).values() if c.__module__ in new for id in c.caught_by}

    assert set(BREAKS) | by_creatures == set(book.rules)


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
