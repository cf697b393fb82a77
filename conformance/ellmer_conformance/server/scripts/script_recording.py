"""Writes a script from the answers of a real API that passed the proxy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from ...contract.observed.exchange import Json, Request, Response
from ...contract.provider_answers.answer import Told, events_of
from ...contract.provider_answers.joined_streams import folded
from ...contract.provider_answers.whole_answers import read
from ...files import write_text
from ..journal import Entry
from ..model.behaviour import question_of, results_of

_HEAD = "# The answers of a real API, recorded by `conformance serve --record`.\n"


def write_script(entries: Iterable[Entry], path: Path) -> int:
    """Writes the answers to chat requests as a script, and returns their number. An answer that broke off is left out.

    Args:
        entries: The requests with their answers.
        path: The file; `.json` for JSON, else YAML.
    """
    answers = list(_answers(entries))
    script = {"answers": answers}
    if path.suffix == ".json":
        text = json.dumps(script, ensure_ascii=False, indent=2) + "\n"
    else:
        text = _HEAD + yaml.safe_dump(script, allow_unicode=True, sort_keys=False, width=120)
    write_text(path, text)
    return len(answers)


def _answers(entries: Iterable[Entry]) -> Iterator[Json]:
    """Yields the entries of the script. Of those with the same condition, each but the last answers one request."""
    found = [(_condition(entry.request), answer) for entry in entries if (answer := _answer(entry))]
    last = {json.dumps(condition): index for index, (condition, _) in enumerate(found)}
    for index, (condition, answer) in enumerate(found):
        once = {} if last[json.dumps(condition)] == index else {"times": 1}
        yield {"when": condition, **answer, **once}


def _condition(request: Request) -> Json:
    results = [result.name for result in results_of(request)]
    return {"user": question_of(request), "result": bool(results)}


def _answer(entry: Entry) -> Json | None:
    """Returns the answer to a chat request in neutral terms, or `None` if there is none to record."""
    request, response = entry.request, entry.exchange.response
    if not request.wire or response is None or not response.ended:
        return None
    if response.status >= 400:
        return {"error": {"status": response.status, "message": _sentence(response.body)}}
    try:
        return _of_answer(_recorded_answer(request, response))
    except ValueError:
        return None


def _recorded_answer(request: Request, response: Response) -> Told:
    if request.stream:
        return folded(request.wire, events_of(request.wire, response.body))
    return read(request.wire, json.loads(response.body))


def _of_answer(told: Told) -> Json:
    calls = [{"name": call.name, "arguments": _arguments(call.arguments, call.text)} for call in told.calls]
    counts = {"input": told.input, "output": told.output}
    usage = {name: count for name, count in counts.items() if isinstance(count, int)}
    found: Json = {"text": told.text} if told.text or not calls else {}
    return found | ({"calls": calls} if calls else {}) | ({"usage": usage} if usage else {})


def _arguments(value: Any, text: str) -> Any:
    return text if value is None else value


def _sentence(body: bytes) -> str:
    """Returns the sentence of an error body, which has it under `message` or `error`."""
    try:
        value: Any = json.loads(body)
    except ValueError:
        return body.decode("utf-8", "replace")[:500]
    while isinstance(value, dict | list) and value:
        inner = value[0] if isinstance(value, list) else value.get("error", value.get("message"))
        if inner is None:
            break
        value = inner
    return value if isinstance(value, str) else json.dumps(value)[:500]
