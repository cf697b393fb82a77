"""The OpenAPI documents accept what the strict server accepts, and refuse only what it refuses."""

import json
from functools import cache

import httpx
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from ellmer_conformance.cli.rules.facts import command
from ellmer_conformance.contract import rules
from ellmer_conformance.contract.shapes.facts import shape_of
from ellmer_conformance.facts import openapi
from ellmer_conformance.facts.openapi import inferred
from ellmer_conformance.server.strict_server import StrictServer

pytestmark = pytest.mark.slow

#: Those whose validator is known, and one of the others, whose schemas refuse nothing.
PLACES = [*(place for place in openapi.places() if shape_of(*place)), ("openai-chat", "deepseek")]
SHAPED = {"REQ-101", "REQ-102", "REQ-103", "REQ-104", "REQ-105", "REQ-106"}
STRANGE = (None, True, 1.5, 7, -1, "zz", "", [], [0], {}, {"zz": 0})


@cache
def schema_of(wire, provider=""):
    found = openapi.document(wire, provider)
    post = next(iter(found["paths"].values()))["post"]
    schema = post["requestBody"]["content"]["application/json"]["schema"]
    return Draft202012Validator({**schema, "components": found["components"]})


def sent(wire, body):
    """Returns a body of a rule as it is sent: some formats have the model in the address, and Anthropic's version is a header."""
    elsewhere = {
        "bedrock": {"model"},
        "gemini": {"model"},
        "anthropic": {"anthropic_version", "anthropic_beta"},
    }
    return {name: each for name, each in body.items() if name not in elsewhere.get(wire, ())}


def refused(book, body):
    return [each.rule.id for each in book.judge(book.request(body)) if each.rule.refuses and each.violations]


@pytest.mark.parametrize(("wire", "provider"), PLACES)
def test_what_a_rule_accepts_fits(wire, provider):
    book = rules.book(wire, provider)
    bodies = [sent(wire, body) for rule in book.rules.values() for body in rule.examples]
    wrong = [
        body for body in bodies if not schema_of(wire, provider).is_valid(body) and not refused(book, body)
    ]

    assert bodies
    assert wrong == []


@pytest.mark.parametrize("wire", rules.WIRES)
def test_what_the_shape_rules_refuse_does_not_fit(wire):
    book = rules.book(wire)
    held = [rule for id, rule in book.rules.items() if id in SHAPED and rule.refuses]
    bodies = [body for rule in held for body in rule.counterexamples]

    assert bodies
    assert [body for body in bodies if schema_of(wire).is_valid(sent(wire, body))] == []


@pytest.mark.parametrize(("wire", "provider"), PLACES)
def test_a_strange_value_that_does_not_fit_is_refused(wire, provider):
    book, schema = rules.book(wire, provider), schema_of(wire, provider)
    bodies = (sent(wire, body) for rule in book.rules.values() for body in rule.examples)
    base = next(body for body in bodies if schema.is_valid(body) and not refused(book, body))
    root = schema.schema["components"]["schemas"][schema.schema["$ref"].rpartition("/")[2]]
    changed = [{**base, name: value} for name in root["properties"] for value in STRANGE]

    assert [body for body in changed if not schema.is_valid(body) and not refused(book, body)] == []


def test_a_host_without_known_facts_refuses_nothing():
    assert schema_of("openai-chat", "deepseek").is_valid({"bogus": [], "model": 5})


def test_an_error_has_its_examples():
    answers = next(iter(openapi.document("anthropic")["paths"].values()))["post"]["responses"]
    error = answers["400"]["content"]["application/json"]

    assert {"200", "400", "default"} <= answers.keys()
    assert error["schema"]["properties"]["error"]["required"] == ["message", "type"]
    assert "ORD-002" in error["examples"] or "PAIR-001" in error["examples"]
    assert all(
        Draft202012Validator(error["schema"]).is_valid(each["value"]) for each in error["examples"].values()
    )


@pytest.mark.parametrize(
    ("values", "schema"),
    [
        ([], {}),
        ([1, 2], {"type": "integer"}),
        (["a", None], {"type": ["null", "string"]}),
        ([[1], ["a"]], {"type": "array", "items": {"type": ["integer", "string"]}}),
    ],
)
def test_a_schema_is_inferred(values, schema):
    assert inferred(values) == schema


def test_the_command():
    found = CliRunner().invoke(command, ["--openapi", "--wire", "anthropic", "--provider", "vertex"])
    [path] = json.loads(found.output)["paths"]
    wrong = CliRunner().invoke(command, ["--openapi", "--wire", "anthropik"])

    assert path.endswith("/models/{model}:rawPredict")
    assert wrong.exit_code == 2
    assert "--wire anthropic --provider vertex" in wrong.output


def test_a_stream_of_bedrock_has_the_media_type_of_aws():
    """The client of AWS does not read the stream otherwise."""
    [media] = openapi.document("bedrock")["paths"]["/model/{model}/converse-stream"]["post"]["responses"][
        "200"
    ]["content"]
    with StrictServer() as server:
        body = {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
        headers = {"authorization": "Bearer any-key"}
        answer = httpx.post(
            f"{server.origin}/model/amazon.nova-pro-v1:0/converse-stream", json=body, headers=headers
        )

    assert media == "application/vnd.amazon.eventstream"
    assert answer.headers["content-type"] == media
