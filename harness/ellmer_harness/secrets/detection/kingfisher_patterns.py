"""Hundreds of further patterns, which the author of gitleaks and MongoDB maintain. They need the extra
`secrets`.

Loading the rules takes ten seconds the first time on a machine, and one second afterwards. Searching a
megabyte takes ten milliseconds. The rules are therefore loaded only before data is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

__all__ = ["maintained"]


def maintained(text: bytes) -> Iterator[tuple[str, str]]:
    """Yields the findings of the rules in a text: the secret and its kind."""
    scanner = _scanner()
    for found in scanner.scan(text) if scanner else ():
        if found.visible:
            yield found.secret, f"what rule {found.rule_id} finds"


@cache
def _scanner() -> Any:
    try:
        from kingfisher_sdk import Rules, Scanner  # noqa: PLC0415  # an extra, and slow to load
    except ModuleNotFoundError:
        return None
    return Scanner(Rules(), base64=False)
