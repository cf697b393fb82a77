"""Every behaviour rule gets a run that keeps it and a run that breaks it."""

import json
import re
from dataclasses import replace

import pytest
from broken_on_purpose import BROKEN, every_play, features, invented, lost_or_added_content
from broken_runs.answers import ANSWERS, shaped, signed
from broken_runs.coherent import (
    ASKED,
    OSLO,
    PARIS,
    calling,
    failed,
    failing,
    keyed,
    last_request,
    result,
    short,
    short_call,
    two_tools,
    user,
)
from broken_runs.requests import REQUESTS
from broken_runs.sessions import SESSIONS

from ellmer_conformance.contract.observed.exchange import Response
from ellmer_conformance.contract.observed.run import Run, ToolRun
from ellmer_conformance.contract.rule import verdict
from ellmer_conformance.contract.rules.behaviour import book
from ellmer_conformance.contract.rules.behaviour.requests.tool_schemas import (
    CONSTRAINTS,
    Nested,
    lost_constraints,
    lost_of,
    unknown_words,
)
from ellmer_conformance.scenarios.canary_keys import CANARY
from ellmer_conformance.scenarios.case import Case, ask
from ellmer_conformance.scenarios.cases._media_and_tools import RED, weather
from ellmer_conformance.scenarios.messages import Image, Reply, Text
from ellmer_conformance.scenarios.script import Answer, Call, Refuse, Say, Think

#: rule id: (a run that keeps it, how to break it)
BREAKS = {**REQUESTS, **ANSWERS, **SESSIONS}


#: Values as Python prints them, and plurals of one thing.
FOR_PROGRAMS = re.compile(
    r"(?<!\w)\('|',\)|Counter\(|frozenset|dict_|mappingproxy|\b1 (times|calls|results|requests|answers)\b"
)


def test_every_behaviour_rule_has_its_counterexample():
    new = (every_play.__name__, features.__name__, lost_or_added_content.__name__, invented.__name__)
    by_adapters = {id for c in vars(BROKEN).values() if c.__module__.startswith(new) for id in c.caught_by}

    assert set(BREAKS) | by_adapters == set(book.rules)


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
    assert not [v.message for v in found.violations if FOR_PROGRAMS.search(v.message)]


@pytest.mark.parametrize("coherent", [two_tools, failing, failed, short, short_call])
def test_a_good_run_breaks_nothing(coherent):
    run = coherent()

    broken = [v.rule.id for v in (verdict(rule, run) for rule in book.rules.values()) if v.violations]

    assert not broken


def returned(value, text):
    """Returns a run whose tool returned a value, or raised it, which went back as a text."""
    run = last_request(two_tools(), calling(PARIS), result("c1", text))
    outcome = {"error": value} if isinstance(value, Exception) else {"value": value}
    return replace(run, tool_runs=[ToolRun(*PARIS[1:], **outcome)])


def over_anthropic(*content):
    """Returns a run over Anthropic's format, with what the model said and what the tools returned."""
    run = two_tools()
    body = {"messages": [ASKED, *content]}
    exchanges = [
        replace(each, request=replace(each.request, wire="anthropic", body=more))
        for each, more in zip(run.exchanges, ({"messages": [ASKED]}, body), strict=True)
    ]
    return replace(run, wire="anthropic", exchanges=exchanges)


FORECAST = {"city": "Zürich", "days": [1, None, True]}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(FORECAST),
        json.dumps({"output": FORECAST}),
        json.dumps({"output": json.dumps(FORECAST)}),
        str(FORECAST),
        json.dumps({"output": str(FORECAST)}),
    ],
)
def test_a_value_that_can_be_read_is_what_the_tool_returned(text):
    assert not verdict(book.rules["PAIR-033"], returned(FORECAST, text)).violations


@pytest.mark.parametrize("text", ['{"output": "{\\"city\\": \\"Zürich\\"}"}', '{"output": "{\'city\': 1}"}'])
def test_a_part_of_a_value_is_not_what_the_tool_returned(text):
    assert verdict(book.rules["PAIR-033"], returned(FORECAST, text)).violations


@pytest.mark.parametrize(("words", "fine"), [("2 hits", True), ("no hits", False)])
def test_a_text_beside_media_may_be_a_document(words, fine):
    """haystack sends the texts of a list as documents of the type `text/plain`, and Gemini and Anthropic read them."""
    shown = [
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": words}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": RED.data}},
    ]
    run = over_anthropic(
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "get_weather", "input": PARIS[2]}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": shown}],
        },
    )
    run = replace(run, tool_runs=[ToolRun(*PARIS[1:], value=["2 hits", RED])])

    assert bool(verdict(book.rules["PAIR-033"], run).violations) is not fine


@pytest.mark.parametrize("write", [str, json.dumps, lambda text: json.dumps(text, ensure_ascii=False)])
def test_the_words_of_an_error_may_be_inside_of_json(write):
    words = 'no "Zürich"\nhere'
    assert not verdict(book.rules["PAIR-034"], returned(ValueError(words), write(words))).violations


@pytest.mark.parametrize(("value", "text", "fine"), [([], "[]", True), ([], "none", True), ({}, " ", False)])
def test_an_empty_list_or_object_is_not_an_empty_text(value, text, fine):
    assert bool(verdict(book.rules["PAIR-011"], returned(value, text)).violations) is not fine


def test_a_declared_refusal_of_tools_is_no_error_that_ends_the_chat():
    """ERR-009 and TXT-002 blamed a library that says, before it sends anything, that its model takes no tools."""
    case = Case(
        script=[], tools=[weather], steps=[ask("One?", outcome="incomplete"), ask("Two?", text="Two.")]
    )
    raised = Reply(error=ValueError("no tools"), complete=False)
    run = replace(
        two_tools(), case=case, refused=frozenset({"tools"}), replies=[raised, raised], exchanges=[]
    )

    assert not verdict(book.rules["ERR-009"], run).violations
    assert not verdict(
        book.rules["TXT-002"], replace(run, transcript="[tool request (c1)]: look_up")
    ).violations
    assert verdict(book.rules["ERR-009"], replace(run, refused=frozenset())).violations


@pytest.mark.parametrize(("words", "fine"), [("image/svg+xml is not supported", True), ("no key", False)])
def test_a_library_may_refuse_media_of_a_tool_in_the_open(words, fine):
    """TRM-010 allows it, so that RUN-003 does not blame it, and TXT-005 does not expect the answers that follow."""
    drawn = ToolRun("draw", {}, Image(b"<svg/>", "image/svg+xml"))
    refused = [Reply(error=ValueError(words), complete=False)]
    run = replace(two_tools(), tool_runs=[drawn], replies=refused)
    for id in ("RUN-003", "TXT-005"):
        assert bool(verdict(book.rules[id], run).violations) is (not fine and id == "RUN-003")
    assert bool(verdict(book.rules["TRM-010"], run).checked) is fine


def test_a_restored_conversation_without_a_request_is_not_judged():
    run = replace(two_tools(), reloaded=True, exchanges=[])

    assert not verdict(book.rules["HIS-003"], run).violations


def test_an_error_may_have_its_status_in_the_cause_of_its_cause():
    """haystack's generator for Gemini wraps the SDK's error twice in a stream."""
    run = BREAKS["ERR-005"][1](None)
    told = RuntimeError("Something went wrong upstream.")
    told.status_code = 529
    words = str(next(e.response for e in reversed(run.exchanges) if e.response).body)
    for _ in range(2):
        outer = RuntimeError(words)
        outer.__cause__ = told
        told = outer

    found = verdict(book.rules["ERR-005"], replace(run, replies=[replace(run.replies[0], error=told)]))

    assert not [v for v in found.violations if "the status is" in v.message]


@pytest.mark.parametrize(("told", "fine"), [("Your organization's limit", True), ("Nobody's limit", False)])
def test_an_error_may_have_the_provider_s_words_as_python_writes_them(told, fine):
    """Semantic Kernel raises its own error with the SDK's as an argument: an apostrophe has a backslash there."""
    run = BREAKS["ERR-005"][1](None)
    body = json.dumps({"error": {"message": "Your organization's limit", "type": "requests"}}).encode()
    inner = RuntimeError(f"Error code: 529 - {{'message': \"{told}\"}}")
    outer = RuntimeError("the service failed", inner)
    outer.status_code = 529
    refused = [replace(run.exchanges[0], response=Response(529, body=body)), *run.exchanges[1:]]
    run = replace(run, exchanges=refused, replies=[Reply(error=outer), *run.replies[1:]])

    assert "\\'" in str(outer)
    assert bool(verdict(book.rules["ERR-005"], run).violations) is not fine


def test_an_error_may_have_the_words_of_its_stream_in_its_cause():
    run = BREAKS["STR-022"][0]()
    raised = RuntimeError("the stream failed")
    raised.__cause__ = run.replies[0].error

    told = replace(run, replies=[replace(run.replies[0], error=raised)])

    assert not verdict(book.rules["STR-022"], told).violations


@pytest.mark.parametrize(
    ("shown", "sent", "fine"), [("Hm.", "Hm.", True), ("", "", True), ("Hm.", "", False)]
)
def test_a_signed_thought_that_was_shown_keeps_its_words(shown, sent, fine):
    told = {"content": [{"type": "thinking", "thinking": shown, "signature": "c2lnbmVkIQ=="}]}
    block = {"type": "thinking", "thinking": sent, "signature": "c2lnbmVkIQ=="}
    run = over_anthropic({"role": "assistant", "content": [block]}, ASKED)
    answered = replace(run.exchanges[0], response=Response(200, body=json.dumps(told).encode()))
    run = replace(run, exchanges=[answered, run.exchanges[1]])
    assert bool(verdict(book.rules["THK-006"], run).violations) is not fine


@pytest.mark.parametrize(("sent", "fine"), [("c2VhbGVk", True), ("aW52ZW50ZWQ=", False)])
def test_redacted_thoughts_are_those_of_the_provider(sent, fine):
    block = {"type": "redacted_thinking", "data": sent}
    run = over_anthropic({"role": "assistant", "content": [block]}, ASKED)
    told = {"content": [{"type": "redacted_thinking", "data": "c2VhbGVk"}]}
    answered = replace(run.exchanges[0], response=Response(200, body=json.dumps(told).encode()))
    run = replace(run, exchanges=[answered, run.exchanges[1]])
    assert bool(verdict(book.rules["THK-006"], run).violations) is not fine


def test_a_thought_without_words_is_no_redacted_one():
    block = {"type": "redacted_thinking", "data": "c2lnbmVkIQ=="}
    run = over_anthropic({"role": "assistant", "content": [block]}, ASKED)
    told = {"content": [{"type": "thinking", "thinking": "", "signature": "c2lnbmVkIQ=="}]}
    answered = replace(run.exchanges[0], response=Response(200, body=json.dumps(told).encode()))
    [found] = verdict(book.rules["THK-006"], replace(run, exchanges=[answered, run.exchanges[1]])).violations
    assert "as a redacted thought" in found.message


SIGNATURES = ("Zmlyc3Q=", "c2Vjb25k")


@pytest.mark.parametrize(("sent", "fine"), [(SIGNATURES, True), (SIGNATURES[::-1], False)])
def test_the_signatures_of_two_answers_stay_in_their_order(sent, fine):
    """An answer of which nothing is sent back stands before them, and a signature of nobody among them."""
    thoughts = [{"type": "thinking", "thinking": "Hm.", "signature": text} for text in SIGNATURES]
    back = [{"type": "thinking", "thinking": "Hm.", "signature": text} for text in (*sent, "bm9ib2R5")]
    run = over_anthropic({"role": "assistant", "content": back}, ASKED)
    answered = [
        replace(run.exchanges[0], response=Response(200, body=json.dumps({"content": content}).encode()))
        for content in ([], *([thought] for thought in thoughts))
    ]
    found = verdict(book.rules["THK-006"], replace(run, exchanges=[*answered, run.exchanges[1]]))
    assert any("in another order" in each.message for each in found.violations) is not fine


@pytest.mark.parametrize("id", ["PAIR-010", "PAR-004"])
def test_an_equal_call_that_failed_first_may_be_told_apart_by_no_rule(id):
    """The runs of equal calls say not which of them failed."""
    runs = [ToolRun(*PARIS[1:], error=KeyError("Paris")), ToolRun(*PARIS[1:], "21C, sunny")]
    again = [calling(PARIS, ("c2", *PARIS[1:])), result("c1", "error: Paris"), result("c2", "21C, sunny")]
    assert not verdict(book.rules[id], replace(last_request(two_tools(), *again), tool_runs=runs)).violations


@pytest.mark.parametrize("marked", [True, False])
def test_only_the_tool_that_failed_is_marked(marked):
    """Two tools may be called with the same arguments."""
    calls = [
        {"type": "tool_use", "id": id, "name": name, "input": PARIS[2]}
        for id, name in (("c1", "get_weather"), ("c2", "get_time"))
    ]
    results = [
        {"type": "tool_result", "tool_use_id": id, "is_error": error}
        for id, error in (("c1", marked), ("c2", False))
    ]
    runs = [ToolRun("get_weather", PARIS[2], error=KeyError("Paris")), ToolRun("get_time", PARIS[2], "9:00")]
    run = over_anthropic({"role": "assistant", "content": calls}, {"role": "user", "content": results})
    assert bool(verdict(book.rules["PAIR-010"], replace(run, tool_runs=runs)).violations) is not marked


@pytest.mark.parametrize("thought", ["", "Hm."])
def test_calls_may_go_back_behind_all_texts_but_no_thought_may_move(thought):
    """Anthropic was seen to refuse a text behind a call, and a thought whose place had changed."""
    calls = [{"type": "tool_use", "id": id, "name": name, "input": args} for id, name, args in (PARIS, OSLO)]
    results = [{"type": "tool_result", "tool_use_id": id} for id in ("c1", "c2")]
    thoughts = [{"type": "thinking", "thinking": thought, "signature": "s"}] * bool(thought)
    texts = [{"type": "text", "text": text} for text in ("Paris. ", "Oslo.")]
    content = [*thoughts, *texts, *calls]
    run = over_anthropic({"role": "assistant", "content": content}, {"role": "user", "content": results})
    paris, oslo = (Call(name, args) for _, name, args in (PARIS, OSLO))
    said = (Say("Paris. "), paris, *[Think(thought)] * bool(thought), Say("Oslo."), oslo)
    response = Response(200, body=json.dumps({"content": texts}).encode())
    run = replace(
        run,
        case=replace(run.case, script=[Answer(said), run.case.script[1]]),
        exchanges=[replace(run.exchanges[0], response=response), run.exchanges[1]],
    )
    assert bool(verdict(book.rules["HIS-006"], run).violations) is bool(thought)


def test_a_blank_text_has_no_place_in_the_order():
    """Anthropic refuses it in a request, so it may be left out between two calls."""
    calls = [{"type": "tool_use", "id": id, "name": name, "input": args} for id, name, args in (PARIS, OSLO)]
    results = [{"type": "tool_result", "tool_use_id": id} for id in ("c1", "c2")]
    content = [{"type": "text", "text": "I look."}, *calls]
    run = over_anthropic({"role": "assistant", "content": content}, {"role": "user", "content": results})
    paris, oslo = (Call(name, args) for _, name, args in (PARIS, OSLO))
    blocks = [{"type": "text", "text": text} for text in ("I look.", "\n\n")]
    response = Response(200, body=json.dumps({"content": blocks}).encode())
    script = [Answer((Say("I look."), paris, Say("\n\n"), oslo)), run.case.script[1]]
    run = replace(
        run,
        case=replace(run.case, script=script),
        exchanges=[replace(run.exchanges[0], response=response), run.exchanges[1]],
    )
    assert not verdict(book.rules["HIS-006"], run).violations


@pytest.mark.parametrize("kind", ["string", "integer"])
def test_a_schema_may_refer_to_another_that_stands_beside_it(kind):
    """A recursive model is one of the definitions itself."""
    inner = {"type": "object", "properties": {"city": {"type": "string"}}}
    schema = {"type": "object", "properties": {"place": inner}}
    definitions = {
        "Trip": {"type": "object", "properties": {"place": {"$ref": "#/$defs/Place"}}},
        "Place": {"type": "object", "properties": {"city": {"type": kind}}},
    }
    sent = {"$ref": "#/$defs/Trip", "$defs": definitions}
    run = shaped("name")
    body = run.exchanges[0].request.body | {"response_format": sent}
    run = replace(
        run,
        case=replace(run.case, steps=[replace(run.case.steps[0], schema=schema)]),
        exchanges=[replace(e, request=replace(e.request, body=body)) for e in run.exchanges],
    )
    assert bool(verdict(book.rules["STO-011"], run).violations) is (kind == "integer")


CALLED = {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": "{}"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}


@pytest.mark.parametrize(
    ("following", "fine"),
    [
        ({"input": [THOUGHT | {"encrypted_content": "gAAB"}, CALLED], "store": False}, True),
        ({"input": [{"type": "item_reference", "id": "rs_1"}, CALLED]}, True),
        ({"input": [{"type": "item_reference", "id": "rs_1"}, CALLED], "store": False}, False),
        ({"input": [CALLED], "previous_response_id": "resp_1"}, True),
        ({"input": [CALLED]}, False),
        ({"input": [user("Thanks!")]}, True),
    ],
)
def test_a_thought_goes_back_as_it_was_in_the_end_or_by_its_id(following, fine):
    """OpenAI seals a streamed thought twice: when it begins and when it is complete."""
    events = [
        {"type": f"response.output_item.{when}", "item": THOUGHT | {"encrypted_content": seal}}
        for when, seal in (("added", "gAAA"), ("done", "gAAB"))
    ]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()
    run = signed("AbcD")
    exchanges = [
        replace(run.exchanges[0], response=Response(200, body=body)),
        replace(
            run.exchanges[1],
            request=replace(run.exchanges[1].request, wire="openai-responses", body=following),
        ),
    ]
    run = replace(run, wire="openai-responses", exchanges=exchanges)
    assert bool(verdict(book.rules["THK-029"], run).violations) is not fine


@pytest.mark.parametrize(
    ("part", "fine"),
    [
        ({"type": "function_call", "name": "look", "parsed": {"detail": "low"}}, True),
        ({"type": "input_image", "image_url": "https://example.com/a.png", "detail": "low"}, False),
        ({"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "low"}}, False),
    ],
)
def test_only_an_image_has_low_detail(part, fine):
    run = last_request(two_tools(), {"role": "user", "content": [part]})
    assert bool(verdict(book.rules["OPT-006"], run).violations) is not fine


@pytest.mark.parametrize(
    ("options", "fine"),
    [
        ({"top_p": 1.0, "presence_penalty": 0, "logprobs": False}, True),
        ({"top_p": 0.9}, False),
        ({"frequency_penalty": 0.5}, False),
        ({"generationConfig": {"responseLogprobs": True}}, False),
    ],
)
def test_nobody_asked_for_another_sampling(options, fine):
    run = two_tools()
    first = run.exchanges[0]
    asked = replace(first, request=replace(first.request, body=first.request.body | options))
    assert (
        bool(verdict(book.rules["OPT-006"], replace(run, exchanges=[asked, *run.exchanges[1:]])).violations)
        is not fine
    )


@pytest.mark.parametrize(("first", "second", "fine"), [("", "{}", True), ("none", "", False)])
def test_results_without_ids_are_those_of_the_calls_in_order(first, second, fine):
    """The tool returned an empty text, and then an empty object."""
    runs = [ToolRun("probe", {"key": "text"}, value=""), ToolRun("probe", {"key": "object"}, value={})]
    calls = [{"functionCall": {"name": each.name, "args": dict(each.arguments)}} for each in runs]
    results = [
        {"role": "user", "parts": [{"functionResponse": {"name": "probe", "response": {"result": text}}}]}
        for text in (first, second)
    ]
    body = {"contents": [{"role": "model", "parts": calls}, *results]}
    [exchange] = two_tools().exchanges[:1]
    asked = replace(exchange, request=replace(exchange.request, wire="gemini", body=body))
    run = replace(two_tools(), wire="gemini", exchanges=[asked], tool_runs=runs)

    judged = verdict(book.rules["PAIR-011"], run)
    assert judged.checked == 2
    assert bool(judged.violations) is not fine


@pytest.mark.parametrize(("complete", "fine"), [(True, True), (False, False)])
def test_a_refusal_is_no_incomplete_answer_without_an_error(complete, fine):
    """An answer that is called whole is the finding of STR-010."""
    run = BREAKS["ERR-005"][0]()
    told = replace(run, replies=[replace(run.replies[0], error=None, complete=complete), *run.replies[1:]])
    assert bool(verdict(book.rules["ERR-005"], told).violations) is not fine


def declaring(parameters, **tool):
    """Returns a run whose tool is declared to OpenAI without its defaults."""
    run = two_tools()
    sent = json.loads(json.dumps(parameters))
    sent["properties"]["unit"].pop("default", None)
    function = {"name": "get_weather", "parameters": sent, **tool}
    body = run.exchanges[0].request.body | {"tools": [{"type": "function", "function": function}]}
    return replace(
        run,
        case=replace(run.case, tools=[replace(run.case.tools[0], parameters=parameters)]),
        exchanges=[replace(each, request=replace(each.request, body=body)) for each in run.exchanges],
    )


@pytest.mark.parametrize("strict", [True, False])
def test_a_strict_tool_has_no_defaults(strict):
    run = declaring(
        {"type": "object", "properties": {"unit": {"type": "string", "default": "C"}}}, strict=strict
    )
    assert bool(verdict(book.rules["SCH-028"], run).violations) is not strict


@pytest.mark.parametrize(
    ("told", "outcome"), [({}, "fail"), ({"strict": None}, "pass"), ({"strict": False}, "pass")]
)
def test_null_says_that_a_tool_is_not_strict(told, outcome):
    """OpenAI answered it with `"strict": false`, and a tool without the field with `"strict": true`."""
    unit = {"type": "object", "properties": {"unit": {"type": "string"}}}
    sent = {"type": "function", "name": "get_weather", "parameters": unit, **told}
    run = declaring(unit)
    request = replace(run.exchanges[0].request, body={"input": "Hi", "tools": [sent]})
    exchanges = [replace(run.exchanges[0], request=request)]
    run = replace(run, wire="openai-responses", provider="openai", exchanges=exchanges)
    assert verdict(book.rules["SCH-029"], run).outcome == outcome


def test_a_schema_that_refers_to_itself_is_looked_at_once():
    node = {"type": "object", "properties": {name: {"$ref": "#/$defs/Node"} for name in "abcd"}}
    unit = {"type": "string", "minLength": 1}
    run = declaring(
        {
            "type": "object",
            "properties": {"unit": unit, "tree": {"$ref": "#/$defs/Node"}},
            "$defs": {"Node": node},
        }
    )
    assert verdict(book.rules["SCH-028"], run).outcome == "pass"


ROOM = {
    "type": "object",
    "description": "Where.",
    "properties": {"floor": {"type": "integer"}},
    "required": ["floor"],
}
BOOKED = {
    "type": "object",
    "properties": {
        "room": {"$ref": "#/$defs/room"},
        "pay": {"anyOf": [{"type": "string", "enum": ["cash", "card"]}, {"type": "integer"}]},
        "day": {"type": ["string", "null"], "enum": ["Sa", "Su", None], "description": "Which."},
    },
    "$defs": {"room": ROOM},
}


@pytest.mark.parametrize(
    ("place", "key", "value"),
    [
        (("$defs", "room"), "description", "x"),
        (("$defs", "room"), "required", []),
        (("$defs", "room", "properties", "floor"), "type", "string"),
        (("properties", "pay", "anyOf", 0), "enum", ["cash"]),
        (("properties", "pay", "anyOf", 0), "enum", [["cash"], {"card": 1}]),
        (("properties", "day"), "type", ["string", "number", "null"]),
        (("properties", "day"), "description", ["Which."]),
    ],
)
def test_schemas_are_compared_behind_references_and_in_alternatives(place, key, value):
    sent = json.loads(json.dumps(BOOKED))
    assert not list(lost_of(BOOKED, sent, sent, "book"))

    part = sent
    for step in place:
        part = part[step]
    part[key] = value

    assert list(lost_of(BOOKED, sent, sent, "book"))


@pytest.mark.parametrize(("sent", "fine"), [({"enum": ["cash"]}, True), ({"enum": [1]}, False), ({}, False)])
def test_a_list_of_values_says_their_type(sent, fine):
    wanted = {"anyOf": [{"type": "string", "enum": ["cash"]}, {"type": "null"}]}
    told = {"anyOf": [sent, {"type": "null"}]}

    lost = [*lost_constraints(Nested(wanted, wanted), Nested(told, told), "pay", CONSTRAINTS)]

    assert lost == ([] if fine else ["pay can no longer be string"])


def test_a_list_of_values_without_null_makes_an_optional_argument_needed():
    wanted = {"type": "object", "properties": {"day": {"type": "string", "enum": ["Sa"]}}}
    sent = {"properties": {"day": {"type": ["string", "null"], "enum": ["Sa", None]}}, "required": ["day"]}
    assert not list(lost_of(wanted, sent, sent, "book"))

    sent["properties"]["day"]["enum"].pop()

    assert list(lost_of(wanted, sent, sent, "book")) == ["book requires day, which may be left out"]


@pytest.mark.parametrize(
    ("body", "fine"),
    [
        ({"contents": [], "parameters": {"type": "STRING"}}, True),
        ({"contents": [], "parametersJsonSchema": {"type": "STRING"}}, False),
        ({"parameters": {"type": ["STRING", "null"]}}, False),
        ({"parameters": {"type": ["string", "null"], "properties": {"type": {"type": "string"}}}}, True),
    ],
)
def test_only_geminis_dialect_has_types_in_capitals(body, fine):
    schema = next(value for key, value in body.items() if key != "contents")
    assert (not list(unknown_words({}, schema, "book", body))) is fine
    assert not list(unknown_words(schema, schema, "book", body))  # the caller's own


@pytest.mark.parametrize(
    ("known", "text", "fine"),
    [("get_weather", "[]", True), ("book", "[]", False), ("book", "Unknown tool", True)],
)
def test_the_result_of_a_tool_that_there_is_not_says_so(known, text, fine):
    run = last_request(two_tools(), calling(PARIS), result("c1", text))
    run = replace(run, case=replace(run.case, tools=[replace(weather, name=known)]), tool_runs=[])
    assert bool(verdict(book.rules["PAIR-032"], run).violations) is not fine


def test_a_request_names_a_model():
    run = replace(two_tools(), model="gpt-4.1")
    unnamed = replace(run.exchanges[0].request, body=run.exchanges[0].request.body | {"model": ""})
    run = replace(run, exchanges=[replace(run.exchanges[0], request=unnamed)])
    assert verdict(book.rules["OPT-002"], run).violations


@pytest.mark.parametrize(("following", "fine"), [("Say\n\nhello.", True), ("Say hello.", False)])
def test_a_question_keeps_its_white_space_in_later_requests(following, fine):
    run = two_tools()
    steps = [replace(run.case.steps[0], parts=[Text("Say\n\nhello.")])]
    asked = [{"messages": [{"role": "user", "content": text}]} for text in ("Say\n\nhello.", following)]
    exchanges = [
        replace(each, request=replace(each.request, body=body))
        for each, body in zip(run.exchanges, asked, strict=True)
    ]
    run = replace(run, case=replace(run.case, steps=steps, system=None), exchanges=exchanges)
    assert bool(verdict(book.rules["UNI-001"], run).violations) is not fine


@pytest.mark.parametrize(("words", "fine"), [('"refusal": "I cannot"', True), ('"refusal": null', False)])
def test_a_refusal_in_its_own_field_may_be_called_filtered(words, fine):
    run = two_tools()
    answer = Response(200, {}, f'{{"choices": [{{"message": {{{words}}}}}]}}'.encode(), ended=True)
    told = replace(
        run,
        exchanges=[replace(each, response=answer) for each in run.exchanges],
        replies=[replace(each, stop="filter") for each in run.replies],
    )
    assert bool(verdict(book.rules["STP-006"], told).violations) is not fine


@pytest.mark.parametrize(("text", "broken"), [("Here again: all is well.", False), ("", True)])
def test_a_client_may_ask_again_for_a_call_that_was_not_written(text, broken):
    case = Case(
        script=[Answer((Call("get_weather", {}, text='{"city": "Pa'),)), Answer((Say("Here again."),))],
        steps=[ask("Weather?", outcome="incomplete")],
    )
    run = Run(case, "gemini", "google", "sync", replies=[Reply(text, stop="stop")])

    assert bool(verdict(book.rules["STP-007"], run).violations) is broken


def test_an_answer_that_no_request_asked_for_was_not_said():
    run = two_tools()
    unasked = replace(run, exchanges=run.exchanges[:1], replies=[replace(run.replies[0], text="")])
    [found] = verdict(book.rules["TXT-005"], unasked).violations

    assert "no request asked for the model's answer" in found.message


@pytest.mark.parametrize(
    ("text", "stop", "fine"), [("I cannot.", "stop", True), ("I can", "filter", False), ("", "filter", False)]
)
def test_a_refusal_arrives_whole(text, stop, fine):
    case = Case(
        script=[Answer((Refuse("I cannot."),))],
        steps=[ask("Tell me.", text="I cannot.", outcome="incomplete")],
    )
    run = Run(case, "openai-chat", "openai", "sync", replies=[Reply(text, stop=stop)])

    assert bool(verdict(book.rules["STP-007"], run).violations) is not fine


@pytest.mark.parametrize(("id", "fine"), [("rs_1", True), ("rs_2", False)])
def test_encrypted_reasoning_keeps_its_id(id, fine):
    item = THOUGHT | {"encrypted_content": "gAAB"}
    answer = Response(200, body=json.dumps({"output": [item]}).encode())
    run = signed("AbcD")
    later = replace(
        run.exchanges[1].request, wire="openai-responses", body={"input": [item | {"id": id}, CALLED]}
    )
    exchanges = [replace(run.exchanges[0], response=answer), replace(run.exchanges[1], request=later)]
    run = replace(run, wire="openai-responses", exchanges=exchanges)

    found = [v.message for v in verdict(book.rules["THK-006"], run).violations]

    assert ("the reasoning of rs_1 goes back as rs_2" in found) is not fine


@pytest.mark.parametrize(("told", "fine"), [("It rained.", True), ("It", False)])
def test_a_citation_goes_back_with_its_words(told, fine):
    cited = {
        "type": "web_search_result_location",
        "url": "https://a.test",
        "title": "A",
        "cited_text": "It rained.",
    }
    said = {"type": "text", "text": "I look.", "citations": [cited]}
    run = over_anthropic(
        {"role": "assistant", "content": [said | {"citations": [cited | {"cited_text": told}]}]}
    )
    answer = {"content": [{"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}, said]}
    response = Response(200, body=json.dumps(answer).encode())
    script = [Answer((Say("I look."),)), run.case.script[1]]
    run = replace(
        run,
        case=replace(run.case, script=script),
        exchanges=[replace(run.exchanges[0], response=response), run.exchanges[1]],
    )

    [found] = verdict(book.rules["HIS-017"], run).violations

    assert ("web search result location 'A'" in found.message) is not fine


@pytest.mark.parametrize(("version", "fine"), [("2023-06-01", False), ("2026-10-21", True)])
def test_a_key_is_a_bearer_since_a_version_of_anthropic(version, fine):
    headers = {"authorization": f"Bearer {CANARY}", "anthropic-version": version}
    run = replace(
        keyed(over_anthropic(), headers=headers), wire="anthropic", provider="anthropic", way="server"
    )

    assert (not verdict(book.rules["AUT-001"], run).violations) == fine


@pytest.mark.parametrize("refused", [["image_in_user"], []])
def test_the_words_beside_an_image_that_a_library_refuses_are_not_looked_for(refused):
    run = two_tools()
    steps = [ask("What is in this image?", RED, text="A square."), *run.case.steps]
    asked = replace(
        run, case=replace(run.case, steps=steps), replies=[Reply(), *run.replies], refused=refused
    )

    assert verdict(book.rules["UNI-001"], asked).outcome == ("pass" if refused else "fail")
