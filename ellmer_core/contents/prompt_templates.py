"""Prompts from templates."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..base.budget import SETTINGS
from ..base.regular_files import file_bytes
from ..errors import UsageError

__all__ = ["interpolate", "interpolate_file"]


def interpolate(template: str, /, **values: Any) -> str:
    """Fills in a template: each `{{ name }}` becomes the value of that name.

    Single braces are text, so a template can contain JSON. Values are inserted as they are, and braces in them are not
    replaced.

    Args:
        template: The template.
        **values: The values; each is converted to text.

    Returns:
        The text.

    Raises:
        UsageError: A name in the template has no value.

    Examples:
        >>> interpolate("Hello, {{ name }}!", name="Ada")
        'Hello, Ada!'
    """

    def value(match: re.Match[str]) -> str:
        name = match[1].strip()
        if not name.isidentifier():
            raise UsageError(f"The text between {{{{ and }}}} must be a name, not {name!r}.")
        if name not in values:
            raise UsageError(
                f"The template needs a value for `{name}`; the values given are: {', '.join(values) or 'none'}."
            )
        return str(values[name])

    return re.sub(r"\{\{(.*?)\}\}", value, template, flags=re.DOTALL)


def interpolate_file(path: str | Path, /, **values: Any) -> str:
    """Fills in the template in a file; see `interpolate()`.

    Args:
        path: Path of the file, in UTF-8.
        **values: The values.

    Returns:
        The text.

    Raises:
        UsageError: A name in the template has no value, or the file cannot be read: it has 16 MB at most.

    Examples:
        >>> from pathlib import Path
        >>> _ = Path("prompt.md").write_text("Translate into {{ language }}.")
        >>> interpolate_file("prompt.md", language="French")
        'Translate into French.'
    """
    try:
        template = file_bytes(path, SETTINGS.received).decode()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or f"{error!s:.200}"
        raise UsageError(f"{path} cannot be read: {why}.") from error
    return interpolate(template, **values)
