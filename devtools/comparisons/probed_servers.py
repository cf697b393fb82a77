"""Prints the results of `conformance probe` as a table, for docs/conformance/servers-probed.md.

    conformance probe URL --wire FORMAT --model MODEL --name "NAME VERSION" --report FOLDER/NAME-FORMAT
    python -m devtools.comparisons.probed_servers FOLDER > docs/conformance/servers-probed.md

FOLDER has one report for each server and wire format.
"""

# ruff: noqa: T201 - it prints

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]
HEAD = """# Servers that were probed

`python -m devtools.comparisons.probed_servers` made this page of the reports of `conformance probe`. [The page of the probe](probe.md) tells what the
verdicts mean. Each server ran on the local machine with a time limit of ten seconds for each answer.

A mock has no model behind it: it ignores forced tools and schemas, and accepts any model name. This is a broken contract for a client, and may be what
its author wants. LiteLLM's proxy, agent-wire-proxy, agentic-api and OGX were in front of the strict server. LiteLLM opens WebSockets to `wss:` addresses
only: its OPR-012 tells of that. The model of llama.cpp had one layer of random weights, which calls no tool and writes no value: SRV-020 and
SRV-022 tell of that, and two of its formats were probed with `--no-rules`. aimock had four fixtures, mockllm and mocktopus one answer.
Claude Code sends its request again without a beta that is refused, and the probe does not.
"""


def row(told: Json) -> list[str]:
    """Returns the cells of a server: its tiers, its specification and its clients."""
    tiers = [state(tier) for tier in told["tiers"]]
    clients = [f"{each['name']}: {answer(each)}" for each in told["clients"]]
    beyond = [state(each) for each in told["specifications"]] or ["–"]
    return [told["server"], told["wire"], told["date"], *tiers, *beyond, "; ".join(clients) or "–"]


def state(one: Json) -> str:
    """Returns a verdict in few words."""
    absent = f"absent: {', '.join(one['absent'])}" if one["absent"] else ""
    broken = f"broken: {', '.join(one['broken'])}" if one["broken"] else ""
    return "; ".join(filter(None, [broken, absent])) or one["state"]


def answer(client: Json) -> str:
    """Returns whether the server is ready for a client, with the first reason."""
    if client["ready"]:
        return "yes"
    first = client["because"][0].replace("|", "\\|").replace("\n", " ")
    return (
        f"{'no' if client['ready'] is False else 'not judged'} ({first[:90]}{'…' if len(first) > 90 else ''})"
    )


def main() -> None:
    """Prints the page."""
    found = [
        json.loads(path.read_text("utf-8")) for path in sorted(Path(sys.argv[1]).glob("*/readiness.json"))
    ]
    titles = ["server", "wire format", "day", "answers", "tools and schemas", "refusals"]
    print(HEAD)
    print(f"| {' | '.join([*titles, 'Open Responses 2026-04-24', 'ready for'])} |")
    print("|" + "---|" * (len(titles) + 2))
    for told in sorted(found, key=lambda each: (each["server"].lower(), each["wire"])):
        print(f"| {' | '.join(row(told))} |")


if __name__ == "__main__":
    main()
