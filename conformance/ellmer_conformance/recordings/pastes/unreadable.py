"""Says in plain words why a paste holds no request that can be judged, and what to paste in its place."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["of_a_library", "unreadable"]

#: Pastes of another kind: how each is known, and what to do.
_KINDS: dict[re.Pattern[str], str] = {
    re.compile(r"\b(?:Invoke-(?:RestMethod|WebRequest)|irm|iwr)\b"): (
        "The command of PowerShell has its body in a variable. Paste what `$body | ConvertTo-Json -Depth 20` prints."
    ),
    re.compile(
        r"\A(?:data:\s*\{|event:\s*\w)"
    ): "This is the stream of an answer. Paste the request that was sent before it.",
    re.compile(
        r"\Ahttps?://\S+\Z"
    ): "This is only a URL. Paste the request with its body, or the error text.",
    re.compile(
        r"\bopenai\.(?:User|System|Developer|Assistant|Tool)Message\(|\bnew (?:User|System|Assistant|Tool)ChatMessage\("
        r"|\.add(?:User|System|Developer|Assistant)Message\(|\bChatCompletionRequest\w{4,20}Message\b"
    ): (
        "The program makes its messages with functions of an SDK. Paste the JSON that is sent: a debug log of the SDK or a proxy "
        "shows it."
    ),
    re.compile(r"\b(?:generate|stream)(?:Text|Object)\("): (
        "This is a call of the AI SDK, which makes a request of it. Paste the `requestBodyValues` of its error, or the "
        "`request.body` of its result."
    ),
    re.compile(r"\bModelRe(?:quest|sponse)\(parts=\["): (
        "These are messages of pydantic-ai, which are not what is sent. Paste the request from the debug log of the provider's SDK, "
        "such as `OPENAI_LOG=debug` writes."
    ),
    re.compile(r"\A(?!.*\bError\b).*?\b(?:System|Human|AI|Tool)Message\(", re.DOTALL): (
        "These are messages of LangChain, which are not what is sent. Paste the request from the debug log of the "
        "provider's SDK, such as `OPENAI_LOG=debug` writes."
    ),
    re.compile(
        r"(?:messages|contents|input)['\"]?\s*[:=]\s*\[(?s:.{0,100000}?)[\[,}\]]\s*(?:\.\.\.|…)\s*[,\]]"
    ): ("The text leaves out messages, as `...`. Paste all of them: the rules are about their order."),
    re.compile(r"\bgen_ai\.(?:input\.messages|prompt)\b"): (
        "This is a span of OpenTelemetry, which shows less than the request. `conformance lint FILE` judges what it shows."
    ),
    re.compile(r"\Amodel\s*:\s*\S+\n(?:.*\n)*?messages\s*:"): "The request is in YAML. Paste it as JSON.",
    re.compile(
        r"\A[A-Za-z0-9+/\s]{60,}={0,2}\Z"
    ): "The text looks like base64. Decode it, and paste the result.",
}
_ANSWERS = {"choices", "candidates", "output", "stop_reason", "usage", "usageMetadata", "done"}
_ERROR = re.compile(r"\{\s*['\"]?(?:error|message|type|status|code)\b")
_SHORTENED = re.compile(r"\[(?:Array|Object)\]")
_REQUEST = re.compile(r"[\"']?\b(?:messages|contents|input)[\"']?\s*[:=]\s*\[")


_LANGCHAIN = re.compile(
    r"['\"]lc['\"]\s{0,9}:\s{0,9}[12]\b[^{}]{0,200}['\"](?:Human|System|AI|Tool)Message['\"]"
)
_AI_SDK = re.compile(r"['\"]tool-(?:call|result)['\"]\s{0,40},\s{0,40}['\"]?toolCallId\b")


_LANGCHAIN_LOG = re.compile(r"\A\[(?:llm|chain|chat_model|tool)/(?:start|end)\]")
#: The messages of a call are a variable: `messages=history`, or `{ model, messages }`.
_ELSEWHERE = re.compile(
    r"\.(?:create|stream|parse|chat|complete|generate_?[cC]ontent\w*)\(\s*\{?[^{}]{0,400}\b(?:messages|contents|input)\b\s*[:=,})]"
    r"|\b(?:completions|messages|responses|models)\.(?:create|stream|generate_content)\(\s*(?:\*\*)?\w+\s*[,)]"
)
_FAILED = re.compile(r"\bTraceback\b|Error code: \d|Error: |['\"]error['\"]\s*:")


def of_a_library(text: str) -> str:
    """Returns what to paste in place of messages that a library turns into others. It is empty if they may be what is sent.

    Args:
        text: The paste.
    """
    if _LANGCHAIN_LOG.match(text) or _LANGCHAIN.search(text):
        return (
            "These are messages of LangChain, as its log and LangSmith show them, which are not what is sent. Paste the request from the debug "
            "log of the provider's SDK, such as `OPENAI_LOG=debug` writes."
        )
    if not _AI_SDK.search(text) or "requestBodyValues" in text:
        return ""
    return (
        "These are messages of the AI SDK, which are not what is sent. Paste the `requestBodyValues` of its error, or the "
        "`request.body` of its result."
    )


def unreadable(text: str, value: Any) -> str:
    """Returns why the text is no request and no error text. It is empty if the text may be an error text.

    Args:
        text: The paste.
        value: Its value, if it is JSON; else `None`.
    """
    if isinstance(value, dict) and value.keys() & _ANSWERS and "error" not in value:
        return "This is an answer of the API. Paste the request that was sent before it."
    for pattern, advice in _KINDS.items():
        if pattern.search(text):
            return advice
    if value is None and not _FAILED.search(text) and _ELSEWHERE.search(text):
        return (
            "The program has its messages in a variable that the text does not show. Paste the list, too, or what is sent: the SDKs of "
            "OpenAI and Anthropic write it at level DEBUG."
        )
    if value is None and text.startswith(("{", "[")) and not _ERROR.match(text):
        return _not_json(text)
    if value is None and _REQUEST.search(text) and not _SHORTENED.search(text):
        return "The text holds a request that cannot be read. Paste all of it, from its first brace to its last one."
    return ""


def _not_json(text: str) -> str:
    """Returns where a text stops being JSON, and whether a part is missing."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or "Unterminated" in error.msg:
            return "The JSON is cut off: its end is missing. Paste all of it."
        return f"The text is not JSON: {error.msg} in line {error.lineno}, column {error.colno}."
    except RecursionError:
        pass
    return "The JSON is nested too deeply."
