"""Cassettes that two runs have written: what one of them added or replaced, in the file of the other."""

import json

import pytest

from ellmer_harness.store.concurrent_cassette_merging import merged, note_writer, replaced, writers


def cassette(*names, version=1):
    return json.dumps({"version": version, "interactions": [{"name": name} for name in names]}).encode()


def names(data):
    return [each["name"] for each in json.loads(data)["interactions"]]


@pytest.mark.parametrize(
    ("added", "expected"), [((), "ab"), ((2,), "abz"), ((2, 0), "abxz"), ((0, 1, 2), "abxyz")]
)
def test_what_a_run_added_follows_what_is_there(added, expected):
    data = merged(cassette(*"ab"), cassette(*"xyz", version=2), added)

    assert names(data) == list(expected)
    assert json.loads(data)["version"] == 2


@pytest.mark.parametrize(
    ("same", "expected"),
    [({}, "abxyz"), ({0: 0}, "xyzb"), ({1: 0}, "yzbx"), ({0: 1, 2: 0}, "zxy"), ({2: 1}, "azxy")],
)
def test_what_a_run_replaced_stands_in_the_place_of_the_old(same, expected):
    assert names(replaced(cassette(*"ab"), cassette(*"xyz"), same, "test_a")) == list(expected)


def test_what_only_this_test_had_used_is_left_out():
    there = {
        "interactions": [{"name": "a", "tests": ["test_a"]}, {"name": "b", "tests": ["test_a", "test_b"]}]
    }
    data = replaced(json.dumps(there).encode(), cassette("x"), {}, "test_a")

    assert names(data) == ["x", "b"]


def test_the_writers_of_a_run_are_noted_in_order(tmp_path):
    path = tmp_path / "c.json"
    note_writer(path, "run 1", "test_a")
    note_writer(path, "run 1", "test_b")
    note_writer(path, "run 2", "test_c")

    assert writers(path, "run 1") == ["test_a", "test_b"]
    assert writers(path, "run 3") == []
