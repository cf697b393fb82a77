"""Checks a request against a shape, and returns its faults: unexpected, missing and wrong values.

The shape is compiled to functions once. A request without faults costs one visit of each value, and no path is built.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as field_
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any


class FaultKind(StrEnum):
    """The kinds of faults."""

    UNKNOWN_FIELD = "unknown field"
    MISSING_FIELD = "missing field"
    WRONG_TYPE = "wrong type"
    UNKNOWN_VALUE = "unknown value"
    OUT_OF_RANGE = "out of range"
    WRONG_VARIANT = "wrong variant"


@dataclass(eq=False)
class Fault:
    """One fault. `expected` is the node of the shape for a wrong type, the values or tags for an unknown one, and the
    bound for a value out of range. `owner` and `field` are the place in the types, wherever the type is used. `tags` are
    the variants on the path, which some providers name.
    """

    kind: FaultKind
    value: Any
    expected: Any = None
    key: str = ""  # the field that is unknown, missing or the tag
    bound: str = ""  # `minimum`, `maxLength`, …
    owner: str = ""  # the innermost named object type with a field on the path
    field: str = ""  # that field
    required: bool = False  # whether the type requires it
    _path: list[str | int] = field_(default_factory=list)  # from the inside out
    tags: list[tuple[int, str]] = field_(default_factory=list)  # how deep in the path, and which variant

    def inside(self, step: str | int) -> None:
        """Adds an element or a field to the path of the fault."""
        self._path.append(step)

    def at(self, owner: str, name: str, *, required: bool) -> None:
        """Adds a field of an object type to the path of the fault. The innermost one is the place of the fault."""
        self._path.append(name)
        if not self.owner:
            self.owner, self.field, self.required = owner, name, required

    def of(self, tag: str) -> None:
        """Adds the variant of an object on the path."""
        self.tags.append((len(self._path), tag))

    @property
    def path(self) -> Sequence[str | int]:
        """The path from the root. The path of a missing field is that of its object."""
        return self._path[::-1]

    @property
    def pointer(self) -> str:
        """The JSON pointer of the place."""
        return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in self.path)

    def located(self, unnamed: Container[str] = ()) -> list[str | int]:
        """Returns pydantic's path: the tag of a variant is a separate step after its field, if it has a name."""
        at = {len(self._path) - depth: tag for depth, tag in self.tags if tag not in unnamed}
        steps: list[str | int] = []
        for index, step in enumerate(self.path):
            steps += [at[index], step] if index in at else [step]
        return steps + ([at[len(self._path)]] if len(self._path) in at else [])


Check = Callable[[Any, list[Fault]], None]
Checks = dict[type, Check | None]  # the further check for each JSON type, or None if every value is valid

_TYPES: Mapping[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "number": (int, float),
    "string": (str,),
    "array": (list,),
    "object": (dict,),
}
_CAPITAL = re.compile(r"(?<=[a-z0-9])([A-Z])")
_TRUE = frozenset({"true", "false", "1", "0", "yes", "no", "on", "off", "t", "f", "y", "n"})


class Checker:
    """A compiled shape."""

    def __init__(self, shape: Mapping[str, Any]) -> None:
        self._shape = shape  # nodes are known by their identity
        self._reader = shape.get("reader", "")
        self._made: dict[int, Any] = {}
        self._root = self._checks(shape["root"])

    def faults(self, body: Any) -> list[Fault]:
        """Returns all faults of a request in its order. Missing fields come after the existing ones."""
        found: list[Fault] = []
        _look(self._root, body, found)
        return found

    def _named(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the target of a reference, or the node itself."""
        found: Mapping[str, Any] = self._shape["nodes"][node["ref"]] if "ref" in node else node
        return found

    def _checks(self, node: Mapping[str, Any]) -> Checks:
        node = self._named(node)
        if id(node) not in self._made:
            checks: Checks = {}
            self._made[id(node)] = checks
            self._fill(checks, node)
        found: Checks = self._made[id(node)]
        return found

    def _fill(self, checks: dict[Any, Any], node: Mapping[str, Any]) -> None:
        if "any" in node:
            checks.update(dict.fromkeys((type(None), bool, int, float, str, list, dict)))
            return
        for name, spec in node.items():
            for type_ in _TYPES[name]:
                checks[type_] = self._check(name, type_, spec, node)
        checks[Fault] = node  # what is expected here, for those that do not fit
        if self._reader == "pydantic":
            _coerced(checks, node)

    def _check(self, name: str, type_: type, spec: Mapping[str, Any], node: Any) -> Check | None:
        if name == "object":
            return self._object(spec)
        if name == "array":
            return self._array(spec)
        if name == "number" and spec.get("integer") and type_ is float:
            return _whole(_bounded(spec, _number), node)
        if "values" in spec:
            return _one_of(spec["values"], folded=self._reader == "proto")
        if "pattern" in spec and node.keys() & {"number"}:
            return _numeral(spec["pattern"], node)
        return _bounded(spec, len if name == "string" else _number)

    def _array(self, spec: Mapping[str, Any]) -> Check:
        items, bounded = self._checks(spec["items"]), _bounded(spec, len)

        def check(value: Any, out: list[Fault]) -> None:
            if bounded:
                bounded(value, out)
            for index, each in enumerate(value):
                found = items.get(each.__class__, _misfit)
                if found is None:
                    continue
                before = len(out)
                _look(items, each, out) if found is _misfit else found(each, out)
                for fault in out[before:]:
                    fault.inside(index)

        return check

    def _object(self, spec: Mapping[str, Any]) -> Check:
        spec = self._named(spec)
        if id(spec) not in self._made:
            self._made[id(spec)] = later = _Later()
            later.check = self._tagged(spec) if "tag" in spec else self._fields(spec)
            self._made[id(spec)] = later.check
        found: Check = self._made[id(spec)]
        return found

    def _fields(self, spec: Mapping[str, Any]) -> Check:
        fields = {name: self._checks(node) for name, node in spec["fields"].items()}
        if self._reader == "proto":
            fields |= {_CAPITAL.sub(r"_\1", name).lower(): checks for name, checks in fields.items()}
        others = self._checks(spec["others"]) if "others" in spec else None
        owner, required = spec.get("type", ""), frozenset(spec.get("required", ()))

        def check(value: Any, out: list[Fault]) -> None:
            for key, each in value.items():
                checks = fields.get(key, others)
                if checks is None:
                    out.append(Fault(FaultKind.UNKNOWN_FIELD, each, None, key, "", owner, key, _path=[key]))
                    continue
                found = checks.get(each.__class__, _misfit)
                if found is None:
                    continue
                before = len(out)
                _look(checks, each, out) if found is _misfit else found(each, out)
                for fault in out[before:]:
                    fault.at(owner, key, required=key in required)
            if not required <= value.keys():
                out.extend(
                    Fault(FaultKind.MISSING_FIELD, value, None, key, "", owner, key, required=True)
                    for key in sorted(required - value.keys())
                )

        return check

    def _tagged(self, spec: Mapping[str, Any]) -> Check:
        tag, variants = spec["tag"], {name: self._object(each) for name, each in spec["variants"].items()}
        untagged = self._object(spec["untagged"]) if "untagged" in spec else None

        def check(value: Any, out: list[Fault]) -> None:
            name = value.get(tag)
            before = len(out)
            if name.__class__ is str and name in variants:
                variants[name](value, out)
                for fault in out[before:]:
                    fault.of(name)
            elif name is None and untagged:
                untagged(value, out)
            elif tag not in value:
                out.append(Fault(FaultKind.MISSING_FIELD, value, [*variants], key=tag))
            elif name.__class__ is str:
                out.append(Fault(FaultKind.WRONG_VARIANT, value, [*variants], key=tag, _path=[tag]))
            else:
                out.append(
                    Fault(FaultKind.WRONG_TYPE, name, {"string": {"values": [*variants]}}, tag, _path=[tag])
                )

        return check


class _Later:
    """A recursive variant, which is compiled later."""

    check: Check

    def __call__(self, value: Any, out: list[Fault]) -> None:
        self.check(value, out)


def _misfit(value: Any, out: list[Fault]) -> None:
    """Reports a type that a place does not have."""


def _look(checks: Any, value: Any, out: list[Fault]) -> None:
    """Checks a value with the checks of its place."""
    found = checks.get(value.__class__, _misfit)
    if found is _misfit:
        out.append(Fault(FaultKind.WRONG_TYPE, value, checks[Fault]))
    elif found is not None:
        found(value, out)


def _number(value: float) -> float:
    return value


def _bounded(spec: Mapping[str, Any], size: Callable[[Any], float]) -> Check | None:
    """Returns a check of the bounds and of the pattern, or `None` if there are none."""
    low = spec.get("minimum", spec.get("minLength", spec.get("minItems")))
    high = spec.get("maximum", spec.get("maxLength", spec.get("maxItems")))
    above, below = spec.get("exclusiveMinimum"), spec.get("exclusiveMaximum")
    pattern = re.compile(spec["pattern"]) if "pattern" in spec else None
    bounds = {key: each for key, each in spec.items() if key.startswith(("m", "exclusive", "pattern"))}
    if not bounds:
        return None

    def check(value: Any, out: list[Fault]) -> None:
        found = size(value)
        if (low is not None and found < low) or (above is not None and found <= above):
            out.append(
                Fault(FaultKind.OUT_OF_RANGE, value, above if low is None else low, bound=_name(bounds, "in"))
            )
        elif (high is not None and found > high) or (below is not None and found >= below):
            out.append(
                Fault(
                    FaultKind.OUT_OF_RANGE, value, below if high is None else high, bound=_name(bounds, "ax")
                )
            )
        elif pattern is not None and not pattern.search(value):
            out.append(Fault(FaultKind.OUT_OF_RANGE, value, spec["pattern"], bound="pattern"))

    return check


def _name(bounds: Mapping[str, Any], part: str) -> str:
    return next(key for key in bounds if key.lower().startswith((f"m{part}", f"exclusivem{part}")))


def _one_of(values: list[Any], *, folded: bool) -> Check:
    choices = {value.upper() for value in values} if folded else {*values}

    def check(value: Any, out: list[Fault]) -> None:
        if (value.upper() if folded else value) not in choices:
            out.append(Fault(FaultKind.UNKNOWN_VALUE, value, values))

    return check


def _whole(bounded: Check | None, node: Any) -> Check:
    def check(value: Any, out: list[Fault]) -> None:
        if not value.is_integer():
            out.append(Fault(FaultKind.WRONG_TYPE, value, node))
        elif bounded:
            bounded(value, out)

    return check


def _numeral(pattern: str, node: Any) -> Check:
    """Returns a check for text that is a number."""
    numeral = re.compile(pattern)

    def check(value: Any, out: list[Fault]) -> None:
        if not numeral.search(value):
            out.append(Fault(FaultKind.WRONG_TYPE, value, node))

    return check


def _coerced(checks: dict[Any, Any], node: Mapping[str, Any]) -> None:
    """Accepts values of other types that pydantic converts in its lax mode."""
    if "number" in node:
        checks.setdefault(str, _numeral(r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$", node))
        checks.setdefault(bool, None)
    elif "boolean" in node:
        checks.setdefault(str, _numeral(f"(?i)^({'|'.join(_TRUE)})$", node))
        checks.setdefault(int, _numeral_of(node))


def _numeral_of(node: Any) -> Check:
    def check(value: Any, out: list[Fault]) -> None:
        if value not in (0, 1):
            out.append(Fault(FaultKind.WRONG_TYPE, value, node))

    return check


def shape(name: str) -> dict[str, Any]:
    """Returns the stored shape of a wire format or of a provider. Raises LookupError if there is none."""
    found = files("ellmer_conformance.contract.shapes").joinpath(f"{name}.json")
    if not found.is_file():
        raise LookupError(f"there is no shape {name!r}")
    value: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
    return value


def names() -> list[str]:
    """Returns the names of the stored shapes."""
    stored = (file.name for file in files("ellmer_conformance.contract.shapes").iterdir())
    return sorted(name.removesuffix(".json") for name in stored if name.endswith(".json"))


@cache
def checker(name: str) -> Checker:
    """Returns the checker for a shape."""
    return Checker(shape(name))
