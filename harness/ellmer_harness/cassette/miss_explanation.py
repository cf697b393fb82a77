"""The explanation of a miss: the nearest recording, the first differences, and the command to record again.

Differences are named by JSON pointer, and in long strings by the changed words. All shown data is scrubbed,
because requests are scrubbed before the lookup.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import SequenceMatcher
from email.parser import BytesParser
from email.policy import HTTP
from hashlib import sha256
from itertools import islice, takewhile
from os.path import commonprefix
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from ..format.blobs import kind_of
from .request_key import RequestKey, without_number

if TYPE_CHECKING:
    from .cassette_index import CassetteIndex

_SHOWN = 5
_CANDIDATES = 40
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_CONTEXT = 5  # words, on each side of a change
_AN_ID = re.compile(r"[0-9a-f]{12}")
_ANOTHER_VALUE = re.compile(r"~ (/\S+): \[-(\S+)-\]\{\+(\S+)\+\}")


def nearest(index: CassetteIndex, ask: RequestKey, path: Path) -> str:
    """Returns the paragraph about the closest recording and its differences from the request."""
    if not len(index):
        return "The cassette is empty."
    if spent := index.played(ask):
        return (
            f"It was recorded {len(spent)} time{'s' * (len(spent) > 1)}, and each recording was replayed already; "
            "the run asks once more (on_repeat='last' would replay it again)."
        )
    places = sorted(range(len(index.keys)), key=lambda place: bool(index.play_counts[place]))[:_CANDIDATES]
    wanted = _leaves(_parsed(ask))
    score, place = max((_likeness(wanted, index.keys[place], ask), -place) for place in places)
    place = -place
    state = "replayed already" if index.play_counts[place] else "not replayed yet"
    found = _changes(index.keys[place], ask)
    shown = [f"\n  {visible(line)}" for line in found[:_SHOWN]] + ["\n  …"] * (len(found) > _SHOWN)
    return (
        f"Nearest recording: #{place + 1} of {len(index.keys)}{_line(path, place)}, {state}, "
        f"{score:.0%} alike. Recorded [-so-], now {{+so+}}:" + "".join(shown) + _if_random(found)
    )


def _changes(recorded: RequestKey, ask: RequestKey) -> list[str]:
    try:
        return list(islice(changes(recorded, ask), _SHOWN + 1))
    except RecursionError:
        return ["~ body: it nests too deeply to be compared"]


def _if_random(changed: list[str]) -> str:
    """Returns the advice for values that are another random text in each run, or nothing."""
    ids = [_ANOTHER_VALUE.fullmatch(line) for line in changed]
    pointers = tuple(found[1] for found in ids if found and all(map(_AN_ID.search, found.groups()[1:])))
    if not pointers or len(pointers) < len(ids):
        return ""
    return f"\nIf that differs in each run, do not compare it: match=Match(ignore={pointers})"


_TO_DO = {
    "record": "To record it:",
    "rewrite": "To record it again:",
    "update": "To record what has changed (use rewrite instead of update to record everything again):",
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
        yield f"~ {pointer or 'body'}: {word_diff(old, new)}"
    elif old != new or type(old) is not type(new):
        yield f"~ {pointer or 'body'}: [-{_short(old)}-]{{+{_short(new)}+}}"


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
    change = (f"[-{shortened(gone)}-]" if gone else "") + (f"{{+{shortened(come)}+}}" if come else "")
    before = "…" * (start + i1 > 2 * _CONTEXT) + "".join(head)
    return visible(before + change + "".join(tail) + "…" * (start + i2 + 2 * _CONTEXT < len(a)))


def _item(old: dict[str, Any], new: dict[str, Any], key: str, pointer: str) -> Iterator[str]:
    if key not in new:
        yield f"- {pointer}: {_short(old[key])}"
    elif key not in old:
        yield f"+ {pointer}: {_short(new[key])}"
    else:
        yield from differences(old[key], new[key], pointer)


def _list_differences(old: list[Any], new: list[Any], pointer: str) -> Iterator[str]:
    a, b = ([json.dumps(item, sort_keys=True) for item in items] for items in (old, new))
    for i1, i2, j1, j2 in blocks(a, b):
        if a[i1:i2] == b[j1:j2]:
            continue
        pairs = min(i2 - i1, j2 - j1)
        for offset in range(pairs):
            yield from differences(old[i1 + offset], new[j1 + offset], f"{pointer}/{j1 + offset}")
        yield from (f"- {pointer}/{i}: {_short(old[i])}" for i in range(i1 + pairs, i2))
        yield from (f"+ {pointer}/{j}: {_short(new[j])}" for j in range(j1 + pairs, j2))


_MOST = 1_000_000  # comparisons of two texts


def blocks(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yields the beginning and end of the blocks that belong together. Between an equal beginning and an equal end, many
    texts are one block, because the time for the comparison grows with the square of their number.
    """
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    backwards = zip(reversed(old[same:]), reversed(new[same:]), strict=False)
    end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], backwards))
    i, j = len(old) - end, len(new) - end
    yield 0, same, 0, same
    if (i - same) * (j - same) > _MOST:
        yield same, i, same, j
    else:
        matcher = SequenceMatcher(None, old[same:i], new[same:j], autojunk=False)
        for _, i1, i2, j1, j2 in matcher.get_opcodes():
            yield i1 + same, i2 + same, j1 + same, j2 + same
    yield i, len(old), j, len(new)


def changes(recorded: RequestKey, ask: RequestKey) -> Iterator[str]:
    """Yields a line for each difference from the recording."""
    (method, url, headers), (method_now, url_now, headers_now) = recorded.head, ask.head
    if method != method_now:
        yield f"~ method: {word_diff(method, method_now)}"
    if url != url_now or recorded.parameters != ask.parameters:
        yield from _url_changes(recorded.request.uri, ask.request.uri)
    for place in recorded.differing_values(ask):
        yield f"~ {place}: it has another value, which is masked"
    yield from (f"header {line}" for line in differences(dict(headers), dict(headers_now)))
    old, new = _parsed(recorded), _parsed(ask)
    if isinstance(old, bytes) or isinstance(new, bytes):
        yield from _binary_changes(recorded.body, ask.body)
    elif found := [*differences(old, new)]:
        yield from found
    elif recorded.digest != ask.digest and recorded.head == ask.head:
        yield from _spelling_changes(recorded.body, ask.body)


def _url_changes(old: str, new: str) -> Iterator[str]:
    """Yields a line for each changed parameter, in the order in which they are sent, and one for the rest of the URL."""
    places: list[str] = []
    queries: list[dict[str, Any]] = []
    for url in (old, new):
        place, _, query = url.partition("?")
        places.append(place)
        queries.append(_fields(parse_qsl(query.partition("#")[0], keep_blank_values=True)))
    if places[0] != places[1]:
        yield f"~ url: [-{shortened(places[0])}-]{{+{shortened(places[1])}+}}"
    yield from (f"parameter {line}" for line in differences(queries[0], queries[1]))


def _fields(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Returns fields by name; the values of a name that occurs more than once are a list."""
    found: dict[str, list[Any]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def _binary_changes(old: bytes, new: bytes) -> Iterator[str]:
    """Yields a line with lengths and the first difference of two bodies of which one is not text."""
    if old != new:
        at = next(
            (at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
        )
        yield (
            f"~ body: [-{_size(old)}-]{{+{_size(new)}+}}, the first difference is at byte {at}: "
            f"[-{old[at : at + 8].hex(' ') or 'the end'}-]{{+{new[at : at + 8].hex(' ') or 'the end'}+}}"
        )


def _spelling_changes(old: bytes, new: bytes) -> Iterator[str]:
    """Yields a line with the first difference of two bodies with equal values: a name that occurs twice, or a number that is too large."""
    at = max(0, len(commonprefix([old, new])) - _CONTEXT)  # noqa: RUF071  # of bytes, not of paths
    before, after = (body[at : at + 3 * _CONTEXT].decode(errors="replace") for body in (old, new))
    if before != after:
        yield f"~ body, from byte {at}: [-{visible(before)}-]{{+{visible(after)}+}}"


def _parsed(ask: RequestKey) -> Any:
    """Returns the body as JSON, as the fields of a form, as the parts of a multipart body, as text, or as bytes."""
    content_type = ask.content_type.lower()
    if content_type.startswith("multipart/") and (parts := _parts(ask.body, ask.content_type)):
        return parts
    try:
        text = ask.body.decode()
    except UnicodeDecodeError:
        return ask.body
    if content_type.startswith("application/x-www-form-urlencoded"):
        return _fields(parse_qsl(text, keep_blank_values=True))
    try:
        return without_number(json.loads(text))
    except (ValueError, RecursionError):
        return ask.body if _CONTROL.search(text) else text


def _parts(body: bytes, content_type: str) -> dict[str, Any]:
    """Returns the parts of a multipart body by name. A part that is not text is its length and the beginning of its hash."""
    message = BytesParser(policy=HTTP).parsebytes(f"content-type: {content_type}\r\n\r\n".encode() + body)
    found = []
    for number, part in enumerate(message.iter_parts() if message.is_multipart() else (), 1):
        data = part.get_payload(decode=True)
        name = part.get_param("name", header="content-disposition") or f"part {number}"
        found.append((str(name), _part(data if isinstance(data, bytes) else b"")))
        if file_name := part.get_filename():
            found.append((f"{name}: the name of the file", file_name))
    return _fields(found)


def _part(data: bytes) -> str:
    with suppress(UnicodeDecodeError):
        if not _CONTROL.search(text := data.decode()):
            return text
    return f"{_size(data)}, sha256 {sha256(data).hexdigest()[:8]}…"


def _size(data: bytes) -> str:
    """Returns the length, and the kind of a media file."""
    kind = kind_of(data)
    return f"{len(data)} bytes" if kind == "bin" else f"{len(data)} bytes of {kind}"


def _leaves(value: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    left = [("", value)]
    while left:
        pointer, item = left.pop()
        if isinstance(item, dict | list) and item:
            items = item.items() if isinstance(item, dict) else enumerate(item)
            left += [(f"{pointer}/{key}", each) for key, each in items]
        else:
            found[pointer] = repr(item)
    return found


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
    return shortened(json.dumps(value, ensure_ascii=False))


def shortened(text: str, most: int = 160) -> str:
    """Returns the beginning of a long text, with the length of the whole."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def visible(text: str) -> str:
    """Returns a text from outside on one line, whose control characters are shown."""
    named = text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", named)
