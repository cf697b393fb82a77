"""What the rules say of a conversation's next request is the same, whether its window is judged or all of it."""

import json
from copy import deepcopy
from random import Random

import pytest
from conversations import FORMATS, KINDS, SIGNATURE, TOOL, bodies

from ellmer_conformance.contract.rules import book
from ellmer_conformance.server.http.routes import route_of
from ellmer_conformance.server.judging.request_check import ConversationCheck

CONVERSATIONS, TURNS = 5, 7


class Watched:
    """A check that counts the messages that it judges."""

    def __init__(self, format):
        self.format, self.sizes, self.windows = format, [], 0
        self.check = ConversationCheck(self.judge, lambda *_: None)

    def judge(self, request):
        messages = request.body.get(self.format.list)
        self.sizes.append(len(messages) if isinstance(messages, list) else 0)
        self.windows += 0 < self.sizes[-1] < self.sent
        return tuple(book(request.wire, request.provider).judge(request))

    def examined(self, body):
        self.sent = len(body[self.format.list])
        way = route_of(self.format.path, self.format.headers.get("host", "127.0.0.1"))
        return self.check.examined(way, "POST", {}, json.dumps(body).encode())


def conversation(format, chance, turns=TURNS):
    return list(bodies(format, [chance.choice(KINDS) for _ in range(turns)], chance.randrange(1000)))


def compare(watched, body):
    request, judged, _ = watched.examined(body)
    whole = book(request.wire, request.provider).judge(request)
    found = [violation for verdict in whole for violation in verdict.violations]
    assert request.body == body
    assert judged.fine == (not found), (found, json.dumps(body))
    assert list(judged.verdicts) == whole, json.dumps(body)


@pytest.mark.parametrize("name", FORMATS)
def test_windows_of_legal_conversations_are_judged_as_the_whole(name):
    watched, chance = Watched(FORMATS[name]), Random(name)
    for _ in range(3):
        for body in conversation(watched.format, chance, 12):
            compare(watched, body)


@pytest.mark.parametrize("name", FORMATS)
def test_windows_of_malformed_conversations_are_judged_as_the_whole(name):
    watched, chance = Watched(FORMATS[name]), Random(name)
    for _ in range(CONVERSATIONS):
        known = 0
        for body in conversation(watched.format, chance):
            for _ in range(3 if known else 0):
                compare(watched, spoilt(body, watched.format.list, known, chance))
            compare(watched, body)
            known = len(body[watched.format.list])
    assert watched.windows > 30, "the whole was judged"


@pytest.mark.parametrize("name", FORMATS)
def test_only_a_few_messages_of_a_long_conversation_are_judged(name):
    watched = Watched(FORMATS[name])
    kinds = [KINDS[number % (len(KINDS) - 1)] for number in range(20)]
    sent = [watched.examined(body) for body in bodies(watched.format, kinds)]
    assert all(one.judged.fine for one in sent)
    assert max(watched.sizes) <= 8
    assert len(sent[-1].request.body[watched.format.list]) > 40


@pytest.mark.parametrize(("name", "kind"), [("openai-responses", "call"), ("bedrock", "document")])
def test_an_id_or_a_name_that_a_message_outside_the_window_has_is_found(name, kind):
    watched = Watched(FORMATS[name])
    *before, last = bodies(watched.format, [kind, *["plain"] * 4, kind])
    for body in before:
        compare(watched, body)
    names = [(one, key) for one, key in scalars(last) if key in {"id", "name"} and one[key] != TOOL]
    (first, _), *_, (again, key) = names
    again[key] = first[key]
    assert not watched.examined(last).judged.fine
    compare(watched, last)


@pytest.mark.parametrize("name", ["anthropic", "bedrock"])
def test_marks_for_the_cache_are_counted_outside_the_window(name):
    watched = Watched(FORMATS[name])
    for body in bodies(watched.format, ["cached", "plain", "plain"] * 5):
        compare(watched, body)
    assert watched.sent == watched.sizes[-1]


# what goes wrong ----------------------------------------------------------------------------------------


def spoilt(body, name, known, chance):
    """A body whose messages behind those that are `known` were changed somehow."""
    body = deepcopy(body)
    messages = body[name]
    for _ in range(chance.choice((1, 1, 1, 2))):
        if len(messages) > known:
            chance.choice(WRONG)(messages, chance.randrange(known, len(messages)), chance)
    return body


def drop(messages, at, chance):
    del messages[at]


def double(messages, at, chance):
    messages.insert(at, deepcopy(messages[at]))


def repeat(messages, at, chance):
    messages.append(deepcopy(chance.choice(messages)))


def swap(messages, at, chance):
    messages[-1], messages[at] = messages[at], messages[-1]


def add(messages, at, chance):
    role = chance.choice(("system", "user", "assistant", "model", "tool", "developer"))
    messages.insert(at, {"role": role, "content": chance.choice(("Hm.", "", None, [{"text": "Hm."}]))})


def change(messages, at, chance):
    places = list(scalars(messages[at]))
    if places:
        holder, key = chance.choice(places)
        others = [one[where] for message in messages for one, where in scalars(message) if where == key]
        holder[key] = chance.choice((*others, *others, "", "x", None, 3, [], {}, SIGNATURE, "json", "a.b c"))


def remove(messages, at, chance):
    places = list(scalars(messages[at]))
    if places:
        holder, key = chance.choice(places)
        del holder[key]


def mark(messages, at, chance):
    """Adds what there may be a few times only, or with a name of its own."""
    content = messages[at].get("content") if isinstance(messages[at], dict) else None
    if isinstance(content, list):
        document = {"format": "pdf", "name": chance.choice("abc"), "source": {"bytes": "JVBERi0xLjQK"}}
        cached = {"type": "text", "text": "Hm.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
        content.append(chance.choice(({"document": document}, cached, {"cachePoint": {"type": "default"}})))


WRONG = (drop, double, repeat, swap, add, change, change, change, remove, mark)


def scalars(value):
    """Each place in a value that holds no object and no list."""
    places = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in list(places):
        if isinstance(one, dict | list):
            yield from scalars(one)
        else:
            yield value, key
