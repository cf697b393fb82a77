"""Mutated answers through a whole chat: real answers if there are recordings, else our own.

For any bytes, the result is a typed error or a turn, no truncated answer counts as complete, no call of one runs, the
next request breaks no rule of its provider, and the time is bounded. `nox -s fuzz` uses 50,000, the tests a few of
each wire format. The seed is fixed, so that each run is the same.
"""

import json
import os
import time
import warnings
from base64 import b64decode
from collections.abc import Mapping
from contextlib import suppress
from math import isfinite
from pathlib import Path
from random import Random
from runpy import run_path

import httpx
import pytest
from traffic.recorded import files

import ellmer_core as ec
from ellmer_conformance.adapters.endpoints import PROVIDER_ADDRESSES
from ellmer_conformance.contract.readers import request as read_request
from ellmer_conformance.contract.rules import book
from ellmer_core.contents.turns import AssistantPartialTurn, AssistantTurn
from ellmer_core.errors import EllmerError

SAMPLES = run_path(str(Path(__file__).parents[1] / "wire" / "answers" / "test_cut_answers.py"))
FORMATS, STREAMED = SAMPLES["FORMATS"], SAMPLES["STREAMED"]
COUNT = int(os.environ.get("FUZZ", "320")) // 8
LONGEST = 20.0  # seconds of the processor that one chat may take; milliseconds are usual
PROTOCOLS = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic-messages": "anthropic",
    "gemini": "gemini",
    "bedrock-converse": "bedrock",
    "ollama": "ollama",
    "cohere-v2": "cohere",
}
NAMES = [*PROTOCOLS.values(), "mistral"]

#: What each format says at the end of a whole answer, in bytes; written down here once more, so that the table of the
#: library is not its own judge.
WHOLE = {
    "openai-chat": (b'"stop', b'"eos', b'"tool_call', b'"function_call', b'"end_turn'),
    "mistral": (b'"stop', b'"eos', b'"tool_call', b'"function_call', b'"end_turn'),
    "openai-responses": (b'"completed"',),
    "anthropic": (b'"end_turn"', b'"tool_use"', b'"stop_sequence"', b'"pause_turn"'),
    "gemini": (b'"STOP"', b'"finishReason": 1', b'"finishReason":1'),  # some clients record the numbers
    "bedrock": (b'"end_turn"', b'"tool_use"', b'"stop_sequence"'),
    "ollama": (b"true",),
    "cohere": (b'"COMPLETE"', b'"STOP_SEQUENCE"', b'"TOOL_CALL"'),
}
REASONS = [
    b'"abort"',
    b'"length"',
    b'"MALFORMED_FUNCTION_CALL"',
    b'"max_tokens"',
    b'"ERROR"',
    b"null",
    b'""',
    b"7",
    b'"in_progress"',
]
STRANGE = [
    b"null",
    b"1e999",
    b"-1",
    b"[]",
    b"{}",
    b'"\\ud83d"',
    b"NaN",
    b"9" * 30,
    b"[[[[",
    b'"',
    b"\x00",
    b"\xff",
    b"\r",
    b"\x1b[2J",
    b'"a b!"',
]
#: Rules that object to a field, or to a kind of block or another listed word, that nobody knows. A provider takes back the
#: words that it said itself, tomorrow's too: where the mutated answer has such a word, it is no fault of the request.
FIELDS, WORDS = {"REQ-004", "REQ-033", "REQ-101"}, {"REQ-104", "REQ-105"}
#: Rules about the form of ids: a provider takes back its own; a recording may be of another provider of the format.
IDS = {"PAIR-006", "PAIR-019"}
#: The provider that each format is at home with.
HOME = dict(reversed(PROVIDER_ADDRESSES))
MODELS = {
    "gemini": "gemini-2.5-flash",
    "anthropic": "claude-sonnet-4-5",
    "bedrock": "anthropic.claude-sonnet-4-5-20250929-v1:0",
}


def recorded():
    """The bodies of real answers: `(wire format, bytes, streamed)`."""
    for _, interactions in files():
        for one in interactions:
            name = PROTOCOLS.get(one["protocol"])
            if name and one["operation"] == "chat" and one["response"]["status"] < 300:
                yield "mistral" if one["family"] == "mistral" else name, *body_of(one["response"])


def body_of(response):
    if "body_base64" in response:
        return b64decode(response["body_base64"]), True
    if "text" in response:
        return response["text"].encode(), True
    return json.dumps(response["body"]).encode(), False


def ours():
    for name in NAMES:
        wire, whole, stream = FORMATS[name]
        for reason in (*wire.endings.whole, *wire.endings.cut):
            yield name, json.dumps(whole(reason)).encode(), False
            yield name, stream(reason), True


def seeds():
    found = {name: [] for name in NAMES}
    for name, body, streamed in (*ours(), *recorded()):
        if len(body) < 200_000:
            found[name].append((body, streamed))
    return found


SEEDS = seeds()


def mutated(body, name, chance):  # noqa: PLR0911 - one return per kind of damage
    """Returns the bytes with one error: cut, lost, doubled, moved, flipped, strange, or another finish reason."""
    at, size = chance.randrange(len(body) + 1), chance.choice([1, 1, 8, 64, 512])
    match chance.randrange(8):
        case 0:
            return body[:at]
        case 1:
            return body[:at] + body[at + size :]
        case 2:
            return body[:at] + body[at : at + size] * 2 + body[at + size :]
        case 3:
            return body[:at] + chance.choice(STRANGE) + body[at:]
        case 4:
            return body[:at] + bytes([chance.randrange(256)]) + body[at + 1 :]
        case 5:
            return value_replaced(body, chance)
        case 6:
            other, _ = chance.choice(SEEDS[name])
            return body[:at] + other[chance.randrange(len(other) + 1) :]
        case _:
            for word in WHOLE[name]:
                body = body.replace(word + (b"" if word[-1:] in b'"1' else b'"'), chance.choice(REASONS))
            return body


def value_replaced(body, chance):
    """Returns the text with a value after a colon replaced."""
    colons = [i for i, byte in enumerate(body) if byte == 58]
    if not colons:
        return body
    at = chance.choice(colons) + 1
    end = min((i for i in (body.find(mark, at) for mark in (b",", b"}", b"\n")) if i > 0), default=len(body))
    return body[:at] + chance.choice(STRANGE) + body[end:]


def talk(name, body, streamed, ran):
    """Runs a chat with these bytes and then a legal answer. Returns its requests."""
    wire, whole, _ = FORMATS[name]
    asked = []
    good = json.dumps(whole(next(iter(wire.endings.whole)))).replace('"wipe"', '"nothing"').encode()

    def answer(request):
        asked.append(request)
        media = (
            STREAMED.get(name, "text/event-stream") if streamed and len(asked) == 1 else "application/json"
        )
        return httpx.Response(200, content=body if len(asked) == 1 else good, headers={"content-type": media})

    client = httpx.Client(transport=httpx.MockTransport(answer))
    chat = ec.Chat(
        wire(model=MODELS.get(name, "gpt-4.1")),
        client=client,
        max_tries=1,
        max_tool_rounds=1,
    )
    for tool in ("wipe", "nothing"):
        chat.register_tool(ec.ToolDef(lambda **_: ran.append(1) or "ok", tool, "Wipes.", ec.type_object()))
    return chat, asked


def given(found, name, body, said):
    """Tells whether a rule objects to a value of the provider itself: an id, a kind of block, an unusual field."""
    field = found.pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
    match found.rule.id:
        case id if id in FIELDS:
            return field in said and not known(name, field)
        case id if id in WORDS:
            word = value_at(body, found.pointer)
            return word != "" and (field, word) in said
        case "THK-031":  # a signature that was damaged on its way
            return ("signature", value_at(body, found.pointer).get("signature")) in said
        case "PAIR-005":  # an id that the provider gave to two items
            return ("id", value_at(body, found.pointer).get("id")) in said
        case id:
            return id in IDS and value_at(body, found.pointer) in said


def known(name, word):
    """Tells whether a real answer of the format has the word."""
    quoted = json.dumps(word).encode()
    return any(quoted in body for body, _ in SEEDS[name])


def value_at(body, pointer):
    for step in pointer.split("/")[1:]:
        body = body[int(step)] if isinstance(body, list) else body[step.replace("~1", "/").replace("~0", "~")]
    return body


def words_of(value):
    """Yields all names and texts in a JSON value, and each text with its name."""
    if isinstance(value, str):
        return {value}
    fields = value.items() if isinstance(value, Mapping) else ()
    inner = (
        value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    )
    named = {(name, text) for name, text in fields if isinstance(text, str)}
    return {*named, *(name for name, _ in fields), *(word for one in inner for word in words_of(one))}


def illegal(request, name, said):
    """Returns the provider's objections to a request: invalid JSON, a broken rule, or the wrong official shape."""
    try:
        json.loads(request.content, parse_constant=not_json, parse_float=finite)
    except ValueError as error:
        return str(error)
    read = read_request("POST", str(request.url), dict(request.headers), request.content, HOME[name])
    found = [violation for verdict in book(name, HOME[name]).judge(read) for violation in verdict.violations]
    refused = (one for one in found if one.rule.refuses and not given(one, name, read.body, said))
    broken = next(refused, None)
    return broken and f"{broken.rule.id} {broken.pointer}: {broken.message}"


def not_json(constant):
    raise ValueError(f"{constant} is not JSON")


def finite(number):
    if not isfinite(float(number)):
        raise ValueError(f"{number} is too large")
    return float(number)


def check(name, body, streamed):
    ran = []
    chat, asked = talk(name, body, streamed, ran)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(EllmerError):
            if streamed:
                list(chat.stream("Hi"))
            else:
                chat.chat("Hi")
        answers = [turn for turn in chat.get_turns() if isinstance(turn, AssistantTurn)]
        first = answers[0] if answers else None
        if first is not None and not any(word in body for word in WHOLE[name]):
            assert isinstance(first, AssistantPartialTurn), "a cut answer counts as whole"
        if isinstance(first, AssistantPartialTurn):
            assert all(request.problem for request in first.tool_requests), "a cut call may be run"
            assert not ran or len(answers) > 1, "a cut call was run"
        with suppress(EllmerError):
            chat.chat("Go on")
    assert time.process_time() - began < LONGEST, "it took too long"
    said = words_of([turn.json for turn in answers])
    for request in asked[1:]:
        assert not (wrong := illegal(request, name, said)), f"the next request is illegal: {wrong}"


@pytest.mark.parametrize("name", NAMES)
def test_a_mutated_answer_harms_nothing(name):
    chance = Random(name)
    for number in range(COUNT):
        body, streamed = chance.choice(SEEDS[name])
        for _ in range(chance.choice([1, 1, 2, 4])):
            body = mutated(body, name, chance)
        try:
            check(name, body, streamed)
        except Exception as error:
            error.add_note(f"{name}, answer {number}, streamed={streamed}: {body!r:.3000}")
            raise
