"""The quick search of a cassette finds what the whole search finds."""

import json
import re
from pathlib import Path
from random import Random
from urllib.parse import quote

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from ellmer_harness.format.blobs import Blobs
from ellmer_harness.format.bodies import encode, written
from ellmer_harness.format.json_text import Laid, laid_item, layout_bytes
from ellmer_harness.format.uniform_events import Uniform
from ellmer_harness.secrets.cassette_scan import may_hold, scan, scan_written
from ellmer_harness.secrets.key_patterns import PATTERNS
from ellmer_harness.secrets.quick_search import has_key
from ellmer_harness.secrets.service_keys import keys

from .test_secret_kinds import CHOSEN, DRAWN, FIELDS, KEYS, NAMES, PASSWORDS, ROLES, TEXTS, WRAPPINGS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
often = settings(phases=[Phase.generate], deadline=None, database=None, derandomize=True)
few = settings(often, max_examples=3)


def cassette(*bodies):
    """Returns a cassette whose answers have these bodies, in JSON, in text, or in base64."""
    answers = [
        encode(body, "application/json", "", Blobs(ROOT / "no-such-folder"))
        if isinstance(body, bytes)
        else {"json": body}
        for body in bodies
    ]
    return {"version": 1, "metadata": {}, "interactions": [{"response": {"body": body}} for body in answers]}


def quick(form):
    """Returns what the quick search finds in a cassette."""
    found = [*scan_written(rest := {**form, "interactions": []}, Laid([layout_bytes(rest)]))]
    for number, interaction in enumerate(form["interactions"]):
        found += scan_written(interaction, laid_item(interaction, 2), (), f"/interactions/{number}")
    return found


def both(form):
    """Returns what both searches find."""
    return [*scan(form)], quick(form)


def same(*bodies):
    """Asserts that both searches find the same in an interaction, whether or not they find it in another."""
    for body in bodies:
        whole, written = both(cassette(body))
        assert [*map(str, whole)] == [*map(str, written)], body


@pytest.mark.parametrize("what", KEYS)
@few
@given(data=st.data())
def test_keys_in_all_wrappings(what, data):
    key = data.draw(KEYS[what])
    same(*(wrap(key) for wrap in WRAPPINGS.values()))


@pytest.mark.parametrize("what", DRAWN)
@few
@given(data=st.data(), name=st.sampled_from((*NAMES, *ROLES, *PASSWORDS)))
def test_values_under_a_telling_name(what, data, name):
    value = data.draw(DRAWN[what])
    same(*(place(name, value) for place in (*FIELDS.values(), *TEXTS.values())))


@pytest.mark.parametrize("what", CHOSEN)
@few
@given(data=st.data(), name=st.sampled_from(PASSWORDS))
def test_chosen_values(what, data, name):
    value = data.draw(CHOSEN[what])
    same(*(place(name, value) for place in FIELDS.values()))


@pytest.mark.parametrize("row", PATTERNS, ids=[f"{row.what}: {row.literals}" for row in PATTERNS])
def test_what_a_row_matches_is_suspicious(row):
    @settings(often, max_examples=8)
    @given(key=st.from_regex(re.compile(row.regex, re.ASCII), fullmatch=True))
    def every(key):
        if any(what == row.what for what, _ in keys([key])):
            assert has_key(f"before{key}after".encode())
            assert may_hold(json.dumps({"said": f"\n{key}"}).encode())

    every()


PIECES = (
    *("password", "user_password", "pin", "otp", "apiKey", "x-api-key", "token", "code", "key", "sessionId"),
    *("Bearer", "Basic", "authorization", "name", "value", "content", "id", "data", "text", "the", "and"),
    *(" ", "\n", "\r\n", "\t", ":", "=", ": ", " = ", ",", ", ", ";", "&", "?", '"', "'", "\\", "/", "+", "%"),
    *("<", ">", "</", "/>", "<key>", "</key>", "<string>", "(", ")", "[", "]", "{", "}", "://", "@", "é", "✓"),
    *("Winter2031!", "s3cretpw!", "1234", "YWRtaW46aHVudGVyMjI=", "kJ8sQ2mZx4Rt9Lw1Vb7Np3", "a1b2c3d4e5f60718"),
    *("=>", ":=", "%3D", "%3A", "%22", "\x00", "\x1b", "\u2028", "\\n", "\\u0070", "login(", "mutation {"),
    *('name="', "Set-Cookie", "session_id", "mfa code", "passwordHash", "SSWS ", "-----BEGIN RSA PRIVATE KEY-----"),
)  # fmt: skip
TEXT = st.lists(st.sampled_from(PIECES), max_size=9).map("".join)
VALUE = st.recursive(
    st.one_of(
        TEXT, TEXT.map(lambda text: json.dumps({"x": text})), st.integers(), st.none(), TEXT.map(quote)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(TEXT, TEXT).map(list),
        st.dictionaries(TEXT, inner, max_size=3),
        inner.map(json.dumps),
    ),
    max_leaves=6,
)


@settings(often, max_examples=400)
@given(value=VALUE)
@example(value={"value": "Winter2031!", "name": "password"})
@example(value={"text": ["<key>password</key>\n", "<string>Winter2031!</string>\n"]})
@example(value={"text": ['name="pin"\r\n', "\r\n", "1234\r\n"]})
@example(value=["session id", "kJ8sQ2mZx4Rt9Lw1Vb7Np3"])
@example(value={"tokens": [1, ["kJ8sQ2mZx4Rt9Lw1Vb7Np3"]]})
def test_whatever_is_found_was_suspicious(value):
    form = {"version": 1, "metadata": {}, "interactions": [{"body": {"json": value}}]}
    if [*scan(form)]:
        assert may_hold(layout_bytes(form)), value


CODE = r'"print(\"a\\n\\t\\\\d\")  # C:\\Users\\bob, \u001b[32mgreen\u001b[0m, {\"x\": \"\\u00e9\\/\"}"'


@pytest.mark.parametrize(
    ("hidden", "holds"),
    [
        ("x", False),
        (r"password\u003dkJ8sQ2mZx4Rt9Lw1Vb7Np3", True),
        (r"pass\u0077ord: kJ8sQ2mZx4Rt9Lw1Vb7Np3", True),
        (r"pass\word=kJ8sQ2mZx4Rt9Lw1Vb7Np3", True),
        (r"\n\\npassword=kJ8sQ2mZx4Rt9Lw1Vb7Np3", True),
        (r"sk-ant-api03-\x61B3dE5fG7h" + "aB3dE5fG7h" * 8 + "AA", True),
    ],
)
def test_escapes_in_a_text_are_no_reason_to_search_all_of_it(hidden, holds):
    """Code, and the colours of a terminal, are most of what coding agents record."""
    text = b'{"content":[' + CODE.encode() + b"," + json.dumps(hidden).encode() + b"]}"
    assert may_hold(text) is holds


def test_a_known_value_is_found_behind_escapes():
    text = json.dumps({"said": json.dumps({"inner": json.dumps("grüße-aus-köln")})}).encode()
    assert may_hold(text, [("grüße-aus-köln", "OURS")])
    assert not may_hold(text, [("another-value", "OURS")])


FILES = sorted(
    file for folder in ("cassettes", "harness/fixtures") for file in (ROOT / folder).rglob("*.json")
)


@pytest.mark.parametrize("part", range(8))
def test_in_real_recordings(part):
    lots = Random(part)
    checked = 0
    for file in FILES[part::8]:
        form = json.loads(file.read_text("utf-8"))
        if not isinstance(form, dict) or not isinstance(form.get("interactions"), list):
            continue
        checked += 1
        whole, written = both(form)
        assert [*map(str, whole)] == [*map(str, written)], file
        if form["interactions"]:
            lots.choice(form["interactions"])["found"] = {"password": "Winter2031!"}
            assert len(quick(form)) > len(whole), file
    assert checked


TOKENS = ["Hello", " is", "\n", "é", '"', ""]


@pytest.mark.parametrize("place", [0, 70, 199])
@pytest.mark.parametrize("others", [0, 3])
@pytest.mark.parametrize("key", ["sk-ant-api03-" + "aB3dE5fG7h" * 9 + "AA", "a-known-value-of-ours"])
def test_a_key_that_is_split_over_alike_events_is_found(place, others, key):
    """Whether all events are alike or not, the quick search says what the whole search says."""
    said = [f" {TOKENS[number % len(TOKENS)]}{number}" for number in range(200)]
    said[place:place] = [key[at : at + 7] for at in range(0, len(key), 7)]
    events = [{"id": "a1", "delta": {"text": each, "number": at}} for at, each in enumerate(said)]
    events[:0] = [{"role": "assistant", "n": number} for number in range(others)]
    body = "".join(f"data: {json.dumps(e, ensure_ascii=False, separators=(',', ':'))}\n\n" for e in events)
    form = written(body.encode(), "text/event-stream", "", Blobs(ROOT / "no-such-folder"))
    assert isinstance(form, Uniform)
    response = {"response": {"body": form}}
    text = laid_item(response, 2)
    secrets = [("a-known-value-of-ours", "OURS")]
    found = [*scan_written(response, text, secrets)]
    assert [*map(str, found)] == [*map(str, scan({"response": {"body": form.form()}}, secrets))]
    assert ["over several events" in each.what for each in found] == [True]


VALUE_OF_ONE = "Winter2031!x7Qq9aT"


@pytest.mark.parametrize("place", [0, 70, 199])
@pytest.mark.parametrize(
    ("frame", "words"),
    [
        ('{"id":"a1","name":"%s","value":"%s"}', ("api_key", VALUE_OF_ONE)),
        ('{"value":"%s","key":"%s"}', (VALUE_OF_ONE, "api_key")),
        ('{"id":"a1","pair":["%s","%s"]}', ("api_key", VALUE_OF_ONE)),
        ('{"id":"a1","said":"%s","user_password":"%s"}', ("x", VALUE_OF_ONE)),
        ('{"delta":{"text":"%s"},"more":"%s"}', (f"password = {VALUE_OF_ONE}", "x")),
        ('{"delta":{"text":"%s"},"more":"%s"}', ("x", f"<password>{VALUE_OF_ONE}</password>")),
        ('{"text":"%s","list":[{"name":"%s"}]}', ("x", "sk-ant-api03-" + "aB3dE5fG7h" * 9 + "AA")),
    ],
)
def test_a_credential_in_one_of_alike_events_is_found(frame, words, place):
    """It stands in one event only; of alike events, the quick search looks at what differs."""
    pairs = [(f"w{number}", f"v{number}") for number in range(200)]
    pairs[place] = words
    body = "".join(f"data: {frame % pair}\n\n" for pair in pairs)
    form = written(body.encode(), "text/event-stream", "", Blobs(ROOT / "no-such-folder"))
    assert isinstance(form, Uniform)
    response = {"response": {"body": form}}
    found = [*scan_written(response, laid_item(response, 2))]
    assert [*map(str, found)] == [*map(str, scan({"response": {"body": form.form()}}))]
    assert found
