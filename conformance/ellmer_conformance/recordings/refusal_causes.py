"""Classifies why a provider refused a request, by the text and the status of the recorded error.

The text is read before the status. It is independent of our rules, so that it can judge them. A request and its model's name show two causes: its
`shape`, and a `capability` that the model does not have. The rules must catch these. All other causes are elsewhere:
the key, the account, the model's name, the server's memory, the media at a URL, the engine behind a gateway, the
model's output. An unlisted error is `unknown`, and an error without information is `vague`; neither is classified.
"""

from __future__ import annotations

import re

from ..contract.error_texts.error_bodies import ApiError

SHAPE, CAPABILITY, UNKNOWN, VAGUE = "shape", "capability", "unknown", "vague"
VISIBLE = frozenset({SHAPE, CAPABILITY})  # in the request
UNCLASSIFIED = frozenset({UNKNOWN, VAGUE})

_BY_STATUS = {
    401: "credentials",
    402: "account",
    403: "permission",
    408: "timeout",
    409: "conflict",
    429: "limits",
}

# In this order; the first that matches decides. Causes that lie elsewhere come first, as their texts are the
# narrower ones; then what the request shows, first where it sounds like a matter of the model.
_TABLE: list[tuple[str, str]] = [
    (
        "credentials",
        r"api.?key|x-api-key|authenticat|credential|security token|Access denied|unregistered callers",
    ),
    ("account", r"credit balance|billing|Insufficient Balance|depleted your|requires terms acceptance|quota"),
    (
        "permission",
        r"not allowed to sample|not enabled for your organization|organization must be verified|due to Zero Data Retention",
    ),
    ("permission", r"does not have access|not yet available for this|organization has been disabled"),
    (
        "size",
        r"context (length|window|size)|prompt is too long|too many total text bytes|input token|token limit",
    ),
    (
        "size",
        r"too large for model|maximum prompt length|Too many tokens|reduce the length|length limit exceeded",
    ),
    ("size", r"max_tokens: \d+ > |max_tokens is too large"),
    ("size", r"total length of all messages|too long; exceeded|Input is too long|Input Tokens Exceeded"),
    ("size", r"Request too large|Too many images|more than \d+ images"),
    ("size", r"exceeds? (context|the model) limit|image exceeds|dimensions exceed|PDF pages|image parts per"),
    ("size", r"payload size exceeds|Cached content is too small"),
    (
        "output",
        r"Could not finish the message|tool call validation failed|Failed to call a function|hallucinated",
    ),
    (
        "output",
        r"Tool choice is required, but model did not|Failed to generate|failed_generation|No valid response",
    ),
    (
        "moderation",
        r"content management policy|content filtering policy|safety|moderat|violates usage|inappropriate content|DataInspection",
    ),
    (SHAPE, r"^Failed to download file from data:|Image URL is invalid|base64 image_url"),
    (
        "media",
        r"Error while downloading|download (the|multimodal) file|download file|Unable to download|fetch content",
    ),
    (
        "media",
        r"Provided image is not valid|document has no pages|could not be processed|Multimodal data is corrupt",
    ),
    ("server", r"^Failed to create new sequence"),
    (SHAPE, r"^(Invalid or u|U)nsupported file uri|^Failed to load image or audio"),
    ("media", r"Failed to load (image|audio)|unsupported file uri|type you uploaded|Expected a file with"),
    ("media", r"context stuffing|Could not process image|Invalid image data\.$"),
    (
        "media",
        r"source\.base64\.data: The file format is invalid|PDF specified was not valid|robots\.txt|Unable to process input image|Only HTTPS URLs",
    ),
    (
        "state",
        r"Previous response with id|Item with id|encrypted content .*could not|Conversation with id|File .* not found",
    ),
    ("state", r"was provided without its required 'reasoning' item"),
    ("state", r"bound to a different|cannot be modified"),
    (
        "state",
        r"Invalid `(signature|encrypted_content|data)`|(Corrupted )?Thought signature( is not valid|\.$)",
    ),
    ("beta", r"for the `anthropic-beta` header|anthropic-version: header"),
    ("beta", r"container: Input should|Input tag 'file' found"),
    (
        SHAPE,
        r"thinking\.type\.\w+\" is not|^adaptive thinking is not|effort parameter\.$|when thinking is disabled on",
    ),
    (
        SHAPE,
        r"\"any\" are not supported|^role 'system' is not|oneOf, allOf, or anyOf|not found in provided tools",
    ),
    (
        SHAPE,
        r"only one of thinking budget|budget \d+ is invalid|^Thinking level is not|^CachedContent can not be used",
    ),
    (
        SHAPE,
        r"^User messages cannot contain|^Cache point cannot|instruction is not enabled for models/gemma-3",
    ),
    (
        SHAPE,
        r"has moved to|Unknown (parameter|name)|Unrecognized request argument|at the same time",
    ),
    (
        SHAPE,
        r"'(max_tokens|stop|temperature|top_p|reasoning\.effort)' is not supported with this model|does not support '",
    ),
    (
        SHAPE,
        r"'(parallel_tool_calls|\w+_penalty|logit_bias|prediction)' is not supported with this|tools is not supported in",
    ),
    (
        SHAPE,
        r"image_url is only supported by|Only image types are|not represent a valid image|^Encrypted content is not supported with",
    ),
    (
        SHAPE,
        r"is only allowed when '|not found in 'tools'|too short - '|than the m\w+ of \S+ - '|one of: '|consecutive",
    ),
    (
        SHAPE,
        r"property '\w+' is unsupported|response_format type is|successive (user|assistant)|valid range of",
    ),
    (
        SHAPE,
        r"minimum number of|Additional properties are not|supported with the '\S+' model\. Supported|^invalid image input$",
    ),
    (
        SHAPE,
        r"'(system|developer)' with this model|is not supported with the '|logprobs are not supported with reason",
    ),
    (
        SHAPE,
        r"Deep research models|Hosted tool|Function tools with reasoning_effort|requires that either input content",
    ),
    (
        SHAPE,
        r"of type 'json_(schema|object)' is not supported|Web search options not|incompatible request argument",
    ),
    (
        SHAPE,
        r"does not support (output format|citations|effort level|image_url content|assistant message prefill)",
    ),
    (
        SHAPE,
        r"does not support this tool_choice|not support (the parameter `logprobs`|being set to required)",
    ),
    (
        SHAPE,
        r"Unsupported MIME type|unsupported image|temperature value of|Function calling with a response mime",
    ),
    (
        SHAPE,
        r"response format `json_schema`(\.|$)|content must be a string|Content blocks are expected to be either",
    ),
    (SHAPE, r"json schema is required|^`tool calling` is not supported"),
    (
        SHAPE,
        r"type, (property )?'\w+' (is not|values)|Self-referencing|too many (optional )?parameters|too many strict",
    ),
    (
        SHAPE,
        r"'logprobs' (is not supported with|parameter)|supported with web_search|support file content types",
    ),
    (SHAPE, r"(Function calling|JSON mode) is not enabled for|combination of response modalities \(TEXT\)"),
    (SHAPE, r"is not permitted, please reformat|cannot both be specified|is not a valid field"),
    (
        SHAPE,
        r"would pre-fill the `assistant` response|support the (s3Uri|video|status|toolConfig\S*) (field|content)",
    ),
    (SHAPE, r"is deprecated for this model|^Tool use with function calling is unsupported"),
    (SHAPE, r"^This model doesn't support tool use\.$|the following must be satisfied"),
    (
        "model",
        r"does not exist|Model not found|models/\S+ is not found|not found for API version|not_found_error|decommiss",
    ),
    (
        "model",
        r"Publisher Model|Unknown model|Invalid model|deprecated|not a valid model|model ID|model identifier",
    ),
    (
        "model",
        r"supported API model names|^model: \S|unexpected model name|Not supported model|No endpoints found(?! that)",
    ),
    ("model", r"No providers found|Unable to access|Model Not Exist|Specified model not|model \S+ not found"),
    (
        "model",
        r"deployment for this resource|not a chat model|no longer (available|accessible)|end of its life|alpha",
    ),
    ("model", r"support chat completions|with the Responses API|on-demand throughput"),
    ("endpoint", r"Invalid URL|Resource not found|^Not Found|^404|^400 Bad Request"),
    # Errors of the engine behind a gateway. The request does not name the engine.
    (SHAPE, r"field: 'tools|OpenAIJsonSchemaFormat"),
    (CAPABILITY, r"Unexpected item type in content|^model features|xgrammar"),
    ("backend", r"Invalid JSON schema\. #|apply chat template|^Prompt cannot be empty"),
    ("backend", r"conversation roles must alternate|^Template error|^ConnectionError: |^Upstream error from"),
    ("backend", r"Response format 'json_schema' with strict=True|^Unsupported \"response_format\""),
    ("backend", r"Required function  is not present"),
    ("size", r"too complex for compilation|too many states|allowed nesting depth"),
    (SHAPE, r"^Validation: |json\.exception|bool_parsing"),
    (CAPABILITY, r"auto-tool-choice|No endpoints found that support|log probs is not supported"),
    (SHAPE, r"invalid (video|audio|image) format, only"),
    (
        CAPABILITY,
        r"not (support|enabl|compatible|allowed)|n't support|unsupported|only support|multimodal model",
    ),
    (CAPABILITY, r"capability|Invalid Value: 'file'"),
    (CAPABILITY, r"video model type|logprobs|must be one of \(<|is not enabled for"),
    (
        VAGUE,
        r"^Request contains an invalid argument|^Provider returned error|^Param Incorrect$|^Request Error",
    ),
    (VAGUE, r"^Input validation error|^invalid input error"),
    (
        SHAPE,
        r"tool_call|tool_use|tool_result|toolResult|toolUse|function (call|response)|tool (call|output)|role",
    ),
    (SHAPE, r"Missing required parameter|Field required|must be provided|required|is missing|at least one"),
    (
        SHAPE,
        r"Invalid (type|value|schema|'|file data|parameter|JSON|input|request|message|`)|Malformed input",
    ),
    (SHAPE, r"Unsupported (parameter|value)|Extra inputs|extra_forbidden|additional|Duplicate|deserialize"),
    (
        SHAPE,
        r"Input (should|tag|does not match)|should be|must (not )?(be|have|contain|match|include)|cannot (be|end)",
    ),
    (SHAPE, r"range: |may not be enabled|may only be|unknown variant|alternate|non-empty|unexpected"),
    (
        SHAPE,
        r"missing field|is not specified|is not defined|only allowed for|must start with|A maximum of \d",
    ),
    (SHAPE, r"cannot unmarshal|validation errors detected|should have at (most|least)"),
    (SHAPE, r"tools\.\d|messages\.\d|following item|type_error|Validation: |input is invalid|last role"),
]
_COMPILED = [(cause, re.compile(pattern, re.IGNORECASE)) for cause, pattern in _TABLE]
#: Where the general patterns begin. Their words are also in texts about keys and limits.
_GENERAL = next(index for index, (_, pattern) in enumerate(_TABLE) if pattern.startswith("tool_call|"))


def cause_of(error: ApiError) -> str:
    """Returns the cause of a recorded refusal: `shape`, another one, or `unknown`.

    The text decides. The status decides where the text has no cause of the table, or only a general word.
    """
    if error.status >= 500:
        return "server"
    found = next((i for i, (_, pattern) in enumerate(_COMPILED) if pattern.search(error.message)), None)
    by_status = _BY_STATUS.get(error.status)
    if found is None or (by_status and found >= _GENERAL):
        return by_status or ("model" if error.status == 404 else UNKNOWN)
    return _COMPILED[found][0]
