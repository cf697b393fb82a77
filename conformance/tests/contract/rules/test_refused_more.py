"""Refusals of Claude, Gemini and Bedrock that were reported, word for word: the first objection has the API's text."""

from dataclasses import replace

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.error_texts.error_bodies import read_error
from ellmer_conformance.contract.rule import objection
from ellmer_conformance.contract.rules.anthropic import _refusals_and_examples as an
from ellmer_conformance.contract.rules.bedrock import _refusals_and_examples as be
from ellmer_conformance.contract.rules.gemini import _refusals_and_examples as ge
from ellmer_conformance.recordings.refusal_causes import SHAPE, cause_of

SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "5"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
BUDGET = {"type": "enabled", "budget_tokens": 2000}
MARK = {"cache_control": {"type": "ephemeral"}}
NEEDS_RESULT = "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
UNANSWERED = (
    "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: a. " + NEEDS_RESULT
)
USE = 'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'


def tool(**schema):
    return {"name": "add", "input_schema": schema}


def thinks(**config):
    return {"generationConfig": {"thinkingConfig": config}}


CLAUDE = {
    UNANSWERED: an.body(an.ASK, an.assistant(an.use("a")), an.user("Never mind.")),
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. "
    + NEEDS_RESULT: an.body(an.ASK, an.assistant(an.use("a"))),
    "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block must "
    "have a corresponding `tool_use` block in the previous message.": an.body(an.user(an.result("a"))),
    "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a": (
        an.body(an.ASK, an.assistant(an.use("a")), an.user(an.result("a"), an.result("a")))
    ),
    "messages: text content blocks must be non-empty": an.body(an.user("")),
    "messages.0: user messages must have non-empty content": an.body({"role": "user", "content": ""}),
    "messages.0.content.0.type: Field required": an.body(an.user({"text": "Hi"})),
    "messages.0.name: Extra inputs are not permitted": an.body({**an.ASK, "name": "Ann"}),
    "messages.1.content.0.thinking.signature: Field required": an.body(
        an.ASK, an.assistant({"type": "thinking", "thinking": "5"}, "5"), an.ASK
    ),
    "messages.1.content.0.tool_use.input: Input should be an object": an.body(
        an.ASK, an.assistant({**an.use("a"), "input": "{}"}), an.user(an.result("a"))
    ),
    "messages.1.content.0.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'": an.body(
        an.ASK, an.assistant({**SEARCH, "id": "call_1"}, {**FOUND, "tool_use_id": "call_1"}, "5"), an.ASK
    ),
    "messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1. Each "
    "`web_search_tool_result` block must have a corresponding `server_tool_use` block before it.": an.body(
        an.ASK, an.assistant(FOUND, "5"), an.ASK
    ),
    "messages.0.content.0.image.source.base64: The image was specified using the image/jpeg media type, but the image "
    "appears to be a image/png image": an.body(
        an.user({**an.IMAGE, "source": {**an.IMAGE["source"], "media_type": "image/jpeg"}})
    ),
    "messages.0.content.0.text: cache_control cannot be set for empty text blocks": an.body(
        an.user({**an.text(""), **MARK})
    ),
    "role 'system' is not supported on this model": an.body(
        an.ASK, {"role": "system", "content": "Be brief."}, model="claude-opus-4-7"
    ),
    "system: Input should be a valid array": an.body(an.ASK, system=None),
    "stop_sequences: each stop sequence must contain non-whitespace": an.body(an.ASK, stop_sequences=["\n"]),
    "tools.0.custom.name: Field required": an.body(an.ASK, tools=[{}]),
    "tools.0.custom.strict_mode: Extra inputs are not permitted": an.body(
        an.ASK, tools=[{**an.TOOL, "strict_mode": True}]
    ),
    "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level": an.body(
        an.ASK, tools=[tool(type="object", oneOf=[{}])]
    ),
    "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'": an.body(
        an.ASK, tools=[tool(type="object", properties={"о чём": {}})]
    ),
    "tools: Tool names must be unique.": an.body(an.ASK, tools=[an.TOOL, an.TOOL]),
    f'"thinking.type.enabled" is not supported for this model. {USE}': an.body(
        an.ASK, model="claude-opus-5", max_tokens=4000, thinking=BUDGET
    ),
    f'"thinking.type.disabled" is not supported for this model. {USE}': an.body(
        an.ASK, model="claude-opus-5-5", thinking={"type": "disabled"}
    ),
    "adaptive thinking is not supported on this model": an.body(
        an.ASK, model="claude-haiku-4-5", thinking={"type": "adaptive"}
    ),
    "This model does not support the effort parameter.": an.body(
        an.ASK, model="claude-haiku-4-5", output_config={"effort": "high"}
    ),
    "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.": an.body(
        an.ASK, model="claude-sonnet-4-6", output_config={"effort": "xhigh"}
    ),
    "output_config.effort 'xhigh' is not supported when thinking is disabled on this model. "
    "Use effort 'high' or below, or enable thinking.": an.body(
        an.ASK, model="claude-opus-5", thinking={"type": "disabled"}, output_config={"effort": "xhigh"}
    ),
    'tool_choice: type "tool" and "any" are not supported for this model.': an.body(
        an.ASK, model="claude-fable-5-1", tools=[an.TOOL], tool_choice={"type": "any"}
    ),
    "`temperature` is deprecated for this model.": an.body(an.ASK, model="claude-opus-4-8", temperature=0.3),
    "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled or in adaptive mode": an.body(
        an.ASK, max_tokens=4000, thinking=BUDGET, top_p=0.9
    ),
}
GEMINI = {
    "You can only set only one of thinking budget and thinking level.": ge.body(
        ge.ASK, named="gemini-3-flash-preview", **thinks(thinkingLevel="LOW", thinkingBudget=512)
    ),
    "Budget 0 is invalid. This model only works in thinking mode.": ge.body(
        ge.ASK, named="gemini-2.5-pro", **thinks(thinkingBudget=0)
    ),
    "The thinking budget 64000 is invalid. Please choose a value between 128 and 32768.": ge.body(
        ge.ASK, named="gemini-2.5-pro", **thinks(thinkingBudget=64000)
    ),
    "Thinking level is not supported for this model.": ge.body(ge.ASK, **thinks(thinkingLevel="LOW")),
    "Developer instruction is not enabled for models/gemma-3-27b-it": ge.body(
        ge.ASK, named="gemma-3-27b-it", systemInstruction={"parts": [{"text": "Be brief."}]}
    ),
    "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.\n\n"
    "Proposed fix: move those values to CachedContent from GenerateContent request.": ge.body(
        ge.ASK, cachedContent="cachedContents/x", tools=ge.TOOLS
    ),
    "Invalid JSON payload received. Unknown name \"type\" at 'contents[0].parts[0]': Cannot find field.": ge.body(
        ge.user({"type": "text", "text": "Hi"})
    ),
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn.": (
        ge.body(ge.model(ge.call()), ge.user(ge.answer()))
    ),
}
BEDROCK = {
    "User messages cannot contain reasoning content. Please remove the reasoning content and try again.": be.body(
        be.user(be.THOUGHT, "Summary."), model=be.NOVA_LITE
    ),
    "Cache point cannot be inserted after reasoning block.": be.body(
        be.ASK, be.assistant(be.THOUGHT, {"cachePoint": {"type": "default"}}), be.ASK
    ),
    "The model returned the following errors: `temperature` is deprecated for this model.": be.body(
        be.ASK, inferenceConfig={"temperature": 0.3}, model="us.anthropic.claude-opus-5"
    ),
    "The model returned the following errors: tools.0.custom.input_schema: input_schema does not support oneOf, allOf, "
    "or anyOf at the top level": be.body(
        be.ASK, toolConfig=be.spec(inputSchema={"json": {**be.SCHEMA, "anyOf": [{}]}})
    ),
}
REPORTED = [
    (wire, type, text, body)
    for wire, type, refused in (
        ("anthropic", "invalid_request_error", CLAUDE),
        ("gemini", "INVALID_ARGUMENT", GEMINI),
        ("bedrock", "ValidationException", BEDROCK),
    )
    for text, body in refused.items()
]


@pytest.mark.parametrize(
    ("wire", "type", "text", "body"), REPORTED, ids=[f"{w}: {t[:60]}" for w, _, t, _ in REPORTED]
)
def test_a_reported_request_is_refused_in_the_words_reported(wire, type, text, body):
    book = rules.book(wire)
    found = objection(book.judge(book.request(body)))
    assert found, "no rule objects"
    status, headers, answer = book.refuse(found)
    error = read_error(status, answer, headers)
    assert (error.status, error.type, error.message) == (400, type, text), found.rule.id
    assert cause_of(error) == SHAPE


@pytest.mark.parametrize(("version", "once"), [("v1", True), ("v1beta", False)])
def test_version_1_of_gemini_had_no_json_before_the_sdks_asked_it_by_default(version, once):
    """https://github.com/vicentereig/dspy.rb: the refused request of September 2025 names both fields of its config."""
    url = f"https://generativelanguage.googleapis.com/{version}/models/gemini-2.5-flash:generateContent"
    config = {"response_mime_type": "application/json", "response_schema": {"type": "STRING"}}
    book = rules.book("gemini")
    accepted, refused = (
        book.judge(replace(book.request(ge.body(ge.ASK, generation_config=each)), url=url))
        for each in (config, config | {"no_such_field": 1})
    )
    lines = [
        f"Unknown name \"{name}\" at 'generation_config': Cannot find field."
        for name in (*config, "no_such_field")
    ]
    then = "\n".join(f"Invalid JSON payload received. {line}" for line in lines)
    assert objection(accepted) is None
    [wrong] = [each for each in refused if each.rule.id == "REQ-004"]
    texts = [
        wording.filled(each.facts).message for each in wrong.violations for wording in wrong.rule.formerly
    ]
    assert (then in texts) is once


@pytest.mark.parametrize(
    ("provider", "role", "fine"),
    [("google", "assistant", True), ("google", "system", False), ("vertex", "assistant", False)],
)
def test_gemini_1_5_took_an_assistant_but_not_at_vertex(provider, role, fine):
    book = rules.book("gemini", provider)
    said = {"role": role, "parts": [{"text": "5"}]}
    asked = book.request(ge.body(ge.ASK, said, ge.ASK, model="gemini-1.5-pro-002"))
    assert (objection(book.judge(asked)) is None) is fine


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        ("openai-chat", {"messages": [{"role": "user", "content": "Hi"}]}),
        ("openai-responses", {"input": "Hi"}),
    ],
)
@pytest.mark.parametrize(
    ("path", "fine"), [("/v1/x", False), ("/deployments/d/x", True), ("/responses", True)]
)
def test_the_address_of_a_deployment_may_name_the_model(wire, body, path, fine):
    book = rules.book(wire)
    asked = replace(book.request(body), url=f"http://localhost{path}")
    assert (objection(book.judge(asked)) is None) is fine
