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
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import Any, NamedTuple

from .value_randomness import pretended, random

# --- Patterns of this package ----------------------------------------------------------------------------


class Pattern(NamedTuple):
    """A kind of key. A row of `PATTERNS`.

    `literals` are the texts of which every such key has one (searched first, because it is fast), and `samples` are
    keys of this kind, both separated by spaces. In a sample, `{H32}` stands for 32 random characters of the alphabet H
    (`ALPHABETS`). `before` says how many characters of a key come before its literal, at least and at most. `once` says that of
    several literals in a run of letters, `-` and `_`, the first one decides.
    """

    what: str
    literals: str
    regex: str
    samples: str
    before: tuple[int, int] = (0, 0)
    once: bool = False


ALPHABETS = {
    "A": ascii_letters + digits,
    "B": ascii_letters + digits + "+/",
    "C": ascii_uppercase + digits,
    "D": digits,
    "H": "0123456789abcdef",
    "L": ascii_letters,
    "N": "123456789abcdefghijkmnopqrstuvwxyz",
    "T": ascii_lowercase + "234567",
    "U": ascii_letters + digits + "-_",
}
PATTERNS = (
    Pattern("an Anthropic key", "sk-ant-", r"sk-ant-[\w-]{16,}", "sk-ant-api03-{U95}"),
    Pattern(
        "an API key (sk-…)", "sk-", r"\bsk-(?!ant-)[\w-]{20,}", "sk-proj-{U48} sk-or-v1-{H64} sk-lf-{H32}"
    ),
    Pattern(
        "an API key",
        "sk_ rk_ pcsk_",
        r"(?<![A-Za-z0-9])(?:sk|rk|pcsk)_\w{24,}",
        "sk_{H48} rk_{A24} pcsk_{A40}",
    ),
    Pattern("a Google API key", "AIza", r"AIza[\w-]{30,}", "AIza{U35}"),
    Pattern("a Google OAuth token", "ya29.", r"ya29\.[\w-]{20,}", "ya29.{U60}"),
    Pattern(
        "a Google OAuth secret",
        "GOCSPX- 1//0",
        r"(?:GOCSPX-[\w-]{20,}|\b1//0[\w-]{40,})",
        "GOCSPX-{U28} 1//0{U60}",
    ),
    Pattern("a Groq key", "gsk_", r"gsk_\w{20,}", "gsk_{A52}"),
    Pattern("a Gemini key", "AQ.", r"(?<![\w.-])AQ\.[\w-]{40,}", "AQ.{U50}"),
    Pattern(
        "an Azure AI key",
        "JQQJ9",
        r"(?<![A-Za-z0-9])[A-Za-z0-9]{52}JQQJ9[A-Za-z0-9]{27}(?![A-Za-z0-9])",
        "{A52}JQQJ99{A26}",
        (52, 52),
    ),
    Pattern("a Weights & Biases key", "wandb_v1_", r"\bwandb_v1_[\w-]{40,}", "wandb_v1_{A27}_{A49}"),
    Pattern("a Firecrawl key", "fc-", r"(?<![\w-])fc-[0-9a-f]{32}\b", "fc-{H32}"),
    Pattern(
        "a Zhipu key", ".", r"(?<![\w.-])[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![\w.-])", "{H32}.{A16}", (32, 32)
    ),
    Pattern("a Neon key", "napi_", r"\bnapi_[A-Za-z0-9]{60,}", "napi_{H64}"),
    Pattern("a Resend key", "re_", r"(?<![A-Za-z0-9_])re_[A-Za-z0-9]{8,}_[A-Za-z0-9]{20,}", "re_{A8}_{A24}"),
    Pattern("a Dropbox token", "sl.", r"(?<![\w.-])sl\.(?:u\.)?[\w-]{100,}", "sl.{U136} sl.u.{U180}"),
    Pattern(
        "a CircleCI token",
        "CCIPAT_ CCIPRJ_",
        r"\bCCIP(?:AT|RJ)_[A-Za-z0-9]{20,}_[0-9a-z]{40}",
        "CCIPAT_{A22}_{H40} CCIPRJ_{A22}_{H40}",
    ),
    Pattern("a Cloudflare origin key", "v1.0-", r"\bv1\.0-[0-9a-f]{24}-[0-9a-f]{100,}", "v1.0-{H24}-{H146}"),
    Pattern(
        "a PASETO",
        ".local. .public.",
        r"\bv[1-4]\.(?:local|public)\.[\w-]{40,}(?:\.[\w-]+)?",
        "v4.local.{U120} v2.public.{U120}.{U40}",
        (2, 2),
    ),
    Pattern(
        "an encrypted JSON web token",
        "eyJ",
        r"eyJ[\w-]{10,}\.[\w-]*\.[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}",
        "eyJhbGciOi{U30}.{U60}.{U16}.{U60}.{U22} eyJhbGciOi{U30}..{U16}.{U60}.{U22}",
        once=True,
    ),
    Pattern(
        "a Discord token",
        ".",
        r"(?<![\w.-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,38}(?![\w.-])",
        "M{U25}.{U6}.{U38} N{U23}.{U6}.{U27}",
        (24, 28),
    ),
    Pattern("a Mapbox token", "sk.eyJ", r"(?<![\w.])sk\.eyJ[\w-]{40,}\.[\w-]{20,}", "sk.eyJ{U80}.{U22}"),
    Pattern("a Square token", "EAAA", r"(?<![\w+/])EAAA[A-Za-z][\w-]{58,60}(?![\w+/=-])", "EAAAl{U59}"),
    Pattern("an xAI key", "xai-", r"\bxai-\w{20,}", "xai-{A80}"),
    Pattern("a Perplexity key", "pplx-", r"pplx-\w{20,}", "pplx-{A48}"),
    Pattern("an NVIDIA key", "nvapi-", r"nvapi-[\w-]{20,}", "nvapi-{U64}"),
    Pattern("a Cerebras key", "csk-", r"\bcsk-\w{20,}", "csk-{A48}"),
    Pattern("a Together key", "tgp_v1_", r"tgp_v1_[\w-]{20,}", "tgp_v1_{U43}"),
    Pattern("a Jina key", "jina_", r"\bjina_\w{30,}", "jina_{A60}"),
    Pattern("a Voyage key", "pa-", r"(?<![\w-])pa-[\w-]{40,}", "pa-{U43}"),
    Pattern(
        "a Bedrock key",
        "ABSK bedrock-api-key-",
        r"(?:(?<![\w+/])ABSK|bedrock-api-key-)[\w+/=-]{40,}",
        "ABSK{B128} bedrock-api-key-{B120}",
    ),
    Pattern("a Replicate token", "r8_", r"\br8_\w{30,}", "r8_{A37}"),
    Pattern("a Fireworks key", "fw_", r"\bfw_[A-Za-z0-9]{20,}", "fw_{A24}"),
    Pattern("a LangSmith key", "lsv2_", r"\blsv2_\w{30,}", "lsv2_pt_{H32}_{H10}"),
    Pattern("a Tavily key", "tvly-", r"\btvly-[\w-]{20,}", "tvly-{A32}"),
    Pattern(
        "a Hugging Face token",
        "hf_ api_org_",
        r"\b(?:api_org|hf)_[A-Za-z0-9]{20,}\b",
        "hf_{L34} api_org_{L34}",
    ),
    Pattern("a Databricks token", "dapi", r"\bdapi[0-9a-f]{32}", "dapi{H32}"),
    Pattern(
        "a GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_",
        r"gh[pousr]_\w{30,}",
        "ghp_{A36} gho_{A36} ghu_{A36} ghs_{A36} ghr_{A36}",
    ),
    Pattern("a GitHub token", "github_pat_", r"github_pat_\w{30,}", "github_pat_{A82}"),
    Pattern(
        "a GitLab token",
        "glpat- gldt- glrt- glptt- gloas- glcbt- glft- glsoat- glagent-",
        r"gl[a-z]{2,5}-[\w.-]{20,}",
        "glpat-{U20} gldt-{U20} glrt-{U20} glptt-{H40} gloas-{H64} glcbt-{U20} glft-{U20} glsoat-{U20} glagent-{U50}",
    ),
    Pattern(
        "an Atlassian token",
        "ATATT3 ATCTT3 ATBB",
        r"\bAT(?:[AC]TT3[\w=-]{20,}|BB\w{24,})",
        "ATATT3xFfGF0{U186} ATCTT3xFfGN0{U186} ATBB{A32}",
    ),
    Pattern("an npm token", "npm_", r"\bnpm_[A-Za-z0-9]{30,}", "npm_{A36}"),
    Pattern("a PyPI token", "pypi-", r"\bpypi-[\w-]{50,}", "pypi-AgEIcHlwaS5vcmc{U60}"),
    Pattern("a RubyGems key", "rubygems_", r"\brubygems_[0-9a-f]{40,}", "rubygems_{H48}"),
    Pattern("a Docker token", "dckr_", r"\bdckr_(?:pat|oat)_[\w-]{20,}", "dckr_pat_{U27} dckr_oat_{U32}"),
    Pattern(
        "an AWS access key id",
        "AKIA ASIA ABIA ACCA",
        r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
        "AKIA{C16} ASIA{C16} ABIA{C16} ACCA{C16}",
    ),
    Pattern("an Alibaba access key id", "LTAI", r"\bLTAI[A-Za-z0-9]{16,}", "LTAI{A20}"),
    Pattern("an Azure secret", "Q~", r"[\w~.-]{3}\dQ~[\w~.-]{31,34}", "{A3}{D1}Q~{U34}", (4, 4)),
    Pattern("a Stripe secret", "whsec_", r"\bwhsec_[\w+/=]{20,}", "whsec_{A32}"),
    Pattern("a Square token", "sq0", r"\bsq0[a-z]{3}-[\w-]{20,}", "sq0csp-{U43} sq0atp-{U22}"),
    Pattern(
        "a Facebook token", "EAA", r"(?<![\w+/])EAA[MC][A-Za-z0-9]{60,}\b(?![+/=])", "EAAC{A100} EAAM{A100}"
    ),
    Pattern("a SendGrid key", "SG.", r"\bSG\.[\w-]{16,}\.[\w-]{16,}", "SG.{U22}.{U43}"),
    Pattern("a Brevo key", "xkeysib-", r"\bxkeysib-[0-9a-f]{64}", "xkeysib-{H64}"),
    Pattern("a Mailgun key", "key-", r"(?<![\w-])key-[0-9a-f]{32}\b", "key-{H32}"),
    Pattern("a Mailchimp key", "-us", r"\b[0-9a-f]{32}-us\d{1,2}\b", "{H32}-us12", (32, 32)),
    Pattern("a Twilio key", "SK", r"\bSK[0-9a-f]{32}\b", "SK{H32}"),
    Pattern(
        "a Shopify token",
        "shp",
        r"\bshp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32}",
        "shpat_{H32} shpca_{H32} shpss_{H32}",
    ),
    Pattern(
        "a DigitalOcean token",
        "dop_v1_ doo_v1_ dor_v1_",
        r"\bdo[opr]_v1_[0-9a-f]{64}",
        "dop_v1_{H64} doo_v1_{H64} dor_v1_{H64}",
    ),
    Pattern(
        "a Slack token",
        "xox xapp-",
        r"(?:xox[a-eoprs]|xapp)-[\w./+-]{10,}",
        "xoxc-{D12}-{D12}-{D12}-{H64} xoxd-{U60}+{U60} xoxb-123456789012-{A24} xapp-1-A1B2C3D4E5F-{A24}",
    ),
    Pattern(
        "a Slack webhook",
        "hooks.slack.com hooks.slack-gov.com",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows)/\w+/\w+/[\w/]{20,}",
        "https://hooks.slack.com/services/T0AB12CD3/B0EF45GH6/{A24} https://hooks.slack-gov.com/services/T0AB12CD3/B0EF45GH6/{A24}",
    ),
    Pattern(
        "a Discord webhook",
        "/webhooks/",
        r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/[\w-]{40,}",
        "https://discord.com/api/webhooks/123456789012345678/{U68} https://canary.discordapp.com/api/v10/webhooks/{D19}/{U68}",
        (15, 22),
    ),
    Pattern(
        "a Teams webhook",
        ".webhook.office.com/ outlook.office.com/webhook/",
        r"(?:\.webhook\.office\.com/webhookb2|outlook\.office\.com/webhook)/[\w-]{36}",  # one word ends before `@`
        "https://acme.webhook.office.com/webhookb2/{H8}-{H4}-{H4}-{H4}-{H12}@{H32} https://outlook.office.com/webhook/{H8}-{H4}-{H4}-{H4}-{H12}@{H32}",
    ),
    Pattern("a Telegram token", ":AA", r"(?<!\d)\d{6,10}:[\w-]{35}(?![\w-])", "123456789:AA{U33}", (6, 10)),
    Pattern(
        "a Telegram token",
        "/bot",
        r"/bot\d{6,10}:[\w-]{35}(?![\w-])",
        "https://api.telegram.org/bot110201543:{U35}/getMe",
    ),
    Pattern("a Vault token", "hvs. hvb. hvr.", r"\bhv[sbr]\.[\w-]{20,}", "hvs.{A24} hvb.{A24} hvr.{A24}"),
    Pattern(
        "a Terraform token",
        ".atlasv1.",
        r"\b[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}",
        "{A14}.atlasv1.{A67}",
        (14, 14),
    ),
    Pattern("a Pulumi token", "pul-", r"\bpul-[0-9a-f]{40}", "pul-{H40}"),
    Pattern(
        "a Notion token", "ntn_ secret_", r"\b(?:ntn_|secret_)[A-Za-z0-9]{32,}", "ntn_{A46} secret_{A43}"
    ),
    Pattern("a Linear key", "lin_", r"\blin_(?:api|oauth)_\w{30,}", "lin_api_{A40} lin_oauth_{H64}"),
    Pattern("an Airtable token", "pat", r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}", "pat{A14}.{H64}"),
    Pattern(
        "a Supabase key",
        "sbp_ sb_secret_",
        r"\b(?:sbp_(?:oauth_)?[0-9a-f]{40}|sb_secret_[\w-]{20,})",
        "sbp_{H40} sb_secret_{U31}",
    ),
    Pattern(
        "a Grafana token", "glsa_ glc_", r"\b(?:glsa_\w{30,}|glc_[\w+/=]{30,})", "glsa_{A32}_{H8} glc_{B100}"
    ),
    Pattern("a Sentry token", "sntry", r"\bsntry[a-z]_[\w+/=]{40,}", "sntryu_{H64} sntrys_{B120}"),
    Pattern("a PostHog key", "phx_ phs_", r"\bph[xs]_\w{30,}", "phx_{A43} phs_{A43}"),
    Pattern(
        "a New Relic key",
        "NRAK- NRJS- NRII- NRAL",
        r"\bNR(?:AK|JS|II)-[\w-]{19,}|\b[0-9a-f]{36}NRAL\b",
        "NRAK-{C27} NRJS-{H19} NRII-{U32} {H36}NRAL",
        (0, 36),
    ),
    Pattern(
        "a Dynatrace token", "dt0", r"\bdt0[a-z]\d\d\.[A-Z0-9]{20,}\.[A-Z0-9]{60,}", "dt0c01.{C24}.{C64}"
    ),
    Pattern("a Figma token", "figd_ figo_", r"\bfig[dou]h?_[\w-]{30,}", "figd_{U40} figo_{U40}"),
    Pattern("a Postman key", "PMAK-", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}", "PMAK-{H24}-{H34}"),
    Pattern(
        "a Doppler token",
        "dp.",
        r"\bdp\.(?:pt|st|sa|ct|scim|audit)\.[\w.-]{30,}",
        "dp.pt.{A43} dp.st.dev.{A43}",
    ),
    Pattern("a Heroku key", "HRKU-", r"\bHRKU-[\w-]{30,}", "HRKU-AA{U60}"),
    Pattern(
        "a Fly.io token",
        "fm1_ fm1r_ fm1a_ fm2_ fo1_",
        r"\b(?:fm[12][ar]?_[\w+/=-]{40,}|fo1_[\w-]{40,})",
        "fm1_{B100} fm1r_{B100} fm1a_{B100} fm2_{B100} fo1_{U43}",
    ),
    Pattern("a Netlify token", "nfp_ nfo_", r"\bnf[pocub]_[A-Za-z0-9]{36,}", "nfp_{A36} nfo_{A36}"),
    Pattern("a Render key", "rnd_", r"\brnd_[A-Za-z0-9]{28,}", "rnd_{A32}"),
    Pattern(
        "a Vercel token",
        "vcp_ vck_ vca_ vci_",
        r"\bvc[pkair]_[\w-]{24,}",
        "vcp_{A24} vck_{A56} vca_{A56} vcp_{U56} vci_{U56}",
    ),
    Pattern("a Tailscale key", "tskey-", r"\btskey-[\w-]{20,}", "tskey-auth-{A32}"),
    Pattern(
        "a PlanetScale token",
        "pscale_",
        r"\bpscale_(?:tkn|pw|oauth)_[\w.=-]{30,}",
        "pscale_tkn_{U43} pscale_pw_{U43}",
    ),
    Pattern("a Contentful token", "CFPAT-", r"\bCFPAT-[\w-]{40,}", "CFPAT-{U43}"),
    Pattern(
        "an Intercom or Hubspot key",
        "pat-",
        r"\bpat-(?:na|eu)\d-[0-9a-f-]{36}",
        "pat-na1-{H8}-{H4}-{H4}-{H4}-{H12} pat-eu1-{H8}-{H4}-{H4}-{H4}-{H12}",
    ),
    Pattern("a ClickUp token", "pk_", r"\bpk_\d{6,}_[A-Z0-9]{32}", "pk_12345678_{C32}"),
    Pattern(
        "an Artifactory key",
        "AKCp cmVmdGtuO",
        r"\b(?:AKCp[A-Za-z0-9]{60,}|cmVmdGtuO[A-Za-z0-9]{50,})",
        "AKCp{A69} cmVmdGtuO{A55}",
    ),
    Pattern("a 1Password token", "ops_ey", r"\bops_ey[\w+/=-]{100,}", "ops_ey{B160}"),
    Pattern("an E2B key", "e2b_", r"\be2b_[0-9a-f]{40}", "e2b_{H40}"),
    Pattern(
        "a JSON web token",
        "eyJ",
        r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}",
        "eyJhbGciOi{U30}.eyJzdWIiOi{U60}.{U43}",
        once=True,
    ),
    Pattern("an age key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{50,}", "AGE-SECRET-KEY-1{C58}"),
    Pattern(
        "a Cloudflare key",
        "cfk_ cfut_ cfat_",
        r"\bcf(?:k|ut|at)_[A-Za-z0-9_-]{44,}",
        "cfk_{A48} cfut_{A40}{H8} cfat_{A40}{H8}",
    ),
    Pattern(
        "a key in the protocols of a WebSocket",
        "openai-insecure-api-key. bearer.authorization.k8s.io. access_token. deepgram-token.",
        r"(?:openai-insecure-api-key|bearer\.authorization\.k8s\.io|access_token|deepgram-token)\.[\w.~+=-]{20,}",
        "openai-insecure-api-key.{U48} base64url.bearer.authorization.k8s.io.{U120} access_token.{U40} deepgram-token.{U40}",
    ),
    Pattern("a Prefect key", "pnu_ pnb_", r"\bpn[ub]_[A-Za-z0-9]{36}", "pnu_{A36} pnb_{A36}"),
    Pattern(
        "a Sourcegraph token",
        "sgp_",
        r"\bsgp_(?:[0-9a-fA-F]{16}_|local_)?[0-9a-fA-F]{40}",
        "sgp_{H16}_{H40} sgp_{H40}",
    ),
    Pattern(
        "a Plaid token",
        "access-production- access-sandbox- access-development-",
        r"\baccess-(?:production|sandbox|development)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
        "access-production-{H8}-{H4}-{H4}-{H4}-{H12} access-sandbox-{H8}-{H4}-{H4}-{H4}-{H12} access-development-{H8}-{H4}-{H4}-{H4}-{H12}",
    ),
    Pattern("an Apify token", "apify_api_", r"\bapify_api_[A-Za-z0-9]{30,}", "apify_api_{A36}"),
    Pattern("a Logfire token", "pylf_v", r"\bpylf_v\d_[a-z]+_[A-Za-z0-9]{40,}", "pylf_v1_us_{A44}"),
    Pattern("a LlamaCloud key", "llx-", r"\bllx-[A-Za-z0-9]{40,}", "llx-{A48}"),
    Pattern("a RunPod key", "rpa_", r"\brpa_[A-Za-z0-9]{30,}", "rpa_{C46}"),
    Pattern("a Browserbase key", "bb_live_", r"\bbb_live_[\w-]{20,}", "bb_live_{U27}"),
    Pattern("an Anyscale key", "esecret_", r"\besecret_[a-z0-9]{24,}", "esecret_{H26}"),
    Pattern("a Discord user token", "mfa.", r"(?<![\w.-])mfa\.[\w-]{80,}", "mfa.{U84}"),
    Pattern(
        "a 1Password secret key",
        "A3-",
        r"\bA3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b",
        "A3-{C6}-{C11}-{C5}-{C5}-{C5}",
    ),
    Pattern("an Adobe key", "p8e-", r"\bp8e-[A-Za-z0-9]{32}\b", "p8e-{A32}"),
    Pattern("a ClickHouse key", "4b1d", r"\b4b1d[A-Za-z0-9]{38}\b", "4b1d{A38}"),
    Pattern("a Clojars token", "CLOJARS_", r"CLOJARS_[A-Za-z0-9]{60}", "CLOJARS_{A60}"),
    Pattern(
        "a Duffel token",
        "duffel_",
        r"\bduffel_(?:test|live)_[\w=-]{43}",
        "duffel_test_{U43} duffel_live_{U43}",
    ),
    Pattern("an EasyPost key", "EZAK EZTK", r"\bEZ[AT]K[A-Za-z0-9]{54}\b", "EZAK{A54} EZTK{A54}"),
    Pattern(
        "a Flutterwave key",
        "FLWSECK",
        r"\bFLWSECK(?:_TEST)?-[0-9a-z]{32}-X",
        "FLWSECK-{H32}-X FLWSECK_TEST-{H32}-X",
    ),
    Pattern("a Frame.io token", "fio-u-", r"\bfio-u-[\w=-]{64}", "fio-u-{U64}"),
    Pattern("a GitLab token", "glffct- glimt-", r"\bgl(?:ffct|imt)-[\w-]{20,}", "glffct-{U20} glimt-{U25}"),
    Pattern("a GitLab token", "GR1348941", r"\bGR1348941[\w-]{20}", "GR1348941{U20}"),
    Pattern(
        "a Harness key",
        "pat. sat.",
        r"\b[ps]at\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}\b",
        "pat.{U22}.{A24}.{A20} sat.{U22}.{A24}.{A20}",
    ),
    Pattern("an Infracost key", "ico-", r"(?<![\w-])ico-[A-Za-z0-9]{32}\b", "ico-{A32}"),
    Pattern("a 42 key", "s-s4t2", r"\bs-s4t2(?:ud|af)-[0-9a-f]{64}", "s-s4t2ud-{H64} s-s4t2af-{H64}"),
    Pattern(
        "a MaxMind key",
        "_mmk",
        r"(?<![A-Za-z0-9])[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b",
        "{A6}_{A29}_mmk",
        (36, 36),
    ),
    Pattern("an Octopus key", "API-", r"(?<![\w-])API-[A-Z0-9]{26}\b", "API-{C26}"),
    Pattern("an OpenShift token", "sha256~", r"\bsha256~[\w-]{43}(?![\w-])", "sha256~{U43}"),
    Pattern("a ReadMe key", "rdme_", r"\brdme_[a-z0-9]{70}\b", "rdme_{H70}"),
    Pattern("a Scalingo token", "tk-us-", r"\btk-us-[\w-]{48}", "tk-us-{U48}"),
    Pattern(
        "a SettleMint token",
        "sm_",
        r"\bsm_[aps]at_[A-Za-z0-9]{16}\b",
        "sm_aat_{A16} sm_pat_{A16} sm_sat_{A16}",
    ),
    Pattern(
        "a Shippo token",
        "shippo_",
        r"\bshippo_(?:live|test)_[0-9a-fA-F]{40}",
        "shippo_live_{H40} shippo_test_{H40}",
    ),
    Pattern(
        "an Authress key",
        ".acc",
        r"\b(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[\w+/=-]{30,}",
        "sc_{A12}.{A5}.acc-{H20}.{A60} authress_{A12}.{A5}.acc_{H20}.{A60}",
        (12, 46),
    ),
    Pattern("a Grafana key", "eyJrIjoi", r"\beyJrIjoi[A-Za-z0-9]{70,}={0,3}", "eyJrIjoi{A90}"),
    Pattern(
        "a Slack webhook",
        "hooks.slack.com/triggers/",
        r"hooks\.slack\.com/triggers/\w+/\d+/[\w/]{20,}",
        "https://hooks.slack.com/triggers/T0AB12CD3/{D13}/{H32}",
    ),
    Pattern(
        "a SonarQube token",
        "squ_ sqp_ sqa_ sqco_",
        r"\bsq(?:[upa]_[a-z0-9]{40}|co_[A-Za-z0-9]{59})\b",
        "squ_{H40} sqp_{H40} sqa_{H40} sqco_{A59}",
    ),
    Pattern("a Buildkite token", "bkua_", r"\bbkua_[a-z0-9]{40}", "bkua_{H40}"),
    Pattern("a Typeform token", "tfp_", r"\btfp_\w{40,59}", "tfp_{A44}_{A14}"),
    Pattern("a MailerSend token", "mlsn.", r"\bmlsn\.[A-Za-z0-9]{30,100}", "mlsn.{H64} mlsn.{A64}"),
    Pattern("a CockroachDB key", "CCDB1_", r"\bCCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}", "CCDB1_{A22}_{A40}"),
    Pattern(
        "an Axiom token",
        "xaat- xapt-",
        r"\bxa[ap]t-[0-9a-f-]{36}",
        "xaat-{H36} xapt-{H36}",
    ),
    Pattern("an Aiven key", "AVNS_", r"\bAVNS_[\w-]{15,}", "AVNS_{U19}"),
    Pattern(
        "a Paddle key",
        "pdl_",
        r"\bpdl_(?:(?:live|sdbx)_apikey|ntfset)_\w{40,}",
        "pdl_live_apikey_{H26}_{A22}_{A3} pdl_ntfset_{H26}_{A32}",
    ),
    Pattern(
        "a Polar token",
        "polar_",
        r"\bpolar_(?:oat|at|pat)_[\w-]{30,}",
        "polar_oat_{A43} polar_at_{A43} polar_pat_{A43}",
    ),
    Pattern(
        "an Inngest key",
        "signkey-",
        r"\bsignkey-(?:prod|test|branch)-[0-9a-f]{32,}",
        "signkey-prod-{H64} signkey-test-{H64}",
    ),
    Pattern("a Bitbucket token", "BBDC-", r"\bBBDC-[\w+/-]{40,50}", "BBDC-{A44}"),
    Pattern("a Bannerbear key", "bb_pr_ bb_ma_", r"\bbb_(?:pr|ma)_[0-9a-f]{30}\b", "bb_pr_{H30} bb_ma_{H30}"),
    Pattern("a Fleetbase key", "flb_live_", r"\bflb_live_[A-Za-z0-9]{20}\b", "flb_live_{A20}"),
    Pattern("a Flexport key", "shltm_", r"\bshltm_[\w-]{40}", "shltm_{U40}"),
    Pattern(
        "a New Relic key", "NRBR- NRIQ-", r"\bNR(?:BR-[0-9a-f]{19}|IQ-[\w-]{25})", "NRBR-{H19} NRIQ-{U25}"
    ),
    Pattern("a Pagar.me key", "ak_live_", r"\bak_live_[A-Za-z0-9]{30}\b", "ak_live_{A30}"),
    Pattern(
        "a Robinhood key",
        "rh-api-",
        r"\brh-api-[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
        "rh-api-{H8}-{H4}-{H4}-{H4}-{H12}",
    ),
    Pattern("a Rootly key", "rootly_", r"\brootly_[0-9a-f]{64}", "rootly_{H64}"),
    Pattern(
        "a SaladCloud key",
        "salad_cloud_",
        r"\bsalad_cloud_[A-Za-z0-9]{1,7}_[A-Za-z0-9]{20,}",
        "salad_cloud_user_{A40}",
    ),
    Pattern("a Cody token", "slk_", r"\bslk_[0-9a-f]{64}", "slk_{H64}"),
    Pattern(
        "a Stripe payment key",
        "_secret_",
        r"\b(?:pi|seti|cs)_[A-Za-z0-9]{24}_secret_[A-Za-z0-9]{25}",
        "pi_{A24}_secret_{A25} seti_{A24}_secret_{A25}",
        (26, 29),
    ),
    Pattern("a Klaviyo key", "pk_", r"\bpk_(?:[A-Za-z0-9]{6}_)?[0-9a-f]{34}\b", "pk_{H34} pk_{A6}_{H34}"),
    Pattern("a Daytona key", "dtn_", r"\bdtn_[0-9a-f]{64}\b", "dtn_{H64}"),
    Pattern(
        "a Scrapfly key",
        "scp-live- scp-test-",
        r"(?<![\w-])scp-(?:live|test)-[a-z0-9]{32}\b",
        "scp-live-{H32} scp-test-{H32}",
    ),
    Pattern(
        "a Snyk token",
        "snyk_uat. snyk_sat.",
        r"\bsnyk_[us]at\.[A-Za-z0-9]{8}\.[\w-]{10,}\.[\w-]{10,}",
        "snyk_uat.{H8}.{U100}.{U43} snyk_sat.{H8}.{U60}.{U43}",
    ),
    Pattern("a Datadog key", "ddapp_", r"\bddapp_[A-Za-z0-9]{34}\b", "ddapp_{A34}"),
    Pattern("a Cal.com key", "cal_live_", r"\bcal_live_[a-z0-9]{20,}", "cal_live_{H32}"),
    Pattern("a dbt token", "dbtc_", r"\bdbtc_[\w-]{30,}", "dbtc_{A40}"),
    Pattern(
        "a Honeycomb key",
        "ik_ ic_",
        r"\bhc[a-z]i[kc]_[0-9a-z]{58}\b",
        "hcaik_01{H56} hcxik_01{H56} hcaic_{H58}",
        (3, 3),
    ),
    Pattern(
        "a Trigger.dev key",
        "tr_",
        r"\btr_(?:(?:dev|stg|prod|preview)_(?:sk_)?[0-9A-Za-z]{20,24}|pat_[1-9a-z]{40})\b",
        "tr_dev_{A20} tr_prod_{A24} tr_stg_sk_{A24} tr_preview_{A24} tr_pat_{N40}",
    ),
    Pattern(
        "an Infisical token",
        "st.",
        r"\bst\.[0-9a-f-]{24,36}\.[0-9a-f]{32}\.[0-9a-f]{32}\b",
        "st.{H24}.{H32}.{H32} st.{H8}-{H4}-{H4}-{H4}-{H12}.{H32}.{H32}",
    ),
    Pattern(
        "a Sanity token",
        "sk",
        r"(?<![\w+/=.-])sk[A-Za-z0-9]{79}(?:[A-Za-z0-9]{71,})?(?![\w+/=-])",
        "sk{A79} sk{A150}",
    ),
    Pattern(
        "a Stytch secret",
        "secret-live- secret-test-",
        r"(?<![\w-])secret-(?:live|test)-[\w-]{36}=",
        "secret-live-{U36}= secret-test-{U36}=",
    ),
    Pattern("an Elastic key", "essu_", r"\bessu_[\w+/-]{60,}={0,2}", "essu_{B90}=="),
    Pattern("a Xata key", "xau_", r"\bxau_[\w-]{25,}", "xau_{A42}"),
    Pattern("a Zep key", "z_1dWlkIjoi", r"\bz_1dWlkIjoi[\w-]{40,}\.[\w-]{40,}", "z_1dWlkIjoi{A51}.{U86}"),
    Pattern("a Mem0 key", "m0-", r"(?<![\w-])m0-[A-Za-z0-9]{32,}\b", "m0-{A40}"),
    Pattern("a Brave key", "BSA", r"(?<![\w+/=.-])BSA[\w-]{24,40}(?![\w+/=-])", "BSA{U28}"),
    Pattern("a Tinybird token", "p.eyJ", r"(?<![\w.-])p\.eyJ[\w-]{40,}\.[\w-]{20,}", "p.eyJ{U90}.{U43}"),
    Pattern("an Adyen key", "AQE", r"(?<![\w+/=-])AQE[a-z]hmf[\w+/=-]{60,}", "AQEyhmf{B60}-{B43}=-{A16}"),
    Pattern(
        "a Bitwarden token",
        "0.",
        r"(?<![\w.-])0\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[A-Za-z0-9]{30}:[\w+/]{22}==",
        "0.{H8}-{H4}-{H4}-{H4}-{H12}.{A30}:{B22}==",
    ),
    Pattern(
        "a LaunchDarkly key",
        "sdk- api-",
        r"(?<![\w-])(?:sdk|api)-[0-9a-f]{8}-[0-9a-f-]{27}(?![\w-])",
        "sdk-{H8}-{H27} api-{H8}-{H27}",
    ),
    Pattern(
        "an Asana token",
        "0/ 1/ 2/",
        r"(?<![\w./-])[012]/\d{16}(?:/\d{16})?:[0-9a-f]{32}\b",
        "0/{D16}:{H32} 1/{D16}:{H32} 2/{D16}/{D16}:{H32}",
    ),
    Pattern(
        "a Zapier webhook",
        "hooks.zapier.com/",
        r"hooks\.zapier\.com/hooks/\w+/\d+/\w{6,}",
        "https://hooks.zapier.com/hooks/catch/{D8}/{H7}/",
    ),
    Pattern(
        "a Lark webhook",
        "/open-apis/bot/",
        r"/open-apis/bot/v2/hook/[0-9a-f-]{36}",
        "https://open.feishu.cn/open-apis/bot/v2/hook/{H8}-{H4}-{H4}-{H4}-{H12}",
    ),
    Pattern(
        "an IFTTT webhook",
        "maker.ifttt.com/",
        r"maker\.ifttt\.com/(?:use|trigger/[\w-]+(?:/json)?/with/key)/[\w-]{20,}",
        "https://maker.ifttt.com/trigger/door/with/key/{U22} https://maker.ifttt.com/use/{U22}",
    ),
    Pattern(
        "a Mattermost webhook",
        "/hooks/",
        r"/hooks/[a-z0-9]{26}(?![\w/-])",
        "https://chat.example.com/hooks/{N26}",
    ),
    Pattern(
        "an Aikido token",
        "AIK_CI_ AIK_SECRET_",
        r"\bAIK_(?:CI|SECRET)_[A-Za-z0-9]{20,}",
        "AIK_CI_{A44} AIK_SECRET_{A64}",
    ),
    Pattern("an Alibaba access key id", "STS.", r"(?<![\w.-])STS\.[A-Za-z0-9]{16,64}\b", "STS.{A28}"),
    Pattern(
        "an Asaas token",
        "aact_",
        r"(?<![A-Za-z0-9_])aact_(?:prod|hmlg)_[\w-]{20,}",
        "aact_prod_{A90} aact_hmlg_{A90}",
    ),
    Pattern(
        "a Buildkite token",
        "bkaa_ bkaj_ bkar_ bkct_ bkpt_ bkpat_ bkps_",
        r"\bbk(?:a[ajr]|ct|pt|pat|ps)_[\w-]{54,}",
        "bkaa_{U75} bkaj_{U333} bkar_{U73} bkct_{U73} bkpt_{U199} bkpat_{U54} bkps_{U64}",
    ),
    Pattern(
        "a GC Notify key",
        "gcntfy-",
        r"\bgcntfy-[\w-]{74,}",
        "gcntfy-my_key-{H8}-{H4}-{H4}-{H4}-{H12}-{H8}-{H4}-{H4}-{H4}-{H12}",
    ),
    Pattern("a Canva secret", "cnvca", r"\bcnvca[\w-]{51}(?![\w-])", "cnvca{U51}"),
    Pattern("a Cloudsmith key", "csa_", r"\bcsa_[0-9a-f]{30}[A-Za-z0-9]{6}\b", "csa_{H30}{A6}"),
    Pattern(
        "a ConfigCat key",
        "configcat-sdk-1/",
        r"configcat-sdk-1/[\w-]{22}/[\w-]{22}",
        "configcat-sdk-1/{U22}/{U22}",
    ),
    Pattern("an Astra token", "AstraCS:", r"\bAstraCS:[A-Za-z]{20,}:[0-9a-f]{60,}", "AstraCS:{L24}:{H64}"),
    Pattern("a Deno token", "ddp_", r"\bddp_[A-Za-z0-9]{36}\b", "ddp_{A36}"),
    Pattern("a DevCycle key", "dvc_server_", r"\bdvc_server_\w{16,}", "dvc_server_{H32}"),
    Pattern(
        "a Devin key",
        "apk_ cog_",
        r"\b(?:apk_(?:user_)?[\w+/]{80,}|cog_[a-z2-7]{52}\b)",
        "apk_{B88}== apk_user_{B140}= cog_{T52}",
    ),
    Pattern(
        "a Docker Swarm key",
        "SWMTKN-1- SWMKEY-1-",
        r"\bSWM(?:TKN-1-[a-z0-9]{45,}-[a-z0-9]{20,}|KEY-1-[\w+/]{40,})",
        "SWMTKN-1-{T50}-{T25} SWMKEY-1-{B43}",
    ),
    Pattern("an Exoscale key", "EXO", r"\bEXO[0-9a-f]{24}\b", "EXO{H24}"),
    Pattern("a Lichess token", "lip_", r"\blip_[A-Za-z0-9]{20}\b", "lip_{A20}"),
    Pattern(
        "a Mercury token",
        "mercury_production_",
        r"\bmercury_production_[a-z]{3,6}_[A-Za-z0-9]{40,50}_yrucrem",
        "mercury_production_wma_{A44}_yrucrem",
    ),
    Pattern(
        "a Mergify key",
        "mergify_application_key_",
        r"\bmergify_application_key_[\w-]{40,}",
        "mergify_application_key_{U64}",
    ),
    Pattern(
        "a OneSignal key", "os_v2_", r"\bos_v2_(?:app|org)_[a-z2-7]{103}", "os_v2_app_{T103} os_v2_org_{T103}"
    ),
    Pattern(
        "an Onfido token",
        "api_live api_sandbox",
        r"\bapi_(?:live|sandbox)(?:_(?:us|ca))?\.[\w-]{11}\.[\w-]{20,}",
        "api_live.{U11}.{U32} api_live_us.{U11}.{U32} api_sandbox_ca.{U11}.{U32}",
    ),
    Pattern(
        "a Persona key",
        "persona_production_ persona_sandbox_",
        r"\bpersona_(?:production|sandbox)_[0-9a-z-]{20,}",
        "persona_production_{H36} persona_sandbox_{H36}",
    ),
    Pattern("a Pinterest token", "pina_", r"\bpina_[A-Z0-9]{40,}", "pina_{C86}"),
    Pattern("a Proof key", "prf_", r"\bprf_(?:cli_)?[A-Za-z0-9]{20,80}\b", "prf_{A40} prf_cli_{A40}"),
    Pattern("a Ramp secret", "ramp_sec_", r"\bramp_sec_[A-Za-z0-9]{48}\b", "ramp_sec_{A48}"),
    Pattern("a Samsara token", "samsara_api_", r"\bsamsara_api_[A-Za-z0-9]{26,32}\b", "samsara_api_{A30}"),
    Pattern("a Segment token", "sgp_", r"\bsgp_[A-Za-z0-9]{64}\b", "sgp_{A64}"),
    Pattern(
        "a Tableau token", "==:", r"(?<![\w+/])[\w+/]{22}==:[A-Za-z0-9]{32}\b", "{B22}==:{A32}", (22, 22)
    ),
    Pattern("a Thunderstore token", "tss_", r"\btss_[A-Za-z0-9]{20,80}\b", "tss_{A40}"),
    Pattern("an Unkey key", "unkey_", r"\bunkey_[A-Za-z0-9]{20,32}\b", "unkey_{A22}"),
    Pattern("an UpCloud token", "ucat_", r"\bucat_[0-9A-Za-z]{24,32}\b", "ucat_{C26}"),
    Pattern("a Val Town token", "vtwn_", r"\bvtwn_[A-Za-z0-9]{20,80}\b", "vtwn_{A28}"),
    Pattern("a WakaTime key", "waka_", r"\bwaka_[0-9a-f-]{36,64}", "waka_{H8}-{H4}-{H4}-{H4}-{H12}"),
    Pattern("a Zuplo key", "zpka_", r"\bzpka_[a-z0-9]{32}_[0-9a-f]{8}\b", "zpka_{H32}_{H8}"),
    Pattern(
        "a Composio key", "oak_ uak_", r"\b(?:oak_[\w-]{20}|uak_[\w-]{43})(?![\w-])", "oak_{U20} uak_{U43}"
    ),
    Pattern(
        "a WaveApps token",
        "wave_sn_prod_ wave_ci_prod_",
        r"\bwave_(?:sn|ci)_prod_[\w-]{20,}",
        "wave_sn_prod_{A40} wave_ci_prod_{A40}",
    ),
    Pattern("a GitLab session", "_gitlab_session=", r"_gitlab_session=[0-9a-z]{32}", "_gitlab_session={H32}"),
)
_COMPILED = [(row, row.literals.split(), re.compile(row.regex, re.ASCII)) for row in PATTERNS]
_MARKS = "-_.:/=~"


def keys(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields the keys among words without spaces, each with its kind."""
    text = "\n".join(words)
    missing = {mark for mark in _MARKS if mark not in text}  # base64 has none, and is most of what is long
    for row, literals, pattern in _COMPILED:
        for literal in literals:
            if missing.isdisjoint(literal):
                found = around(text, literal, pattern, *row.before, once=row.once)
                yield from (
                    (row.what, key[0])
                    for key in found
                    if _is_drawn(key[0], literal) and not _is_in_data(text, key)
                )


def runs(data: bytes, table: bytes, least: int) -> list[bytes]:
    """Returns the runs of at least `least` bytes that have a 1 in the table. Finding them in bulk is fast."""
    find, wanted = (data.translate(table) + b"\0").find, b"\1" * least
    found: list[bytes] = []
    at = find(wanted)
    while at >= 0:
        end = find(0, at + least)
        found.append(data[at:end])
        at = find(wanted, end)
    return found


def _is_drawn(key: str, literal: str) -> bool:
    """Tells whether a key is random, as a whole or after its literal: some have small letters only."""
    return (random(key) or random(key.removeprefix(literal))) and not pretended(key)


_BESIDE = 500  # characters on each side
_DATA = re.compile(r"[\w+/-]*")
_RUN = re.compile(r"[\w-]*", re.ASCII)


def _is_in_data(text: str, key: re.Match[str]) -> bool:
    """Tells whether a match is inside of long Base64, such as that of an image, where chance makes the beginning of any key."""
    begin, end = key.start() - _BESIDE, key.end() + _BESIDE
    return begin >= 0 and end <= len(text) and bool(_DATA.fullmatch(text, begin, end))


def around(
    text: str, literal: str, pattern: re.Pattern[str], least: int = 0, most: int = 0, *, once: bool = False
) -> Iterator[re.Match[str]]:
    """Yields the matches that begin at the literal, or `least` to `most` characters earlier. With `once`, the literals behind one without
    a match are left out up to the end of the run of letters, `-` and `_`.
    """
    at = text.find(literal)
    while at >= 0:
        found = next(
            (
                match
                for start in range(max(0, at - most), at - least + 1)
                if (match := pattern.match(text, start))
            ),
            None,
        )
        if found:
            yield found
        end = found.end() if found else _RUN.match(text, at).end() if once else 0  # type: ignore[union-attr]  # it matches nothing, too
        at = text.find(literal, max(at + 1, end))


# --- Patterns that others maintain -----------------------------------------------------------------------


def maintained(text: bytes) -> Iterator[tuple[str, str]]:
    """Yields the findings of the rules in a text: the secret and its kind."""
    scanner = _scanner()
    for found in scanner.scan(text) if scanner else ():
        if found.visible:
            yield found.secret, f"what rule {found.rule_id} finds"


def has_rules() -> bool:
    """Tells whether the maintained rules are installed."""
    return _scanner() is not None


@cache
def _scanner() -> Any:
    try:
        from kingfisher_sdk import Rules, Scanner  # noqa: PLC0415  # an extra, and slow to load
    except ModuleNotFoundError:
        return None
    return Scanner(Rules(), base64=False)
