"""Rules about keys, failures, several conversations and the run itself: a run that keeps each, and changes that break
it.
"""

from dataclasses import replace

from broken_runs.coherent import (
    ASKED,
    QUESTION,
    TooLong,
    broken_off,
    cut,
    exchange,
    failed,
    given,
    keyed,
    otherwise,
    two_speakers,
    two_tools,
    under,
    user,
)

from ellmer_conformance.contract.observed.exchange import Exchange, Request, Response
from ellmer_conformance.contract.observed.run import Trouble
from ellmer_conformance.scenarios.canary_keys import CANARY
from ellmer_conformance.scenarios.case import Case, ask
from ellmer_conformance.scenarios.messages import Reply
from ellmer_conformance.scenarios.script import Answer, Failure, Say


def locked_out():
    """Returns a run in which the provider refuses the request."""
    return replace(cut(), exchanges=[Exchange(exchange(ASKED).request, Response(401))])


def retried(*, waits=(2.0,), again=None):
    """Returns a run in which the provider is busy once."""
    run = keyed(cut())
    case = Case(
        script=[Failure("rate-limit"), Answer((Say("Hello."),))],
        steps=[ask(QUESTION, text="Hello.")],
        max_retries=2,
    )
    busy = Exchange(run.exchanges[0].request, Response(429, {"retry-after": "2"}))
    answered = replace(run.exchanges[0], request=again or run.exchanges[0].request)
    replies = [Reply("Hello.", stop="stop", usage={"input": 10, "output": 5})]
    return replace(run, case=case, exchanges=[busy, answered], waits=list(waits), replies=replies)


class Busy(Exception):
    status = 529


def overloaded(error=None):
    """Returns a run in which the provider is overloaded, and the next question is answered."""
    run = keyed(cut())
    case = Case(
        script=[Failure("overloaded"), Answer((Say("Hello."),))],
        steps=[ask(QUESTION, outcome="incomplete"), ask("And now?", text="Hello.")],
    )
    body = b'{"error": {"type": "overloaded_error", "message": "Overloaded"}}'
    exchanges = [
        Exchange(run.exchanges[0].request, Response(529, body=body)),
        exchange(user("And now?"), answer="Hello."),
    ]
    replies = [Reply(error=error or Busy("Overloaded")), Reply("Hello.", stop="stop")]
    return replace(run, case=case, exchanges=exchanges, replies=replies)


def twice_refused(second=None):
    """Returns a run in which the prompt is too long, and then there are too many requests."""
    run = keyed(cut())
    case = Case(
        script=[Failure("context-length"), Failure("rate-limit")],
        steps=[ask(QUESTION, outcome="incomplete"), ask(QUESTION, outcome="incomplete")],
    )
    return replace(
        run, case=case, replies=[Reply(error=TooLong("long")), Reply(error=second or Busy("busy"))]
    )


def handed_over(requests=1):
    """Returns a run in which the provider fails after text, and retries are allowed."""
    run = failed()
    return replace(run, case=replace(run.case, max_retries=2), exchanges=run.exchanges * requests)


def moved(run, **headers):
    """Returns a run with a redirect to another host."""
    there = Exchange(
        Request("openai-chat", "openai", {}, url="https://elsewhere.invalid/v1", headers=headers)
    )
    return otherwise(run, exchanges=[*run.varied[0].run.exchanges, there])


def given_up(**reply):
    """Returns a run in which a request is cancelled, and the next one is answered."""
    run = overloaded()
    steps = [replace(run.case.steps[0], cancelled=True), run.case.steps[1]]
    case = replace(run.case, steps=steps)
    return replace(run, case=case, replies=[run.replies[0], replace(run.replies[1], **reply)])


HOME = Request(
    "openai-chat", "openai", {"messages": [ASKED]}, url="https://api.openai.com/v1/chat/completions"
)


STRANGER = {"authorization": "Bearer canary-key-OPENAI_API_KEY"}


#: rule id: (a run that keeps it, how to break it)
SESSIONS = {
    "AUT-002": (keyed, lambda r: keyed(r, url=f"https://api.openai.com/v1/chat?key={CANARY}")),
    "AUT-003": (keyed, lambda r: keyed(r, headers=STRANGER)),
    "AUT-005": (keyed, lambda r: replace(r, elsewhere=["raw.githubusercontent.com:443"])),
    "ERR-002": (locked_out, lambda r: replace(r, exchanges=[*r.exchanges, *r.exchanges])),
    "AUT-001": (keyed, lambda r: keyed(r, headers={"x-secret": CANARY})),
    "AUT-004": (
        lambda: under("moved", run=replace(cut(), exchanges=[Exchange(HOME, Response(200))])),
        lambda r: moved(r, authorization="Bearer x"),
    ),
    "AUT-006": (
        lambda: given("Hi.", body={"messages": [user("Hi.")]}),
        lambda r: keyed(r, headers={"authorization": f"Bearer {CANARY}"}),
    ),
    "ASY-005": (two_speakers, lambda _: two_speakers("Hello, Bo!", "Hello, Ada!")),
    "ASY-002": (lambda: replace(two_tools(), left=[True]), lambda r: replace(r, left=[False])),
    "ASY-003": (given_up, lambda _: given_up(error=RuntimeError("cancelled"))),
    "ASY-004": (
        lambda: replace(two_tools(), blocking=[]),
        lambda r: replace(r, blocking=["connect to 127.0.0.1:80"]),
    ),
    "ERR-001": (retried, lambda _: retried(waits=[0.5])),
    "ERR-003": (retried, lambda r: replace(r, exchanges=r.exchanges[1:])),
    "ERR-004": (retried, lambda _: retried(again=HOME)),
    "ERR-005": (overloaded, lambda _: overloaded(RuntimeError("Something went wrong"))),
    "ERR-009": (
        overloaded,
        lambda _: replace(overloaded(), replies=[Reply(error=Busy("Overloaded")), Reply(error=Busy("no"))]),
    ),
    "ERR-010": (handed_over, lambda _: handed_over(3)),
    "ERR-011": (twice_refused, lambda _: twice_refused(TooLong("busy"))),
    **{
        rule: (lambda name=name: broken_off(name), lambda r: otherwise(r, replies=[Reply("", stop="stop")]))
        for rule, name in {"ERR-006": "html-502", "ERR-007": "error-200", "ERR-008": "stall:2"}.items()
    },
    "RUN-001": (two_tools, lambda r: replace(r, trouble=Trouble("no request was seen", ours=False))),
    "RUN-002": (
        two_tools,
        lambda r: replace(r, trouble=Trouble("it did not end", ours=False, rule="RUN-002")),
    ),
    "RUN-003": (two_tools, lambda r: replace(r, replies=[Reply(error=KeyError("choices"))])),
    "CAS-01": (two_tools, lambda r: replace(r, misses=["no recording of this request"])),
    "CAS-02": (two_tools, lambda r: replace(r, unplayed=["POST …: never played"])),
}
