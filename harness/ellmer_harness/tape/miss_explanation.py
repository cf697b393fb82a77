"""The explanation of a miss: the nearest recording, the first differences, and the command to record again.

Differences are named by JSON pointer, and in long strings by the changed words. All shown data is scrubbed,
because requests are scrubbed before the lookup.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .request_key import RequestKey

if TYPE_CHECKING:
    from .cassette_index import CassetteIndex

__all__ = ["changes", "command", "differences", "nearest", "rerecord_command", "word_diff"]


_SHOWN = 5
_CANDIDATES = 40
_CONTEXT = 5  # words, on each side of a change


def nearest(index: CassetteIndex, ask: RequestKey, path: Path) -> str:
    """Returns the paragraph about the closest recording and its differences from the request."""
    if not len(index):
        return "The cassette is empty."
    if spent := index.played(ask):
        return (
            f"It was recorded {len(spent)} time{'s' * (len(spent) > 1)}, and each recording was played already; "
            "the run asks once more (on_repeat='last' would play it again)."
        )
    places = sorted(range(len(index.keys)), key=lambda place: bool(index.play_counts[place]))[:_CANDIDATES]
    wanted = _leaves(_parsed(ask))
    score, place = max((_likeness(wanted, index.keys[place], ask), -place) for place in places)
    place = -place
    state = "played already" if index.play_counts[place] else "not played yet"
    found = list(islice(changes(index.keys[place], ask), _SHOWN + 1))
    shown = [f"\n  {line}" for line in found[:_SHOWN]] + ["\n  …"] * (len(found) > _SHOWN)
    return (
        f"Nearest recording: #{place + 1} of {len(index.keys)}{_line(path, place)}, {state}, "
        f"{score:.0%} alike. Recorded [-so-], now {{+so+}}:" + "".join(shown)
    )


_TO_DO = {
    "record": "To record it:",
    "rewrite": "To record it again:",
    "update": "To record what has changed (rewrite instead of update records all of it again):",
}


def command(rerecord: str | None, mode: str = "rewrite") -> str:
    """Returns the sentence that says how to record, in one of three modes. `rerecord` is the caller's own command."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" (")[0]
    default = rerecord_command(test) if test else "CASSETTE_MODE=rewrite <the command of this run>"
    found = rerecord or default
    told = found.replace("-mode=rewrite", f"-mode={mode}").replace("MODE=rewrite", f"MODE={mode}")
    return f"{_TO_DO[mode if told != found else 'rewrite']}\n  {told}"


def rerecord_command(test: str) -> str:
    """Returns the shell command that records one test again."""
    quoted = test.replace("'", r"'\''")
    return f"pytest '{quoted}' --cassette-mode=rewrite"


def differences(old: Any, new: Any, pointer: str = "") -> Iterator[str]:
    """Yields a line for each difference between two JSON values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from _item(old, new, key, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(old, list) and isinstance(new, list):
        yield from _list_differences(old, new, pointer)
    elif isinstance(old, str) and isinstance(new, str) and old != new:
        yield f"~ {pointer or '/'}: {word_diff(old, new)}"
    elif old != new or type(old) is not type(new):
        yield f"~ {pointer or '/'}: [-{_short(old)}-]{{+{_short(new)}+}}"


def word_diff(old: str, new: str) -> str:
    """Returns the first changed words between two texts: `…seven eight [-nine-]{+ten+} eleven…`."""
    a, b = (re.findall(r"\s+|[^\s]+", text) for text in (old, new))
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    # Past the first change a window will do: the texts may be long, and only the beginning is shown.
    window = SequenceMatcher(None, a[start : start + 60], b[start : start + 60], autojunk=False)
    i1, i2, j1, j2 = next((op[1:] for op in window.get_opcodes() if op[0] != "equal"), (0, 0, 0, 0))
    head = a[max(0, start + i1 - 2 * _CONTEXT) : start + i1]
    tail = a[start + i2 : start + i2 + 2 * _CONTEXT]
    gone, come = ("".join(words[start + x : start + y]) for words, x, y in ((a, i1, i2), (b, j1, j2)))
    change = (f"[-{_cut(gone)}-]" if gone else "") + (f"{{+{_cut(come)}+}}" if come else "")
    before = "…" * (start + i1 > 2 * _CONTEXT) + "".join(head)
    return _visible(before + change + "".join(tail) + "…" * (start + i2 + 2 * _CONTEXT < len(a)))


def _item(old: dict[str, Any], new: dict[str, Any], key: str, pointer: str) -> Iterator[str]:
    if key not in new:
        yield f"- {pointer}: {_short(old[key])}"
    elif key not in old:
        yield f"+ {pointer}: {_short(new[key])}"
    else:
        yield from differences(old[key], new[key], pointer)


def _list_differences(old: list[Any], new: list[Any], pointer: str) -> Iterator[str]:
    a, b = ([json.dumps(item, sort_keys=True) for item in items] for items in (old, new))
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        pairs = min(i2 - i1, j2 - j1)
        for offset in range(pairs):
            yield from differences(old[i1 + offset], new[j1 + offset], f"{pointer}/{j1 + offset}")
        yield from (f"- {pointer}/{i}: {_short(old[i])}" for i in range(i1 + pairs, i2))
        yield from (f"+ {pointer}/{j}: {_short(new[j])}" for j in range(j1 + pairs, j2))


def changes(recorded: RequestKey, ask: RequestKey) -> Iterator[str]:
    """Yields a line for each difference from the recording."""
    (method, url, headers), (method_now, url_now, headers_now) = recorded.head, ask.head
    for name, old, new in (("method", method, method_now), ("url", url, url_now)):
        if old != new:
            yield f"~ {name}: {word_diff(old, new)}" if name == "method" else f"~ url: [-{old}-]{{+{new}+}}"
    yield from (f"header {line}" for line in differences(dict(headers), dict(headers_now)))
    yield from differences(_parsed(recorded), _parsed(ask))


def _parsed(ask: RequestKey) -> Any:
    """Returns the body as JSON, or else as text."""
    text = ask.body.decode(errors="replace")
    try:
        return json.loads(text)
    except ValueError:
        return text


def _leaves(value: Any, pointer: str = "") -> dict[str, str]:
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {path: leaf for key, item in items for path, leaf in _leaves(item, f"{pointer}/{key}").items()}
    return {pointer: repr(value)}


def _likeness(wanted: dict[str, str], recorded: RequestKey, ask: RequestKey) -> float:
    """Returns the similarity of two requests, from 0 to 1."""
    have = _leaves(_parsed(recorded))
    same = sum(have.get(path) == leaf for path, leaf in wanted.items())
    heads = sum(x == y for x, y in zip(recorded.head, ask.head, strict=True))
    return (same + heads) / (max(len(wanted), len(have)) + len(ask.head))


def _line(path: Path, place: int) -> str:
    """Returns the line at which an interaction begins in a file of ours."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    starts = [number for number, line in enumerate(lines, 1) if line == "    {"]
    return f" ({path}:{starts[place]})" if place < len(starts) else ""


def _short(value: Any) -> str:
    return _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str, most: int = 160) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def _visible(text: str) -> str:
    return text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
