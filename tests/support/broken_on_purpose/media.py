"""Adapters that lose, reorder or misplace images and audio, or send them as text."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace

from ellmer_conformance.adapters import Capabilities
from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.cases._media_and_tools import RED

from .base import PICTURED, BrokenAdapter, blocks, is_media

_PREFIX = "data:image/png;base64,"


def without_media(body: Json) -> Json:
    """Returns the body without its media."""
    for found in blocks(body):
        found[:] = [block for block in found if not is_media(block)]
    return body


class DropsImages(BrokenAdapter):
    """Drops media silently."""

    case, caught_by, on = "tool_returns_image", ("TRM-001", "TRM-016"), PICTURED

    def body(self, body: Json) -> Json:
        return without_media(body)


class DropsAudio(BrokenAdapter):
    """Drops the user's audio silently."""

    case, caught_by, on = "audio_from_user", ("IMG-001", "IMG-002"), ("openai-chat", "gemini")
    also = ("REQ-018",)

    def body(self, body: Json) -> Json:
        for found in blocks(body):
            found[:] = [block for block in found if "inlineData" not in block and "input_audio" not in block]
        return body


class DumpsBase64(BrokenAdapter):
    """Sends the JSON of an image as text."""

    case, caught_by, on = "tool_returns_image", ("TRM-002", "TRM-001"), PICTURED

    def body(self, body: Json) -> Json:
        kind = {"openai-responses": {"type": "input_text"}, "gemini": {}, "bedrock": {}}.get(
            self.endpoint.wire, {"type": "text"}
        )
        for found in blocks(body):
            found[:] = [kind | {"text": json.dumps(b)} if is_media(b) else b for b in found]
        return body


class SwapsImages(BrokenAdapter):
    """Sends the second image first."""

    case, caught_by = "tool_returns_two_images", ("TRM-007",)

    def body(self, body: Json) -> Json:
        for found in blocks(body):
            media = [block for block in found if is_media(block)]
            found[:] = [media.pop() if is_media(block) else block for block in found]
        return body


class SendsImagesTwice(BrokenAdapter):
    """Sends media again each time it sends the history."""

    case, caught_by = "tool_returns_image", ("TRM-011",)

    def body(self, body: Json) -> Json:
        for found in blocks(body):
            found[:] = [block for each in found for block in ([each, each] if is_media(each) else [each])]
        return body


class NamesTheWrongCall(BrokenAdapter):
    """Moves an image out of its result and tags it with the id of another call."""

    case, caught_by, on = "parallel_tools_first_returns_image", ("TRM-005",), (*PICTURED, "ollama")

    def body(self, body: Json) -> Json:
        found: Json = json.loads(re.sub(r'(content tool-call-id=\\")\w+', r"\1call_0", json.dumps(body)))
        return found


class PrefixesTwice(BrokenAdapter):
    """Adds a second `data:` prefix to a data URL."""

    case, caught_by, on = "image_from_user", ("IMG-004",), ("openai-chat", "mistral", "bedrock", "ollama")

    def body(self, body: Json) -> Json:
        data = base64.b64encode(RED.data).decode()[:40]
        found: Json = json.loads(
            re.sub(
                rf"(data:image/png;base64,)?{re.escape(data)}", f"{_PREFIX}{_PREFIX}{data}", json.dumps(body)
            )
        )
        return found


class RefusesInSilence(BrokenAdapter):
    """Declares that it does not accept images from tools, and drops them silently."""

    case, caught_by = "tool_returns_image", ("TRM-010",)

    def capabilities(self, wire: str, provider: str) -> Capabilities:
        able = super().capabilities(wire, provider)
        return replace(able, image_in_tool_result="refused")

    def body(self, body: Json) -> Json:
        found: Json = json.loads(json.dumps(without_media(body)).replace("[see below]", "ok"))
        return found


class PrintsBase64(BrokenAdapter):
    """Prints the base64 of an image."""

    case, caught_by = "image_from_user", ("TRM-014",)

    def printed(self, transcript: str) -> str:
        return transcript.replace("[inline image]", json.dumps(self.seen))

    def body(self, body: Json) -> Json:
        self.seen = body
        return body


class DropsUserImages(DropsImages):
    """Drops the user's images silently."""

    case, caught_by = "image_from_user", ("IMG-001", "IMG-002")


class AddsEmptyText(BrokenAdapter):
    """Adds an empty text to a message without text."""

    case, caught_by, also = "image_alone", ("IMG-003",), ("EMP-001", "REQ-106")

    def body(self, body: Json) -> Json:
        kind = {"openai-responses": {"type": "input_text"}, "gemini": {}, "bedrock": {}}.get(
            self.endpoint.wire, {"type": "text"}
        )
        for found in list(blocks(body)):
            if any(is_media(block) for block in found):
                found.insert(0, kind | {"text": ""})
        return body


class ForgetsFileNames(BrokenAdapter):
    """Drops the names of documents."""

    case, caught_by, on = "pdf_from_user", ("TRM-008",), ("openai-chat", "openai-responses")

    def body(self, body: Json) -> Json:
        found: Json = json.loads(re.sub(r'"filename": "[^"]*"', '"filename": ""', json.dumps(body)))
        return found
