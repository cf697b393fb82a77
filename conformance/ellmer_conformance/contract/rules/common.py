"""Losses that a single request shows, for every wire format: the API answers 200, and data is lost.

The rules judge the content of a request (`readers.read`), so one function serves every book. `enter()` adds them to a
book.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...scenarios.messages import Image, Part, Text, ToolCall, ToolResult, Turn
from .. import readers
from ..observed.exchange import Json, Request
from ..readers.json_access import decoded, elements, object_of
from ..rule import Finding, Kind, Level, broken, met
from ..rulebook import RuleBook
from ._media import IMAGE_TYPES, PNG, redacted, sniffed

MUST, SHOULD, LOSS = Level.MUST, Level.SHOULD, Kind.LOSS

_LONG = 400  # letters from which a run of them may be a file
#: An image as NVIDIA's models take it: the recorded answer locates each line of text in it.
#: https://github.com/Future-House/paper-qa/tree/d2c3c698fdf06986aa021812ab3186d3696438d8/packages/paper-qa-nemotron/tests/cassettes
_IMG = re.compile(r'<img src="data:image/[\w.+-]+;base64,[^"]*" ?/?>')
_BASE64 = re.compile(rf"[A-Za-z0-9+/]{{{_LONG},}}|[A-Za-z0-9_-]{{{_LONG},}}")
_RUN = re.compile(r"[A-Za-z0-9+/_-]*")
_NUMBER = re.compile(r" \(\d+\)$")  # of one of several calls of a function
_TAG = re.compile(r"<(?:tool-)?content tool-call-id=\"(?P<id>[^\"]*)\"")
_MARK = re.compile(
    r"\[see below(?:: item \d+(?:\.[\w.]+)?)?\]|See <(?:tool-)?content call-id=\"[^\"]*\"> below"
)


Render = Callable[[Sequence[Turn]], Json]


def enter(book: RuleBook, render: Render | None = None, *, out_of_reach: Iterable[str] = ()) -> None:
    """Adds the rules of this module to a book. `render` writes their examples in its wire format. A rule that no request
    in the format can break (`out_of_reach`) has no example that breaks it.
    """
    for id, (level, source, check, good, bad) in _RULES.items():
        examples = [render(good)] if render else []
        counterexamples = [render(bad)] if render and id not in {*out_of_reach} else []
        enter_one = book.rule(
            id, level, LOSS, source=source, examples=examples, counterexamples=counterexamples
        )
        enter_one(check)


def media_is_not_text(request: Request) -> Iterator[Finding]:
    """An image or document is sent as media, not as base64 in text.

    Why: the model reads thousands of tokens of base64 and invents an answer. Fix: send a media part, or say
    in words what was left out. NVIDIA's models read images in the `img` tags of a text.
    """
    tagged = request.model.startswith("nvidia/")
    for item in readers.read(request):
        if item.kind in {"text", "result"} and len(item.text) >= _LONG:
            text = _IMG.sub("", item.text) if tagged else item.text
            dumped = any(_is_media(run) for run in _long_runs(text))
            yield broken(item.pointer, "the text has a file in base64 in it") if dumped else met(item.pointer)


def moved_media_names_its_call(request: Request) -> Iterator[Finding]:
    """Content that was moved out of a tool result is tagged with the id of its tool call.

    Why: with parallel calls, the model must know which call returned the image. Fix: tag it with the id from
    the request (the name of the function, where the call has no id), and place it after all results.
    """
    ids: set[str] = set()
    names: set[str] = set()  # of functions whose calls have no ids
    for item in readers.read(request):
        if item.kind in {"call", "result"}:
            ids.add(item.id)
            names |= set() if item.id else {item.name}
        elif item.kind == "text" and (tag := _TAG.search(item.text)):
            fine = tag["id"] in ids or not any(ids) or _NUMBER.sub("", tag["id"]) in names
            problem = f"the tag names {tag['id']!r}, and no call before it has that id"
            yield met(item.pointer) if fine else broken(item.pointer, problem)


def a_pointer_points_at_something(request: Request) -> Iterator[Finding]:
    """A result that says "see below" is followed by the content it announces.

    Why: otherwise the tool's image is lost, and the model is told to look at it. Fix: send the content in the
    same turn.
    """
    found = readers.read(request)
    last = max((index for index, item in enumerate(found) if item.media), default=-1)
    for index, item in enumerate(found):
        if item.kind == "result" and "below" in item.text and (mark := _MARK.search(item.text)):
            # a server of tools sends both in one result
            inside = 0 < item.text.find("<content ", mark.end()) < item.text.rfind("</content>")
            there = inside or (last > index and found[last].turn >= item.turn)
            yield (
                met(item.pointer)
                if there
                else broken(item.pointer, "no content follows that it could refer to")
            )


def media_decodes(request: Request) -> Iterator[Finding]:
    """Inline media is valid base64, with one `data:` prefix or none, as the wire format requires.

    Why: an API refuses other text, or reads other bytes from it. Fix: encode with the standard alphabet and
    padding, without line breaks, and remove a second prefix.
    """
    for item in readers.read(request):
        if item.media:
            inline = item.media.data or not item.media.url
            text = item.media.url
            legal = re.match(r"[\w+.-]{2,}:|[\w-]{1,128}$", text) or redacted(text)
            torn = not inline and (text.startswith("data:") or not legal)
            empty = inline and not item.media.data
            problem = "it has no bytes" if empty else "the data is not base64"
            yield broken(item.pointer, problem) if torn or empty else met(item.pointer)


def media_type_fits(request: Request) -> Iterator[Finding]:
    """The declared media type matches the bytes.

    Why: some APIs refuse a PNG that is declared as JPEG, and others misread it. Fix: detect the type from the
    bytes, not from the file name.
    """
    for item in readers.read(request):
        if item.media and item.media.data and (found := sniffed(item.media.data)):
            told = item.media.type.replace("image/jpg", "image/jpeg").replace("image/*", found)
            both = {found, told} <= {*IMAGE_TYPES, "application/pdf"}
            wrong = both and told != found
            yield (
                broken(item.pointer, f"it is declared as {told}, but it is {found}")
                if wrong
                else met(item.pointer)
            )


def results_keep_the_order_of_calls(request: Request) -> Iterator[Finding]:
    """The results of parallel calls are in the order of the calls.

    Why: wire formats without ids match by position, and a stable order keeps the prompt cacheable. Fix: sort the
    results by the order of their calls before you send them.
    """
    calls: dict[str, list[int]] = {}  # the places of the calls by their ids, which may not be unique
    answered: Counter[str] = Counter()
    count, last, ordered = 0, -1, True
    for item in readers.read(request):
        if item.kind == "call" and item.id:
            if answered:
                calls, answered, last, ordered = {}, Counter(), -1, True
            calls.setdefault(item.id, []).append(count)
            count += 1
        elif item.kind == "result" and item.id in calls:
            places, number = calls[item.id], answered[item.id]
            place = places[number] if number < len(places) else -1
            answered[item.id] += 1
            ordered, last = ordered and place > last, place
            yield (
                met(item.pointer)
                if ordered
                else broken(item.pointer, f"{item.id!r} is not in the order of the calls")
            )


def results_say_something(request: Request) -> Iterator[Finding]:
    """A tool result is not empty.

    Why: the model cannot tell an empty answer from a lost one. Fix: send `null`, `[]` or "(no output)".
    """
    found = readers.read(request)
    carrying = {item.within for item in found if item.media or item.kind == "other"}  # references, say
    for item in found:
        if item.kind == "result":
            empty = not item.text.strip() and item.id not in carrying
            yield broken(item.pointer, "the result is empty") if empty else met(item.pointer)


def names_of_results(messages: Iterable[tuple[str, Json]], key: str) -> Iterator[Finding]:
    """Finds results that have another name than the tool that was called. `key` is the field with the name.

    A result of a call that the request does not have is another rule's. Calls may come without ids.
    """
    called: set[str] = set()
    of_ids: dict[str, set[str]] = {}
    for pointer, message in messages:
        for _, each in elements(message.get("tool_calls"), ""):
            name = str(object_of(each.get("function")).get("name"))
            called.add(name)
            if each.get("id"):
                of_ids.setdefault(str(each["id"]), set()).add(name)
        if message.get("role") == "tool" and called and (name := str(message.get(key) or "")):
            place = f"{pointer}/{key}"
            fine = name in of_ids.get(str(message.get("tool_call_id")), called)
            yield met(place) if fine else broken(place, f"no tool {name!r} was called")


def _long_runs(text: str) -> Iterator[str]:
    """Yields long texts that may be base64 of a file, in either alphabet. It looks only at every `_LONG`th character
    for a run.
    """
    begin, place = 0, _LONG - 1
    while place < len(text):
        end = _end_of_run(text, place)
        if end > place:
            before = text[begin:place][::-1]
            yield from _BASE64.findall(text, place - _end_of_run(before, 0), end)
        begin, place = end, end + _LONG


def _end_of_run(text: str, place: int) -> int:
    found = _RUN.match(text, place)
    return found.end() if found else place


def _is_media(run: str) -> bool:
    return bool(sniffed(decoded(run[:64]) or b""))


_PNG = b64decode(PNG)
_DUMP = b64encode(_PNG + bytes(400)).decode()


def _loop(*results: ToolResult, then: Sequence[Part] = ()) -> list[Turn]:
    """Returns a conversation in which two calls, `a` and `b`, are answered."""
    calls = (ToolCall("a", "add", {"x": 2}), ToolCall("b", "add", {"x": 3}))
    return [Turn("user", (Text("Add."),)), Turn("assistant", calls), Turn("user", (*results, *then))]


def _shows(image: Image) -> list[Turn]:
    return [Turn("user", (Text("What is this?"), image))]


_A, _B, _BELOW = ToolResult("a", "5"), ToolResult("b", "6"), ToolResult("b", "[see below]")
_FINE = _loop(_A, _B)

# id: level, source, check, a conversation that is fine, one that is not
_RULES: dict[str, tuple[Level, str, Callable[[Request], Iterator[Finding]], list[Turn], list[Turn]]] = {
    "ORD-006": (
        SHOULD,
        "https://github.com/maximhq/bifrost/pull/4410",
        results_keep_the_order_of_calls,
        _FINE,
        _loop(_B, _A),
    ),
    "TRM-002": (
        MUST,
        "https://github.com/vercel/ai/issues/21174",
        media_is_not_text,
        _loop(ToolResult("a", "long " * 200), _B),
        _loop(_A, ToolResult("b", f'{{"image": "{_DUMP}"}}')),
    ),
    "TRM-005": (
        MUST,
        "https://github.com/tidyverse/ellmer/pull/735",
        moved_media_names_its_call,
        _loop(_A, _BELOW, then=[Text('<content tool-call-id="b">'), Image(_PNG), Text("</content>")]),
        _loop(_A, _BELOW, then=[Text('<content tool-call-id="c">'), Image(_PNG), Text("</content>")]),
    ),
    "TRM-016": (
        MUST,
        "https://github.com/tidyverse/ellmer/pull/735",
        a_pointer_points_at_something,
        _loop(_A, _BELOW, then=[Image(_PNG)]),
        _loop(_A, _BELOW),
    ),
    "TRM-009": (
        SHOULD,
        "https://github.com/1jehuang/jcode/issues/465",
        media_type_fits,
        _shows(Image(_PNG)),
        _shows(Image(_PNG, "image/jpeg")),
    ),
    "IMG-004": (
        MUST,
        "https://www.rfc-editor.org/rfc/rfc4648",
        media_decodes,
        _shows(Image(_PNG)),
        _shows(Image(b"")),
    ),
    "EMP-005": (
        SHOULD,
        "https://github.com/camunda/connectors/pull/5392",
        results_say_something,
        _FINE,
        _loop(_A, ToolResult("b", "")),
    ),
}
