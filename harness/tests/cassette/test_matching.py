"""Equal requests, and the explanation of a missing one."""

import json
import time

import httpx
import pytest

from ellmer_harness import Match, Miss, use_cassette
from ellmer_harness.cassette.miss_explanation import differences, word_diff
from ellmer_harness.cassette.run_verdict import StaleWarning

API = "https://api.example.com"


@pytest.fixture
def recorded(server, record, tmp_path):
    def recorded(*bodies, **options):
        with use_cassette(tmp_path / "c.json", **record, **options):
            for body in bodies:
                send(body)
        return tmp_path / "c.json"

    return recorded


def send(body, url=f"{API}/chat", **options):
    content = {"content": body} if isinstance(body, bytes | str) else {"json": body}
    return httpx.post(url, **content | options)


SAME = [
    ({"a": 1, "b": {"c": [1, 2]}}, '{ "b": {"c":[1,2]},\n "a":1}', {}),
    ({"a": "ü"}, '{"a":"\\u00fc"}', {}),
    ("text", "text", {"url": f"{API}/chat?api_key=x"}),
    ("text", "text", {"url": "https://API.example.com:443/chat"}),
    ("text", "text", {"headers": {"user-agent": "other", "x-stainless-lang": "c", "accept": "a/b"}}),
]
DIFFERENT = [
    ({"a": 1}, {"a": 2}, {}),
    ({"a": 1}, {"a": 1.0}, {}),
    ({"a": [1, 2]}, {"a": [2, 1]}, {}),
    ("text", "text ", {}),
    ("text", "text", {"url": f"{API}/chat?page=2"}),
    ("text", "text", {"url": f"{API}/chat?flag"}),
    ("text", "text", {"headers": {"anthropic-version": "2"}}),
    ("text", "text", {"headers": {"anthropic-beta": "x"}}),
    ("{not json", "{not  json", {}),
]


@pytest.mark.parametrize(("one", "other", "options"), SAME)
def test_the_same_request(recorded, one, other, options):
    headers = {"content-type": "application/json"} if isinstance(one, dict) else {}
    with use_cassette(recorded(one)):
        send(other, **options | {"headers": headers | options.get("headers", {})})


@pytest.mark.parametrize(("one", "other", "options"), DIFFERENT)
def test_another_request(recorded, one, other, options):
    with pytest.raises(Miss), use_cassette(recorded(one)):
        send(other, **options)


def test_parts_and_forms_are_compared_by_content(recorded, server, record, tmp_path):
    def upload(content=b"data", **options):
        with use_cassette(tmp_path / "m.json", **options):
            httpx.post(API, data={"a": "1"}, files={"f": ("n.txt", content)})  # with a new boundary each time

    upload(**record)
    upload()
    with pytest.raises(Miss):
        upload(b"other")
    with use_cassette(tmp_path / "f.json", **record):
        httpx.post(API, data={"a": "1", "b": ""})
    with use_cassette(tmp_path / "f.json"):
        httpx.post(API, content="b=&a=1", headers={"content-type": "application/x-www-form-urlencoded"})


def test_what_does_not_matter_can_be_ignored(recorded):
    body = {"user": "a", "items": [{"id": 1, "x": 1}, {"id": 2, "x": 2}], "list": [1, 2]}
    other = {"user": "b", "items": [{"id": 8, "x": 1}, {"id": 9, "x": 2}], "list": [1, 3]}
    path = recorded(body)
    with use_cassette(path, match=Match(ignore=("/user", "/items/*/id", "/list/1", "/none/x"))):
        send(other)
    with (
        pytest.warns(StaleWarning, match="request 1 is not the one"),
        use_cassette(path, match=Match(body=False)),
    ):
        send({"entirely": "else"})
    with use_cassette(path, match=Match(headers=())):
        send(json.dumps(body), headers={"content-type": "text/plain"})
    with use_cassette(path, match=Match(ignore=("?beta", "?b"))):
        send(body, url=f"{API}/chat?b=2&beta=true&beta")
    with pytest.raises(Miss), use_cassette(path, match=Match(ignore=("?beta",))):
        send(body, url=f"{API}/chat?beta2=true")


def test_what_a_recorder_did_not_keep_does_not_make_a_recording_stale(recorded):
    path = recorded({"a": 1})
    cassette = json.loads(path.read_text())
    cassette["metadata"]["ellmer_harness"]["not_compared"] = ["headers"]
    path.write_text(json.dumps(cassette))
    with use_cassette(path, match=Match(body=False), stale="error"):
        send({"a": 1}, headers={"openai-version": "3"})


def test_order_does_not_matter_but_each_recording_plays_once(recorded):
    path = recorded(*({"n": n % 7, "m": "x"} for n in range(21)))
    with use_cassette(path):
        for n in reversed(range(21)):
            assert json.loads(send({"m": "x", "n": n % 7}).json()["echo"])["n"] == n % 7


class TestExplained:
    def miss(self, path, body, **options):
        with pytest.raises(Miss) as miss, use_cassette(path):
            send(body, **options)
        return str(miss.value)

    def test_one_changed_word_in_a_long_text(self, recorded):
        words = [f"word{n}" for n in range(20_000)]
        path = recorded({"messages": [{"role": "user", "content": " ".join(words)}]})
        words[12_345] = "CHANGED"
        before = time.process_time()
        text = self.miss(path, {"messages": [{"role": "user", "content": " ".join(words)}]})
        assert "~ /messages/0/content: …" in text
        assert "word12344 [-word12345-]{+CHANGED+} word12346" in text
        assert len(text) < 1000
        assert time.process_time() - before < 30  # minutes, if each word is compared with each

    def test_the_nearest_of_many_is_named_with_its_line(self, recorded):
        turns = [{"role": "user", "content": f"question {n}"} for n in range(20)]
        path = recorded(*({"messages": turns[: n + 1]} for n in range(20)))
        changed = [*turns[:4], {"role": "user", "content": "question four"}, *turns[5:10]]
        text = self.miss(path, {"messages": changed})
        assert "#10 of 20" in text
        line = int(text.partition("c.json:")[2].partition(")")[0])
        assert path.read_text().splitlines()[: line - 1].count("    {") == 9
        assert path.read_text().splitlines()[line - 1] == "    {"
        assert "~ /messages/4/content: question [-4-]{+four+}" in text

    def test_a_message_put_in_front_is_one_difference(self, recorded):
        turns = [{"role": "user", "content": f"question {n}"} for n in range(5)]
        text = self.miss(
            recorded({"messages": turns}), {"messages": [{"role": "system", "content": "Terse."}, *turns]}
        )
        assert '+ /messages/0: {"role": "system", "content": "Terse."}' in text
        assert text.count("/messages/") == 1

    def test_url_method_and_headers_are_compared_too(self, recorded):
        text = self.miss(recorded("x"), "x", url=f"{API}/chats?v=2", headers={"anthropic-version": "2"})
        assert f"~ url: [-{API}/chat-]{{+{API}/chats+}}" in text
        assert 'parameter + /v: "2"' in text
        assert 'header + /anthropic-version: "2"' in text

    def test_it_says_how_to_record_again(self, recorded):
        assert (
            "pytest 'harness/tests/cassette/test_matching.py::TestExplained::test_it_says_how"
            in self.miss(recorded("x"), "y")
        )
        with (
            pytest.raises(Miss, match="record it again:\n  make cassettes"),
            use_cassette(recorded("x"), rerecord="make cassettes"),
        ):
            send("y")

    def test_one_that_was_played_already(self, recorded):
        path = recorded({"n": 1}, {"n": 1})
        with (
            pytest.raises(
                Miss, match=r"was recorded 2 times, and each .* was replayed already; .*on_repeat='last'"
            ),
            use_cassette(path),
        ):
            [send({"n": 1}) for _ in range(3)]

    def test_an_empty_cassette(self, recorded, tmp_path):
        path = recorded("x")
        cassette = json.loads(path.read_text())
        path.write_text(json.dumps(cassette | {"interactions": []}))
        assert "The cassette is empty" in self.miss(path, "y")


def test_differences_are_found_everywhere():
    old = {"a": [1, {"b": None}], "gone": 1, "x/y": "same text", "t": True}
    new = {"a": [1, {"b": 0}, 2], "come": [], "x/y": "same tent", "t": 1}
    assert list(differences(old, new)) == [
        "~ /a/1/b: [-null-]{+0+}",
        "+ /a/2: 2",
        "- /gone: 1",
        "~ /x~1y: same [-text-]{+tent+}",
        "~ /t: [-true-]{+1+}",
        "+ /come: []",
    ]


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("a b c", "a b c d", "a b c{+ d+}"),
        ("a b", "b", "[-a -]b"),
        ("line\n", "line", "line[-\\n-]"),
        ("x" * 300, "y", "[-" + "x" * 160 + "… (300 characters)-]{+y+}"),
    ],
)
def test_words(old, new, shown):
    assert word_diff(old, new) == shown
