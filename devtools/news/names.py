"""Reads the names in a release: models, betas, API versions, types, fields, values, finish reasons, endpoints.

The release is a wheel. Its files are parsed, and never imported or run.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, NamedTuple
from zipfile import ZipFile

from .sources import PRICED, Source

__all__ = ["Name", "names_of"]


class Name(NamedTuple):
    """A name of a provider's API. `kind` is one of `KINDS`; `file` is the first file that has it."""

    provider: str
    kind: str
    name: str
    file: str = ""


KINDS = ("model", "beta", "version", "type", "field", "value", "finish reason", "endpoint")
_TAGS = {"type", "object", "event", "role"}
_ENDS = re.compile(r"stop_?reason|finish_?reason", re.IGNORECASE)


def names_of(source: Source, wheel: ZipFile) -> list[Name]:
    """Returns the names of a release, each once.

    Args:
        source: The package.
        wheel: The release, opened.
    """
    found: dict[tuple[str, str, str], Name] = {}
    for file in sorted(wheel.namelist()):
        for name in _names(source, file, partial(wheel.read, file)):
            found.setdefault(name[:3], name)
    return list(found.values())


def _names(source: Source, file: str, read: Callable[[], bytes]) -> Iterator[Name]:
    if file.endswith("service-2.json.gz"):
        if _any(file, source.reads):
            yield from _service(source, file, json.loads(gzip.decompress(read())))
    elif file.endswith((".py", ".pyi")):
        readers = _readers(source, file)
        tree = ast.parse(read()) if readers else ast.Module([], [])
        found = (each for reader in readers for each in reader(tree))
        yield from (Name(at or source.provider, kind, name, file) for at, kind, name in found)


def _readers(source: Source, file: str) -> list[Callable[[ast.Module], Iterator[tuple[str, str, str]]]]:
    """Returns the functions that read a module. They yield provider (empty: the source's), kind and name."""
    if source.package == "genai-prices":
        return [_priced] if _any(file, source.models) else []
    readers: list[Callable[[ast.Module], Iterator[tuple[str, str, str]]]] = []
    if _any(file, source.models):
        readers.append(partial(_kind, "model", _models))
    if file == source.betas:
        readers.append(partial(_kind, "beta", _texts))
    if source.version and file == source.version[0]:
        readers.append(partial(_kind, "version", partial(_constants, source.version[1])))
    if _any(file, source.endpoints):
        readers.append(partial(_kind, "endpoint", _endpoints))
    if _any(file, source.reads) and not _any(file, source.apart):
        readers.append(partial(_typed, source.roots))
    return readers


def _kind(
    kind: str, reader: Callable[[ast.Module], Iterator[str]], tree: ast.Module
) -> Iterator[tuple[str, str, str]]:
    return (("", kind, name) for name in reader(tree))


def _any(file: str, patterns: tuple[str, ...]) -> bool:
    """Tells whether a pattern names a file. `*` stays within a folder, and `**` does not."""
    return any(
        fnmatchcase(file, pattern) and ("**" in pattern or file.count("/") == pattern.count("/"))
        for pattern in patterns
    )


# --- Python ----------------------------------------------------------------------------------------------


def _typed(roots: tuple[str, ...], tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """Yields the fields of classes and the values of literals and enumerations, with their kinds.

    With roots, only the classes that they name, and those that these name, are read.
    """
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for name in _reached(classes, roots) if roots else classes:
        for each in classes[name].body:
            yield from (("", *found) for found in _member(classes[name], each))
    for each in tree.body if not roots else ():
        if isinstance(each, ast.AnnAssign | ast.Assign) and (value := each.value) is not None:
            target = each.target if isinstance(each, ast.AnnAssign) else each.targets[0]
            kind = "finish reason" if _ENDS.search(ast.unparse(target)) else "value"
            yield from (("", kind, text) for text in _literals(value))


def _reached(classes: dict[str, ast.ClassDef], roots: tuple[str, ...]) -> list[str]:
    """Returns the names of the roots and of all classes that their fields lead to."""
    found, left = [], list(roots)
    while left:
        name = left.pop()
        if name in classes and name not in found:
            found.append(name)
            fields = [each for each in classes[name].body if isinstance(each, ast.AnnAssign)]
            left += [word for each in fields for word in re.findall(r"\w+", ast.unparse(each.annotation))]
            left += [word for base in classes[name].bases for word in re.findall(r"\w+", ast.unparse(base))]
    return found


def _member(owner: ast.ClassDef, node: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yields the names of a member of a class: a value of an enumeration, or a field with its values."""
    given = getattr(node, "value", None)
    text = given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""
    if isinstance(node, ast.Assign) and text and any("Enum" in ast.unparse(base) for base in owner.bases):
        yield "finish reason" if _ENDS.search(owner.name) else "value", text
    if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
        return
    name = node.target.id
    if name.startswith("_") or name == "model_config":
        return
    yield "field", name
    kind = "type" if name in _TAGS else "finish reason" if _ENDS.search(name) else "value"
    yield from ((kind, each) for each in _literals(node.annotation))
    if text and name in _TAGS:
        yield "type", text


def _literals(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Subscript) and ast.unparse(each.value).endswith("Literal"):
            yield from _texts(each.slice)


def _models(tree: ast.Module) -> Iterator[str]:
    """Yields the names of models in a file: literals that look like one."""
    yield from (text for text in _literals(tree) if re.search(r"\d|latest|preview", text) and " " not in text)


def _texts(node: ast.AST) -> Iterator[str]:
    """Yields the text constants of a type. The list `__all__` and docstrings are none."""
    listed = {id(each.value) for each in ast.walk(node) if isinstance(each, ast.Expr)}
    for each in ast.walk(node):
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "__all__":
            listed |= {id(item) for item in ast.walk(each.value)}
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in listed:
            yield each.value


def _constants(name: str, tree: ast.Module) -> Iterator[str]:
    """Yields the text values that a file gives to a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            given = (
                target.id
                if isinstance(target, ast.Name)
                else target.attr
                if isinstance(target, ast.Attribute)
                else ""
            )
            if given == name and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
                yield node.value.value


def _endpoints(tree: ast.Module) -> Iterator[str]:
    """Yields the paths that a file calls. A variable part of a path is written `{}`."""
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if id(node) in docs | parts:
            continue
        text = _path(node)
        if text and ("/" in text or text.startswith("{}:")):
            yield text


def _path(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    else:
        return ""
    text = re.sub(r"\{\w*\}", "{}", text.partition("?")[0])
    fits = re.fullmatch(r"/?[\w{}][\w{}/.:$-]*", text) and re.search(r"^/\w|^v\d|^\{\}:\w", text)
    return text if fits else ""


# --- service models and prices ---------------------------------------------------------------------------


def _service(source: Source, file: str, model: dict[str, Any]) -> Iterator[Name]:
    """Yields the names of an AWS service model: all endpoints, and the types of the operations in the roots."""
    at = source.provider
    yield Name(at, "version", model["metadata"]["apiVersion"], file)
    for operation in model["operations"].values():
        yield Name(at, "endpoint", re.sub(r"\{\w+\}", "{}", operation["http"]["requestUri"]), file)
    for name in _shapes(model, source.roots):
        shape = model["shapes"][name]
        kind = "type" if shape.get("union") or shape.get("eventstream") else "field"
        yield from (Name(at, kind, member, file) for member in shape.get("members", {}))
        ends = "finish reason" if _ENDS.search(name) else "value"
        yield from (Name(at, ends, value, file) for value in shape.get("enum", ()))


def _shapes(model: dict[str, Any], operations: tuple[str, ...]) -> list[str]:
    """Returns the names of the shapes that the inputs and outputs of some operations lead to."""
    found: list[str] = []
    left = [model["operations"][name][way]["shape"] for name in operations for way in ("input", "output")]
    while left:
        name = left.pop()
        if name not in found:
            found.append(name)
            shape = model["shapes"][name]
            inner = [
                *shape.get("members", {}).values(),
                *(shape[key] for key in ("member", "value") if key in shape),
            ]
            left += [each["shape"] for each in inner]
    return found


def _priced(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """Yields the models of the price table, for the providers that this project has."""
    for provider in _calls(tree, "Provider"):
        ours = PRICED.get(_argument(provider, "id"), "")
        for model in _calls(provider, "ModelInfo") if ours else ():
            yield ours, "model", _argument(model, "id")


def _calls(node: ast.AST, name: str) -> Iterator[ast.Call]:
    return (each for each in ast.walk(node) if isinstance(each, ast.Call) and ast.unparse(each.func) == name)


def _argument(call: ast.Call, name: str) -> str:
    given = next((each.value for each in call.keywords if each.arg == name), None)
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else ""
