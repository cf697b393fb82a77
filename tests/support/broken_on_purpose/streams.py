"""Adapters that read streams wrongly. Each makes one wrong assumption."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import httpx

from ellmer_conformance.contract.observed.exchange import Json
from ellmer_conformance.scenarios.messages import Reply

from .answer_events import lose_late_reasoning, objects, rewritten
from .base import BrokenAdapter

_CHAT = ("openai-chat",)


class ForgetsBetweenChunks(BrokenAdapter):
    """Searches each chunk for events and drops the unfinished rest."""

    case, caught_by, mode = "chunks_anywhere", ("STR-001",), "stream"
    on = ("openai-chat", "openai-responses", "anthropic")  # whose lines end with LF

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        return [chunk[: chunk.rfind(b"\n\n") + 2] if b"\n\n" in chunk else b"" for chunk in chunks]


class DecodesEachChunk(BrokenAdapter):
    """Decodes each chunk by itself, so that a split character is damaged."""

    case, caught_by, mode = "characters_in_pieces", ("STR-002",), "stream"

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        return [chunk.decode("utf-8", "replace").encode() for chunk in chunks]


class KnowsOneLineEnd(BrokenAdapter):
    """Splits lines only at LF."""

    case, caught_by, mode = "lines_of_any_kind", ("STR-003",), "stream"
    on = ("openai-chat", "openai-responses", "anthropic")  # whose lines end with LF

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        return [chunk.replace(b"\r\n", b"\\r\n").replace(b"\r", b"\\r") for chunk in chunks]


class KnowsOneKindOfLine(BrokenAdapter):
    """Ends the stream at any line that does not start with `data: {`."""

    case, caught_by, mode = "lines_of_any_kind", ("STR-004",), "stream"

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        lines = b"".join(chunks).split(b"\n")
        if any(line[:1] == b":" or line[:3] in {b"id:", b"ret"} for line in lines):
            raise httpx.RemoteProtocolError("unexpected line")
        return chunks


class KnowsAllEvents(BrokenAdapter):
    """Raises an error for an unknown event."""

    case, caught_by, mode = "news", ("STR-006",), "stream"

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        if re.search(rb"brand.?new", b"".join(chunks), re.IGNORECASE):
            raise httpx.RemoteProtocolError("unknown event")
        return chunks


class TakesAnyEndForTheEnd(BrokenAdapter):
    """Takes a stream without its end marker for complete."""

    case, mode = "broken_anywhere", "stream"
    caught_by: ClassVar[tuple[str, ...]] = ("STR-007", "STR-009", "STR-011")

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, error=None, complete=True, stop="stop")


class NeverTimesOut(TakesAnyEndForTheEnd):
    """Takes a stalled stream for complete."""

    caught_by, also, from_cassette = ("ERR-008",), ("STR-007", "STR-009", "STR-011"), True


class GivesArgumentsToTheLast(BrokenAdapter):
    """Adds argument deltas to the last call, whatever their index is."""

    case, caught_by, mode, on = "crosswise_calls", ("STR-012",), "stream", _CHAT

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        found, last = [], 0
        for event in b"".join(chunks).split(b"\n\n"):
            named = re.search(rb'"tool_calls":\[\{"index":(\d+),"id"', event)
            last = int(named[1]) if named else last
            found.append(re.sub(rb'("tool_calls":\[\{"index":)\d+', rb"\g<1>%d" % last, event))
        return [b"\n\n".join(found)]


class TellsCallsByIndex(BrokenAdapter):
    """Joins calls with the same index, whatever their ids are."""

    case, caught_by, mode, on = "crosswise_calls", ("STR-013",), "stream", _CHAT

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        seen: set[bytes] = set()
        found = []
        for event in b"".join(chunks).split(b"\n\n"):
            named = re.search(rb'"tool_calls":\[\{"index":(\d+),"id":"[^"]*",', event)
            if named and named[1] in seen:
                event = re.sub(rb'"id":"call[^"]*",|"name":"[^"]*",', b"", event)  # noqa: PLW2901 - rewritten
            seen |= {named[1]} if named else set()
            found.append(event)
        return [b"\n\n".join(found)]


class NeedsArguments(BrokenAdapter):
    """Raises an error for a call without arguments."""

    case, caught_by, mode, on = "no_arguments", ("STR-014",), "stream", _CHAT

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        if b'"arguments":null' in b"".join(chunks):
            raise httpx.RemoteProtocolError("arguments are no string")
        return chunks


class TakesTheFirstChoice(BrokenAdapter):
    """Raises an error for a chunk without choices."""

    case, caught_by, mode, on = "crosswise_calls", ("STR-015",), "stream", _CHAT

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        for line in b"".join(chunks).splitlines():
            if line.startswith(b"data: {"):
                data = json.loads(line[6:])
                if not data["choices"] and not data.get("usage"):
                    raise httpx.RemoteProtocolError("list index out of range")
        return chunks


class ReadsTheStopFromAnEmptyChunk(BrokenAdapter):
    """Reads a stop reason only where no text stands beside it."""

    case, caught_by, mode, on = "news", ("STR-023",), "stream", _CHAT

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        beside = rb'("delta":\{"(?:content|tool_calls)":[^\n]*"finish_reason":)"\w+"'
        return [re.sub(beside, rb"\1null", b"".join(chunks))]


class ReadsOnlyStrings(BrokenAdapter):
    """Reads the content of an answer only where it is a string."""

    case, caught_by, mode, on = "news", ("STR-025",), "stream", ("mistral",)

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        return [re.sub(rb'"content": ?\[.*?\]', b'"content":""', b"".join(chunks))]


class TakesAPieceWithoutTextForTheEnd(BrokenAdapter):
    """Takes a piece without text for the end of the answer."""

    case, caught_by, mode, on = "silent_pieces", ("STR-028",), "stream", ("anthropic",)

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        if re.search(rb'(\{|"text_delta", ?)"text": ?""\}', b"".join(chunks)):
            raise httpx.RemoteProtocolError("the answer is over")
        return chunks


class HasRoomForALine(BrokenAdapter):
    """Raises an error for a line that is longer than 64 KiB."""

    case, caught_by, mode = "lines_of_any_kind", ("STR-029",), "stream"

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        if any(len(line) > 2**16 for line in b"".join(chunks).splitlines()):
            raise httpx.RemoteProtocolError("token too long")
        return chunks


class NeedsADelta(BrokenAdapter):
    """Raises an error for a chunk without a delta."""

    case, caught_by, mode, on, gently = "crosswise_calls", ("STR-030",), "stream", _CHAT, True

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        if b'"delta":null' in b"".join(chunks):
            raise httpx.RemoteProtocolError("'NoneType' object has no attribute 'content'")
        return chunks


class NeedsThePartsOfCounts(BrokenAdapter):
    """Raises an error where the parts of the token counts are null."""

    case, caught_by, on = "news", ("USG-008",), _CHAT

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        if re.search(rb'"prompt_tokens_details": ?null', b"".join(chunks)):
            raise httpx.RemoteProtocolError("'NoneType' object has no attribute 'cached_tokens'")
        return chunks


class NeedsTheIdsOfItems(BrokenAdapter):
    """Ignores calls whose items have no ids."""

    case, caught_by, mode, on = "news", ("STR-026",), "stream", ("openai-responses",)

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        return [rewritten(b"".join(chunks), _ignore_calls_without_ids)]


def _ignore_calls_without_ids(events: Sequence[Json]) -> None:
    for found in objects(list(events)):
        if found.get("type") == "function_call" and not found.get("id"):
            found["type"] = "ignored"


class KnowsOneItem(BrokenAdapter):
    """Loses reasoning that is complete after the next item has begun."""

    case, caught_by, mode, on = "late_thoughts", ("STR-027",), "stream", ("openai-responses",)

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        return [rewritten(b"".join(chunks), lose_late_reasoning)]


class TakesNullForAnId(BrokenAdapter):
    """Takes the text null in a later piece of a call for its id."""

    case, caught_by, mode, on = "crosswise_calls", ("STR-013",), "stream", ("mistral",)
    nulls = False

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        self.nulls = b'"null"' in b"".join(chunks) or self.nulls
        return chunks

    def body(self, body: Json) -> Json:
        for message in body["messages"] if self.nulls else ():
            for call in message.get("tool_calls") or ():
                call["id"] = "null"
            if message["role"] == "tool":
                message["tool_call_id"] = "null"
        return body


class CountsFromTheEnd(BrokenAdapter):
    """Reads all token counts from the last event."""

    case, caught_by, mode, on = "reasons_and_counts", ("USG-002",), "stream", ("anthropic",)

    def answer(self, chunks: list[bytes]) -> list[bytes]:
        found = json.loads(
            "["
            + ",".join(line[6:].decode() for line in b"".join(chunks).splitlines() if line[:5] == b"data:")
            + "]"
        )
        ends = [event for event in found if event["type"] == "message_delta"]
        if "input_tokens" in ends[0]["usage"]:
            return chunks
        return [re.sub(rb'"input_tokens":\d+', b'"input_tokens":0', b"".join(chunks))]


class AsksForNoCounts(BrokenAdapter):
    """Does not request the token counts of a stream, and estimates them."""

    case, caught_by, mode, on = "plain_text", ("USG-003",), "stream", _CHAT

    def body(self, body: dict[str, object]) -> dict[str, object]:
        return {key: value for key, value in body.items() if key != "stream_options"}

    def reply(self, reply: Reply) -> Reply:
        return replace(reply, usage={"input": 8, "output": 6})
