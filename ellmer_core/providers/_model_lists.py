"""The models of a provider from its API: `models_openai()`, `models_anthropic()`, … have one implementation.

The list has several shapes: `{"data": […]}`, `{"models": […]}`, a bare list. Each model has an `id`, a `name` or a
`modelId`. Its date is Unix time, ISO text, or missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from ..errors import ResponseError
from ..models.prices.price_lookup import prices
from ..transport.single_requests import asked_json, run
from ._construction import constructor

LISTS = ("data", "models", "modelSummaries", "publisherModels")
NAMES = ("id", "modelId", "name")
DATES = ("created", "created_at", "modified_at")


def lister(provider: str) -> Callable[..., list[dict[str, Any]]]:
    """Returns the function `models_<provider>`."""

    def models(**options: Any) -> list[dict[str, Any]]:
        chat = constructor(provider)(**{"model": "-", "echo": "none", **options})
        with chat:
            asking = asked_json(chat.wire, chat.wire.models_request(), max_tries=chat.max_tries)
            answer = run(asking, chat._connection)  # noqa: SLF001 - of this package, like the chat
        rows = [{"id": id, "created": day, **prices(chat.wire.provider, id)} for id, day in listed(answer)]
        return sorted(rows, key=lambda row: row["created"] or date.min, reverse=True)

    models.__name__ = models.__qualname__ = f"models_{provider}"
    models.__doc__ = f"""Returns the models that `chat_{provider}()` can name, the newest first if their dates are known.

    The provider's API lists the models. The prices are those of this package, or of `refresh_prices()`.

    Args:
        **options: The options of `chat_{provider}()`, such as `api_key` and `base_url`; none is required.

    Returns:
        A dictionary for each model: `id` (its name), `created` (a `datetime.date`; `None` if it is not known), and
        `input`, `output` and `cached` (US dollars per million tokens; `None` if they are not known).

    Raises:
        UsageError: The key is missing, or the API lists no models.
        ProviderError: The provider answered with an error.
        ConnectError: The provider could not be reached.

    Examples:
        >>> models_{provider}()[0]["id"]  # doctest: +SKIP
    """
    return models


def listed(response: Any) -> list[tuple[str, date | None]]:
    """Returns each model's name for requests, and its creation date if the provider gives one."""
    found = response if isinstance(response, list) else _first(response, LISTS)
    if not isinstance(found, list) or not all(isinstance(model, Mapping) for model in found):
        raise ResponseError(f"This response is not a list of models: {response!r:.200}")
    models = [(_first(model, NAMES), _day(_first(model, DATES))) for model in found]
    return [(_plain_name(str(name)), day) for name, day in models if name]


def _plain_name(name: str) -> str:
    """Returns the name without Google's prefixes `models/` and `publishers/google/models/`."""
    return name.rpartition("models/")[2] if name.startswith(("models/", "publishers/")) else name


def _first(value: Any, names: tuple[str, ...]) -> Any:
    if not isinstance(value, Mapping):
        return None
    return next((value[name] for name in names if value.get(name) is not None), None)


def _day(value: object) -> date | None:
    try:
        match value:
            case int() | float() if value > 0:  # some say 0 where they do not know
                return datetime.fromtimestamp(value, UTC).date()
            case str():
                return date.fromisoformat(value[:10])
    except (ValueError, OverflowError, OSError):
        pass
    return None
