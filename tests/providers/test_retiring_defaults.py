"""Default models are replaced before their provider retires them.

The day that counts is that of `MODELS_AS_OF`, which `nox -s nightly` sets to today; without it, the day on which the newest
schedule was read. So a checkout does not fail because time passes.
"""

import os
import warnings
from datetime import date, timedelta

import pytest
from wires.every_provider import WIRES

from ellmer_conformance.contract.changes.retired_models import SCHEDULES, shutdown

REPLACED, WARNED = timedelta(days=60), timedelta(days=90)
AS_OF = date.fromisoformat(
    os.environ.get("MODELS_AS_OF") or max(s.read for s in SCHEDULES.values()).isoformat()
)
HOSTS = {
    "OpenAI": "api.openai.com",
    "Anthropic": "api.anthropic.com",
    "Google/Gemini": "generativelanguage.googleapis.com",
    "xAI": "api.x.ai",
    "Cohere": "api.cohere.com",
    "Moonshot AI": "api.moonshot.ai",
    "DeepSeek": "api.deepseek.com",
    "Groq": "api.groq.com",
    "Cerebras": "api.cerebras.ai",
    "Mistral": "api.mistral.ai",
    "Alibaba/Qwen": "dashscope-intl.aliyuncs.com",
}
DEFAULTS = sorted({(w.provider, w.default_model) for w in WIRES if w.default_model and w.provider in HOSTS})


def left(provider, model, today):
    """Returns how long the model is still served, or `None` if no end is announced."""
    day = shutdown(HOSTS[provider], model)
    return None if day is None else day - today


def judged(provider, model, today):
    """Fails if a default retires within 60 days, and warns if it does within 90."""
    rest = left(provider, model, today)
    assert rest is None or rest > REPLACED, f"{model} of {provider} retires in {rest.days} days: replace it"
    if rest is not None and rest <= WARNED:
        warnings.warn(f"{model} of {provider} retires in {rest.days} days", UserWarning, stacklevel=2)


def test_every_provider_with_a_schedule_is_looked_at():
    assert {provider for provider, _ in DEFAULTS} == set(HOSTS)
    assert set(HOSTS.values()) <= set(SCHEDULES)


@pytest.mark.filterwarnings(
    "default:.* retires in:UserWarning"
)  # said in the summary, 30 days before it is an error
@pytest.mark.parametrize(("provider", "model"), DEFAULTS)
def test_no_default_is_about_to_retire(provider, model):
    judged(provider, model, AS_OF)


@pytest.mark.parametrize(
    ("today", "verdict"), [("2026-10-15", None), ("2026-10-17", "warns"), ("2026-11-25", "fails")]
)
def test_the_dates_that_a_model_goes_through(today, verdict):
    """gpt-4.1 retires on 2027-01-14."""
    today = date.fromisoformat(today)
    if verdict == "fails":
        with pytest.raises(AssertionError, match="retires in 50 days: replace it"):
            judged("OpenAI", "gpt-4.1", today)
    elif verdict == "warns":
        with pytest.warns(UserWarning, match="gpt-4.1 of OpenAI retires in 89 days"):
            judged("OpenAI", "gpt-4.1", today)
    else:
        judged("OpenAI", "gpt-4.1", today)
