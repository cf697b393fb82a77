"""The steps of a case are played, and the requests that were sent before each are counted."""

from ellmer_conformance.adapters.ellmer_core import EllmerCore
from ellmer_conformance.runner.against_server import play_direct
from ellmer_conformance.runner.sessions import CaseRun
from ellmer_conformance.scenarios.case import Case, ask
from ellmer_conformance.scenarios.cases import all_cases
from ellmer_conformance.scenarios.messages import Reply
from ellmer_conformance.server import StrictServer


class Counting:
    """A session that sends two requests for each answer."""

    def __init__(self, sent):
        self.sent = sent

    def send(self, parts, *, stream):
        self.sent += [parts, parts]
        return Reply("Yes.")

    async def asend(self, parts, *, stream):
        return self.send(parts, stream=stream)

    def transcript(self):
        return ""


def begun(mode, *speakers):
    sent = []
    run = CaseRun(Case([], [ask(f"{number}?", who=who) for number, who in enumerate(speakers)]), mode)
    run.sent = lambda: len(sent)
    run.play_steps([Counting(sent) for _ in {*speakers}])
    assert [reply.text for reply in run.replies] == ["Yes."] * len(speakers)
    return run.begun


def test_the_requests_before_each_step_are_counted():
    for mode in ("sync", "stream", "async", "async-stream"):
        assert begun(mode, 0, 0, 0) == [0, 2, 4]


def test_steps_at_the_same_time_begin_with_the_same_requests():
    assert begun("async", 0, 1, 0, 1) == [0, 0, 4, 4]
    assert begun("sync", 0, 1, 0, 1) == [0, 2, 4, 6]


def test_an_error_before_the_first_request_is_told_with_its_line(monkeypatch):
    class Raising(EllmerCore):
        def session(self, endpoint, **given):
            session = super().session(endpoint, **given)
            monkeypatch.setattr(type(session), "send", lambda self, parts, **given: {}["schema"])
            return session

    with StrictServer() as server:
        run = play_direct(
            Raising(), "openai-chat", "openai", all_cases()["plain_text"], "sync", server=server
        )

    told, place = run.trouble.text.splitlines()
    assert told == "no request reached the given base URL: the call raised KeyError: 'schema'"
    assert "runner/test_sessions.py:" in place
