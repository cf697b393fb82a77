"""Unusual requests that Gemini's API accepts: no rule may refuse them."""

from dataclasses import replace

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rule import objection
from ellmer_conformance.contract.rules._media import PNG
from ellmer_conformance.contract.rules.gemini import _refusals_and_examples as ge

GEMINI = {
    "one content where a list belongs": {"contents": ge.ASK},
    "snake case": {
        "contents": [{"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": PNG}}]}],
        "system_instruction": {"parts": [{"text": "x"}]},
        "generation_config": {"max_output_tokens": 5},
    },
    "no role": ge.body({"parts": [{"text": "Hi"}]}),
    "a role of old": ge.body(ge.ASK, ge.model(ge.call()), {**ge.user(ge.answer()), "role": "function"}),
    "a tier, labels, and not stored": ge.body(ge.ASK, serviceTier="flex", labels={"team": "a"}, store=False),
    "an empty text": ge.body(ge.user({"text": ""})),
    "an empty schema": ge.body(
        ge.ASK,
        tools=[
            {"functionDeclarations": [{"name": "now", "parameters": {"type": "object", "properties": {}}}]}
        ],
    ),
    "JSON Schema in its place": ge.body(
        ge.ASK,
        tools=[
            {
                "functionDeclarations": [
                    {"name": "now", "parametersJsonSchema": {"type": "object", "additionalProperties": False}}
                ]
            }
        ],
    ),
    "no functions to choose from": ge.body(
        ge.ASK,
        toolConfig={"functionCallingConfig": {"mode": "NONE", "allowedFunctionNames": []}},
        named="gemini-2.5-flash-lite",
    ),
    "a choice without functions for 2.0": ge.body(
        ge.ASK,
        toolConfig={"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": []}},
        named="gemini-2.0-flash",
    ),
    "functions and JSON for 2.0": ge.body(
        ge.ASK,
        tools=ge.TOOLS,
        generationConfig={"responseMimeType": "application/json"},
        named="gemini-2.0-flash",
    ),
    "penalties for 1.5": ge.body(
        ge.ASK, generationConfig={"frequencyPenalty": 0.4}, named="gemini-1.5-flash"
    ),
    "the size of an image": ge.body(
        ge.ASK,
        generationConfig={"imageConfig": {"aspectRatio": "1:1", "imageSize": "1K"}},
        named="gemini-2.5-flash-image",
    ),
    "modalities in small letters": ge.body(
        ge.ASK,
        generationConfig={"responseModalities": ["text", "image"]},
        named="gemini-2.0-flash-preview-image-generation",
    ),
    "one tool where a list belongs": ge.body(ge.ASK, tools={"functionDeclarations": [ge.ADD]}),
    "responses in many contents": ge.body(
        ge.ASK,
        ge.model(ge.call(), ge.call()),
        ge.user(ge.answer()),
        ge.user(ge.answer()),
        ge.user({"text": "And?"}),
    ),
    "media beside a response": ge.body(ge.ASK, ge.model(ge.call()), ge.user(ge.answer(), ge.IMAGE)),
    "media in a response": ge.body(
        ge.ASK,
        ge.model(ge.call(thoughtSignature="x")),
        ge.user(ge.answer(parts=[ge.IMAGE])),
        named="gemini-3-flash-preview",
    ),
    "an unsigned call of 2.5": ge.body(ge.ASK, ge.model(ge.call()), ge.user(ge.answer())),
    "a call of another model": ge.body(
        ge.ASK,
        ge.model(ge.call(thoughtSignature="skip_thought_signature_validator")),
        ge.user(ge.answer()),
        named="gemini-3-pro-preview",
    ),
    "unsigned calls of earlier turns": ge.body(
        ge.ASK,
        ge.model(ge.call()),
        ge.user(ge.answer()),
        ge.model({"text": "5"}),
        ge.ASK,
        named="gemini-3-pro-preview",
    ),
    "code that was run": ge.body(
        ge.ASK,
        ge.model(
            {"executableCode": {"language": "PYTHON", "code": "2+3"}},
            {"codeExecutionResult": {"outcome": "OUTCOME_OK"}},
        ),
        ge.ASK,
    ),
    "a call not answered yet": ge.body(ge.ASK, ge.model(ge.call())),
    "a response to a call in the cache": ge.body(ge.user(ge.answer()), cachedContent="cachedContents/x"),
    "users in a row": ge.body(ge.ASK, ge.ASK),
}


@pytest.mark.parametrize("body", [pytest.param(body, id=f"gemini: {name}") for name, body in GEMINI.items()])
def test_no_rule_objects_to_what_is_accepted(body):
    book = rules.book("gemini", "")
    assert objection(book.judge(book.request(body))) is None


def test_vertex_does_not_merge():
    split = ge.body(ge.ASK, ge.model(ge.call(), ge.call()), ge.user(ge.answer()), ge.user(ge.answer()))
    book = rules.book("gemini", "vertex")
    assert "PAR-003" in [each.rule.id for each in book.judge(book.request(split)) if each.outcome == "fail"]


@pytest.mark.parametrize("version", ["v1", "v1beta"])
def test_both_versions_know_a_system_instruction(version):
    """Google's SDKs ask v1 by default since November 2026."""
    book = rules.book("gemini")
    request = book.request(ge.body(ge.ASK, systemInstruction={"parts": [{"text": "Be brief."}]}))
    url = f"http://127.0.0.1:8765/c/system_prompt/1@google/{version}/models/gemini-3.5-flash:generateContent"

    found = {each.rule.id: each.outcome for each in book.judge(replace(request, url=url))}

    assert found["REQ-004"] == "pass"
