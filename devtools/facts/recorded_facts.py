"""Derives what recordings prove about models: `python -m devtools.facts.recorded_facts`.

It reads the corpus, the folders of `CONFORMANCE_TRAFFIC`, and the repositories that `devtools.recordings.public_recordings` fetched
into the folder `CONFORMANCE_PUBLIC`. It writes `facts/recorded.json`, which has no bodies: for each model and feature, whether
the API accepted or refused it, where that was recorded, on which day, and the error's text. It writes `facts/most_used.json`,
too: the thirty models that the recordings of most projects use.
"""

# ruff: noqa: T201 - it prints
from __future__ import annotations

import json
import os
import re
import tomllib
from collections import defaultdict
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ellmer_conformance.contract import rules
from ellmer_conformance.contract.observed.exchange import Request
from ellmer_conformance.facts.features import found
from ellmer_conformance.recordings.corpus import pins
from ellmer_conformance.recordings.recorded_requests import Recording, Skip, opened, read, refusal, request_of
from ellmer_harness.recordings import Unreadable, find

from ..recordings.public_recordings import PINS
from . import answer_facts

FILE = Path(__file__).parents[2] / "conformance/ellmer_conformance/facts/recorded.json"
#: Texts of refusals that say that a model or an API does not have something, and not that a value is wrong.
_LACKS = re.compile(
    r"support|unknown (parameter|name|field)|unrecognized|extra inputs|not permitted|deprecated|not available|is not allowed"
    r"|does not accept|not enabled|property '.*' is unsupported|adaptive",
    re.IGNORECASE,
)
#: Texts that say that a value, a file or a combination is wrong: the model may well have the feature.
_VALUES = re.compile(
    r"unsupported value|effort level|mime type|file data|schema (format|contains)|stream=true|thinking mode|url sources"
    r"|reasoning_effort=|file uri|unsupported image|s3uri|extraneous key|multipleof|unknown parameter: .*\[|extra inputs are not permitted, field",
    re.IGNORECASE,
)
#: Models of a server that the recorder did not name (OpenAI has no such model), and agents, which are no models.
_ELSEWHERE = re.compile(r"openai .*(gpt-oss|muse-spark)|mistral ag_")
_PRIVATE = re.compile(r"localhost|[\d.]+|.*\.local|.*pydantic.*|compatible|openai-compatible|")
_KEPT = 1  # recordings for each model, feature and verdict

_MOST = 30  # models that are the most used

Row = tuple[str, str, str, str, str]  # verdict, link, pointer, day, words
Users = dict[
    tuple[str, str, str], set[str]
]  # by wire format, provider and model, the projects whose recordings use it


def main() -> None:
    """Reads all recordings and writes the file."""
    facts: dict[str, dict[str, set[Row]]] = defaultdict(lambda: defaultdict(set))
    users: Users = defaultdict(set)
    for link, recording in recordings():
        if link.endswith(_INVENTED):
            continue
        request = request_of(recording)
        if isinstance(request, Skip) or _PRIVATE.fullmatch(request.provider):
            continue
        if _ELSEWHERE.match(f"{request.provider} {request.model}"):
            continue
        if request.wire not in rules.WIRES or not re.fullmatch(r"[\w./:@-]{2,90}", request.model):
            continue
        users[request.wire, request.provider, request.model].add(_project(link))
        for feature, verdict, pointer, words in _proved(request, recording):
            day = recording.when.isoformat() if recording.when else ""
            where = f"{request.wire} {request.provider} {request.model}"
            facts[where][feature].add((verdict, link, pointer, day, words))
    for where in _listed():
        facts[where] = facts.get(where, defaultdict(set))
    written = {
        where: {f: _kept(rows) for f, rows in sorted(each.items())} for where, each in sorted(facts.items())
    }
    FILE.write_text(_lines(written), "utf-8")
    FILE.with_name("most_used.json").write_text(_most_used(users), "utf-8")
    print(f"{sum(map(len, written.values())):,} pairs of a model and a feature are in {FILE}.")


def _project(link: str) -> str:
    """Returns the name of the project that a recording belongs to. Forks have the name of the original."""
    parts = link.split("/")
    return parts[4].lower()


def _most_used(users: Users) -> str:
    """Returns the models that most projects use, as lines of JSON: wire format, provider, model and the number of projects.

    A model is there with each wire format that at least two projects use.
    """
    models: dict[tuple[str, str], set[str]] = defaultdict(set)
    for (_, provider, model), names in users.items():
        if not _NO_CHAT.search(model):
            models[provider, model] |= names
    found = sorted(models, key=lambda where: (-len(models[where]), where))[:_MOST]
    places = [
        [*place, len(names)]
        for place, names in sorted(users.items())
        if place[1:] in found and len(names) > 1
    ]
    rows = ",\n".join(f" {json.dumps(place)}" for place in places)
    return f"[\n{rows}\n]\n"


def _kept(rows: set[Row]) -> list[Row]:
    """Returns the newest recordings of each verdict."""
    kept: list[Row] = []
    for verdict in ("yes", "no", "limit"):
        of_it = sorted(
            (row for row in rows if row[0] == verdict), key=lambda row: (row[3], row[1]), reverse=True
        )
        kept += of_it[:_KEPT]
    return kept


def _lines(facts: dict[str, Any]) -> str:
    """Returns JSON with one line for each model and feature, so that a diff shows what changed."""
    models = []
    for where, each in facts.items():
        rows = ",\n".join(
            f"  {json.dumps(name)}: {json.dumps(r, ensure_ascii=False)}" for name, r in each.items()
        )
        models.append(f" {json.dumps(where)}: {{\n{rows}\n }}")
    return "{\n" + ",\n".join(models) + "\n}\n"


def _proved(request: Request, recording: Recording) -> Iterator[tuple[str, str, str, str]]:
    """Yields the features that the answer proves something about: feature, verdict, pointer, words."""
    status, error = recording.status or 0, refusal(recording)
    try:
        used = found(request)
    except (AttributeError, TypeError, KeyError, ValueError):
        return  # a malformed request
    if error is None and 200 <= status < 300:
        yield from ((feature, "yes", pointer, "") for feature, pointer in used.items())
        yield from ((each, "yes", "", "") for each in answer_facts.shown(request.wire, recording.response))
    elif error is not None and 400 <= error.status < 500 and _LACKS.search(error.message):
        blamed = _blamed(request)
        verdict = "limit" if _VALUES.search(error.message) else "no"
        for feature, pointer in used.items():
            if any(pointer and place.startswith(pointer) for place in blamed):
                yield feature, verdict, pointer, " ".join(error.message.split())[:300]


def _blamed(request: Request) -> list[str]:
    """Returns the places that the rule that refuses the request finds wrong."""
    book = rules.book(request.wire, request.provider)
    for verdict in book.judge(request):
        if verdict.rule.refuses and verdict.violations:
            return [violation.pointer for violation in verdict.violations]
    return []


# --- Models of the newest SDKs ---------------------------------------------------------------------------


_WIRES = {
    "anthropic": [("anthropic", "anthropic")],
    "openai": [("openai-chat", "openai"), ("openai-responses", "openai")],
    "google": [("gemini", "google")],
    "mistral": [("mistral", "mistral")],
    "cohere": [("cohere", "cohere")],
    "xai": [("openai-chat", "xai")],
    "groq": [("openai-chat", "groq")],
}
_NO_CHAT = re.compile(
    r"embed|whisper|tts|dall-e|image|imagen|veo|moderation|realtime|transcri|live|rerank|davinci|babbage|ada|sora|lyria"
    r"|audio|claude-v?\d|instruct|aqa|ocr|speech|omni|robotics|video"
)


def _listed() -> Iterator[str]:
    """Yields the models that the newest SDKs name, so that what is unknown of them is shown. Google's names Claude, which
    Vertex AI serves in Anthropic's format.
    """
    known = tomllib.loads((Path(__file__).parents[1] / "news/known.toml").read_text("utf-8"))["known"]
    for provider, places in _WIRES.items():
        for names in known.get(provider, {}).get("model", {}).values():
            for name in names:
                if not _NO_CHAT.search(name) and not (provider == "google" and name.startswith("claude")):
                    yield from (f"{wire} {host} {name}" for wire, host in places)


# --- Recordings with their public address ----------------------------------------------------------------


def recordings(wanted: Container[str] | None = None) -> Iterator[tuple[str, Recording]]:
    """Yields the recordings of the corpus, of the traffic and of the public repositories, each with its public address.

    Args:
        wanted: The addresses of the files to read. Default: all.
    """
    for link, path in _files():
        if wanted is None or link in wanted:
            yield from ((link, each) for each in _read(path))
    if public := os.environ.get("CONFORMANCE_PUBLIC"):
        yield from _public(Path(public), wanted)


def _files() -> Iterator[tuple[str, Path]]:
    for pin in pins.load(pins.shipped()):
        if pins.present(pin):
            folder = pins.folder_of(pin)
            yield from ((pin.link(str(path.relative_to(folder))), path) for path in find([folder]))
    for top in filter(None, os.environ.get("CONFORMANCE_TRAFFIC", "").split(os.pathsep)):
        for path in find([Path(top)]):
            if path.suffix == ".json" and (link := _link(path)):
                yield link, path


#: Files of real recorders that somebody wrote by hand: their ids and fingerprints are invented.
_INVENTED = ("tests/contrib/litellm/cassettes/completion_reasoning.yaml",)
#: Formats that a recorder writes. A file of another format without a day may be written by hand.
_RECORDERS = {"vcrpy", "pydantic-ai", "VCR", "httpmock"}


def _public(top: Path, wanted: Container[str] | None) -> Iterator[tuple[str, Recording]]:
    """Yields the recordings of the pinned public repositories that are there."""
    for repo, commit in json.loads(PINS.read_text("utf-8")).items():
        folder = top / repo.replace("/", "+") / commit[:12]
        for path in find([folder]) if folder.is_dir() else ():
            link = f"https://github.com/{repo}/blob/{commit}/{quote(str(path.relative_to(folder)))}"
            recorded = _read(path) if wanted is None or link in wanted else []
            if any(each.when for each in recorded) or (recorded and _format(path) in _RECORDERS):
                yield from ((link, each) for each in recorded)


def _format(path: Path) -> str:
    found = opened(path)
    return found[0] if found else ""


def _read(path: Path) -> list[Recording]:
    try:
        return list(read(path) or ())
    except (Unreadable, ValueError):
        return []


def _link(path: Path) -> str:
    """Returns the public address of a record's source: its repository, commit and path."""
    try:
        source = json.loads(path.read_text("utf-8"))["source"]
        return f"https://github.com/{source['repo']}/blob/{source['commit']}/{quote(source['path'])}"
    except (ValueError, KeyError, TypeError):
        return ""


if __name__ == "__main__":
    main()
