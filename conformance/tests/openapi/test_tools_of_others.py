"""The OpenAPI documents in the tools of others, and the strict server tested with them: `nox -s openapi`."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from ellmer_conformance.contract import rules
from ellmer_conformance.facts import openapi
from ellmer_conformance.server.strict_server import StrictServer

TOOLS = Path(os.environ.get("OPENAPI_TOOLS", "build/openapi/node_modules/.bin"))
OWN = ["openai-chat", "openai-responses", "anthropic", "gemini", "bedrock", "ollama", "mistral", "cohere"]
#: What Schemathesis 4.32 learns from Mistral's errors makes it fail: their `param` is null.
WITHOUT_FEEDBACK = "[phases.fuzzing.error-feedback]\nenabled = false\n"
#: It cannot negate the `not` in the unions of Gemini, so that it sends only what fits there.
MODES = {"gemini": "positive"}
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "negative_data_rejection"
)


@pytest.fixture
def written(tmp_path):
    def written(wire, provider=""):
        path = tmp_path / "openapi.json"
        path.write_text(json.dumps(openapi.document(wire, provider)))
        return path

    return written


def run(*command, **more):
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=False, timeout=300, **more
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize(("wire", "provider"), list(openapi.places()))
def test_a_document_is_valid(wire, provider):
    from openapi_spec_validator import validate

    validate(openapi.document(wire, provider))


@pytest.mark.parametrize("wire", OWN)
def test_schemathesis_finds_nothing_at_the_strict_server(wire, written, tmp_path):
    program, settings = Path(sys.executable).with_name("schemathesis"), tmp_path / "settings.toml"
    settings.write_text(WITHOUT_FEEDBACK)
    with StrictServer() as server:
        place = f"{server.origin}/c/any/1@mistral" if wire == "mistral" else server.origin
        keys = ("authorization: Bearer any-key", "x-api-key: any-key", "x-goog-api-key: any-key")
        headers = [part for key in keys for part in ("-H", key)]
        asked = ("--phases", "fuzzing", "--max-examples", "25", "--seed", "1", "--no-color", "-c", CHECKS)
        health = ("--suppress-health-check", "all", "--mode", MODES.get(wire, "all"))
        told = run(
            program,
            "--config-file",
            settings,
            "run",
            written(wire),
            "--url",
            place,
            *headers,
            *asked,
            *health,
        )

    assert " passed" in told


#: A program that reads the body of a request from standard input with a generated class.
READ = "import sys, models; getattr(models, sys.argv[1]).model_validate_json(sys.stdin.read())"


@pytest.mark.parametrize("wire", OWN)
def test_generated_code_takes_a_request(wire, written, tmp_path):
    program = Path(sys.executable).with_name("datamodel-codegen")
    form = ("--input-file-type", "openapi", "--output-model-type", "pydantic_v2.BaseModel")
    run(program, "--input", written(wire), "--output", tmp_path / "models.py", *form)
    document = openapi.document(wire)
    post = next(iter(document["paths"].values()))["post"]
    name = post["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    example = next(rule.examples[0] for rule in rules.book(wire).rules.values() if rule.examples)
    elsewhere = {"anthropic": "anthropic_version", "bedrock": "model", "gemini": "model"}.get(
        wire
    )  # in a header or the address
    body = {field: value for field, value in example.items() if field != elsewhere}
    run(sys.executable, "-c", READ, name, cwd=tmp_path, input=json.dumps(body))


@pytest.mark.parametrize("wire", OWN)
def test_generated_types_of_typescript(wire, written, tmp_path):
    run(TOOLS / "openapi-typescript", written(wire), "-o", tmp_path / "types.ts")

    assert "paths" in (tmp_path / "types.ts").read_text()


def test_prism_takes_what_fits_and_refuses_what_does_not(written):
    assert shutil.which(TOOLS / "prism"), f"there is no Prism in {TOOLS} (nox -s openapi installs it)"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [
        TOOLS / "prism",
        "mock",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--errors",
        written("openai-chat"),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as prism:
        try:
            good = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Hi"}]}
            codes = [
                asked(port, body) for body in (good, {**good, "bogus": 1}, {**good, "n": "x"}, {"model": "x"})
            ]
        finally:
            prism.terminate()

    assert codes == [200, 400, 400, 400]


def asked(port, body):
    """Returns the status of a mocked answer. Prism needs a second to begin, and answers an illegal request with a documented 400."""
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    headers = {"content-type": "application/json", "authorization": "Bearer any-key"}
    for _ in range(300):
        try:
            with urlopen(Request(url, json.dumps(body).encode(), headers)) as answer:
                return answer.status
        except HTTPError as error:
            return error.code
        except OSError:
            time.sleep(0.1)
    return None
