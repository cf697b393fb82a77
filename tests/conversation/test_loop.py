"""The conversation without I/O: only `next()`, `.send()`, `.throw()` and `.close()`."""

import json
from dataclasses import replace

import pytest
from chats.loop import (
    HI,
    OPEN,
    PLAN,
    STREAM,
    Outside,
    called,
    f,
    piece,
    ran,
    status,
    talk,
    tools_streamed,
    whole,
)

from ellmer_core.contents.content import ContentImageInline, ContentText, ContentToolRequest
from ellmer_core.contents.turns import AssistantTurn, UserTurn
from ellmer_core.conversation.history import History
from ellmer_core.conversation.io_operations import Clock, Send, Shown
from ellmer_core.conversation.loop import converse
from ellmer_core.errors import (
    AuthenticationError,
    ConnectError,
    ContentError,
    IncompleteResponseError,
    RequestTimeoutError,
    ResponseError,
    UsageError,
)
from ellmer_core.schemas.type_functions import type_object, type_string
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat

pytestmark = pytest.mark.usefixtures("no_tool_ran_yet")


# An answer --------------------------------------------------------------------------------------------------


def test_one_answer_asks_for_these_things_in_this_order():
    history, outside = History(), Outside(whole("Hello."))

    turn = talk(history, outside)

    assert outside.kinds() == [
        "UserTurn",
        "Clock",
        "Send",
        "ReadBody",
        "Clock",
        "ContentText",
        "AssistantTurn",
    ]
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

    assert outside.kinds(Shown, Clock) == ["Send", "ReadEvents", "ReadEvents", "Finish"]
    assert outside.shown[1:3] == [ContentText("Hel"), ContentText("lo.")]
    assert streamed.turns[1].contents == unstreamed.turns[1].contents


def test_the_events_of_one_network_chunk_are_one_step():
    outside = Outside([[piece(c) for c in "abcdefgh"] + [piece("", "stop"), "[DONE]"]])
    talk(History(), outside, settings=STREAM)
    assert outside.kinds(Shown).count("ReadEvents") == 1
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
    with pytest.raises(ResponseError, match=r"Cannot parse this response as openai-chat: \{"):
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
    "a stall": ((200, {}, RequestTimeoutError("nothing came", "idle")), RequestTimeoutError),
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


# Every yield ------------------------------------------------------------------------------------------------


def a_conversation():
    """Returns a conversation with a retry, a stream, tools and callbacks."""
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
    image = ContentImageInline("image/png", "iVBORw0KGgo=")
    inputs = [ContentText("Look"), image]
    turns = [UserTurn("q"), AssistantTurn(OPEN)]
    before = (list(inputs), list(turns), OPEN[0].tool)
    history = History(list(turns))
    talk(history, Outside(called("a"), whole("ok")), inputs)
    assert (inputs, turns, OPEN[0].tool) == before
