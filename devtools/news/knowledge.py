"""What knows a name: a profile, the price table, a shape, a decoder, a rule, the strict server.

The lists are data: `known.toml` has the names with what knows them, and `declined.toml` classes of names with a reason.
`python -m devtools.news --note` writes the first list; a human writes the second one.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from .names import KINDS, Name

__all__ = ["DECLINED", "KNOWN", "Declined", "declined", "knower", "known", "written"]

ROOT = Path(__file__).parents[2]
KNOWN, DECLINED = (Path(__file__).with_name(f"{name}.toml") for name in ("known", "declined"))

_CORE, _SUITE = ROOT / "ellmer_core", ROOT / "conformance/ellmer_conformance"
_PROFILES: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("Anthropic",),
    "openai": ("OpenAI",),
    "google": ("Google/Gemini",),
    "mistral": ("Mistral",),
    "cohere": ("Cohere",),
    "groq": ("Groq",),
    "xai": ("xAI",),
    "deepseek": ("DeepSeek",),
    "bedrock": ("AWS/Bedrock",),
}
#: The formats that each provider speaks, by the names of our folders and files.
_FORMATS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("anthropic",),
    "openai": ("openai_chat", "openai_responses", "openai"),
    "google": ("gemini", "vertex", "google"),
    "mistral": ("mistral", "openai_chat"),
    "cohere": ("cohere",),
    "ollama": ("ollama",),
    "groq": ("groq", "openai_chat"),
    "xai": ("xai", "openai_chat", "openai_responses"),
    "bedrock": ("bedrock",),
}


_VERSIONS = {
    ("anthropic", "2023-06-01"): "contract/changes/api_versions.py",
    ("anthropic", "2026-10-21"): "contract/changes/api_versions.py",
    ("google", "v1"): "contract/readers/gemini.py (v1, v1beta and v1alpha are one format)",
    ("bedrock", "2023-09-30"): "contract/shapes/bedrock.json",
}


def knower(name: Name) -> str:
    """Returns the place in this project that has a name, in words, or an empty text."""
    match name.kind:
        case "model":
            return "" if _NO_CHAT.search(name.name) else _profile(name) or _priced(name)
        case "beta":
            return "betas.toml" if name.name in _betas() else ""
        case "version":
            return _VERSIONS.get((name.provider, name.name), "")
        case "endpoint":
            return _served(name)
    return next((place for word in _spellings(name) for place in _places(name.provider).get(word, ())), "")


def _spellings(name: Name) -> Iterable[str]:
    """Returns the name, and for Google the form that it has in JSON."""
    words = name.name.split("_")
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    return (name.name, camel) if name.provider == "google" else (name.name,)


# --- models ----------------------------------------------------------------------------------------------


#: Models that answer no chat request. A human declines them.
_NO_CHAT = re.compile(
    r"embed|whisper|tts|ocr|moderation|imagen|veo-|lyria|orpheus|grok-(voice|imagine)|nano-banana|robotics|gemini-(omni|live)|^gpt-(live|realtime)|gemini-[\d.]+-live"
    r"|transcribe|gpt-image|sora|rosalind-research|speech"
)


def _profile(name: Name) -> str:
    from ellmer_core.models.profiles import rows  # noqa: PLC0415 - tests of the other parts need no library

    found = [
        row["model"]
        for provider in _PROFILES.get(name.provider, ())
        for row in rows(provider)
        if re.search(row["model"], name.name, re.IGNORECASE)
    ]
    special = [pattern for pattern in found if pattern and _names_its_generation(pattern, name.name)]
    return f"profile {special[-1]}" if special else ""


def _names_its_generation(pattern: str, model: str) -> bool:
    """Tells whether a pattern was written for a model's generation: what it matches has the number of the generation.
    Otherwise a new model would silently be taken for an older one. A model without a number is named by its family.
    """
    undated = re.sub(r"-\d{4}-\d{2}-\d{2}|-\d{4,}", "", model)
    number = re.search(r"(?<![a-z\d])\d{1,2}(?![\da-z])([.-]\d{1,2}(?![\da-z]))?", undated)
    named = re.search(pattern, model, re.IGNORECASE)
    return bool(
        named and (number is None or (named.start() <= number.start() and number.end() <= named.end()))
    )


def _priced(name: Name) -> str:
    table: dict[str, Any] = json.loads((_CORE / "models/prices/prices.json").read_text("utf-8"))
    priced = {
        row["model"] for at in _PROFILES.get(name.provider, ()) for row in table["providers"].get(at, ())
    }
    return "prices.json" if name.name in priced else ""


@cache
def _betas() -> frozenset[str]:
    file = _SUITE / "contract/rules/anthropic/betas.toml"
    return frozenset(tomllib.loads(file.read_text("utf-8"))["beta"])


# --- fields, values and types ----------------------------------------------------------------------------


@cache
def _places(provider: str) -> Mapping[str, list[str]]:
    """Returns the words of a provider's shapes, decoders, rules and server, each with the files that have it."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in _files(provider):
        words = _of_json(file) if file.suffix == ".json" else _of_code(file)
        for word in words:
            found[word].append(str(file.relative_to(ROOT)))
    return found


def _files(provider: str) -> Iterable[Path]:
    """Yields the files in which a name counts as known, the most telling ones first."""
    formats = _FORMATS.get(provider, ())
    for name in formats:
        yield from (_SUITE / "contract/shapes").glob(f"{name.replace('_', '-')}.json")
    for name in formats:
        for folder in (_CORE / "wire" / name, _SUITE / "contract/rules" / name):
            yield from sorted(folder.glob("**/*.py"))
    for folder in (
        _CORE / "wire/shared",
        _SUITE / "contract/rules/_openai",
        _SUITE / "contract/provider_answers",
    ):
        yield from sorted(folder.glob("*.py"))
    for name in formats:
        for beside in (
            "contract/readers",
            "contract/rules/openai_chat/providers",
            "server/chat_apis",
            "server/services",
        ):
            yield from sorted((_SUITE / beside).glob(f"**/{name}*.py"))
        yield from sorted((_CORE / "providers").glob(f"{name}*.py"))
    yield _SUITE / "server/services/pages.py"
    yield _SUITE / "contract/changes/api_versions.py"


def _of_json(file: Path) -> set[str]:
    found: set[str] = set()
    _collect(json.loads(file.read_text("utf-8")), found)
    return found


def _collect(value: Any, found: set[str]) -> None:
    if isinstance(value, dict):
        found.update(value)
        for each in value.values():
            _collect(each, found)
    elif isinstance(value, list):
        for each in value:
            _collect(each, found)
    elif isinstance(value, str):
        found.add(value)


@cache
def _of_code(file: Path) -> set[str]:
    """Returns the text constants of a module, and the words of those that list some."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
            if re.fullmatch(r"[\w. -]+", node.value):
                found.update(node.value.split())
        if isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
    return found


# --- endpoints -------------------------------------------------------------------------------------------

_CHAT = re.compile(
    r"/(chat/completions|responses|messages|chat)$|v[12]/chat$|/api/(chat|generate)$|enerateContent$"
    r"|/(converse|converse-stream|invoke|invoke-with-response-stream)$"
)


def _served(name: Name) -> str:
    if _CHAT.search(name.name) and not re.search(r"/(realtime|conversations|agents|threads)/", name.name):
        return "rules of a chat endpoint"
    path = re.sub(
        r"^/?(?:openai/)?(?:v\d\w*/)?|\{[^}]*\}", lambda found: "{}" if "{" in found[0] else "", name.name
    )
    for served, known in _endpoints():
        if path == known or path.startswith(f"{known}/"):
            return f"strict server, {'answered' if served and path == known else 'answered with 501'}"
    return ""


@cache
def _endpoints() -> tuple[tuple[bool, str], ...]:
    from ellmer_conformance.server.services import endpoints  # noqa: PLC0415 - as above

    plain = re.compile(r"^/?(?:v\d\w*/)?|\{[^}]*\}")
    found = [
        (served, plain.sub(lambda part: "{}" if "{" in part[0] else "", path).strip("/"))
        for _, _, path, served in endpoints()
    ]
    return tuple(sorted({each for each in found if each[1]}, key=lambda each: -len(each[1])))


# --- the lists -------------------------------------------------------------------------------------------


class Declined(NamedTuple):
    """A class of names that are not for this project, and the reason. Empty fields do not restrict it."""

    because: str
    provider: str = ""
    kind: str = ""
    names: tuple[str, ...] = ("*",)
    files: tuple[str, ...] = ("*",)

    def covers(self, name: Name) -> bool:
        """Tells whether a name is of this class."""
        return (
            self.provider in {"", name.provider}
            and self.kind in {"", name.kind}
            and any(fnmatchcase(name.name, pattern) for pattern in self.names)
            and any(fnmatchcase(name.file, pattern) for pattern in self.files)
        )


def declined(file: Path = DECLINED) -> list[Declined]:
    """Returns the declined classes of a list."""
    told: list[dict[str, Any]] = tomllib.loads(file.read_text("utf-8")).get("declined", [])
    return [
        Declined(**{key: tuple(value) if isinstance(value, list) else value for key, value in each.items()})  # type: ignore[arg-type]  # the names are its fields
        for each in told
    ]


def known(file: Path = KNOWN) -> tuple[dict[str, str], dict[tuple[str, str, str], str]]:
    """Returns the releases that a list was made of, and its names with what knows them."""
    if not file.is_file():
        return {}, {}
    told = tomllib.loads(file.read_text("utf-8"))
    names = {
        (provider, kind, name): by
        for provider, kinds in told.get("known", {}).items()
        for kind, knowers in kinds.items()
        for by, listed in knowers.items()
        for name in listed
    }
    return told.get("releases", {}), names


def written(releases: Mapping[str, str], names: Mapping[tuple[str, str, str], str]) -> str:
    """Returns the list as TOML: for each provider, kind and knower its names."""
    lines = [
        "# The names that the providers' packages have, with what knows each. `python -m devtools.news --note` writes this.",
        "",
        "[releases]",
        *(f"{json.dumps(package)} = {json.dumps(release)}" for package, release in sorted(releases.items())),
    ]
    groups: dict[tuple[str, int], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (provider, kind, name), by in names.items():
        groups[provider, KINDS.index(kind)][by].append(name)
    for (provider, number), knowers in sorted(groups.items()):
        lines += ["", f"[known.{provider}.{json.dumps(KINDS[number])}]"]
        for by, listed in sorted(knowers.items()):
            lines += [f"{json.dumps(by)} = [", *_wrapped(sorted(listed)), "]"]
    return "\n".join([*lines, ""])


def _wrapped(names: Iterable[str]) -> Iterable[str]:
    line = ""
    for name in names:
        word = f"{json.dumps(name, ensure_ascii=False)},"
        if line and len(line) + len(word) > 116:
            yield line
            line = ""
        line = f"{line} {word}" if line else f"  {word}"
    if line:
        yield line
