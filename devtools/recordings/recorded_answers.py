"""Reads answers that other projects recorded into our client, continues each conversation, and judges the next request.

    python -m devtools.recordings.recorded_answers FOLDER [--mirrors DIR] [--only TEXT]

`recorded_answers.json` pins the repositories, and names for each folder the function that makes the chat. The answers stay
in FOLDER and are never committed. An answer is read well if the next request is valid and holds each text and each
call of the answer. An answer that is an error is listed with what the caller sees.
"""

# ruff: noqa: T201 - it prints

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

import ellmer_core
from devtools.recordings.public_recordings import fetched
from ellmer_conformance.contract import readers
from ellmer_conformance.contract.rule import Level
from ellmer_conformance.contract.rules import book
from ellmer_core import AssistantTurn, Chat, EllmerError, ToolDef, tool, type_string

PINS = Path(__file__).with_suffix(".json")
NAMED_EVENTS = {
    "chat_anthropic",
    "chat_cohere",
    "chat_openai_responses",
}  # an event has a name beside its data
UNMARKED = {*NAMED_EVENTS, "chat_google_gemini"}  # no `[DONE]` at the end
CALLS = {"function_call", "custom_tool_call", "tool_use"}
Json = dict[str, Any]


# --- Answers ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """A recorded answer: its file, the function that makes a chat for it, and its events, or its one JSON object."""

    path: Path
    maker: str
    provider: str
    data: list[Json] = field(repr=False)

    @property
    def streamed(self) -> bool:
        """Whether it is a stream of events."""
        return self.path.suffix == ".txt"

    @property
    def content(self) -> bytes:
        """The bytes as the API sends them."""
        if not self.streamed:
            return json.dumps(self.data[0]).encode()
        names = [f"event: {each.get('type')}\n" if self.maker in NAMED_EVENTS else "" for each in self.data]
        events = [f"{name}data: {json.dumps(each)}\n\n" for name, each in zip(names, self.data, strict=True)]
        return ("".join(events) + ("" if self.maker in UNMARKED else "data: [DONE]\n\n")).encode()

    @property
    def model(self) -> str:
        """The model that answered."""
        found = (each.get(key) for each in walked(self.data) for key in ("model", "modelVersion"))
        return next((name for name in found if isinstance(name, str)), "unnamed")

    @property
    def calls(self) -> set[str]:
        """The names of the tools that it calls."""
        forms = [(each, each.get("function") or each.get("functionCall")) for each in walked(self.data)]
        named = [each if each.get("type") in CALLS else inner for each, inner in forms]
        return {str(each["name"]) for each in named if isinstance(each, dict) and each.get("name")}


def walked(value: Any) -> Iterator[Json]:
    """Yields each object in a value, at any depth."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from walked(each)


def answers(folder: Path, mirrors: Path | None) -> Iterator[Answer]:
    """Yields the pinned answers. They are fetched first.

    Args:
        folder: Where the files go.
        mirrors: A folder with bare repositories, used instead of GitHub, as for `devtools.recordings.public_recordings`.

    Yields:
        The answers, in the order of the pins.
    """
    for pin in json.loads(PINS.read_text()):
        root = fetched(pin["repository"], pin["commit"], folder, mirrors, (pin["name"],))
        for place, (maker, provider) in pin["folders"].items():
            for path in sorted((root / place / pin["name"]).glob("*.*")):
                if path.name.endswith((".json", ".chunks.txt")) and path.name not in pin["left_out"]:
                    text = path.read_text()
                    lines = text.splitlines() if path.suffix == ".txt" else [text]
                    yield Answer(path, maker, provider, [json.loads(line) for line in lines if line.strip()])


# --- The conversation ------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """What became of an answer: the error that the caller saw, or what is wrong with the request after it."""

    error: str = ""
    broken: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)


def continued(answer: Answer) -> Outcome:
    """Reads an answer, gives each call a result, and judges the next request.

    Args:
        answer: The answer.

    Returns:
        What was found.
    """
    sent: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        if len(sent) > 1:
            return httpx.Response(418, json={"error": {"message": "The conversation ends here."}})
        kind = "text/event-stream" if answer.streamed else "application/json"
        return httpx.Response(200, headers={"content-type": kind}, content=answer.content)

    chat = _chat(answer, httpx.MockTransport(handle))
    outcome = Outcome()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            _asked_twice(chat, sent, streamed=answer.streamed)
        except EllmerError as error:
            outcome.error = f"{type(error).__name__}: {error}"
    outcome.warned = [str(each.message) for each in warned]
    if len(sent) > 1:
        outcome.error = ""
        read = next(turn for turn in chat.get_turns() if isinstance(turn, AssistantTurn))
        outcome.broken, outcome.lost = _broken(answer, sent[1]), lost(read, sent[1])
    return outcome


def _chat(answer: Answer, line: httpx.MockTransport) -> Chat:
    client = (httpx.Client(transport=line), httpx.AsyncClient(transport=line))
    chat: Chat = getattr(ellmer_core, answer.maker)(
        model=answer.model, api_key="key", client=client, max_tries=1
    )
    for name in sorted(answer.calls):
        chat.register_tool(_tool(name))
    return chat


def _tool(name: str) -> ToolDef:
    return tool(
        lambda **_: "a result",
        "Any tool.",
        name=name,
        arguments={"input": type_string("Anything.", required=False)},
        convert=False,
    )


def _asked_twice(chat: Chat, sent: list[httpx.Request], *, streamed: bool) -> None:
    """Asks once, and again if the answer called no tool."""
    if streamed:
        "".join(chat.stream("Begin."))
    else:
        chat.chat("Begin.")
    if len(sent) == 1:
        chat.chat("Continue.")


def _broken(answer: Answer, request: httpx.Request) -> list[str]:
    read = readers.request("POST", str(request.url), dict(request.headers), request.content, answer.provider)
    found = [each for verdict in book(read.wire, read.provider).judge(read) for each in verdict.violations]
    hard = [each for each in found if each.rule.level is Level.MUST and not each.rule.preview]
    return [f"{each.rule.id} {each.pointer} {each.message}" for each in hard]


def lost(turn: AssistantTurn, request: httpx.Request) -> list[str]:
    """Returns what the next request has lost of an answer.

    Args:
        turn: The answer as it was read.
        request: The next request.

    Returns:
        The texts, and the names of the called tools, that the request does not have.
    """
    body = json.loads(request.content)
    texts = {value for each in walked(body) for value in each.values() if isinstance(value, str)}
    words = [content.text for content in turn.contents if isinstance(content, ellmer_core.ContentText)]
    calls = [call.name for call in turn.tool_requests]
    return [each for each in [*words, *calls] if each.strip() and each not in texts]


# --- The command -----------------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    """Prints what was found for each answer that was not read well, and the counts.

    Args:
        arguments: The command line. Default: `sys.argv`.

    Returns:
        0 if each answer was read well, 1 if one was not, 2 if there was none.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the answers go")
    parser.add_argument("--mirrors", type=Path, help="bare repositories named owner+name/repo")
    parser.add_argument("--only", default="", metavar="TEXT", help="answers whose path contains a text")
    asked = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    for answer in answers(asked.folder, asked.mirrors):
        if asked.only in str(answer.path):
            outcome = continued(answer)
            kind = "wrong" if outcome.broken or outcome.lost else "error" if outcome.error else "continued"
            counts[kind] += 1
            _tell(answer, kind, outcome)
    print(
        ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) or "There is no such answer."
    )
    return 2 if not counts["continued"] else int(bool(counts["wrong"]))


def _tell(answer: Answer, kind: str, outcome: Outcome) -> None:
    name = f"{kind}: {answer.maker} {answer.path.name}"
    for line in (
        *outcome.broken,
        *(f"lost: {text!r:.100}" for text in outcome.lost),
        outcome.error,
        *outcome.warned,
    ):
        if line:
            print(f"{name}: {line:.200}")


if __name__ == "__main__":
    sys.exit(main())
