"""Requests that differ only in plain text get equal verdicts."""

import json

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.contract.rule import Verdict
from ellmer_conformance.server.judging.verdict_cache import VerdictCache, without_ids, without_words


def outcome(book, body):
    return [
        (verdict.rule.id, verdict.checked, [v.pointer for v in verdict.violations])
        for verdict in book.judge(book.request(body))
    ]


@pytest.mark.parametrize("wire", rules.WIRES)
def test_a_text_that_is_left_out_changes_no_verdict(wire):
    book = rules.book(wire)
    left_out = 0
    for rule in book.rules.values():
        for body in (*rule.examples, *rule.counterexamples):
            text = json.dumps(body).encode()
            bare = json.loads(without_words(text))
            left_out += bare != body
            assert outcome(book, bare) == outcome(book, body), json.dumps(body)
    assert left_out > 20, "there was nothing to leave out"


@pytest.mark.parametrize("wire", rules.WIRES)
def test_requests_that_are_alike_without_their_ids_have_the_same_verdicts(wire):
    book, known = rules.book(wire), {}
    for rule in book.rules.values():
        for body in (*rule.examples, *rule.counterexamples):
            for text in (
                json.dumps(body),
                json.dumps(renamed(body, "call")),
                json.dumps(renamed(body, "f1")),
            ):
                told = outcome(book, json.loads(text))
                assert known.setdefault((body.get("model"), without_ids(text.encode())), told) == told, text


def renamed(value, kind):
    """The value with longer ids: equal ones stay equal."""
    if isinstance(value, dict):
        return {
            key: f"{kind}_{one}00000000"[:40]
            if key.lower().endswith("id") and isinstance(one, str)
            else renamed(one, kind)
            for key, one in value.items()
        }
    return [renamed(one, kind) for one in value] if isinstance(value, list) else value


def test_ids_are_numbered_and_arguments_are_left_out():
    first, second = (
        {
            "role": "assistant",
            "content": "Hi.",
            "tool_calls": [{"id": f"call_{a}", "input": {"city": b}}, {"id": f"call_{c}"}],
        }
        for a, b, c in (("12cd", "Rome", "3400"), ("34ab", "Bern", "5600"))
    )
    same = {**second, "tool_calls": [second["tool_calls"][0]] * 2}
    bare = [without_ids(json.dumps(body).encode()) for body in (first, second, same)]
    assert bare[0] == bare[1] != bare[2]


@pytest.mark.parametrize(
    "text",
    ["", " ", "Hi ", "<a>", "[see below]", "as JSON", "a\nb", 'say "x"', "x" * 401, "é", "<redacted>", "…"],
)
def test_a_text_that_may_tell_a_rule_something_stays(text):
    body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
    assert without_words(body) == body


def test_only_texts_are_left_out_not_what_a_text_quotes():
    quoted = json.dumps({"content": '{"content": "Hi"}', "name": "Hi", "text": "Hi"}).encode()
    assert json.loads(without_words(quoted)) == {"content": '{"content": "Hi"}', "name": "Hi", "text": "x"}


def asked(alike, text, judged, **more):
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": text}], **more}

    def judge(request):
        judged.append(text)
        return tuple(rules.book("openai-chat").judge(request))

    request = Request("openai-chat", "openai", body, model="gpt-4.1")
    return alike.judged(request, json.dumps(body).encode(), judge)


def test_another_question_is_not_judged_again_but_another_option_is():
    alike, judged = VerdictCache(), []
    first, second = asked(alike, "Hi", judged), asked(alike, "How do you do?", judged)
    assert first is second
    assert isinstance(first.verdicts[0], Verdict)
    asked(alike, "Well.", judged, temperature=1)
    assert judged == ["Hi", "Well."]


def test_what_is_objected_to_is_judged_each_time():
    alike, judged = VerdictCache(), []
    for text in ("Hi", "Ho"):
        found = asked(alike, text, judged, temperature=9)
        assert [v.rule.id for verdict in found.verdicts for v in verdict.violations]
    assert judged == ["Hi", "Ho"]
