"""Stock vcrpy plays our cassettes, and their YAML form needs nothing of ours."""

import importlib.metadata
import inspect

import httpx
import pytest
import vcr
import yaml
from vcr.cassette import Cassette, CassetteContextDecorator
from vcr.patch import PATCHER_NAMES, CassettePatcherBuilder

from ellmer_harness import NotIntercepted, use_cassette
from ellmer_harness.format.serializer import Serializer
from ellmer_harness.recordings import read
from ellmer_harness.recordings.conversion import to_yaml

API = "https://api.example.com"
IMAGE = b"\x89PNG" + bytes(5000)


def ask():
    with httpx.Client() as client:
        posted = client.post(f"{API}/a?b=1", json={"ü": 1})
        with client.stream("GET", f"{API}/stream") as response:
            streamed = response.read()
        return posted.status_code, posted.content, streamed, client.get(f"{API}/image").content


def recorded(server, record, path):
    server.whole(
        {"a": "é"}, "application/json", "x-ratelimit-left: 1", "x-ratelimit-left: 2", status="429 Slow down"
    )
    server.chunked(server.events({"t": "☃"}, 2))
    server.whole(IMAGE, "image/png")
    with use_cassette(path, **record):
        return ask()


def test_stock_vcrpy_replays_it_with_our_serializer(server, record, tmp_path):
    expected = recorded(server, record, tmp_path / "c.json")
    stock = vcr.VCR(record_mode="none", match_on=["method", "uri", "body"], serializer="ellmer")
    stock.register_serializer("ellmer", Serializer(tmp_path / "blobs"))

    with stock.use_cassette(tmp_path / "c.json") as cassette:
        assert ask() == expected
    assert cassette.all_played


def test_stock_vcrpy_adds_to_it_and_we_replay_that(server, record, tmp_path):
    recorded(server, record, tmp_path / "c.json")
    stock = vcr.VCR(record_mode="new_episodes", match_on=["method", "uri", "body"], serializer="ellmer")
    stock.register_serializer("ellmer", Serializer(tmp_path / "blobs"))
    with stock.use_cassette(tmp_path / "c.json"), httpx.Client() as client:
        new = client.post(f"{server.url}/new", json={"new": True}).content

    with use_cassette(tmp_path / "c.json", allow_unused=True), httpx.Client() as client:
        assert client.post(f"{server.url}/new", json={"new": True}).content == new
        assert client.get(f"{API}/image").content == IMAGE
        with client.stream("GET", f"{API}/stream") as response:
            assert len(list(response.iter_raw())) == 2  # the shape of the stream survived vcrpy


def test_it_exports_to_yaml_that_plain_vcrpy_replays(server, record, tmp_path):
    expected = recorded(server, record, tmp_path / "c.json")
    (tmp_path / "c.yaml").write_text(to_yaml(read(tmp_path / "c.json")))

    assert yaml.safe_load((tmp_path / "c.yaml").read_text())["version"] == 1
    with vcr.use_cassette(tmp_path / "c.yaml", record_mode="none", match_on=["method", "uri", "body"]):
        assert ask() == expected


def test_a_client_is_recorded_without_the_patchers_of_vcrpy(server, record, tmp_path):
    import urllib.request

    url = server.url

    def ask():
        with urllib.request.urlopen(f"{url}/x", data=b"{}") as response:
            return response.read()

    options = {"patchers": ["httplib"]}
    with use_cassette(tmp_path / "c.json", **record, **options) as cassette:
        expected = ask()
    server.listener.close()
    with use_cassette(tmp_path / "c.json", **options) as played:
        assert ask() == expected
    assert (cassette.index.metadata, played.verdict.state) == ({}, "replayed")
    with pytest.raises(NotIntercepted), use_cassette(tmp_path / "c.json", **options):
        pass


def test_a_recorded_body_is_there_however_a_stub_asks_for_it(server, record, tmp_path):
    recorded(server, record, tmp_path / "c.json")
    with use_cassette(tmp_path / "c.json", allow_idle=True, allow_unused=True) as cassette:
        for way in (lambda body: body["string"], lambda body: body.get("string", b"")):
            assert [way(answer["body"]) for _, answer in cassette.index.data][2] == IMAGE
        assert all(
            "string" in answer["body"] and not answer["body"].get("other")
            for _, answer in cassette.index.data
        )


def test_what_we_rely_on_in_vcrpy_is_there():
    # Half of this is not public. A new vcrpy that moves any of it should fail here, by name.
    assert importlib.metadata.version("vcrpy").startswith("9.")
    assert {"path", "persister", "serializer", "skip_patchers"} <= inspect.signature(
        Cassette
    ).parameters.keys()
    cassette = Cassette("x", skip_patchers=PATCHER_NAMES)
    assert (cassette.data, cassette._loaded_count, cassette._metadata) == ([], 0, {})
    assert not cassette.play_counts
    assert not list(CassettePatcherBuilder(cassette).build())
    assert {"_load", "_save", "append", "can_play_response_for", "play_response"} <= set(dir(Cassette))
    assert isinstance(Cassette.use(path="x"), CassetteContextDecorator)
