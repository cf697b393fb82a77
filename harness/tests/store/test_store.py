"""Recordings that are shared through a store: a folder, a dictionary, and fsspec's memory."""

import json
import re
import sys
import threading
from base64 import b64encode
from pathlib import Path
from urllib.request import urlopen

import httpx
import pytest

from ellmer_harness import Miss, StoreError, use_cassette
from ellmer_harness.store import copy, download, listing, open_store
from ellmer_harness.store.folder import Folder
from ellmer_harness.store.local_copies import copies

API = "https://api.example.com/x"
IMAGE = b"\x89PNG" + bytes(5000)
KEY = "cassettes/c.json"


class Flaky(Folder):
    """A remote folder that can become unavailable. `asked` lists every requested key."""

    def __init__(self, root):
        super().__init__(root)
        self.url, self.up, self.asked, self.limit = "flaky://far", True, [], None

    def get(self, key):
        self.asked.append(key)
        if not self.up:
            raise ConnectionError("no route to host")
        data = super().get(key)
        return data[: self.limit] if data else data

    def put(self, key, data, over=None):
        if not self.up:
            raise ConnectionError("no route to host")
        return super().put(key, data, over)


@pytest.fixture(params=["folder", "memory", "staged"])
def store(request, tmp_path):
    """Stores without a server (`services` has the others). `staged` is fsspec with files that grow while they are
    written.
    """
    if request.param == "staged":
        pytest.importorskip("fsspec")
        yield open_store(f"local://{tmp_path / 'far'}")
    elif request.param == "memory":
        fsspec = pytest.importorskip("fsspec")
        yield open_store(f"memory://{tmp_path.name}")
        fsspec.filesystem("memory").store.clear()
    else:
        (tmp_path / "far").mkdir()
        yield open_store(str(tmp_path / "far"))


@pytest.fixture
def flaky(tmp_path):
    (tmp_path / "far").mkdir()
    return Flaky(tmp_path / "far")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Makes this process act as another machine, with its own checkout and copies."""

    def machine(name):
        monkeypatch.setenv("CASSETTE_CACHE", str(tmp_path / name / "copies"))
        (tmp_path / name).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / name)

    machine("one")
    return machine


def ask(n=0):
    return httpx.post(API, json={"n": n}).content


def test_what_one_machine_records_another_replays_media_and_all(server, record, store, machine):
    server.whole(IMAGE, "image/png")
    with use_cassette(KEY, **record, store=store):
        assert ask() == IMAGE
    assert [re.sub(r"[0-9a-f]{64}", "HASH", key) for key in store.find()] == ["cassettes/blobs/HASH.png", KEY]
    assert not Path("cassettes").exists()

    machine("two")
    with use_cassette(KEY, store=store) as cassette:
        assert ask() == IMAGE
    assert cassette.verdict.store == store.url


def test_media_in_a_body_of_one_item_a_line_come_with_it(server, record, store, machine):
    image = b64encode(b"\x89PNG\r\n\x1a\n" + bytes(5000)).decode()
    server.whole({"items": [{"number": n, "words": ["many"] * 30} for n in range(40)], "image": image})
    with use_cassette(KEY, **record, store=store):
        recorded = ask()
    assert b'"$blob":"' in store.get(KEY)

    machine("two")
    with use_cassette(KEY, store=store):
        assert ask() == recorded


def test_it_looks_like_the_folder_it_stands_for(server, record, flaky, tmp_path, machine):
    server.whole(IMAGE, "image/png")
    with use_cassette(KEY, **record, store=flaky):
        ask()
    with use_cassette(tmp_path / "far" / KEY):
        assert ask() == IMAGE


def test_put_compares_and_says_who_was_first(store):
    assert store.get("a/b.json") is None
    assert store.put("a/b.json", b"one")
    assert store.put("a/b.json", b"one")  # the same again is no conflict
    assert not store.put("a/b.json", b"two")
    assert not store.put("a/b.json", b"two", over=b"zero")
    assert store.get("a/b.json") == b"one"
    assert store.put("a/b.json", b"two", over=b"one")
    assert not store.put("a/c.json", b"new", over=b"was never there")
    assert store.put("z.json", b"")
    assert (store.get("a/b.json"), store.get("z.json")) == (b"two", b"")
    assert (store.find(), store.find("a/")) == (["a/b.json", "z.json"], ["a/b.json"])


def test_of_many_writers_one_is_first_and_no_half_is_seen(tmp_path):
    (tmp_path / "far").mkdir()
    values = [bytes([n]) * 100_000 for n in range(8)]
    won, seen = [], set()

    def write(value):
        store = Folder(tmp_path / "far")
        if store.put("k", value):
            won.append(value)
        seen.add(store.get("k"))

    threads = [threading.Thread(target=write, args=(value,)) for value in values]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert seen == set(won)
    assert Folder(tmp_path / "far").find() == ["k"]


def test_two_that_record_at_once_keep_the_first(server, record, flaky, machine):
    first, second = (use_cassette(KEY, **{**record, "mode": "record"}, store=flaky) for _ in "ab")
    first.__enter__()
    ask(1)
    machine("two")
    second.__enter__()
    ask(2)
    second.close()
    machine("one")
    first.close()
    with use_cassette(KEY, store=flaky):
        assert json.loads(ask(2))


@pytest.mark.parametrize("mode", ["rewrite", "append"])
def test_what_somebody_else_recorded_meanwhile_is_not_overwritten(server, record, flaky, machine, mode):
    with use_cassette(KEY, **record, store=flaky):
        ask(0)
    slow = use_cassette(KEY, **{**record, "mode": mode}, store=flaky)
    slow.__enter__()
    ask(1)
    flaky.root.joinpath(KEY).write_bytes(theirs := flaky.get(KEY).replace(b'"n": 0', b'"n": 7'))
    with pytest.raises(StoreError, match=r"another process recorded flaky://far/cassettes/c\.json") as caught:
        slow.close()
    assert flaky.get(KEY) == theirs
    kept = Path(re.search(r"saved in (\S+)\.\n", str(caught.value))[1])
    assert '"n": 1' in kept.read_text()


def test_what_changes_after_it_was_fetched_is_not_lost(server, record, flaky, machine):
    class Busy(Flaky):
        def get(self, key):
            data = super().get(key)
            if key == KEY and data and len(self.asked) == 1:  # somebody records between our look and our end
                self.root.joinpath(KEY).write_bytes(data.replace(b'"n": 0', b'"n": 7'))
            return data

    with use_cassette(KEY, **record, store=flaky):
        ask(0)
    cassette = use_cassette(KEY, **{**record, "mode": "append"}, store=Busy(flaky.root)).__enter__()
    ask(1)
    with pytest.raises(StoreError, match="another process recorded"):
        cassette.close()
    assert b'"n": 7' in flaky.get(KEY)


@pytest.mark.parametrize("what", ["cassette", "blob"])
def test_recording_again_mends_half_an_object(server, record, flaky, machine, what):
    for step in ("break", "mend"):
        server.whole(IMAGE, "image/png")
        with use_cassette(KEY, **record, store=flaky):
            ask()
        [half] = [key for key in flaky.find() if (key == KEY) == (what == "cassette")]
        if step == "break":
            flaky.root.joinpath(half).write_bytes(flaky.get(half)[:-7])
    machine("two")
    with use_cassette(KEY, store=flaky):
        assert ask() == IMAGE


def test_a_suite_moves_into_a_store_and_back(server, record, store, tmp_path, machine):
    server.whole(IMAGE, "image/png")
    with use_cassette(KEY, **record):
        ask()
    assert copy(open_store("."), store, "cassettes/") == []
    with use_cassette(KEY, store=store):
        assert ask() == IMAGE
    (tmp_path / "back").mkdir()
    copy(store, back := open_store(str(tmp_path / "back")))
    assert {key: back.get(key) for key in back.find()} == {key: store.get(key) for key in store.find()}
    back.put(KEY, b"else", over=back.get(KEY))
    assert copy(store, back) == [KEY]


def test_a_run_goes_on_with_its_copies_when_the_store_is_gone(server, record, flaky, machine):
    server.whole(IMAGE, "image/png")
    with use_cassette(KEY, **record, store=flaky):
        ask()
    flaky.up, flaky.asked = False, []
    for _ in range(3):
        with use_cassette(KEY, store=flaky):
            assert ask() == IMAGE
    assert flaky.asked == [KEY]  # once; not for every test, with a timeout each


def test_without_a_copy_it_says_which_store_which_key_and_what_to_do(server, record, flaky, machine):
    flaky.up = False
    for mode in ("replay", "record", "rewrite", "append"):
        with pytest.raises(StoreError) as caught:
            use_cassette(KEY, mode=mode, store=flaky).__enter__()
        text = str(caught.value)
        assert "flaky://far cannot be reached (ConnectionError: no route to host)" in text
        assert f"needed for {KEY}" in text
        assert "run without it (--cassette-store=''" in text


def test_a_store_that_goes_away_while_recording_loses_nothing(server, record, flaky, machine):
    cassette = use_cassette(KEY, **record, store=flaky).__enter__()
    ask(5)
    flaky.up = False
    with pytest.raises(StoreError) as caught:
        cassette.close()
    kept = Path(re.search(r"saved in (\S+)\.$", str(caught.value))[1])
    assert '"n": 5' in kept.read_text()
    assert flaky.find() == []


@pytest.mark.parametrize("what", ["cassette", "blob"])
def test_half_an_object_is_never_read(server, record, flaky, machine, what):
    server.whole(IMAGE, "image/png")
    with use_cassette(KEY, **record, store=flaky):
        ask()
    [half] = [key for key in flaky.find() if (key == KEY) == (what == "cassette")]
    flaky.root.joinpath(half).write_bytes(flaky.get(half)[:-7])
    machine("two")
    with pytest.raises(StoreError, match=f"{half} in the store flaky://far is incomplete"):
        use_cassette(KEY, store=flaky).__enter__()
    machine("one")
    with use_cassette(KEY, store=flaky):  # has whole copies
        assert ask() == IMAGE


def test_a_blob_is_fetched_once_and_a_damaged_copy_again(server, record, flaky, machine):
    server.whole(IMAGE, "image/png")
    with use_cassette(KEY, **record, store=flaky):
        ask()
    machine("two")
    flaky.asked = []
    for _ in range(2):
        with use_cassette(KEY, store=flaky):
            ask()
    [blob] = [key for key in flaky.find() if key != KEY]
    assert flaky.asked == [KEY, blob, KEY]
    (copies(flaky.url) / blob).write_bytes(b"damaged")
    with use_cassette(KEY, store=flaky):
        assert ask() == IMAGE


def test_a_blob_that_is_gone_from_the_store_is_named(server, record, flaky, machine):
    server.whole(IMAGE, "image/png")
    with use_cassette(KEY, **record, store=flaky):
        ask()
    [blob] = [key for key in flaky.find() if key != KEY]
    flaky.root.joinpath(blob).unlink()
    machine("two")
    with pytest.raises(StoreError, match=rf"no object {blob}, which {KEY} refers to; record"):
        use_cassette(KEY, store=flaky).__enter__()


def test_what_another_machine_records_again_is_seen(server, record, flaky, machine):
    with use_cassette(KEY, **record, store=flaky):
        ask(1)
    machine("two")
    with use_cassette(KEY, **record, store=flaky):
        ask(2)
    machine("one")
    with use_cassette(KEY, store=flaky):
        ask(2)
    flaky.root.joinpath(KEY).unlink()
    told = r"there is no cassette flaky://far/cassettes/c\.json"
    with pytest.raises(Miss, match=told), use_cassette(KEY, store=flaky):
        ask(2)


def test_a_store_is_reached_while_another_cassette_blocks_sockets(server, record, tmp_path, machine):
    class OverHttp(Flaky):
        def get(self, key):
            with urlopen(server.url, timeout=5):  # not httpx: as a store's own client
                return super().get(key)

    (tmp_path / "far").mkdir()
    store = OverHttp(tmp_path / "far")
    with use_cassette(KEY, **record, store=store):
        ask()
    with use_cassette(KEY, store=store) as outer:
        ask()
        with use_cassette(KEY, store=store):
            ask()
    assert outer.misses == []


def test_names_of_stores(tmp_path, monkeypatch):
    assert isinstance(open_store(str(tmp_path)), Folder)
    assert open_store(f"file://{tmp_path}").root == tmp_path
    for url in ("nosuch://x", "redis://["):
        with pytest.raises(StoreError, match=r"nosuch|redis"):
            open_store(url)


@pytest.mark.parametrize(
    ("url", "module", "extra"),
    [("redis://x", "redis", "redis"), ("s3://x/y", "s3fs", "store"), ("memory://x", "fsspec", "store")],
)
def test_an_extra_that_is_not_installed_is_named(monkeypatch, url, module, extra):
    for name in [
        name for name in sys.modules if name.partition(".")[0] == module or "harness.store.r" in name
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(StoreError, match=rf'needs a package .*pip install "ellmer-core\[{extra}\]"'):
        open_store(url)


def test_files_that_grow_are_written_aside(tmp_path):
    pytest.importorskip("fsspec")
    store = open_store(f"local://{tmp_path}")
    seen = []
    real = store._fs.pipe_file
    store._fs.pipe_file = lambda path, data, **_: (seen.append(path), real(path, data))
    try:
        assert store.put("a/b.json", b"{}")
    finally:
        del store._fs.pipe_file
    assert [re.fullmatch(r".*/a/\.b\.json\.[0-9a-f]{32}", path) is not None for path in seen] == [True]
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b.json"]


def test_a_password_in_the_name_is_not_shown(machine):
    pytest.importorskip("redis")
    store = open_store("redis://me:hunter2hunter2@127.0.0.1:1/0")
    with pytest.raises(StoreError) as caught:
        use_cassette(KEY, store=store).__enter__()
    assert "hunter2" not in str(caught.value)
    assert "redis://127.0.0.1:1/0" in str(caught.value)


def test_the_environment_names_a_store_and_the_call_may_refuse_it(
    server, record, flaky, machine, monkeypatch
):
    monkeypatch.setenv("CASSETTE_STORE", str(flaky.root))
    with use_cassette(KEY, **record):
        ask()
    assert flaky.find() == [KEY]
    with use_cassette("here.json", **record, store=""):
        ask()
    assert Path("here.json").exists()


def test_a_cassette_elsewhere_has_no_key(flaky, machine, tmp_path):
    with pytest.raises(StoreError, match=r"has no key in the store flaky://far: it is not below .*one"):
        use_cassette(tmp_path / "else" / "c.json", store=flaky).__enter__()


def test_a_folder_that_is_not_mounted_is_no_empty_store(tmp_path, machine):
    with pytest.raises(StoreError, match="is not a folder; create or mount it"):
        use_cassette(KEY, store=str(tmp_path / "nowhere")).__enter__()


def test_a_failed_run_hands_nothing_in(server, record, flaky, machine):
    cassette = use_cassette(KEY, **{**record, "recorded_from": "live"}, store=flaky).__enter__()
    ask()
    cassette.close(ZeroDivisionError())
    assert flaky.find() == []
    assert (copies(flaky.url) / "cassettes/c.failed.json").exists()


@pytest.mark.parametrize("kind", ["folder", "memory", "plain"])
def test_a_part_of_an_object(tmp_path, kind):
    store = open_store(str(tmp_path)) if kind != "memory" else open_store("memory://parts")
    store.put("a.json", b"12345")
    store = Plain(store) if kind == "plain" else store
    copy_ = tmp_path / "copy"

    assert download(store, "a.json", copy_, most=2)
    assert copy_.read_bytes() == b"12"
    assert download(store, "a.json", copy_)
    assert copy_.read_bytes() == b"12345"
    assert not download(store, "none.json", copy_)
    listed = next(each for each in listing(store) if each.key == "a.json")
    assert listed.size == (None if kind == "plain" else 5)


class Plain:
    """A store with the least that a store must have."""

    def __init__(self, store):
        self.url, self.get, self.put, self.find = store.url, store.get, store.put, store.find
