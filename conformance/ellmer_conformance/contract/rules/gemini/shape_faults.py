"""All other shape errors, in the words of protobuf's JSON reader."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ...observed.exchange import Request
from ...shapes import Fault
from .._samples import ADD
from .._shape_faults import FaultKind, Wording, enter, types_of
from ._proto import proto, unknown_field
from ._refusals_and_examples import ASK, IMAGE, TOOLS, answer, body, book, call, model, refused, user

_TYPES = {"string": "TYPE_STRING", "boolean": "TYPE_BOOL", "integer": "TYPE_INT32", "number": "TYPE_FLOAT"}
_GEMINI, _VERTEX = "google.ai.generativelanguage.v1beta", "google.cloud.aiplatform.v1beta1"
#: The messages and enums behind the fields that are most often wrong.
_MESSAGES = {
    "contents": "Content",
    "systemInstruction": "Content",
    "parts": "Part",
    "tools": "Tool",
    "toolConfig": "ToolConfig",
    "functionDeclarations": "FunctionDeclaration",
    "functionCallingConfig": "FunctionCallingConfig",
    "functionCall": "FunctionCall",
    "functionResponse": "FunctionResponse",
    "inlineData": "Blob",
    "fileData": "FileData",
    "generationConfig": "GenerationConfig",
    "thinkingConfig": "ThinkingConfig",
    "thinkingLevel": "ThinkingConfig.ThinkingLevel",
    "safetySettings": "SafetySetting",
    "category": "HarmCategory",
    "threshold": "SafetySetting.HarmBlockThreshold",
    "mode": "FunctionCallingConfig.Mode",
    "type": "Type",
    "parameters": "Schema",
    "responseSchema": "Schema",
    "items": "Schema",
    "mediaResolution": "GenerationConfig.MediaResolution",
    "responseModalities": "GenerationConfig.Modality",
}


def say(fault: Fault, request: Request) -> Mapping[str, str]:
    """Returns the API's line."""
    place, (parent, _, _) = proto(fault.pointer), fault.pointer.rpartition("/")
    if fault.kind is FaultKind.UNKNOWN_FIELD:
        return {"text": unknown_field(fault.key, proto(parent))[1]}
    if fault.kind is FaultKind.WRONG_TYPE and isinstance(fault.value, list):
        name = str(fault.path[-1])
        why = "Proto field is not repeating, cannot start list."
        return {"text": unknown_field(name, proto(parent), why)[1]}
    return {"text": f"Invalid value at '{place}' ({_type(fault, request)}), {json.dumps(fault.value)}"}


def _type(fault: Fault, request: Request) -> str:
    """Returns the accepted type of a field: that of a scalar, or the name of a message or an enum."""
    name = next((str(step) for step in reversed(fault.path) if isinstance(step, str)), "")
    node = fault.expected if fault.kind is FaultKind.WRONG_TYPE else {}
    types = types_of(node) if node else []
    listed = "values" in node.get("string", {}) or not node
    if not listed and "object" not in types:
        return next((_TYPES[each] for each in (*types, "string") if each in _TYPES), "TYPE_STRING")
    package = _VERTEX if request.provider == "vertex" else _GEMINI
    if "others" in node.get("object", ()):
        return "type.googleapis.com/google.protobuf.Struct"
    return f"type.googleapis.com/{package}.{_MESSAGES.get(name) or name[:1].upper() + name[1:]}"


enter(
    book,
    Wording(
        "gemini",
        say,
        dict.fromkeys(FaultKind, refused("{text}")),
        body(
            ASK, model(call()), user(answer(), IMAGE), tools=TOOLS, generationConfig={"topK": 5, "seed": None}
        ),
        {
            FaultKind.UNKNOWN_FIELD: [
                body(ASK, tools=[{"bogus": {}}]),
                body(ASK, toolConfig={"bogus": {}}),
                body(user({"inlineData": {**IMAGE["inlineData"], "bogus": 1}})),
            ],
            FaultKind.WRONG_TYPE: [
                {"model": "models/gemini-2.5-flash", "contents": "x"},
                body(ASK, generationConfig={"maxOutputTokens": "many"}),
                body(ASK, tools=[{"functionDeclarations": [{**ADD, "description": ["x"]}]}]),
            ],
            FaultKind.UNKNOWN_VALUE: [
                body(ASK, toolConfig={"functionCallingConfig": {"mode": "BOGUS"}}, tools=TOOLS),
                body(ASK, safetySettings=[{"category": "BOGUS", "threshold": "BLOCK_NONE"}]),
            ],
        },
        providers={"vertex": "vertex"},
    ),
)
