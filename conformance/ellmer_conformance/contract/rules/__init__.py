"""The contract of each wire format: one package for each format, one function for each rule. `book()` finds the rules of a
provider."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from ..readers import MODULES
from ..rulebook import RuleBook

__all__ = ["WIRES", "book", "books"]

_PACKAGES = {module.name for module in iter_modules(__path__)}
WIRES = tuple(wire for wire in MODULES if wire.replace("-", "_") in _PACKAGES)  # those with rules


@cache
def book(wire: str, provider: str = "") -> RuleBook:
    """Returns the rules of a wire format as a provider applies them; without a provider, as the format's own
    author applies them.

    Every reject rule is a preview for an unknown provider. Raises LookupError for an unknown wire format.
    """
    if wire not in WIRES:
        raise LookupError(
            f"there are no rules for the wire format {wire!r}; there are for {', '.join(WIRES)}"
        )
    module = import_module(f".{wire.replace('-', '_')}", __name__)
    found: RuleBook = module.book_of(provider)
    return found


def books(wire: str = "") -> Iterator[RuleBook]:
    """Yields the books of all providers whose rules are known, of one wire format or of all; a format's own provider comes first.

    Args:
        wire: Name of the wire format. Default: all formats.
    """
    for name in [wire] if wire else WIRES:
        yield book(name)
        package = import_module(f".{name.replace('-', '_')}", __name__)
        yield from (book(name, provider) for provider in package.PROVIDERS)
