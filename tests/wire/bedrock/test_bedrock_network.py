"""Bedrock Converse over the network: signatures of requests, and their keys."""

import json
from binascii import crc32
from datetime import UTC, datetime
from struct import pack

from wires.bedrock_samples import answer

from ellmer_core.contents.turns import UserTurn
from ellmer_core.conversation import retries
from ellmer_core.providers.aws_bedrock import AWSBedrock, chat_aws_bedrock
from ellmer_core.transport.aws_signature import AwsKeys, signed

KEYS = AwsKeys("AKIDEXAMPLE", "secret", "token")


def frame(kind, value):
    """One event, written from the specification."""
    pairs = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    head = b"".join(
        bytes([len(k)]) + k.encode() + b"\x07" + pack(">H", len(v)) + v.encode() for k, v in pairs.items()
    )
    payload = json.dumps(value).encode()
    prelude = pack(">II", 16 + len(head) + len(payload), len(head))
    body = prelude + pack(">I", crc32(prelude)) + head + payload
    return body + pack(">I", crc32(body))


def test_a_signed_stream(server, reply):
    said = [
        frame("messageStart", {"role": "assistant"}),
        frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "héllo"}}),
        frame("messageStop", {"stopReason": "end_turn"}),
        frame("metadata", {"usage": {"inputTokens": 1, "outputTokens": 2}}),
    ]
    body = b"".join(said)
    aws = {"content-type": "application/vnd.amazon.eventstream"}
    server.answers(reply([body[:37], body[37:200], body[200:]], headers=aws))
    chat = chat_aws_bedrock(
        model="amazon.nova-micro-v1:0", region="eu-west-1", base_url=server.url, credentials=lambda: KEYS
    )

    assert "".join(chat.stream("Hi")) == "héllo"
    [asked] = server.asked
    assert asked.path == "/model/amazon.nova-micro-v1%3A0/converse-stream"
    assert asked.headers["x-amz-security-token"] == "token"
    at = timestamp(asked.headers["x-amz-date"])
    expected = signed(
        f"{server.url}{asked.path}", asked.body, at, keys=KEYS, region="eu-west-1", service="bedrock"
    )
    assert asked.headers["authorization"] == expected["authorization"]


def timestamp(date):
    return datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()


def test_each_try_is_signed_anew(server, reply, monkeypatch):
    monkeypatch.setattr(retries, "FIRST", 0.001)
    busy = reply([b'{"message":"Too many requests"}'], status=503)
    done = reply([json.dumps(answer({"text": "ok"})).encode()])
    current = [AwsKeys("first", "s")]

    def change(_):
        current[0] = AwsKeys("second", "s")

    server.answers(reply([change, *busy.chunks], status=503), done)
    chat = chat_aws_bedrock(
        model="m", region="us-east-1", base_url=server.url, credentials=lambda: current[0]
    )

    assert chat.chat("Hi", echo="none") == "ok"
    assert ["first" in a.headers["authorization"] for a in server.asked] == [True, False]


def test_an_api_key_goes_along_as_it_is(monkeypatch):
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-key")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    request = chat_aws_bedrock(model="m").wire.request([UserTurn("Hi")])

    assert request.url == "https://bedrock-runtime.eu-central-1.amazonaws.com/model/m/converse"
    assert request.headers == {"authorization": "Bearer bedrock-key"}
    assert request.sign is None


def test_keys_from_variables(monkeypatch):
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    request = chat_aws_bedrock(model="m", region="us-east-1").wire.request([UserTurn("Hi")])

    assert "Credential=AKID/" in request.sign(b"{}", 0.0)["authorization"]
    assert "hush" not in repr(request)
    assert not request.headers


def test_a_wire_without_credentials_sends_none():
    request = AWSBedrock(model="m").request([UserTurn("Hi")])

    assert (request.headers, request.sign) == ({}, None)
