"""Updates the package's table of prices from the installed PyPI package `genai-prices`.

The command is `python -m ellmer_core.models.prices.table_update`. The prices
(https://github.com/pydantic/genai-prices) are list prices for text, as of that day.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .price_lookup import TABLE

#: Providers as printed, and their names at genai-prices. (OpenRouter says itself what an answer costs; Perplexity
#: charges for requests, not only for tokens.)
PROVIDERS = {
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
    from datetime import UTC, datetime  # noqa: PLC0415 - only developers run it
    from importlib.metadata import version  # noqa: PLC0415 - only developers run it

    from genai_prices import data  # noqa: PLC0415 - only developers run it

    today = datetime.now(UTC)
    models = {provider.id: provider.models for provider in data.providers}
    providers = {name: list(_rows(models[id], today)) for name, id in PROVIDERS.items()}
    lines = [f"{json.dumps(name)}: [\n{_lines(rows)}\n]" for name, rows in providers.items()]
    facts = {
        "date": today.date().isoformat(),
        "source": f"genai-prices {version('genai-prices')}",
        "unit": "US dollars per million tokens: [from this many input tokens, input, output, cache read, cache write]",
    }
    head = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in facts.items())
    text = f'{{\n{head},\n"providers": {{\n' + ",\n".join(lines) + "\n}\n}\n"
    TABLE.write_text(text, encoding="utf-8")
    print(f"{TABLE}: {sum(map(len, providers.values()))} models as of {facts['date']}")  # noqa: T201 - it is its report


def _lines(rows: list[dict[str, Any]]) -> str:
    return ",\n".join(json.dumps(row, separators=(", ", ": ")) for row in rows)


def _rows(models: Any, today: Any) -> Iterator[dict[str, Any]]:
    for model in models:
        price = model.get_prices(today)
        if OTHER_MEDIA.search(model.id) or price.input_mtok is None or price.output_mtok is None:
            continue
        keys = (price.input_mtok, price.output_mtok, price.cache_read_mtok, price.cache_write_mtok)
        starts = sorted({0, *(tier.start for key in keys for tier in getattr(key, "tiers", ()))})
        prices = [[start, *(_price_from(key, start) for key in keys)] for start in starts]
        yield {"model": model.id, "match": _regex(model.match), "prices": prices}


def _price_from(price: Any, start: int) -> float | None:
    """Returns a price that holds from a number of input tokens on."""
    tiers = [tier.price for tier in getattr(price, "tiers", ()) if tier.start <= start]
    price = tiers[-1] if tiers else getattr(price, "base", price)
    return None if price is None else float(price)


def _regex(match: Any) -> Any:
    """Converts `genai-prices`' matching logic to one regular expression for `re.search()`."""
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
    update()
