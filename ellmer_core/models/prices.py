"""What tokens cost: a dated table in the package, `prices.json`, and the session's own account.

`python -m ellmer_core.models.prices update` writes the table anew from the installed PyPI package `genai-prices`
(https://github.com/pydantic/genai-prices): list prices for text, as of the day it is run.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from ..contents.turns import Tokens
from ..wire.base import Wire
from .price_files import Table, read_table

__all__ = ["cost", "log_usage", "prices", "refresh_prices", "token_usage"]

TABLE = Path(__file__).with_name("prices.json")


def cost(wire: Wire, tokens: Tokens) -> float | None:
    """US dollars for one answer's tokens; `None` where the model, its price or its tokens are not known.

    Cached tokens count at the price for reading, or for writing, the cache, where there is one of its own.
    """
    if tokens.input is None or tokens.output is None:
        return None
    price = _price(wire.vendor, wire.model, tokens.input)
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


def prices(vendor: str, model: str) -> dict[str, float | None]:
    """`input`, `output` and `cached`: US dollars per million tokens of a short input; `None` where not known."""
    price = _price(vendor, model, 0)
    return {name: getattr(price, name, None) for name in ("input", "output", "cached")}


@dataclass(frozen=True)
class _Price:
    """US dollars per million tokens."""

    input: float
    output: float
    cached: float
    cache_write: float


def known_models(vendor: str) -> list[str]:
    """The models of a vendor that the table has a price for."""
    return [row["model"] for row in _table().get(vendor, [])]


def _price(vendor: str, model: str, tokens: int) -> _Price | None:
    """The price of a model, by how long the input is: some cost more, all of it, above a threshold."""
    rows = _thresholds(vendor, model)
    if not rows:
        return None
    *_, (_, input, output, cached, write) = (p for p in rows if tokens > p[0] or not p[0])
    return _Price(input, output, input if cached is None else cached, input if write is None else write)


@lru_cache
def _thresholds(vendor: str, model: str) -> list[list[float]]:
    """What the table says of a model: a row for each threshold."""
    found = (row["prices"] for row in _table().get(vendor, ()) if _matches(row["match"], model.lower()))
    return next(found, [])


#: A choice of texts, each of them the whole name, its beginning, its end or some of it.
_TEXTS = re.compile(r"(\||^)\^?([\w\-/: @]|\\\.)+\$?(?=\||$)")


def _matches(pattern: str, model: str) -> bool:
    """`re.search()`; nearly all patterns are choices of texts, which need not be compiled, and there are many."""
    if _TEXTS.sub("", pattern):
        return re.search(pattern, model) is not None
    return any(_has(model, text.replace("\\", "")) for text in pattern.split("|"))


def _has(model: str, text: str) -> bool:
    begins, ends, text = text.startswith("^"), text.endswith("$"), text.strip("^$")
    if begins and ends:
        return model == text
    return model.startswith(text) if begins else model.endswith(text) if ends else text in model


@cache
def _packaged() -> Table:
    table: Table = json.loads(TABLE.read_text(encoding="utf-8"))["vendors"]
    return table


_refreshed: Table = {}


def _table() -> Table:
    """The rows by vendor, those that were refreshed first."""
    packaged = _packaged()
    return {
        vendor: [*_refreshed.get(vendor, ()), *packaged.get(vendor, ())]
        for vendor in {**packaged, **_refreshed}
    }


def refresh_prices(source: str | Path | None) -> int:
    """Loads prices from a file or a URL. They take precedence over the package's own table.

    Answers that were already counted keep their cost.

    Args:
        source: Path or URL of a JSON file in the form of the package's own table; `None` removes what was loaded.

    Returns:
        The number of models that have a price.

    Raises:
        UsageError: The file or URL cannot be read, or is no table of prices.

    Examples:
        >>> refresh_prices("prices.json")  # doctest: +SKIP
        812
    """
    global _refreshed  # noqa: PLW0603 - one table a process
    _refreshed = {} if source is None else read_table(source)
    _thresholds.cache_clear()
    return sum(map(len, _refreshed.values()))


# The session's account --------------------------------------------------------------------------------------

_used: dict[tuple[str, str], dict[str, Any]] = {}
_lock = Lock()


def log_usage(wire: Wire, tokens: Tokens, dollars: float | None) -> None:
    """Adds one answer to the session's account."""
    with _lock:
        row = _used.setdefault(
            (wire.vendor, wire.model),
            {"vendor": wire.vendor, "model": wire.model, "input": 0, "output": 0, "cached": 0, "cost": 0.0},
        )
        for name in ("input", "output", "cached"):
            row[name] += getattr(tokens, name) or 0
        row["cost"] = None if dollars is None or row["cost"] is None else row["cost"] + dollars


def token_usage() -> list[dict[str, Any]]:
    """Returns what this Python process has used, over all chats.

    Returns:
        A row for each provider and model: its name, the token counts of `Tokens` (`input` includes `cached`), and `cost` in US
        dollars, which is `None` as soon as the price of one answer is not known.

    Examples:
        >>> _ = chat_openai().chat("Hi")
        >>> "OpenAI" in [row["vendor"] for row in token_usage()]
        True
    """
    with _lock:
        return [dict(row) for row in _used.values()]


# Writing the table ------------------------------------------------------------------------------------------

#: Vendors as printed, and their names at genai-prices. (OpenRouter says itself what an answer costs; Perplexity
#: charges for requests, not only for tokens.)
VENDORS = {
    "AWS/Bedrock": "aws",
    "Anthropic": "anthropic",
    "Azure/OpenAI": "azure",
    "Cerebras": "cerebras",
    "Cloudflare": "cloudflare",
    "Cohere": "cohere",
    "Databricks": "databricks",
    "DeepSeek": "deepseek",
    "Fireworks AI": "fireworks",
    "Google/Gemini": "google",
    "Google/Vertex": "google",
    "Groq": "groq",
    "Mistral": "mistral",
    "Moonshot AI": "moonshotai",
    "OpenAI": "openai",
    "Together AI": "together",
    "Z.ai": "zai",
    "xAI": "x-ai",
}
OTHER_MEDIA = re.compile(
    r"image|audio|tts|live|realtime|embedding|transcribe|omni|robotics|vision|banana|gemma"
)


def update() -> None:
    """Writes `prices.json` from the installed `genai-prices`."""
    from datetime import UTC, datetime  # noqa: PLC0415
    from importlib.metadata import version  # noqa: PLC0415

    from genai_prices import data  # noqa: PLC0415

    today = datetime.now(UTC)
    models = {provider.id: provider.models for provider in data.providers}
    vendors = {name: list(_rows(models[id], today)) for name, id in VENDORS.items()}
    lines = [f"{json.dumps(name)}: [\n{_lines(rows)}\n]" for name, rows in vendors.items()]
    facts = {
        "date": today.date().isoformat(),
        "source": f"genai-prices {version('genai-prices')}",
        "unit": "US dollars per million tokens: [from this many input tokens, input, output, cache read, cache write]",
    }
    head = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in facts.items())
    text = f'{{\n{head},\n"vendors": {{\n' + ",\n".join(lines) + "\n}\n}\n"
    TABLE.write_text(text, encoding="utf-8")
    print(f"{TABLE}: {sum(map(len, vendors.values()))} models as of {facts['date']}")  # noqa: T201


def _lines(rows: list[dict[str, Any]]) -> str:
    return ",\n".join(json.dumps(row, separators=(", ", ": ")) for row in rows)


def _rows(models: Any, today: Any) -> Iterator[dict[str, Any]]:
    for model in models:
        price = model.get_prices(today)
        if OTHER_MEDIA.search(model.id) or price.input_mtok is None or price.output_mtok is None:
            continue
        keys = (price.input_mtok, price.output_mtok, price.cache_read_mtok, price.cache_write_mtok)
        starts = sorted({0, *(tier.start for key in keys for tier in getattr(key, "tiers", ()))})
        prices = [[start, *(_at(key, start) for key in keys)] for start in starts]
        yield {"model": model.id, "match": _regex(model.match), "prices": prices}


def _at(price: Any, start: int) -> float | None:
    """A price, from so many input tokens on."""
    tiers = [tier.price for tier in getattr(price, "tiers", ()) if tier.start <= start]
    price = tiers[-1] if tiers else getattr(price, "base", price)
    return None if price is None else float(price)


def _regex(match: Any) -> Any:
    """`genai-prices`' matching logic as one regular expression for `re.search()`."""
    [(kind, value)] = vars(match).items()
    match kind:
        case "or_":
            return "|".join(map(_regex, value))
        case "and_":
            return "^" + "".join(
                f"(?=.*(?:{_regex(part)}))".replace("(?=.*(?:^", "(?=(?:^") for part in value
            )
        case "regex":
            return value
    text = re.escape(value).replace(r"\-", "-")
    forms = {"equals": f"^{text}$", "starts_with": f"^{text}", "ends_with": f"{text}$", "contains": text}
    return forms[str(kind)]


if __name__ == "__main__":
    if sys.argv[1:] != ["update"]:
        sys.exit("usage: python -m ellmer_core.models.prices update")
    update()
