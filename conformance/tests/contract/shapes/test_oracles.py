"""The official types are used only if all of them are installed."""

import sys
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[4] / "conformance" / "shapes"))

import oracles  # it lies beside the other scripts
import sources


def test_a_source_that_is_not_installed_is_a_usage_error_that_names_its_package(monkeypatch, capsys):
    monkeypatch.setattr(
        sources, "find_spec", lambda name: None if name == "googleapiclient" else find_spec(name)
    )

    assert oracles.main(["cassettes"]) == 2

    said = capsys.readouterr()
    assert said.out == ""
    assert "google-api-python-client" in said.err
    assert "pip install " in said.err
