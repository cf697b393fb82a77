"""The table of causes, on refusals that are known from reports: no recording of them is at hand."""

import pytest

from ellmer_conformance.apierror import ApiError
from ellmer_conformance.causes import SHAPE, cause_of

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
