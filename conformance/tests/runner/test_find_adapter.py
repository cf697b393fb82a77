"""Adapters are found by name: installed ones, and the bridges of a clone."""

import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from ellmer_conformance.adapters import registered
from ellmer_conformance.runner.selection import UnknownChoice, find_adapter, select

PEERS = Path(__file__).parents[2] / "peers"


@pytest.fixture(autouse=True)
def path(monkeypatch):
    """The import path, which is as before after a test."""
    monkeypatch.setattr(sys, "path", [*sys.path])


def test_a_bridge_is_found_in_a_clone_without_its_package_being_installed():
    if not find_spec("openai"):
        with pytest.raises(UnknownChoice, match="'openai' cannot be imported: No module named 'openai'"):
            find_adapter("openai")
        return
    adapter = find_adapter("openai")

    assert adapter.name == "openai"
    assert type(adapter).__module__ == "ellmer_peers.openai"


def test_a_module_that_fails_when_it_is_imported_is_told(tmp_path):
    (tmp_path / "failing_adapter.py").write_text("import json\njson.no_such_name\n")
    sys.path.append(str(tmp_path))

    with pytest.raises(
        UnknownChoice, match=r"cannot be imported: module 'json' has no attribute 'no_such_name'$"
    ):
        find_adapter("failing_adapter:ADAPTER")


def test_each_name_has_its_module():
    names = tomllib.loads((PEERS / "pyproject.toml").read_text("utf-8"))["project"]
    points = names["entry-points"]["ellmer_conformance.adapters"]
    files = {file.stem for file in (PEERS / "ellmer_peers").glob("*.py")} - {"__init__", "sdk_conversation"}
    hostile_only = {"single_format_clients"}  # no case is run with them

    assert {value.partition(":")[0].rpartition(".")[2] for value in points.values()} == files - hostile_only
    assert (
        {*points}
        == {*names["optional-dependencies"]} - {"single-format"}
        == {f.stem for f in (PEERS / "pins").glob("*.txt")}
    )


def test_a_wrong_name_is_told_with_the_nearest_ones():
    with pytest.raises(
        UnknownChoice,
        match=r"there is no adapter 'antropic' \(did you mean 'anthropic'\?\); the adapters are agno, ",
    ):
        find_adapter("antropic")


def test_outside_of_a_clone_the_message_says_where_the_bridges_are(monkeypatch, tmp_path):
    monkeypatch.setattr(registered, "PEERS", tmp_path)
    monkeypatch.setattr(registered, "entry_points", lambda group: [])

    with pytest.raises(UnknownChoice, match=r"The bridges to other libraries are in the repository"):
        find_adapter("chatlas")


@pytest.mark.parametrize(
    ("name", "value", "near"),
    [
        ("wire", "openai-chats", "openai-chat"),
        ("provider", "antropic", "anthropic"),
        ("case", "plain-text", "plain_text"),
        ("mode", "asynch", "async"),
    ],
)
def test_wrong_names_of_a_selection_are_told_with_the_nearest_ones(name, value, near):
    with pytest.raises(UnknownChoice, match=f"there is no {name} '{value}' .did you mean '{near}'"):
        select([], {name: [value]})
