"""Writes `docs/_site/_pairs.json`: for each rule about whole conversations, a client that breaks it beside one that keeps it.

    python -m devtools.behaviour_pairs

A broken adapter of `tests/support/broken_on_purpose` and our own run the same case against the strict server. The file has what
they did at the place of the finding. A rule that no broken adapter breaks is not in it, and its page says so.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from ellmer_conformance.adapters.ellmer_core import EllmerCore
from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.contract.observed.run import Run
from ellmer_conformance.contract.rule import Violation
from ellmer_conformance.contract.rules import behaviour
from ellmer_conformance.runner.against_server import play_direct
from ellmer_conformance.runner.from_cassettes import play
from ellmer_conformance.runner.judgement import judge
from ellmer_conformance.scenarios.cases import all_cases, scripts
from ellmer_conformance.scenarios.messages import Reply
from ellmer_conformance.server import StrictServer

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "docs" / "_site"), str(ROOT / "tests" / "support")]

#: They lie beside the pages and in the tests, which are no packages.
laid_out: Callable[[Any], str] = import_module("_markdown").laid_out
BROKEN: Mapping[str, Any] = vars(import_module("broken_on_purpose").BROKEN)

TARGET = ROOT / "docs" / "_site" / "_pairs.json"

MOST = 2000  # characters of one side
NOTHING = "(nothing)"
MOST_ADAPTERS = 4
#: Adapters that break a rule that only should hold.
GENTLY = {
    "SCH-007": "forgets_tools_later",
    "STR-017": "loses_the_last_piece",
    "TRM-006": "names_the_wrong_call",
    "TXT-004": "prints_the_key",
    "UNI-003": "rounds_for_the_tool",
}
#: The key of the adapters.
KEY = re.compile(r"canary-key(-\w+)*")
#: Headers whose values are not published.
SECRET = re.compile(r"(?i)key|auth|token")


def main() -> None:
    """Writes the file."""
    with StrictServer(scripts()) as server:
        found = dict(pairs(server))
    TARGET.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    sys.stdout.write(f"{len(found)} of {len(behaviour.book.rules)} rules have a pair.\n")


def pairs(
    server: StrictServer, only: frozenset[str] = frozenset(behaviour.book.rules)
) -> Iterator[tuple[str, Any]]:
    """Yields each rule with its pair: that of the adapter whose sides are shortest."""
    for id in behaviour.book.rules:
        if id in only and (
            shown := [each for adapter in breaking(id) if (each := pair(id, adapter, server))]
        ):
            yield (
                id,
                min(shown, key=lambda each: (not each["broken"], len(each["broken"]) + len(each["kept"]))),
            )


def breaking(id: str) -> list[Any]:
    """Returns the first broken adapters that the rule catches."""
    caught = [adapter for adapter in BROKEN.values() if id in adapter.caught_by]
    return caught[:MOST_ADAPTERS] or [BROKEN[name] for name in [GENTLY.get(id)] if name]


def pair(id: str, broken: Any, server: StrictServer) -> Mapping[str, str] | None:
    """Returns what a broken adapter and our own do in its case; `None` if the rule is not broken there."""
    wrong = run(broken(), broken, server)
    if not (violation := first(wrong, id)):
        return None
    right = run(EllmerCore(), broken, server)
    sides = heads(wrong, right) if id.startswith("AUT-") else differing(violation, wrong, right)
    bug = (broken.__doc__ or "").split("\n")[0]
    shown = {
        "bug": bug,
        "case": broken.case,
        "wire": broken.on[0],
        "finding": shortened(rounded(violation.message)),
    }
    shown |= {"broken": sides[0], "kept": sides[1]}
    return {name: publishable(text) for name, text in shown.items()}


def publishable(text: str) -> str:
    """Returns a text without keys, addresses of the server on this machine, and halves of characters."""
    whole = text.encode("utf-8", "backslashreplace").decode()
    return re.sub(r"http://127\.0\.0\.1:\d+[^\s']*", "http://127.0.0.1/…", KEY.sub("(the key)", whole))


def run(adapter: Any, broken: Any, server: StrictServer) -> Run:
    """Runs the case of a broken adapter with an adapter."""
    wire = broken.on[0]
    place = (adapter, wire, adapter.wires[wire][0], all_cases()[broken.case], broken.mode)
    if broken.from_cassette:
        return play(*place, cassettes=ROOT / "cassettes")
    return play_direct(*place, server=server)


def first(run: Run, id: str) -> Violation | None:
    """Returns the first violation of a rule in a run."""
    found = (each for each in judge(run) if each.rule.id == id and each.outcome in {"fail", "warn"})
    return next((violation for each in found for violation in each.violations), None)


def differing(violation: Violation, wrong: Run, right: Run) -> tuple[str, str]:
    """Returns what the two runs have at the place of a violation; two empty texts if that is the same, or long."""
    kind, _, rest = violation.pointer.strip("/").partition("/")
    if kind == "exchanges" and rest:
        sides = requests(int(rest.partition("/")[0]), wrong, right)
    elif kind == "exchanges":
        sides = sent(wrong), sent(right)
    else:
        wrong, right = wrong.play_at(violation.pointer), right.play_at(violation.pointer)
        sides = told(kind, rest, wrong), told(kind, rest, right)
        sides = sides if sides[0] != sides[1] else first_requests(wrong, right)
    return sides if sides[0] != sides[1] and max(map(len, sides)) <= MOST else ("", "")


def sent(run: Run) -> str:
    """Returns the number of requests."""
    return f"sends {len(run.exchanges)} {'request' if len(run.exchanges) == 1 else 'requests'}"


def first_requests(wrong: Run, right: Run) -> tuple[str, str]:
    """Returns the difference of the first requests that differ."""
    for index, both in enumerate(zip(wrong.exchanges, right.exchanges, strict=False)):
        if both[0].request.body != both[1].request.body:
            return requests(index, wrong, right)
    return "", ""


def requests(index: int, wrong: Run, right: Run) -> tuple[str, str]:
    """Returns the smallest part in which two requests differ, with its place; headers if the bodies are the same."""
    there = [run.exchanges[index].request for run in (wrong, right) if index < len(run.exchanges)]
    if len(there) < 2:
        return sent(wrong), sent(right)
    place, left, other = smallest("", there[0].body, there[1].body)
    return placed(place, left), placed(place, other)


def heads(wrong: Run, right: Run) -> tuple[str, str]:
    """Returns the difference of the addresses and headers of the first requests. Values of keys are left out."""
    views = [head(run.exchanges[0].request) for run in (wrong, right) if run.exchanges]
    if len(views) < 2 or views[0] == views[1]:
        return "", ""
    place, left, other = smallest("", *views)
    return placed(place, left), placed(place, other)


def head(request: Request) -> Mapping[str, Any]:
    """Returns the query and the headers of a request."""
    _, _, query = request.url.partition("?")
    names = {name.lower() for name in request.headers} - {
        "content-length",
        "host",
        "connection",
        "accept-encoding",
    }
    headers = {name: "…" if SECRET.search(name) else request.headers.get(name, "…") for name in sorted(names)}
    return {"query": re.sub(r"=[^&]*", "=…", query), "headers": headers}


def placed(place: str, value: Any) -> str:
    """Returns a value in JSON under its place."""
    value = NOTHING if value == NOTHING else laid_out(cut(value))
    return "\n".join(filter(None, [place, value]))


def smallest(place: str, left: Any, right: Any) -> tuple[str, Any, Any]:
    """Returns the smallest part in which two values differ."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        keys = [key for key in {**left, **right} if left.get(key, NOTHING) != right.get(key, NOTHING)]
        if len(keys) == 1:
            return smallest(f"{place}/{keys[0]}", left.get(keys[0], NOTHING), right.get(keys[0], NOTHING))
        if keys:
            return place, {k: left[k] for k in keys if k in left}, {k: right[k] for k in keys if k in right}
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        items = [index for index in range(len(left)) if left[index] != right[index]]
        if len(items) == 1:
            return smallest(f"{place}/{items[0]}", left[items[0]], right[items[0]])
    return place, left, right


def told(kind: str, rest: str, run: Run) -> str:
    """Returns what a run has at a place, in words."""
    match kind:
        case "replies":
            place = int(rest.partition("/")[0])
            return "".join(map(reply, run.replies[place : place + 1])) or NOTHING
        case "trouble" if run.trouble:
            return run.trouble.text
        case "varied" | "tool_runs":
            replies = run.replies if kind == "varied" else ()
            return "\n".join([*ran(run), *map(reply, replies)]) or NOTHING
        case "waits":
            return rounded(f"waits {', '.join(map(str, run.waits or ()))} s")
        case "transcript":
            return run.transcript
        case _:
            return written(getattr(run, kind, NOTHING)) if getattr(run, kind, None) else NOTHING


def ran(run: Run) -> list[str]:
    """Returns the runs of tools, one a line."""
    return [f"runs {each.name}({written(each.arguments)[1:-1]})" for each in run.tool_runs]


def reply(reply: Reply) -> str:
    """Returns what the caller got: the text, the value, the sources, the end, the token counts, and the error."""
    value = [f"value {reply.value!r}"] if reply.value is not None else []
    sources = [f"source {each.url} for {each.quote!r}" for each in reply.sources]
    counts = [f"{count} {name}" for name, count in sorted(reply.usage.items()) if count]
    end = [f"stop reason {reply.stop}", *([] if reply.complete else ["incomplete"])]
    pieces = [f"yields {' | '.join(map(repr, reply.pieces))}"] if 0 < len(reply.pieces) < 9 else []
    returned = f"returns {reply.text!r} ({', '.join([*value, *sources, *end, *counts])})"
    return "\n".join([*pieces, returned, *([raised(reply.error)] if reply.error else [])])


def raised(error: BaseException) -> str:
    """Returns an error with the first line of its text."""
    return f"raises {type(error).__name__}: {str(error).splitlines()[0]}"


def written(value: Any) -> str:
    """Returns a value in JSON, with long texts cut; a text that says that there is nothing as it is."""
    text = value if value == NOTHING else json.dumps(cut(value), ensure_ascii=False, default=str)
    return str(text)


def cut(value: Any) -> Any:
    """Returns a value whose texts have at most 80 characters."""
    match value:
        case str():
            return value if len(value) <= 80 else f"{value[:60]}…"
        case Mapping():
            return {key: cut(each) for key, each in value.items()}
        case list() | tuple():
            return [cut(each) for each in value]
    return value


def shortened(text: str) -> str:
    """Returns at most 160 characters."""
    return text if len(text) <= 160 else f"{text[:150].rsplit(' ', 1)[0]} …"


def rounded(text: str) -> str:
    """Returns a text whose numbers have at most two places."""
    return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", text)


if __name__ == "__main__":
    main()
