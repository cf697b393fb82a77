"""Bug reports for the maintainers of a client: one for each cause, in Markdown, ready for their tracker.

A report says what happens in the request, what the API says, how to see it, with which versions, and which rule it is. Whoever sends it has
checked it first: the report says what the strict server says, and not what a real account was told.
"""

from __future__ import annotations

import json
import platform
import re
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, distributions, packages_distributions, version
from pathlib import Path
from textwrap import shorten
from typing import Any

from ...adapters.registered import is_bridge
from ...contract.counts import counted
from ...contract.error_texts.error_bodies import read_error
from ...contract.rule import page_of
from ..causes import Cause, causes
from ..repro_scripts import NotReproducible, as_python
from ..results import Report, Row
from .terminal import cut
from .terminal_escaping import printable

__all__ = ["reports", "title_of"]

_TITLE = 120  # characters
_LONGEST = 300  # characters of what happens
_LINES = 8  # of the request
_WIDEST = 240  # characters of a message of the request
_HISTORY = ("messages", "input", "contents")  # the fields of a request that have its messages
_QUOTES = '"""'
_WORDS_OF_THE_MODEL = re.compile(r"[:,] the model said |, and no request asked for ")
_SDKS = {"anthropic", "google-genai", "openai"}
_BRIDGES = "https://github.com/ellmer-core/ellmer-core/blob/main/conformance/peers/ellmer_peers"
_INSTALLS = "git+https://github.com/ellmer-core/ellmer-core#subdirectory=conformance/peers"
_VARIED = re.compile(r"under [\w:.-]+ \(([^()]*(?:\([^()]*\)[^()]*)*)\), ")  # what was done to the answer
_ANSWERS = (
    "choices",
    "output",
    "content",
    "candidates",
    "error",
)  # the fields of an answer that have its words
#: What differs under a variation, with the words of both answers.
_DIFFERENT = re.compile(r"^(the replies|the tool runs) were .*")
#: The hosts of the providers' documentation.
_DOCUMENTED_AT = {
    "anthropic": ("https://platform.claude.com/", "https://docs.anthropic.com/"),
    "gemini": ("https://ai.google.dev/", "https://cloud.google.com/", "https://docs.cloud.google.com/"),
    "openai-chat": ("https://platform.openai.com/", "https://developers.openai.com/"),
    "openai-responses": ("https://platform.openai.com/", "https://developers.openai.com/"),
}
_TRACKER = "https://github.com/"
_CLAUSE = re.compile(r"[:;,] | \(")


def reports(report: Report) -> Iterator[tuple[str, str]]:
    """Yields a name for the file and the text of each cause's bug report, in the order of the causes. A failure that a baseline
    expects is a bug, too, and what passes although a baseline expects its failure is none.

    Args:
        report: The report of a run.

    Examples:
        >>> list(reports(Report()))
        []
    """
    texts = {(text["wire"], text["id"]): text for text in report.rules}
    for number, cause in enumerate(causes(_without_baseline(report)), 1):
        row = _typical(cause)
        if row.verdict != "harness-error":
            name = f"{number:02}-{row.adapter}-{row.wire}-{row.rule}.md".replace("/", "-").replace(":", "-")
            yield name, "\n\n".join(_parts(report, cause, texts.get((row.wire, row.rule), {}))) + "\n"


def _without_baseline(report: Report) -> Report:
    rows = [replace(row, verdict="fail") if row.verdict == "expected-fail" else row for row in report.rows]
    return replace(report, rows=rows)


def _typical(cause: Cause) -> Row:
    """Returns the first failure in the wire format that has most of them, because formats may fail in ways of their own."""
    [(wire, _)] = Counter(row.wire for row in cause.rows).most_common(1)
    return next(row for row in cause.rows if row.wire == wire)


def title_of(row: Row) -> str:
    """Returns the title of a bug report: what happens, without the words of the model.

    Args:
        row: The failure.
    """
    line = _line(row.message)
    varied = _VARIED.match(line)
    case = f" ({varied[1]})" if varied else ""
    what = _DIFFERENT.sub(r"\1 differ", line[varied.end() if varied else 0 :])
    what = _WORDS_OF_THE_MODEL.split(what, maxsplit=1)[0].rstrip(".")
    place = row.pointer.partition("/request/")[2]
    what = f"{printable(place)}{what.removeprefix('it')}" if place and what.startswith("it ") else what
    return f"{_at_a_clause(f'{row.wire}: {what}', _TITLE - len(case))}{case}"


def _at_a_clause(title: str, most: int) -> str:
    """Returns a title that is short enough: up to the end of a clause in its second half, or else up to a word."""
    if len(title) <= most:
        return title
    ends = [each.start() for each in _CLAUSE.finditer(title[: most + 1])]
    if ends and ends[-1] > most // 2:
        return title[: ends[-1]]
    return shorten(title, most, placeholder=" …")


def _parts(report: Report, cause: Cause, rule: Mapping[str, Any]) -> Iterator[str]:
    row = _typical(cause)
    told = shorten(_VARIED.sub(r"in this case (\1), ", _line(row.message)), _LONGEST, placeholder=" …")
    yield f"# {title_of(row)}"
    yield f"{rule.get('sentence', row.rule)} Here, {told[:1].lower()}{told[1:]}" + "." * (
        not told.endswith(".")
    )
    exchange = report.exchanges.get(row.exchange, {})
    if row.excerpt:
        yield _block(row.excerpt.splitlines()[:_LINES])
    elif sent := _messages(row, exchange):
        yield f"The last messages of the request:\n\n{_block(sent)}"
    yield f"**What the API says.** {_of_the_api(row, exchange)}{_source(row, rule)}"
    if answer := _answer(row, exchange):
        yield f"The answer:\n\n{_block(answer)}"
    yield f"**To see it.** {_found(report, row)}\n\n{_program(report, row)}"
    yield f"At its end, it prints `{row.rule} {printable(row.pointer)}` and what is wrong there."
    yield f"**Versions.** {', '.join(_versions(report, row))}"
    yield f"**Rule.** [{row.rule}]({row.page or page_of(row.rule)}), which has its sources. {_plays(cause)}"


def _source(row: Row, rule: Mapping[str, Any]) -> str:
    """Returns the first source of a rule in the provider's documentation, or else in a tracker: the page of the rule has the others."""
    links = [each.split(" ")[0] for each in rule.get("source", ())]
    own = _DOCUMENTED_AT.get(row.wire, ())
    if documented := next((each for each in links if each.startswith(own)), ""):
        return f" Source: <{documented}>."
    reported = next((each for each in links if each.startswith(_TRACKER)), "")
    return f" See also <{reported}>." if reported else ""


def _answer(row: Row, exchange: Mapping[str, Any]) -> list[str]:
    """Returns the beginning of the answer that a failure is about, if it was accepted and the request is right."""
    if row.pointer.startswith("/exchanges/") or exchange.get("status") != 200:
        return []
    text = str(exchange.get("answer") or "")
    with suppress(ValueError, AttributeError):
        answer = json.loads(text)
        text = json.dumps({name: answer[name] for name in _ANSWERS if name in answer}, ensure_ascii=False)
    lines = [line for line in text.splitlines() if line and not line.startswith("event:")]
    return [cut(line, _WIDEST) for line in lines[:_LINES]]


def _block(lines: Iterable[str]) -> str:
    """Returns lines of the request as a block of Markdown, which none of them ends."""
    text = "\n".join(map(printable, lines)).replace("```", "'''")
    return f"```\n{text}\n```"


def _messages(row: Row, exchange: Mapping[str, Any]) -> list[str]:
    """Returns the last messages of the request that a failure is about, each in a line: what is lost has no place in it."""
    body = exchange.get("body")
    if not row.pointer.startswith("/exchanges/") or not isinstance(body, dict):
        return []
    messages: list[Any] = next((body[name] for name in _HISTORY if isinstance(body.get(name), list)), [])
    return [cut(json.dumps(each, ensure_ascii=False), _WIDEST) for each in messages[-_LINES:]]


def _of_the_api(row: Row, exchange: Mapping[str, Any]) -> str:
    """Returns what the API says by the rule or, if the rule is about more than the refusal, what the server said in the run."""
    if row.rule.startswith("RUN-"):
        return "Nothing: the client fails by itself."
    if row.provider_error:
        return _refusal(row.status, row.provider_error)
    if 400 <= (status := exchange.get("status", 0)) < 500:
        said = exchange["answer"].encode("utf-8", "backslashreplace")
        return _refusal(status, read_error(status, said).message)
    if not row.pointer.startswith("/exchanges/"):
        return "It accepts the request. What goes wrong is what the client makes of the answer."
    return "It accepts the request, so that nobody is told of the loss."


def _refusal(status: int, said: str) -> str:
    line = _line(said)
    return f"It answers {status}: `{line}`{'' if line.endswith('.') else '.'}"


def _found(report: Report, row: Row) -> str:
    """Returns what the program needs: a maintainer has neither the command nor the bridge."""
    asked = report.named.get(row.adapter, row.adapter)
    if is_bridge(asked):
        bridge = f"{_BRIDGES}/{asked.replace('-', '_')}.py"
        return f"Needs `pip install 'ellmer-peers[{asked}] @ {_INSTALLS}'` and no key. <{bridge}> calls the library."
    installed = "`pip install 'ellmer-core[conformance]'`, no key"
    if asked.startswith("command:"):
        return f"Needs {installed}, and `{asked.removeprefix('command:')}`, run from where it is."
    if ":" in asked:
        return f"Needs {installed}, and the adapter `{asked}`."
    return f"Needs {installed}, and the installed package with the adapter `{asked}`."


def _program(report: Report, row: Row) -> str:
    """Returns the script without its header, which says what the report says."""
    try:
        script = as_python(report, row).strip()
    except NotReproducible:
        return f"```sh\n{report.run_command(row)}\n```"
    if script.startswith(_QUOTES):
        script = script.split(_QUOTES, 2)[2].strip()
    return f"```python\n{script}\n```"


def _plays(cause: Cause) -> str:
    """Returns where else it was seen: the number of runs, and the formats."""
    runs = counted(len({row.place for row in cause.rows}), "run")
    return f"Seen in {runs}: {', '.join(sorted({row.wire for row in cause.rows}))}."


def _versions(report: Report, row: Row) -> Iterator[str]:
    """Yields the versions of the client, of this suite and of Python. A command's is asked of its program."""
    asked = report.named.get(row.adapter, "")
    if asked.startswith("command:"):
        yield from _of_command(asked.removeprefix("command:"))
    module = report.named.get(row.adapter, row.adapter).partition(":")[0].partition(".")[0]
    named = [*_packages_of_modules().get(module, ()), *_named_like(row.adapter)]
    for name in dict.fromkeys([row.adapter, *named, "ellmer-core"]):
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            continue
    yield f"Python {platform.python_version()}"


def _named_like(adapter: str) -> list[str]:
    """Returns the installed packages of a client, which may have many (`langchain-core`), and the SDKs that they ask for."""
    ours = re.compile(rf"(^|-){re.escape(adapter)}(-|$)", re.IGNORECASE)
    found = {name: needs for name, needs in _installed().items() if ours.search(name)}
    asked = {re.split(r"[^\w.-]", line, maxsplit=1)[0] for lines in found.values() for line in lines}
    return [*sorted(found), *sorted(asked & _SDKS)]


_packages_of_modules = cache(packages_distributions)  # each reads all packages, for each report


@cache
def _installed() -> dict[str, list[str]]:
    """Returns the installed packages, each with its requirements."""
    return {each.name: each.requires or [] for each in distributions() if each.name}


def _of_command(command: str) -> Iterator[str]:
    """Yields the version of the program that runs a command, and of the packages that a project beside its script pins."""
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        program, *arguments = shlex.split(command)
        said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False)  # noqa: S603 - the program of the run
        yield f"{Path(program).name} {_line(said.stdout or said.stderr)}".strip()
        yield from (each for script in arguments for each in _pinned(Path(script).parent))


def _pinned(folder: Path) -> Iterator[str]:
    """Yields the dependencies in the `package.json` of a Node.js project, with the installed versions."""
    try:
        names = json.loads((folder / "package.json").read_text("utf-8")).get("dependencies", {})
        for name in names:
            installed = folder / "node_modules" / name / "package.json"
            told = json.loads(installed.read_text("utf-8"))["version"] if installed.exists() else names[name]
            yield f"{name} {told}"
    except (OSError, ValueError, KeyError, AttributeError):
        return


def _line(text: str) -> str:
    """Returns the first line of a text that may come from a library or a server."""
    return printable(next(iter(text.splitlines()), ""))
