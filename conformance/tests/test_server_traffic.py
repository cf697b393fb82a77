"""The strict server takes every request that the real API took, and answers it in that API's shape."""

import json
import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ellmer_conformance.server.engine import Engine
from ellmer_conformance.server.http.request_parser import HttpRequest

TRAFFIC = Path(os.environ.get("CONFORMANCE_TRAFFIC", Path(__file__).parents[2].parent / "shared" / "traffic"))
KEYS = {
    "authorization": "Bearer k",
    "x-api-key": "k",
    "x-goog-api-key": "k",
    "anthropic-version": "2023-06-01",
}
PROTOCOLS = {"openai-chat", "openai-responses", "anthropic-messages", "gemini"}

pytestmark = pytest.mark.skipif(
    not TRAFFIC.is_dir(), reason=f"recorded traffic is not at {TRAFFIC}: set CONFORMANCE_TRAFFIC to replay it"
)


def accepted() -> list:
    """Every recorded chat request of these formats that was answered with 200."""
    found = []
    for path in sorted(TRAFFIC.glob("*/*.json")):
        for number, interaction in enumerate(json.loads(path.read_text(encoding="utf-8"))["interactions"]):
            chat = interaction["operation"] == "chat" and interaction["protocol"] in PROTOCOLS
            if chat and interaction["response"]["status"] == 200 and "body" in interaction["request"]:
                found.append(pytest.param(interaction, id=f"{path.parent.name}/{path.stem}#{number}"))
    return found


@pytest.mark.parametrize("interaction", accepted() if TRAFFIC.is_dir() else [])
def test_a_recorded_request_is_answered(interaction):
    url, body = urlsplit(interaction["request"]["url"]), interaction["request"]["body"]
    target = f"{url.path}?{url.query}" if url.query else url.path
    headers = {"host": url.netloc, **KEYS, **interaction["request"]["headers"]}
    if "beta=true" in url.query:
        headers["anthropic-beta"] = "files-api-2025-04-14"  # the recorder dropped which
    reply = Engine({}).answer(HttpRequest("POST", target, headers, json.dumps(body).encode()))
    assert reply.status == 200, reply.body.decode()
    assert (reply.length is None) == (body.get("stream") is True or ":streamGenerateContent" in target)
