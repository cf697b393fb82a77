"""The outside of the loop in its tests: its answers, its only tool, and its effects."""

import json
from dataclasses import dataclass, field, replace

from ellmer_core.contents.content import ContentText, ContentToolRequest
from ellmer_core.conversation.io_operations import (
    Answer,
    CallTools,
    Clock,
    Notify,
    ReadBody,
    ReadEvents,
    Send,
    Shown,
    Wait,
)
from ellmer_core.conversation.loop import converse
from ellmer_core.conversation.settings import Settings
from ellmer_core.tool_execution import invoke
from ellmer_core.tools.definition import tool
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat

SSE = {"content-type": "text/event-stream"}
HI = [ContentText("Hi")]


def whole(text=None, *calls, finish=None):
    """Returns an answer without a stream. A call is `(id, name, arguments)`."""
    message = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id, name, arguments in calls
        ]
    finish = finish or ("tool_calls" if calls else "stop")
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}], "usage": usage}).encode()


def piece(text=None, finish=None, **delta):
    delta |= {} if text is None else {"content": text}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def called(*ids, name="f"):
    return whole(None, *((id, name, json.dumps({"x": id})) for id in ids))


def tools_streamed(*ids):
    calls = [
        {"index": i, "id": id, "function": {"name": "f", "arguments": json.dumps({"x": id})}}
        for i, id in enumerate(ids)
    ]
    return [[piece("Let me look."), piece(tool_calls=calls)], [piece(None, "tool_calls"), "[DONE]"]]


def status(number, headers=None, message="no", **error):
    return (number, headers or {}, json.dumps({"error": {"message": message, **error}}).encode())


@dataclass
class Outside:
    """Carries out the effects of a loop. An answer is a body, a list of batches of events, `(status, headers, body)`,
    or an exception; in a list, an exception breaks the stream. `seen` are all effects in order.
    """

    answers: list = field(default_factory=list)
    seen: list = field(default_factory=list)
    now: float = 0.0
    open: object = None

    def __init__(self, *answers):
        self.answers, self.seen = list(answers), []

    def play(self, loop, until=-1):
        """Runs to the end (and returns the loop's value), or for a number of effects (and returns `None`)."""
        step, outcome = loop.send, None
        while True:
            try:
                effect = step(outcome)
            except StopIteration as end:
                return end.value
            self.seen.append(effect)
            if len(self.seen) == until:
                return None
            try:
                step, outcome = loop.send, self.do(effect)
            except BaseException as error:  # noqa: BLE001 - as the drivers do
                step, outcome = loop.throw, error

    def do(self, effect):  # noqa: C901 - one case per effect
        match effect:
            case Send():
                self.open = self.answers.pop(0)
                if isinstance(self.open, BaseException):
                    raise self.open
                if isinstance(self.open, tuple):
                    status, headers, self.open = self.open
                    return Answer(status, headers)
                return Answer(
                    200, SSE if isinstance(self.open, list) else {"content-type": "application/json"}
                )
            case ReadBody():
                if isinstance(self.open, BaseException):
                    raise self.open
                return self.open
            case ReadEvents():
                batch = self.open.pop(0) if self.open else None
                if isinstance(batch, BaseException):
                    raise batch
                return batch
            case CallTools():
                for place, request in effect.requests.items():
                    effect.keep(place, invoke(request, scope=effect.scope))
            case Notify():
                for callback in effect.callbacks:
                    callback(effect.content)
            case Clock():
                self.now += 1
                return self.now
        return None

    def kinds(self, *hidden):
        return [type(effect).__name__ for effect in self.seen if not isinstance(effect, hidden)]

    @property
    def bodies(self):
        return [json.loads(effect.body) for effect in self.seen if isinstance(effect, Send)]

    @property
    def shown(self):
        return [effect for effect in self.seen if isinstance(effect, Shown)]

    @property
    def text(self):
        return "".join(c.text for c in self.shown if isinstance(c, ContentText))

    @property
    def waits(self):
        return [(effect.at_least, effect.at_most) for effect in self.seen if isinstance(effect, Wait)]


ran = []


@tool
def f(x: str) -> str:
    """Says it back."""
    ran.append(x)
    if x == "bad":
        raise ValueError("no such thing")
    if x == "stop":
        raise KeyboardInterrupt
    return f"<{x}>"


PLAN = Settings(OpenAIChat(model="m"), {"f": f})
STREAM = replace(PLAN, stream=True)
OPEN = (ContentToolRequest("a", "f", {"x": "a"}), ContentToolRequest("b", "f", {"x": "b"}))


def talk(history, outside, inputs=HI, settings=PLAN):
    return outside.play(converse(history, settings, inputs))


def results(body):
    return [(m["tool_call_id"], m["content"]) for m in body["messages"] if m["role"] == "tool"]
