"""Runs testers of other projects against the strict server: `python -m devtools.comparisons.testers FOLDER_OF_NPM`.

Each finding that is not in `DISPUTED` fails. A disputed one contradicts what the real API was recorded to send.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from ellmer_conformance.server import StrictServer

_BEARER: tuple[str, ...] = ()
_ANTHROPIC = ("--auth-header", "x-api-key", "--no-bearer", "-H", "anthropic-version:2023-06-01")
_GOOGLE = ("--auth-header", "x-goog-api-key", "--no-bearer")
#: Format of llm-comply: the path of the base URL, a model, and options.
FORMATS = {
    "openai-chat": ("/v1", "gpt-4.1", _BEARER),
    "open-responses": ("/v1", "gpt-5.6-terra", _BEARER),
    "anthropic": ("/v1", "claude-sonnet-5", _ANTHROPIC),
    "google-genai": ("/v1beta", "gemini-3.5-flash", _GOOGLE),
    "google-interactions": ("", "gemini-3.5-flash", _GOOGLE),
}
#: Words of a finding, and why it is wrong. docs/conformance/probe.md has the same list.
DISPUTED = {
    "'output_schema': None": "OpenAI repeats a tool with `output_schema: null` (recorded in 2026)",
    "'server_tool_use' is a required property": "Anthropic leaves it out without server tools (recorded)",
    "'container' is a required property": "Anthropic leaves it out without a container (recorded)",
    "{'type': 'text', 'text': ": "Anthropic leaves `citations` out without citations (recorded)",
}


def main(npm: str) -> int:
    """Runs the testers, and returns the number of findings that are not disputed.

    Args:
        npm: The folder with `node_modules/compatcanary`.
    """
    with StrictServer() as server:
        findings = [finding for name in FORMATS for finding in _llm_comply(server.origin, name)]
        findings += _compatcanary(server.origin, Path(npm))
    open_ones = [finding for finding in findings if not any(words in finding for words in DISPUTED)]
    for finding in findings:
        sys.stdout.write(f"{'FAIL' if finding in open_ones else 'disputed'}  {finding[:300]}\n")
    sys.stdout.write(f"{len(open_ones)} failures, {len(findings) - len(open_ones)} disputed\n")
    return len(open_ones)


def _llm_comply(origin: str, name: str) -> list[str]:
    path, model, options = FORMATS[name]
    command = [
        "llm-comply",
        "-u",
        origin + path,
        "-k",
        "any-key",
        "-m",
        model,
        "--format",
        name,
        "--json",
        *options,
    ]
    found = _json_of(command)
    return [
        f"llm-comply {name} {result['id']}: {error}"
        for result in found["results"]
        if result["status"] == "failed"
        for error in result["errors"]
        if not error.startswith(("[warning]", "⚠"))
    ]


def _compatcanary(origin: str, npm: Path) -> list[str]:
    """Returns the findings. Its model must take function tools in Chat Completions, which GPT-5.6 does not."""
    script = npm / "node_modules" / "compatcanary" / "src" / "cli.js"
    options = ["--base-url", f"{origin}/v1", "--model", "gpt-4.1", "--api-key", "any-key", "--format", "json"]
    found = _json_of(["node", str(script), "scan", *options, "--fail-on", "never"])
    checks = found.get("checks") or found.get("results") or []
    return [
        f"CompatCanary {check['name']}: {check['summary']}" for check in checks if check["status"] == "fail"
    ]


def _json_of(command: list[str]) -> Any:
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603 - our own list
    try:
        return json.loads(ended.stdout)
    except ValueError:
        raise SystemExit(
            f"{' '.join(command)} did not print JSON: {ended.stdout[-500:]}{ended.stderr[-500:]}"
        ) from None


if __name__ == "__main__":
    raise SystemExit(min(main(sys.argv[1]), 1))
