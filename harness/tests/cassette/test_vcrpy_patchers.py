"""Clients that once needed vcrpy's patchers: their recordings are scrubbed, and their misses cannot be caught."""

import asyncio
import contextlib
import io
import urllib.request

import aiohttp
import boto3
import pytest
import requests
from botocore.exceptions import ClientError

from ellmer_harness import Miss, use_cassette

HTTPLIB = {"patchers": ["httplib"]}
TOKEN = "4f9a1c7e-0b2d-4c55-9a8e-11d3c2b7f6a0"


def ask(url, body=None, **headers):
    request = urllib.request.Request(url, body, headers)
    with urllib.request.urlopen(request) as response:
        return response.read()


def swallowing(url, path):
    with use_cassette(path, **HTTPLIB), contextlib.suppress(BaseException):
        ask(url, b"two")


def test_no_credential_of_theirs_is_written(server, record, tmp_path):
    server.whole({"yours": TOKEN}, "application/json", f"set-cookie: session={TOKEN}")
    options = {**HTTPLIB, "secrets": {"TOKEN": TOKEN}}
    url = f"{server.url}/x?api_key={TOKEN}&page=1"
    with use_cassette(tmp_path / "c.json", **record, **options):
        ask(url, TOKEN.encode(), Authorization=f"Token {TOKEN}", Cookie="a=b", **{"X-Mine": "1"})

    text = (tmp_path / "c.json").read_text()
    assert TOKEN not in text
    assert {"ookie", "uthorization", "x-mine"}.isdisjoint(text.split('"'))
    url = f"{server.url}/x?api_key=other&page=1"
    server.listener.close()
    with use_cassette(tmp_path / "c.json", **options | {"secrets": {"TOKEN": "quite-another-one"}}):
        assert ask(url, b"quite-another-one") == b'{"yours": "<TOKEN>"}'


def test_a_miss_of_theirs_cannot_be_swallowed(server, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record, **HTTPLIB):
        ask(f"{server.url}/x", b"one")
    with pytest.raises(Miss, match=r'- /one: ""\n  \+ /two: ""'):
        swallowing(f"{server.url}/x", tmp_path / "c.json")


def test_hosts_that_are_let_through_are_not_recorded(server, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record, **HTTPLIB, allow_hosts=["127.0.0.1"], allow_idle=True):
        ask(f"{server.url}/x")
    with use_cassette(tmp_path / "c.json", **HTTPLIB, allow_hosts=["127.0.0.1"], allow_idle=True):
        assert ask(f"{server.url}/x", b"2") == b'{"echo": "2"}'
    assert "/x" not in (tmp_path / "c.json").read_text()


def test_recordings_are_repeated_for_them_if_that_is_wanted(server, record, tmp_path):
    with use_cassette(tmp_path / "c.json", **record, **HTTPLIB):
        ask(f"{server.url}/x")
    with use_cassette(tmp_path / "c.json", **HTTPLIB, on_repeat="last"):
        assert ask(f"{server.url}/x") == ask(f"{server.url}/x")


def test_requests_and_boto3(server, record, tmp_path):
    url = server.url

    def run():
        posted = requests.post(f"{url}/x", files={"f": ("a.txt", b"\xff\0", "text/plain")}, timeout=9)
        store = boto3.client(
            "s3", "eu-west-1", endpoint_url=url, aws_access_key_id="me", aws_secret_access_key="it"
        )
        with pytest.raises(ClientError) as refused:
            store.get_object(Bucket="b", Key="k")
        return posted.headers["content-type"], refused.value.response["Error"]["Code"]

    server.whole({"a": 1})
    server.whole(b"", "application/xml", status="404 Not Found")
    options = {"patchers": ["urllib3", "boto3"]}
    with use_cassette(tmp_path / "c.json", **record, **options):
        expected = run()
    server.listener.close()
    with use_cassette(tmp_path / "c.json", **options):
        assert run() == expected == ("application/json", "404")
    assert "AWS4" not in (tmp_path / "c.json").read_text()


def test_what_aiohttp_takes_for_a_body(server, record, tmp_path):
    url = server.url

    async def run():
        form = aiohttp.FormData({"a": "b"})
        form.add_field("f", b"\xff", filename="a.bin")
        bodies = [{"json": {"a": 1}}, {"data": {"a": "1"}}, {"data": form}, {"data": io.BytesIO(b"\xff\n1")}]
        async with aiohttp.ClientSession() as session:
            return [await (await session.post(f"{url}/x", **body)).text() for body in bodies]

    for _ in range(4):
        server.whole({})
    with use_cassette(tmp_path / "c.json", **record, patchers=["aiohttp"]):
        expected = asyncio.run(run())
    server.listener.close()
    with use_cassette(tmp_path / "c.json", patchers=["aiohttp"]):
        assert asyncio.run(run()) == expected
