"""The generations of the official SDKs against the strict server: each is refused exactly where the API refuses what it
sends. An environment for each is made with uv; the package index decides which release is the newest of a generation.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ellmer_conformance.server import StrictServer

uv = pytest.importorskip("uv")

#: As it is outside of the tests, which know one certificate only.
ENVIRONMENT = dict(os.environ)
ASKS = Path(__file__).with_name("sdk_generation.py")
ACCEPTED = {"plain", "a round of tools", "response", "response, tools"}
#: What version 2026-10-21 of Anthropic's API no longer takes: REQ-122, REQ-123, REQ-124.
NO_LONGER = {"sampled", "document of the model", "citations on a user's text"}


@pytest.fixture(scope="module")
def server():
    with StrictServer() as server:
        yield server


def told(package, release, url, folder):
    """Returns what the newest SDK of a generation reports, run in an environment of its own."""
    python = folder / "bin/python"
    for command in (
        ["venv", "-q", "--python", sys.executable, str(folder)],
        ["pip", "install", "-q", f"--python={python}", f"{package}{release}"],
    ):
        subprocess.run([uv.find_uv_bin(), *command], check=True, timeout=300, env=ENVIRONMENT)
    done = subprocess.run(
        [python, ASKS, package, url], check=True, capture_output=True, text=True, timeout=300
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("release", "sent", "accepted"),
    [
        ("<1", ("2023-06-01", ["x-api-key"]), {"plain", *NO_LONGER}),
        (">=1,<2", ("2023-06-01", ["x-api-key"]), {"plain", *NO_LONGER}),
        (">=2,<3", ("2026-10-21", ["authorization"]), {"plain"}),
    ],
)
def test_anthropics_generations_are_refused_by_the_version_that_they_send(
    server, tmp_path, release, sent, accepted
):
    report = told("anthropic", release, server.origin, tmp_path / "env")

    assert (report["version"], report["keys"]) == sent
    assert {name for name, status in report["found"].items() if status == 200} == accepted
    assert set(report["found"].values()) == {200, 400}


@pytest.mark.parametrize("release", [">=2,<3", ">=3,<4"])
def test_openais_generations_are_refused_where_the_api_refuses(server, tmp_path, release):
    report = told("openai", release, server.origin, tmp_path / "env")

    assert {name for name, status in report["found"].items() if status == 200} == ACCEPTED
    assert set(report["found"].values()) == {200, 400}
