"""The pytest fixture `llm_server`: a strict server for a test, with a script, that fails the test for illegal requests.

    @pytest.mark.llm_server(script="answers.yaml")
    def test_my_agent(llm_server):
        my_agent(base_url=llm_server.base_urls["openai"], api_key=llm_server.key)
        assert llm_server.requests[0].request.model == "gpt-4.1"

The marker takes `script` (entries, or the path of a file beside the test), `strict` (an unmatched request is an error) and
`allow` (ids of rules that the test breaks on purpose; `"*"` for all).
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

#: The path that each SDK expects after the server's address.
_PATHS = {
    **dict.fromkeys(("openai", "groq", "deepseek", "ellmer_core"), "/v1"),
    **dict.fromkeys(("anthropic", "google", "bedrock", "cohere", "ollama"), ""),
    "mistral": "/c/any/-@mistral",
}


class LLMServer:
    """A strict server with addresses for the SDKs.

    Args:
        server: The server, which runs.
    """

    #: Any text is accepted as a key.
    key = "any-key"

    def __init__(self, server: Any) -> None:
        self._server = server

    @property
    def origin(self) -> str:
        """The address of the server."""
        origin: str = self._server.origin
        return origin

    @property
    def base_urls(self) -> Mapping[str, str]:
        """The base URL for the SDK of each provider: `openai`, `anthropic`, `google`, `bedrock`, `cohere`, `ollama`, …"""
        return {provider: f"{self.origin}{path}" for provider, path in _PATHS.items()}

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables from which the SDKs take base URLs and keys."""
        keys = ("OPENAI", "ANTHROPIC", "GEMINI", "CO", "MISTRAL")
        return {
            **{f"{name}_API_KEY": self.key for name in keys},
            # boto3 since 1.44 sends a bearer token over HTTPS only
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.key,
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "OPENAI_BASE_URL": self.base_urls["openai"],
            "ANTHROPIC_BASE_URL": self.base_urls["anthropic"],
            "GOOGLE_GEMINI_BASE_URL": self.base_urls["google"],
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.base_urls["bedrock"],
            "CO_API_URL": self.base_urls["cohere"],
            "OLLAMA_HOST": self.base_urls["ollama"],
        }

    @property
    def requests(self) -> list[Any]:
        """The requests with their answers and violations, oldest first: `Entry` values."""
        requests: list[Any] = self._server.requests
        return requests

    def violations(self, allow: Collection[str] = ()) -> list[str]:
        """Returns a line for each violation of a rule that the API enforces.

        Args:
            allow: Ids of rules that may be broken, short or full (`openai-chat/PAIR-001`), with `*` for any text.
        """
        return [
            f"request {entry.number} ({entry.request.wire}): {found.rule.id} {found.pointer} {found.message}"
            for entry in self.requests
            for found in entry.violations
            if found.rule.level.value == "MUST" and not found.rule.preview
            if not any(fnmatchcase(id, each) for id in (found.rule.id, found.rule.full_id) for each in allow)
        ]


@pytest.fixture
def llm_server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Generator[LLMServer]:
    """Starts a strict server for the test, and sets the variables of the SDKs.

    The test fails at its end if it sent a request that the real API would refuse.
    """
    from ..server import StrictServer  # noqa: PLC0415 - tests without the fixture do not wait for it

    marker = request.node.get_closest_marker("llm_server")
    options: dict[str, Any] = dict(marker.kwargs) if marker else {}
    script = options.get("script")
    if isinstance(script, str | Path):
        script = request.path.parent / script
    with StrictServer(script=script, strict_script=bool(options.get("strict"))) as started:
        server = LLMServer(started)
        monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        yield server
        broken = server.violations(options.get("allow", ()))
    if broken:
        pytest.fail("The real API would refuse requests of this test:\n" + "\n".join(broken), pytrace=False)


def pytest_configure(config: pytest.Config) -> None:
    """Declares the marker."""
    config.addinivalue_line(
        "markers", "llm_server(script=None, strict=False, allow=()): the script of the fixture `llm_server`"
    )
