"""Texts on which a regular expression may take more than linear time, made from the expression itself.

For each part that repeats, a text that the part matches is repeated many times, after a text that leads there, and before one that does
not match. Backtracking goes through all ways to divide the repetition.
"""

import ast
import importlib
import pkgutil
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from re import _constants as sre
from re import _parser as parser
from typing import Any

_TAILS = ("", "\x00", "!", "\n\x00", " \x00")


def patterns(package: str) -> dict[str, re.Pattern[Any]]:
    """Returns the compiled expressions of all modules of a package by where they are. Modules that need more packages are left out."""
    top = importlib.import_module(package)
    found = {}
    for info in pkgutil.walk_packages(top.__path__, f"{package}."):
        if info.name.rpartition(".")[2] == "__main__":
            continue
        try:
            module = importlib.import_module(info.name)
        except ImportError:
            continue
        for name, value in vars(module).items():
            for at, pattern in enumerate(_within(value, 2)):
                if not any(pattern is other for other in found.values()):
                    found[f"{info.name}.{name}" + (f"[{at}]" if at else "")] = pattern
    return found


def _within(value: Any, depth: int) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _within(key, depth - 1)
            yield from _within(item, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _within(item, depth - 1)


def attacks(pattern: re.Pattern[Any], size: int) -> Iterator[Any]:
    """Yields the texts, of some `size` letters."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    for lead, unit in dict.fromkeys(_repeats([*tree], "")):
        for head in dict.fromkeys((lead, lead + unit, "")):
            for tail in _TAILS:
                text = head + unit * (size // len(unit)) + tail
                yield text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
        if lead:  # the lead again and again, each with what follows it
            text = (lead + unit) * (size // len(lead + unit))
            yield text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text


def _repeats(nodes: list[Any], lead: str) -> Iterator[tuple[str, str]]:
    """Yields what leads to each repetition, and what it repeats."""
    for code, value in nodes:
        for inner in _inside(code, value):
            yield from _repeats([*inner], lead)
        if code in {sre.MAX_REPEAT, sre.MIN_REPEAT} and value[1] > 8:
            yield from ((lead, unit) for unit in dict.fromkeys(_samples([*value[2]])) if unit)
        lead += _sample([(code, value)])


def _inside(code: Any, value: Any) -> list[Any]:
    if code is sre.SUBPATTERN:
        return [value[3]]
    if code is sre.BRANCH:
        return [*value[1]]
    if code in {sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT}:
        return [value[2]]
    if code in {sre.ASSERT, sre.ASSERT_NOT}:
        return [value[1]]
    return [value] if code is sre.ATOMIC_GROUP else []


def _samples(nodes: list[Any]) -> Iterator[str]:
    """Yields texts that match: the first choice everywhere, and each letter of a class alone."""
    yield _sample(nodes)
    if len(nodes) == 1 and nodes[0][0] is sre.IN:
        yield from _letters(nodes[0][1])
    if len(nodes) == 1 and nodes[0][0] is sre.BRANCH:
        for branch in nodes[0][1][1]:
            yield _sample([*branch])
    if len(nodes) == 1 and nodes[0][0] is sre.SUBPATTERN:
        yield from _samples([*nodes[0][1][3]])
    if len(nodes) == 1 and nodes[0][0] in {sre.ANY, sre.NOT_LITERAL}:
        yield from (" ", "\n", "a")


def _sample(nodes: list[Any]) -> str:
    """Returns a text that matches, with as few repetitions as may be."""
    return "".join(_one(code, value) for code, value in nodes)


def _one(code: Any, value: Any) -> str:  # noqa: PLR0911 - one return for each kind of node
    match code:
        case sre.LITERAL:
            return chr(value)
        case sre.NOT_LITERAL:
            return "a" if value != ord("a") else "b"
        case sre.ANY:
            return "a"
        case sre.IN:
            return next(iter(_letters(value)), "")
        case sre.SUBPATTERN:
            return _sample([*value[3]])
        case sre.BRANCH:
            return _sample([*value[1][0]])
        case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
            return _sample([*value[2]]) * max(value[0], 1 if value[0] else 0)
        case sre.ATOMIC_GROUP:
            return _sample([*value])
    return ""


_CATEGORIES = {
    sre.CATEGORY_DIGIT: "1",
    sre.CATEGORY_NOT_DIGIT: "a",
    sre.CATEGORY_SPACE: " \n",
    sre.CATEGORY_NOT_SPACE: "a",
    sre.CATEGORY_WORD: "a1",
    sre.CATEGORY_NOT_WORD: "-",
}


def _letters(choices: list[Any]) -> list[str]:
    """Returns some letters of a class."""
    if choices[0][0] is sre.NEGATE:
        barred = {chr(value) for code, value in choices if code is sre.LITERAL}
        ranges = [value for code, value in choices if code is sre.RANGE]
        categories = {value for code, value in choices if code is sre.CATEGORY}
        usable = [c for c in "a1 -\n<" if c not in barred and not any(a <= ord(c) <= b for a, b in ranges)]
        if sre.CATEGORY_SPACE in categories:
            usable = [c for c in usable if not c.isspace()]
        if sre.CATEGORY_WORD in categories:
            usable = [c for c in usable if not c.isalnum()]
        return usable
    found: list[str] = []
    for code, value in choices:
        if code is sre.LITERAL:
            found.append(chr(value))
        elif code is sre.RANGE:
            found.append(chr(value[0]))
        elif code is sre.CATEGORY:
            found += _CATEGORIES.get(value, "")
    return found[:6]


_METHODS = {"match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split"}


def called(*packages: str) -> dict[str, set[str]]:
    """Returns the methods that the modules of packages call of each name, as `_NAME.match(…)` or `map(_NAME.match, …)`. A private name
    is that of its module: `module._NAME`.
    """
    found: dict[str, set[str]] = {}
    for module, source in _sources(*packages):
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Attribute) and node.attr in _METHODS and isinstance(node.value, ast.Name):
                found.setdefault(_owned(module, node.value.id), set()).add(node.attr)
    return found


def _owned(module: str, name: str) -> str:
    return f"{module}.{name}" if name.startswith("_") else name


def inline(*packages: str) -> Iterator[tuple[str, re.Pattern[Any], str]]:
    """Yields the expressions that are written where they are used, `re.search(r"…", text)`, each with the method."""
    for _, source in _sources(*packages):
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="re"), attr=method),
                    args=[ast.Constant(value=text), *_],
                ) if method in _METHODS:
                    flags = (
                        [re.DOTALL | re.MULTILINE | re.IGNORECASE]
                        if "re.DOTALL" in ast.unparse(node)
                        else [0]
                    )
                    yield text, re.compile(text, *flags), method


def _sources(*packages: str) -> Iterator[tuple[str, str]]:
    """Yields the last name and the text of each module."""
    for package in packages:
        place = Path(package)
        folder = place if place.is_dir() else Path(str(importlib.import_module(package).__file__)).parent
        for path in sorted(folder.rglob("*.py")):
            yield path.parent.name if path.stem == "__init__" else path.stem, path.read_text("utf-8")


Used = tuple[str, re.Pattern[Any], str]


def of_package(package: str) -> Iterator[Used]:
    """Yields the expressions of a package with their names, each with the methods that are called of it."""
    methods = called(package)
    for name, pattern in patterns(package).items():
        module, _, own = name.partition("[")[0].rpartition(".")
        for method in methods.get(_owned(module.rpartition(".")[2], own), {"finditer"}):
            yield name, pattern, method
    yield from inline(package)


def applied(pattern: re.Pattern[Any], method: str) -> Callable[[Any], Any]:
    """Returns a function that calls the method with a text. Of an iterator, it takes all."""
    if method in {"sub", "subn"}:
        return lambda text: getattr(pattern, method)(lambda _: text[:0], text)
    if method == "finditer":
        return lambda text: deque(pattern.finditer(text), maxlen=0)
    return getattr(pattern, method)
