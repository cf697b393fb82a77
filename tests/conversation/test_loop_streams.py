"""The end of a stream in the loop: truncated, abandoned, or cancelled."""

from dataclasses import replace

import pytest
from chats.loop import HI, PLAN, STREAM, Outside, called, piece, ran, status, talk, whole

from ellmer_core.contents.content import ContentCitation, ContentText, ContentThinking
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn, UserTurn
from ellmer_core.conversation.history import History, merged
from ellmer_core.conversation.io_operations import ReadEvents, Wait
from ellmer_core.conversation.loop import converse
from ellmer_core.conversation.settings import StreamController
from ellmer_core.errors import ConnectError, IncompleteResponseError, RequestTimeoutError, ServerError

pytestmark = pytest.mark.usefixtures("no_tool_ran_yet")


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
    with pytest.raises(RequestTimeoutError):
        talk(history, Outside([[piece("Half")], RequestTimeoutError("nothing came")]), settings=STREAM)
    assert history.turns[-1].reason == "timeout"


def test_an_abandoned_stream_needs_no_close_to_be_seen():
    history, outside = History(), Outside([[piece("Half")], [piece(" a")]])
    loop = converse(history, STREAM, HI)
    outside.play(loop, until=7)
    assert history.view() == [UserTurn("Hi"), AssistantPartialTurn("Half a")]
    loop.close()
    assert history.turns == [UserTurn("Hi"), AssistantPartialTurn("Half a")]


# Cancelling -------------------------------------------------------------------------------------------------


def test_cancelling_keeps_what_was_shown_with_the_reason_and_raises_nothing():
    controller, history = StreamController(), History()
    outside = Outside([[piece("One ")], [piece("two "), piece("three")]])
    act = outside.do

    def do(effect):
        if effect == ContentText("two "):
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


def test_pieces_of_an_interrupted_answer_are_joined_with_their_citations():
    source = ContentCitation(url="https://a.example", start=1, end=3)
    whole = ContentCitation(url="https://b.example")
    pieces = [
        ContentThinking("a"),
        ContentThinking("b", {"openai": 1}),
        ContentText("one "),
        ContentText("two", citations=(source, whole)),
        ContentText("!"),
    ]

    thought, text = merged(pieces)

    assert (thought.thinking, thought.extra) == ("ab", {"openai": 1})
    assert text.text == "one two!"
    assert [(c.start, c.end) for c in text.citations] == [(5, 7), (4, 7)]
    assert merged(pieces[2:3])[0] is pieces[2]
