"""Mutations of a text: of its bytes, of its tokens, and of its values if it is JSON."""

import json
import re
import tomllib
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import tomlkit
import yaml

SECRET = "outside/secret.txt"
TEXTS = [
    *(
        "",
        "x",
        "\ud83d",
        "\x1b[2J",
        "\x1b]52;c;aGk=\x07",
        "\u202egnp.exe",
        "a\r::error::b",
        "::error::b",
        "\n::set-env::b",
    ),
    *(
        "\n##[error]b",
        "/etc/passwd",
        f"../{SECRET}",
        f"../../{SECRET}",
        "file:///etc/passwd",
        "/dev/zero",
        "a\x00b",
    ),
    *(
        "{0.__class__}",
        "%s%n",
        "$(touch outside/x)",
        "<script>alert(1)</script>",
        "javascript:alert(1)",
        "9" * 5000,
        "é" * 300,
    ),
    *(
        "[" * 300,
        "\\",
        '"',
        "'''",
        "&a [*a]",
        "!!python/object/apply:os.system [id]",
        "1e999",
        "0001-01-01",
        "~",
        "2027-13-45",
    ),
]
VALUES: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        10**30,
        1.5,
        float("inf"),
        float("nan"),
        [],
        {},
        [[]],
        [None],
        {"": None},
        {"a": {}},
        *TEXTS,
    ),
    *(
        {"$ref": "#"},
        {"$record": 1},
        {"$bytes": "!"},
        {"$float": "inf"},
        {"$map": [[{}, 1]]},
        {"__class__": "x"},
    ),
]
TOKENS = [
    *(
        b"null",
        b"1e999",
        b"-",
        b"[]",
        b"{}",
        b"[[x]]",
        b"=",
        b":",
        b",",
        b'"',
        b"\n",
        b"\r",
        b"\x00",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
    ),
    *(
        b"[" * 500,
        b'{"a":' * 500,
        b"- " * 300,
        b"<<: *a",
        b"&a",
        b"*a",
        b"|\n",
        b"9" * 5000,
        b"\xed\xa0\xbd",
        b"!!binary aGk=",
    ),
    *(
        b"a.b.c = 1",
        b"1979-05-27",
        b'"""',
        b"x = [",
        b"# \x1b[2J",
        b'"\\ud83d"',
        b'"\\u001b[2J"',
        b'"\\n::error::b"',
        b"inf",
    ),
]
_TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|[\w.+-]+|\s+|.', re.DOTALL)


def mutated(data: bytes, chance: Random) -> bytes:
    """Returns the bytes with one to four errors."""
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        data = chance.choice([_bytes, _tokens, _values, _values])(data, chance)
    return data


def _bytes(data: bytes, chance: Random) -> bytes:
    at, size = chance.randrange(len(data) + 1), chance.choice([1, 1, 8, 64, 512])
    cut = data[at : at + size]
    middle = chance.choice([b"", cut * 2, cut[::-1], bytes([chance.randrange(256)]), chance.choice(TOKENS)])
    return data[:at] if chance.random() < 0.1 else data[:at] + middle + data[at + size :]


def _tokens(data: bytes, chance: Random) -> bytes:
    tokens = _TOKEN.findall(data) or [b""]
    at, other = chance.randrange(len(tokens)), chance.choice(tokens)
    text = json.dumps(chance.choice(TEXTS)).encode()
    tokens[at : at + 1] = chance.choice(
        [[], [other], [tokens[at], tokens[at]], [chance.choice(TOKENS)], [text]]
    )
    return b"".join(tokens)


def _values(data: bytes, chance: Random) -> bytes:
    for parse, dump in _FORMS:
        with suppress(
            ValueError, RecursionError, TypeError, yaml.YAMLError
        ):  # also if it was nested several times
            value = parse(data.decode())
            places = [*_places(value)]
            if not places:
                break
            holder, key = chance.choice(places)
            chance.choice(_CHANGES)(holder, key, chance, places)
            return str(dump(value)).encode("utf-8", "surrogatepass")
    return _tokens(data, chance)


#: JSON, TOML, and YAML, which is written as JSON.
_FORMS = [(json.loads, json.dumps), (tomllib.loads, tomlkit.dumps), (yaml.safe_load, json.dumps)]


def _places(value: Any) -> Any:
    left = [value]
    while left:
        item = left.pop()
        parts = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
        for key, part in [*parts]:
            yield item, key
            left.append(part)


def _replace(holder: Any, key: Any, chance: Random, _: Any) -> None:
    holder[key] = chance.choice(VALUES)


def _delete(holder: Any, key: Any, *_: Any) -> None:
    del holder[key]


def _nest(holder: Any, key: Any, chance: Random, _: Any) -> None:
    for _ in range(chance.choice([1, 50, 500])):
        holder[key] = chance.choice([[holder[key]], {"a": holder[key]}])


def _rename(holder: Any, key: Any, chance: Random, _: Any) -> None:
    if isinstance(holder, dict):
        holder[chance.choice(TEXTS)] = holder.pop(key)
    else:
        holder.append(holder[key])


def _swap(holder: Any, key: Any, chance: Random, places: Any) -> None:
    other, name = chance.choice(places)
    holder[key] = json.loads(json.dumps(other[name]))


_CHANGES: list[Callable[..., None]] = [_replace, _replace, _delete, _nest, _rename, _swap]
