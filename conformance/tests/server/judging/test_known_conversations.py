"""A request goes on with a conversation where its bytes do, and is read as if nothing were known."""

import json

import pytest

from ellmer_conformance.server.judging.verdict_cache import KnownConversations, place_of

HELLO, ANSWER, THANKS = ({"role": "user", "content": text} for text in ("Hello.", "Hi! " * 20, "Thanks."))
ASKED = {
    "model": "m",
    "messages": [HELLO, ANSWER],
    "tools": [{"messages": ["x"], "tools": 1}],
    "stream": True,
}


def known(body, text=None):
    text = text or json.dumps(body).encode()
    conversations = KnownConversations()
    place = place_of(text, body)
    conversations.keep("kind", place, body, "what is known")
    return conversations


def longer(body, *more):
    return {**body, "messages": [*body["messages"], *more]}


@pytest.mark.parametrize(
    "keys", [("messages", "model"), ("model", "messages", "tools"), ("messages", "tools", "stream")]
)
@pytest.mark.parametrize("style", [{}, {"separators": (",", ":")}, {"indent": 2}])
def test_a_longer_conversation_is_read_as_all_of_it(keys, style):
    body = {key: ASKED[key] for key in keys}
    after = longer(body, THANKS)
    found = known(body, json.dumps(body, **style).encode()).find("kind", json.dumps(after, **style).encode())
    assert found.value == after
    assert list(found.value) == list(after)
    assert found.new == [THANKS]
    assert found.facts == "what is known"
    assert found.place == place_of(json.dumps(after, **style).encode(), after)


def test_another_kind_another_option_and_another_history_are_not_known():
    conversations, after = known(ASKED), longer(ASKED, THANKS)
    assert conversations.find("kind", json.dumps(after).encode())
    assert conversations.find("other kind", json.dumps(after).encode()) is None
    for other in (ASKED, {**after, "stream": False}, longer({**ASKED, "messages": [THANKS, ANSWER]}, THANKS)):
        assert conversations.find("kind", json.dumps(other).encode()) is None


@pytest.mark.parametrize(
    "more", ['], "x": [1', "}, {", '"', ",", "1 2", ', {"a": 1}], [2', "\\u0000", "[" * 300]
)
def test_what_is_no_list_of_messages_is_not_put_behind_them(more):
    text = json.dumps(ASKED).encode()
    place = place_of(text, ASKED)
    assert known(ASKED).find("kind", place.before + b"," + more.encode() + place.after) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"messages": [1], "a": [2], "messages": [3, 4], "b": 5}',
        '{"x": [1], "messages": [2, 3], "x": [4], "y": 5}',
        '{"messages": [], "model": "m"}',
        '{"messages": "Hello.", "model": "m"}',
        '{"messages": [1], "m\\u006fdel": "m"}',
    ],
)
def test_where_the_messages_end_is_told_only_where_it_is_sure(text):
    value = json.loads(text)
    place = place_of(text.encode(), value)
    if place:
        after = json.loads(place.before + b', "more"' + place.after)
        assert after == {**value, place.name: [*value[place.name], "more"]}


def test_the_latest_conversations_are_kept():
    conversations = KnownConversations()
    for number in range(300):
        body = {**ASKED, "user": f"{number:03}"}
        conversations.keep("kind", place_of(json.dumps(body).encode(), body), body, number)
    last = longer({**ASKED, "user": "299"}, THANKS)
    assert conversations.find("kind", json.dumps(last).encode()).facts == 299
    first = longer({**ASKED, "user": "000"}, THANKS)
    assert conversations.find("kind", json.dumps(first).encode()) is None
