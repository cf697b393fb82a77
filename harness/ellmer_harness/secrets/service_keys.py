"""Finds the keys of services by their prefixes.

The list has the keys of model providers and of the services that tests of such programs use most. The rule
set of the extra `secrets` has hundreds more, which the author of gitleaks and MongoDB maintain. Loading them takes ten
seconds the first time on a machine, and one second afterwards; searching a megabyte takes ten milliseconds. They are
therefore loaded only before data is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from .value_randomness import random

__all__ = ["around", "keys", "maintained"]


# --- Patterns of this package ----------------------------------------------------------------------------


# The name of a secret, the texts that every such secret has (searched first, because it is fast), and its pattern.
_PATTERNS: list[tuple[str, tuple[str, ...], re.Pattern[str]]] = [
    (what, literals, re.compile(pattern, re.ASCII))
    for what, literals, pattern in (
        ("an Anthropic key", ("sk-ant-",), r"sk-ant-[\w-]{16,}"),
        ("an API key (sk-…)", ("sk-",), r"\bsk-(?!ant-)[\w-]{20,}"),
        ("an API key", ("sk_", "rk_", "pcsk_"), r"(?<![A-Za-z])(?:sk|rk|pcsk)_\w{24,}"),
        ("a Google API key", ("AIza",), r"AIza[\w-]{30,}"),
        ("a Google OAuth token", ("ya29.",), r"ya29\.[\w-]{20,}"),
        ("a Google OAuth secret", ("GOCSPX-", "1//0"), r"(?:GOCSPX-[\w-]{20,}|\b1//0[\w-]{40,})"),
        ("a Groq key", ("gsk_",), r"gsk_\w{20,}"),
        ("an xAI key", ("xai-",), r"\bxai-\w{20,}"),
        ("a Perplexity key", ("pplx-",), r"pplx-\w{20,}"),
        ("an NVIDIA key", ("nvapi-",), r"nvapi-[\w-]{20,}"),
        ("a Cerebras key", ("csk-",), r"\bcsk-\w{20,}"),
        ("a Together key", ("tgp_v1_",), r"tgp_v1_[\w-]{20,}"),
        ("a Jina key", ("jina_",), r"\bjina_\w{30,}"),
        ("a Voyage key", ("pa-",), r"(?<![\w-])pa-[\w-]{40,}"),
        ("a Bedrock key", ("ABSK", "bedrock-api-key-"), r"(?:\bABSK|bedrock-api-key-)[\w+/=-]{40,}"),
        ("a Replicate token", ("r8_",), r"\br8_\w{30,}"),
        ("a Fireworks key", ("fw_",), r"\bfw_[A-Za-z0-9]{20,}"),
        ("a LangSmith key", ("lsv2_",), r"\blsv2_\w{30,}"),
        ("a Tavily key", ("tvly-",), r"\btvly-[\w-]{20,}"),
        ("a Hugging Face token", ("hf_",), r"\b(?:api_org|hf)_[A-Za-z0-9]{20,}\b"),
        ("a Databricks token", ("dapi",), r"\bdapi[0-9a-f]{32}"),
        ("a GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_\w{30,}"),
        ("a GitHub token", ("github_pat_",), r"github_pat_\w{30,}"),
        (
            "a GitLab token",
            ("glpat-", "gldt-", "glrt-", "glptt-", "gloas-", "glcbt-", "glft-", "glsoat-", "glagent-"),
            r"gl[a-z]{2,5}-[\w.-]{20,}",
        ),
        ("an Atlassian token", ("ATATT3", "ATCTT3", "ATBB"), r"\bAT(?:[AC]TT3[\w=-]{20,}|BB\w{24,})"),
        ("an npm token", ("npm_",), r"\bnpm_[A-Za-z0-9]{30,}"),
        ("a PyPI token", ("pypi-",), r"\bpypi-[\w-]{50,}"),
        ("a RubyGems key", ("rubygems_",), r"\brubygems_[0-9a-f]{40,}"),
        ("a Docker token", ("dckr_",), r"\bdckr_(?:pat|oat)_[\w-]{20,}"),
        (
            "an AWS access key id",
            ("AKIA", "ASIA", "ABIA", "ACCA"),
            r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
        ),
        ("an Alibaba access key id", ("LTAI",), r"\bLTAI[A-Za-z0-9]{16,}"),
        ("an Azure secret", ("Q~",), r"[\w~.-]{3}\dQ~[\w~.-]{31,34}"),
        ("a Stripe secret", ("whsec_",), r"\bwhsec_[\w+/=]{20,}"),
        ("a Square token", ("sq0",), r"\bsq0[a-z]{3}-[\w-]{20,}"),
        ("a Facebook token", ("EAA",), r"(?<![\w+/])EAA[MC][A-Za-z0-9]{60,}\b(?![+/=])"),
        ("a SendGrid key", ("SG.",), r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
        ("a Brevo key", ("xkeysib-",), r"\bxkeysib-[0-9a-f]{64}"),
        ("a Mailgun key", ("key-",), r"(?<![\w-])key-[0-9a-f]{32}\b"),
        ("a Mailchimp key", ("-us",), r"\b[0-9a-f]{32}-us\d{1,2}\b"),
        ("a Twilio key", ("SK",), r"\bSK[0-9a-f]{32}\b"),
        ("a Shopify token", ("shp",), r"\bshp(?:at|ca|pa|ss|tka)_[0-9a-f]{32}"),
        ("a DigitalOcean token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"\bdo[opr]_v1_[0-9a-f]{64}"),
        ("a Slack token", ("xox", "xapp-"), r"(?:xox[abeoprs]|xapp)-[\w.-]{10,}"),
        (
            "a Slack webhook",
            ("hooks.slack.com",),
            r"hooks\.slack\.com/(?:services|workflows)/\w+/\w+/[\w/]{20,}",
        ),
        ("a Discord webhook", ("/webhooks/",), r"discord(?:app)?\.com/api/webhooks/\d+/[\w-]{40,}"),
        ("a Teams webhook", (".webhook.office.com/",), r"\.webhook\.office\.com/webhookb2/[\w@/-]{60,}"),
        ("a Telegram token", (":AA",), r"(?<!\d)\d{6,10}:[\w-]{35}(?![\w-])"),
        ("a Telegram token", ("/bot",), r"/bot\d{6,10}:[\w-]{35}(?![\w-])"),
        ("a Vault token", ("hvs.", "hvb.", "hvr."), r"\bhv[sbr]\.[\w-]{20,}"),
        ("a Terraform token", (".atlasv1.",), r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}"),
        ("a Pulumi token", ("pul-",), r"\bpul-[0-9a-f]{40}"),
        ("a Notion token", ("ntn_", "secret_"), r"\b(?:ntn_|secret_)[A-Za-z0-9]{32,}"),
        ("a Linear key", ("lin_",), r"\blin_(?:api|oauth)_\w{30,}"),
        ("an Airtable token", ("pat",), r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
        ("a Supabase key", ("sbp_", "sb_secret_"), r"\b(?:sbp_(?:oauth_)?[0-9a-f]{40}|sb_secret_[\w-]{20,})"),
        ("a Grafana token", ("glsa_", "glc_"), r"\b(?:glsa_\w{30,}|glc_[\w+/=]{30,})"),
        ("a Sentry token", ("sntry",), r"\bsntry[a-z]_[\w+/=]{40,}"),
        ("a PostHog key", ("phx_", "phs_"), r"\bph[xs]_\w{30,}"),
        (
            "a New Relic key",
            ("NRAK-", "NRJS-", "NRII-", "NRAL"),
            r"\bNR(?:AK|JS|II)-[\w-]{19,}|\b[0-9a-f]{36}NRAL\b",
        ),
        ("a Dynatrace token", ("dt0",), r"\bdt0[a-z]\d\d\.[A-Z0-9]{20,}\.[A-Z0-9]{60,}"),
        ("a Figma token", ("figd_", "figo_"), r"\bfig[dou]h?_[\w-]{30,}"),
        ("a Postman key", ("PMAK-",), r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
        ("a Doppler token", ("dp.",), r"\bdp\.(?:pt|st|sa|ct|scim|audit)\.[\w.-]{30,}"),
        ("a Heroku key", ("HRKU-",), r"\bHRKU-[\w-]{30,}"),
        ("a Fly.io token", ("FlyV1", "fm2_", "fo1_"), r"\b(?:fm[12][ar]?_[\w+/=-]{40,}|fo1_[\w-]{40,})"),
        ("a Netlify token", ("nfp_", "nfo_"), r"\bnf[pocub]_[A-Za-z0-9]{36,}"),
        ("a Render key", ("rnd_",), r"\brnd_[A-Za-z0-9]{28,}"),
        ("a Vercel token", ("vcp_", "vck_", "vca_"), r"\bvc[pkair]_[A-Za-z0-9]{24,}"),
        ("a Tailscale key", ("tskey-",), r"\btskey-[\w-]{20,}"),
        ("a PlanetScale token", ("pscale_",), r"\bpscale_(?:tkn|pw|oauth)_[\w.=-]{30,}"),
        ("a Contentful token", ("CFPAT-",), r"\bCFPAT-[\w-]{40,}"),
        ("an Intercom or Hubspot key", ("pat-",), r"\bpat-(?:na|eu)\d-[0-9a-f-]{36}"),
        ("a ClickUp token", ("pk_",), r"\bpk_\d{6,}_[A-Z0-9]{32}"),
        (
            "an Artifactory key",
            ("AKCp", "cmVmdGtuO"),
            r"\b(?:AKCp[A-Za-z0-9]{60,}|cmVmdGtuO[A-Za-z0-9]{50,})",
        ),
        ("a 1Password token", ("ops_ey",), r"\bops_ey[\w+/=-]{100,}"),
        ("an E2B key", ("e2b_",), r"\be2b_[0-9a-f]{40}"),
        ("a JSON web token", ("eyJ",), r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
        ("an age key", ("AGE-SECRET-KEY-1",), r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
        ("a Cloudflare cookie", ("__cf_bm=", "cf_clearance="), r"(?:__cf_bm|cf_clearance)=[\w.-]{20,}"),
    )
]
_MARKS = "-_.:/=~"
_BACK = {"Q~": 4, "-us": 32, "NRAL": 36, ".atlasv1.": 14, ":AA": 10, "/webhooks/": 19, "hf_": 8}
"""How far before such a literal a key may begin; all others begin with it."""


def keys(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields the keys among words without spaces, each with its kind."""
    text = "\n".join(words)
    missing = {mark for mark in _MARKS if mark not in text}  # base64 has none, and is most of what is long
    for what, literals, pattern in _PATTERNS:
        for literal in literals:
            if missing.isdisjoint(literal):
                found = around(text, literal, pattern, _BACK.get(literal, 0))
                yield from ((what, key[0]) for key in found if random(key[0]))


def around(text: str, literal: str, pattern: re.Pattern[str], back: int = 0) -> Iterator[re.Match[str]]:
    """Yields the matches that begin at the literal, or at most `back` characters earlier."""
    at = text.find(literal)
    while at >= 0:
        found = next(
            (one for start in range(max(0, at - back), at + 1) if (one := pattern.match(text, start))), None
        )
        if found:
            yield found
        at = text.find(literal, max(at + 1, found.end() if found else 0))


# --- Patterns that others maintain -----------------------------------------------------------------------


def maintained(text: bytes) -> Iterator[tuple[str, str]]:
    """Yields the findings of the rules in a text: the secret and its kind."""
    scanner = _scanner()
    for found in scanner.scan(text) if scanner else ():
        if found.visible:
            yield found.secret, f"what rule {found.rule_id} finds"


@cache
def _scanner() -> Any:
    try:
        from kingfisher_sdk import Rules, Scanner  # noqa: PLC0415  # an extra, and slow to load
    except ModuleNotFoundError:
        return None
    return Scanner(Rules(), base64=False)
