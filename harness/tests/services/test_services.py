"""Stores in real use: another process, another machine's copies, a server that stops."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import httpx
import pytest

from ellmer_harness import StoreError, use_cassette
from ellmer_harness.store import open_store

API = "https://api.example.com/x"
IMAGE = b"\x89PNG" + bytes(5000)
WRITER = """
import sys
from ellmer_harness.store import open_store

url, letter, start = sys.argv[1:]
store = open_store(url)
sys.stdin.readline()  # all at once
print(store.put("one", letter.encode() * 300_000), store.put("two", letter.encode(), over=start.encode()))
"""


def test_put_compares_and_says_who_was_first(service):
    store = open_store(service.url)
    assert store.get("a/b.json") is None
    assert store.put("a/b.json", b"one")
    assert store.put("a/b.json", b"one")
    assert not store.put("a/b.json", b"two")
    assert not store.put("a/b.json", b"two", over=b"zero")
    assert store.put("a/b.json", b"two", over=b"one")
    assert not store.put("a/c.json", b"new", over=b"was never there")
    assert store.put("a/odd [x]*?é.json", b"\x00\xff")
    assert open_store(service.url).get("a/odd [x]*?é.json") == b"\x00\xff"
    assert store.find("a/") == ["a/b.json", "a/odd [x]*?é.json"]
    assert store.find("a/odd [x]") == ["a/odd [x]*?é.json"]


def test_of_several_processes_exactly_one_is_first(service):
    store = open_store(service.url)
    store.put("two", b"start")
    command = [sys.executable, "-c", WRITER, service.url]
    writers = {
        letter: subprocess.Popen(
            [*command, letter, "start"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for letter in "abcd"
    }
    time.sleep(1.5)  # until all of them wait for their line; nothing depends on it
    for writer in writers.values():
        writer.stdin.write("\n")
        writer.stdin.flush()
    said = {letter: writer.communicate(timeout=120)[0].split() for letter, writer in writers.items()}
    [one] = [letter for letter, (first, _) in said.items() if first == "True"]
    [two] = [letter for letter, (_, second) in said.items() if second == "True"]
    assert store.get("one") == one.encode() * 300_000
    assert store.get("two") == two.encode()


def test_a_reader_sees_one_recording_or_the_other_never_a_mixture(service):
    store = open_store(service.url)
    whole = [bytes([n]) * 400_000 for n in range(6)]
    store.put("k", whole[0])

    def write():
        return [store.put("k", new, over=old) for old, new in pairwise(whole)]

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        seen = [store.get("k")]
        while not writing.done():
            seen.append(open_store(service.url).get("k"))
    assert writing.result() == [True] * 5
    assert set(seen) <= set(whole)


PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "ellmer_harness.pytest.plugin", "-p", "xdist.plugin"]
SUITE = """
    import httpx, pytest

    @pytest.fixture
    def cassette_routes(): return {"https://api.example.com": "%s"}

    @pytest.fixture
    def cassette_options(): return {"recorded_from": "test-server"}

    @pytest.mark.cassette
    @pytest.mark.parametrize("n", range(6))
    def test_p(n):
        assert httpx.post("https://api.example.com/x", json={"n": n}).json()
"""


@pytest.fixture
def suite(tmp_path, server):
    """Runs pytest in a checkout, on a machine of its own."""

    def suite(machine, *arguments):
        checkout = tmp_path / machine
        checkout.mkdir(exist_ok=True)
        (checkout / "test_it.py").write_text(textwrap.dedent(SUITE % server.url))
        (checkout / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
        return subprocess.run(
            [*PYTEST, *arguments],
            cwd=checkout,
            env={
                **os.environ,
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "CASSETTE_CACHE": str(checkout / "copies"),
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return suite


def test_a_fleet_shares_its_recordings(service, suite, server, tmp_path):
    store = f"--cassette-store={service.url}"
    recording = suite("one", store, "--cassette-mode=record", "-n", "2")
    assert "6 recorded" in recording.stdout, recording.stdout + recording.stderr
    assert len(server.requests) == 6
    assert not (tmp_path / "one" / "cassettes").exists()

    replay = suite("two", store, "-n", "2")
    assert "6 replayed" in replay.stdout, replay.stdout + replay.stderr
    assert len(server.requests) == 6

    service.stop()
    again = suite("two", store)
    assert "6 replayed" in again.stdout, again.stdout + again.stderr
    fresh = suite("three", store)
    assert fresh.returncode == 1
    assert f"the store {service.url} cannot be reached" in fresh.stdout
    assert "It is needed for cassettes/test_it/test_p-0-" in fresh.stdout


def test_it_goes_away_in_the_middle_of_a_run(service, server, record, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CASSETTE_CACHE", str(tmp_path / "copies"))
    for n in (1, 2):
        server.whole(IMAGE, "image/png")
        with use_cassette(f"{n}.json", **record, store=service.url):
            httpx.post(API, json=n)
    with use_cassette("1.json", store=service.url):
        httpx.post(API, json=1)
    late = use_cassette("3.json", **record, store=service.url).__enter__()
    httpx.post(API, json=3)
    service.stop()
    with pytest.raises(
        StoreError, match=r"(?s)cannot be reached.*needed for 3\.json.*saved in .*3\.failed\.json"
    ):
        late.close()
    for n in (2, 1):
        with use_cassette(f"{n}.json", store=service.url):
            assert httpx.post(API, json=n).content == IMAGE
    [kept] = tmp_path.rglob("3.failed.json")
    assert json.loads(kept.read_text())["interactions"]


def test_a_dropped_connection_is_made_again(redis_server):
    import redis

    store = open_store(redis_server.url)
    store.put("k", b"v")
    redis.Redis.from_url(redis_server.url).client_kill_filter(skipme=True, _type="normal")
    assert store.get("k") == b"v"


def test_one_that_hangs_is_one_that_is_gone(redis_server, monkeypatch):
    from ellmer_harness.store import redis as module

    monkeypatch.setattr(module, "_SECONDS", 0.2)
    store = open_store(redis_server.url)
    redis_server.process.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(StoreError, match=r"cannot be reached.*imeout"):
            use_cassette("c.json", store=store).__enter__()
    finally:
        redis_server.process.send_signal(signal.SIGCONT)


def test_two_stores_in_one_database(redis_server):
    one, two = open_store(redis_server.url), open_store(f"{redis_server.url}?prefix=other")
    one.put("k", b"1")
    assert two.get("k") is None
    two.put("k", b"2")
    assert (one.get("k"), two.get("k"), one.find(), two.find()) == (b"1", b"2", ["k"], ["k"])


def test_large_media_in_s3_go_in_one_piece(s3_server):
    store = open_store(s3_server.url)
    data = bytes(range(256)) * 40_000  # 10 MB
    assert store.put("blobs/large.bin", data)
    assert store.get("blobs/large.bin") == data


def test_no_such_bucket(s3_server, tmp_path, monkeypatch):
    monkeypatch.setenv("CASSETTE_CACHE", str(tmp_path))
    with pytest.raises(StoreError, match="there is no bucket there-is-none"):
        use_cassette("c.json", mode="rewrite", store="s3://there-is-none/x").__enter__()
