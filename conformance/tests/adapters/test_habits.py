"""Adapters that are correct in another way than ours are not blamed. (Wrong ones are in `broken_on_purpose`.)"""

import json
from dataclasses import replace
from typing import ClassVar

import httpx
import pytest
from broken_on_purpose import BrokenAdapter

from ellmer_conformance.runner.against_server import play_direct
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.scenarios.cases import all_cases, scripts
from ellmer_conformance.server import StrictServer

CASES = all_cases()
RESPONSES = ("openai-responses",)


class LimitReached(Exception):
    """The library's own error."""


class Habit(BrokenAdapter):
    """Our adapter with a habit; `cases` are those that the habit affects."""

    caught_by = ()
    cases: ClassVar[tuple[str, ...]]


class LooksAroundFirst(Habit):
    """Asks for the list of models before each request."""

    cases = ("plain_text", "one_tool")

    def exchange(self, transport, request):
        models = self.endpoint.base_url + "/models"
        httpx.get(models, headers={k: v for k, v in request.headers.items() if k.startswith(("x-", "auth"))})
        return super().exchange(transport, request)


class TellsAll(Habit):
    """The reply includes the model's text before its calls."""

    cases = ("text_then_tool",)

    def reply(self, reply):
        return replace(reply, text=f"Let me look. {reply.text}")


class AddsUp(Habit):
    """The token counts of a reply are the sum over all its requests."""

    cases = ("one_tool",)

    def reply(self, reply):
        return replace(reply, usage={"input": 40 + 70, "output": 18 + 10})


class RaisesAtTheLimit(Habit):
    """A call that the limit truncated raises the library's own error."""

    cases = ("length_inside_arguments",)
    on = ("openai-chat", "openai-responses", "anthropic")

    def reply(self, reply):
        raise LimitReached


class StopsAtTheLimit(Habit):
    """A call that the limit truncated gives a reply that is marked as incomplete."""

    cases = ("length_inside_arguments",)
    on = ("openai-chat", "openai-responses", "anthropic")

    def reply(self, reply):
        return replace(reply, text="", stop="length", complete=False)


class UsesTheProvidersWords(Habit):
    """Stop reasons are the provider's, unchanged."""

    cases = ("length_inside_text",)
    on = ("anthropic", "gemini")
    words: ClassVar = {"anthropic": "max_tokens", "gemini": "MAX_TOKENS"}

    def reply(self, reply):
        return replace(reply, stop=self.words[self.endpoint.wire] if reply.stop == "length" else reply.stop)


class RefusesSharedIds(Habit):
    """An answer with ambiguous calls is an error."""

    cases = ("calls_with_one_id",)
    on = ("openai-chat", "openai-responses", "anthropic")

    def exchange(self, transport, request):
        response = super().exchange(transport, request)
        if response.read().count(b"call_twice1") > 1:
            raise LimitReached
        return response


class NeverStreams(Habit):
    """Requests whole answers, and returns them as streams of one piece."""

    cases = (
        "failed_after_text",
        "lines_of_any_kind",
        "news",
        "crosswise_calls",
        "broken_anywhere",
        "one_tool",
    )
    mode = "stream"

    def session(self, endpoint, **more):
        session = super().session(endpoint, **more)
        send = session.send
        session.send = lambda parts, *, stream: send(parts, stream=False)
        return session


class LeavesItToTheServer(Habit):
    """Sends only new content, after the answer that the provider stores."""

    cases = ("sequential_tools", "tool_returns_image", "five_parallel_tools")
    on = RESPONSES
    known = 0
    kept = ""

    def body(self, body):
        body = {**body, "store": True, "input": body["input"][self.known :]}
        return body | ({"previous_response_id": self.kept} if self.kept else {})

    def exchange(self, transport, request):
        response = super().exchange(transport, request)
        said = json.loads(response.read())
        self.known += len(json.loads(request.content)["input"]) + len(said["output"])
        self.kept = said["id"]
        return response


HABITS = Habit.__subclasses__()


@pytest.fixture(scope="module")
def server():
    with StrictServer(scripts()) as started:
        yield started


@pytest.mark.parametrize(
    ("habit", "wire", "case"),
    [
        (habit, wire, name)
        for habit in HABITS
        for wire in habit.on
        for name in habit.cases
        if wire not in CASES[name].inexpressible
    ],
)
def test_nobody_is_blamed_for_a_habit(habit, wire, case, server):
    adapter = habit()

    run = play_direct(adapter, wire, adapter.wires[wire][0], CASES[case], habit.mode, server=server)

    assert not run.trouble
    assert run.exchanges
    assert not [(v.rule.id, v.violations[0].message) for v in judge(run) if v.outcome == "fail"]
