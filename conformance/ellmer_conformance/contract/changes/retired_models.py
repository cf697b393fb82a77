"""Models that their provider has shut down. A recording of such a model is stale, because nobody can get its answers
again.

`pytest -p ellmer_conformance.contract.changes.retired_models` registers this for the harness's hook `pytest_cassette_stale`.
Without pytest, it is a policy: `use_cassette(path, policies=[pytest_cassette_stale])`.

The dates come from the providers' own pages, or from texts that quote them (and, for xAI and Cohere, from their errors), for their own platforms.
Bedrock, Azure, Vertex AI and routers have other schedules and are left out. A future date counts from that day on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from urllib.parse import unquote, urlsplit

from ellmer_harness.cassette.cassette_state import Recording
from ellmer_harness.exchange.messages import Sent


@dataclass(frozen=True)
class Schedule:
    """The shutdown days of a provider's models. `read` is the day on which the provider's page was read."""

    provider: str
    source: str
    read: date
    days: Mapping[str, str] = field(repr=False)

    def of(self, model: str) -> date | None:
        """Returns the day from which the model is shut down."""
        return next(
            (date.fromisoformat(day) for day, names in self.days.items() if model in names.split()), None
        )


SCHEDULES = {
    "api.anthropic.com": Schedule(
        "Anthropic",
        "https://platform.claude.com/docs/en/about-claude/model-deprecations",
        date(2026, 11, 21),
        {
            "2024-11-06": "claude-1.0 claude-1.1 claude-1.2 claude-1.3"
            " claude-instant-1.0 claude-instant-1.1 claude-instant-1.2",
            "2025-07-21": "claude-2.0 claude-2.1 claude-3-sonnet-20240229",
            "2025-10-28": "claude-3-5-sonnet-20240620 claude-3-5-sonnet-20241022 claude-3-5-sonnet-latest",
            "2026-01-05": "claude-3-opus-20240229 claude-3-opus-latest",
            "2026-02-19": "claude-3-5-haiku-20241022 claude-3-5-haiku-latest"
            " claude-3-7-sonnet-20250219 claude-3-7-sonnet-latest",
            "2026-04-20": "claude-3-haiku-20240307",
            "2026-06-15": "claude-opus-4-20250514 claude-opus-4-0 claude-sonnet-4-20250514 claude-sonnet-4-0",
            "2026-08-05": "claude-opus-4-1-20250805 claude-opus-4-1",
            # https://platform.claude.com/docs/en/models/sonnet-4-5/overview, and, for Opus, which is tentative,
            # https://github.com/samarthputhraya/Modelpin/releases/tag/v0.5.7, which quotes the page of 2026-11-26
            "2026-11-30": "claude-sonnet-4-5-20250929 claude-sonnet-4-5",
            "2027-01-22": "claude-opus-4-5-20251101 claude-opus-4-5",
        },
    ),
    "api.openai.com": Schedule(
        "OpenAI",
        "https://developers.openai.com/api/docs/deprecations",
        date(2026, 11, 21),
        {
            "2024-01-04": "ada babbage curie davinci"
            " text-ada-001 text-babbage-001 text-curie-001 text-davinci-001 text-davinci-002 text-davinci-003",
            "2024-09-13": "gpt-3.5-turbo-0613 gpt-3.5-turbo-16k-0613",
            "2025-07-14": "gpt-4.5-preview gpt-4.5-preview-2025-02-27",
            "2025-07-28": "o1-preview o1-preview-2024-09-12",
            "2025-10-27": "o1-mini o1-mini-2024-09-12 text-moderation-latest text-moderation-stable",
            "2026-02-12": "codex-mini-latest",
            "2026-02-17": "chatgpt-4o-latest",
            "2026-03-26": "gpt-4-0314 gpt-4-0125-preview gpt-4-turbo-preview",
            "2026-05-12": "dall-e-2 dall-e-3",
            "2026-07-23": "computer-use-preview computer-use-preview-2025-03-11 gpt-4o-audio-preview-2024-12-17"
            " gpt-4o-search-preview-2025-03-11 gpt-4o-mini-search-preview-2025-03-11 gpt-5-chat-latest gpt-5-codex"
            " gpt-5.1-chat-latest gpt-5.1-codex gpt-5.1-codex-max gpt-5.1-codex-mini gpt-5.2-codex"
            " o3-deep-research o3-deep-research-2025-06-26 o4-mini-deep-research o4-mini-deep-research-2025-06-26",
            "2026-10-23": "gpt-3.5-turbo gpt-3.5-turbo-0125 gpt-4 gpt-4-0613 gpt-4-1106-preview gpt-4-turbo"
            " gpt-4-turbo-2024-04-09 gpt-4o-2024-05-13 gpt-4.1-nano gpt-4.1-nano-2025-04-14 o1 o1-2024-12-17"
            " o1-pro o1-pro-2025-03-19 o3-mini o3-mini-2025-01-31 o4-mini o4-mini-2025-04-16 gpt-image-1",
            "2026-12-01": "gpt-image-1-mini gpt-image-1.5 gpt-image-1.5-2025-12-16 chatgpt-image-latest",
            "2026-12-11": "gpt-5 gpt-5-2025-08-07 gpt-5-mini gpt-5-mini-2025-08-07 gpt-5-nano gpt-5-nano-2025-08-07"
            " gpt-5-pro gpt-5-pro-2025-10-06 o3 o3-2025-04-16 o3-pro o3-pro-2025-06-10",
            "2027-01-14": "gpt-4o gpt-4o-2024-08-06 gpt-4o-2024-11-20 gpt-4o-mini gpt-4o-mini-2024-07-18"
            " gpt-4.1 gpt-4.1-2025-04-14 gpt-4.1-mini gpt-4.1-mini-2025-04-14",
            # these three days: https://dev.to/aidriftline and
            # https://dev.to/max_bob/openai-api-deprecations-2026-2027-every-shutdown-date-and-recommended-replacement-gpt-4o-2ffm,
            # which compared the page with the `shutdown_date` of GET /v1/models
            "2027-01-20": "gpt-realtime gpt-audio",
            "2027-02-26": "whisper-1 gpt-4o-transcribe gpt-4o-mini-transcribe gpt-4o-transcribe-diarize",
            "2027-04-01": "gpt-5.1 gpt-5.3-codex gpt-5.4-nano",
        },
    ),
    "generativelanguage.googleapis.com": Schedule(
        "Google",
        "https://ai.google.dev/gemini-api/docs/deprecations",
        date(2026, 11, 21),
        {
            "2025-09-29": "gemini-1.5-pro gemini-1.5-flash gemini-1.5-flash-8b",
            "2025-11-10": "imagen-3.0-generate-002",
            "2025-12-02": "gemini-2.5-pro-preview-03-25 gemini-2.5-pro-preview-05-06 gemini-2.5-pro-preview-06-05",
            "2025-12-09": "gemini-2.0-flash-live-001 gemini-live-2.5-flash-preview",
            "2026-01-14": "text-embedding-004",
            "2026-01-15": "gemini-2.5-flash-image-preview",
            "2026-03-09": "gemini-3-pro-preview",
            "2026-06-01": "gemini-2.0-flash gemini-2.0-flash-001 gemini-2.0-flash-lite gemini-2.0-flash-lite-001",
            "2026-06-25": "gemini-3.1-flash-image-preview gemini-3-pro-image-preview",
            "2026-12-01": "gemini-2.5-pro gemini-2.5-flash",
        },
    ),
    "api.x.ai": Schedule(
        "xAI", "https://docs.x.ai/docs/models", date(2026, 11, 21), {"2025-09-15": "grok-beta"}
    ),
    "api.deepseek.com": Schedule(
        "DeepSeek",
        "https://github.com/anomalyco/opencode/issues/24155",  # which quotes https://api-docs.deepseek.com
        date(2026, 11, 28),
        {"2026-07-24": "deepseek-chat deepseek-reasoner"},
    ),
    "api.groq.com": Schedule(  # for free accounts and developers; contracts of enterprises may keep them
        "Groq",
        "https://console.groq.com/docs/deprecations",
        date(2026, 11, 28),
        {
            "2025-03-20": "mixtral-8x7b-32768",
            "2025-10-02": "deepseek-r1-distill-llama-70b",
            "2026-03-09": "meta-llama/llama-4-maverick-17b-128e-instruct",
            "2026-07-17": "qwen/qwen3-32b meta-llama/llama-4-scout-17b-16e-instruct",
            "2026-08-16": "llama-3.3-70b-versatile llama-3.1-8b-instant",
        },
    ),
    "api.cerebras.ai": Schedule(
        "Cerebras",
        "https://inference-docs.cerebras.ai/support/deprecation",
        date(2026, 11, 28),
        {
            "2026-01-20": "zai-glm-4.6",
            "2026-02-16": "qwen-3-32b llama-3.3-70b",
            "2026-05-27": "llama3.1-8b qwen-3-235b-a22b-instruct-2507",
            "2026-08-17": "zai-glm-4.7",
        },
    ),
    "api.perplexity.ai": Schedule(  # Chat Completions, with these models
        "Perplexity",
        "https://github.com/hex/llm-perplexity/pull/27",  # which quotes https://docs.perplexity.ai
        date(2026, 11, 28),
        {"2026-09-27": "sonar sonar-pro sonar-reasoning sonar-reasoning-pro sonar-deep-research"},
    ),
    "api.mistral.ai": Schedule(
        "Mistral",
        "https://github.com/braintrustdata/braintrust-proxy/issues/1005",  # which quotes https://docs.mistral.ai/getting-started/models
        date(2026, 11, 28),
        {"2025-11-30": "codestral-2501", "2025-12-31": "pixtral-12b-2409"},
    ),
    "api.moonshot.ai": Schedule(
        "Moonshot AI",
        "https://github.com/anomalyco/models.dev/pull/6101",  # which quotes https://platform.kimi.ai/docs/models
        date(2026, 9, 2),
        {
            "2026-05-25": "kimi-k2-0711-preview kimi-k2-0905-preview kimi-k2-turbo-preview kimi-k2-thinking"
            " kimi-k2-thinking-turbo",
            "2026-08-31": "kimi-k2.5",
        },
    ),
    **dict.fromkeys(
        ("dashscope-intl.aliyuncs.com", "dashscope.aliyuncs.com"),
        Schedule(
            "Alibaba/Qwen",
            "https://docs.apiyi.com/en/live/2026-10/bailian-models-offline",  # which lists what Alibaba retired
            date(2026, 11, 29),
            {
                "2026-10-10": "qwen3-max qwen3-max-preview qwen-turbo qwen-vl-max qwen-vl-plus qwen3-32b qwen3-30b-a3b"
                " qwen3-235b-a22b qwen3-coder-plus qwen3-vl-flash"
            },
        ),
    ),
    **dict.fromkeys(
        ("api.cohere.com", "api.cohere.ai"),
        Schedule(
            "Cohere",
            "https://docs.cohere.com/docs/deprecations",
            date(2026, 11, 21),
            {"2025-09-15": "command-r command-r-plus"},
        ),
    ),
}
_IN_PATH = re.compile(r"/models/([^/:]+)")


def pytest_cassette_stale(recording: Recording) -> str | None:
    """Returns a clause with the models of a recording that are shut down by its clock, or `None`.

    Answers of the strict server are not a model's, so they do not become stale.
    """
    if (recording.metadata.get("ellmer_harness") or {}).get("recorded_from") == "strict-server":
        return None
    found = dict.fromkeys(
        filter(None, (_gone(request, recording.today.date()) for request in recording.requests))
    )
    return "; ".join(found) or None


def shutdown(host: str, model: str) -> date | None:
    """Returns the day from which a host no longer serves a model, or `None` if it is not known."""
    schedule = SCHEDULES.get(host)
    return schedule.of(model.removeprefix("models/")) if schedule else None


def _gone(request: Sent, today: date) -> str | None:
    host, model = urlsplit(request.url).hostname or "", _model(request)
    day = shutdown(host, model)
    if day is None or day > today:
        return None
    return f"{SCHEDULES[host].provider} shut {model} down on {day} ({SCHEDULES[host].source})"


def _model(request: Sent) -> str:
    """Returns the model in the body or the path."""
    body = None
    with suppress(ValueError):
        body = request.json
    if isinstance(body, dict) and isinstance(body.get("model"), str):
        return str(body["model"])
    match = _IN_PATH.search(urlsplit(request.url).path)
    return unquote(match[1]) if match else ""
