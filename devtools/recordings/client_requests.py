"""Records what well-known clients send, for the profiles of `conformance probe`.

    python -m devtools.recordings.client_requests [--port 8087]

The strict server starts. Run each client against it with any key, in an empty home, and stop the server with Ctrl-C. The first request of
each client and format is written to `client_requests.json` beside the probe: its header names and fields as they were, ids
in place of ids, and a note in place of a long text. Of tools that have the same form, one is kept.

    codex exec "Say hello."                     # model_providers.local: base_url http://127.0.0.1:8087/v1, wire_api responses
    ANTHROPIC_BASE_URL=http://127.0.0.1:8087 claude -p "Say hello." --model claude-sonnet-5
"""

# ruff: noqa: T201 - it prints

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.live_apis.probe.profiles import RECORDED
from ellmer_conformance.server import StrictServer

Json = dict[str, Any]

#: By the beginning of the user agent: the client, and its page.
CLIENTS = {
    r"codex_\w+/([\d.]+)": ("Codex", "https://www.npmjs.com/package/@openai/codex"),
    r"claude-cli/([\d.]+)": ("Claude Code", "https://www.npmjs.com/package/@anthropic-ai/claude-code"),
    r"ai-sdk/openai/([\d.]+)": ("the Vercel AI SDK", "https://www.npmjs.com/package/@ai-sdk/openai"),
    r"ai-sdk/anthropic/([\d.]+)": ("the Vercel AI SDK", "https://www.npmjs.com/package/@ai-sdk/anthropic"),
    r"OpenAI/Python ([\d.]+)": ("the OpenAI SDK", "https://pypi.org/project/openai/"),
    r"Anthropic/Python ([\d.]+)": ("the Anthropic SDK", "https://pypi.org/project/anthropic/"),
}
_SENTENCE, _LONG = 40, 100  # characters of a text that is kept, with blanks and without
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_OWN = {"host", "content-length", "connection", "accept-encoding", "content-type"}


def profiles(requests: Iterable[Request], day: str) -> Iterator[Json]:
    """Yields a profile for the first request of each client and format."""
    seen = set()
    for request in requests:
        agent = request.headers.get("user-agent", "")
        for pattern, (name, source) in CLIENTS.items():
            found = re.match(pattern, agent)
            if found and request.body.get("tools") and (name, request.wire) not in seen:
                seen.add((name, request.wire))
                told = {"name": name, "version": found[1], "wire": request.wire, "recorded": day}
                yield {**told, "source": source, **_sent(request)}


def _sent(request: Request) -> Json:
    headers = {k: v for k, v in request.headers.items() if k not in _OWN and "***" not in v}
    body = {name: value for name, value in request.body.items() if name != "model"}
    return {"query": urlsplit(request.url).query, "headers": headers, "body": condensed(body, count(1))}


def condensed(value: Any, numbers: Iterator[int]) -> Any:
    """Returns a value with other ids, without long texts, and with one of the tools of each form."""
    if isinstance(value, str):
        most = _SENTENCE if " " in value else _LONG
        told = value if len(value) <= most else f"(A text of {len(value)} characters.)"
        return _UUID.sub(lambda _: f"00000000-0000-0000-0000-{next(numbers):012}", told)
    if isinstance(value, list):
        return [condensed(each, numbers) for each in value]
    if isinstance(value, Mapping):
        chosen = {k: _by_form(v) if k == "tools" and isinstance(v, list) else v for k, v in value.items()}
        return {name: condensed(each, numbers) for name, each in chosen.items()}
    return value


def _by_form(tools: list[Json]) -> list[Json]:
    return [*{(tool.get("type"), *sorted(tool)): tool for tool in reversed(tools)}.values()][::-1]


def main() -> None:
    """Serves until Ctrl-C, and writes the profiles."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=8087)
    server = StrictServer(port=parser.parse_args().port)
    server.serve_forever(lambda: print(f"Run the clients against {server.origin}.", flush=True))
    found = list(profiles([each.request for each in server.requests], datetime.now(UTC).date().isoformat()))
    RECORDED.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    for each in found:
        print(f"{each['name']} {each['version']}, {each['wire']}: {', '.join(each['body'])}")


if __name__ == "__main__":
    main()
