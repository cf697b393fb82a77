"""What other packagers read: the conda recipe, the container, the compose file, and the classifiers."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import httpx
import pytest
import yaml
from packaging.requirements import Requirement

from ellmer_conformance.server import StrictServer
from ellmer_core.version import VERSION

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
RECIPE = yaml.safe_load((ROOT / ".ci" / "conda" / "recipe.yaml").read_text("utf-8"))
COMPOSE = yaml.safe_load((ROOT / "examples" / "compose" / "compose.yaml").read_text("utf-8"))
CONTAINER = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")


def parsed(lines):
    """The requirements by name, each as a set of versions."""
    found = [Requirement(line.replace(" ", "", 1) if " " in line else line) for line in lines]
    return {each.name: each.specifier for each in found}


def test_the_conda_recipe_needs_what_the_wheel_needs():
    python, *run = RECIPE["requirements"]["run"]
    assert parsed(run) == parsed(PROJECT["project"]["dependencies"])
    assert (
        python.partition(" ")[2].replace("${{ python_min }}", RECIPE["context"]["python_min"])
        == (PROJECT["project"]["requires-python"])
    )
    host = [line for line in RECIPE["requirements"]["host"] if line.startswith("hatch")]
    assert parsed(host) == parsed(PROJECT["build-system"]["requires"])


def test_the_conda_recipe_has_the_version_and_the_licence():
    assert RECIPE["context"]["version"] == VERSION
    assert RECIPE["about"]["license"] == PROJECT["project"]["license"]
    assert RECIPE["about"]["summary"] == PROJECT["project"]["description"]


def test_the_container_installs_the_wheel_and_no_source():
    build, final = re.split(r"^FROM .*$", CONTAINER, flags=re.MULTILINE)[1:]
    assert "pip wheel" in build
    assert "--no-index --find-links /wheels" in final
    assert "COPY" not in final
    assert re.search(r"^USER (?!root)", final, re.MULTILINE)


def builder():
    """Returns a program that can build containers here, and fetch the image that ours begins with; `""` if there is none."""
    (image,) = {*re.findall(r"^FROM (\S+)", CONTAINER, re.MULTILINE)}
    for name in ("docker", "podman"):
        if shutil.which(name):
            done = subprocess.run([name, "pull", "--quiet", image], capture_output=True, check=False)
            if done.returncode == 0:
                return name
    return ""


def test_the_container_is_built_and_has_the_server():
    name = builder()
    if not name:
        pytest.skip("no builder of containers can fetch the first image here")
    subprocess.run([name, "build", "--tag", "strict-server-test", str(ROOT)], check=True)
    listed = subprocess.run(
        [name, "run", "--rm", "strict-server-test", "--list-cases"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "two_parallel_tools" in listed.stdout


def test_the_tests_of_the_compose_file_reach_the_server():
    """They wait for the health check, and the server answers to the name of its service."""
    tests = COMPOSE["services"]["tests"]
    (server,) = tests["depends_on"]
    assert tests["depends_on"][server] == {"condition": "service_healthy"}
    assert "HEALTHCHECK" in CONTAINER
    (port,) = re.findall(r"^EXPOSE (\d+)", CONTAINER, re.MULTILINE)
    assert tests["environment"]["OPENAI_BASE_URL"] == f"http://{server}:{port}/v1"
    ask = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hi"}]}
    headers = {"host": f"{server}:{port}", "authorization": "Bearer any-key"}
    with StrictServer() as running:
        answer = httpx.post(f"{running.origin}/v1/chat/completions", json=ask, headers=headers)
        assert answer.status_code == 200, answer.text


def test_the_classifiers_name_the_subject():
    named = PROJECT["project"]["classifiers"]
    assert "Topic :: Scientific/Engineering :: Artificial Intelligence" in named
    assert named == sorted(named)


def test_the_recordings_of_the_example_have_the_address_of_the_provider():
    """Else a reader's copy of the folder misses them: a server on this machine had another port, and another folder."""
    files = list((ROOT / "examples" / "agent-pytest").glob("tests/cassettes/**/*.json"))
    addresses = {uri for file in files for uri in re.findall(r'"uri": "([^"]+)"', file.read_text("utf-8"))}
    assert addresses == {
        "https://api.openai.com/v1/responses",
        "https://weather.example.com/mcp",
        "stdio://python/?servers.py&files&trip",
    }


def test_the_example_replays_in_a_copy_of_its_folder(tmp_path: Path):
    """The tutorial says so. It needs a process of its own, because its modules have names that the tests here use, too."""
    copy = shutil.copytree(ROOT / "examples" / "agent-pytest", tmp_path / "copy")
    free = {
        name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "CASSETTE_"))
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    run = subprocess.run(command, cwd=copy, env=free, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
