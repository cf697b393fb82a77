"""Requests that differ in plain words only are judged alike: what is kept of one holds for the other."""

import json

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.exchange import Request
from ellmer_conformance.contract.rule import Verdict
from ellmer_conformance.server.verdict_cache import Alike, without_repeats, without_words


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
    alike, judged = Alike(), []
    first, second = asked(alike, "Hi", judged), asked(alike, "How do you do?", judged)
    assert first is second
    assert isinstance(first.verdicts[0], Verdict)
    asked(alike, "Well.", judged, temperature=1)
    assert judged == ["Hi", "Well."]


def test_what_is_objected_to_is_judged_each_time():
    alike, judged = Alike(), []
    for text in ("Hi", "Ho"):
        found = asked(alike, text, judged, temperature=9)
        assert [v.rule.id for verdict in found.verdicts for v in verdict.violations]
    assert judged == ["Hi", "Ho"]


def turns(wire, count):
    """Messages of plain text, of the user and of the model, and the name of their list."""
    if wire == "gemini":
        said = [{"role": role, "parts": [{"text": "Hello."}]} for role in ("user", "model")]
        return "contents", said * count
    content = [{"text": "Hello."}] if wire == "bedrock" else "Hello."
    said = [{"role": role, "content": content} for role in ("user", "assistant")]
    return ("input" if wire == "openai-responses" else "messages"), said * count


def behind(wire, body, count):
    name, said = turns(wire, count)
    return {**body, name: [*said, *body[name]]}


@pytest.mark.parametrize("wire", rules.WIRES)
def test_turns_of_words_that_are_repeated_change_no_verdict(wire):
    book = rules.book(wire)
    name, seen = turns(wire, 0)[0], 0
    bodies = [body for rule in book.rules.values() for body in (*rule.examples, *rule.counterexamples)]
    for body in bodies:
        if isinstance(body.get(name), list):
            few, many = (
                {id for id, _, places in outcome(book, behind(wire, body, n)) if places} for n in (4, 7)
            )
            assert few == many, json.dumps(body)
            seen += 1
    assert seen > 20, "there was no conversation"


@pytest.mark.parametrize("wire", rules.WIRES)
def test_who_goes_on_with_a_conversation_is_judged_by_its_first_turns(wire):
    book, alike, judged = rules.book(wire), Alike(), []

    def judge(request):
        judged.append(request)
        return tuple(book.judge(request))

    def request(count):
        name, said = turns(wire, count)
        more = {"max_tokens": 9} if wire == "anthropic" else {}
        return Request(wire, "", {"model": "m", **more, name: said[:-1]}, model="m")

    def heard(count):
        return alike.judged(request(count), json.dumps(request(count).body).encode(), judge)

    found = [heard(count) for count in range(1, 12)]
    assert [one.turn for one in found] == list(range(0, 21, 2))
    assert all(one.fine for one in found)
    assert len(judged) <= 5, "the longer ones were judged, too"
    assert list(found[-1].verdicts) == book.judge(request(11))


def test_turns_that_hold_more_than_words_are_not_left_out():
    call = b': "assistant", "tool_calls": [{"id": "a"}]}, {'
    pieces = [b"{", *(b': "user", "content":"x"}, {', call) * 9, b': "user", "content":"x"}]}']
    assert without_repeats(pieces) == pieces
