"""Builds the shapes of the wire formats from the official sources, and shows the changes.

    python conformance/shapes/build_shapes.py [--schemas DIR] [WIRE …]

Without `--schemas`, it uses only the installed packages (`nox -s shapes` installs them). A shape is what the types say.
What an API does with a request that does not fit is a fact with evidence, beside the shape: `known_faults/<shape>.toml`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from minimal import minimal
from nodes import Joiner, Json, Source
from sources import SOURCES

TARGET = Path(__file__).parent.parent / "ellmer_conformance" / "contract" / "shapes"
#: How a format's reader is more lenient than its types.
READERS = {"gemini": "proto", "vertex": "proto", "mistral": "pydantic"}


def main() -> None:
    options = _options()
    for wire in options.wires or SOURCES:
        found = [each for each in SOURCES[wire](options.schemas) if each is not None]
        shape = build(wire, found)
        (TARGET / f"{wire}.json").write_text(_pretty(shape), encoding="utf-8")
        print(f"{wire}: {', '.join(each.name for each in found) or 'no source is installed'}")  # noqa: T201


def build(wire: str, sources: list[Source]) -> Json:
    """Returns one shape in its stored form."""
    root = Joiner().node((source, source.schema) for source in sources)
    root = minimal(root)
    entitle(root, "", set())
    named = _Named()
    named.count(root)
    shape = named.stored(root)
    about = {"wire": wire, "sources": [source.name for source in sources]}
    reader = {"reader": READERS[wire]} if wire in READERS else {}
    return about | reader | {"root": shape, "nodes": dict(sorted(named.nodes.items()))}


def _objects(node: Json) -> list[Json]:
    found = node.get("object", node)
    if "tag" not in found:
        return [found]
    return [*found["variants"].values(), *([found["untagged"]] if "untagged" in found else [])]


def entitle(node: Json, place: str, seen: set[int]) -> None:
    """Names the object types that no source names, after the type and the field that have them."""
    if id(node) in seen:
        return
    seen.add(id(node))
    for each in _objects(node) if "object" in node else ():
        each["title"] = each.get("title") or place
        for name, inner in each["fields"].items():
            entitle(inner, f"{each['title']}.{name}", seen)
        if "others" in each:
            entitle(each["others"], f"{each['title']}.*", seen)
    if "array" in node:
        entitle(node["array"]["items"], place, seen)


class _Named:
    """Names the nodes that are used several times."""

    def __init__(self) -> None:
        self.nodes: dict[str, Json] = {}
        self._seen: Counter[int] = Counter()
        self._names: dict[int, str] = {}
        self._taken: Counter[str] = Counter()

    def count(self, node: Json) -> None:
        """Counts the uses of each node."""
        self._seen[id(node)] += 1
        if self._seen[id(node)] > 1:
            return
        if "array" in node:
            self.count(node["array"]["items"])
        spec = node.get("object", {})
        for variant in [
            *spec.get("variants", {}).values(),
            *([spec["untagged"]] if "untagged" in spec else []),
        ]:
            self._seen[id(variant)] += 1
            if self._seen[id(variant)] == 1:
                self._count_fields(variant)
        self._count_fields(spec)

    def _count_fields(self, spec: Json) -> None:
        for each in [*spec.get("fields", {}).values(), *([spec["others"]] if "others" in spec else [])]:
            self.count(each)

    def stored(self, node: Any) -> Any:
        """Returns the node with references to named nodes."""
        if id(node) in self._names:
            return {"ref": self._names[id(node)]}
        if self._seen[id(node)] > 1 and len(json.dumps(_flat(node))) > 60:
            name = self._names[id(node)] = self._name(node)
            self.nodes[name] = self._inner(node)
            return {"ref": name}
        return self._inner(node)

    def _inner(self, node: Json) -> Json:
        made = dict(node)
        if "array" in node:
            made["array"] = {**node["array"], "items": self.stored(node["array"]["items"])}
        if "object" in node:
            made["object"] = self._object(node["object"])
        return made

    def _object(self, spec: Json) -> Json:
        if "tag" in spec:
            made = {"variants": {tag: self._variant(each) for tag, each in spec["variants"].items()}}
            more = {"untagged": self._variant(spec["untagged"])} if "untagged" in spec else {}
            return {"tag": spec["tag"], **made, **more}
        made = {"type": spec["title"], **{key: value for key, value in spec.items() if key != "title"}}
        made["fields"] = {name: self.stored(each) for name, each in spec["fields"].items()}
        return made | ({"others": self.stored(spec["others"])} if "others" in spec else {})

    def _variant(self, spec: Json) -> Json:
        if id(spec) in self._names:
            return {"ref": self._names[id(spec)]}
        if self._seen[id(spec)] > 1:
            name = self._names[id(spec)] = self._name({"object": spec})
            self.nodes[name] = self._object(spec)
            return {"ref": name}
        return self._object(spec)

    def _name(self, node: Json) -> str:
        spec = node.get("object", {})
        title = spec.get("title") or ("AnyOf" if "tag" in spec else "List" if "array" in node else "Value")
        self._taken[title] += 1
        return title if self._taken[title] == 1 else f"{title}{self._taken[title]}"


def _flat(node: Json) -> Any:
    return {key: value if key != "object" else "o" * 60 for key, value in node.items() if key != "array"}


def _pretty(shape: Json) -> str:
    """Returns indented JSON. A value that fits on a line stays on one line."""
    return _lines(shape, 0) + "\n"


def _lines(value: Any, indent: int) -> str:
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= 118 or not isinstance(value, dict | list) or not value:
        return flat
    pad, end = " " * (indent + 1), " " * indent
    if isinstance(value, list):
        return "[\n" + ",\n".join(pad + _lines(each, indent + 1) for each in value) + f"\n{end}]"
    inner = (f"{pad}{json.dumps(key)}: {_lines(each, indent + 1)}" for key, each in value.items())
    return "{\n" + ",\n".join(inner) + f"\n{end}}}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("wires", nargs="*", metavar="WIRE")
    parser.add_argument("--schemas", type=Path, help="a folder of prepared documents, a second source")
    options = parser.parse_args()
    if unknown := set(options.wires) - set(SOURCES):
        sys.exit(f"no such wire: {', '.join(sorted(unknown))}; there are {', '.join(SOURCES)}")
    return options


if __name__ == "__main__":
    main()
