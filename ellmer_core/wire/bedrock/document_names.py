"""The names of documents, which Converse wants to be distinct."""

from __future__ import annotations

from operator import is_

from ...contents.content import ContentText, ContentThinking
from ...contents.tool_requests_and_results import ContentToolRequest
from ..request_and_stream_merger import Json

__all__ = ["NAMELESS", "with_distinct_names"]

#: Contents that hold no document.
NAMELESS = frozenset({ContentText, ContentThinking, ContentToolRequest})


def with_distinct_names(messages: list[Json]) -> list[Json]:
    """Numbers documents that share a name, because the API refuses equal names. Earlier documents keep theirs."""
    seen: dict[str, int] = {}

    def renamed(block: Json) -> Json:
        match block:  # a model's own block goes back as it came, whatever it is
            case {"toolResult": {"content": [*inside]} as inner}:
                parts = [renamed(part) for part in inside]
                return block if all(map(is_, parts, inside)) else {"toolResult": {**inner, "content": parts}}
            case {"document": {"name": str()} as document}:
                pass
            case _:
                return block
        seen[document["name"]] = number = seen.get(document["name"], 0) + 1
        return {"document": {**document, "name": f"{document['name']} ({number})"}} if number > 1 else block

    def distinct(message: Json) -> Json:
        blocks = [renamed(block) for block in message["content"]]
        return message if all(map(is_, blocks, message["content"])) else {**message, "content": blocks}

    return list(map(distinct, messages))
