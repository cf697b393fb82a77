"""Options of one turn: they are in that turn's request, in the place that the API defines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .....scenarios.case import Ask
from .....scenarios.messages import Text
from ....exchange import Item, Json
from ....observed_run import Run
from ....readers.json_access import object_of
from ....rule import Finding
from .._rulebook import LOSS, MUST, book, found, objects

_JSON = {"json_object", "json_schema", "application/json", "json"}
_FORCED = {"required", "any", "function", "tool"}


def _tool_choice(body: Json, _: Any) -> bool:
    """Tells whether a tool call is forced, in any format."""
    config = object_of(body.get("toolConfig"))
    choice = body.get("tool_choice") or config.get("functionCallingConfig") or config.get("toolChoice")
    if isinstance(choice, Mapping):  # {"type": "any"}, {"mode": "ANY"}, {"any": {}}
        choice = choice.get("type", choice.get("mode", next(iter(choice), "")))
    return str(choice).lower() in _FORCED


def _stop(body: Json, wanted: Sequence[str]) -> bool:
    """Tells whether exactly these stop sequences are sent."""
    held = ("generationConfig", "inferenceConfig", "options")
    holders = [body, *(object_of(body.get(name)) for name in held)]
    sent = [
        holder[name]
        for holder in holders
        for name in ("stop", "stop_sequences", "stopSequences")
        if name in holder
    ]
    return list(wanted) in sent


def _json(body: Json, _: Any) -> bool:
    """Tells whether the request asks for JSON."""
    places = (
        object_of(body.get("response_format")).get("type"),
        object_of(object_of(body.get("text")).get("format")).get("type"),
        object_of(body.get("generationConfig")).get("responseMimeType"),
        body.get("format"),
    )
    return any(isinstance(place, str) and place in _JSON for place in places)


def _cache(body: Json, _: Any) -> bool:
    """Tells whether the request marks the part of the prompt to cache."""
    return any("cache_control" in one or "cachePoint" in one for one in objects(body))


_SENT: Mapping[str, Callable[[Json, Any], bool]] = {
    "tool_choice": _tool_choice,
    "stop": _stop,
    "json": _json,
    "cache": _cache,
}


@book.rule("OPT-004", MUST, LOSS, source="https://github.com/BerriAI/litellm/issues/35582")
def options_reach_the_provider(run: Run) -> Iterator[Finding]:
    """What the caller sets for a turn (a forced call, stop sequences, JSON, a cached prompt) is in its request.

    Why: an option that is dropped changes the answer, and nobody is told. An option of one turn is not sent
    with the next.
    """
    for index, ask in _first_requests(run):
        place, body = f"/exchanges/{index}/request", run.exchanges[index].request.body
        for name, value in ask.options.items():
            if name in _SENT:
                yield found(_SENT[name](body, value), place, f"{name} was set, and the request has none")
        before = {name: a.options[name] for a in run.case.steps for name in a.options if name in _SENT}
        for name, value in before.items():
            if name not in ask.options:
                yield found(not _SENT[name](body, value), place, f"{name} was set for another turn")


def _first_requests(run: Run) -> Iterator[tuple[int, Ask]]:
    """Yields the first request of each step, if it is known."""
    if run.refused or not any(ask.options for ask in run.case.steps) or not run.exchanges:
        return
    apart = len(run.exchanges) == len(run.case.steps)
    yield from enumerate(run.case.steps if apart else run.case.steps[:1])


@book.rule(
    "OPT-005",
    MUST,
    LOSS,
    source=[
        "https://github.com/definableai/definable.ai/issues/44",
        "https://github.com/xuzhougeng/wisp-science/pull/708",
    ],
)
def limits_of_requests_are_kept(run: Run) -> Iterator[Finding]:
    """Once a turn has sent as many requests as the caller allows, no more is sent for it, and an error says so.

    Why: the limit protects the caller from costs, and a turn that it stopped is not complete. What was
    answered is kept: the next turn goes on from it.
    """
    for index, (ask, reply) in enumerate(zip(run.case.steps, run.replies, strict=False)):
        if "requests" not in ask.options or run.refused:
            continue
        sent = sum(not _asked_for(run.case.steps[index + 1 :], items) for items in run.said)
        problem = f"{sent} requests were sent, and {ask.options['requests']} are allowed"
        yield found(sent <= ask.options["requests"], "/exchanges", problem)
        yield found(reply.error is not None, f"/replies/{index}", "no error says that the limit is reached")


def _asked_for(steps: Sequence[Ask], items: Sequence[Item]) -> bool:
    """Tells whether a request has the option of one of these steps."""
    texts = {part.text for step in steps for part in step.parts if isinstance(part, Text)}
    return any(item.kind == "text" and item.text in texts for item in items)
