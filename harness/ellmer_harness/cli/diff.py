"""compare two recordings as conversations

Interactions are paired by method and URL. Differences are named by JSON pointer, and in long strings by the
changed words ([-old-] and {+new+}). The chunks of a stream are joined before the comparison. Headers that
cassettes do not store are ignored, unless --headers is given. The two files may have different formats. The
exit code is 1 if anything differs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from ..display import Events, Media, view
from ..exchange.messages import Headers
from ..recordings import Interaction
from ..secrets.redaction import Scrub, clean_url
from ..tape.miss_explanation import differences
from ._terminal import one, one_line, say


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of the command."""
    parser.add_argument("old", type=Path, metavar="OLD")
    parser.add_argument("new", type=Path, metavar="NEW")
    parser.add_argument("--headers", action="store_true", help="compare all headers except credentials")


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    old, new = one(options.old).interactions, one(options.new).interactions
    keep = Scrub.of(None, ["*"] if options.headers else [])
    lines = [*_all(old, new, keep)]
    for line in lines:
        say(one_line(line))
    if not lines:
        say(f"no difference in {len(old)} interactions")
    return 1 if lines else 0


def _all(old: list[Interaction], new: list[Interaction], keep: Scrub) -> Iterator[str]:
    matcher = SequenceMatcher(None, [*map(_head, old)], [*map(_head, new)], autojunk=False)
    for _, i1, i2, j1, j2 in matcher.get_opcodes():
        pairs = min(i2 - i1, j2 - j1)
        for offset in range(pairs):
            yield from _pair(i1 + offset, old[i1 + offset], j1 + offset, new[j1 + offset], keep)
        yield from (f"- #{at + 1}  {_head(old[at])}" for at in range(i1 + pairs, i2))
        yield from (f"+ #{at + 1}  {_head(new[at])}" for at in range(j1 + pairs, j2))


def _pair(i: int, old: Interaction, j: int, new: Interaction, keep: Scrub) -> Iterator[str]:
    found = [*differences(_comparable(old, keep), _comparable(new, keep))]
    if found:
        yield f"~ #{i + 1}{f' → #{j + 1}' if i != j else ''}  {_head(new)}"
        yield from (f"    {line}" for line in found)


def _head(it: Interaction) -> str:
    return f"{it.method} {clean_url(it.url)}"


def _comparable(it: Interaction, keep: Scrub) -> dict[str, Any]:
    seen = view(it)
    return {
        "request": {
            "method": it.method,
            "url": keep.url(it.url),
            "headers": _headers(keep.request(it.sent)),
            "body": _plain(seen.request),
        },
        "response": {
            "status": it.status,
            "headers": _headers(keep.response(it.headers)),
            "body": _plain(seen.response),
            "error": it.error,
        },
    }


def _headers(headers: Headers) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in headers:
        found[name] = f"{found[name]}, {value}" if name in found else value
    return {name: found[name] for name in sorted(found) if name not in {"content-length", "content-encoding"}}


def _plain(body: Any) -> Any:
    if isinstance(body, Events):
        return [{name or "line": value} for name, value, _ in body.folded]
    return str(body) if isinstance(body, Media) else body
