"""Recorded conversations as cases: what the user said, what the tools gave, what the model answered."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

from ellmer_harness.recordings import Unreadable

from ...contract.observed.exchange import Exchange, Item, Json, Request, Response
from ...contract.observed.run import call_key
from ...contract.provider_answers import whole_answers
from ...contract.provider_answers.answer import Called, Told, events_of
from ...contract.provider_answers.continued_requests import sent_items
from ...contract.provider_answers.joined_streams import folded
from ...contract.readers import gemini
from ...contract.readers.json_access import elements, items_of, object_of, text_of
from ...runner.from_cassettes import as_answer
from ...scenarios.case import Ask, Case
from ...scenarios.messages import PDF, Image, Part, Text, Tool, ToolCall, ToolResult, Turn
from ...scenarios.script import Answer, Cut, Failure, Say, Step
from ..recorded_requests import Recording, Skip, has_no_reply, identity, read, request_of

# --- The comparison of requests --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Turn:
    """The content of one side until the other side speaks. Consecutive texts count as one."""

    side: str
    calls: tuple[tuple[str, str], ...]  # id, name and arguments
    results: tuple[tuple[str, str], ...]  # id, text
    media: tuple[str, ...]  # sha256
    text: str


def difference(ours: Sequence[Item], theirs: Sequence[Item]) -> str:
    """Returns the first difference of our request from the accepted one, or `""`."""
    if (mine := _system(ours)) != (accepted := _system(theirs)):
        return f"the system prompt is {mine[:80]!r}, and it was {accepted[:80]!r}"
    sent, wanted = list(_turns(ours)), list(_turns(theirs))
    for number, (my_turn, their_turn) in enumerate(zip(sent, wanted, strict=False)):
        for part in ("side", "calls", "results", "media", "text"):
            got, was = getattr(my_turn, part), getattr(their_turn, part)
            shown = bool(
                my_turn.results and (my_turn.media or their_turn.media)
            )  # how they are shown is a client's convention
            if not _alike(part, got, was, shown=shown):
                return f"the {part} of turn {number} is {_short(got)}, and it was {_short(was)}"
    return "" if len(sent) == len(wanted) else f"it has {len(sent)} turns, and there were {len(wanted)}"


def key(item: Item) -> object:
    """Returns a key of an item, for comparison with the same client's next request."""
    media = item.media.sha256 if item.media else ""
    arguments = call_key(item.name, item.arguments) if item.kind == "call" else ""
    return item.kind, _side(item), _plain(item.text), media, item.id, arguments


def _system(items: Iterable[Item]) -> str:
    return " ".join(word for item in items if item.kind == "system" for word in item.text.split())


def _side(item: Item) -> str:
    return "assistant" if item.role == "assistant" else "user"


def _turns(items: Iterable[Item]) -> Iterator[_Turn]:
    told = (item for item in items if item.kind not in {"system", "thinking", "other"})
    for side, group in groupby(told, _side):
        some = list(group)
        yield _Turn(
            side,
            tuple((i.id, call_key(i.name, i.arguments)) for i in some if i.kind == "call"),
            tuple((i.id, _plain(i.text)) for i in some if i.kind == "result"),
            tuple(i.media.sha256 for i in some if i.media),
            " ".join(word for i in some if i.kind == "text" and i.within is None for word in i.text.split()),
        )


def _alike(part: str, mine: Any, theirs: Any, *, shown: bool = False) -> bool:
    """Tells whether two turns are equal. Ids count if both have them, because they are optional in some formats. With
    visible media, texts do not count, because they point at the media.
    """
    if part == "text" and shown:
        return True
    if part not in {"calls", "results"} or len(mine) != len(theirs):
        return bool(mine == theirs)
    pairs = list(zip(mine, theirs, strict=True))
    return all((shown or a[1] == b[1]) and (a[0] == b[0] or not (a[0] and b[0])) for a, b in pairs)


def _plain(text: str) -> str:
    """Returns the text. JSON is normalized: its spacing, and an optional key around it."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    return value.strip() if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 160 else f"{text[:157]}…"


# --- Conversations ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Recorded:
    """A request that was recorded, and its answer."""

    request: Request
    recording: Recording

    @property
    def exchange(self) -> Exchange:
        """The exchange in the form for rules."""
        it = self.recording
        return Exchange(self.request, Response(it.status or 0, it.answered, it.response))

    @property
    def answered(self) -> bool:
        """Whether the provider answered, and the answer was stored."""
        return bool(self.recording.status and self.recording.response)


@dataclass(frozen=True)
class Conversation:
    """Exchanges in order. `name` is the file, and the place of the first exchange in it."""

    name: str
    recorded: tuple[Recorded, ...]

    @property
    def first(self) -> Request:
        """The first request."""
        return self.recorded[0].request

    @cached_property
    def sent_items(self) -> list[list[Item]]:
        """The content of each request, with the stored content of the exchange that it continues."""
        return sent_items(each.exchange for each in self.recorded)


def conversations(
    paths: Iterable[Path], note: Callable[[str], None] = lambda _: None, seen: set[str] | None = None
) -> Iterator[Conversation]:
    """Yields the conversations of the files. A repeated request, or one in `seen`, is used once. `note` is called
    with the reason for each exchange that is left out.
    """
    seen = set() if seen is None else seen
    for path in paths:
        try:
            found = list(read(path) or ())
        except Unreadable as error:
            note(str(error))
            continue
        recordings = [
            recording for each in found if (recording := _recorded(each, note)) and _is_new(each, seen, note)
        ]
        name = Path(*path.absolute().parts[-3:])
        yield from _grouped(name.with_suffix("").as_posix(), recordings)


def _recorded(recording: Recording, note: Callable[[str], None]) -> Recorded | None:
    request = request_of(recording)
    if isinstance(request, Skip):
        note(request.reason)
        return None
    if has_no_reply(recording):
        note("the endpoint answers with no message")
        return None
    found = Recorded(request, recording)
    if not found.answered:
        note("the answer was not recorded")
        return None
    return found


def _is_new(recording: Recording, seen: set[str], note: Callable[[str], None]) -> bool:
    same = identity(recording)
    if same in seen:
        note("the same request was played already")
        return False
    seen.add(same)
    return True


def _grouped(name: str, recorded: Sequence[Recorded]) -> Iterator[Conversation]:
    """Yields each exchange with the earlier one that it continues. Clients may have several conversations at a time."""
    open_: list[Conversation] = []
    for each in recorded:
        at = next((n for n in reversed(range(len(open_))) if _goes_on(open_[n], each)), None)
        if at is None:
            open_.append(Conversation(f"{name}#{each.recording.place}", (each,)))
        else:
            open_[at] = replace(open_[at], recorded=(*open_[at].recorded, each))
    yield from open_


def _goes_on(conversation: Conversation, more: Recorded) -> bool:
    before, last = conversation.sent_items[-1], conversation.recorded[-1]
    if (last.request.wire, last.request.provider) != (more.request.wire, more.request.provider):
        return False
    if (last.recording.status or 0) >= 300 or last.request.stream != more.request.stream:
        return False
    after = sent_items([*(each.exchange for each in conversation.recorded), more.exchange])[-1]
    old, new = _keys(before), _keys(after)
    return len(new) > len(old) and new[: len(old)] == old


def _keys(items: Iterable[Item]) -> list[object]:
    return [key(item) for item in items if item.kind not in {"system", "thinking"}]


# --- The input of an adapter -----------------------------------------------------------------------------


class CannotBeGiven(Exception):
    """An input that the adapter protocol does not support. The message gives the reason."""


def system(items: Sequence[Item]) -> str | None:
    """Returns the system prompt, which comes before the conversation."""
    first = next((n for n, item in enumerate(items) if item.kind != "system"), len(items))
    if any(item.kind == "system" for item in items[first:]):
        raise CannotBeGiven("a system prompt is in the middle of the conversation")
    return "\n".join(item.text for item in items[:first] if item.text) or None


def split(items: Iterable[Item]) -> tuple[list[Item], list[Item]]:
    """Returns the earlier conversation and the user's new message."""
    told = [item for item in items if item.kind != "system"]
    last = max((n for n, item in enumerate(told) if item.role == "assistant"), default=-1)
    if last == len(told) - 1:
        raise CannotBeGiven("the request prefills the answer" if told else "the request is empty")
    return told[: last + 1], told[last + 1 :]


def history(items: Iterable[Item]) -> list[Turn]:
    """Returns the turns. Calls without an id, and their results, are named by their number."""
    named = list(_named(items))
    ids = [item.id for item in named if item.kind == "call"]
    if len(set(ids)) < len(ids):
        raise CannotBeGiven("calls share an id")
    turns = []
    for is_model, group in groupby(named, lambda item: item.role == "assistant"):
        found = tuple(parts(item for item in group if item.kind != "thinking"))
        if found:
            turns.append(Turn("assistant" if is_model else "user", found))
    return turns


def parts(items: Iterable[Item]) -> Iterator[Part]:
    """Yields the parts of a turn. Each result has its content."""
    all_items = list(items)
    within = {id(item) for item in all_items if item.within is not None}
    for item in all_items:
        if item.kind == "result":
            inside = [inner for inner in all_items if inner.within is not None and inner.within == item.id]
            yield ToolResult(item.id, value_of(item, inside))
        elif id(item) not in within:
            yield _part(item)


def value_of(result: Item, inside: Sequence[Item]) -> Any:
    """Returns the tool's value: its text, or a list with its media."""
    if not any(item.media for item in inside):
        return result.text
    found = [_part(item) for item in inside]
    value = [part.text if isinstance(part, Text) else part for part in found]
    return value[0] if len(value) == 1 else value


def _named(items: Iterable[Item]) -> Iterator[Item]:
    """Yields the items. Each call and each result has an id."""
    open_: list[Item] = []
    for number, item in enumerate(items):
        if item.kind == "call":
            open_.append(item._replace(id=item.id or f"call_{number}"))
            yield open_[-1]
        elif item.kind == "result":
            own = next((call for call in open_ if _answers(item, call)), None)
            open_ = [call for call in open_ if call is not own]
            yield item._replace(id=item.id or (own.id if own else ""))
        else:
            yield item


def _answers(result: Item, call: Item) -> bool:
    return result.id == call.id if result.id else result.name in {"", call.name}


def _part(item: Item) -> Part:
    match item.kind:
        case "text":
            return Text(item.text)
        case "call":
            if not isinstance(item.arguments, dict):
                raise CannotBeGiven("the arguments of a call in the history are not an object")
            return ToolCall(item.id, item.name, item.arguments)
        case "image" if item.media and item.media.data:
            return Image(item.media.data, item.media.type)
        case "image" if item.media and item.media.url.startswith(("http:", "https:")):
            return Image(url=item.media.url)
        case "document" if item.media and item.media.data.startswith(b"%PDF"):
            return PDF(item.media.data, item.media.filename or "document.pdf")
    raise CannotBeGiven(_why(item))


def _why(item: Item) -> str:
    if item.media and not item.media.data:
        return (
            f"{_article(item.kind)} is named by a URL or a file's id"
            if item.kind != "other"
            else "a file is named by its id"
        )
    kind = (item.media.type if item.media else item.name) or item.kind
    return f"a part of the type {kind} has no neutral form"


def _article(kind: str) -> str:
    return f"an {kind}" if kind[:1] in "aeio" else f"a {kind}"


# --- Calls that can be run -------------------------------------------------------------------------------


#: The Python types for the types of JSON Schema.
_KINDS: Mapping[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def check_calls(told: Sequence[Told], tools: Mapping[str, Tool], wire: str) -> None:
    """Checks that a client can run the calls: their tools were declared, the arguments fit, and each has its own id."""
    ids = [call.id for each in told for call in each.calls if call.id]
    if len(set(ids)) < len(ids):
        raise CannotBeGiven("calls share an id")
    for call in (call for each in told for call in each.calls):
        if call.name not in tools:
            raise CannotBeGiven(
                f"the model called a tool that was not declared, or that has only a name: {call.name!r}"
            )
        if call.arguments is None:
            raise CannotBeGiven("the arguments of a call are not a JSON object")
        if "REDACTED" in call.id and wire == "mistral":
            raise CannotBeGiven(
                "the recorder replaced the ids of the calls, and ids of Mistral have a fixed form"
            )
        if not _fits(call.arguments, tools[call.name].parameters):
            raise CannotBeGiven("the model's arguments do not fit the tool that was declared")


def _fits(arguments: Json, schema: Mapping[str, Any]) -> bool:
    """Tells whether a client that checks arguments would run the call."""
    properties = object_of(schema["properties"])
    if not set(items_of(schema["required"])) <= set(arguments) <= set(properties):
        return False
    kinds = {name: _KINDS.get(str(object_of(properties[name]).get("type")), object) for name in arguments}
    return all(isinstance(value, kinds[name]) for name, value in arguments.items())


# --- Tools -----------------------------------------------------------------------------------------------


NO_RESULT = "ok"  # of a call at the end of a recording


class ToolFailed(Exception):
    """The recorded result says that the tool failed. The message is its text."""


class RecordedResults:
    """The results of the recorded calls, in the order of the calls."""

    def __init__(self) -> None:
        self._by_call: dict[str, deque[Any]] = defaultdict(deque)

    def add(self, name: str, arguments: Mapping[str, Any], value: Any) -> None:
        """Adds the result of a call."""
        self._by_call[call_key(name, arguments)].append(value)

    def of(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Returns the value of the next equal call. Raises ToolFailed if the tool failed."""
        left = self._by_call[call_key(name, arguments)]
        value = left.popleft() if left else NO_RESULT
        if isinstance(value, ToolFailed):
            raise value
        return value

    def tool(self, name: str, description: str, parameters: Json) -> Tool:
        """Returns the declared tool."""

        def run(**arguments: Any) -> Any:
            return self.of(name, arguments)

        return Tool(name, description, run, _as_object(parameters))


def declared(request: Request, results: RecordedResults) -> list[Tool]:
    """Returns the declared function tools of a request, in order."""
    return [results.tool(*each) for each in _declared(request) if each[0]]


def _declared(request: Request) -> Iterator[tuple[str, str, Json]]:
    body = request.body
    match request.wire:
        case "anthropic":
            found = [
                (tool, "input_schema")
                for _, tool in elements(body.get("tools"), "")
                if "input_schema" in tool
            ]
        case "bedrock":
            specs = elements(object_of(body.get("toolConfig")).get("tools"), "")
            found = [(object_of(spec.get("toolSpec")), "inputSchema") for _, spec in specs]
        case "gemini":
            found = [(tool, "parameters") for _, tool in gemini.declarations(body)]
        case "openai-responses":
            found = [
                (t, "parameters") for _, t in elements(body.get("tools"), "") if t.get("type") == "function"
            ]
        case _:
            found = [(object_of(t.get("function")), "parameters") for _, t in elements(body.get("tools"), "")]
            found += [(tool, "parameters") for _, tool in elements(body.get("functions"), "")]
    for tool, place in found:
        yield text_of(tool.get("name")), text_of(tool.get("description")), _schema(tool, place)


def _schema(tool: Json, place: str) -> Json:
    for key in ("parametersJsonSchema", "parameters_json_schema"):
        if isinstance(tool.get(key), dict):
            return object_of(tool[key])
    found = object_of(tool.get(place))
    return object_of(found.get("json")) if place == "inputSchema" else _lower(found)


def _lower(value: Any) -> Any:
    """Returns the schema with type names in lower case, as JSON Schema has them. Gemini's are in capitals."""
    if isinstance(value, list):
        return [_lower(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: each.lower() if name == "type" and isinstance(each, str) else _lower(each)
        for name, each in value.items()
    }


def _as_object(schema: Json) -> Json:
    return {"type": "object", "properties": {}, "required": []} | schema


# --- Replies ---------------------------------------------------------------------------------------------


_FAILURES = {"error", "response.failed"} | {
    f"{name}Exception"
    for name in ("internalServer", "modelStreamError", "validation", "throttling", "serviceUnavailable")
}


def told_by(recorded: Recorded) -> Told:
    """Returns the content of an answer. Raises CannotBeGiven if it cannot be read."""
    request, recording = recorded.request, recorded.recording
    if fails(recorded):
        return Told()
    if request.stream and b"[DONE]" in recording.response and not _says_why(recorded):
        raise CannotBeGiven("a stream ends without a stop reason")
    if b'"tool_search_call"' in recording.response:
        raise CannotBeGiven("the provider itself searched for tools")
    if request.wire == "anthropic" and not request.stream and _unpaired(recording.response):
        raise CannotBeGiven("the recorder replaced the ids of the provider's own calls")
    if request.stream:
        return folded(request.wire, events_of(request.wire, recording.response))
    try:
        return whole_answers.read(request.wire, json.loads(recording.response))
    except ValueError as error:
        raise CannotBeGiven("the answer is not JSON") from error


def is_cut(recorded: Recorded, answer: Told) -> bool:
    """Tells whether the answer has no stop reason, which a stream must have, or no content."""
    return answer.stop is None and (recorded.request.stream or not (answer.text or answer.calls))


def _says_why(recorded: Recorded) -> bool:
    wire = recorded.request.wire
    return folded(wire, events_of(wire, recorded.recording.response)).stop is not None


def fails(recorded: Recorded) -> bool:
    """Tells whether the provider answered with an error, also with status 200 or inside a stream."""
    recording = recorded.recording
    if (recording.status or 0) >= 300:
        return True
    if recorded.request.stream:
        events = events_of(recorded.request.wire, recording.response)
        return any(event.name in _FAILURES or _is_error(event.data) for event in events)
    try:
        return _is_error(json.loads(recording.response))
    except ValueError:
        return False


def _is_error(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    inside = [value, object_of(value.get("delta")), *map(object_of, items_of(value.get("choices")))]
    return any(each.get("error") for each in inside) or text_of(value.get("type")) in _FAILURES


def _unpaired(response: bytes) -> bool:
    """Tells whether a result of a provider's own tool has the id of none of its calls."""
    try:
        blocks = [*map(object_of, items_of(object_of(json.loads(response)).get("content")))]
    except ValueError:
        return False
    ids = {block.get("id") for block in blocks}
    return any("tool_use_id" in block and block["tool_use_id"] not in ids for block in blocks)


# --- Cases -----------------------------------------------------------------------------------------------


#: The answer if the client continues after the end of the recording, with the results of the last calls.
END = Answer((Say("The recording ends here."),))


@dataclass(frozen=True)
class RecordedCase:
    """A case with its recorded exchanges."""

    case: Case
    conversation: Conversation
    told: Sequence[Told]  # what each answer says

    @property
    def streamed(self) -> bool:
        """Whether its answers are streams."""
        return self.conversation.first.stream


def case_of(conversation: Conversation) -> RecordedCase:
    """Returns the case. Raises CannotBeGiven if the adapter protocol does not support the recorded input."""
    if (conversation.first.body.get("n") or 1) != 1:
        raise CannotBeGiven("several answers were requested at once")
    told = [told_by(each) for each in conversation.recorded]
    results = RecordedResults()
    requests = conversation.sent_items
    before, now = split(requests[0])
    making = _Making(results, [_ask(now)])
    for number in range(1, len(requests)):
        making.go_on(told[number - 1], _added(requests[number - 1], requests[number]))
    if not any(not isinstance(part, Text) or part.text.strip() for part in making.asks[0].parts):
        raise CannotBeGiven("the user says nothing")
    steps, script = _ended(making, told, conversation)
    tools = declared(conversation.first, results)
    check_calls(told, {tool.name: tool for tool in tools}, conversation.first.wire)
    case = Case(
        script=script,
        steps=steps,
        tools=tools,
        system=system(requests[0]),
        history=_whole(history(before), making.asks[0]),
        needs=_needs(making.asks, tools),
        printed_alike=False,
        modes=("stream", "async-stream") if conversation.first.stream else ("sync", "async"),
        name=conversation.name,
        title=f"Recorded: {conversation.name}",
        area="recordings",
    )
    return RecordedCase(case, conversation, told)


def _whole(turns: list[Turn], ask: Ask) -> list[Turn]:
    """Returns the history. Each call without a result gets it from the new message."""
    parts = [part for turn in turns for part in turn.parts] + [*ask.parts]
    open_ = {part.id for part in parts if isinstance(part, ToolCall)}
    if open_ - {part.id for part in parts if isinstance(part, ToolResult)}:
        raise CannotBeGiven("the history leaves a call without a result")
    return turns


@dataclass
class _Making:
    """A case under construction: the user's turns so far, each with its last answer."""

    results: RecordedResults
    asks: list[Ask]
    ends: list[int] = field(default_factory=list)
    answers: int = 1

    def go_on(self, told: Told, added: Sequence[Item]) -> None:
        """Adds the new content of the next request: the results of the calls, or a turn of the user."""
        results = [item for item in added if item.kind == "result"]
        if bool(results) != bool(told.calls):
            raise CannotBeGiven(
                "a call was left without a result" if told.calls else "a result answers no call"
            )
        if results:
            _enter(self.results, told.calls, added)
        else:
            self.ends.append(self.answers - 1)
            self.asks.append(_ask(added))
        self.answers += 1


def _added(before: Sequence[Item], after: Sequence[Item]) -> list[Item]:
    """Returns the new content of a request after the previous answer."""
    old = sum(item.kind not in {"system", "thinking"} for item in before)
    new = [item for item in after if item.kind not in {"system", "thinking"}][old:]
    first = next((n for n, item in enumerate(new) if item.role != "assistant"), len(new))
    if not new[first:] or any(item.role == "assistant" for item in new[first:]):
        raise CannotBeGiven("the client prefilled the model's answer")
    return new[first:]


def _ask(items: Sequence[Item]) -> Ask:
    if any(item.kind == "result" and not item.id for item in items):
        raise CannotBeGiven("the conversation begins with results that have no id")
    return Ask(tuple(parts(items)))


def _enter(results: RecordedResults, calls: Sequence[Called], added: Sequence[Item]) -> None:
    """Adds the tools' results. Content beside an only result belongs to it, because media are sent so in formats with
    text results.
    """
    own = [item for item in added if item.kind == "result"]
    beside = [item for item in added if item.kind != "result" and item.within is None]
    media = [item for item in beside if item.media]
    if beside and (not media or len(own) > 1):
        raise CannotBeGiven("a user message contains text besides tool results")
    for number, result in enumerate(own):
        inside = [item for item in added if item.within is not None and item.within == result.id]
        call = (
            next((c for c in calls if c.id and c.id == result.id), None) or calls[min(number, len(calls) - 1)]
        )
        value = value_of(result, [*inside, *media])
        results.add(call.name, call.arguments or {}, ToolFailed(result.text) if result.error else value)


def _ended(making: _Making, told: Sequence[Told], conversation: Conversation) -> tuple[list[Ask], list[Step]]:
    """Returns the user's turns, each with its last answer, and the script."""
    recorded = conversation.recorded
    script, ends = list(_script(told, recorded)), [*making.ends, len(told) - 1]
    asks = [
        replace(ask, outcome="incomplete")
        if fails(recorded[end]) or is_cut(recorded[end], told[end])
        else replace(ask, text=told[end].text)
        for ask, end in zip(making.asks, ends, strict=True)
    ]
    if told[-1].calls and asks[-1].outcome == "answered":
        return [*asks[:-1], replace(asks[-1], text=END.text)], [*script, END]
    return asks, script


def _script(told: Sequence[Told], recorded: Sequence[Recorded]) -> Iterator[Step]:
    for answer, each in zip(told, recorded, strict=True):
        status = each.recording.status or 0
        if status == 429 or status >= 500:
            yield Failure("rate-limit" if status == 429 else "server-error")
        elif is_cut(each, answer):
            yield Cut(as_answer(answer))
        elif not fails(each):
            yield as_answer(answer)


def _needs(asks: Sequence[Ask], tools: Sequence[object]) -> frozenset[str]:
    parts: list[Part] = [part for ask in asks for part in ask.parts]
    found = {"tools"} if tools else set()
    found |= {"image_in_user"} if any(isinstance(part, Image) for part in parts) else set()
    found |= {"pdf_in_user"} if any(isinstance(part, PDF) for part in parts) else set()
    return frozenset(found)
