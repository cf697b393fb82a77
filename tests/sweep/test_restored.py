"""Whatever a history from elsewhere holds, the next request is legal at every provider, nothing is lost silently, and the history
keeps the original.
"""

from __future__ import annotations

import inspect
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, get_args
from urllib.parse import urlsplit

import pytest

import ellmer_core as ec
from ellmer_conformance.server import StrictServer
from ellmer_core import AssistantPartialTurn, AssistantTurn, ContentToolRequest, ContentToolResult, UserTurn
from ellmer_core.contents.content import AnyContent, replaced
from ellmer_core.contents.turns import Turn
from ellmer_core.conversation.repaired_turns import repaired

sys.path.append(str(Path(__file__).parents[1]))  # the sweep is a package of these tests

from sweep.every_content import BROKEN, NESTED, NO_CONTENTS, WHOLE, Foreign
from sweep.grid import Cell, Provider, one_of_each
from sweep.judge import _chat, refusal, request_of

pytestmark = pytest.mark.slow

ASKED = UserTurn("a question")
CALL = ContentToolRequest("call_1", "f", {"a": 1})
SAME = ContentToolRequest("call_1", "f", {"a": 2})


def found(what: Any, request: ContentToolRequest | None = CALL) -> ContentToolResult:
    return ContentToolResult(what, request=request)


def called(request: ContentToolRequest) -> list[Turn]:
    return [ASKED, AssistantTurn([request]), UserTurn([found("found it", request)]), AssistantTurn("done")]


#: Each history has the words of a warning, `""` for a history that needs no repair, and the words that a request must have.
Restored = tuple[list[Turn], str, list[str]]


def is_empty(value: object) -> bool:
    """Tells whether a value is empty. Arrays and frames with values do not answer."""
    try:
        return not value
    except (TypeError, ValueError):
        return False


HISTORIES: dict[str, Restored] = {
    "nothing": ([], "", []),
    "an empty message": ([UserTurn([]), AssistantTurn("hello")], "", ["hello"]),
    "a result without a call": (
        [ASKED, AssistantTurn("an answer"), UserTurn([found("found it")]), AssistantTurn("done")],
        "a result without its call (f, 'call_1')",
        ["an answer", "The tool f returned", "found it"],
    ),
    "a result without a call, at the beginning": (
        [UserTurn([found("found it"), "so?"]), AssistantTurn("done")],
        "a result without its call",
        ["found it", "so?"],
    ),
    "a result that names no call": (
        [ASKED, AssistantTurn([CALL]), UserTurn([found("found it", None)]), AssistantTurn("done")],
        "a result that names no call (f, 'call_1')",
        ["found it"],
    ),
    "a result that names no call, without a call": (
        [ASKED, AssistantTurn("an answer"), UserTurn([found("found it", None)]), AssistantTurn("done")],
        "a result without its call",
        ["A tool returned", "found it"],
    ),
    "two results for a call": (
        [ASKED, AssistantTurn([CALL]), UserTurn([found("found it"), found("found that")])],
        "a result without its call",
        ["found it", "found that"],
    ),
    "two results for a call, in two messages": (
        [ASKED, AssistantTurn([CALL]), UserTurn([found("found it")]), UserTurn([found("found that")])],
        "a result without its call",
        ["found it", "found that"],
    ),
    "a result after a message": (
        [ASKED, AssistantTurn([CALL]), UserTurn("wait"), UserTurn([found("found it"), "now"])],
        "",
        ["wait", "found it", "now"],
    ),
    "a result after another answer": (
        [ASKED, AssistantTurn([CALL]), UserTurn("wait"), AssistantTurn("waiting"), UserTurn([found("it")])],
        "a call without a result (f, 'call_1'), a result without its call (f, 'call_1')",
        ["Chat ended before the tool could be invoked", "waiting", "The tool f returned"],
    ),
    "a result with an image, without a call": (
        [ASKED, UserTurn([found({"seen": WHOLE["image"], "words": "found it"})]), AssistantTurn("done")],
        "a result without its call",
        ["found it"],
    ),
    "a result in an answer": (
        [ASKED, AssistantTurn(["looking", CALL, found("found it"), "an answer"])],
        "a result in an answer",
        ["looking", "found it", "an answer"],
    ),
    "a call of the user": ([UserTurn(["a question", CALL]), AssistantTurn("done")], "", ["a question"]),
    "a call without a result": (
        [ASKED, AssistantTurn([CALL]), UserTurn("never mind"), AssistantTurn("fine")],
        "a call without a result (f, 'call_1')",
        ["Chat ended before the tool could be invoked", "never mind"],
    ),
    "a call without a result, before an answer": (
        [ASKED, AssistantTurn([CALL]), AssistantTurn("fine")],
        "a call without a result",
        ["Chat ended before the tool could be invoked", "fine"],
    ),
    "a call without a result, in the end": ([ASKED, AssistantTurn([CALL])], "", ["Chat ended"]),
    "a call that was cut off": ([ASKED, AssistantPartialTurn([CALL]), UserTurn("so?")], "a call without", []),
    "two calls with one id": (
        [ASKED, AssistantTurn([CALL, SAME]), UserTurn([found("second", SAME), found("first")])],
        "a second call with the id of another (f, 'call_1')",
        ["first", "second"],
    ),
    "two calls with one id, in the end": ([ASKED, AssistantTurn([CALL, SAME])], "", ["Chat ended"]),
    "two calls with one id, one result": (
        [ASKED, AssistantTurn([CALL, SAME]), UserTurn([found("second", SAME)])],
        "a second call with the id of another (f, 'call_1'), a call without a result (f, 'call_1')",
        ["second"],
    ),
    "the same id again": ([*called(CALL), *called(CALL)], "", ["found it"]),
    **{
        f"the name {name[:9]!r}": (
            called(ContentToolRequest("call_1", name, {})),
            "a call with a name that is not allowed",
            ["found it"],
        )
        for name in ("get weather", "", "x" * 100, "größe", "a.b", "a\ud800")
    },
    **{
        f"the id {id[:9]!r}": (called(ContentToolRequest(id, "f", {})), "", ["found it"])
        for id in ("", "x" * 200, "toolu/1 ü", "\ud800")
    },
    **{
        f"arguments with {name}": (
            called(ContentToolRequest("call_1", "f", {"a": value})),
            "the arguments of a call, which are not JSON, (f, 'call_1')",
            ["found it"],
        )
        for name, value in NO_CONTENTS.items()
        if not is_empty(value)
    },
    "an error that is no text": (
        [ASKED, AssistantTurn([CALL]), UserTurn([replaced(found(None), error=b"it failed")])],
        "",
        ["it failed"],
    ),
}


def put(content: Any) -> Iterator[list[Turn]]:
    """Yields conversations with a value in each place where one can be."""
    if isinstance(content, ec.Content):
        yield [UserTurn(["Look:", content]), AssistantTurn("done")]
        yield [UserTurn([content]), AssistantTurn("done")]
        yield [ASKED, AssistantTurn(["Look:", content, "Well?"])]
        yield [ASKED, AssistantTurn([content])]
        yield [ASKED, AssistantTurn([content]), UserTurn("Go on."), AssistantTurn("done")]
        yield [ec.SystemTurn(["Be brief.", content]), ASKED, AssistantTurn("done")]
    for nested in NESTED.values():
        value = nested(content)
        result = value if isinstance(value, ContentToolResult) else ContentToolResult(value)
        yield [
            ASKED,
            AssistantTurn([CALL]),
            UserTurn([replaced(result, request=CALL)]),
            AssistantTurn("done"),
        ]
        yield [ASKED, UserTurn([replaced(result, request=CALL), "Well?"]), AssistantTurn("done")]


def chat_at(provider: Provider, turns: list[Turn] | None = None) -> ec.Chat:
    chat = _chat(Cell(provider, provider.wire.default_model or provider.place.model, {}))
    chat.set_turns(turns or [])
    return chat


every_provider = pytest.mark.parametrize("provider", one_of_each(), ids=lambda provider: provider.name)


def test_the_list_has_every_public_content():
    public = {value for name in ec.__all__ if inspect.isclass(value := getattr(ec, name))}
    contents = {cls for cls in public if issubclass(cls, ec.Content)} - {ec.Content, ec.ContentImage}
    assert contents >= set(get_args(AnyContent))
    assert {type(content) for content in WHOLE.values()} == contents
    assert {type(content) for content in BROKEN.values()} >= {Foreign, ec.ContentUploaded}


@every_provider
def test_the_next_request_is_legal_after_any_content_in_any_place(provider):
    refused = {}
    for bundle in bundles():
        if refusal_after(provider, [turn for turns in bundle for turn in turns]):
            refused |= {str(turns)[:200]: refusal_after(provider, turns) for turns in bundle}
    assert refused == {}


def bundles() -> Iterator[list[list[Turn]]]:
    """Yields conversations that can follow each other in one history: a system prompt comes first."""
    values = {**WHOLE, **BROKEN, **NO_CONTENTS}.values()
    several: list[list[Turn]] = []
    for turns in (turns for value in values for turns in put(value)):
        if isinstance(turns[0], ec.SystemTurn):
            yield [turns]
        else:
            several.append(turns)
    yield from (several[start : start + 20] for start in range(0, len(several), 20))


def refusal_after(provider: Provider, turns: list[Turn]) -> str | None:
    """Returns why the next request after these turns would be refused. The chat's own turns do not change."""
    chat = chat_at(provider, turns)
    with warnings.catch_warnings(action="ignore"):
        why = refusal(provider, chat)
    assert list(map(id, chat.get_turns(include_system_prompt=True))) == list(map(id, turns))
    assert str(chat)
    return why


@every_provider
@pytest.mark.parametrize(("turns", "named", "words"), HISTORIES.values(), ids=HISTORIES)
def test_the_next_request_is_legal_after_any_history(provider, turns, named, words):
    chat = chat_at(provider, turns)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert refusal(provider, chat) is None
        sent = body(chat)
    told = [str(w.message) for w in caught if "so it is sent in another form" in str(w.message)]
    assert len(told) == bool(named), "a warning comes once"
    assert named in "".join(told)
    printed = str(chat)
    assert [word for word in words if word not in printed and word != "Chat ended"] == []
    assert [word for word in words if word not in sent] == []


def body(chat: ec.Chat) -> str:
    """Returns the next request as text, where the characters are not escaped."""
    return json.dumps(json.loads(request_of(chat).body), ensure_ascii=False)


#: What no file can have, and what a file has as text.
NOT_IN_FILES = ("an error that is no text", "object", "circle", "10,000 digits")


@pytest.mark.parametrize("name", [n for n in HISTORIES if not any(each in n for each in NOT_IN_FILES)])
def test_a_history_from_a_file_is_the_same(name):
    provider = one_of_each()[0]
    chat, other = chat_at(provider, HISTORIES[name][0]), chat_at(provider)
    other.restore(json.loads(json.dumps(chat.record())))
    with warnings.catch_warnings(action="ignore"):
        assert body(other) == body(chat)


def test_a_second_system_prompt_in_a_file_is_refused_and_the_chat_does_not_change():
    chat, record = chat_at(one_of_each()[0], [ASKED]), chat_at(one_of_each()[0], [ASKED]).record()
    record["props"]["turns"] += ec.contents_record([ec.SystemTurn("a")])
    with pytest.raises(ec.UsageError, match=r"turns\[1\] is a SystemTurn"):
        chat.restore(record)
    assert chat.get_turns() == [ASKED]


def test_the_broken_parts_of_a_result_are_named_for_the_developer():
    chat = ec.chat_openai(model="gpt-5.4", api_key="k")
    chat.set_turns([ASKED, AssistantTurn([CALL]), UserTurn([found(float("nan"))]), AssistantTurn("done")])
    with pytest.warns(ec.EllmerWarning, match=r"which is not JSON, \(f, 'call_1'\)"):
        sent = body(chat)
    assert "`value` is float. nan cannot be written as JSON" in sent
    assert str(chat.get_turns()[2].tool_results[0].value) == "nan"


def test_a_decision_is_about_one_of_two_calls_with_one_id():
    chat = ec.chat_openai(model="gpt-5.4", api_key="k")
    chat.set_turns([ASKED, AssistantTurn([CALL, SAME])])
    first, second = chat.get_turns()[-1].tool_requests
    assert (first.id, second.id) == ("call_1", "call_1_2")
    assert second.arguments == {"a": 2}


def tool_rounds(count: int) -> list[Turn]:
    calls = [ContentToolRequest(f"call_{n}", "f", {"n": n, "rows": [{"a": n}] * 5}) for n in range(count)]
    return [
        turn
        for call in calls
        for turn in (
            UserTurn("Go on."),
            AssistantTurn([call]),
            UserTurn([found({"rows": [{"a": 1, "b": "x"}] * 5}, call)]),
            AssistantTurn("Yes."),
        )
    ]


def test_a_long_history_is_looked_at_once():
    turns = tool_rounds(1000)
    whole = repaired(turns)
    assert whole.named == []
    assert all(new is old for new, old in zip(whole.turns, turns, strict=True))
    assert calls_of(turns) < 100, "the first look is kept: what is left runs no function for each turn"


def calls_of(turns: list[Turn]) -> int:
    """Returns how many functions of Python run while the turns are repaired."""
    count = 0

    def notice(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(notice)
    try:
        repaired(turns)
    finally:
        sys.setprofile(None)
    return count


def test_a_long_broken_history_is_repaired_in_a_time_that_grows_with_it():
    def broken(count: int) -> list[Turn]:
        return [turn for turn in tool_rounds(count) if turn.text != "Yes."][1::2] * 2

    short, long = (calls_of(broken(count)) for count in (200, 2000))
    assert long < short * 12, "ten times as long"


WIRES = {provider.key[0]: provider for provider in reversed(one_of_each())}.values()


@pytest.mark.parametrize("provider", WIRES, ids=lambda provider: provider.key[0])
def test_the_strict_server_answers_after_each_history(provider, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    with StrictServer() as server:
        key = {"api_key": "k"} if provider.wire.key_vars else {}
        url = server.origin + urlsplit(provider.url).path
        model = provider.wire.default_model or provider.place.model
        chat = provider.construct(model=model, base_url=url, echo="none", max_tries=1, **key)
        for name, (turns, _, _) in HISTORIES.items():
            with warnings.catch_warnings(action="ignore"), chat.fork() as fork:
                fork.set_turns(turns)
                assert fork.chat("And now?"), name
        assert len(server.requests) >= len(HISTORIES)
        assert [(each.rule.id, each.message) for entry in server.requests for each in entry.violations] == []
