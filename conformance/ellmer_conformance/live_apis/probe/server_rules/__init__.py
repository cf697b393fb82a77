"""The rules for every server. Each judges one question and its answer."""

from importlib import import_module

from ._rulebook import book

for _part in ("answers", "streams", "tools_and_schemas", "errors"):  # in the order of their ids
    import_module(f".{_part}", __name__)

__all__ = ["book"]
