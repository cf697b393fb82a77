"""Groq: a schema with its own error texts. Whether Groq pairs calls and results is not known.

https://console.groq.com/docs/api-reference
"""

from importlib import import_module

from ._rulebook import groq
from .features import add

for _part in ("fields", "models", "shape_faults"):
    import_module(f".{_part}", __name__)
add(groq)

__all__ = ["groq"]
