"""Shared fixtures: the strict server and its clients, an index of packages, a report."""

from hashlib import sha256

import httpx
import pytest
from broken_runs import report as broken_report
from servers.package_index import TOP, served
from servers.questions import NONCES, SCRIPTS

from ellmer_conformance.recordings.corpus.pins import FILES, Pin
from ellmer_conformance.report import Report, finished
from ellmer_conformance.server import StrictServer
from ellmer_core.wire.openai_chat.to_wire import OpenAIChat

#: Sessions of their own: nox -s node, nox -s openapi, nox -s oracles, nox -s ways.
collect_ignore = ["languages", "openapi", "oracles", "ways"]


@pytest.fixture(scope="module")
def server():
    with StrictServer(SCRIPTS) as server:
        yield server


@pytest.fixture(scope="module")
def client():
    with httpx.Client(verify=False) as client:
        yield client


@pytest.fixture
def post(server, client):
    """Posts to a case in a new conversation, or in a given one."""

    def post(provider, case, body=None, *, nonce=None, stream=False, server=server, **headers):
        path = provider.stream_path() if stream else provider.path
        given = body or (provider.stream_body() if stream else provider.body)
        return client.post(
            server.url(case, nonce or next(NONCES)) + path, json=given, headers=provider.headers | headers
        )

    return post


@pytest.fixture
def played(monkeypatch, tmp_path):
    """An index with one archive, and an empty cache. The fixture is a function from the archive's bytes to its pin."""
    pages, name = {}, f"{TOP}.tar.gz"
    monkeypatch.setenv("CONFORMANCE_CORPUS", str(tmp_path / "cache"))
    with served(pages) as url:
        for variable in ("UV_INDEX_URL", "PIP_INDEX_URL", "SSL_CERT_FILE", "PIP_CERT"):
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"{url}/simple/")

        def publish(content, **changed):
            digest = "ab/cd/" + 60 * "0"
            link = f'<a href="../../packages/{digest}/{name}#sha256=0">{name}</a>'
            pages["/simple/stories/"] = f"<html><a>no link</a>{link}</html>".encode()
            pages[f"/packages/{digest}/{name}"] = content
            pin = Pin(
                package="stories",
                version="1.0",
                archive=f"{FILES}{digest}/{name}",
                sha256=sha256(content).hexdigest(),
                size=len(content),
                licence="MIT",
                members=("tests/*",),
            )
            return Pin(**{**vars(pin), **changed})

        yield publish


@pytest.fixture(scope="module")
def report():
    """A report of our adapter with the user's text before the tool results in one case, and without errors in
    another.
    """
    right = OpenAIChat.message
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            OpenAIChat, "message", lambda s, t: sorted(right(s, t), key=lambda m: m["role"] == "tool")
        )
        parts = [
            broken_report.played(broken_report.Ours(), "dangling_call", mode) for mode in ("sync", "stream")
        ]
    return finished(Report.joined([*parts, broken_report.played(broken_report.Ours(), "plain_text")]))
