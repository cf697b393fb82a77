"""What credentials look like: the keys of well-known services, and values whose name says what they are."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote_plus

__all__ = ["named", "patterned", "under"]

# What it is, some of the text that every such secret has (looked for first: it is quick), and all of it.
_PATTERNS: list[tuple[str, tuple[str, ...], re.Pattern[str]]] = [
    (what, literals, re.compile(pattern, re.ASCII))
    for what, literals, pattern in (
        ("an Anthropic key", ("sk-ant-",), r"sk-ant-[\w-]{16,}"),
        ("an API key (sk-…)", ("sk-",), r"\bsk-(?!ant-)[\w-]{20,}"),
        ("an API key", ("sk_", "rk_"), r"\b(?:sk|rk|pcsk)_\w{24,}"),
        ("a Google API key", ("AIza",), r"AIza[\w-]{30,}"),
        ("a Google OAuth token", ("ya29.",), r"ya29\.[\w-]{20,}"),
        ("a Google OAuth secret", ("GOCSPX-", "1//0"), r"(?:GOCSPX-[\w-]{20,}|\b1//0[\w-]{40,})"),
        ("a Groq key", ("gsk_",), r"gsk_\w{20,}"),
        ("an xAI key", ("xai-",), r"\bxai-\w{20,}"),
        ("a Perplexity key", ("pplx-",), r"pplx-\w{20,}"),
        ("an NVIDIA key", ("nvapi-",), r"nvapi-[\w-]{20,}"),
        ("a Cerebras key", ("csk-",), r"\bcsk-\w{20,}"),
        ("a Replicate token", ("r8_",), r"\br8_\w{30,}"),
        ("a Fireworks key", ("fw_",), r"\bfw_[A-Za-z0-9]{20,}"),
        ("a LangSmith key", ("lsv2_",), r"\blsv2_\w{30,}"),
        ("a Tavily key", ("tvly-",), r"\btvly-[\w-]{20,}"),
        ("a Hugging Face token", ("hf_",), r"\bhf_[A-Za-z]{20,}\b"),
        ("a Databricks token", ("dapi",), r"\bdapi[0-9a-f]{32}"),
        ("a GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_\w{30,}"),
        ("a GitHub token", ("github_pat_",), r"github_pat_\w{30,}"),
        ("a GitLab token", ("glpat-", "gldt-", "glrt-"), r"\bgl(?:pat|dt|rt)-[\w-]{20,}"),
        ("an npm token", ("npm_",), r"\bnpm_[A-Za-z0-9]{30,}"),
        ("a PyPI token", ("pypi-",), r"\bpypi-[\w-]{50,}"),
        ("an AWS access key id", ("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
        ("a Stripe secret", ("whsec_",), r"\bwhsec_\w{20,}"),
        ("a SendGrid key", ("SG.",), r"\bSG\.[\w-]{16,}\.[\w-]{16,}"),
        ("a Twilio key", ("SK",), r"\bSK[0-9a-f]{32}\b"),
        ("a Shopify token", ("shp",), r"\bshp(?:at|ca|pa|ss)_[0-9a-f]{32}"),
        ("a DigitalOcean token", ("_v1_",), r"\bdo[opr]_v1_[0-9a-f]{64}"),
        ("a Slack token", ("xox", "xapp-"), r"(?:xox[abprs]|xapp)-[\w-]{10,}"),
        ("a Slack webhook", ("hooks.slack.com",), r"hooks\.slack\.com/services/\w+/\w+/\w{20,}"),
        ("a Telegram token", (":AA",), r"\b\d{8,10}:AA[\w-]{33}"),
        ("a JSON web token", ("eyJ",), r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
        ("a private key", ("PRIVATE KEY",), r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
        ("a Cloudflare cookie", ("__cf_bm=",), r"__cf_bm=[\w.-]{20,}"),
        ("a bearer token", ("earer",), r"\b[Bb]earer\s+[\w.~+/-]{20,}"),
    )
]
# A token of these is a place in a list, or stands for a request.
_PLACES = ("page", "next", "previous", "tion", "sync", "start", "cursor", "request")
_NOT_A_PLACE = "".join(f"(?<!{word}token)(?<!{word}[-_]token)" for word in _PLACES)
_PASSWORD = r"(?:password|passwd|passphrase|pwd)"  # noqa: S105  # a pattern
_NAME = (
    r"(?:(?:api|access|secret|private|signing|account|subscription)[-_]?key|secret|authorization|credentials?"
    rf"|token{_NOT_A_PLACE}|{_PASSWORD})"
)
_WORDS = ("key", "secret", "authorization", "credential", "token", "passw", "passphrase", "pwd")
_ASSIGNED = re.compile(rf"(?i){_NAME}[\"'\\]*[ \t]*[:=>]+[ \t]*[\"'\\]*([^\s\"'\\&,<>()]{{16,}}+)(?!\()")
_LOGIN = re.compile(rf"(?i)(?:^|[?&])[\w.%-]*{_PASSWORD}=([^&\s]{{8,}})")
_IN_URL = re.compile(r"://[^\s:/@\"']+:([^\s:/@\"'<>]{8,})@")
_PART = re.compile(rf"(?i)name=\"[^\"\r\n]*{_NAME}\"(?:\r?\n[^\r\n]+)*\r?\n\r?\n([^\r\n]{{8,}})")
_KEY = re.compile(rf"(?i){_NAME}$")
_PASSWORD_KEY = re.compile(rf"(?i){_PASSWORD}$")
_SHORTEST = 16  # no key of a service, nor a name and its value, has less
_RANDOM = 3.2  # bits a character; words and placeholders stay below, keys of any alphabet above
_NAMED = "a value named like a credential"


def patterned(text: str) -> Iterator[tuple[str, str]]:
    """The keys of well-known services in a text: what each is, and the key."""
    for what, literals, pattern in _PATTERNS if len(text) >= _SHORTEST else ():
        if any(literal in text for literal in literals):
            for found in pattern.findall(text):
                if what == "a private key" or _random(found.rpartition(" ")[2]):
                    yield what, found


def named(text: str) -> Iterator[tuple[str, str]]:
    """The values in a text that follow the name of a credential: in code, forms, XML, multipart bodies."""
    if "://" in text:
        yield from (("a password in a URL", value) for value in _IN_URL.findall(text) if _chosen(value))
    lower = text.lower()
    if len(text) < _SHORTEST or not any(word in lower for word in _WORDS):
        return
    yield from ((_NAMED, value) for value in _ASSIGNED.findall(text) if _drawn(value))
    yield from ((_NAMED, value) for value in _LOGIN.findall(text) if _chosen(value))
    if "name=" in text:
        yield from ((_NAMED, value) for value in _PART.findall(text) if _chosen(value))


def under(key: str, text: str) -> Iterator[tuple[str, str]]:
    """The text itself, if it is a credential by the name of its key."""
    if (_KEY.search(key) and _drawn(text)) or (_PASSWORD_KEY.search(key) and _chosen(text)):
        yield _NAMED, text


def _random(text: str) -> bool:
    """Whether a string looks drawn by lot: many different characters, and not the letters of plain words only."""
    if (
        " " in text
        or text.isdigit()
        or not (re.search(r"\d", text) or text not in (text.lower(), text.upper()))
    ):
        return False
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values()) >= _RANDOM


def _drawn(value: str) -> bool:
    """Whether a value is long and random enough for a credential, and no name of one."""
    plain = unquote_plus(value)
    return len(plain) >= 16 and _random(plain) and not _code(plain)


def _code(text: str) -> bool:
    """Whether a value without digits is the name of something: `settings.DATABASE_PASSWORD`, `getPasswordOfUser`."""
    return not re.search(r"\d", text) and len(re.findall(r"[a-z][A-Z]", text)) * 5 < len(text)


def _chosen(text: str) -> bool:
    """Whether somebody may have chosen this for a password: letters and digits, no placeholder."""
    return (
        len(text) >= 8
        and not re.search(r"^/|[ <]", text)
        and bool(re.search(r"\d", text) and re.search(r"[A-Za-z]", text))
    )
