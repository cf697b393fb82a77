"""An unusable file is named and explained, and stays unchanged."""

import json
import os

import httpx
import pytest

from ellmer_harness import CassetteError, Miss, use_cassette

GOOD = {
    "version": 1,
    "metadata": {"ellmer_harness": {"format": 1, "recorded_from": "live"}},
    "interactions": [
        {
            "request": {"method": "GET", "uri": "https://x/", "headers": {}, "body": None},
            "response": {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"text": "hi"}},
        }
    ],
}
BROKEN = {
    "truncated": (json.dumps(GOOD)[:-9], "not complete: .*column"),
    "empty": ("", "not complete"),
    "not UTF-8": (b"\xff\xfe", "utf-8"),
    "a list": ("[]", "no list of interactions"),
    "later format": (json.dumps(GOOD | {"metadata": {"ellmer_harness": {"format": 2}}}), "format 2; .*newer"),
    "later version": (json.dumps(GOOD | {"version": 2}), "version is 2"),
    "no format": (json.dumps(GOOD | {"metadata": {"ellmer_harness": {}}}), "format None"),
    "half an interaction": (
        json.dumps(GOOD | {"interactions": [{"request": {}}]}),
        "an object is expected here; it is missing",
    ),
    "merge conflict": ("<<<<<<< HEAD\n" + json.dumps(GOOD), "not complete"),
}


@pytest.mark.parametrize("mode", ["replay", "record", "append"])
@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_explained_and_not_touched(tmp_path, case, mode):
    content, message = BROKEN[case]
    path = tmp_path / "c.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = path.read_bytes()
    with pytest.raises(
        CassetteError, match=rf"cassette .*c\.json cannot be used: (.|\n)*{message}(.|\n)*not changed"
    ):
        use_cassette(path, mode=mode).__enter__()
    assert path.read_bytes() == before


def test_an_unknown_kind_of_body_is_explained(tmp_path):
    text = json.dumps(GOOD).replace('"text"', '"hologram"')
    (tmp_path / "c.json").write_text(text)
    with (
        pytest.raises(
            Miss,
            match=r"c\.json: line \d+, interactions/0/\w+/body: a body in the cassette cannot be read: .*'hologram' is not a kind of body",
        ),
        use_cassette(tmp_path / "c.json"),
    ):
        httpx.get("https://x/")


def test_a_folder_that_cannot_be_written_is_told_after_the_run(server, record, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(CassetteError, match=r"cassette .*c\.json could not be written: .*file"),
        use_cassette(tmp_path / "file" / "c.json", **record),
    ):
        httpx.get("https://api.example.com")
    assert httpx.HTTPTransport.handle_request.__module__.startswith("httpx")


def test_a_full_disk_leaves_the_good_file(server, record, tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    (tmp_path / "c.json").write_text("good")
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(CassetteError, match="No space left"), use_cassette(tmp_path / "c.json", **record):
        httpx.get("https://api.example.com")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"c.json": "good"}


def test_blobs_may_be_shared_and_are_found_again(server, record, tmp_path):
    image = b"\x89PNG" + bytes(5000)
    for path in ("a/one.json", "a/b/two.json"):
        server.whole(image, "image/png")
        with use_cassette(tmp_path / path, **record, blobs=tmp_path / "blobs"):
            httpx.get("https://api.example.com/i")
    assert len(list((tmp_path / "blobs").iterdir())) == 1
    (tmp_path / "a").rename(tmp_path / "moved")
    (tmp_path / "moved" / "b").rename(tmp_path / "elsewhere")
    with use_cassette(tmp_path / "moved/one.json"):
        assert httpx.get("https://api.example.com/i").content == image
    # This one says ../../blobs, and that is another folder now.
    with pytest.raises(Miss, match=r"blob .* cannot be read"), use_cassette(tmp_path / "elsewhere/two.json"):
        httpx.get("https://api.example.com/i")


def test_what_a_killed_program_left_is_deleted_by_the_next_recording(server, tmp_path):
    left = tmp_path / f".c.json.{'0' * 32}"
    others = [tmp_path / f".c.json.{'1' * 32}", tmp_path / f".d.json.{'0' * 32}", tmp_path / ".c.json.mine"]
    for path in (left, *others):
        path.write_text("{")
    for path in (left, *others[1:]):
        os.utime(path, (1, 1))

    with use_cassette(tmp_path / "c.json", mode="record"):
        httpx.get(f"{server.url}/json")

    assert not left.exists()
    assert all(path.exists() for path in others)  # one may be in use, and two are of something else
