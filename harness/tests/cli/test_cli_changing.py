"""`ellmer-harness import`, `migrate` and `prune`: files change only if all of them are correct."""

import json
import operator
import pathlib
import re
from base64 import b64encode

import httpx
import pytest
import yaml

from ellmer_harness import Miss, SecretFound, Unused, use_cassette
from ellmer_harness.cli import main
from ellmer_harness.format.blobs import file_name

API = "https://api.example.com"
IMAGE = b64encode(b"\x89PNG" + bytes(5000)).decode()
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"


def vcrpy(path, *bodies):
    """A cassette of vcrpy's."""
    entries = [
        {
            "request": {"method": "POST", "uri": f"{API}/{n}", "body": "{}", "headers": {"X-Trace": ["1"]}},
            "response": {
                "status": {"code": 200, "message": "OK"},
                "headers": {"X-Id": ["7"]},
                "body": {"string": body},
            },
        }
        for n, body in enumerate(bodies)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump({"version": 1, "interactions": entries}))
    return path


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def suite(tmp_path):
    """Makes a folder of cassettes as pytest-recording writes it."""
    folder = tmp_path / "cassettes"
    vcrpy(folder / "test_chat" / "test_story[gpt-4.1].yaml", json.dumps({"image": IMAGE}))
    vcrpy(folder / "test_chat" / "test_plain.yaml", "a", "b")
    (folder / "notes.md").write_text("# Notes")
    return folder


STORY = file_name("test_story[gpt-4.1]") + ".json"


def test_import_of_a_tree(suite, tmp_path, capsys):
    before = files(suite)
    assert main(["import", str(suite), "--out", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "headers not written (--keep-header NAME writes one): x-trace × 3, x-id × 3" in out
    assert out.endswith("2 recordings imported, 3 interactions\n")
    assert files(suite) == before
    found = files(tmp_path / "out")
    [blob] = [name for name in found if name.startswith("blobs/")]
    assert set(found) == {"test_chat/test_plain.json", f"test_chat/{STORY}", blob}
    with use_cassette(tmp_path / "out" / "test_chat" / STORY):
        assert httpx.post(f"{API}/0", content="{}").json() == {"image": IMAGE}


def test_import_does_not_replace_what_is_there(suite, tmp_path, capsys):
    arguments = ["import", str(suite), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--dry-run"]) == 0
    assert not (tmp_path / "out").exists()
    assert main(arguments) == 0
    before = files(tmp_path / "out")
    capsys.readouterr()
    assert main([*arguments, "--keep-header", "x-*"]) == 1
    captured = capsys.readouterr()
    assert "use --overwrite to replace it" in captured.err
    assert captured.out.endswith("0 recordings imported, 0 interactions, 2 failed\n")
    assert files(tmp_path / "out") == before
    assert main([*arguments, "--keep-header", "x-*", "--overwrite"]) == 0
    assert b"x-trace" in (tmp_path / "out" / "test_chat" / "test_plain.json").read_bytes()


def test_two_recordings_do_not_become_one(suite, tmp_path, capsys):
    vcrpy(suite / "test_chat" / "test_plain.yml", "c")
    assert main(["import", str(suite), "--out", str(tmp_path / "out"), "--overwrite"]) == 1
    assert "would be two cassettes" in capsys.readouterr().err
    with use_cassette(tmp_path / "out" / "test_chat" / "test_plain.json", allow_unused=True):
        assert httpx.post(f"{API}/0", content="{}").text == "a"


def test_import_into_one_file(suite, tmp_path, capsys):
    one = str(suite / "test_chat" / "test_plain.yaml")
    assert main(["import", one, "--out", str(tmp_path / "c.json"), "--recorded-from", "live"]) == 0
    ours = json.loads((tmp_path / "c.json").read_text())["metadata"]["ellmer_harness"]
    assert ours["recorded_from"] == "live"
    assert main(["import", str(suite), "--out", str(tmp_path / "d.json")]) == 2
    assert "name a folder for several" in capsys.readouterr().err
    assert main(["import", str(tmp_path / "c.json"), "--out", str(tmp_path / "out")]) == 0  # ours already
    assert not (tmp_path / "out").exists()


def test_secrets_are_not_imported(tmp_path, capsys):
    path = vcrpy(tmp_path / "a.yaml", f"the token is {TOKEN}")
    arguments = ["import", str(path), "--out", str(tmp_path / "c.json")]
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert "a GitHub token (fingerprint " in error
    assert "--mask" in error
    assert TOKEN not in error
    assert not (tmp_path / "c.json").exists()
    fingerprint = error.partition("fingerprint ")[2][:8]
    assert main([*arguments, "--accept", fingerprint]) == 0
    assert TOKEN in (tmp_path / "c.json").read_text()
    assert main([*arguments, "--mask", "--overwrite", "--accept", fingerprint]) == 0
    assert TOKEN in (tmp_path / "c.json").read_text()
    assert main([*arguments, "--mask", "--overwrite"]) == 0
    with use_cassette(tmp_path / "c.json"):
        assert httpx.post(f"{API}/0", content="{}").text == "the token is REDACTED"


@pytest.mark.parametrize(
    "write",
    [
        lambda secret: f"grant_type=refresh_token&client_secret={secret}",
        lambda secret: json.dumps({"auth": {"password": secret}, "n": 1}),
        lambda secret: json.dumps({"said": f"Bearer {secret}"}),
        lambda secret: "see " + b64encode(f"api_key: {secret}".encode()).decode(),
    ],
    ids=["form", "JSON", "text", "base64"],
)
def test_a_request_with_a_masked_secret_is_found_with_another(tmp_path, write):
    path = vcrpy(tmp_path / "a.yaml", "welcome")
    path.write_text(path.read_text().replace("body: '{}'", f"body: {json.dumps(write(TOKEN))}"))
    assert main(["import", str(path), "--out", str(tmp_path / "c.json"), "--mask"]) == 0
    assert TOKEN not in (tmp_path / "c.json").read_text()
    assert main(["scan", str(tmp_path / "c.json")]) == 0
    for secret in (TOKEN, "d3VtbXk5OTk5MTIzNDU2Nzg5MGFiY2Rl"):
        with use_cassette(tmp_path / "c.json"):
            assert httpx.post(f"{API}/0", content=write(secret)).text == "welcome"


def test_a_cassette_of_ours_is_masked_later(tmp_path, server, record):
    def ask(secret):
        return httpx.post(f"{API}/0", json={"token": secret}).json()

    server.whole({"yours": TOKEN})
    with (
        pytest.raises(SecretFound) as refused,
        use_cassette(tmp_path / "c.json", **record),
    ):
        ask(TOKEN)
    fingerprints = re.findall(r"fingerprint (\w+)", str(refused.value))
    server.whole({"yours": TOKEN})
    with use_cassette(tmp_path / "c.json", **record, not_secret=fingerprints):
        ask(TOKEN)
    assert main(["migrate", str(tmp_path / "c.json"), "--mask"]) == 0
    for secret in (TOKEN, TOKEN[::-1]):
        with use_cassette(tmp_path / "c.json"):
            assert ask(secret) == {"yours": "REDACTED"}


def test_a_host_of_ones_own_becomes_a_name(tmp_path):
    path = vcrpy(tmp_path / "a.yaml", "https://api.example.com knows")
    assert (
        main(["import", str(path), "--out", str(tmp_path / "c.json"), "--secret", "HOST=api.example.com"])
        == 0
    )
    assert "api.example.com" not in (tmp_path / "c.json").read_text()
    with use_cassette(tmp_path / "c.json", secrets={"HOST": "other.example.org"}):
        assert httpx.post("https://other.example.org/0", content="{}").text == "https://<HOST> knows"
    with pytest.raises(SystemExit):
        main(["import", str(path), "--out", str(tmp_path / "d.json"), "--secret", "HOST"])


def test_migrate_in_place(suite, capsys):
    assert main(["migrate", str(suite), "--dry-run"]) == 0
    assert capsys.readouterr().out.endswith("2 recordings can be migrated, 3 interactions\n")
    assert {path.suffix for path in suite.rglob("*.*")} == {".yaml", ".md"}
    assert main(["migrate", str(suite)]) == 0
    assert set(files(suite)) - {f"blobs/{p.name}" for p in (suite / "blobs").iterdir()} == {
        "notes.md",
        "test_chat/test_plain.json",
        f"test_chat/{STORY}",
    }
    with use_cassette(suite / "test_chat" / STORY):
        assert httpx.post(f"{API}/0", content="{}").json() == {"image": IMAGE}
    capsys.readouterr()
    assert main(["migrate", str(suite)]) == 0
    assert capsys.readouterr().out == "0 recordings migrated, 3 interactions, 2 unchanged\n"


def test_migrate_keeps_what_it_is_told_to(suite):
    before = files(suite)
    assert main(["migrate", str(suite), "--keep", "--blobs", str(suite / "media")]) == 0
    assert files(suite).items() >= before.items()
    assert len([*(suite / "media").iterdir()]) == 1


def test_migrate_writes_ours_anew(server, record, tmp_path, capsys):
    with use_cassette(tmp_path / "c.json", **record):
        httpx.post(API, json={"a": 1})
    good = (tmp_path / "c.json").read_bytes()
    (tmp_path / "c.json").write_text(
        json.dumps(json.loads(good))
    )  # as a formatter, or an older version, has it
    assert main(["migrate", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "1 recording migrated, 1 interaction\n"
    assert (tmp_path / "c.json").read_bytes() == good


WRONG = {
    "cut": lambda folder: (folder / "z.yaml").write_text("interactions:\n- request: {"),
    "secret": lambda folder: vcrpy(folder / "z.yaml", TOKEN),
    "taken": lambda folder: (folder / "test_chat" / "test_plain.json").write_text("{}"),
    "twice": lambda folder: vcrpy(folder / "test_chat" / "test_plain.yml", "c"),
    "later": lambda folder: (folder / "z.json").write_text(
        '{"version": 1, "metadata": {"ellmer_harness": {"format": 9}}, "interactions": []}'
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_one_bad_file_and_nothing_is_migrated(suite, capsys, case):
    WRONG[case](suite)
    before = files(suite)
    assert main(["migrate", str(suite)]) == 1
    captured = capsys.readouterr()
    assert captured.err.endswith("nothing was changed\n")
    assert captured.out.endswith(", 1 failed\n")
    assert files(suite) == before


@pytest.mark.parametrize("call", ["pathlib.Path.replace", "pathlib.Path.unlink"])
@pytest.mark.parametrize("good", range(9))
def test_migrate_loses_nothing_when_it_is_stopped(suite, monkeypatch, call, good):
    """Wherever it stops, every interaction exists in the old form or in the new one, and a second run completes it."""
    real, left = operator.attrgetter(call.removeprefix("pathlib."))(pathlib), [None] * good

    def fail(path, *arguments, **options):
        if left:
            left.pop()
            return real(path, *arguments, **options)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(call, fail)
        main(["migrate", str(suite)])
    stems = {
        path.name.split(".")[0].split("-")[0].split("[")[0] for path in (suite / "test_chat").glob("[!.]*")
    }
    assert stems == {"test_story", "test_plain"}
    assert main(["migrate", str(suite)]) == 0
    assert {path.suffix for path in (suite / "test_chat").glob("[!.]*")} == {".json"}
    for name in ("test_plain.json", STORY):
        assert json.loads((suite / "test_chat" / name).read_text())["interactions"]


@pytest.fixture
def recorded(server, record, tmp_path):
    for path in ("used", "part", "orphan"):
        server.whole(b"\x89PNG" + path.encode() * 2000, "image/png")
        with use_cassette(tmp_path / f"{path}.json", **record):
            httpx.get(f"{API}/image")
            httpx.post(f"{API}/text", content=path)
            httpx.post(f"{API}/text", content=path)
    return tmp_path


def report(folder, **found):
    (folder / ".report").write_text(json.dumps(found))
    return ["prune", str(folder), "--report", str(folder / ".report")]


def test_prune_of_media(recorded, capsys):
    assert main(["prune", str(recorded)]) == 0
    assert capsys.readouterr().out == "3 cassettes, nothing to remove\n"
    (recorded / "orphan.json").unlink()
    assert main(["prune", str(recorded), "--dry-run"]) == 0
    assert "would remove" in capsys.readouterr().out
    assert len([*(recorded / "blobs").iterdir()]) == 3
    assert main(["prune", str(recorded)]) == 0
    assert ".png (12.0 kB): no cassette uses it" in capsys.readouterr().out
    assert len([*(recorded / "blobs").iterdir()]) == 2


def test_prune_of_what_a_run_did_not_use(recorded, capsys):
    left = ["#1 GET https://api.example.com/image", "#3 POST https://api.example.com/text"]
    arguments = report(
        recorded, unused={str(recorded / "part.json"): left}, orphans=[str(recorded / "orphan.json")]
    )
    before = files(recorded)
    assert main([*arguments, "--dry-run", "--orphans"]) == 0
    assert files(recorded) == before
    assert main(arguments) == 0
    assert (recorded / "orphan.json").exists()
    assert len([*(recorded / "blobs").iterdir()]) == 2
    assert main([*report(recorded, orphans=[str(recorded / "orphan.json")]), "--orphans"]) == 0
    assert not (recorded / "orphan.json").exists()
    assert len([*(recorded / "blobs").iterdir()]) == 1
    with use_cassette(recorded / "part.json"):
        assert httpx.post(f"{API}/text", content="part").json() == {"echo": "part"}


def test_prune_is_careful(recorded, capsys):
    before = files(recorded)
    assert main(["prune", str(recorded), "--orphans"]) == 2
    assert main(report(recorded, unused={str(recorded / "part.json"): ["#1 GET https://other/"]})) == 2
    assert "changed after the test run" in capsys.readouterr().err
    (recorded / ".report").write_text("[]")
    assert main(["prune", str(recorded), "--report", str(recorded / ".report")]) == 2
    assert "is not a report of a test run" in capsys.readouterr().err
    assert main(["prune", str(recorded / "blobs")]) == 0  # without cassettes nothing is known about use
    (recorded / "orphan.json").write_text(before["orphan.json"].decode()[:-20])
    assert main(["prune", str(recorded)]) == 1
    assert "nothing is removed" in capsys.readouterr().err
    after = files(recorded)
    assert {name: after[name] for name in before if "orphan" not in name} == {
        name: before[name] for name in before if "orphan" not in name
    }


def test_what_prune_needs_is_what_the_cassette_says(recorded):
    with pytest.raises(Unused), use_cassette(recorded / "part.json") as cassette:
        httpx.post(f"{API}/text", content="part")
    arguments = report(recorded, unused={str(cassette.path): [*cassette.verdict.left]})
    assert main(arguments) == 0
    with use_cassette(recorded / "part.json") as cassette:
        httpx.post(f"{API}/text", content="part")
    assert cassette.verdict.state == "replayed"


def test_what_has_drifted_is_not_compared_until_it_is_recorded_again(server, record, tmp_path):
    def ask(n):
        return httpx.post("https://api.example.com/x", json={"n": n}).json()

    file = tmp_path / "c.json"
    with use_cassette(file, **record):
        ask(1)
    assert main(["migrate", str(file), "--not-compared", "body"]) == 0
    with use_cassette(file, stale="ignore"):
        assert ask(2) == {"echo": '{"n":1}'}
    with use_cassette(file, **record):
        ask(2)
    with pytest.raises(Miss), use_cassette(file):
        ask(3)
