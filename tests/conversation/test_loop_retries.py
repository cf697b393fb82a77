"""The loop's retries: conditions, number and waits."""

from dataclasses import replace

import pytest
from chats.loop import PLAN, STREAM, Outside, called, piece, ran, status, talk, whole

from ellmer_core.conversation.history import History
from ellmer_core.conversation.io_operations import Send
from ellmer_core.errors import ConnectError, EllmerError, RateLimitError, RequestTimeoutError, ServerError

pytestmark = pytest.mark.usefixtures("no_tool_ran_yet")


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
    "a stall": RequestTimeoutError("nothing came", "idle"),
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
