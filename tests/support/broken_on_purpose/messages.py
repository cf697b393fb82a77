"""Adapters with errors in the conversation: order, pairing, ids, history, text."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import replace
from typing import Any

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Tool

from .base import BrokenAdapter, blocks, is_result


def conversation(body: Json) -> list[Json]:
    """Returns the messages, items or contents of a body."""
    found: list[Json] = body.get("messages") or body.get("input") or body["contents"]
    return found


def without_results(body: Json) -> Json:
    """Returns the body without tool results, and without messages that are then empty."""
    for found in list(blocks(body)):
        found[:] = [block for block in found if not is_result(block)]
    found = conversation(body)
    found[:] = [message for message in found if message.get("content", message.get("parts", 1)) != []]
    return body


class PutsUserFirst(BrokenAdapter):
    """Sends the user's text before the tool results."""

    case, caught_by, on = "result_then_text", ("ORD-002", "ORD-003"), ("openai-chat",)

    def body(self, body: Json) -> Json:
        last = body["messages"][-2:]
        body["messages"][-2:] = last[::-1] if is_result(last[0]) else last
        return body


class PutsTextFirst(BrokenAdapter):
    """Puts text before the tool results of the same message."""

    case, caught_by, on = "result_then_text", ("ORD-001",), ("anthropic",)

    def body(self, body: Json) -> Json:
        body["messages"][-1]["content"].sort(key=is_result)
        return body


class AnswersTheFirst(BrokenAdapter):
    """Sends a result only for the first of several calls."""

    case, caught_by = "two_parallel_tools", ("PAR-001",)

    def body(self, body: Json) -> Json:
        seen = 0
        for found in list(blocks(body)):
            for block in list(found):
                seen += is_result(block)
                if is_result(block) and seen > 1:
                    found.remove(block)
        return body


class LeavesCallsOpen(AnswersTheFirst):
    """Sends a result only for the first of several calls, which the provider refuses."""

    caught_by, on = ("PAIR-001",), ("openai-chat", "openai-responses", "anthropic")


class CountsResponsesWrong(AnswersTheFirst):
    """Sends a result only for the first of several calls, which Gemini refuses."""

    caught_by, on = ("PAR-003",), ("gemini",)


class AnswersTwice(BrokenAdapter):
    """Sends a result twice."""

    case, caught_by, on = "one_tool", ("PAIR-013",), ("openai-chat", "anthropic")

    def body(self, body: Json) -> Json:
        for found in list(blocks(body)):
            found[:] = [b for each in found for b in ([each, each] if is_result(each) else [each])]
        return body


class ForgetsTheCall(BrokenAdapter):
    """Sends a result without the call that it answers."""

    case, caught_by = "one_tool", ("PAIR-002",)
    also = (
        "ERR-002",
    )  # the refused answers had attachments, and the request without these is the same once they are gone

    def body(self, body: Json) -> Json:
        found = conversation(body)
        found[:] = [m for m in found if m.get("role") not in {"assistant", "model"}]
        found[:] = [m for m in found if m.get("type") != "function_call"]
        return body


class DropsFailures(BrokenAdapter):
    """Sends no result for a failed tool."""

    case, caught_by = "tool_error", ("PAR-001",)

    def body(self, body: Json) -> Json:
        for found in list(blocks(body)):
            found[:] = [b for b in found if not (is_result(b) and "failed" in json.dumps(b))]
        return body


class ForgetsDanglingCalls(BrokenAdapter):
    """Sends a call without a result unchanged."""

    case, caught_by = "dangling_call", ("PAIR-003",)

    def body(self, body: Json) -> Json:
        return without_results(body)


class ReusesIds(BrokenAdapter):
    """Gives every call the id `call_1`."""

    case, caught_by = "sequential_tools", ("PAIR-004",)
    on = ("openai-chat", "openai-responses", "anthropic")

    def body(self, body: Json) -> Json:
        text = re.sub(
            r'"((?:tool_)?(?:call|use)_id|id)": "(call_|toolu_)\w+"', r'"\1": "\2_1"', json.dumps(body)
        )
        found: Json = json.loads(text)
        return found


class SwapsResults(BrokenAdapter):
    """Swaps the results of two calls."""

    case, caught_by = "two_parallel_tools", ("PAR-004",)

    def body(self, body: Json) -> Json:
        text = json.dumps(body).replace("21C, sunny", "{}").replace("9C, rain", "21C, sunny")
        found: Json = json.loads(text.replace("{}", "9C, rain") if "{}9" not in text else text)
        return found


class CallsByTheWrongName(BrokenAdapter):
    """Sends a function response under another name."""

    case, caught_by, on = "one_tool", ("PAIR-008",), ("gemini",)

    def body(self, body: Json) -> Json:
        for found in blocks(body):
            for block in filter(is_result, found):
                block["functionResponse"]["name"] = "call_1"
        return body


class StringifiesArguments(BrokenAdapter):
    """Sends arguments as JSON text where an object is required, and the other way round."""

    case, caught_by, on = "one_tool", ("PAIR-009",), ("openai-chat", "anthropic", "gemini")
    also = ("REQ-103",)

    def body(self, body: Json) -> Json:
        return dict(_turned(body))


def _turned(value: Any) -> Any:
    if isinstance(value, list):
        return [_turned(item) for item in value]
    if not isinstance(value, dict):
        return value
    turned = {key: _turned(item) for key, item in value.items()}
    for key in {"arguments", "args", "input"} & set(turned):
        if "name" in turned:
            each = turned[key]
            turned[key] = json.loads(each) if isinstance(each, str) else json.dumps(each)
    return turned


class LosesHistory(BrokenAdapter):
    """Sends only the last turn."""

    case, caught_by = "plain_text", ("HIS-002",)

    def body(self, body: Json) -> Json:
        conversation(body)[:-1] = []
        return body


class NormalisesUnicode(BrokenAdapter):
    """Normalizes all text to NFC."""

    case, caught_by, also = "unicode_throughout", ("UNI-001",), ("HIS-009",)

    def body(self, body: Json) -> Json:
        found: Json = json.loads(unicodedata.normalize("NFC", json.dumps(body, ensure_ascii=False)))
        return found


class SendsEmptyBlocks(BrokenAdapter):
    """Adds an empty text block."""

    case, caught_by, on = "plain_text", ("EMP-001",), ("anthropic",)
    also = ("ERR-002", "UNI-001", "REQ-106")

    def body(self, body: Json) -> Json:
        body["messages"][-1]["content"] = [{"type": "text", "text": "Hi"}, {"type": "text", "text": ""}]
        return body


class SaysSystemAsUser(BrokenAdapter):
    """Sends the system prompt as a user message."""

    case, caught_by, also = "system_prompt", ("SYS-001",), ("UNI-001", "HIS-009")

    def body(self, body: Json) -> Json:
        told = (
            body.pop("system", None) or body.pop("systemInstruction", None) or body.pop("instructions", None)
        )
        return body if told else json.loads(json.dumps(body).replace('"role": "system"', '"role": "user"'))


class SaysSystemTwice(BrokenAdapter):
    """Sends the system prompt twice."""

    case, caught_by = "system_prompt", ("SYS-003",)

    def body(self, body: Json) -> Json:
        told = "You are terse. Answer in one word."
        found: Json = json.loads(json.dumps(body).replace(told, f"{told} {told}"))
        return found


class TakesNothingForNone(BrokenAdapter):
    """Sends an empty text for the results 0, `False` and `[]`."""

    case, caught_by = "empty_results", ("PAIR-011",)

    def tool(self, tool: Tool) -> Tool:
        return replace(tool, run=lambda **arguments: tool.run(**arguments) or "")


class ChangesSignatures(BrokenAdapter):
    """Changes the first characters of signatures."""

    case, caught_by = "thinking_with_tools", ("THK-006",)
    on = ("openai-responses", "anthropic", "gemini")

    def body(self, body: Json) -> Json:
        text = re.sub(
            r'"(signature|thoughtSignature|encrypted_content)": "[^"]{8}',
            r'"\1": "AAAAAAAA',
            json.dumps(body),
        )
        found: Json = json.loads(text)
        return found


class SendsHalves(BrokenAdapter):
    """Sends half of a surrogate pair."""

    case, caught_by = "half_a_character", ("UNI-002",)

    def body(self, body: Json) -> Json:
        found: Json = json.loads(json.dumps(body).replace("torn emoji: \\ufffd", "torn emoji: \\ud83d"))
        return found


class KeepsSystemInMessages(BrokenAdapter):
    """Sends the system prompt as the first message to every provider."""

    case, caught_by, also, on = "system_prompt", ("SYS-006",), ("ERR-002",), ("anthropic",)

    def body(self, body: Json) -> Json:
        system = body.pop("system")
        body["messages"].insert(0, {"role": "system", "content": system})
        return body


class AsksForAnyValue(BrokenAdapter):
    """Does not send the schema of a structured value."""

    case, caught_by = "structured_answer", ("STO-011",)

    def body(self, body: Json) -> Json:
        formats = {"response_format", "text", "output_config", "generationConfig"}
        return {key: value for key, value in body.items() if key not in formats}
