"""The commands that fetch, list, verify, extend and judge the corpus."""

import json
import os
import tomllib

import pytest
from click.testing import CliRunner
from servers.package_index import CASSETTE, GOOD, packed

from ellmer_conformance.cli import _group
from ellmer_conformance.recordings.corpus import fetch, pins
from ellmer_conformance.recordings.corpus.pins import Pin


@pytest.fixture
def corpus(played, monkeypatch, tmp_path):
    """Returns the commands with the local archive as the only pin: a function from arguments to their output."""
    pin = Pin(**{**vars(played(packed(GOOD))), "files": 1, "interactions": 1, "distinct": 1})
    (tmp_path / "corpus.toml").write_text(pins.as_toml(pin))
    monkeypatch.setattr(pins, "shipped", lambda: tmp_path / "corpus.toml")
    monkeypatch.delenv("CONFORMANCE_TRAFFIC", raising=False)
    return lambda *args: CliRunner().invoke(_group, args)


def test_a_corpus_is_fetched_listed_verified_and_judged(corpus):
    assert corpus("corpus", "verify").exit_code == 2
    assert "conformance corpus fetch" in corpus("calibrate").output
    assert corpus("corpus", "fetch").output.startswith("1 archives were fetched into ")
    assert corpus("corpus", "fetch").output.startswith("0 archives were fetched into ")
    assert "fetched" in corpus("corpus", "list", "stories").output
    found = corpus("corpus", "verify")
    assert (found.exit_code, found.output.splitlines()[-1]) == (
        0,
        "1 archives and 0 recordings that rules cite were checked: 0 problems.",
    )
    judged = corpus("calibrate", "--format", "json")
    assert json.loads(judged.output)["wires"]["openai-chat"]["accepted"] == 1


def test_a_wrong_count_is_told(corpus):
    corpus("corpus", "fetch")
    pin = pins.load(pins.shipped())[0]
    (pins.folder_of(pin) / "tests/cassettes/hello.yaml").unlink()
    found = corpus("corpus", "verify")
    assert found.exit_code == 1
    assert "stories-1.0: The pin says 1 interactions; 0 can be read." in found.output


def test_an_index_that_is_not_there_is_told(corpus, monkeypatch):
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    found = corpus("corpus", "fetch")
    assert found.exit_code == 2
    assert (
        "1 archives were not fetched: http://127.0.0.1:9/simple/stories/ cannot be reached: " in found.output
    )
    assert "Error: http://127.0.0.1:9" in corpus("corpus", "add", "stories").output


def test_a_folder_of_ones_own_is_judged_where_it_is(corpus, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    assert (
        corpus("corpus", "add", str(folder)).output == f"Error: {folder} contains no recording of a chat.\n"
    )
    (folder / "hello.yaml").write_text(CASSETTE)
    assert corpus("corpus", "add", str(folder), "--keep").output.startswith(
        "1 files contain 1 distinct chats: openai-chat 1."
    )
    corpus("corpus", "add", str(folder), "--keep")
    assert pins.folders() == [folder]
    assert json.loads(corpus("calibrate", "--format", "json").output)["wires"]["openai-chat"]["accepted"] == 1


def test_a_package_that_the_index_has_not_is_told(corpus):
    assert "Error: " in (said := corpus("corpus", "add", "novels").output)
    assert "/simple/novels/ cannot be downloaded: the answer was 404." in said


def test_a_pin_of_ones_own_is_kept(corpus):
    assert corpus("corpus", "list", "nothing").exit_code == 2
    added = corpus("corpus", "add", "stories", "--keep")
    assert 'members = ["tests/cassettes/*"]' in added.output
    assert pins.own().is_file()


def test_several_folders_of_traffic_are_judged_beside_the_corpus(corpus, monkeypatch, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "hello.yaml").write_text(CASSETTE.replace("Hello", name))
    monkeypatch.setenv(
        "CONFORMANCE_TRAFFIC", os.pathsep.join(str(tmp_path / name) for name in ("one", "two"))
    )
    corpus("corpus", "fetch")
    assert json.loads(corpus("calibrate", "--format", "json").output)["wires"]["openai-chat"]["accepted"] == 3


def test_the_complete_pins_are_printed_as_toml():
    told = CliRunner().invoke(_group, ["corpus", "list", "--toml"])
    assert told.exit_code == 0
    assert len(tomllib.loads(told.output)["pin"]) == len(pins.load(pins.shipped()))


def test_an_error_of_a_download_has_no_credentials():
    error = fetch.refused("https://user:secret@index.invalid/simple?token=hidden#part", "no route")
    assert str(error) == "https://index.invalid/simple cannot be reached: no route."
