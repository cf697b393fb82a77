"""Another price table: a file or a URL, in the form of the package's own `prices.json`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import UsageError

Table = dict[str, list[dict[str, Any]]]
DEAREST = 1e9  # dollars for a million tokens


def read_table(source: str | Path, max_bytes: int) -> Table:
    """Returns the rows by provider of a table with at most `max_bytes`. Raises `UsageError` if it cannot be read or
    is not a table.
    """
    try:
        table = json.loads(_content(source, max_bytes))
        providers = table["providers"]
        return {str(provider): [_row(row) for row in rows] for provider, rows in providers.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, re.error) as error:
        raise UsageError(
            f"{source} is not a table of prices: {error!r}. See prices.json of this package."
        ) from error


def _content(source: str | Path, most: int) -> bytes:
    """Returns the content. Reading stops after `most` bytes, because a file may be a device and a server may never
    end.
    """
    if str(source).startswith(("https://", "http://")):
        content = _download(str(source), most)
    else:
        with Path(source).open("rb") as file:
            content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"it is larger than {most:,} bytes (`max_bytes`)")
    return content


def _download(url: str, most: int) -> bytes:
    import httpx  # noqa: PLC0415 - imported when first needed

    content = b""
    try:
        with httpx.stream("GET", url, timeout=10, follow_redirects=True) as answer:
            answer.raise_for_status()
            for chunk in answer.iter_bytes(65_536):
                content += chunk
                if len(content) > most:
                    break
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise OSError(str(error)) from error
    return content


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    prices = [[_number(value) for value in line] for line in row["prices"]]
    if not prices or any(len(line) != 5 or None in line[:3] for line in prices):
        raise ValueError(f"a line of prices has five values, not {row['prices']!r:.80}")
    re.compile(row["match"])
    return {"model": str(row["model"]), "match": row["match"], "prices": prices}


def _number(value: Any) -> float | None:
    if value is None or (
        isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= DEAREST
    ):
        return value
    raise ValueError(f"{value!r:.40} is not a price")
