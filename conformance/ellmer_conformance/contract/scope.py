"""The scope of a fact about an API: where, for which models and when a rule or a fact about a shape holds.

A fact holds for a provider, an API version, beta features and models, from a day on and until a day. Models are named by
patterns (`"gpt-5-mini*"`), or by family and generation (`"claude>=4.7"`), so that a newer model of the family is meant,
too, until there is evidence that it is different.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from urllib.parse import parse_qs, urlsplit

from ellmer_core.base.budget import remembered

from .request import Request

__all__ = ["Scope", "api_version", "generation", "matches", "named_betas"]


@dataclass(frozen=True)
class Scope:
    """Where and when a fact holds. An empty field does not restrict it.

    Args:
        models: Patterns of the models, or `family>=generation` and `family<generation`; `"!pattern"` excludes models.
        providers: Patterns of the providers; `"!pattern"` excludes providers.
        versions: API versions that the request must name; `"!pattern"` excludes versions.
        betas: Beta features. The request must name one of them; `"!pattern"` is a beta that it must not name.
        since: The first day on which it holds; `None` (default) for always.
        until: The first day on which it no longer holds; `None` (default) if it still does.

    Examples:
        >>> Scope(models=("claude>=4.7", "!claude-haiku-*")).about("anthropic", "claude-opus-5-5")
        True
        >>> Scope(since=date(2026, 10, 21)).on(date(2026, 9, 1))
        False
    """

    models: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    betas: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None

    def holds(self, request: Request) -> bool:
        """Tells whether the fact is in force for a request on its day.

        Args:
            request: The request. Without a day, it is judged as of today.
        """
        return self.about(request.provider, request.model) and self.named(request) and self.on(request.when)

    def about(self, provider: str, model: str) -> bool:
        """Tells whether the fact is about a model of a provider, on any day and in any version.

        Args:
            provider: Name of the provider.
            model: Name of the model.
        """
        return _chosen(model, self.models) and _chosen(provider, self.providers)

    def named(self, request: Request) -> bool:
        """Tells whether a request names the API version and the betas of the fact.

        Args:
            request: The request.
        """
        if self.versions and not _chosen(api_version(request), self.versions):
            return False
        if not self.betas:
            return True
        told = named_betas(request) or ("",)
        wanted = any(_chosen(name, self.betas) for name in told)
        return wanted and not any(f"!{name}" in self.betas for name in told)

    def on(self, day: date | None) -> bool:
        """Tells whether the fact is in force on a day.

        Args:
            day: The day; `None` means today.
        """
        if not (self.since or self.until):
            return True
        day = day or date.today()  # noqa: DTZ011 - a provider's day has no time zone here
        return (self.since is None or day >= self.since) and (self.until is None or day < self.until)


# --- what a request names --------------------------------------------------------------------------------


def api_version(request: Request) -> str:
    """Returns the API version that a request names, or an empty text.

    Anthropic has it in a header, and in the body behind Vertex AI and Bedrock; Google in the path; Azure in the query.

    Args:
        request: The request.

    Examples:
        >>> api_version(Request("anthropic", "anthropic", {}, headers={"anthropic-version": "2023-06-01"}))
        '2023-06-01'
    """
    if request.wire in {"anthropic", "bedrock"}:
        told = request.body.get("anthropic_version")
        return told if isinstance(told, str) else request.headers.get("anthropic-version", "")
    return _in_url(request.url)


def named_betas(request: Request) -> tuple[str, ...]:
    """Returns the beta features that a request names in its header, in its body (at Vertex AI and Bedrock) or, as the
    SDKs' own field, in `betas`.

    Args:
        request: The request.
    """
    header = request.headers.get("anthropic-beta", "") if request.headers else ""
    told = [request.body.get("anthropic_beta"), request.body.get("betas")]
    if not header and told == [None, None]:
        return ()
    listed = [name for names in told if isinstance(names, list) for name in names if isinstance(name, str)]
    return (*(name.strip() for name in header.split(",") if name.strip()), *listed)


@remembered(1024)
def _in_url(url: str) -> str:
    parts = urlsplit(url)
    told = parse_qs(parts.query).get("api-version")
    if told:
        return told[0]
    found = re.search(r"/(v\d+(?:(?:alpha|beta)\d*)?)/", parts.path)
    return found[1] if found else ""


# --- names of models -------------------------------------------------------------------------------------


_COMPARED = re.compile(r"(?P<family>[a-z][a-z-]*)(?P<sign>>=|<)(?P<generation>\d+(?:\.\d+)?)")


@remembered(65_536)
def matches(model: str, pattern: str) -> bool:
    """Tells whether a pattern names a model: `"gpt-5*"`, or `"gpt>=5.4"` for a family from a generation on.

    Args:
        model: Name of the model, also with a prefix of its host.
        pattern: The pattern.

    Examples:
        >>> matches("us.anthropic.claude-opus-4-7-v1:0", "claude>=4.7"), matches("gpt-6-astra", "gpt<6")
        (True, False)
    """
    compared = _COMPARED.fullmatch(pattern)
    if compared is None:
        return fnmatchcase(model, pattern)
    found = generation(model, compared["family"])
    if found is None:
        return False
    major, _, minor = compared["generation"].partition(".")
    newer = found >= (int(major), int(minor or 0))
    return newer if compared["sign"] == ">=" else not newer


@remembered(65_536)
def generation(model: str, family: str) -> tuple[int, int] | None:
    """Returns the generation of a model of a family, or `None` for a model of another family.

    Args:
        model: Name of the model.
        family: The family, such as `"claude"`, or a line of it, such as `"claude-opus"`.

    Examples:
        >>> generation("claude-sonnet-4-20250514", "claude"), generation("gpt-6.2-sol", "gpt")
        ((4, 0), (6, 2))
        >>> generation("openai/gpt-oss-20b", "gpt") is None
        True
    """
    model = model.replace("gpt-35", "gpt-3.5")  # Azure's name
    number = r"-(?:[a-z]+-)?(\d{1,2})(?:[.-](\d{1,2})(?![\da-z]))?(?!\d|b\b)"  # `20b` is a size
    found = re.search(rf"(?<![a-z\d]){family}{number}", model)
    return (int(found[1]), int(found[2] or 0)) if found else None


def _chosen(name: str, patterns: Sequence[str]) -> bool:
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    unwanted = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    return (not wanted or any(matches(name, pattern) for pattern in wanted)) and not any(
        matches(name, pattern) for pattern in unwanted
    )
