"""Traces for the linter: every form that instrumentations write, and the judgements on them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ellmer_conformance.recordings import opentelemetry_spans
from ellmer_conformance.recordings.lint import lint

CALL = {"type": "tool_call", "id": "call_1", "name": "add", "arguments": {"x": 2}}
RESULT = {"type": "tool_call_response", "id": "call_1", "response": "5"}


def message(role, *parts):
    return {"role": role, "parts": list(parts)}


def text(said):
    return {"type": "text", "content": said}


FINE = [message("user", text("Add.")), message("assistant", CALL), message("tool", RESULT)]
DANGLING = [message("user", text("Add.")), message("assistant", CALL), message("user", text("Well?"))]
KNOWN = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-5.4",
}


def otlp(attributes, events=(), name="spans", **more):
    def value(given):
        return {"stringValue": given if isinstance(given, str) else json.dumps(given)}

    def listed(given):
        return [{"key": key, "value": value(each)} for key, each in given.items()]

    span = {"spanId": "00f067aa0ba902b7", "name": "chat gpt-5.4", "attributes": listed(attributes), **more}
    span["events"] = [{"name": each, "attributes": listed(fields)} for each, fields in events]
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {}, name: [span]}]}]}


def structured(value):
    """Returns OTLP's form of a value."""
    if isinstance(value, list):
        return {"arrayValue": {"values": [structured(each) for each in value]}}
    if isinstance(value, dict):
        pairs = [{"key": key, "value": structured(each)} for key, each in value.items()]
        return {"kvlistValue": {"values": pairs}}
    return {"stringValue": value}


def chat(said):
    """Returns the equivalent messages of Chat Completions."""
    for each in said:
        part = each["parts"][0]
        if part["type"] == "text":
            yield {"role": each["role"], "content": part["content"]}
        elif part["type"] == "tool_call":
            function = {"name": part["name"], "arguments": json.dumps(part["arguments"])}
            call = {"id": part["id"], "type": "function", "function": function}
            yield {"role": "assistant", "tool_calls": [call]}
        else:
            yield {"role": "tool", "id": part["id"], "content": part["response"]}


def fields(said):
    """Returns an attribute for each field."""
    for i, each in enumerate(chat(said)):
        for key, value in each.items():
            if key == "tool_calls":
                call = {"id": value[0]["id"], **value[0]["function"]}
                yield from ((f"gen_ai.prompt.{i}.tool_calls.0.{k}", v) for k, v in call.items())
            else:
                yield f"gen_ai.prompt.{i}.{'tool_call_id' if key == 'id' else key}", value


def events(said):
    return [(f"gen_ai.{each['role']}.message", each) for each in chat(said)]


def in_attributes(said):
    return otlp(KNOWN | {"gen_ai.input.messages": said})


def in_otlps_values(said):
    document = otlp(KNOWN)
    span = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    span["attributes"].append({"key": "gen_ai.input.messages", "value": structured(said)})
    return document


def in_an_event(said):
    details = {"gen_ai.input.messages": said}
    return otlp(KNOWN, [("gen_ai.client.inference.operation.details", details)])


def in_log_records(said):
    records = [
        {"spanId": "00f067aa0ba902b7", "eventName": name, "attributes": [], "body": structured(each)}
        for name, each in events(said)
    ]
    return [otlp(KNOWN), {"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}]


def as_the_sdk_prints_it(said):
    attributes = KNOWN | {"gen_ai.input.messages": json.dumps(said)}
    return {"name": "chat", "context": {"span_id": "0xb7"}, "attributes": attributes, "events": []}


def in_jaeger(said):
    tags = [{"key": key, "type": "string", "value": value} for key, value in KNOWN.items()]
    tags.append({"key": "gen_ai.input.messages", "type": "string", "value": json.dumps(said)})
    return {"data": [{"traceID": "1", "spans": [{"spanID": "b7", "tags": tags, "logs": []}]}]}


FORMS = {
    "attributes": in_attributes,
    "otlp values": in_otlps_values,
    "event": in_an_event,
    "log records": in_log_records,
    "sdk": as_the_sdk_prints_it,
    "jaeger": in_jaeger,
    "event each": lambda said: otlp(KNOWN, events(said)),
    "events in an attribute": lambda said: otlp(
        KNOWN | {"events": [{"event.name": name, **each} for name, each in events(said)]}
    ),
    "prompt": lambda said: otlp(
        KNOWN, [("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps([*chat(said)])})]
    ),
    "prompt fields": lambda said: otlp(KNOWN | dict(fields(said))),
}


@pytest.fixture
def judged(tmp_path):
    def judge(*documents, name="traces.json"):
        path = tmp_path / name
        path.write_text(
            "\n".join(
                json.dumps(document, indent=1 if name.endswith(".json") else None) for document in documents
            )
        )
        return lint([path])

    return judge


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_captured_conversation_is_judged(judged, form):
    fine, dangling = judged(FORMS[form](FINE)), judged(FORMS[form](DANGLING))
    assert fine.wires["gen-ai-span"].judged == 1
    assert [complaint.rule for _, complaint in fine.complaints] == []
    ((_, complaint),) = dangling.complaints
    assert (complaint.rule, complaint.pointer) == ("PAIR-001", "/messages/1/parts/0")
    assert (complaint.provider, complaint.model) == ("openai", "gpt-5.4")
    assert "call_1" in complaint.message


def test_what_is_found_in_a_span_fails_nobody(judged):
    result = judged(in_attributes(DANGLING))
    assert [complaint.outcome for _, complaint in result.complaints] == ["warning"]
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ([message("user", text("Add.")), message("tool", RESULT)], "PAIR-002"),
        ([*FINE[:2], message("user", text("Well?"), RESULT)], "ORD-002"),
        ([*FINE[:2], message("tool", RESULT | {"response": ""})], "EMP-005"),
        ([*FINE[:2], message("tool", RESULT | {"response": "[see below]"})], "TRM-016"),
        ([message("user", {"type": "blob", "modality": "image", "content": ""})], "IMG-004"),
    ],
)
def test_what_can_be_said_of_any_conversation_is_said(judged, said, rule):
    assert [complaint.rule for _, complaint in judged(in_attributes(said)).complaints] == [rule]


def test_spans_one_after_another(judged):
    result = judged(
        as_the_sdk_prints_it(FINE), as_the_sdk_prints_it(DANGLING) | {"context": {"span_id": "2"}}
    )
    assert result.wires["gen-ai-span"].judged == 2
    ((_, complaint),) = result.complaints
    assert complaint.place.startswith("line ")
    lines = judged(as_the_sdk_prints_it(FINE), in_attributes(DANGLING), name="traces.jsonl")
    ((_, complaint),) = lines.complaints
    assert complaint.place == "line 2/resourceSpans/0/scopeSpans/0/spans/0"


def test_a_span_without_messages_is_not_passed_over_in_silence(judged):
    result = judged(otlp(KNOWN))
    assert result.skipped == {"a span without captured messages": 1}


def test_a_result_that_was_not_captured_is_not_called_empty(judged):
    bare = [
        (name, {key: value for key, value in each.items() if key != "content"}) for name, each in events(FINE)
    ]
    assert not list(judged(otlp(KNOWN, bare)).complaints)


VOCABULARY = """
attributes tags events name body spanId context resourceSpans scopeSpans spans key value arrayValue kvlistValue values
gen_ai.input.messages gen_ai.prompt.0.role gen_ai.prompt.0.tool_calls gen_ai.prompt.0.tool_calls.0.id gen_ai.prompt
gen_ai.operation.name gen_ai.user.message gen_ai.tool.message gen_ai.content.prompt gen_ai.system_instructions role
parts type text tool_call tool_call_response blob uri id response content event.name function image_url logs fields
"""
NAMES = st.sampled_from(VOCABULARY.split())
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=6),
    max_leaves=30,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(NAMES, VALUES, max_size=6), st.dictionaries(NAMES, VALUES, max_size=4))
def test_any_json_is_read(tmp_path_factory, attributes, more):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps([{"attributes": attributes, **more}, "gen_ai."]))
    for span in opentelemetry_spans.read(path) or ():
        opentelemetry_spans.BOOK.judge(span.request)


def test_what_nobody_can_nest_is_no_trace(tmp_path):
    path = tmp_path / "deep.json"
    path.write_text('{"gen_ai.x": ' + "[" * 100_000 + "]" * 100_000 + "}")
    with pytest.raises(ValueError, match="nested"):
        opentelemetry_spans.read(path)


def test_other_json_is_no_trace(judged):
    assert judged({"gen_ai.": 1}).skipped == {"not a recording of HTTP": 1}
    assert judged({"x": 1}).exit_code == 2  # nothing was judged


def test_system_instructions_are_a_message_of_their_own(tmp_path):
    path = tmp_path / "traces.json"
    known = KNOWN | {"gen_ai.input.messages": FINE, "gen_ai.system_instructions": [text("Be brief.")]}
    path.write_text(json.dumps(otlp(known)))
    (span,) = opentelemetry_spans.read(path)
    assert span.messages[0] == message("system", text("Be brief."))


@pytest.mark.parametrize("id", opentelemetry_spans.BOOK.rules)
def test_each_rule_catches_its_counterexample_and_no_other(id):
    rule, book = opentelemetry_spans.BOOK.rules[id], opentelemetry_spans.BOOK
    for body in rule.examples:
        assert not [v for verdict in book.judge(book.request(body)) for v in verdict.violations]
    for body in rule.counterexamples:
        broken = {verdict.rule.id for verdict in book.judge(book.request(body)) if verdict.violations}
        assert broken == {id}
    assert rule.counterexamples
    assert rule.level == "SHOULD"
