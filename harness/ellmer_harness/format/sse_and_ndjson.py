"""Line-framed streams, one event per entry: server-sent events and newline-delimited JSON.

An event is a mapping of its fields in order: `{"event": "ping", "data": {…}}`. Data that is not a JSON object
or array is `"text"`, a comment line is `"comment"`, and `"pad"` counts spaces before the last brace. An event
that cannot be restored from these keys is `{"raw": "…"}`. `"style"` of the body holds the words of
`jsontext`, and `crlf` and `tight` (no space after the colon). An event with another spelling has its own
style.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

from .json_text import Spelled, parse_compact, parse_many, parse_text, spell

Form = dict[str, Any]
_BLANK = re.compile(r"\r\n\r\n|\n\n|\r\r")
_PAD = re.compile(r"(?<! )( +)([}\]])\Z")
_FIELDS = ("event", "id", "retry")
_FRAMING = ("crlf", "tight")
_WORDS = frozenset(("[DONE]",))
_DONE = b',{"text":"[DONE]"}'


def split_events(text: str) -> list[str]:
    """Splits the text after each blank line. The joined parts are the text."""
    if "\r" not in text:  # many times as quick
        *ended, rest = text.split("\n\n")
        return [f"{event}\n\n" for event in ended] + ([rest] if rest else [])
    cuts = [match.end() for match in _BLANK.finditer(text)]
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    return [piece for piece in pieces if piece]


def parse(body: bytes) -> Form | None:
    """Returns the form of an event stream, or `None` if it is not UTF-8 or has no readable event."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return None
    framing = _framing_of(text)
    blocks, hint, found = split_events(text), "", []
    for block in blocks:
        event, hint = _event(block, framing, hint)
        found.append((event, hint))
    if all("raw" in event for event, _ in found):
        return None
    styles = [" ".join(filter(None, (*framing, own))) for own in dict.fromkeys(own for _, own in found)]
    style = styles[0] if len(styles) == 1 else max(styles, key=partial(_spelled, found, blocks))
    events = [_proven(event, own, block, style) for (event, own), block in zip(found, blocks, strict=True)]
    return {"sse": events, "style": style} if style else {"sse": events}


def parse_quickly(body: bytes) -> Form | None:
    """Returns the form of a stream whose events are all spelled alike. Their JSON is read, written and compared at once."""
    return _parse_plainest(body) or _parse_alike(body)


def _parse_plainest(body: bytes) -> Form | None:
    """Returns the form of a stream that is compact JSON behind `data: `, and perhaps `[DONE]`: the bytes are compared as they are."""
    begin, end = b"data: ", b"\n\n"
    found = body[len(begin) : -len(end)].split(end + begin)
    if not (body.startswith(begin) and body.endswith(end) and body.count(b"\n") == 2 * len(found)):
        return None
    done = [found.pop()] if found[-1] == b"[DONE]" else []
    json = parse_compact(b"[" + b",".join(found) + b"]")
    # As many marks as there are between the events: none is inside of one, and each event is a value by itself.
    if json is None or len(json["json"]) != len(found) or json.text.count(b"},{") != len(found) - 1:
        return None
    if {*map(type, json["json"])} != {dict}:
        return None
    form = Spelled(sse=[{"data": each} for each in json["json"]] + [{"text": "[DONE]"} for _ in done])
    form.text = (
        b'[{"data":' + json.text[1:-1].replace(b"},{", b'}},{"data":{') + b"}" + _DONE * len(done) + b"]"
    )
    return form


def _parse_alike(body: bytes) -> Form | None:
    try:
        text = body.decode()
        framing = _framing_of(text)
        data = _unnamed(text, *_framing(framing))
        names, data = ((), data) if data else _named(text, *_framing(framing))
        values, style = parse_many([each for each in data if each[:1] == "{"])
    except ValueError:
        return None
    json = iter(values)
    events: list[Form] = [{"data": next(json)} if each[:1] == "{" else {"text": each} for each in data]
    if any(name is not None for name in names):
        pairs = zip(names, events, strict=True)
        events = [event if name is None else {"event": name, **event} for name, event in pairs]
    words = " ".join(filter(None, (*framing, style)))
    if words:
        return {"sse": events, "style": words}
    form = Spelled(sse=events)
    if not any(names) and len(values) == len(data):
        form.text = ("[" + ",".join([f'{{"data":{each}}}' for each in data]) + "]").encode()
    return form


def plain_event(block: str) -> Form:
    """Returns the form of an event of a stream in the plain style. Raises `ValueError` if its JSON has another style."""
    event, own = _event(block, [], "")
    if own:
        raise ValueError("its JSON has another style")
    return _proven(event, "", block, "")


def write(form: Form) -> bytes:
    """Returns the bytes of an event stream."""
    style = form.get("style", "")
    return "".join(_text(event, style) for event in form["sse"]).encode()


def parse_lines(body: bytes) -> Form | None:
    """Returns the form of newline-delimited JSON: `{"ndjson": [value, …]}`. Lines that are not JSON objects
    are raw.
    """
    try:
        lines = body.decode().split("\n")
    except UnicodeDecodeError:
        return None
    end, found, style = lines.pop(), [], ""
    for line in lines:
        value = parse_text(line, style)
        style = value[1] if value else style
        found.append(value[0] if value and isinstance(value[0], dict) and "raw" not in value[0] else None)
    values = [
        {"raw": line} if value is None or spell(value, style) != line else value
        for value, line in zip(found, lines, strict=True)
    ]
    if all("raw" in value for value in values):
        return None
    form: Form = {"ndjson": values, "style": style, "end": end}
    return {key: value for key, value in form.items() if key == "ndjson" or value}


def write_lines(form: Form) -> bytes:
    """Returns the bytes of newline-delimited JSON."""
    style = form.get("style", "")
    lines = [value["raw"] if "raw" in value else spell(value, style) for value in form["ndjson"]]
    return "\n".join([*lines, form.get("end", "")]).encode()


def _spelled(found: list[tuple[Form, str]], blocks: list[str], style: str) -> int:
    """Returns how many of the blocks the style restores."""
    return sum(_text(event, style) == block for (event, _), block in zip(found, blocks, strict=True))


def _proven(event: Form, own: str, block: str, style: str) -> Form:
    """Returns the event in the body's style or in its own style. It is raw if neither restores the exact
    text.
    """
    candidates = (event, {**event, "style": own or "compact"})
    return next((each for each in candidates if _text(each, style) == block), {"raw": block})


def _framing_of(text: str) -> list[str]:
    lines = f"\n{text}"
    tight = lines.count("\ndata:") - lines.endswith("\ndata:") > lines.count("\ndata: ")
    return ["crlf"] * ("\r\n" in text) + ["tight"] * tight


@cache
def _whole(eol: str, gap: str) -> re.Pattern[str]:
    """Returns the pattern of an event with a name or none, and with its data on one line: JSON or a word such as `[DONE]`."""
    return re.compile(rf"(?:event:{gap}([^\n]*){eol})?data:{gap}(\[DONE\]|(?!\[)[^\n]*){eol}{eol}")


def _unnamed(text: str, eol: str, gap: str) -> Sequence[str]:
    """Returns the data of all events. Returns an empty list if an event has other fields or more than one line of data."""
    begin, end = f"data:{gap}", eol * 2
    if not (text.startswith(begin) and text.endswith(end)):
        return ()
    found = text[len(begin) : -len(end)].split(end + begin)
    one_line = text.count("\n") == text.count(eol) == 2 * len(found)
    return found if one_line and _WORDS.issuperset(each for each in found if each[:1] == "[") else ()


def _named(text: str, eol: str, gap: str) -> tuple[Sequence[str | None], Sequence[str]]:
    """Returns the names of the events, `None` where there is none, and their data on one line.

    Raises:
        ValueError: An event has another form.
    """
    found = [*map(_whole(eol, gap).fullmatch, split_events(text))]
    if not found or None in found:
        raise ValueError
    names, data = zip(*(event.groups() for event in found if event), strict=True)
    return names, data


def _event(block: str, framing: list[str], hint: str) -> tuple[Form, str]:
    """Returns an event and the JSON style of its data. Without JSON, it is the style of the hint."""
    eol, gap = _framing(framing)
    if not block.endswith(eol * 2):
        return {"raw": block}, hint
    event: Form = {}
    for line in block[: -2 * len(eol)].split(eol):
        name, _, value = line.partition(":" + gap if line[:1] != ":" else ":")
        if name == "data" and not event.keys() & {"data", "text"}:
            hint = _data(value, event, hint)
        elif name in _FIELDS and name not in event:
            event[name] = value
        elif not name and "comment" not in event:
            event["comment"] = value
        else:
            return {"raw": block}, hint
    return event, hint


def _data(value: str, event: Form, hint: str) -> str:
    pad = _PAD.search(value) if value[-2:-1] == " " else None
    found = parse_text(value, hint) or (parse_text(value[: pad.start()] + pad[2], hint) if pad else None)
    if found is None or not isinstance(found[0], dict | list):
        event["text"] = value
        return hint
    event["data"] = found[0]
    if pad and spell(*found) != value:
        event["pad"] = len(pad[1])
    return found[1]


def _text(event: Form, style: str) -> str:
    if "raw" in event:
        return str(event["raw"])
    words = style.split()
    eol, gap = _framing(words)
    json_style = event.get("style") or " ".join(word for word in words if word not in _FRAMING)
    return "".join(line + eol for line in _lines(event, gap, json_style)) + eol


def _lines(event: Form, gap: str, json_style: str) -> Iterator[str]:
    for name, value in event.items():
        match name:
            case "data":
                text = spell(value, json_style)
                yield f"data:{gap}{text[:-1]}{' ' * event.get('pad', 0)}{text[-1]}"
            case "text":
                yield f"data:{gap}{value}"
            case "comment":
                yield f":{value}"
            case "pad" | "style":
                pass
            case _:
                yield f"{name}:{gap}{value}"


def _framing(words: list[str]) -> tuple[str, str]:
    return "\r\n" if "crlf" in words else "\n", "" if "tight" in words else " "
