"""Computes the cost of tokens from a dated table: the package's `prices.json`, or one that was loaded instead."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from ...base.budget import PRICES, TRACE, Deadline, Late, ended_by
from ...base.forks import lock_for_forks
from ...contents.turns import AssistantTurn, Tokens
from ...errors import UsageError
from ...wire.base import Wire

__all__ = ["cost", "log_usage", "prices", "refresh_prices", "token_usage"]


TABLE = Path(__file__).with_name("prices.json")

Table = dict[str, list[dict[str, Any]]]  # rows by provider


def cost(wire: Wire, tokens: Tokens) -> float | None:
    """Returns US dollars for one answer's tokens, or `None` if the model, its price or its tokens are not known.

    Cached tokens have the price for reading or writing the cache, if the table has one.
    """
    if tokens.input is None or tokens.output is None:
        return None
    price = _price(wire.provider, wire.model, tokens.input)
    if price is None:
        return None
    cached, written = tokens.cached or 0, tokens.cache_write or 0
    spent = (
        (tokens.input - cached - written) * price.input
        + cached * price.cached
        + written * price.cache_write
        + tokens.output * price.output
    )
    return spent / 1e6


def prices(provider: str, model: str) -> dict[str, float | None]:
    """Returns `input`, `output` and `cached`: US dollars per million tokens of a short input, or `None` if not known."""
    price = _price(provider, model, 0)
    return {name: getattr(price, name, None) for name in ("input", "output", "cached")}


class _Price(NamedTuple):
    """Prices in US dollars per million tokens."""

    input: float
    output: float
    cached: float
    cache_write: float


def known_models(provider: str) -> list[str]:
    """Returns the models of a provider that have a price in the table."""
    return [row["model"] for row in _rows(provider)]


def _price(provider: str, model: str, tokens: int) -> _Price | None:
    """Returns the price of a model for an input of this length. Above a threshold, some models cost more for the
    whole input.
    """
    rows = _thresholds(provider, model)
    if not rows:
        return None
    *_, (_, input, output, cached, write) = (p for p in rows if tokens > p[0] or not p[0])
    return _Price(input, output, input if cached is None else cached, input if write is None else write)


@lru_cache
def _thresholds(provider: str, model: str) -> list[list[float]]:
    """Returns the table's rows for a model, one for each threshold."""
    found = (row["prices"] for row in _rows(provider) if _matches(row["match"], model.lower()))
    return next(found, [])


_SPECIAL = {*r"\.*+?{}^$"}


def _matches(pattern: str, model: str) -> bool:
    """Works like `re.search()`. Nearly all patterns are choices of plain texts, which are compared without compiling
    them.
    """
    if {*"()[]"} & {*pattern}:
        return re.search(pattern, model) is not None
    return any(_name_matches(model, choice) for choice in pattern.split("|"))


def _name_matches(model: str, choice: str) -> bool:
    """Tells whether the name has one of the choices: a text at the beginning, at the end or anywhere, with an
    optional date.
    """
    begins, (text, date, _) = choice.startswith("^"), choice.partition(r"\d")
    ends, text = text.endswith("$"), text.removeprefix("^").removesuffix("$")
    if _SPECIAL & {*text.replace(r"\.", "")}:
        return re.search(choice, model) is not None
    text = text.replace("\\", "")
    if begins and ends:
        return model == text
    found = text in model
    if begins or ends:
        found = model.startswith(text) if begins else model.endswith(text)
    return found and (not date or re.search(choice, model) is not None)


_refreshed: Table = {}


@cache
def _rows(provider: str) -> list[dict[str, Any]]:
    """Returns the rows of a provider, with the refreshed rows first. It decodes no other rows of the package, because all
    of them take long.
    """
    _, _, providers = TABLE.read_text(encoding="utf-8").partition('"providers": {')
    _, found, rows = providers.partition(f"\n{json.dumps(provider)}: ")
    return [*_refreshed.get(provider, ()), *(json.JSONDecoder().raw_decode(rows)[0] if found else ())]


def refresh_prices(source: str | Path | None, *, max_bytes: int = PRICES.unpacked) -> int:
    """Loads prices from a file or a URL. They take precedence over the package's own table.

    Answers that were already counted keep their cost.

    Args:
        source: Path or URL of a JSON file in the form of the package's own table; `None` removes what was loaded.
        max_bytes: The largest accepted size of the table in bytes. Default: 10,000,000.

    Returns:
        The number of models that have a price.

    Raises:
        UsageError: The file or URL cannot be read, or is not a table of prices.

    Examples:
        >>> refresh_prices("prices.json")  # doctest: +SKIP
        812
    """
    global _refreshed  # noqa: PLW0603 - one table a process
    _refreshed = {} if source is None else read_table(source, max_bytes)
    _rows.cache_clear()
    _thresholds.cache_clear()
    return sum(map(len, _refreshed.values()))


# --- another table: a file or a URL ----------------------------------------------------------------------


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
        why = getattr(error, "strerror", None) or repr(error)
        raise UsageError(
            f"{source} is not a table of prices: {why:.200}. See prices.json of this package."
        ) from error


def _content(source: str | Path, most: int) -> bytes:
    """Returns the content. Reading stops after `most` bytes, because a file may be a device and a server may never
    end.
    """
    if str(source).startswith(("https://", "http://")):
        content = _download(str(source), most)
    else:
        from ...base.regular_files import opened  # noqa: PLC0415 - few programs have prices of their own

        with opened(source) as file:
            content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"it is larger than {most:,} bytes (`max_bytes`)")
    return content


def _download(url: str, most: int) -> bytes:
    import httpx  # noqa: PLC0415 - imported when first needed

    content = bytearray()
    try:
        with (
            ended_by(Deadline(monotonic() + PRICES.seconds)),
            httpx.Client(timeout=10, follow_redirects=True) as client,
            client.stream("GET", url, extensions=TRACE) as answer,
        ):
            answer.raise_for_status()
            for chunk in answer.iter_bytes(65_536):
                content += chunk
                if len(content) > most:
                    break
    except Late as error:
        raise OSError(f"it took longer than {PRICES.seconds:g} seconds") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise OSError(str(error)) from error
    return bytes(content)


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


# --- usage of the session --------------------------------------------------------------------------------


_used: dict[tuple[str, str], dict[str, Any]] = {}
_lock = lock_for_forks()


def log_usage(wire: Wire, turn: AssistantTurn) -> None:
    """Adds one answer to the session's account."""
    with _lock:
        row = _used.get((provider := wire.provider, model := wire.model))
        if row is None:
            counts = {"input": 0, "output": 0, "cached": 0, "cost": 0.0}
            row = _used[provider, model] = {"provider": provider, "model": model, **counts}
        for name in ("input", "output", "cached"):
            row[name] += getattr(turn.tokens, name) or 0
        row["cost"] = None if turn.cost is None or row["cost"] is None else row["cost"] + turn.cost


def token_usage() -> list[dict[str, Any]]:
    """Returns the usage of this Python process, over all chats.

    Returns:
        A row for each provider and model: its name, the token counts of `Tokens` (`input` includes `cached`), and `cost` in US
        dollars, which is `None` as soon as the price of one answer is not known.

    Examples:
        >>> _ = chat_openai().chat("Hi")
        >>> "OpenAI" in [row["provider"] for row in token_usage()]
        True
    """
    with _lock:
        return [dict(row) for row in _used.values()]
