"""Rules about requests: a run that keeps each, and changes that break it."""

import base64
from dataclasses import replace

from broken_runs.coherent import (
    ASKED,
    OSLO,
    PARIS,
    QUESTION,
    calling,
    exchange,
    failing,
    given,
    keyed,
    last_request,
    result,
    two_speakers,
    two_tools,
    user,
)

from ellmer_conformance.contract.observed.exchange import Exchange, Request, Response
from ellmer_conformance.contract.observed.run import ToolRun
from ellmer_conformance.scenarios.case import Case, ask
from ellmer_conformance.scenarios.cases._media_and_tools import BLUE, RED, REPORT, weather
from ellmer_conformance.scenarios.messages import Text, ToolCall, Turn
from ellmer_conformance.scenarios.script import Answer, Call


def picture(image):
    return {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,{base64.b64encode(image.data).decode()}"},
    }


def tag(id):
    return {"type": "text", "text": f'<content tool-call-id="{id}">'}


def unknown():
    """Returns a run in which the model calls an unknown tool."""
    run = two_tools()
    return replace(run, case=replace(run.case, tools=[]), tool_runs=[])


def dangling():
    """Returns a run with a history that ends with an open call."""
    run = two_tools()
    history = [Turn("user", (Text(QUESTION),)), Turn("assistant", (ToolCall(*PARIS),))]
    said = exchange(ASKED, calling(PARIS), result("c1", "never ran"), user("go on"))
    return replace(run, case=replace(run.case, history=history), exchanges=[said])


def pictures(*, steps=2):
    """Returns a run in which a tool returns two images, and a second question follows."""
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
    """Returns a run in which a tool returns a PDF two levels deep."""
    run = last_request(two_tools(), calling(PARIS), result("c1", "get_weather returned a PDF at value[1][0]"))
    return replace(run, tool_runs=[ToolRun("get_weather", {"city": "Paris"}, ["x", [REPORT]])])


def refused():
    """Returns a run in which the adapter declares that it refuses images."""
    run = last_request(two_tools(), calling(PARIS), result("c1", "(an image was left out)"))
    pictured = [ToolRun("get_weather", {"city": "Paris"}, RED)]
    return replace(run, refused=["image_in_tool_result"], tool_runs=pictured)


def seen(*parts):
    """Returns a body with parts in OpenAI's form."""
    return {"messages": [{"role": "user", "content": [*parts]}]}


def words(text):
    return {"type": "text", "text": text}


def pdf(**changed):
    data = f"data:application/pdf;base64,{base64.b64encode(REPORT.data).decode()}"
    return {"type": "file", "file": {"filename": "report.pdf", "file_data": data} | changed}


def prompted(*messages):
    return given("Hi.", body={"messages": [*messages, user("Hi.")]}, system="Be terse.")


def tooled(*tools):
    """Returns requests with tools."""
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
    """Returns a run in which a tool returns 0."""
    run = last_request(two_tools(), calling(PARIS), result("c1", text))
    return replace(run, tool_runs=[ToolRun("get_weather", {"city": "Paris"}, 0)])


def numbered(**arguments):
    run = two_tools()
    call = Call("get_weather", {"n": 2**53 + 1})
    case = replace(run.case, script=[Answer((call,)), run.case.script[1]])
    return replace(run, case=case, tool_runs=[ToolRun("get_weather", arguments, "?")])


#: rule id: (a run that keeps it, how to break it)
def named(*, store):
    """Returns a run whose second request names the answer to the first one."""
    asked = Request("openai-responses", "openai", {"input": "Hello", "store": store})
    more = Request("openai-responses", "openai", {"input": "More.", "previous_response_id": "resp_1"})
    exchanges = [Exchange(asked, Response(200, body=b'{"id": "resp_1"}')), Exchange(more, Response(200))]
    return replace(two_tools(), wire="openai-responses", exchanges=exchanges)


REQUESTS = {
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
    "HIS-001": (keyed, lambda r: replace(r, altered=["the schema of get_weather"])),
    "HIS-002": (
        two_tools,
        lambda r: replace(r, exchanges=[r.exchanges[0], exchange(calling(PARIS, OSLO))]),
    ),
    "HIS-003": (
        lambda: replace(two_tools(), reloaded=True),
        lambda r: replace(r, exchanges=[*r.exchanges, exchange(user("Thanks!"))]),
    ),
    "HIS-015": (lambda: named(store=True), lambda _: named(store=False)),
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
    "UNI-002": (
        lambda: given("x\ud83d", body={"messages": [user("x\ufffd")]}),
        lambda _: given("x\ud83d", body={"messages": [user("x\ud83d")]}),
    ),
    "UNI-003": (lambda: numbered(n=2**53 + 1), lambda _: numbered(n=2**53)),
    "UNI-001": (two_tools, lambda r: replace(r, exchanges=[exchange(user("Weather in Oslo?"))])),
}
