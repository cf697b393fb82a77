"""The table of causes with refusals from reports, which no recording has."""

import pytest

from ellmer_conformance.contract.error_texts.error_bodies import ApiError
from ellmer_conformance.recordings.refusal_causes import SHAPE, cause_of

REPORTED = {
    # https://github.com/zed-industries/zed/issues/53919
    'Invalid JSON payload received. Unknown name "type" at \'tools[0].function_declarations[14].parameters.'
    "properties[3].value': Proto field is not repeating, cannot start list.": SHAPE,
    # https://github.com/agno-agi/agno/issues/3298
    "Invalid value at 'tools[0].function_declarations[1].parameters.properties[1].value.type' "
    '(type.googleapis.com/google.ai.generativelanguage.v1beta.Type), ""': SHAPE,
    # https://github.com/kkrishnan90/gemini-desktop/pull/7
    "* GenerateContentRequest.tools[0].function_declarations[3].parameters.properties[tags].items: "
    "missing field.": SHAPE,
    # https://github.com/iBUHub/AIStudioToAPI/issues/154
    "* GenerateContentRequest.tools[0].function_declarations[1].parameters.required[0]: "
    "property is not defined": SHAPE,
    # https://github.com/musistudio/llms/pull/20
    "* GenerateContentRequest.tools[0].function_declarations[14].parameters.properties[truncateMode].enum: "
    "only allowed for STRING type": SHAPE,
    # https://github.com/langchain-ai/langchain-google/issues/1393
    "* GenerateContentRequest.contents: contents is not specified": SHAPE,
    # https://github.com/googleapis/go-genai/issues/323
    "Tool use with function calling is unsupported": SHAPE,
    # https://github.com/tghamm/Anthropic.SDK/issues/50
    "A maximum of 4 blocks with cache_control may be provided. Found 5.": SHAPE,
    # https://github.com/github/app/issues/2574
    "`temperature` is deprecated for this model.": SHAPE,
    # https://github.com/HIllya51/LunaTranslator/issues/1842
    "Unsupported parameter: 'top_p' is not supported with this model.": SHAPE,
    # https://github.com/immersive-translate/immersive-translate/issues/3529
    "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'none', "
    "'low', 'medium', and 'high'.": SHAPE,
    # https://github.com/handochan/aelix-ai/issues/258
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
    '"output_config.effort" to control thinking behavior.': SHAPE,
    # https://github.com/docker/docker-agent/issues/3362
    "adaptive thinking is not supported on this model": SHAPE,
    # https://github.com/Oaklight/llm-rosetta/pull/289
    "This model does not support the effort parameter.": SHAPE,
    # https://github.com/anthropics/claude-code/issues/76689
    "output_config.effort 'xhigh' is not supported when thinking is disabled on this model. "
    "Use effort 'high' or below, or enable thinking.": SHAPE,
    # https://github.com/anthropics/claude-code/issues/61412
    "role 'system' is not supported on this model": SHAPE,
    # https://github.com/betmoar/cc-proxy-plugin/issues/67
    "messages.799.content.1.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'": SHAPE,
    # https://github.com/anomalyco/opencode/issues/31687
    "Cache point cannot be inserted after reasoning block.": SHAPE,
    # https://github.com/openclaw/openclaw/issues/6470
    "User messages cannot contain reasoning content. Please remove the reasoning content and try again.": SHAPE,
    # several independent reports each
    'tool_choice: type "tool" and "any" are not supported for this model.': SHAPE,
    "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level": SHAPE,
    "Tool 'web_search' not found in provided tools": SHAPE,
    "You can only set only one of thinking budget and thinking level.": SHAPE,
    "Budget 0 is invalid. This model only works in thinking mode.": SHAPE,
    "The thinking budget 64000 is invalid. Please choose a value between 128 and 32768.": SHAPE,
    "CachedContent can not be used with GenerateContent request setting system_instruction, tools or "
    "tool_config.": SHAPE,
    # what a request does not show: sizes, what a server signed, what a header asks for
    "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 5400000 bytes > 5242880 bytes": "size",
    "A maximum of 100 PDF pages may be provided.": "size",
    "input length and `max_tokens` exceed context limit: 197460 + 21333 > 200000, decrease input length": "size",
    "The maximum tokens you requested exceeds the model limit of 10000.": "size",
    "messages.1.content.0: Invalid `signature` in `thinking` block": "state",
    "messages.0.content.0.document.source.base64.data: The PDF specified was not valid.": "media",
    # recorded of a document that the API fetched from a URL
    "messages.0.content.1.image.source.base64.data: The file format is invalid or unsupported": "media",
    "Unexpected value(s) `x-2026-01-01` for the `anthropic-beta` header.": "beta",
    "Output blocked by content filtering policy": "moderation",
    # https://github.com/VRSEN/agency-swarm/issues/367: what led to the item is known to the server alone
    "Item 'fc_0105' of type 'function_call' was provided without its required 'reasoning' item: 'rs_0105'.": "state",
    "Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/"
    "organization/general and click on Verify Organization.": "permission",
    "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 34307.": "size",
    # https://github.com/suitenumerique/conversations/issues/197: the template of the model a server runs
    "Conversation roles must alternate user/assistant/user/assistant/...": "backend",
    # what rules word, in words of the providers' own
    "A conversation must start with a user message. Try again with a conversation that starts with a user "
    "message.": SHAPE,
    "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string": SHAPE,
    "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet": "size",
    "The model `gpt-3.5-turbo-0613` has been deprecated, learn more here": "model",
}


@pytest.mark.parametrize(("said", "cause"), REPORTED.items(), ids=lambda text: text[:50])
def test_a_reported_refusal_has_its_cause(said, cause):
    assert cause_of(ApiError(400, "invalid_request_error", said)) == cause
