"""Writes `__init__.pyi`, and the providers' names in `ellmer_core/__init__.py`: `python -m ellmer_core.providers._stub`."""

from __future__ import annotations

import textwrap
from pathlib import Path

from .. import providers
from ._construction import own_providers


def stub() -> str:
    """Returns the text of `__init__.pyi`, which tells type checkers the names that `ellmer_core` derives from file
    names.
    """
    names = _names()
    lines = [
        "# Written by `python -m ellmer_core.providers._stub`.",
        "",
        "from collections.abc import Callable",
        "from typing import Any",
        "",
        *sorted(
            f"from .{provider} import chat_{provider} as chat_{name}" for name, provider in names.items()
        ),
        "",
        *(f"models_{name}: Callable[..., list[dict[str, Any]]]" for name in sorted(names)),
        "",
        "ALIASES: dict[str, str]",
        "",
        "__all__ = [",
        *(f'    "{name}",' for name in public_names()),
        "]",
        "",
    ]
    return "\n".join(lines)


def _names() -> dict[str, str]:
    return {provider: provider for provider in own_providers()} | providers.ALIASES


def public_names() -> list[str]:
    """Returns the names `chat_<provider>` and `models_<provider>`."""
    return sorted(f"{kind}_{name}" for kind in ("chat", "models") for name in _names())


def with_names(package: str) -> str:
    """Returns the text of `ellmer_core/__init__.py` with the names of the providers."""
    before, begin, rest = package.partition("    __all__ += [\n")
    _, end, after = rest.partition("    ]")
    quoted = ", ".join(f'"{name}"' for name in public_names())
    lines = textwrap.wrap(quoted, 96, break_long_words=False)
    return before + begin + "".join(f"        {line}\n" for line in lines) + end + after


if __name__ == "__main__":
    Path(__file__).with_name("__init__.pyi").write_text(stub(), encoding="utf-8")
    PACKAGE = Path(__file__).parents[1] / "__init__.py"
    PACKAGE.write_text(with_names(PACKAGE.read_text(encoding="utf-8")), encoding="utf-8")
