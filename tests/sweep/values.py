"""The values of the sweep: parameters, contents, results, schemas and histories, by name; the usual one first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ellmer_core as ec
from ellmer_conformance.server.issued.signatures import encoded, sign
from ellmer_core import AssistantPartialTurn, AssistantTurn, ContentText, ContentToolRequest, UserTurn
from ellmer_core.schemas.type_functions import arguments_of

__all__ = ["CONTENTS", "HISTORIES", "PARAMS", "RESULTS", "SCHEMAS"]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
GIF = "R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs="

PARAMS: Mapping[str, Mapping[str, Any]] = {
    "none": {},
    "temperature": {"temperature": 0.2},
    "temperature 2": {"temperature": 2},
    "top_p": {"top_p": 0.5},
    "temperature and top_p": {"temperature": 0.2, "top_p": 0.5},
    "top_k": {"top_k": 5},
    "penalties": {"frequency_penalty": 0.5, "presence_penalty": 0.5},
    "seed": {"seed": 7},
    "max_tokens": {"max_tokens": 100},
    "max_tokens 1": {"max_tokens": 1},
    "max_tokens 500000": {"max_tokens": 500_000},
    "log_probs": {"log_probs": True},
    "stop_sequences": {"stop_sequences": ["END"]},
    **{
        f"effort {word}": {"reasoning_effort": word}
        for word in ("none", "minimal", "low", "high", "xhigh", "max")
    },
    **{f"budget {tokens}": {"reasoning_tokens": tokens} for tokens in (0, 100, 2000, 100_000)},
    "budget and limit": {"reasoning_tokens": 8000, "max_tokens": 4000},
    **{
        f"thinking {level}": {"thinking": level}
        for level in ("off", "low", "medium", "high", "max", 500, 10_000)
    },
    "thinking and temperature": {"thinking": "high", "temperature": 0.2, "top_p": 0.5, "top_k": 5},
    "everything": {
        "temperature": 0.2,
        "top_p": 0.5,
        "top_k": 5,
        "seed": 1,
        "frequency_penalty": 0.1,
        "presence_penalty": 0.1,
        "max_tokens": 2000,
        "log_probs": True,
        "stop_sequences": ["END"],
    },
    "tool_choice auto": {"tool_choice": "auto"},
    "tool_choice required": {"tool_choice": "required"},
    "tool_choice required and thinking": {"tool_choice": "required", "thinking": "low"},
}

CONTENTS: Mapping[str, Any] = {
    "text": "Hi",
    "unicode": "Grüße, 你好 \U0001f600",
    "image": ec.ContentImageInline("image/png", PNG),
    "gif": ec.ContentImageInline("image/gif", GIF),
    "svg": ec.ContentImageInline("image/svg+xml", "PHN2Zy8+"),
    "bmp": ec.ContentImageInline("image/bmp", "Qk0="),
    "remote image": ec.ContentImageRemote("https://example.com/a.png", "auto"),
    "pdf": ec.ContentPDF("application/pdf", "JVBERi0xLjQ=", "a b.pdf"),
    "json": ec.ContentJson({"a": [1, None]}),
    "uploaded": ec.ContentUploaded("file-1", "image/png", "openai-chat"),
    "image alone": None,
}

RESULTS: Mapping[str, Any] = {
    "text": "5",
    "none": None,
    "empty": "",
    "list": [1, "a", None],
    "image": CONTENTS["image"],
    "gif": CONTENTS["gif"],
    "svg": CONTENTS["svg"],
    "remote image": CONTENTS["remote image"],
    "pdf": CONTENTS["pdf"],
    "mixed": ["a", CONTENTS["image"], {"n": 1}, CONTENTS["pdf"]],
    "dictionary": {"caption": "a", "image": CONTENTS["image"]},
    "error": ValueError("it failed"),
    "found": [{"title": "a", "doc": CONTENTS["pdf"]}, {"plots": [CONTENTS["image"], {"x": CONTENTS["svg"]}]}],
    "notes": ec.ContentFile("text/markdown", "SGk=", "notes.md", "Hi"),
    "sound": {"said": ec.ContentFile("audio/wav", "UklGRgAAAABXQVZF", "a.wav")},
    "texts": {"deep": [ec.ContentText("a"), ec.ContentJson({"n": 1})]},
    "not base64": [ec.ContentImageInline("image/png", "no base64!")],
    "no bytes": {
        "image": ec.ContentImageInline("image/png", ""),
        "pdf": ec.ContentPDF("application/pdf", PNG),
    },
}


def nothing() -> str:
    """Does nothing."""
    return ""


def plain(a: int, b: str = "x") -> str:
    """Takes two."""
    return f"{a}{b}"


def nested(
    rows: list[dict[str, int]], when: str | None = None, mode: float | bool = 1, limit: int | None = 10
) -> str:
    """Takes rows."""
    return f"{rows}{when}{mode}{limit}"


TREE = {
    "type": "object",
    "properties": {"node": {"$ref": "#/$defs/node"}},
    "required": ["node"],
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 9},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["name"],
        }
    },
}


def recursive() -> ec.ToolDef:
    """Returns a tool whose schema refers to itself."""
    return ec.ToolDef(lambda **_: "", "recursive", "Takes a tree.", arguments_of(TREE))


SCHEMAS: Mapping[str, Any] = {
    "no tools": [],
    "no arguments": [nothing],
    "plain": [plain],
    "nested": [nested],
    "recursive": [recursive],
    "several": [nothing, plain, nested],
}

CALL = ContentToolRequest("call_1", "plain", {"a": 1}, raw='{"a": 1}')
ASKED = UserTurn(["What is it?"])
SIGNED = {"type": "thinking", "thinking": "hm", "signature": encoded(sign("hm"))}
FOREIGN = {"anthropic": {"block": SIGNED, "issuer": "anthropic"}}


def _answered(value: object, *more: object) -> list[ec.Turn]:
    error = value if isinstance(value, Exception) else None
    result = ec.ContentToolResult(None if error else value, error=error, request=CALL)
    return [ASKED, AssistantTurn([CALL]), UserTurn([result, *more]), AssistantTurn(["Done."])]


def _results() -> dict[str, list[ec.Turn]]:
    return {f"result {name}": _answered(value) for name, value in RESULTS.items()}


HISTORIES: Mapping[str, list[ec.Turn]] = {
    "none": [],
    "said": [ASKED, AssistantTurn(["It is that."])],
    "assistant first": [AssistantTurn(["Hello."])],
    "empty answer": [ASKED, AssistantTurn([])],
    "blank answer": [ASKED, AssistantTurn([" \n"])],
    "two of the user": [ASKED, UserTurn(["Well?"]), AssistantTurn(["That."]), UserTurn(["Yes?"])],
    "two of the model": [ASKED, AssistantTurn(["It"]), AssistantTurn(["is."])],
    "media": [
        UserTurn(["Look:", *(value for value in CONTENTS.values() if isinstance(value, ec.Content))]),
        AssistantTurn(["I see."]),
    ],
    **_results(),
    "result and words": _answered("5", ContentText("and now?")),
    "two calls": [
        ASKED,
        AssistantTurn([CALL, ContentToolRequest("call_2", "plain", {"a": 2})]),
        UserTurn(
            [
                ec.ContentToolResult("2", request=ContentToolRequest("call_2", "plain", {"a": 2})),
                ec.ContentToolResult("1", request=CALL),
            ]
        ),
        AssistantTurn(["Done."]),
    ],
    "open call": [ASKED, AssistantTurn([CALL])],
    "unanswered call": [ASKED, AssistantTurn([CALL]), UserTurn(["Never mind."]), AssistantTurn(["Fine."])],
    "long id": [
        ASKED,
        AssistantTurn([long := ContentToolRequest("toolu/" + "x" * 90, "plain", {"a": 1})]),
        UserTurn([ec.ContentToolResult("5", request=long)]),
        AssistantTurn(["Done."]),
    ],
    "malformed call": [
        ASKED,
        AssistantTurn([bad := ContentToolRequest("call_1", "plain", {}, raw='{"a": ', problem="not JSON")]),
        UserTurn([ec.ContentToolResult(error="The call was not run.", request=bad)]),
        AssistantTurn(["Sorry."]),
    ],
    "cut": [ASKED, AssistantPartialTurn(["It is", ec.ContentThinking("hm")], reason="timeout")],
    "foreign thinking": [
        ASKED,
        AssistantTurn([ec.ContentThinking("hm", FOREIGN), ContentText("It is that.")]),
    ],
    "foreign thinking and a call": [
        ASKED,
        AssistantTurn([ec.ContentThinking("hm", FOREIGN), CALL]),
        UserTurn([ec.ContentToolResult("5", request=CALL)]),
        AssistantTurn(["Done."]),
    ],
    "thinking alone": [ASKED, AssistantTurn([ec.ContentThinking("hm", FOREIGN)])],
    "image of the model": [ASKED, AssistantTurn([CONTENTS["image"]])],
    "prompt": [ec.SystemTurn("Be brief."), ASKED, AssistantTurn(["That."])],
}
