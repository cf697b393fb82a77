"""`ellmer-harness` on the command line."""

import gzip
import json

import httpx
import pytest
import yaml

from ellmer_harness import use_cassette
from ellmer_harness.cli import main
from ellmer_harness.cli.scan import Searched, _Totals

API = "https://api.example.com"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"


@pytest.fixture
def tree(server, record, tmp_path):
    server.whole(b"\x89PNG" + bytes(5000), "image/png")
    with use_cassette(tmp_path / "suite" / "c.json", **record):
        httpx.get(API)
    return tmp_path / "suite"


def test_a_clean_tree(tree, capsys):
    assert main(["scan", str(tree)]) == 0
    assert capsys.readouterr().out == "2 files: 0 problems, 0 orphan blobs\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "theirs.yaml",
            f"interactions:\n- request:\n    headers:\n      x-token: [{TOKEN}]\n".encode(),
        ),
        ("theirs.json", json.dumps({"deep": [{"t": f"x {TOKEN}"}]}).encode()),
        ("theirs.json.gz", gzip.compress(TOKEN.encode())),
        ("blobs/data.bin", b"\x00\xff" + TOKEN.encode()),
    ],
    ids=["yaml", "json", "gzip", "blob"],
)
def test_secrets_in_any_file(tree, capsys, name, content):
    (tree / name).write_bytes(content)
    assert main(["scan", str(tree)]) == 1
    out = capsys.readouterr().out
    assert f"{name}: " in out
    assert "a GitHub token (fingerprint " in out
    assert TOKEN not in out
    fingerprints = {part[:8] for part in out.split("fingerprint ")[1:]}
    assert main(["scan", str(tree), *(f"--accept={one}" for one in fingerprints)]) == 0


def test_keys_of_the_environment(tree, capsys, monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "correct-horse-battery")
    (tree / "notes.txt").write_text("the key: correct-horse-battery")
    assert main(["scan", str(tree)]) == 1
    assert "the value of <MY_API_KEY>" in capsys.readouterr().out


@pytest.mark.slow
def test_a_search_in_processes_that_goes_on(tree, capsys, tmp_path, monkeypatch):
    main(["scan", str(tree), "-j", "2"])  # its processes are started before there is a key
    capsys.readouterr()
    monkeypatch.setenv("MY_API_KEY", "correct-horse-battery")
    (tree / "notes.txt").write_text(f"the key: correct-horse-battery, the token: {TOKEN}")
    (tree / "blobs" / ("0" * 64 + ".png")).write_bytes(b"nobody's")
    journal = ("--resume", str(tmp_path / "journal"))
    codes = [main(["scan", str(tree), *more]) for more in ((), ("-j", "2", *journal), journal)]
    alone, spread, resumed = capsys.readouterr().out.split("1 orphan blob\n")[:3]

    assert codes == [1, 1, 1]
    assert alone == spread == resumed
    assert "the value of <MY_API_KEY>" in alone
    assert "a GitHub token" in alone


def test_a_worker_without_the_keys_is_told(capsys):
    totals = _Totals(frozenset(), {"<MY_API_KEY>"})
    totals.tell(Searched("a.json"))

    assert totals.problems == 1
    assert "the worker does not have <MY_API_KEY>, so it was not searched" in capsys.readouterr().out


def test_a_journal_of_something_else(tree, capsys):
    assert main(["scan", str(tree), "--resume", str(tree / "c.json")]) == 2
    assert "c.json is not a file of --resume" in capsys.readouterr().err


def test_damage(tree, capsys):
    cassette = (tree / "c.json").read_text()
    (tree / "cut.json").write_text(cassette[:-20])
    (tree / "later.json").write_text(cassette.replace('"format": 1', '"format": 9'))
    (tree / "odd.json").write_text(cassette.replace('"blob":', '"glob":'))
    (tree / "bare.json").write_text(cassette.replace('"request":', '"inquest":'))
    (tree / "away").mkdir()
    (tree / "away" / "c.json").write_text(cassette)
    [blob] = (tree / "blobs").iterdir()
    blob.with_name("0" * 64 + ".png").write_bytes(b"nobody's")

    assert main(["scan", str(tree)]) == 1
    out = capsys.readouterr().out
    assert "cut.json: the cassette is not complete JSON" in out
    assert "later.json: its version is 1, format 9" in out
    assert "odd.json: a body in the cassette cannot be read" in out
    assert "bare.json: line 1, interactions/0/request: an object is expected here; it is missing" in out
    assert "away/c.json: blob" in out
    assert f"{'0' * 64}.png: no cassette under these paths uses this blob" in out
    assert out.endswith("8 files: 5 problems, 1 orphan blob\n")


def test_export(tree, capsys):
    assert main(["export", str(tree / "c.json")]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["interactions"][0]["request"]["uri"] == API


def test_what_cannot_be_read_is_told(tree, capsys):
    assert main(["scan", str(tree / "none")]) == 2
    assert "none: there is no such file or folder" in capsys.readouterr().err
    (tree / "c.json").write_text("{}")
    assert main(["export", str(tree / "c.json")]) == 2


def test_without_a_command_the_commands_are_listed(capsys):
    assert main([]) == 2
    assert "scan" in capsys.readouterr().err


def test_scan_counts_each_value_once_in_its_last_line(tmp_path, capsys):
    for number, key in enumerate(
        ("a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "r8Q7p6O5n4M3l2K1j0I9h8G7f6E5d4C3b2A1") * 2
    ):
        (tmp_path / f"{number}.json").write_text(json.dumps({"note": f"use ghp_{key}"}))

    assert main(["scan", str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "4 files: 4 problems, 0 orphan blobs",
        "The problems have 2 different values.",
    ]


def test_scan_reads_keys_that_are_no_texts(tmp_path, capsys):
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
    (tmp_path / "c.yaml").write_text(
        f"- ? !binary |\n    c2V0LWNvb2tpZQ==\n  : session=kJ8sQ2mZx4Rt9Lw1Vb7Np3\n  7: {key}\n"
    )
    assert main(["scan", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "/0/set-cookie" in out
    assert "/0/7: a GitHub token" in out
