"""Compares recorded requests and answers with the types of the official SDKs, strictly.

    python conformance/shapes/oracles.py CASSETTES …

A request is held against each official source of its shape that is installed, an answer and each event of a stream
against the types that the SDK has for them: a field that they have not, or a value of another type, is a complaint.
What real traffic does, too, is in `tolerated.json`, with where it was seen. Exit code 1 if anything else is found; 2 if
a source is not installed.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mutants import Official, shape_of
from nodes import Joiner, Json, Source
from sources import _schema, missing

from ellmer_conformance.contract.shapes import Fault
from ellmer_conformance.contract.shapes.checker import Checker
from ellmer_conformance.recordings.recorded_requests import Recording, Skip, read, request_of
from ellmer_harness.recordings import Unreadable, find

HERE = Path(__file__).parent
#: The types of whole answers, and of the events of a stream: module, name.
ANSWERS: Mapping[str, tuple[str, str]] = {
    "openai-chat": ("openai.types.chat", "ChatCompletion"),
    "openai-responses": ("openai.types.responses", "Response"),
    "anthropic": ("anthropic.types.beta", "BetaMessage"),
    "gemini": ("google.genai.types", "GenerateContentResponse"),
    "vertex": ("google.genai.types", "GenerateContentResponse"),
    "cohere": ("cohere", "V2ChatResponse"),
    "ollama": ("ollama", "ChatResponse"),
    "groq": ("groq.types.chat", "ChatCompletion"),
    "cerebras": ("cerebras.cloud.sdk.types.chat.chat_completion", "ChatCompletionResponse"),
}
EVENTS: Mapping[str, tuple[str, str]] = {
    "openai-chat": ("openai.types.chat", "ChatCompletionChunk"),
    "openai-responses": ("openai.types.responses", "ResponseStreamEvent"),
    "anthropic": ("anthropic.types.beta", "BetaRawMessageStreamEvent"),
    "gemini": ("google.genai.types", "GenerateContentResponse"),
    "vertex": ("google.genai.types", "GenerateContentResponse"),
    "groq": ("groq.types.chat", "ChatCompletionChunk"),
    "cerebras": ("cerebras.cloud.sdk.types.chat.chat_completion", "ChatChunkResponse"),
}
_INDEX = re.compile(r"/\d+(?=/|$)")


class Oracles:
    """The official types, which are compiled at their first use."""

    def __init__(self) -> None:
        self._requests: dict[str, Official] = {}
        self._types: dict[tuple[str, str], Checker | None] = {}

    def of_request(self, name: str, body: Any) -> list[Fault]:
        """Yields the complaints of all sources of a shape."""
        if name not in self._requests:
            self._requests[name] = Official(name, None)
        found = self._requests[name]
        return [fault for fault, _ in found.objections(body, "")] if found.agree(body) else []

    def of_answer(self, named: tuple[str, str] | None, value: Any) -> list[Fault]:
        """Yields the complaints of an SDK's type, or nothing if the SDK is not installed."""
        if named is None:
            return []
        if named not in self._types:
            self._types[named] = _checker(*named)
        checker = self._types[named]
        return checker.faults(value) if checker else []


def _checker(module: str, name: str) -> Checker | None:
    try:
        if find_spec(module) is None:
            return None
        schema = _schema(getattr(import_module(module), name))
    except (ModuleNotFoundError, AttributeError):
        return None
    source = Source(name, schema, schema.get("$defs", {}), bounds=False, lenient="null")
    reader = "proto" if module.startswith("google") else ""
    return Checker({"root": Joiner().node([(source, schema)]), "reader": reader})


def _parsed(text: str) -> Any:
    """Returns a whole answer, or `None` for a stream or a truncated answer."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def events(text: str) -> Iterator[Any]:
    """Yields the JSON of each event of a stream."""
    for line in text.splitlines():
        if line.startswith("data:") and (event := _parsed(line[5:].strip())) is not None:
            yield event


def complaints(oracles: Oracles, recording: Recording) -> Iterator[str]:
    """Yields the complaints of the official types about one recorded exchange."""
    request = request_of(recording)
    name = "" if isinstance(request, Skip) else shape_of(request)
    if isinstance(request, Skip) or not name or recording.status != 200:
        return
    for fault in oracles.of_request(name, request.body):
        yield f"{name} request: {_said(fault)}"
    text = recording.response.decode(errors="replace").strip()
    if (answer := _parsed(text)) is not None:
        for fault in oracles.of_answer(ANSWERS.get(name), answer):
            yield f"{name} answer: {_said(fault)}"
    for event in (
        each for each in events(text) if "error" not in each
    ):  # which no type of an event describes
        for fault in oracles.of_answer(EVENTS.get(name), event):
            yield f"{name} event: {_said(fault)}"


def _said(fault: Fault) -> str:
    return f"{fault.kind} at {_INDEX.sub('/N', fault.pointer) or '/'}{f' ({fault.key})' if fault.key else ''}"


def said(paths: list[str]) -> tuple[int, Counter[str], dict[str, str]]:
    """Returns the number of judged exchanges, and each complaint with its count and its first place."""
    oracles, found, judged, where = Oracles(), Counter[str](), 0, dict[str, str]()
    for path in find([Path(each) for each in paths]):
        try:
            recordings = list(read(path) or ())
        except Unreadable:
            continue
        for recording in recordings:
            judged += 1
            for complaint in complaints(oracles, recording):
                found[complaint] += 1
                where.setdefault(complaint, str(path))
    return judged, found, where


def main(arguments: list[str]) -> int:
    """Prints the complaints that are not tolerated, and returns the exit code."""
    if absent := missing():
        print(  # noqa: T201  # where a command says how it is used
            f"The official types of {', '.join(absent)} are not installed. "
            f"Run `nox -s oracles`, or: pip install {' '.join(absent)}",
            file=sys.stderr,
        )
        return 2
    judged, found, where = said([each for each in arguments if each != "--list"])
    if "--list" in arguments:  # of what real traffic does, for `tolerated.json`
        print(json.dumps(dict(sorted(where.items())), indent=1))  # noqa: T201
        return 0
    tolerated: Json = json.loads((HERE / "tolerated.json").read_text(encoding="utf-8"))
    wrong = {complaint: count for complaint, count in found.items() if complaint not in tolerated}
    for complaint, count in sorted(wrong.items()):
        print(f"{count:>6}  {complaint}  (first in {where[complaint]})")  # noqa: T201  # its report
    print(f"{judged} exchanges, {len(found)} kinds of complaints, {len(wrong)} of them not tolerated")  # noqa: T201
    return 1 if wrong or not judged else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
