"""compare two recordings as conversations

Interactions are paired by method and URL. Differences are named by JSON pointer, and in long strings by the
changed words ([-old-] and {+new+}). The chunks of a stream are joined before the comparison. Headers that
cassettes do not store are ignored, unless --headers is given. The two files may have different formats. If OLD
and NEW are folders, recordings with the same name are compared.

The last line counts the differences by kind:

  ids      ids, times and token counts                                    exit code 10
  wording  texts                                                          exit code 11
  order    the same requests in another order                             exit code 12
  tools    tool calls and their arguments                                 exit code 13
  shape    all other differences, and requests that only one side has     exit code 14

If there are several kinds, the exit code is the highest of those that are not allowed.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..cassette.miss_explanation import blocks, differences
from ..display import Events, Media, view
from ..exchange.messages import Headers
from ..recordings import Interaction, Unreadable
from ..recordings.interaction import joined
from ..secrets.quoted_keys import forms_of_keys, sent_keys, text_without_keys
from ..secrets.redaction import Scrub, clean_url
from ._terminal import complain, one, one_line, recordings, say

CODES = "Exit code 0: no difference, or only allowed ones; 10 to 14: see above; 2: usage error, or a file cannot be read."


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of the command."""
    parser.add_argument("old", type=Path, metavar="OLD", help="a recording, or a folder of them")
    parser.add_argument("new", type=Path, metavar="NEW", help="another recording, or another folder")
    parser.add_argument("--headers", action="store_true", help="compare all headers except credentials")
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        choices=KINDS,
        metavar="KIND",
        help=f"allow differences of this kind: one of {', '.join(KINDS)} (repeatable)",
    )


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    keep = Scrub.of(None, ["*"] if options.headers else [])
    found: Counter[str] = Counter()
    damaged: list[Unreadable] = []
    total = 0
    for name, old, new in _sides(options.old, options.new, damaged):
        lines = [*_differences(old, new, keep)]
        for line in [name, *lines] if name and lines else lines:
            say(one_line(line))
        found += _counted(old, new, keep)
        total += len(old)
    kinds = [f"{kind} {found[kind]}{' (allowed)' * (kind in options.allow)}" for kind in KINDS if found[kind]]
    say(f"differences by kind: {', '.join(kinds)}" if kinds else f"no difference in {total} interactions")
    for each in damaged:
        complain(one_line(each))
    codes = (code for kind, code in EXIT_CODES.items() if kind in found.keys() - {*options.allow})
    return 2 if damaged else max(codes, default=0)


def _sides(
    old: Path, new: Path, damaged: list[Unreadable]
) -> Iterator[tuple[str, list[Interaction], list[Interaction]]]:
    """Yields the name of each recording in two folders, with its interactions in both. For two files, the name is empty. A
    recording that cannot be read is added to `damaged`, and not compared.
    """
    if not (old.is_dir() and new.is_dir()):
        yield "", one(old).interactions, one(new).interactions
        return
    before, now = _inside(old), _inside(new)
    for name in sorted(before.keys() | now.keys()):
        one_side, other = before.get(name, []), now.get(name, [])
        damaged += (side for side in (one_side, other) if isinstance(side, Unreadable))
        if not (isinstance(one_side, Unreadable) or isinstance(other, Unreadable)):
            yield name, one_side, other


def _inside(folder: Path) -> dict[str, list[Interaction] | Unreadable]:
    found = recordings([folder], "reading")
    return {
        path.relative_to(folder).as_posix(): each if isinstance(each, Unreadable) else each.interactions
        for path, each in found
    }


Pair = tuple[int | None, int | None]


def _paired(old: list[Interaction], new: list[Interaction]) -> Iterator[Pair]:
    """Yields the places of the interactions that belong together; None on the side that has none."""
    for i1, i2, j1, j2 in blocks([*map(_head, old)], [*map(_head, new)]):
        pairs = min(i2 - i1, j2 - j1)
        yield from ((i1 + offset, j1 + offset) for offset in range(pairs))
        yield from ((at, None) for at in range(i1 + pairs, i2))
        yield from ((None, at) for at in range(j1 + pairs, j2))


def _differences(old: list[Interaction], new: list[Interaction], keep: Scrub) -> Iterator[str]:
    for i, j in _paired(old, new):
        if i is not None and j is not None:
            yield from _pair(i, old[i], j, new[j], keep)
        elif i is not None:
            yield f"- #{i + 1}  {_head(old[i])}"
        elif j is not None:
            yield f"+ #{j + 1}  {_head(new[j])}"


def _pair(i: int, old: Interaction, j: int, new: Interaction, keep: Scrub) -> Iterator[str]:
    found = [*differences(_comparable(old, keep), _comparable(new, keep))]
    if found:
        yield f"~ #{i + 1}{f' → #{j + 1}' if i != j else ''}  {_head(new)}"
        yield from (f"    {line}" for line in found)


def _head(it: Interaction) -> str:
    return f"{it.method} {clean_url(it.url)}"


def _comparable(it: Interaction, keep: Scrub) -> dict[str, Any]:
    """Returns an exchange as a value without the keys that it sends, wherever it or its answer quotes them."""
    seen, keys = view(it), forms_of_keys(sent_keys(it.url, it.sent))
    found = {
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
    return _without_keys(found, keys) if keys else found


def _without_keys(value: Any, keys: list[bytes]) -> Any:
    if isinstance(value, str):
        return text_without_keys(value, keys)
    if isinstance(value, dict):
        return {_without_keys(name, keys): _without_keys(each, keys) for name, each in value.items()}
    return [_without_keys(each, keys) for each in value] if isinstance(value, list) else value


def _headers(headers: Headers) -> dict[str, str]:
    found = joined(headers)
    return {name: found[name] for name in sorted(found) if name not in {"content-length", "content-encoding"}}


def _plain(body: Any) -> Any:
    if isinstance(body, Events):
        return [{name or "line": value} for name, value, _ in body.folded]
    return str(body) if isinstance(body, Media) else body


# --- Kinds of differences --------------------------------------------------------------------------------


EXIT_CODES = {"ids": 10, "wording": 11, "order": 12, "tools": 13, "shape": 14}
"""The kinds of differences, the least first, and the exit code of each."""
KINDS = (*EXIT_CODES,)
_ID_NAME = re.compile(
    r"(.*[_-])?(id|ids|uuid|guid|created|created_?at|expires_?at|updated_?at|timestamp|time|date|fingerprint|etag|nonce)"
    r"|\w*(Id|Time|Timestamp|[Tt]okens|TokenCount)",
)
_ID_VALUE = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|[0-9a-f]{16,}"
    r"|[a-z]{2,12}(_[a-z]{2,8})?[_-](?=\w*\d)[A-Za-z0-9]{8,}"
    r"|\d{4}-\d\d-\d\d[T ][\d:.]+(Z|[+-]\d\d:?\d\d)?"
)
_TOOL_KEYS = {"tool_calls", "tool_call", "function_call", "functionCall", "toolUse", "tool_use"}
_TOOL_TYPES = {"tool_use", "function_call", "tool_call", "function", "input_json_delta", "server_tool_use"}


def _counted(old: list[Interaction], new: list[Interaction], keep: Scrub) -> Counter[str]:
    """Returns how many differences there are of each kind."""
    pairs = [*_paired(old, new)]
    gone = defaultdict[str, deque[int]](deque)
    for i, j in pairs:
        if i is not None and j is None:
            gone[_head(old[i])].append(i)
    come = [j for i, j in pairs if j is not None and i is None]
    found: Counter[str] = Counter()
    for j in come:  # the same request at another place has only moved
        moved = gone[_head(new[j])]
        found["order" if moved else "shape"] += 1
        if moved:
            pairs.append((moved.popleft(), j))
    found["shape"] += sum(map(len, gone.values()))
    for before, now in pairs:
        if before is not None and now is not None:
            same = _head(old[before]) == _head(new[now])
            sides = _comparable(old[before], keep), _comparable(new[now], keep)
            found.update(_kinds(*sides) if same else ["shape"])
    return +found


def _kinds(old: Any, new: Any, name: str = "", *, tool: bool = False) -> Iterator[str]:
    """Yields the kind of each difference between two JSON values."""
    if isinstance(old, dict) and isinstance(new, dict):
        tool = tool or _is_tool(old) or _is_tool(new)
        for key in old.keys() | new.keys():
            within = tool or key in _TOOL_KEYS
            if key in old and key in new:
                yield from _kinds(old[key], new[key], key, tool=within)
            else:
                yield "tools" if within else "shape"
    elif isinstance(old, list) and isinstance(new, list):
        for old_item, new_item in zip(old, new, strict=False):
            yield from _kinds(old_item, new_item, name, tool=tool)
        for item in old[len(new) :] + new[len(old) :]:
            yield "tools" if tool or _calls(item) else "shape"
    elif old != new or type(old) is not type(new):
        yield _kind(old, new, name, tool=tool)


def _kind(old: Any, new: Any, name: str, *, tool: bool) -> str:
    alike = type(old) is type(new)
    if alike and isinstance(old, str | int | float) and _ID_NAME.fullmatch(name):
        return "ids"
    if isinstance(old, str) and isinstance(new, str):
        if _ID_VALUE.fullmatch(old) and _ID_VALUE.fullmatch(new):
            return "ids"
        if not tool and name not in {"method", "url", "error", "role", "type", "model"}:
            return "wording"
    return "tools" if tool else "shape"


def _calls(item: Any) -> bool:
    return isinstance(item, dict) and (_is_tool(item) or bool(_TOOL_KEYS & item.keys()))


def _is_tool(item: dict[str, Any]) -> bool:
    return isinstance(item.get("type"), str) and item["type"] in _TOOL_TYPES
