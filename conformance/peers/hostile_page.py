"""Writes docs/conformance/hostile.md: what the hostile provider found in each library.

`conformance hostile --adapter NAME --wire WIRE --json FILE`, run in an environment with the library's newest version, writes the
results; `python conformance/peers/hostile_page.py NAME FILE`, run in the same environment, adds them, with today's date and that
version, and writes the page. Behind the results of `--command`, the version is the third argument.
"""

# ruff: noqa: INP001 - a script beside others
from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ellmer_conformance.hostile.attacks import ATTACKS
from ellmer_conformance.hostile.trials import DUTIES

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "hostile", HERE.parents[1] / "docs" / "conformance" / "hostile.md"
#: The package of a bridge, where it has another name.
PACKAGES = {
    "any-llm": "any-llm-sdk",
    "langchain": "langchain-openai",
    "pydantic-ai": "pydantic-ai-slim",
    "strands": "strands-agents",
}
MEANING = {
    "ends": "It ends within 12 s. Its own timeout is 3 s.",
    "survives": "It does not crash.",
    "memory": "It needs at most 256 MB.",
    "key": "It does not show its key in an error or its output, and sends it to no other host.",
    "no-call": "It runs no call that was cut, or that came after the end.",
    "keeps": "It does not lose a complete answer.",
    "reports": "It says that an answer was cut.",
}


def main(arguments: list[str]) -> None:
    """Adds the results of a library, if they are named, and writes the page."""
    if arguments:
        name, file, *told = arguments
        trials = json.loads(Path(file).read_text("utf-8"))
        found = [{key: trial[key] for key in ("attack", "mode", "broken")} for trial in trials]
        about = {
            "version": told[0] if told else version(PACKAGES.get(name, name)),
            "date": str(datetime.now(UTC).date()),
            "wire": trials[0]["wire"],
        }
        RESULTS.mkdir(exist_ok=True)
        text = json.dumps({**about, "trials": found}, indent=1)
        (RESULTS / f"{name}.json").write_text(f"{text}\n", "utf-8")
    PAGE.write_text(
        page({file.stem: json.loads(file.read_text("utf-8")) for file in sorted(RESULTS.glob("*.json"))}),
        "utf-8",
    )


def page(results: dict[str, Any]) -> str:
    """Returns the page."""
    names = sorted(results, key=lambda name: (broken(results[name]), name))
    head = f"| Library | Version | Date | Format | Attacks | Not withstood | {' | '.join(f'`{duty}`' for duty in DUTIES)} |"
    lines = [INTRODUCTION, head, "|---|---|---|---|--:|--:|" + "--:|" * len(DUTIES)]
    lines += [_row(name, results[name]) for name in names]
    lines += ["", "A cell counts the attacks under which the library broke the promise of the column:", ""]
    lines += [f"- `{duty}`: {MEANING[duty]}" for duty in DUTIES]
    lines += [
        "",
        "## The attacks",
        "",
        "| Attack | What the provider does | Libraries that withstand it |",
        "|---|---|--:|",
    ]
    lines += [
        f"| `{each.name}` | {each.does} | {_withstood(each.name, results)} |" for each in ATTACKS.values()
    ]
    return "\n".join([*lines, ""])


def broken(result: dict[str, Any]) -> int:
    """Returns the number of attacks that a library did not withstand."""
    return sum(bool(trial["broken"]) for trial in result["trials"])


def _row(name: str, result: dict[str, Any]) -> str:
    trials = result["trials"]
    counts = [sum(duty in trial["broken"] for trial in trials) for duty in DUTIES]
    cells = [name, result["version"], result["date"], result["wire"], len(trials), broken(result), *counts]
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _withstood(attack: str, results: dict[str, Any]) -> str:
    played = [[t for t in each["trials"] if t["attack"] == attack] for each in results.values()]
    played = [trials for trials in played if trials]
    fine = sum(not any(trial["broken"] for trial in trials) for trials in played)
    return f"{fine} of {len(played)}"


INTRODUCTION = """\
# A hostile provider

`conformance hostile` attacks a client as a broken or malicious provider could: with answers that are cut, bombs, slow bytes,
values of wrong types, data after the end, errors that quote the key, and redirects. It judges the client's behaviour.
[Install the suite](../quickstart.md#install) first.

```sh
conformance hostile --list                      # the attacks
```

With the name of your adapter in place of this one, all attacks are run, with verdicts. `--attack` chooses one:

```sh
conformance hostile --adapter ellmer-core --attack cut-call
```

A program in any language that keeps the [driver protocol](driver-protocol.md) is attacked in the same way:

```sh
conformance hostile --command "node driver.mjs" --wire openai-chat
```

It is started once per attack. `CONFORMANCE_TIMEOUT` is the timeout that it should give to its library, and it has 8 more seconds to
start and to end. Its memory is what it needs beyond what it needs without a request.

`conformance serve` has the same attacks for a client in any language. Start it in a second terminal:

<!-- serves -->
```sh
conformance serve --hostile 7
```

The URL of the server names the attack: `http://127.0.0.1:8087/c/cut-call/1/v1/chat/completions` cuts a call. Without an attack in
the URL, the seed chooses. Only the first request of a conversation (`/1/`) is attacked. `/journal` returns what each client did: when
it disconnected, whether it sent results of calls, and whether it followed a redirect with its key.

## Results

Each attack is run in a process of its own, without a stream and with one. The client gets a timeout of 3 seconds, through the
option of its library. Many libraries use it as the time between two bytes, so slow answers do not end. The bridges of
`conformance/peers` are the clients; a verdict can be due to the bridge, the library, or the SDK under it. Each attack was
run once per library, on a busy machine, and no single verdict was examined by hand. openai, anthropic and google-genai, in these
versions, were attacked again on 29 November 2026: the same attacks were not withstood (16, 20, 16). Under `bomb` and
`endless-line` it depends on the load of the machine which comes first, too much memory or too much time. The client httpx is
httpx without an SDK, as many programs use it: its bridge runs each call of an answer, whatever the reason for the end. The clients
langchain-js and ai-sdk are the drivers in `examples/driver-langchain-js` and `examples/driver-ai-sdk`, which `--command` starts; the AI SDK
gets its timeout as an abort signal.
"""


if __name__ == "__main__":
    main(sys.argv[1:])
