"""The model's side of an agent's cassette, for the harness: `use_cassette(path, replay="model")`.

The harness knows HTTP, and finds this module by the entry point `ellmer_harness.replay`. It says which requests are a model's, where
the results of tools are in them, and what an answer says. All other requests are those of tools: MCP servers, and what tools ask.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from ellmer_harness.cassette.partial_replay import Result
from ellmer_harness.exchange.messages import Sent

from ..provider_answers import whole_answers
from ..provider_answers.answer import Told, events_of
from ..provider_answers.joined_streams import folded
from ..readers import MODULES, detect, provider_of, read, request
from ..request import Item, Request

#: Paths of providers that are no chat, and no tool either.
_BESIDE_CHATS = re.compile(
    r"/(embeddings|embed|rerank|moderations|images|audio|models|files|batches|uploads|vector_stores|conversations)(/|$)"
    r"|/(count_tokens|input_tokens)$|:(countTokens|embedContent|batchEmbedContents|batchGenerateContent)$"
)
_TAG = re.compile(r"<(?:tool-)?content (?:tool-)?call-id=\"(?P<id>[^\"]*)\"")
_END = re.compile(r"</(?:tool-)?content>\s*$")


class Model:
    """The requests to models. It is the `Part` named `model`.

    Examples:
        >>> Model().replays(Sent("POST", "https://api.openai.com/v1/chat/completions", {}, b"{}"))
        True
        >>> Model().replays(Sent("POST", "stdio://python/?files.py", {}, b"{}"))
        False
    """

    def replays(self, sent: Sent) -> bool:
        """Tells whether a request is one to a model.

        Args:
            sent: The request.
        """
        if detect(sent.url) is not None:
            return True
        parts = urlsplit(sent.url)
        host = parts.hostname or ""
        named = provider_of(host) != host and (provider_of(host) != "bedrock" or host.startswith("bedrock"))
        return named and bool(_BESIDE_CHATS.search(parts.path))

    def results(self, sent: Sent) -> list[Result]:
        """Returns the results of tools in a request, and the media that follow them in messages of the user.

        Args:
            sent: The request.
        """
        asked = _read(sent)
        if asked is None:
            return []
        items = read(asked)
        calls = [item for item in items if item.kind == "call"]
        found = [*_results(items, calls)]
        return found + _added(items, {result.id: result.call for result in found})

    def answer(self, sent: Sent, body: bytes) -> str:
        """Returns the text of an answer, and the calls that it asks for.

        Args:
            sent: The request.
            body: The answer's body, without content encoding.
        """
        asked = _read(sent)
        if asked is None:
            return ""
        told = _answer_in(asked.wire, body)
        return "\n".join(
            filter(None, [told.text, *(_call(call.name, call.arguments) for call in told.calls)])
        )


def _read(sent: Sent) -> Request | None:
    """Returns a chat request of a format that is read, or None for any other request."""
    try:
        found = request(sent.method, sent.url, sent.headers, sent.body)
    except ValueError:
        return None
    return found if found.wire in MODULES else None


def _results(items: list[Item], calls: list[Item]) -> Iterator[Result]:
    left = [*calls]
    for number, item in enumerate(item for item in items if item.kind == "result"):
        own = next((call for call in left if _answers(item, call)), None)
        left = [call for call in left if call is not own]
        name = _call(own.name, own.arguments) if own else item.name or item.id or "a tool"
        yield Result(item.pointer, item.id or f"result {number}", name)


def _answers(result: Item, call: Item) -> bool:
    return result.id == call.id if result.id else result.name in {"", call.name}


def _added(items: list[Item], calls: dict[str, str]) -> list[Result]:
    """Returns what messages of the user have of the results: media between two tags, which name the call."""
    inside, found = "", list[tuple[Item, str]]()
    for item in items:
        tag = _TAG.match(item.text) if item.role == "user" and item.kind == "text" else None
        inside = tag["id"] if tag else inside
        if inside in calls and item.role == "user":
            found.append((item, inside))
        if item.role != "user" or _END.search(item.text):
            inside = ""
    own = {item.turn for item in items} - {
        item.turn for item in items if not any(item is each for each, _ in found)
    }
    places = {_message(item) if item.turn in own else item.pointer: id for item, id in found}
    return [Result(pointer, id, calls[id], added=True) for pointer, id in places.items()]


def _message(item: Item) -> str:
    """Returns the pointer of the message that has an item."""
    return "/".join(item.pointer.split("/")[:3])


def _answer_in(wire: str, body: bytes) -> Told:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return folded(wire, events_of(wire, body))
    return whole_answers.read(wire, value) if isinstance(value, dict) else folded(wire, events_of(wire, body))


def _call(name: str, arguments: object) -> str:
    given = arguments if isinstance(arguments, dict) else {}
    return f"{name}({', '.join(f'{key}={json.dumps(value, ensure_ascii=False)}' for key, value in given.items())})"
