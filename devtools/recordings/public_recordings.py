"""Lints the recordings of public repositories: what was judged in which format, crashes, false exits, false alarms.

    python -m devtools.recordings.public_recordings FOLDER [--mirrors DIR] [--only NAME …] [--table FILE]

`public_recordings.json` pins each repository to a commit. Its content stays in FOLDER and is never committed. A
violation in a request that the recorded API accepted is a false alarm, and so the table counts and names each. A loss is
none: its rule is about data that the API does not miss. The table counts losses apart. A run that
ends with 2 is a false exit if its report has neither a damaged recording nor more missed than judged requests, and yet has
a recording. Each reader that the linter names must judge a request in its home repository.
"""

# ruff: noqa: S603, S607, T201 - it runs git and the linter, and prints

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

Json = dict[str, Any]
SUFFIXES = (".json", ".yaml", ".yml", ".har", ".jsonl", ".ndjson", ".httprr", ".rec")
PINS = Path(__file__).with_suffix(".json")
MAX_BYTES = 50 * 1024**2  # of a file
#: A repository whose recorder, or whose recordings, a reader was made for.
HOMES = {
    "vcrpy": "langchain-ai/langchain-azure",
    "pydantic-ai": "pydantic/pydantic-ai",
    "langchain": "langchain-ai/langchain-aws",
    "VCR": "crmne/ruby_llm",
    "braintrust": "braintrustdata/braintrust-sdk-javascript",
    "httprr": "tmc/langchaingo",
    "httpmock": "0xPlaygrounds/rig",
    "WireMock": "braintrustdata/braintrust-sdk-java",
    "Azure's test proxy": "openai/openai-dotnet",
    "llama-stack": "llamastack/llama-stack",
    "DataDog's .rec": "DataDog/dd-trace-java",
    "HAR": "traceloop/openllmetry-js",
    "a record": "DataDog/dd-trace-js",
    "records": "open-telemetry/opentelemetry-js-contrib",
    "a log": "alexrudall/ruby-openai",
    "a pair of files": "braintrustdata/lingua",
}
BESIDE = ("blobs", "__files", "__cassettes__", "files", "data", "fixtures", "cassettes")  # bodies in files

# --- Files of a commit -----------------------------------------------------------------------------------


def fetched(
    repo: str, commit: str, folder: Path, mirrors: Path | None, beside: tuple[str, ...] = BESIDE
) -> Path:
    """Returns the folder with the recordings of a commit. It is fetched once.

    Args:
        repo: `owner/name` on GitHub.
        commit: The full hash.
        folder: Where the files go.
        mirrors: A folder with bare repositories named `owner+name/repo`, used instead of GitHub. Default: None.
        beside: Names of the folders whose files of text and bytes are fetched, too. Default: `BESIDE`.

    Returns:
        The folder of the files.

    Raises:
        CalledProcessError: If git fails.
    """
    target = folder / repo.replace("/", "+") / commit[:12]
    if not (target / ".complete").exists():
        mirror = mirrors and mirrors / repo.replace("/", "+") / "repo"
        git = mirror if mirror and mirror.exists() else _from_github(repo, commit, folder)
        _written(git, commit, target, beside)
        (target / ".complete").touch()
    return target


def _from_github(repo: str, commit: str, folder: Path) -> Path:
    git = folder / ".git-cache" / repo.replace("/", "+")
    git.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "--bare", "--quiet", git], check=True)
    url = f"https://github.com/{repo}"
    subprocess.run(["git", "-C", git, "fetch", "--quiet", "--depth", "1", url, commit], check=True)
    return git


def _written(git: Path, commit: str, target: Path, beside: tuple[str, ...]) -> None:
    """Writes the files that may be recordings, and the files with their bodies."""
    target.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(
        ["git", "-C", git, "ls-tree", "-r", "-l", "-z", commit], check=True, capture_output=True
    )
    asked = []
    for line in listed.stdout.decode(errors="surrogateescape").split("\0"):
        about, _, name = line.partition("\t")
        if about and _is_wanted(name, *about.split(), beside=beside):
            asked.append((about.split()[2], name))
    with subprocess.Popen(
        ["git", "-C", git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as cat:
        if cat.stdin is None or cat.stdout is None:
            raise RuntimeError("git cat-file has no pipes")
        for blob, name in asked:
            cat.stdin.write(blob.encode() + b"\n")
            cat.stdin.flush()
            header = cat.stdout.readline().split()
            if header[1:2] != [b"blob"]:
                continue
            data = cat.stdout.read(int(header[2]) + 1)[:-1]
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        cat.stdin.close()


def _is_wanted(name: str, mode: str, kind: str, _: str, size: str, *, beside: tuple[str, ...]) -> bool:
    path = PurePosixPath(name)
    here = size.isdigit() and int(size) <= MAX_BYTES  # a mirror may leave out the largest files
    plain = kind == "blob" and mode.startswith("100") and here and ".." not in path.parts
    recorded = path.name.lower().removesuffix(".gz").endswith(SUFFIXES)
    body = path.suffix in {".bin", ".txt", ".json", ""} and any(
        part in beside or part.endswith(".blobs") for part in path.parts[:-1]
    )
    return plain and (recorded or body)


# --- What the linter says --------------------------------------------------------------------------------


@dataclass
class Tally:
    """The counts of a format or of a repository."""

    files: int = 0
    judged: int = 0
    others: int = 0
    missed: int = 0
    crashes: int = 0
    unreadable: int = 0
    alarms: int = 0
    losses: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, file: Json) -> None:
        """Adds a file of a report."""
        problem = file["problem"] or ""
        crashed = problem.startswith("it cannot be judged")
        missed = sum(count for reason, count in file["skipped"].items() if reason in file["missed"])
        self.files += bool(file["format"])
        self.judged += sum(wire["judged"] for wire in file["wires"].values())
        self.crashes += crashed
        self.unreadable += bool(problem) and not crashed
        self.alarms += len(alarms(file))
        self.losses += len(alarms(file, lost=True))
        self.missed += missed
        self.others += sum(file["skipped"].values()) - missed if file["format"] else 0
        self.reasons.update(file["skipped"])

    @property
    def share(self) -> str:
        """The share of the requests to models that were judged."""
        asked = self.judged + self.missed
        return f"{100 * self.judged / asked:.1f} %" if asked else "–"


def linted(folder: Path) -> Json:
    """Returns the report of `conformance lint` about a folder, in a process of its own."""
    command = [str(Path(sys.executable).with_name("conformance")), "lint", str(folder), "--format", "json"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if not done.stdout.startswith("{"):
        raise RuntimeError(f"the linter crashed on {folder}: {done.stderr[-2000:]}")
    report: Json = json.loads(done.stdout)
    if report["exit_code"] != done.returncode:
        raise RuntimeError(
            f"the linter ended with {done.returncode} on {folder}, and its report says otherwise"
        )
    return report


def reason(report: Json) -> str:
    """Returns why a run ended as it did, and `FALSE` if its own report does not show the reason."""
    judged = sum(wire["judged"] for wire in report["wires"].values())
    damaged = sum(bool(file["problem"]) for file in report["files"])
    broken = sum(wire["violations"] for wire in report["wires"].values())
    recordings = any(file["format"] for file in report["files"])
    match report["exit_code"]:
        case 0:
            return "every rule is kept" if judged else "no request to a chat endpoint"
        case 1:
            return f"{broken} violations" if broken else "FALSE"
        case 2 if damaged:
            return f"{damaged} damaged files"
        case 2 if report["missed"] > judged:
            return f"{report['missed']} missed, {judged} judged"
        case 2 if not recordings:
            return "no recording"
    return "FALSE"


def alarms(file: Json, *, lost: bool = False) -> list[str]:
    """Returns the violations in requests that the recorded API accepted, one line each: of rules about refusals, or about
    losses.
    """
    return [
        f"{file['path']} {c['place']}{c['pointer']} {c['rule']} "
        f"[{c['wire']} {c['provider']} {c['model']}] {c['message']}"
        for c in file["complaints"]
        if c["outcome"] == "violation" and 200 <= (c["answered"] or 0) < 300 and (c["kind"] == "loss") is lost
    ]


def table(title: str, rows: dict[str, Tally], exits: dict[str, str] | None = None) -> str:
    """Returns a Markdown table."""
    more = " exit |" if exits else ""
    lines = [
        f"| {title} | files | judged | other requests | not judged | share judged | crashes | damaged | false alarms | losses |{more}",
        "| --- " + "| ---: " * 9 + "|" + " --- |" * bool(exits),
    ]
    for name, t in rows.items():
        cells = (t.files, t.judged, t.others, t.missed, t.share, t.crashes, t.unreadable, t.alarms, t.losses)
        ended = [exits[name]] if exits else []
        lines.append(f"| {name} | " + " | ".join(map(str, [*cells, *ended])) + " |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Lints every pinned repository, and prints the tables and each crash, damaged file and false alarm."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mirrors", type=Path)
    parser.add_argument("--only", nargs="*", default=[""])
    parser.add_argument("--table", type=Path)
    options = parser.parse_args(arguments)
    repos: dict[str, Tally] = {}
    forms: dict[str, Tally] = {}
    homes: dict[str, set[str]] = {}
    exits: dict[str, str] = {}
    for repo, commit in json.loads(PINS.read_text()).items():
        if not any(name in repo for name in options.only):
            continue
        top = fetched(repo, commit, options.folder, options.mirrors)
        result = linted(top)
        for file in result["files"]:
            repos.setdefault(repo, Tally()).add(file)
            if file["format"] or file["problem"]:
                forms.setdefault(file["format"] or "damaged", Tally()).add(file)
            if any(wire["judged"] for wire in file["wires"].values()):
                homes.setdefault(file["format"], set()).add(repo)
            told = [*alarms(file), *([f"{file['path']}: {file['problem']}"] if file["problem"] else [])]
            print(*told, sep="\n", end="\n" * bool(told), flush=True)
        exits[repo] = f"{result['exit_code']}: {reason(result)}"
        print(f"{repo}: {exits[repo]}", file=sys.stderr, flush=True)
        ordered = dict(sorted(forms.items(), key=lambda item: -item[1].judged))
        if options.table:
            text = f"{table('format', ordered)}\n\n{table('repository', repos, exits)}\n"
            options.table.write_text(text)
    missed = sum((t.reasons for t in repos.values()), Counter())
    print(*(f"{count:6}  {why}" for why, count in missed.most_common(60)), sep="\n")
    away = [
        f"{form}: judged nothing in {home}"
        for form, home in HOMES.items()
        if home in repos and home not in homes.get(form, set())
    ]
    print(*away, sep="\n", end="\n" * bool(away))
    failed = away or any("FALSE" in text for text in exits.values())
    return int(bool(failed) or any(t.crashes or t.alarms for t in repos.values()))


if __name__ == "__main__":
    sys.exit(main())
