"""The server's page at `/`, and its text at the start."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from importlib.resources import files

from ..chat_apis.base import WRONG_KEY, WRONG_MODEL
from ..http.messages import Reply, plain

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'"
_POLICY += "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_MESSAGES = {"messages": [{"role": "user", "content": "Hello"}]}
_CONTENTS = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}

#: Per provider: a request to try, with its path, headers and body.
_PROVIDERS = (
    ("/v1/chat/completions", ("authorization: Bearer any-key",), {"model": "gpt-4.1", **_MESSAGES}),
    (
        "/v1/messages",
        ("x-api-key: any-key", "anthropic-version: 2023-06-01"),
        {"model": "claude-sonnet-5", "max_tokens": 99, **_MESSAGES},
    ),
    ("/v1beta/models/gemini-3.5-flash:generateContent", ("x-goog-api-key: any-key",), _CONTENTS),
)

#: The variables from which each SDK takes its base URL.
_VARIABLES = (
    ("OpenAI", "export OPENAI_API_KEY=any-key OPENAI_BASE_URL={base}/v1"),
    ("Anthropic", "export ANTHROPIC_API_KEY=any-key ANTHROPIC_BASE_URL={base}"),
    ("Gemini", "export GEMINI_API_KEY=any-key GOOGLE_GEMINI_BASE_URL={base}"),
    (
        "Bedrock",
        (
            "export AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=any-key AWS_SECRET_ACCESS_KEY=any-key "
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME={base}"
        ),
    ),
    ("Cohere", "export CO_API_KEY=any-key CO_API_URL={base}"),
    ("Ollama", "export OLLAMA_HOST={base} OLLAMA_BASE_URL={base}"),
    ("others", "name the provider or its host: {base}/c/any/1@mistral, {base}/c/any/1@api.deepseek.com/v1"),
)


def named(cases: Iterable[str]) -> list[str]:
    """Returns the cases without their variations, of which there are hundreds."""
    return sorted(case for case in cases if "~" not in case)


def greeting(base: str, mode: str) -> str:
    """Returns the text at the start, of at most twenty lines: variables for the SDKs, and requests to try.

    Args:
        base: The address of the server.
        mode: The mode of the server.

    Examples:
        >>> greeting("http://127.0.0.1:8080", "reject").splitlines()[0]
        'The strict server, in reject mode, on http://127.0.0.1:8080'
    """
    return "\n".join(
        [
            f"The strict server, in {mode} mode, on {base}",
            f"It refuses what the real APIs refuse, and takes any key. Open {base} in a browser to see the requests.",
            "",
            *(f"  {name:10} {text.format(base=base)}" for name, text in _VARIABLES),
            "",
            "Requests to try:",
            "",
            *(f"  {_curl(base + path, headers, body)}" for path, headers, body in _PROVIDERS),
            "",
            f"Cases have a script (--list-cases): {base}/c/<case>/<nonce> and the provider's own path, such as /v1.",
            f"The key {WRONG_KEY!r} and the model {WRONG_MODEL!r} are refused with the provider's own errors.",
            "",
        ]
    )


def page(headers: Mapping[str, str], mode: str) -> Reply:
    """Returns the start text for curl. For a browser, it is the page that shows conversations as they arrive."""
    text = greeting(f"http://{headers.get('host') or '127.0.0.1'}", mode)
    if "text/html" not in headers.get("accept", ""):
        return plain(200, [("content-type", "text/plain; charset=utf-8")], text.encode())
    kind, policy = ("content-type", "text/html; charset=utf-8"), ("content-security-policy", _POLICY)
    return plain(200, [kind, policy], _live().replace("{{greeting}}", escape(text)).encode())


@cache
def _live() -> str:
    return files(__name__).joinpath("live.html").read_text("utf-8")


def _curl(url: str, headers: Iterable[str], body: object) -> str:
    options = " ".join(f"-H '{header}'" for header in (*headers, "content-type: application/json"))
    return f"curl {url} {options} -d '{json.dumps(body)}'"
