"""The conversation without any outside: `next()`, `.send()`, `.throw()` and `.close()` are all there is."""

import json
from dataclasses import dataclass, field, replace

import pytest

from ellmer_core.calling.invocation import invoke
from ellmer_core.contents.content import ContentImageInline, ContentText, ContentThinking
from ellmer_core.contents.tool_calls import ContentToolRequest, ContentToolResult
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, SystemTurn, UserTurn
from ellmer_core.conversation.cancellation import StreamController
from ellmer_core.conversation.effects import (
    Answer,
    CallTools,
    Clock,
    Emit,
    Notify,
    ReadBody,
    ReadEvents,
    Send,
    Wait,
)
from ellmer_core.conversation.history import INTERRUPTED, NEVER_CALLED, History
from ellmer_core.conversation.loop import converse
from ellmer_core.conversation.settings import Settings
from ellmer_core.errors import (
    AuthenticationError,
    ConnectError,
    ContentError,
    EllmerError,
    IncompleteResponseError,
    RateLimitError,
    ResponseError,
    ServerError,
    TimeoutError,
    ToolReject,
    ToolRoundsError,
    UsageError,
)
from ellmer_core.schemas.types import type_object, type_string
from ellmer_core.tools.definition import tool
from ellmer_core.wire.openai_chat.request import OpenAIChat

SSE = {"content-type": "text/event-stream"}
HI = [ContentText("Hi")]


def whole(text=None, *calls, finish=None):
    """An answer, not streamed. A call is `(id, name, arguments)`."""
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


@dataclass
class Outside:
    """Plays the world to a loop. An answer is a body, a list of batches of events, `(status, headers, body)`, or
    an exception; in a list, an exception breaks the stream. `seen` are all effects, in order."""

    answers: list = field(default_factory=list)
    seen: list = field(default_factory=list)
    now: float = 0.0
    open: object = None

    def __init__(self, *answers):
        self.answers, self.seen = list(answers), []

    def play(self, loop, until=-1):
        """Plays to the end (returns the loop's value), or until so many effects were asked for (None)."""
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
                    effect.keep(place, invoke(request))
            case Notify():
                for callback in effect.callbacks:
                    callback(effect.content)
            case Clock():
                self.now += 1
                return self.now
        return None

    def kinds(self, *hidden):
        return [type(effect).__name__ for effect in self.seen if type(effect) not in hidden]

    @property
    def bodies(self):
        return [json.loads(effect.body) for effect in self.seen if isinstance(effect, Send)]

    @property
    def shown(self):
        return [effect.content for effect in self.seen if isinstance(effect, Emit)]

    @property
    def text(self):
        return "".join(c.text for c in self.shown if isinstance(c, ContentText))

    @property
    def waits(self):
        return [(effect.at_least, effect.at_most) for effect in self.seen if isinstance(effect, Wait)]


ran = []


@pytest.fixture(autouse=True)
def _fresh():
    ran.clear()


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


def talk(history, outside, inputs=HI, settings=PLAN):
    return outside.play(converse(history, settings, inputs))


def results(body):
    return [(m["tool_call_id"], m["content"]) for m in body["messages"] if m["role"] == "tool"]


# An answer --------------------------------------------------------------------------------------------------


def test_one_answer_asks_for_these_things_in_this_order():
    history, outside = History(), Outside(whole("Hello."))

    turn = talk(history, outside)

    assert outside.kinds() == ["Emit", "Clock", "Send", "ReadBody", "Clock", "Emit", "Emit"]
    assert outside.shown == [UserTurn("Hi"), ContentText("Hello."), turn]
    assert history.turns == [UserTurn("Hi"), turn]
    assert (turn.text, turn.finish_reason, turn.duration, turn.cost) == ("Hello.", "success", 1.0, None)


def test_a_stream_shows_its_pieces_and_gives_the_same_turn():
    streamed, unstreamed, outside = (
        History(),
        History(),
        Outside([[piece("Hel")], [piece("lo.", "stop"), "[DONE]"]]),
    )

    talk(streamed, outside, settings=STREAM)
    talk(unstreamed, Outside(whole("Hello.")))

    assert outside.kinds(Emit, Clock) == ["Send", "ReadEvents", "ReadEvents", "Finish"]
    assert outside.shown[1:3] == [ContentText("Hel"), ContentText("lo.")]
    assert streamed.turns[1].contents == unstreamed.turns[1].contents


def test_the_events_of_one_network_chunk_are_one_step():
    outside = Outside([[piece(c) for c in "abcdefgh"] + [piece("", "stop"), "[DONE]"]])
    talk(History(), outside, settings=STREAM)
    assert outside.kinds(Emit).count("ReadEvents") == 1
    assert outside.text == "abcdefgh"


def test_nothing_is_read_after_the_end_mark():
    outside = Outside([[piece("a", "stop"), "[DONE]"], [piece("never")]])
    talk(History(), outside, settings=STREAM)
    assert outside.text == "a"


def test_a_stream_may_be_answered_with_a_whole_body():
    history, outside = (
        History(),
        Outside((200, {"content-type": "application/json; charset=utf-8"}, whole("Hello."))),
    )
    talk(history, outside, settings=STREAM)
    assert outside.text == "Hello."
    assert history.turns[-1].text == "Hello."


def test_a_list_is_the_events_of_a_stream():
    events = [piece("Hel"), piece("lo.", "stop")]
    outside = Outside(json.dumps(events).encode(), json.dumps(events[:1]).encode())
    assert talk(History(), outside).text == "Hello."
    with pytest.raises(IncompleteResponseError):
        talk(History(), outside)


def test_a_stream_that_nobody_asked_for_is_read_as_one():
    outside = Outside([[piece("Hel"), piece("lo.", "stop"), "[DONE]"]])
    assert talk(History(), outside).text == "Hello."


def test_an_empty_answer_is_an_answer():
    history = History()
    assert talk(history, Outside(whole(""))).contents == ()
    talk(history, outside := Outside(whole("Yes.")))
    assert len(outside.bodies[0]["messages"]) == 2


@pytest.mark.parametrize("body", [{}, {"status": "ok"}, {"choices": []}, {"choices": [{"message": None}]}])
def test_what_says_nothing_at_all_is_no_answer(body):
    history = History()
    with pytest.raises(ResponseError, match=r"no answer over openai-chat in this: \{"):
        talk(history, Outside(json.dumps(body).encode()))
    assert history.turns == []


def test_the_price_and_the_tools_are_filled_in():
    history = History()
    settings = replace(PLAN, price=lambda wire, tokens: tokens.input + tokens.output)
    talk(history, Outside(called("a"), whole("ok")), settings=settings)
    assert history.turns[1].cost == 15
    assert history.turns[1].tool_requests[0].tool is f


# Errors -----------------------------------------------------------------------------------------------------

NOT_ANSWERS = {
    "an error status": ((401, {}, b'{"error": {"message": "no"}}'), AuthenticationError),
    "an error status with an unreadable body": ((400, {}, ConnectError("reset")), Exception),
    "an error in a 200": (b'{"error": {"message": "no", "code": 400}}', Exception),
    "half a body": (whole("Hello.")[:40], IncompleteResponseError),
    "no body": (b"", IncompleteResponseError),
    "a body that breaks": ((200, {}, ConnectError("reset")), IncompleteResponseError),
    "a page": ((200, {"content-type": "text/html"}, b"<html>Sign in</html>"), ResponseError),
    "a list": (b"[1]", ResponseError),
    "a number": (b"1", ResponseError),
    "another format's answer": (b'{"choices": "none"}', ResponseError),
    "a stall": ((200, {}, TimeoutError("nothing came", "idle")), TimeoutError),
}


@pytest.mark.parametrize(("answer", "kind"), NOT_ANSWERS.values(), ids=NOT_ANSWERS)
@pytest.mark.parametrize("settings", [PLAN, STREAM], ids=["whole", "stream"])
def test_a_failure_leaves_the_history_as_it_was(answer, kind, settings):
    if settings is STREAM and isinstance(answer, tuple) and answer[0] == 200 and not answer[1]:
        answer = [answer[2]]  # the same in the stream itself
    elif settings is STREAM and isinstance(answer, bytes):
        answer = (200, {"content-type": "application/json"}, answer)
    history = History()
    talk(history, Outside(whole("Hello.")))
    before = list(history.turns)

    with pytest.raises(kind):
        talk(history, Outside(answer), settings=replace(settings, max_tries=1))

    assert history.turns == before
    assert talk(history, Outside(whole("Again."))).text == "Again."


def test_what_cannot_be_sent_is_an_error_before_sending():
    class Stranger(type(HI[0])):
        pass

    history, outside = History([UserTurn("a"), AssistantTurn("b")]), Outside()
    with pytest.raises(ContentError):
        talk(history, outside, [ContentToolRequest("1", "f")])
    with pytest.raises(UsageError, match="JSON"):
        talk(history, outside, settings=replace(PLAN, wire=OpenAIChat(model="m", api_args={"x": {1}})))
    with pytest.raises(UsageError, match="nothing to send"):
        talk(history, outside, [])
    assert not outside.bodies
    assert len(history.turns) == 2


def test_the_body_is_utf8_whatever_the_text():
    outside = Outside(whole("ok"))
    talk(History(), outside, [ContentText("half \ud83d, whole \ud83d\ude00, 日本 e\u0301")])
    sent = next(e for e in outside.seen if isinstance(e, Send)).body
    assert json.loads(sent.decode("utf-8"))["messages"][0]["content"] == "half \ufffd, whole 😀, 日本 e\u0301"
    assert "日本".encode() in sent


# The end of a stream ----------------------------------------------------------------------------------------

CUTS = {
    "an end without an end mark": None,
    "a reset": ConnectError("reset"),
}


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_a_cut_stream_keeps_what_was_shown_and_says_so(cut):
    history = History()
    outside = Outside([[piece(reasoning_content="Hm. "), piece("Half ")], [piece("an answer")], cut])

    with pytest.raises(IncompleteResponseError):
        talk(history, outside, settings=STREAM)

    user, partial = history.turns
    assert user == UserTurn("Hi")
    assert partial == AssistantPartialTurn(
        [ContentThinking("Hm. "), ContentText("Half an answer")], reason="incomplete"
    )
    assert partial.finish_reason is None
    assert talk(history, Outside(whole("Again."))).text == "Again."


def test_a_cut_tool_call_is_neither_kept_nor_run():
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x": "a"}'}}
    history = History()
    with pytest.raises(IncompleteResponseError):
        talk(history, Outside([[piece("Let me look."), piece(tool_calls=[call])]]), settings=STREAM)
    assert history.turns[-1].contents == (ContentText("Let me look."),)

    alone = History()
    with pytest.raises(IncompleteResponseError):
        talk(alone, Outside([[piece(tool_calls=[call])]]), settings=STREAM)
    assert alone.turns == []
    assert ran == []


def test_kinds_of_content_are_kept_apart_in_a_partial_turn():
    pieces = [piece("a"), piece(reasoning_content="b"), piece(reasoning_content="c"), piece("d"), piece("")]
    history = History()
    with pytest.raises(IncompleteResponseError):
        talk(history, Outside([pieces]), settings=STREAM)
    assert history.turns[-1].contents == (ContentText("a"), ContentThinking("bc"), ContentText("d"))


def test_a_connection_that_breaks_after_the_end_mark_does_not_matter():
    history = History()
    talk(history, Outside([[piece("All of it.", "stop")], ConnectError("reset")]), settings=STREAM)
    assert type(history.turns[-1]) is AssistantTurn


def test_an_error_in_the_stream_is_raised_with_its_status_and_keeps_what_was_shown():
    error = {"error": {"message": "Overloaded", "type": "overloaded_error"}}
    history, outside = History(), Outside([[piece("One moment"), error]])
    with pytest.raises(ServerError) as caught:
        talk(history, outside, settings=STREAM)
    assert caught.value.status == 529
    assert history.turns[-1] == AssistantPartialTurn("One moment", reason="error")
    assert outside.waits == []


def test_a_stalled_stream_says_so():
    history = History()
    with pytest.raises(TimeoutError):
        talk(history, Outside([[piece("Half")], TimeoutError("nothing came")]), settings=STREAM)
    assert history.turns[-1].reason == "timeout"


def test_an_abandoned_stream_needs_no_close_to_be_seen():
    history, outside = History(), Outside([[piece("Half")], [piece(" a")]])
    loop = converse(history, STREAM, HI)
    outside.play(loop, until=7)
    assert history.view() == [UserTurn("Hi"), AssistantPartialTurn("Half a")]
    loop.close()
    assert history.turns == [UserTurn("Hi"), AssistantPartialTurn("Half a")]


@pytest.mark.parametrize(
    ("finish", "words"), [("length", "max_tokens"), ("content_filter", "content filter")]
)
def test_structured_data_that_was_cut_is_an_error(finish, words):
    history = History()
    settings = replace(PLAN, type=type_object(title=type_string()))
    outside = Outside(whole('{"title": "Half', finish=finish))
    with pytest.raises(IncompleteResponseError, match=words):
        talk(history, outside, settings=settings)
    assert outside.bodies[0]["response_format"]["type"] == "json_schema"
    assert history.turns == []


# Retries ----------------------------------------------------------------------------------------------------


def status(number, headers=None, message="no", **error):
    return (number, headers or {}, json.dumps({"error": {"message": message, **error}}).encode())


@pytest.mark.parametrize(
    "failure", [*map(status, (408, 409, 429, 500, 502, 503, 504, 529)), ConnectError("refused")], ids=str
)
def test_what_may_pass_is_tried_again_with_the_same_bytes(failure):
    history, outside = History(), Outside(failure, failure, whole("Hello."))

    assert talk(history, outside).text == "Hello."

    bodies = [e.body for e in outside.seen if isinstance(e, Send)]
    assert len(bodies) == 3
    assert len(set(bodies)) == 1
    assert outside.waits == [(0.5, 1.0), (1.0, 2.0)]
    assert len(history.turns) == 2


HOPELESS = {
    **{str(code): status(code) for code in (400, 401, 403, 404, 413, 422)},
    "quota": status(429, code="insufficient_quota"),
    "too large": status(429, message="Request too large for gpt-4o on tokens per min (TPM): Limit 30000"),
    "forbidden": status(500, {"x-should-retry": "false"}),
    "a stall": TimeoutError("nothing came", "idle"),
    "a cut body": b'{"choices": [',
    "an endless wait": status(429, {"retry-after": "86400"}),
}


@pytest.mark.parametrize("failure", HOPELESS.values(), ids=HOPELESS)
def test_what_will_not_pass_is_tried_once(failure):
    outside = Outside(failure)
    with pytest.raises(EllmerError):
        talk(History(), outside)
    assert outside.kinds().count("Send") == 1
    assert outside.waits == []


def test_it_gives_up_after_max_tries():
    outside = Outside(*[status(503)] * 5)
    with pytest.raises(ServerError):
        talk(History(), outside, settings=replace(PLAN, max_tries=4))
    assert outside.kinds().count("Send") == 4


RETRY_AFTER = {
    "seconds": ({"retry-after": "7"}, {}),
    "milliseconds": ({"retry-after-ms": "7000", "retry-after": "1"}, {}),
    "a date": (
        {"retry-after": "Fri, 20 Nov 2026 12:00:07 GMT", "date": "Fri, 20 Nov 2026 12:00:00 GMT"},
        {},
    ),
    "RetryInfo": (
        {},
        {"details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}]},
    ),
    "a sentence": ({}, {"message": "Rate limit reached. Please try again in 7s. Visit …"}),
}


@pytest.mark.parametrize(("headers", "error"), RETRY_AFTER.values(), ids=RETRY_AFTER)
def test_it_comes_back_no_sooner_than_it_is_told(headers, error):
    outside = Outside(status(429, headers, **error), whole("Hello."))
    talk(History(), outside)
    [(least, most)] = outside.waits
    assert least == 7
    assert most > 7


@pytest.mark.parametrize("date", ["soon", "Fri, 20 Nov 2020 12:00:00 GMT"], ids=["no date", "past"])
def test_a_date_that_helps_nobody_is_no_wait(date):
    headers = {"retry-after": date, "date": "Fri, 20 Nov 2026 12:00:00 GMT"}
    talk(History(), outside := Outside(status(429, headers), whole("ok")))
    assert outside.waits == [(0.5, 1.0)]


def test_the_last_error_says_when_to_come_back():
    headers = {"retry-after": "Fri, 20 Nov 2026 18:00:00 GMT", "date": "Fri, 20 Nov 2026 12:00:00 GMT"}
    with pytest.raises(RateLimitError) as caught:
        talk(History(), Outside(status(429, headers)))
    assert caught.value.retry_after == 6 * 3600


def test_nothing_is_tried_again_once_something_was_shown():
    overloaded = {"error": {"message": "Overloaded", "type": "overloaded_error"}}
    shown = Outside([[piece("One"), overloaded]])
    with pytest.raises(ServerError):
        talk(History(), shown, settings=STREAM)
    assert shown.kinds().count("Send") == 1

    silent = Outside([[overloaded]], [[piece("One", "stop"), "[DONE]"]])
    assert talk(History(), silent, settings=STREAM).text == "One"


def test_a_retry_after_tools_does_not_run_them_again():
    talk(History(), outside := Outside(called("a"), status(503), whole("ok")))
    assert ran == ["a"]
    assert outside.bodies[1] == outside.bodies[2]


# Tools ------------------------------------------------------------------------------------------------------


def test_tools_run_one_by_one_each_with_its_request_shown_before_and_its_result_after():
    history, outside = History(), Outside(called("a", "b"), whole("ok"))
    seen = []
    settings = replace(
        PLAN, on_request=[lambda r: seen.append(r.id)], on_result=[lambda r: seen.append(r.value)]
    )

    talk(history, outside, settings=settings)

    assert seen == ["a", "<a>", "b", "<b>"]
    assert [type(c).__name__ for c in outside.shown] == [
        *("UserTurn", "AssistantTurn"),
        *("ContentToolRequest", "ContentToolResult") * 2,
        *("ContentText", "AssistantTurn"),
    ]
    assert results(outside.bodies[1]) == [("a", "<a>"), ("b", "<b>")]
    assert [type(t) for t in history.turns] == [UserTurn, AssistantTurn] * 2


def test_concurrent_tools_run_in_one_step_and_answer_in_the_order_of_the_calls():
    outside = Outside(called("a", "b"), whole("ok"))
    backwards = outside.do

    def do(effect):
        if isinstance(effect, CallTools):
            for place in reversed(effect.requests):
                effect.keep(place, invoke(effect.requests[place]))
            return None
        return backwards(effect)

    outside.do = do
    talk(History(), outside, settings=replace(PLAN, concurrent=True))
    assert ran == ["b", "a"]
    assert results(outside.bodies[1]) == [("a", "<a>"), ("b", "<b>")]
    assert [c.id for c in outside.shown if isinstance(c, ContentToolResult)] == ["a", "b"]


def test_equal_calls_both_run():
    talk(History(), outside := Outside(whole(None, *[(i, "f", '{"x": "a"}') for i in "12"]), whole("ok")))
    assert ran == ["a", "a"]
    assert results(outside.bodies[1]) == [("1", "<a>"), ("2", "<a>")]


def test_failures_are_results():
    calls = whole(
        None, ("1", "f", '{"x": "bad"}'), ("2", "g", "{}"), ("3", "f", '{"x": '), ("4", "f", '{"x": "a"}')
    )
    talk(History(), outside := Outside(calls, whole("ok")))
    assert ran == ["bad", "a"]
    texts = dict(results(outside.bodies[1]))
    assert "no such thing" in texts["1"]
    assert "nknown tool" in texts["2"]
    assert "not JSON" in texts["3"]
    assert texts["4"] == "<a>"


def test_a_call_that_was_cut_at_the_limit_is_told_so_and_not_run():
    cut, asked = whole(None, ("1", "f", '{"x": "Pa'), finish="length"), []
    talk(History(), outside := Outside(cut, whole("ok")), settings=replace(PLAN, on_request=[asked.append]))
    assert ran == asked == []
    assert "cut off" in dict(results(outside.bodies[1]))["1"]


def test_a_callback_can_refuse_a_call():
    def refuse(request):
        if request.arguments["x"] == "a":
            raise ToolReject("Not now.")

    seen = []
    settings = replace(PLAN, on_request=[refuse], on_result=[seen.append])
    talk(History(), outside := Outside(called("a", "b"), whole("ok")), settings=settings)
    assert ran == ["b"]
    assert "Not now." in dict(results(outside.bodies[1]))["a"]
    assert [result.id for result in seen] == ["a", "b"]


def test_another_exception_in_a_callback_is_the_callers_and_the_chat_goes_on():
    history = History()

    def fail(content):
        if content.id == "b":
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        talk(history, Outside(called("a", "b", "c")), settings=replace(PLAN, on_request=[fail]))
    talk(history, outside := Outside(whole("ok")))
    assert results(outside.bodies[0]) == [
        ("a", "<a>"),
        *[(i, f"Tool calling failed with error {NEVER_CALLED}") for i in "bc"],
    ]
    assert ran == ["a"]


def test_each_result_is_kept_the_moment_it_exists():
    history = History()
    with pytest.raises(KeyboardInterrupt):
        talk(history, Outside(called("a", "b", "stop", "d")))
    assert [r.value for r in history.results.values()] == ["<a>", "<b>", None]
    assert history.turns[-1].tool_requests

    talk(history, outside := Outside(whole("ok")), [ContentText("Go on.")])
    assert ran == ["a", "b", "stop"]
    assert [text for _, text in results(outside.bodies[0])] == [
        "<a>",
        "<b>",
        f"Tool calling failed with error {INTERRUPTED}",  # it may have done something before
        f"Tool calling failed with error {NEVER_CALLED}",
    ]
    assert outside.bodies[0]["messages"][-1] == {"role": "user", "content": "Go on."}


def test_results_stay_when_the_request_that_carries_them_fails():
    history = History()
    with pytest.raises(ServerError):
        talk(history, Outside(called("a"), status(500)), settings=replace(PLAN, max_tries=1))
    assert history.turns[-1].tool_requests
    assert len(history.turns) == 2

    talk(history, outside := Outside(whole("ok")), [])
    assert ran == ["a"]
    assert results(outside.bodies[0]) == [("a", "<a>")]
    assert history.results == {}


def test_results_are_history_once_an_answer_to_them_was_shown():
    history = History()
    with pytest.raises(IncompleteResponseError):
        talk(history, Outside(tools_streamed("a"), [[piece("Half")]]), settings=STREAM)
    assert isinstance(history.turns[-1], AssistantPartialTurn)
    assert history.turns[-2].tool_results
    assert history.results == {}


def tools_streamed(*ids):
    calls = [
        {"index": i, "id": id, "function": {"name": "f", "arguments": json.dumps({"x": id})}}
        for i, id in enumerate(ids)
    ]
    return [[piece("Let me look."), piece(tool_calls=calls)], [piece(None, "tool_calls"), "[DONE]"]]


def test_there_is_a_limit_to_rounds():
    history = History()
    with pytest.raises(ToolRoundsError, match="max_tool_rounds"):
        talk(history, Outside(*map(called, "abcd")), settings=replace(PLAN, max_tool_rounds=2))
    assert ran == ["a", "b"]
    talk(history, outside := Outside(whole("ok")))
    assert NEVER_CALLED in results(outside.bodies[0])[-1][1]


def test_tools_and_structured_output_share_one_loop():
    settings = replace(PLAN, type=type_object(title=type_string()))
    turn = talk(History(), outside := Outside(called("a"), whole('{"title": "x"}')), settings=settings)
    assert turn.text == '{"title": "x"}'
    assert all("tools" in body and "response_format" in body for body in outside.bodies)


def test_a_tool_that_was_registered_by_a_tool_is_offered_at_once():
    tools = {}

    @tool
    def learn() -> str:
        """Learns f."""
        tools["f"] = f
        return "learnt"

    tools["learn"] = learn
    settings = replace(PLAN, tools=tools)
    talk(
        History(),
        outside := Outside(whole(None, ("1", "learn", "{}")), called("a"), whole("ok")),
        settings=settings,
    )
    assert [len(body["tools"]) for body in outside.bodies] == [1, 2, 2]
    assert ran == ["a"]


# Requests that nobody answered ------------------------------------------------------------------------------

OPEN = (ContentToolRequest("a", "f", {"x": "a"}), ContentToolRequest("b", "f", {"x": "b"}))


def dangling():
    return History([SystemTurn("s"), UserTurn("q"), AssistantTurn(OPEN)])


def test_an_open_request_is_answered_before_anything_else_is_said():
    talk(dangling(), outside := Outside(whole("ok")))
    roles = [message["role"] for message in outside.bodies[0]["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
    assert {text for _, text in results(outside.bodies[0])} == {
        f"Tool calling failed with error {NEVER_CALLED}"
    }


@pytest.mark.parametrize(
    "request_", [OPEN[1], replace(OPEN[1]), ContentToolRequest("b", "")], ids=["same", "equal", "by id"]
)
def test_the_caller_may_answer_it(request_):
    given = ContentToolResult("real", request=request_)
    history = dangling()
    talk(history, outside := Outside(whole("ok")), [ContentText("Here."), given])
    assert [text for _, text in results(outside.bodies[0])][1] == "real"
    assert NEVER_CALLED in results(outside.bodies[0])[0][1]
    assert history.turns[3].tool_results[1].request is OPEN[1]
    assert given.request is request_
    assert outside.bodies[0]["messages"][-1]["content"] == "Here."


def test_a_result_without_a_request_answers_the_only_open_one():
    history = History([UserTurn("q"), AssistantTurn(OPEN[:1])])
    talk(history, outside := Outside(whole("ok")), [ContentToolResult("real")])
    assert results(outside.bodies[0]) == [("a", "real")]


def test_equal_ids_are_answered_in_order():
    history = History(
        [UserTurn("q"), AssistantTurn([ContentToolRequest("", "f"), ContentToolRequest("", "f")])]
    )
    given = [ContentToolResult(v, request=ContentToolRequest("", "f")) for v in "12"]
    assert [r.value for r in history.reply(given).tool_results] == ["1", "2"]


@pytest.mark.parametrize(
    "given",
    [
        [ContentToolResult("x", request=ContentToolRequest("z", "f"))],
        [ContentToolResult("x")],
        [ContentToolResult("x", request=OPEN[0]), ContentToolResult("y", request=OPEN[0])],
    ],
    ids=["unknown", "ambiguous", "twice"],
)
def test_a_result_that_answers_nothing_is_an_error(given):
    with pytest.raises(UsageError, match="not an open tool request"):
        talk(dangling(), Outside(), given)


def test_a_result_is_checked_at_the_door():
    with pytest.raises(UsageError, match=r"`f`.*value\[0\]"):
        talk(dangling(), Outside(), [ContentToolResult([object()], request=OPEN[0])])


def test_open_requests_in_the_middle_of_a_history_are_answered_too():
    turns = [UserTurn("q"), AssistantTurn(OPEN), UserTurn("never mind"), AssistantTurn("fine")]
    again = [UserTurn("q"), AssistantTurn(OPEN), AssistantTurn("fine")]
    for history in (History(list(turns)), History(list(again))):
        before = list(history.turns)
        talk(history, outside := Outside(whole("ok")))
        assert [id for id, _ in results(outside.bodies[0])] == ["a", "b"]
        assert history.turns[:-2] == before


def test_a_partly_answered_history_gets_only_what_is_missing():
    turns = [
        UserTurn("q"),
        AssistantTurn(OPEN),
        UserTurn([ContentToolResult("1", request=OPEN[0])]),
        AssistantTurn("?"),
    ]
    talk(History(turns), outside := Outside(whole("ok")))
    assert min(results(outside.bodies[0])) == ("a", "1")
    assert len(results(outside.bodies[0])) == 2


# Cancelling -------------------------------------------------------------------------------------------------


def test_cancelling_keeps_what_was_shown_with_the_reason_and_raises_nothing():
    controller, history = StreamController(), History()
    outside = Outside([[piece("One ")], [piece("two "), piece("three")]])
    act = outside.do

    def do(effect):
        if effect == Emit(ContentText("two ")):
            controller.cancel("enough")
        return act(effect)

    outside.do = do
    assert talk(history, outside, settings=replace(STREAM, controller=controller)) is None
    assert outside.text == "One two "
    assert history.turns == [UserTurn("Hi"), AssistantPartialTurn("One two ", reason="enough")]


def test_cancelling_in_a_read_that_ends_with_it_is_no_error():
    controller, history = StreamController(), History()
    outside = Outside([[piece("One")], None])
    act = outside.do

    def do(effect):
        if isinstance(effect, ReadEvents) and outside.text:
            controller.cancel()
        return act(effect)

    outside.do = do
    assert talk(history, outside, settings=replace(STREAM, controller=controller)) is None
    assert history.turns[-1].reason == "cancelled"


def test_cancelling_before_the_start_sends_nothing():
    controller, history = StreamController(), History()
    controller.cancel()
    assert talk(history, outside := Outside(), settings=replace(STREAM, controller=controller)) is None
    assert "Send" not in outside.kinds()
    assert history.turns == []


def test_cancelling_in_a_tool_starts_no_other_and_sends_nothing():
    controller, history = StreamController(), History()
    settings = replace(PLAN, controller=controller, on_result=[lambda _: controller.cancel()])
    assert talk(history, outside := Outside(called("a", "b")), settings=settings) is None
    assert ran == ["a"]
    assert outside.kinds().count("Send") == 1
    assert [r.value for r in history.results.values()] == ["<a>"]


def test_cancelling_ends_a_wait():
    controller, history = StreamController(), History()
    outside = Outside(status(503), whole("never"))
    outside.do = lambda effect, do=outside.do: controller.cancel() if isinstance(effect, Wait) else do(effect)
    assert talk(history, outside, settings=replace(PLAN, controller=controller)) is None
    assert outside.kinds().count("Send") == 1


def test_a_controller_can_be_used_again():
    controller = StreamController()
    assert repr(controller) == "<StreamController active>"
    controller.cancel("first")
    controller.cancel("second")
    assert (controller.reason, controller.cancelled) == ("first", True)
    assert repr(controller) == "<StreamController cancelled='first'>"
    woken = []
    with controller.waking(lambda: woken.append(1)):
        assert woken == [1]
    controller.reset()
    assert not controller.cancelled
    assert talk(History(), Outside(whole("ok")), settings=replace(PLAN, controller=controller)).text == "ok"


# Every yield ------------------------------------------------------------------------------------------------


def a_conversation():
    """One with a bit of everything: a retry, a stream, tools, callbacks."""
    outside = Outside(
        status(503), tools_streamed("a", "b"), [[piece("All ")], [piece("done.", "stop"), "[DONE]"]]
    )
    settings = replace(STREAM, on_request=[len_of_nothing], on_result=[len_of_nothing])
    return outside, settings


def len_of_nothing(_content):
    return None


def steps():
    outside, settings = a_conversation()
    talk(History(), outside, settings=settings)
    return len(outside.seen)


@pytest.mark.parametrize("how", ["throw", "close", "error"])
@pytest.mark.parametrize("step", range(1, steps() + 1))
def test_whatever_happens_at_a_yield_the_chat_goes_on(step, how):
    history = History([UserTurn("before"), AssistantTurn("fine")])
    outside, settings = a_conversation()
    loop = converse(history, settings, HI)
    outside.play(loop, until=step)
    if how == "close":
        loop.close()
    else:
        error = KeyboardInterrupt() if how == "throw" else RuntimeError("outside")
        with pytest.raises(type(error)):
            loop.throw(error)
    ran_before = list(ran)

    talk(history, after := Outside(whole("Here again.")), [ContentText("And now?")])

    assert ran == ran_before, "a tool ran twice"
    assert history.turns[:2] == [UserTurn("before"), AssistantTurn("fine")]
    assert history.turns[-1].text == "Here again."
    kept = "".join(t.text for t in history.turns[2:-1] if isinstance(t, AssistantTurn))
    assert kept == outside.text, "what was shown is not what is kept"
    sent = after.bodies[0]["messages"]
    asked = [call["id"] for m in sent for call in m.get("tool_calls", ())]
    assert [m["tool_call_id"] for m in sent if m["role"] == "tool"] == asked
    for id in ran:
        assert ("tool", f"<{id}>") in [(m["role"], m["content"]) for m in sent], "a result was lost"


def test_nothing_of_the_callers_is_changed():
    image = ContentImageInline("image/png", "AAAA")
    inputs = [ContentText("Look"), image]
    turns = [UserTurn("q"), AssistantTurn(OPEN)]
    before = (list(inputs), list(turns), OPEN[0].tool)
    history = History(list(turns))
    talk(history, Outside(called("a"), whole("ok")), inputs)
    assert (inputs, turns, OPEN[0].tool) == before
