"""No rule refuses a parameter of an official SDK as unknown: a new SDK shows missing ones."""

from typing import get_args, get_type_hints

import pytest
from anthropic import types as blocks
from anthropic.types import beta as beta_blocks
from anthropic.types import message_create_params as messages
from anthropic.types.beta import message_create_params as beta_messages
from google.genai import types as gemini
from openai.types.chat import completion_create_params as completions
from openai.types.responses import response_create_params as responses
from typing_extensions import is_typeddict

from ellmer_conformance.contract.rules.anthropic.fields import BLOCKS, MESSAGE, TOOL_FIELDS
from ellmer_conformance.contract.rules.anthropic.fields import KEYS as ANTHROPIC
from ellmer_conformance.contract.rules.gemini.body_structure import (
    CALL,
    CONFIG,
    CONTENT,
    DECLARATION,
    PART,
    RESPONSE,
    TOP,
)
from ellmer_conformance.contract.rules.gemini.tools import SCHEMA
from ellmer_conformance.contract.rules.openai_chat.messages import KEYS as CHAT
from ellmer_conformance.contract.rules.openai_responses.body_and_items import KEYS as RESPONSES

#: The SDK's own affairs, which it does not send, and what it sends under another name (`outputConfig`).
OF_THE_SDK = {
    "automatic_continuation",
    "automatic_function_calling",
    "generation_output_config",
    "http_options",
    "should_return_http_response",
}


@pytest.mark.parametrize(
    ("parameters", "known"),
    [
        (completions.CompletionCreateParamsBase, CHAT),
        (responses.ResponseCreateParamsBase, RESPONSES),
        (messages.MessageCreateParamsBase, ANTHROPIC),
        (beta_messages.MessageCreateParamsBase, ANTHROPIC),
    ],
    ids=["chat", "responses", "messages", "beta messages"],
)
def test_every_parameter_is_known(parameters, known):
    assert len(parameters.__annotations__) > 10
    assert set(parameters.__annotations__) - known == set()


@pytest.mark.parametrize(
    ("model", "known"),
    [
        (gemini.GenerateContentConfig, TOP | CONFIG | OF_THE_SDK),
        (gemini.GenerationConfig, CONFIG),
        (gemini.Content, CONTENT),
        (gemini.Part, PART),
        (gemini.FunctionCall, CALL),
        (gemini.FunctionResponse, RESPONSE),
        (gemini.FunctionDeclaration, DECLARATION),
        # Known to Vertex AI alone; the Gemini API was recorded to refuse it.
        (gemini.Schema, SCHEMA | {"additional_properties"}),
    ],
    ids=["request", "generationConfig", "content", "part", "call", "response", "declaration", "schema"],
)
def test_every_field_of_gemini_is_known(model, known):
    assert set(model.model_fields) - known == set()


@pytest.mark.parametrize("union", [blocks.ContentBlockParam, beta_blocks.BetaContentBlockParam])
def test_every_field_of_claudes_blocks_is_known(union):
    hints = [get_type_hints(each) for each in get_args(union) if is_typeddict(each)]
    found = {get_args(each["type"])[0]: {*each} for each in hints}
    assert {*BLOCKS} <= {*found}
    assert {kind: found[kind] - known for kind, known in BLOCKS.items()} == {kind: set() for kind in BLOCKS}


def test_every_field_of_claudes_messages_is_known():
    kinds = {
        each for of in (blocks.MessageParam, beta_blocks.BetaMessageParam) for each in get_args(of) or (of,)
    }
    assert {key for kind in kinds for key in kind.__annotations__} == MESSAGE


def test_every_field_of_claudes_tools_is_known():
    assert {*blocks.ToolParam.__annotations__, *beta_blocks.BetaToolParam.__annotations__} == TOOL_FIELDS
