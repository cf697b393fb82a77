"""Finds the line of a recording on which a place of a request's body begins: in JSON and YAML, also in a body that is a text."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from ellmer_core.base.budget import RECORDING
from ellmer_harness.format.serializer import line_of
from ellmer_harness.recordings.untrusted_files import bounded_yaml, plain_bytes

from ..contract.readers.json_access import unescaped

__all__ = ["source_line"]

#: The keys between an exchange and its body, in the formats of recordings.
_TO_THE_BODY = ("request", "postData", "parsed_body", "body", "string", "text", "json")
_LARGEST = 8 * 1024**2  # bytes


def source_line(path: str, place: str, pointer: str) -> int:
    """Returns the line on which a place of a body begins. If it is not known, it is the line of the body, of the exchange, or 1.

    Args:
        path: The recording.
        place: The place of the exchange: a JSON pointer, or a line of a log.
        pointer: JSON pointer into the body.
    """
    if found := re.match(r"line (\d+)", place):
        return int(found[1])
    try:
        text, root = _tree(path)
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return 1
    steps, rest = _steps(place), _steps(pointer)
    return (
        _line_in_yaml(root, steps, rest)
        if isinstance(root, yaml.Node)
        else _line_in_json(text, root, steps, rest)
    )


@lru_cache(maxsize=4)
def _tree(path: str) -> tuple[str, Any]:
    """Returns the text of a file with its value, or with its nodes if it is YAML."""
    text = plain_bytes(Path(path), min(_LARGEST, RECORDING.unpacked)).decode("utf-8-sig", "replace")
    if text.lstrip().startswith(("{", "[")):
        return text, json.loads(text)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return text, yaml.compose(bounded_yaml(text), loader)


def _steps(pointer: str) -> list[str]:
    return [*map(unescaped, pointer.split("/")[1:])]


# JSON --------------------------------------------------------------------------------------------------------------------


def _line_in_json(text: str, value: Any, steps: list[str], pointer: list[str]) -> int:
    found: list[str | int] = []
    for step in steps:
        value = _inside(value, step, found)
    for name in _TO_THE_BODY:
        if isinstance(value, dict) and name in value:
            value = _inside(value, name, found)
    for step in pointer:
        value = _inside(value, step, found)
    return line_of(text, found)


def _inside(value: Any, step: str, found: list[str | int]) -> Any:
    """Returns the value at a step, and adds the step to the found ones if there is such a value."""
    if isinstance(value, list) and step.isdigit() and int(step) < len(value):
        found.append(int(step))
        return value[int(step)]
    if isinstance(value, dict) and step in value:
        found.append(step)
        return value[step]
    return None


# YAML --------------------------------------------------------------------------------------------------------------------


def _line_in_yaml(node: yaml.Node, steps: list[str], pointer: list[str]) -> int:
    for step in steps:
        node = _child(node, step) or node
    for name in _TO_THE_BODY:
        node = _child(node, name) or node
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        return int(node.start_mark.line) + 1 + _line_in_text(node.value, pointer)
    for step in pointer:
        inner = _child(node, step)
        if inner is None:
            break
        node = inner
    return int(node.start_mark.line) + 1


def _line_in_text(text: str, pointer: list[str]) -> int:
    try:
        return _line_in_json(text, json.loads(text), [], pointer)
    except ValueError:
        return 0


def _child(node: yaml.Node, step: str) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and step.isdigit() and int(step) < len(node.value):
        return node.value[int(step)]  # type: ignore[no-any-return] # the stubs of PyYAML say Any
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for key, value in pairs if key.value == step), None)
