"""The fields of the protobuf messages for the JSON. The API refuses any other field and names it."""

from __future__ import annotations

from collections.abc import Iterator

from ...exchange import Json, Request
from ...readers.gemini import contents, declarations, get, key_of, parts, snake
from ...readers.json_access import words
from ...rule import Finding
from .._samples import ADD
from ._proto import Problem, proto, told, unknown
from ._rulebook import ASK, MUST, REJECT, TOOLS, answer, body, book, model, refused, text, user

SDK = "https://github.com/googleapis/python-genai (types)"
TOP = frozenset(
    words(
        "cached_content contents continuation_token generation_config labels model model_armor_config output_config "
        "safety_settings service_tier store system_instruction tool_config tools"
    )
)
CONFIG = frozenset(
    words(
        "audio_timestamp audio_transcription_config candidate_count enable_affective_dialog enable_enhanced_civic_answers "
        "frequency_penalty image_config logprobs max_output_tokens media_resolution model_config model_selection_config "
        "presence_penalty response_format response_json_schema _response_json_schema response_logprobs "
        "response_mime_type response_modalities response_schema routing_config seed speech_config stop_sequences "
        "temperature thinking_config top_k top_p translation_config"
    )
)
LATER = frozenset({"response_format"})  # fields of generationConfig that were refused before they were known
CONTENT = frozenset(words("parts role"))
PART = frozenset(
    words(
        "audio_metadata audio_transcription code_execution_result document_metadata executable_code file_data "
        "function_call function_response inline_data media_processing media_resolution part_metadata speech_metadata "
        "spreadsheet_metadata text thought thought_signature tool_call tool_response video_metadata"
    )
)
CALL = frozenset(words("args id name partial_args will_continue"))
RESPONSE = frozenset(words("id name parts response scheduling will_continue"))
DECLARATION = frozenset(
    words("behavior description name parameters parameters_json_schema response response_json_schema")
)


@book.rule(
    "REQ-004",
    MUST,
    REJECT,
    source=["recorded refusals of `logProbs` and `response_schema`", SDK],
    refusal=refused("{text}"),
    formerly=[refused("{formerly}")],
    examples=[body(ASK, tools=TOOLS, generationConfig={"maxOutputTokens": 5, "top_k": 5})],
    counterexamples=[
        body(ASK, response_schema={"type": "object"}),
        body(ASK, generationConfig={"response_format": {}}, response_schema={"type": "object"}),
        body(ASK, generationConfig={"logProbs": True}),
        body(user({"type": "text", "text": "Hi"})),
        body({"role": "user", "content": "Hi", "parts": [text("Hi")]}),
        body(ASK, model({"functionCall": {"name": "add", "arguments": {}}}), user(answer())),
        body(ASK, tools=[{"functionDeclarations": [{**ADD, "strict": True}]}]),
    ],
)
def keys_are_known(request: Request) -> Iterator[Finding]:
    """The request has only fields that its protobuf messages define.

    Why: protobuf's JSON accepts only the defined names, in camelCase or snake_case.
    """
    formerly = "\n".join(each.said for each in _unknown(request.body, CONFIG - LATER))
    yield from told(list(_unknown(request.body, CONFIG)), formerly=formerly)


def _unknown(request: Json, config: frozenset[str]) -> Iterator[Problem]:
    """Yields unknown fields in the order of the request."""
    for key, value in request.items():
        match snake(key):
            case "generation_config":
                yield from _strange(f"/{key}", value, config)
            case "contents":
                yield from _said(request)
            case "tools":
                for pointer, declaration in declarations(request):
                    yield from _strange(pointer, declaration, DECLARATION)
            case _:
                yield from _strange("", {key: value}, TOP)


def _said(request: Json) -> Iterator[Problem]:
    for pointer, content in contents(request):
        yield from _strange(pointer, content, CONTENT)
        for place, part in parts(content, pointer):
            yield from _strange(place, part, PART)
            for name, fields in (("functionCall", CALL), ("functionResponse", RESPONSE)):
                yield from _strange(f"{place}/{key_of(part, name)}", get(part, name), fields)


def _strange(pointer: str, message: object, fields: frozenset[str]) -> Iterator[Problem]:
    """Yields a problem for each field that a message does not have."""
    for key in message if isinstance(message, dict) else ():
        if snake(key) not in fields:
            yield Problem(f"{pointer}/{key}", *unknown(key, proto(pointer)))
