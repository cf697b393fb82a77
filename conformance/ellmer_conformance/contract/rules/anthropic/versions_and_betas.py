"""API versions and beta features: those that exist, and what a version no longer takes.

The header `anthropic-version` names the version. Behind Vertex AI and Bedrock, the body's `anthropic_version` does.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from ...changes.api_versions import EVERYWHERE, versions
from ...observed.exchange import Json, Request
from ...readers.anthropic import blocks, kept_betas, messages
from ...readers.json_access import items_of, object_of
from ...rule import Finding, broken, met
from ...scope import api_version, matches, named_betas
from .._media import redacted
from .._shape_faults import UNRECORDED
from ._refusals_and_examples import ASK, MUST, REJECT, assistant, body, book, refused, user

__all__ = ["BETAS", "Beta"]

VERSIONING = "https://platform.claude.com/docs/en/api/versioning"
MIGRATION = "https://platform.claude.com/docs/en/api/migration-2026-10-21"
#: The version without sampling parameters, and those that may follow it.
LATEST = ("2026-10-21",)
RELEASED = date(2026, 10, 21)


@book.rule(
    "REQ-120",
    MUST,
    REJECT,
    source=[
        VERSIONING,
        "https://github.com/directus-labs/extensions/issues/285",
        "https://github.com/decolua/9router/issues/1227 (two values in one header)",
    ],
    refusal=refused('anthropic-version: "{version}" is not a valid version'),
    providers=EVERYWHERE,
    examples=[body(ASK, anthropic_version="2023-06-01"), body(ASK, anthropic_version="2026-10-21")],
    counterexamples=[
        body(ASK, anthropic_version="2023-10-01"),
        body(ASK, anthropic_version="2023-06-01, 2023-06-01"),
    ],
)
def the_version_exists(request: Request) -> Iterator[Finding]:
    """The API version exists at this provider.

    Bedrock has `2026-10-21` for Claude 4.7 and newer models. Fix: send `2026-10-21`, or `2023-06-01` for a request that needs the older one. A version is a fixed name. Another date is refused.
    """
    version = api_version(request)
    if version and not redacted(version):
        place = "/anthropic_version" if "anthropic_version" in request.body else ""
        available = versions(request.provider, request.when, request.model)
        fine = version in available
        problem = f"{version!r} is not a version; the versions are {', '.join(available)}"
        yield met(place) if fine else broken(place, problem, version=version)


# --- 2026-10-21 ------------------------------------------------------------------------------------------


NEW = {"anthropic_version": "2026-10-21"}
_CITED = {"type": "char_location", "cited_text": "2 + 3 = 5", "document_index": 0, "document_title": None}
CITATION: Json = {**_CITED, "start_char_index": 0, "end_char_index": 9}
DOCUMENT: Json = {
    "type": "document",
    "source": {"type": "text", "media_type": "text/plain", "data": "2 + 3 = 5"},
}
SAMPLING = ("temperature", "top_p", "top_k")


@book.rule(
    "REQ-122",
    MUST,
    REJECT,
    source=[MIGRATION, "https://qiita.com/Synthorai/items/01a0067e88747257a4e6"],
    refusal=refused("{key}: Extra inputs are not permitted"),
    versions=LATEST,
    since=RELEASED,
    examples=[body(ASK, **NEW)],
    counterexamples=[body(ASK, temperature=1.0, **NEW), body(ASK, top_k=5, **NEW)],
)
def sampling_is_gone(request: Request) -> Iterator[Finding]:
    """From version 2026-10-21 on, a request has no `temperature`, `top_p` or `top_k`, whatever the value and the model.

    Fix: leave them out. A request that needs another temperature sends `anthropic-version: 2023-06-01`.
    """
    keys = [key for key in SAMPLING if request.body.get(key) is not None]
    for key in keys:
        yield broken(f"/{key}", f"this version has no `{key}`", key=key)
    if not keys:
        yield met("")


@book.rule(
    "REQ-123",
    MUST,
    REJECT,
    source=MIGRATION,
    refusal=refused(f"messages.{{index}}: `document` blocks can only be in `user` messages{UNRECORDED}"),
    versions=LATEST,
    since=RELEASED,
    examples=[body(user("Sum it up.", DOCUMENT), **NEW)],
    counterexamples=[body(ASK, assistant(DOCUMENT), ASK, **NEW)],
)
def documents_are_the_users(request: Request) -> Iterator[Finding]:
    """From version 2026-10-21 on, no document stands directly in an assistant message.

    A document inside another block, such as the result of a web fetch, is accepted. Fix: send it in a user message.
    """
    for index, (pointer, message) in enumerate(messages(request.body)):
        for place, block in blocks(message, pointer):
            if block.get("type") == "document":
                wrong = message.get("role") == "assistant"
                problem = "a document is in a message of the assistant"
                yield broken(place, problem, index=index) if wrong else met(place)


@book.rule(
    "REQ-124",
    MUST,
    REJECT,
    source=MIGRATION,
    refusal=refused(f"{{place}}.citations: Extra inputs are not permitted{UNRECORDED}"),
    versions=LATEST,
    since=RELEASED,
    examples=[
        body(user({"type": "text", "text": "Hi", "citations": []}), **NEW),
        body(ASK, assistant({"type": "text", "text": "5", "citations": [CITATION]}), ASK, **NEW),
    ],
    counterexamples=[body(user({"type": "text", "text": "Hi", "citations": [CITATION]}), **NEW)],
)
def users_do_not_cite(request: Request) -> Iterator[Finding]:
    """From version 2026-10-21 on, a text of the user has no citations, neither directly nor in a search result.

    The citations of the model's own texts go back unchanged, and `"citations": {"enabled": true}` stays on documents and
    search results. Fix: remove the citations of the user's texts.
    """
    for pointer, message in messages(request.body):
        if message.get("role") != "user":
            continue
        for place, block in _texts(message, pointer):
            problem = "a text of the user has citations"
            name = place.strip("/").replace("/", ".")
            yield broken(f"{place}/citations", problem, place=name) if block.get("citations") else met(place)


def _texts(message: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yields the texts of a message and of its search results."""
    for place, block in blocks(message, pointer):
        if block.get("type") == "text":
            yield place, block
        elif block.get("type") == "search_result":
            for index, inner in enumerate(items_of(block.get("content"))):
                if isinstance(inner, dict):
                    yield f"{place}/content/{index}", inner


# --- betas -----------------------------------------------------------------------------------------------


_DATED = re.compile(r"-(\d{4})-?(\d{2})-?(\d{2})$")


class Beta(NamedTuple):
    """A beta feature. `unlocks` are the parts of a Messages request that it allows, as `betas.toml` writes them, and
    `models` are those that need its name for them.
    """

    name: str
    unlocks: tuple[str, ...] = ()
    models: str = "*"
    model: str = ""
    endpoint: str = ""
    ended: bool = False

    @property
    def since(self) -> date | None:
        """The day in its name: that of its first version."""
        found = _DATED.search(self.name)
        return date(*map(int, found.groups())) if found else None


@cache
def _read() -> dict[str, Beta]:
    told: dict[str, dict[str, Any]] = tomllib.loads(
        (files("ellmer_conformance.contract.rules.anthropic") / "betas.toml").read_text("utf-8")
    )["beta"]
    return {
        name: Beta(name, **{**each, "unlocks": tuple(each.get("unlocks", ()))}) for name, each in told.items()
    }


#: The beta features by name.
BETAS: Mapping[str, Beta] = _read()


@book.rule(
    "REQ-121",
    MUST,
    REJECT,
    source=[
        "https://platform.claude.com/docs/en/api/beta-headers",
        "https://github.com/anthropics/claude-code/issues/53855",
        "https://github.com/QuantumNous/new-api/issues/2975",
        "https://github.com/router-for-me/CLIProxyAPI/issues/4750 (the words of Bedrock)",
    ],
    formerly=[refused("invalid beta flag")],
    refusal=refused(
        "Unexpected value(s) {names} for the `anthropic-beta` header. Please consult our documentation at "
        "docs.anthropic.com or try again without the header."
    ),
    providers=["anthropic", "vertex"],
    examples=[body(ASK, anthropic_beta=["context-1m-2025-08-07"])],
    counterexamples=[body(ASK, anthropic_beta=["no-such-beta-2026-01-01"])],
)
def betas_exist(request: Request) -> Iterator[Finding]:
    """The header `anthropic-beta` names only beta features that exist.

    `nox -s news` finds new ones in the official SDK. Fix: check the name and its date.
    """
    if told := [name for name in named_betas(request) if not redacted(name)]:
        place = "/anthropic_beta" if "anthropic_beta" in request.body else ""
        unknown = [name for name in told if not _exists(name, request.when)]
        names = ", ".join(f"`{name}`" for name in unknown)
        yield broken(place, f"{names} is not a known beta", names=names) if unknown else met(place)


@book.rule(
    "REQ-126",
    MUST,
    REJECT,
    source="https://platform.claude.com/docs/en/api/beta-headers",
    refusal=refused("{part}: Extra inputs are not permitted"),
    preview=True,  # a refusal is on record for two fields only: REQ-083
    examples=[
        body(ASK, anthropic_beta=["compact-2026-09-04"], compaction={"type": "summarize"}),
        body(ASK, model="claude-opus-5-5", anthropic_beta=["context-1m-2025-08-07"], speed="fast"),
    ],
    counterexamples=[
        body(ASK, compaction={"type": "summarize"}, anthropic_beta=["context-1m-2025-08-07"]),
        body(ASK, model="claude-opus-5", anthropic_beta=["context-1m-2025-08-07"], speed="fast"),
        body(
            ASK,
            tools=[{"type": "mcp_toolset", "mcp_server_name": "a"}],
            anthropic_beta=["compact-2026-09-04"],
        ),
    ],
)
def beta_parts_have_their_beta(request: Request) -> Iterator[Finding]:
    """A part of a request that belongs to a beta feature requires the name of that feature in `anthropic-beta`.

    A request without any beta name is not judged, because a recorder may have dropped its headers. Fix: send the name.
    """
    told = set(named_betas(request))
    if not told or request.provider not in {"", "anthropic"}:
        return
    for pointer, part in _parts(request.body):
        needed = {beta.name for beta in _NEEDED.get(part, ()) if matches(request.model, beta.models)}
        if needed:
            wrong = not told & needed
            names = " or ".join(sorted(needed))
            yield (
                broken(pointer, f"it requires {names}", part=part.partition(":")[2])
                if wrong
                else met(pointer)
            )


_FILED: Json = {"type": "document", "source": {"type": "file", "file_id": "file_011CSoYoHF8saWZ6CPh55555"}}
_VERSION = "2023-06-01"


@book.rule(
    "REQ-128",
    MUST,
    REJECT,
    source=[
        "https://github.com/anthropics/anthropic-sdk-ruby/issues/127",
        "https://github.com/anthropics/anthropic-sdk-ruby/issues/99",
        "https://github.com/pydantic/pydantic-ai/issues/5806",
    ],
    refusal=refused(
        "{place}: Input tag 'file' found using 'type' does not match any of the expected tags: 'base64', 'content', 'text', 'url'"
    ),
    providers=["anthropic"],
    examples=[
        body(user("Sum it up.", _FILED), anthropic_version=_VERSION, anthropic_beta=["files-api-2025-04-14"]),
        body(ASK, anthropic_version=_VERSION),
    ],
    counterexamples=[body(user("Sum it up.", _FILED), anthropic_version=_VERSION)],
)
def files_have_their_beta(request: Request) -> Iterator[Finding]:
    """A source of the type `file` requires `files-api-2025-04-14` in the header `anthropic-beta`, in each request that has it.

    A recording without the header `anthropic-version` is not judged. API versions after 2023-06-01 are not judged either, because no
    refusal is on record for them. Fix: send the header with messages, as with uploads.
    """
    told = kept_betas(request) if api_version(request) == _VERSION else None
    for pointer, message in messages(request.body) if told is not None else ():
        for place, block in blocks(message, pointer):
            if object_of(block.get("source")).get("type") == "file":
                name = f"{place.strip('/').replace('/', '.')}.{block.get('type')}.source"
                fine = "files-api" in str(told)
                yield met(place) if fine else broken(place, "its beta header is missing", place=name)


def _exists(name: str, day: date | None) -> bool:
    """Tells whether a beta exists on a day; `None` means any day."""
    beta = BETAS.get(name)
    return beta is not None and (day is None or beta.since is None or beta.since <= day)


_NEEDED = {
    part: [each for each in BETAS.values() if part in each.unlocks]
    for beta in BETAS.values()
    for part in beta.unlocks
}


def _parts(request: Json) -> Iterator[tuple[str, str]]:
    """Yields the parts of a request that a beta may unlock, as `betas.toml` writes them."""
    for key in request:
        yield f"/{key}", f"field:{key}"
    for key in ("thinking", "output_config"):
        yield from ((f"/{key}/{name}", f"{key}:{name}") for name in object_of(request.get(key)))
    for index, tool in enumerate(items_of(request.get("tools"))):
        yield f"/tools/{index}", f"tool:{object_of(tool).get('type')}"
    for pointer, message in messages(request):
        yield from ((f"{pointer}/{key}", f"message:{key}") for key in message)
        yield from ((place, f"block:{block.get('type')}") for place, block in blocks(message, pointer))
