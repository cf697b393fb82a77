"""The form of tool results."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from .....scenarios.messages import ToolCall, ToolResult
from ....observed.exchange import Item
from ....observed.run import Run, ToolRun, call_key
from ....rule import Finding
from .._rulebook import LOSS, MUST, SHOULD, at, book, found, taken


@book.rule("PAIR-030", SHOULD, LOSS, source="https://github.com/microsoft/autogen/pull/7873")
def structured_results_are_json(run: Run) -> Iterator[Finding]:
    """An object or list from a tool reaches the model as equivalent JSON.

    Why: Python's `repr` has quotes and names, such as `None`, that are not JSON. Fix: write objects and lists with
    `json.dumps`, and not with `str`.
    """
    values = {
        call_key(r.name, r.arguments): r.value
        for r in run.tool_runs
        if isinstance(r.value, dict | list) and r.value and _is_plain(r.value)
    }
    for index, items in enumerate(run.sent_items) if values else ():
        ids = Counter(item.id for item in items if item.kind == "call")
        calls = {item.id: item for item in items if item.kind == "call" and ids[item.id] == 1 and item.id}
        for item in items:
            call = calls.get(item.id) if item.kind == "result" else None
            key = call_key(call.name, call.arguments) if call else ""
            if key in values:
                problem = f"{values[key]!r} was sent as {item.text[:120]!r}"
                yield found(_holds(item.text, values[key]), at(index, item), problem)


@book.rule(
    "PAIR-011",
    MUST,
    LOSS,
    source=[
        "https://github.com/posit-dev/positron/issues/7770",
        "https://github.com/agno-agi/agno/pull/9948",
    ],
)
def nothing_is_a_result(run: Run) -> Iterator[Finding]:
    """`None`, `""`, `0`, `False`, `[]` and `{}` are sent as results. Numbers and booleans stay readable, and an empty list or
    object is not sent as an empty text.

    Why: without the result, its call has no answer. An empty text does not tell the model that nothing was found. Fix:
    write each value that is no text as JSON, and do not test it for truth.
    """
    values = {
        call_key(r.name, r.arguments): r.value for r in run.tool_runs if not r.value and r.error is None
    }
    for index, items in enumerate(run.sent_items):
        for item, call in _with_calls(items):
            key = call_key(call.name, call.arguments) if call else ""
            if key in values and isinstance(values[key], bool | int):
                legible = str(values[key]).lower() in item.text.lower()
                yield found(legible, at(index, item), f"{values[key]!r} was sent as {item.text!r}")
            elif key in values:
                fine = bool(item.text.strip()) or not isinstance(values[key], list | dict)
                yield found(fine, at(index, item), f"{values[key]!r} was sent as an empty text")


def _with_calls(items: Sequence[Item]) -> Iterator[tuple[Item, Item | None]]:
    """Yields each result with its call: that with its id or, in a format without ids, the next one with its name."""
    calls = defaultdict[str, list[Item]](list)
    for item in items:
        if item.kind == "call":
            calls[item.id or item.name].append(item)
        elif item.kind == "result":
            asked = calls[item.id or item.name]
            yield item, asked.pop(0) if len(asked) > 1 else next(iter(asked), None)


def _is_plain(value: Any) -> bool:
    """Tells whether a value is plain JSON without media."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(each) for key, each in value.items())
    if isinstance(value, list):
        return all(_is_plain(each) for each in value)
    return value is None or isinstance(value, str | int | float | bool)


def _holds(text: str, value: Any) -> bool:
    """Tells whether the text is the value as JSON, or contains it under a key, as some formats need."""
    try:
        read = json.loads(text)
    except ValueError:
        return False
    return read == value or (isinstance(read, dict) and value in read.values())


@book.rule(
    "PAIR-031",
    MUST,
    LOSS,
    source="https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
)
def good_results_are_no_errors(run: Run) -> Iterator[Finding]:
    """The result of a tool that did not fail is not marked as an error.

    Why: a model that reads of a failure tries again, or tells the user that it failed. Fix: set the error flag only if
    the tool raised an exception or said that it failed.
    """
    for index, item, outcomes in results_with_runs(run):
        if all(each.error is None and _is_plain(each.value) for each in outcomes):
            problem = f"a good result is marked as an error: {item.text[:80]!r}"
            yield found(not _is_marked(item, outcomes), at(index, item), problem)


@book.rule(
    "PAIR-032",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
        "https://developers.openai.com/api/docs/guides/function-calling",
    ],
)
def failures_can_be_seen(run: Run) -> Iterator[Finding]:
    """The result of a failed tool differs from a successful one. It has the error flag, says that something failed, or
    names the error. So does the result of a call of a tool that there is not.

    Why: otherwise the model takes an empty or invented result for the truth. In formats without a flag, the text says
    it. Fix: set the error flag where the format has one, and begin the text with `Error:` where it has none.
    """
    for index, item, outcomes in results_with_runs(run):
        errors = [each.error for each in outcomes if each.error is not None]
        if errors and len(errors) == len(outcomes):
            named = any(str(error).strip("'") in item.text for error in errors if str(error).strip("'"))
            visible = item.error or named or _FAILED.search(item.text)
            yield found(visible, at(index, item), f"a failed tool is answered with {item.text[:80]!r}")
    yield from _of_unknown_tools(run)


def _of_unknown_tools(run: Run) -> Iterator[Finding]:
    """Finds results of unknown tools that do not say that the tool is unknown."""
    known = {tool.name for tool in run.case.tools}
    unknown = {call.name for _, calls in run.calls() for call in calls} - known
    for index, items in taken(run) if known and unknown else ():
        ids = {item.id for item in items if item.kind == "call" and item.name in unknown and item.id}
        for item in items:
            if item.kind == "result" and item.id in ids:
                told = item.error or _FAILED.search(item.text) or _UNKNOWN.search(item.text)
                problem = f"the call of a tool that there is not is answered with {item.text[:80]!r}"
                yield found(told, at(index, item), problem)


def _texts_beside_media(run: Run) -> Iterator[Finding]:
    """Yields whether the texts of lists with media are in the requests that have the results, be it in another place."""
    for index, item, outcomes in results_with_runs(run):
        texts = [text for each in outcomes if not _is_plain(each.value) for text in _texts(each.value)]
        shown = any(
            each.media for each in run.sent_items[index]
        )  # else the result may say that media cannot be shown
        if texts and shown and not item.error:
            told = [_words(each) for each in run.sent_items[index] if each.role != "assistant"]
            lost = [text for text in texts if not any(text in each for each in told)]
            problem = f"the tool returned {_quoted(lost[0])} beside media, and no text has it" if lost else ""
            yield found(not lost, at(index, item), problem)


def _supplied(run: Run) -> Iterator[Finding]:
    """Yields whether each result that the caller supplied is in a request."""
    for number, wanted in enumerate(run.case.steps[: len(run.replies)]):
        supplied = [part.value for part in wanted.parts if isinstance(part, ToolResult)]
        values = [*filter(_can_be_compared, supplied)]
        sent = [item for _, items in taken(run) for item in items if item.kind == "result"]
        for value in values if sent else ():
            problem = f"the caller supplied {_quoted(value)}, and the model gets {sent[-1].text[:80]!r}"
            yield found(any(_is_whole(item.text, value) for item in sent), f"/replies/{number}", problem)


def _words(item: Item) -> str:
    """Returns the text of an item, or that of a document that is a text, such as a part of a Gemini response."""
    if item.media and item.media.type.startswith("text/"):
        return item.media.data.decode("utf-8", "replace")
    return item.text


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value if isinstance(value, list | tuple) else ():
        yield from _texts(each)


#: Words that say that there is no such tool.
_UNKNOWN = re.compile(r"unknown|\bno\b|\bnot\b|n't|missing|unavailable|undefined", re.IGNORECASE)


@book.rule(
    "PAIR-033",
    MUST,
    LOSS,
    source=[
        "https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
        "https://developers.openai.com/api/docs/guides/function-calling",
        "https://github.com/agentjido/req_llm/pull/701",
        "https://github.com/QwenLM/qwen-code/issues/9573 (a result of the caller)",
    ],
)
def results_are_what_tools_returned(run: Run) -> Iterator[Finding]:
    """A result without media is the value that the tool returned, whole, and nothing else. A text may be inside JSON.
    An object may have another form than JSON (PAIR-030) if its keys and values can be read. Texts beside media are in the request.
    A result that the caller supplies is sent as it is.

    Why: the model believes that the tool returned these words and values. Fix: send the tool's value alone, without
    labels, logs or the call's arguments.
    """
    yield from _texts_beside_media(run)
    yield from _supplied(run)
    for index, item, outcomes in results_with_runs(run):
        values = [each.value for each in outcomes if each.error is None and _can_be_compared(each.value)]
        if values and len(values) == len(outcomes) and not item.error:
            problem = f"the tool returned {_quoted(values[0])}, and the model gets {item.text[:80]!r}"
            of_others = [
                run_of.value for run_of in run.tool_runs if _can_be_compared(run_of.value)
            ]  # PAR-004
            fine = any(_is_whole(item.text, value) for value in (*values, *of_others))
            yield found(fine, at(index, item), problem)


@book.rule(
    "PAIR-034",
    MUST,
    LOSS,
    source="https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls",
)
def failures_say_why(run: Run) -> Iterator[Finding]:
    """The result of a tool that raised an error has the words of the error.

    Why: a model that knows what was wrong can correct its call. The documentation asks for instructive messages. Fix:
    put the exception's message into the result.
    """
    for index, item, outcomes in results_with_runs(run):
        words = [str(each.error).strip("'") for each in outcomes if each.error is not None]
        if words and len(words) == len(outcomes) and all(words):
            told = any(is_written(item.text, each) for each in words)
            yield found(
                told, at(index, item), f"the tool raised {words[0]!r}, and the model gets {item.text[:80]!r}"
            )


def _can_be_compared(value: Any) -> bool:
    """Tells whether a value has something to compare: text, or an object or list of plain values."""
    return bool(value) and isinstance(value, str | dict | list) and _is_plain(value)


def _is_whole(text: str, value: Any) -> bool:
    """Tells whether the text of a result is a value: as it is, as JSON, inside of JSON, or written in another way."""
    read, own = _read(text), _read(value) if isinstance(value, str) else value
    if _alike(text, value):
        return True
    if any(each in (value, own) or _alike(each, value) for each in _within(read)):
        return True
    if isinstance(value, str):
        return False
    return any(
        _read(each) == value
        or (_read(each) == each and all(is_written(each, leaf) for leaf in _leaves(value)))
        for each in _wrapped(read)
    )


def _wrapped(value: Any) -> list[str]:
    """Returns a text, or that of an object or list that has nothing else."""
    while isinstance(value, dict | list) and len(value) == 1:
        value = next(iter(value.values() if isinstance(value, dict) else value))
    return [value] if isinstance(value, str) else []


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _alike(one: Any, other: Any) -> bool:
    """Tells whether two texts are the same without the white space around them."""
    return isinstance(one, str) and isinstance(other, str) and one.strip() == other.strip()


def _within(value: Any) -> Iterator[Any]:
    """Yields a value and everything in it."""
    yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _within(each)


def _leaves(value: Any) -> Iterator[Any]:
    """Yields the keys and the scalars of a value."""
    if isinstance(value, dict):
        yield from value
        for each in value.values():
            yield from _leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


_NOTHING = ("null", "none", "nil")


def is_written(text: str, value: Any) -> bool:
    """Tells whether a scalar is in a text, plain or as JSON or Python writes it."""
    if value is None:
        return any(word in text.lower() for word in _NOTHING)
    if isinstance(value, str):
        return any(form in text for form in (value, *_as_written(value)))
    return str(value).lower() in text.lower()


def _as_written(text: str) -> Iterator[str]:
    """Yields a text as JSON and Python write it."""
    yield from (json.dumps(text, ensure_ascii=ascii)[1:-1] for ascii in (False, True))
    yield repr(text)[1:-1]


def _quoted(value: Any) -> str:
    return repr(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:80]


_FAILED = re.compile(
    r"error|fail|exception|unable|invalid|could not|cannot|can't|wrong|traceback|raised", re.IGNORECASE
)
#: Words at the beginning of a result that say of a good one that it failed.
_MARKED = re.compile(
    r"""^\W*(?:"?(?:is_?)?error"?\s*:|(?:tool )?(?:error|failed|failure)\b)""", re.IGNORECASE
)


def _is_marked(item: Item, outcomes: Sequence[ToolRun]) -> bool:
    """Tells whether a result says that it is an error, by its flag or in its first words."""
    own = any(_MARKED.search(str(each.value)) for each in outcomes)
    return item.error or bool(not own and _MARKED.search(item.text))


def results_with_runs(run: Run) -> Iterator[tuple[int, Item, list[ToolRun]]]:
    """Yields each new result whose id names one call, with the runs of the tool for that call."""
    earlier = {part.id for turn in run.case.history for part in turn.parts if isinstance(part, ToolCall)}
    runs = defaultdict[str, list[ToolRun]](list)
    for each in run.tool_runs:
        runs[call_key(each.name, each.arguments)].append(each)
    for index, items in taken(run) if runs else ():
        ids = Counter(item.id for item in items if item.kind == "call")
        calls = {item.id: item for item in items if item.kind == "call" and item.id and ids[item.id] == 1}
        for item in items:
            call = calls.get(item.id) if item.kind == "result" and item.id not in earlier else None
            if call is not None and (outcomes := runs.get(call_key(call.name, call.arguments))):
                yield index, item, outcomes
