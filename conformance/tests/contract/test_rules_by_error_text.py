"""The rule for an error text is found, whatever names and numbers it contains."""

import json

import pytest
from click.testing import CliRunner

from ellmer_conformance.cli import _group
from ellmer_conformance.cli.explain import _all_books
from ellmer_conformance.contract import rules
from ellmer_conformance.contract.rules_by_error_text import known_texts, matches

TEXTS = {
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: call_99": (
        "openai-chat",
        {"ORD-002", "PAIR-001"},
    ),
    "messages.6: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_9. Each `tool_use` "
    "block must have a corresponding `tool_result` block in the next message.": (
        "anthropic",
        {"PAIR-001", "ORD-001"},
    ),
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn.": ("gemini", {"PAR-003"}),
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_leads_to_its_rules(text):
    wire, expected = TEXTS[text]
    found = {match.rule.id for match in matches(text, [rules.book(wire)])}
    assert expected <= found


def test_an_error_body_is_read():
    text, (wire, expected) = next(iter(TEXTS.items()))
    body = json.dumps({"error": {"message": text, "type": "invalid_request_error", "param": None}})
    assert expected <= {match.rule.id for match in matches(body, [rules.book(wire)])}


def test_other_words_lead_nowhere():
    assert not matches("The printer has no paper.", [rules.book("openai-chat")])


def test_each_refusal_of_a_format_leads_back_to_its_rule():
    book = rules.book("gemini")
    lost = []
    for rule in book.rules.values():
        texts = [text for text in known_texts(book, rule) if len(text.split()) > 5] if rule.refusal else []
        lost += [
            rule.id for text in texts[:1] if rule.id not in {match.rule.id for match in matches(text, [book])}
        ]
    assert not lost


#: Messages of real APIs, some of them shortened as people shorten them in issues, and the rules whose refusals they are.
#: No rule is about the last ones.
REAL = {
    "Function call is missing a thought_signature": "gemini THK-003",
    "Unknown parameter: 'input[4].action.query'.": "openai-responses REQ-101",
    "Unknown parameter: 'input[6].phase'.": "openai-responses REQ-101",
    "Missing required parameter: 'input[79].id'.": "openai-responses REQ-102",
    "Missing required parameter: 'input[6].summary'": "openai-responses REQ-010",
    "The toolUse blocks at messages.2.content contain duplicate Ids: http_request": "bedrock PAIR-010",
    "Unexpected role 'user' after role 'tool'": "mistral ORD-003",
    "Thinking may not be enabled when tool_choice forces tool use.": "anthropic THK-011",
    "all messages must have non-empty content except for the optional final assistant message": "anthropic EMP-004 EMP-009",
    "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'": "openai-chat PAIR-002",
    "tool_use ids were found without tool_result blocks": "anthropic ORD-001 ORD-007 PAIR-001",
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01AL": "anthropic ORD-001 ORD-007 PAIR-001",
    "unexpected `tool_use_id` found in `tool_result` blocks: toolu_01GH": "anthropic PAIR-002",
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn.": "gemini ORD-009",
    "No tool output found for function call call_abc123": "openai-responses PAIR-001",
    "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant": "mistral ORD-011",
    "Not the same number of function calls and responses": "mistral PAIR-001",
    "Unknown name \"additionalProperties\" at 'tools.function_declarations[0].parameters': Cannot find field.": "gemini SCH-004",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.": "openai-chat REQ-015",
    "This model does not support assistant message prefill. The conversation must end with a user message.": "anthropic ORD-013",
    "`max_tokens` must be greater than `thinking.budget_tokens`.": "anthropic THK-014",
    "For 'object' type, 'additionalProperties' must be explicitly set to false": "anthropic SCH-003 STO-009",
    "Too many strict tools (21). The maximum number of strict tools supported is 20.": "anthropic SCH-012",
    "`temperature` and `top_p` cannot both be specified for this model. Please use only one.": "anthropic bedrock REQ-015",
    "A text block must be included when using documents. Add a text block and retry your request.": "bedrock IMG-012",
    "Function calling with a response mime type: 'application/json' is unsupported": "gemini STO-010",
    "Duplicate function declaration found: echo": "gemini SCH-010",
    "data did not match any variant of untagged enum ChatCompletionRequestContent": "openai-chat REQ-007",
    "This model doesn't support tool use.": "bedrock REQ-020 REQ-064",
    "Item 'rs_123' of type 'reasoning' was provided without its required following item.": "openai-responses ORD-008",
    "messages: text content blocks must be non-empty": "anthropic EMP-001",
    "final assistant content cannot end with trailing whitespace": "anthropic ORD-011",
    "Expected `thinking` or `redacted_thinking`, but found `tool_use`": "anthropic THK-009",
    "The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn.": "bedrock PAIR-002",
    'roles must alternate between "user" and "assistant", but found multiple "user" roles in a row': "anthropic ORD-009",
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.": "openai-chat REQ-017",
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified": "* THK-006",
    "Previous response with id 'resp_0f09a275409xxx' not found": "* HIS-015",
    "400 Missing `reasoning_content` field in the assistant message at message index 2": "openai-chat THK-005",
    "The `reasoning_content` in the thinking mode must be passed back": "openai-chat THK-005",
    "unexpected `tool_use_id` found in `advisor_tool_result` blocks: srvtoolu_01JjfQsdhSJkT7": "anthropic PAIR-002 PAIR-016",
    "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024": "anthropic THK-013",
    "function declaration enum only allowed for STRING type": "gemini SCH-015",
    "The toolConfig field must be defined when using toolUse and toolResult content blocks": "bedrock SCH-008",
    "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_bRX9": "bedrock PAIR-001 PAR-002",
    "The model returned the following errors: messages.48: Did not find 1 tool_result block(s) at the beginning of this message. "
    "Messages following tool_use blocks must begin with a matching number of tool_result blocks.": "bedrock PAIR-001",
    "The content field at messages.4.content.0.toolResult cannot be empty when status value is error.": "bedrock EMP-007",
    "API Error: 400 max_tokens: Extra inputs are not permitted": "anthropic REQ-004",
    "Argument not supported on this model: presencePenalty": "openai-chat REQ-064",
    "An empty message was provided. Every message needs at least one non-empty content element.": "openai-chat EMP-001",
    "The encrypted content gAAA...6KFQ could not be verified.": "* THK-006",
    "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels": "anthropic IMG-040",
    "json: cannot unmarshal string into Go struct field ChatRequest.messages of type api.ToolCallFunctionArguments": "ollama PAIR-009",
    "'messages.0' : for 'role:user' the following must be satisfied[('messages.0' : property 'timestamp' is unsupported)]": "openai-chat REQ-101",
    "property 'store' is unsupported, did you mean 'stop'?": "openai-chat REQ-004",
    "Conversation blocks and tool result blocks cannot be provided in the same turn": "bedrock ORD-014",
    "invalid request: message must be at least 1 token long or tool results must be specified.": "cohere REQ-002",
    "Client specified an invalid argument: Argument not supported: include": "",
    "text content blocks must contain non-whitespace text": "anthropic EMP-008",
    "messages.0: user messages must have non-empty content": "anthropic EMP-004",
    "400 messages.23.content.2: Invalid `data` in `redacted_thinking` block": "* THK-006",
    "The image was specified using the image/png media type, but the image appears to be a image/jpeg image": "anthropic bedrock IMG-015",
    "response_format: Extra inputs are not permitted": "anthropic REQ-004",
    "Item with id 'rs_abc' not found. Items are not persisted when store is set to false.": "openai-responses STO-019",
    "Unsupported value: 'reasoning_effort' does not support 'high' with this model. Supported values are: 'medium'.": "openai-chat REQ-031",
    "Unsupported parameter: 'reasoning_effort'. In the Responses API, this parameter has moved to 'reasoning.effort'.": "openai-responses REQ-024",
    "Invalid schema for function 'question': In context=('properties', 'questions', 'items'), 'required' is required to be supplied and to be an array including every key in properties. Missing 'multiple'.": "openai-chat SCH-003",
    "Invalid schema for function 'notion-create-comment': In context=('properties', 'rich_text', 'items'), 'allOf' is not permitted.": "openai-chat SCH-003",
    "The referenced name `#/$defs/OptionalBundleInput` in function_response.response does not match to a display_name in the function_response.parts.": "gemini TRM-017",
    "Unable to submit request because Thought signature is not valid.": "* THK-006",
    "tools[0].function_declarations[0].parameters.required[0]: property is not defined": "gemini SCH-015",
    "The content field at messages.2.content.0.toolResult cannot be empty when status value is error.": "bedrock EMP-007",
    "The format of the value at messages.2.content.0.toolResult.content.0.json is invalid.": "bedrock PAIR-009",
    "Conversation blocks and tool result blocks cannot be provided in the same turn.": "bedrock ORD-014",
    "thinking is enabled but reasoning_content is missing in assistant tool call message at index 79": "openai-chat THK-005",
    "The request body is not valid JSON: unexpected control character in string: line 1 column 2379 (char 2378)": "",
    "Monthly usage limit reached. Resets in 16 days.": "",
    "Your credit balance is too low to access the Anthropic API": "",
    "prompt is too long: 3333404 tokens > 200000 maximum": "",
    "Rate limit reached for gpt-4.1": "",
    "Failed to call a function. Please adjust your prompt.": "",
    "You exceeded your current quota, please check your plan and billing details": "",
}


#: The same as gateways, SDKs and people wrap them, in issues of 2026.
WRAPPED = {
    "Upstream provider OpenAI returned HTTP 400.\nUpstream error:\n{\"message\":\"Invalid 'input[91].id': 'fc_7d85c'. Expected an ID that "
    'begins with \'ctc\'.","type":"invalid_request_error","param":"input[91].id"}': "openai-responses PAIR-006",
    "MiddlewareError: 400 Invalid 'input[2].id': ''. Expected an ID that contains letters, numbers, underscores, or dashes, but this value "
    "contained additional characters.": "openai-responses PAIR-006",
    'Error: Request failed: HTTP 400: {\n "error": {\n   "message": "Unknown parameter: \'reasoning\'.",\n   "type": "invalid_request_error",\n'
    '   "param": "reasoning"}}': "openai-chat openai-responses REQ-004 REQ-101",
    'Bad Request: {"error":{"message":"Corrupted thought signature.","type":"api_error","upstreamStatus":400}}': "* THK-006",
    "Error code: 400 - {'object': 'error', 'message': 'Expected last role User or Tool (or Assistant with prefix True) for serving but got "
    "assistant', 'type': 'invalid_request_error', 'param': None}": "mistral ORD-011",
    '{"message":"Provider returned error","code":400,"metadata":{"raw":"{\\"object\\":\\"error\\",\\"message\\":\\"Unexpected role \'tool\' '
    'after role \'user\'\\"}","provider_name":"Mistral"}}': "mistral ORD-002",
    'litellm.BadRequestError: BedrockException - b\'{"message":"The toolConfig field must be defined when using toolUse and toolResult '
    "content blocks.\"}'": "bedrock SCH-008",
    "An error occurred (ValidationException) when calling the ConverseStream operation: User messages cannot contain tool uses. Please "
    "remove the tool uses and try again": "bedrock THK-021",
    "HTTP 400: [openai/gpt-5-mini] [400]: Unsupported value: 'temperature' does not support 0.16 with this model. Only the default (1) "
    "(reset after 12s)": "openai-chat REQ-017",
    "Provider error: [400] The `reasoning_content` in the thinking mode must be p": "openai-chat THK-005",
    "pydantic_core._pydantic_core.ValidationError: 1 validation error for AIMessage content Input should be a valid string": "",
    "AI_UnsupportedModelVersionError: Unsupported model version v1 for provider and model: AI SDK 5 only supports models of version v2": "",
    "400 INVALID_ARGUMENT. {'error': {'code': 400, 'message': 'Request contains an invalid argument.'}}": "",
}
REAL |= WRAPPED

#: Some of a later collection of 62 texts, from issues of 2026. Four texts that led to other rules are not among them: one of Mistral's, one of
#: vLLM's own validator, one about a repeated output, and one about a temperature beside thinking.
LATER = {
    "CAPIError: 400 Duplicate item found with id fc_toolu_bdrk_01TkS6E7. Remove duplicate items from your input and try again. "
    "(Request ID: F0C9:21F1C)": "openai-responses PAIR-005",
    "Error: 400 messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'": "anthropic PAIR-007",
    '⎿ API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"messages.43.content.2: tool_use ids must '
    'be unique"}}': "anthropic PAIR-005",
    "400: A maximum of 4 blocks with cache_control may be provided. Found 5.": "anthropic REQ-024",
    "status: 400 Bad Request, message: Invalid 'tools[1].function.name': string does not match pattern. Expected a string that "
    "matches the pattern '^[a-zA-Z0-9_-]+$'.": "openai-chat SCH-002",
    "This model doesn't support the toolConfig.toolChoice.any field. Remove toolConfig.toolChoice.any and try again": "bedrock SCH-009",
    "API Error: 400 messages.67: role 'system' must precede an 'assistant' message or end the array": "anthropic SYS-006",
    "OpenAIException - Invalid schema for response_format 'X':\n'additionalProperties' is required to be supplied and to be false.": "openai-chat STO-008",
    "Expected an ID that begins with 'fc'": "openai-responses PAIR-006",
    "AttributeError: 'NoneType' object has no attribute 'content'": "",
    "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)": "",
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}': "",
    "429 You exceeded your current quota, please check your plan and billing details. For more information on this error, read the "
    "docs: https://platform.openai.com/docs/guides/error-codes/api-errors.": "",
    'Traceback (most recent call last):\n  File "app.py", line 3, in <module>\nIndexError: list index out of range': "",
    "upstream connect error or disconnect/reset before headers. reset reason: connection timeout": "",
}
REAL |= LATER


@pytest.fixture(scope="module")
def every_book():
    return list(_all_books())


@pytest.mark.parametrize("text", REAL)
def test_a_real_message_leads_to_one_rule_or_honestly_to_none(text, every_book):
    expected = REAL[text].split()
    first = next(iter(matches(text, every_book)), None)

    assert bool(first) == bool(expected), first
    if first:
        assert first.rule.id in expected
        assert first.book.wire in expected


def test_one_rule_is_explained_and_the_others_are_lines():
    told = CliRunner().invoke(_group, ["explain", "Function call is missing a thought_signature"])

    assert told.exit_code == 0
    assert told.output.startswith("gemini/THK-003  MUST")
    assert told.output.count("Source:") == 1


def test_a_text_that_no_rule_knows_is_said_to_be_unknown_with_the_nearest():
    told = CliRunner().invoke(_group, ["explain", "Failed to call a function. Please adjust your prompt."])

    assert told.exit_code == 2
    assert "No rule knows this text. The nearest is " in told.output


def test_a_wrong_id_is_told_with_the_nearest():
    told = CliRunner().invoke(_group, ["explain", "ORD-0002"])

    assert told.exit_code == 2
    assert "There is no rule ORD-0002 (did you mean 'ORD-002'" in told.output


def test_of_rules_with_one_text_the_one_about_missing_results_is_first():
    told = CliRunner().invoke(_group, ["explain", "tool_use ids were found without tool_result blocks"])
    assert told.output.startswith("anthropic/PAIR-001  ")
    assert "conformance explain anthropic/ORD-001  " in told.output
