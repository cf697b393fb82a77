"""Names that suggest a credential: one list for URLs, forms, JSON, XML and headers.

`clientSecret`, `client-secret`, `CLIENT_SECRET` and `client.secret` are one name: only the words count, above
all the last ones.

In a text (code, forms, URLs, XML, header lines, multipart bodies), names are looked for first, and their values next. A
text without such names is skipped quickly.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal
from urllib.parse import unquote

from .random_values import (
    drawn,
    is_placeholder,
    is_typed,
    made_of_words,
    names_its_role,
    password,
)
from .service_keys import around, keys

# --- Names -----------------------------------------------------------------------------------------------


Kind = Literal["password", "number", "secret", "parameter", ""]

# Somebody chose these: any value may be one.
_PASSWORDS = (
    *("password", "passwords", "passwd", "passphrase", "passcode", "pwd", "userpass", "passwort", "pass"),
    *(
        "pin",
        "otp",
        "totp",
        "mfa code",
        "otp code",
        "one time code",
        "sms code",
        "backup code",
        "recovery code",
        *("backup codes", "recovery codes", "scratch codes"),
        *("totp code", "2fa code", "two factor code", "login code"),
    ),
    *("unlock code", "verification code", "psk", "bindpw", "snmp community", "recovery key"),
    "bind credentials",  # of LDAP
)
# Of the passwords, these have a digit and no space: `data-event-name="menu.pin">move to sidebar` is none.
_NUMBERS = {"pin", "otp", "totp"}
_END_OF_PASSWORDS = ("password", "passwd", "passphrase")
# Drawn by lot, or containing something that was: only random values are one.
_SECRETS = (
    *("secret", "secrets", "token", "jwt", "auth", "authorization", "credential", "credentials"),
    "secret string",  # of AWS Secrets Manager
    *("mnemonic", "mnemonic phrase", "seed phrase", "recovery phrase", "secret phrase"),  # of a wallet
    *("cookie", "cookies", "apikey", "api key", "access key", "secret key", "private key", "signing key"),
    *(
        "account key",
        "auth key",
        "subscription key",
        "shared key",
        "encryption key",
        "master key",
        "hmac key",
    ),
    *("fernet key", "cipher key", "deploy key", "ingestion key"),
    *(
        "dev key",
        "developer key",
        "session key",
        "service key",
        "admin key",
        "license key",
        "storage key",
        "webhook key",
        "server key",
    ),
    *("client key", "app key", "application key", "functions key", "role key", "session id", "sessionid"),
    *("sid", "connection string", "conn str", "dsn", "bearer", "assertion", "sas", "code verifier"),
    *("device code", "authorization code", "auth code", "activation code", "auth req id", "preshared key"),
    *(
        "pre shared key",
        "client key data",
        "csrf",
        "xsrf",
        "token hint",
        "saml response",
        "saml request",
        "samlart",
        "sam lart",  # it is spelled `SAMLart`
    ),
)
_END_OF_SECRETS = (
    *("secret", "apikey", "accesskey", "secretkey", "privatekey", "accountkey", "connectionstring"),
    *(
        "accesstoken",
        "authtoken",
        "refreshtoken",
        "idtoken",
        "sessiontoken",
        "sessionid",
        "sessid",
        "wstoken",
    ),
    *("csrfmiddlewaretoken", "csrftoken", "xsrftoken"),
)
# Common words, which tell of a credential only where there are parameters: in URLs, forms and headers.
_PARAMETERS = (
    "key",
    "sig",
    "signature",
    "session",
    "amz credential",
    "goog credential",
    "code",
    "appid",
    "ticket",
)
# Whatever their value is, these are credentials. Other names are one only if the value looks like one.
_ROLES = {
    *("secret", "secrets", "api key", "apikey", "access token", "refresh token", "id token", "auth token"),
    *("session token", "security token", "csrf token", "xsrf token", "secret key", "private key"),
    *("secret access key", "access key secret"),
    "code verifier",
    *("device code", "csrf", "xsrf", "saml response", "saml request", "samlart", "sam lart", "assertion"),
}
# These are computed from the request and the time, and differ in each run.
_SIGNATURES = {
    *("sig", "signature", "amz credential", "amz date", "amz expires"),
    *("goog credential", "goog date", "goog expires"),
}
# Words that may follow without a change of meaning.
AFTER = {"", "value", "base64", "b64", "digest", "hash", "text", "confirmation", "confirm", "base", "plain"}
#: The end of the names of gRPC's metadata whose values are bytes.
BINARY = "-bin"
# In these names, "token" means a position in a list, a request, or a part of a text.
_PLACES = {
    *("page", "next", "previous", "prev", "continuation", "resumption", "pagination", "sync", "start"),
    *("paging", "scroll", "marker", "bookmark", "checkpoint", "iterator", "position"),
    *("cursor", "turn", "hashed"),
    *("request", "offset", "delta", "skip", "resume", "idempotency", "max", "total", "stop", "eos", "bos"),
}

# These are published: they tell who asks, or name a thing.
_PUBLIC = {
    *("sentry key", "site key", "dataset key", "foreign key"),
    *("partition key", "sort key", "cache key", "idempotency key", "object key", "taxon key", "project key"),
    *(
        "resume key",
        "resumption key",
        "continuation key",
        "page key",
        "next key",
        "start key",
        "evaluated key",
    ),
    "public key token",  # of an assembly of .NET
    "s3 key",  # the name of an object
    "ncbi sid",  # of every visitor
    "model sessionid",  # Azure's servers that answered
}
_PUBLISHING = {"public", "publishable", "pub"}  # in the name of a key: `UPLOADCARE_PUB_KEY`
_KEY_IN_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_KEY")  # of a variable: `BRAVE_KEY`
_IDEMPOTENT = re.compile(
    r"(?:\A|[^A-Za-z])[cC]lientToken\Z"
)  # AWS's. Vault's has another spelling: `client_token`

_END_OF_ROLES = (
    *("secret", "apikey", "secretkey", "accesstoken", "refreshtoken", "csrfmiddlewaretoken", "csrftoken"),
)
_SENTRY = re.compile(r"https://[0-9a-f]{32}@[\w.-]+/\d+")  # with the public key only
# PostHog's key of a project, Datadog's token of a client, publishable keys of Stripe, Clerk and Mapbox, Crossref's in links to publishers, the
# key of an application of Stack Exchange, which ends with `((`, and the one key that BART gives to everybody
_PUBLISHED = re.compile(
    r"phc_\w+|pub[0-9a-f]{32}|pk_(?:live|test)_[\w$]+|pk\.eyJ[\w.-]+|crossref\.[0-9a-f]{32}|[\w*)(]{20,22}\(\(|MW9S-E7SL-26DU-VV8V"
)
_NUMBER = re.compile(r"\S*\d\S*")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BREAK = re.compile(r"[^A-Za-z0-9]+|(?<=[A-Za-z])(?=\d+$)")

WORDS: tuple[str, ...] = (
    *("pass", "pwd", "secret", "token", "auth", "cred", "cookie", "key", "sess", "conn"),
    *("jwt", "sig", "sid", "dsn", "assertion", "sas", "otp", "verifier"),
    *(
        "pin",
        "csrf",
        "xsrf",
        "saml",
        "code",
        "appid",
        "psk",
        "bindpw",
        "snmp",
        "ticket",
        "phrase",
        "mnemonic",
    ),
)
"""Parts of the names above, lower-case: text without one of them holds none."""
_HINTS = (*WORDS, "bearer")
PASSWORDS = frozenset((*_PASSWORDS, *_END_OF_PASSWORDS))
"""The ends of the names of what somebody chose."""
NAMES = frozenset((*PASSWORDS, *_SECRETS, *_END_OF_SECRETS))
"""The ends of the names whose value is a credential in any place."""
PARAMETERS = frozenset(_PARAMETERS)
"""The ends of the names whose value is a credential only as a parameter."""


def hinted(text: str) -> bool:
    """Tells quickly whether a text may contain the name of a credential."""
    lower = text.lower()
    return bool(text) and any(hint in lower for hint in _HINTS)


@lru_cache(maxsize=8192)
def kind(name: str) -> Kind:
    """Returns the kind of credential that a name suggests, or `""`. A `parameter` counts only in URLs, forms and headers."""
    what = _kind(name.removesuffix(BINARY)) if hinted(name) else ""
    return "" if what == "parameter" and name.endswith(BINARY) else what


def _kind(name: str) -> Kind:
    words = words_of(name)
    if _is_public_name(name) or _IDEMPOTENT.search(name):
        return ""
    for many in (3, 2, 1):
        last, before = " ".join(words[-many:]), words[-many - 1 :][:1] if len(words) > many else []
        if last in _PASSWORDS:
            return "number" if last in _NUMBERS else "password"
        if last in _SECRETS and not (last == "token" and before and before[0] in _PLACES):
            return "secret"
        if last in _PARAMETERS:
            return "secret" if _KEY_IN_ENVIRONMENT.fullmatch(name) else "parameter"
    return _ending(words[-1]) if words else ""


@lru_cache(maxsize=8192)
def telling(name: str) -> bool:
    """Tells whether a value of this name is a credential in any place."""
    return kind(name) in ("password", "number", "secret")


@lru_cache(maxsize=8192)
def is_role(name: str) -> bool:
    """Tells whether a value of this name is a credential, whatever the value looks like: `password`, `access_token`."""
    words = words_of(name)
    last = (" ".join(words[-many:]) for many in (3, 2, 1))
    return (
        kind(name) in ("password", "number")
        or not _ROLES.isdisjoint(last)
        or bool(words and words[-1].endswith(_END_OF_ROLES))
    )


@lru_cache(maxsize=8192)
def is_signature(name: str) -> bool:
    """Tells whether a value of this name is computed anew for each request: a signature, or its date."""
    words = words_of(name)
    return any(" ".join(words[-many:]) in _SIGNATURES for many in (2, 1))


IN_LINKS = ("?", "&")


def _is_published(value: str) -> bool:
    """Tells whether a value is made to be published, such as the key that a web page sends."""
    return bool(_SENTRY.fullmatch(value) or _PUBLISHED.fullmatch(value))


def is_credential(name: str, value: str) -> bool:
    """Tells whether a parameter of a URL or a form holds a credential: by its role, or because it looks like one.

    The key of a table or a list (`sort_key=name`, `datasetKey=<UUID>`, `token=page2`) is none.
    """
    what = kind(name)
    if not what or not value or is_role(name) or is_signature(name):
        return bool(value) and bool(what or is_signature(name))
    if _is_id(name, value):
        return False
    return credential("secret", value) or any(keys([value]))


def _is_public_name(name: str) -> bool:
    """Tells whether a value of this name is published, such as Sentry's key."""
    words = words_of(name)
    is_key = words[-1:] == ["key"] and not _PUBLISHING.isdisjoint(words)
    return is_key or any(" ".join(words[-many:]) in _PUBLIC for many in (2, 3))


def _is_id(name: str, value: str) -> bool:
    """Tells whether a parameter names a thing: `datasetKey=<UUID>`, `ApplicationId=<UUID>`."""
    words = words_of(name)
    named = kind(name) == "parameter" or (words and words[-1] == "id" and kind(name) == "")
    return bool(named) and len(words) > 1 and bool(_UUID.fullmatch(value))


def _ending(word: str) -> Kind:
    """Returns the kind of credential that the end of a word suggests: `pgpassword`, `clientsecret`."""
    if word.endswith(_END_OF_PASSWORDS):
        return "password"
    return "secret" if word.endswith(_END_OF_SECRETS) else ""


def words_of(name: str) -> list[str]:
    """Returns the words of a name in lower case, without those that may follow without a change of meaning."""
    words = [word.lower() for word in _BREAK.split(_CAMEL.sub("_", name[-80:]))]
    while words and (words[-1] in AFTER or words[-1].isdigit()):
        words.pop()
    return words


# --- Cookies of visitors ----------------------------------------------------------------------------------


_OF_VISITORS = re.compile(
    r"(?i)(?:__cf_bm|_cfuvid|__cflb|cf_clearance|__cfruid|__cfduid|hwwaf\w+|_passenger_route|_ga\w*|_gid|_gat\w*|_gcl_\w+|nid|aec|1p_jar|consent|socs|ar_debug"
    r"|wmf-\w[\w-]*|networkprobelimit|cpposindex|acw_tc|[0-9a-f]{32}"  # Wikimedia's, Alibaba's firewall, routers of OpenShift
    r"|x-mapping-\w+|[\w.-]*server(?:_?id)?|ncbi_sid|trackid|bigipserver[^=]*|ts[0-9a-f]{6,8}|__kewlb"  # load balancers: Riverbed's, HAProxy's, F5's, Kemp's; NCBI's
    r"|awsalb\w*|awselb\w*|arraffinity\w*|datadome|_abck|bm_\w+|ak_bmsc|akacd_\w+|incap_ses_\w+|visid_incap_\w+|nlbi_\w+"
    r"|guest_id\w*|personalization_id|session_tracker|edgebucket|loid\w*|redesign_optout|csv|ahoy_visit(?:or)?|metabase\.device|_octo|logged_in|_fbp|_fbc|muid|muidb|optimizelyenduserid|ajs_anonymous_id|__stripe_[ms]id"
    r"|bscookie|li_gc|li_mc|logged_out\w*|_hjsession\w*|_uetsid|_uetvid|_pk_id\S*|_pk_ses\S*|__utm\w+|bcookie|lidc|x-ms-gateway-slice|stsservicecookie|fpc|geo\w*"
    r"|browserid\w*|did(?:_compat)?|device_?id|(?:[a-z]{1,20}[_-])?(?:route(?:id)?|persist|sticky|affinity|backend|upstream|lb)|[\w.-]{1,40}(?==\"?\d+(?:\.\d+){2,3}\|[0-9a-f]{32})|(?=[\w$-]*?consent)[\w$-]*|visitor\w*|anonymous\w*|yuv|\w*uniq(?:ue)?_id|akavpau_\w+|gs_flow_control|__secure-rollout_token|__secure-ynid|ysc)="  # Salesforce's, Yelp's, Auth0's; balancers by their names, and by the value of that of nginx
)
"""Cookies that a server gives to every visitor: counters, load balancers, checks for robots. They open nothing."""


def is_of_a_visitor(cookie: str) -> bool:
    """Tells whether a cookie, `name=value; …`, is one that every visitor gets."""
    return bool(_OF_VISITORS.match(cookie.strip()))


_BETWEEN_COOKIES = re.compile(r";\s*")
_OF_COOKIES = re.compile(
    r"(?i)(?:expires|max-age|domain|path|samesite|priority|version)=.*|secure|httponly|partitioned|"
)


def without_visitors(cookies: str) -> str:
    """Returns the values in a header with cookies, without those of visitors and without attributes such as a path."""
    pieces = _BETWEEN_COOKIES.split(cookies)
    found = (piece for piece in pieces if not is_of_a_visitor(piece) and not _OF_COOKIES.fullmatch(piece))
    return "; ".join(_value_of(piece) for piece in found)


def _value_of(cookie: str) -> str:
    """Returns the value of `name=value`, or the whole if it is only a value: `=` at its end pads Base64."""
    value = cookie.partition("=")[2]
    return value if value.strip("=") else cookie


# --- Names and their values in a text --------------------------------------------------------------------


NAMED = "a value named like a credential"
_BEFORE = re.compile(r"[\w.%\[-]*\Z")  # the beginning of a name, up to the telling word
_NAME = re.compile(r"[\w.-]{0,40}(?:%5D|\])?")
_BEFORE_NAME = re.compile(r"[A-Za-z]{2,20} \Z")  # the first of two words: `API key`
_FOLLOWED = re.compile(
    r"[\"'\\ \t\]*`]*[=:,>|(]|\"?\r?\n|[ \t]|\" ?\{"
)  # what comes between a name and its value, but in XML
_SCHEMES = r"(?:(?:bearer|basic|token|digest|apikey|api-key)[ \t]+)?"
_ASSIGNED = re.compile(
    rf"(?i)[\"'\\\]*`]*[ \t]*(?:=>|:=|::(?=[ ])|[:=][*]*|\||is[ \t]|\((?=[\"'])|(?<=[\"'])[ \t]*,)[ \t]*(?:[|>][+-]?[ \t]*\r?\n[ \t]+)?[\"'\\`]*{_SCHEMES}([^\s\"'`\\&,;<>()|]{{4,}}+)(?!\(|\\?[\"'][ \t]*:)"
)
_SIGN = frozenset(":=")  # what is behind another mark may be a word: `the token is …`, `| token | …`
_QUOTED = re.compile(
    r"[\"'\]]*[ \t]*(?:=>|:=|[:=])[ \t]*(?:\"([^\s\"\\]{16,400})\"|'([^\s'\\]{16,400})')(?![ \t]*:)"
)
_SPACED = re.compile(
    r"[ \t]+[\"']?([^\s\"'`\\&,;<>()|]{16,}+)"
)  # `--token …`, `ENV API_KEY …`, `{:token "…"}`
#: `aws configure set aws_secret_access_key …`, and `proxy_set_header X-Api-Key …` of nginx
_SET = re.compile(r"(?:\b(?:set|config)(?: --?\w+)*|_header) \Z")
#: `let authToken: String = "…"`, and `variable "db_password" { default = "…" }` of Terraform
_DECLARED = re.compile(
    r"(?:[ \t]{0,8}:[ \t]{0,8}[A-Za-z][\w.<>?|,\[\] ]{0,60}|\" ?\{[^{}]{0,400}?\bdefault[ \t]{0,40})=[ \t]{0,8}[\"']([^\s\"'\\]{4,400})[\"']"
)
_PARAMETER = re.compile(r"=(?!=)([^&\s\"'\\<>#;]{4,}+)")
_ELEMENT = re.compile(
    r"(?:\s[^<>\0]{0,300})?>\s*+(?>(?:<!\[CDATA\[\s*+)?)([^<>\0]{4,4000}?)\s*+(?>(?:\]\]>\s*+)?)</"
)
_NEXT_VALUE = re.compile(  # the name is the content of an element, or of an attribute
    r"(?i)(?:</[\w:.-]{1,40}>\s*<(?:string|value|data|td|dd)\b[^<>]{0,100}>(?>(?:\s*+<string>)?)|[\"']\s+(?:value|content)\s*=\s*[\"']|[\"']?\s*+[,;]?+\s*+[\"']?\bvalue[\"']?\s*[:=]\s*[\"']?"
    r"|[\"']\s*+/?>\s*+(?>(?:<value>\s*+)?))(?>(?:<!\[CDATA\[\s*+)?)([^<>\"'\r\n\]]{4,4000}?)[^\S\r\n]*+(?:\]\]>|[<\"'\r\n]|\Z)"
)
_LITERAL = re.compile(r"([A-Za-z_]\w{0,60})\s*:\s*\"((?:[^\"\\\n]|\\.){4,4000})\"")
_GRAPHQL = re.compile(r"\s*(?:mutation|query|subscription|\{)[\s\w($:!,=\[\]\"@]*[({]")
_QUERY = re.compile(r"(?:[?&]|\A)query=")
_ATTRIBUTE = re.compile(r"[ \t]*=[ \t]*(?:\"([^\"<>]{4,4000})\"|'([^'<>]{4,4000})')")
_PART = re.compile(r"\"?(?:\r?\n[^\r\n]+){0,20}\r?\n\r?\n([^\r\n]{4,4000})")
_IN_URL = re.compile(r"://[^\s:/@\"'<>?#]*:([^\s/@\"'<>]{3,200})@")
_USER_IN_URL = re.compile(
    r"://([^\s:/@\"'<>?#]{16,400})(?::([^\s/@\"'<>]{0,200}))?@"
)  # a token alone: `https://ghp_…@github.com`; beside a random password, it only names who asks
_BASIC = re.compile(r"(?<=\b[Bb])asic\s+([\w+/=-]{8,400})")
_BEARER = re.compile(r"(?<=\b[Bb])earer\s+([\w.~+/=-]{16,8000})")
_NETRC = re.compile(r"login[ ]\S{1,200}\s+password\s+(\S{4,200})")
#: A line of PostgreSQL's file of passwords: host, port, database, user, password.
_PGPASS = re.compile(
    r"^(?=[^:\r\n]{0,100}[A-Za-z*])[\w.*-]{1,100}:(?:\d{4,5}|\*):(?!\d+:)[\w*.-]{1,60}:[\w*.@-]{1,60}:([^\s:]{4,200})[ \t]*$",
    re.MULTILINE,
)
#: A line of curl's file of cookies: host, whether for its subdomains, path, whether for TLS only, expiry, name, value.
_COOKIE_FILE = re.compile(
    r"^[^\t\r\n]{1,255}\t(?:TRUE|FALSE)\t/[^\t\r\n]{0,255}\t(?:TRUE|FALSE)\t\d{1,12}\t[^\t\r\n]{1,100}\t([^\t\r\n]{16,4000})$",
    re.MULTILINE,
)
_HEX_PARTS = re.compile(r"[0-9a-fA-F:]+\s*")  # an id, such as `x-github-request-id`
_OPTIONS = r"(?:[^\r\n]|\\\r?\n){0,400}?"
_CHOSEN = r"[\"']?([^\s\"'\\]{4,200})"
#: What stands before a password in a command, a statement of SQL included.
_COMMANDS = {
    "curl": re.compile(
        rf"curl\s{_OPTIONS}(?:-u|-U|--user|--proxy-user)[ =]?[\"']?[^\s:\"']{{1,100}}:([^\s\"'\\]{{4,200}})"
    ),
    **{
        name: re.compile(rf"{name}\w{{0,20}}\s{_OPTIONS}(?<=\s)(?:-p|--password=){_CHOSEN}")
        for name in ("mysql", "mariadb")
    },
    "sshpass": re.compile(rf"sshpass\s+-p\s*{_CHOSEN}"),
    "redis-cli": re.compile(rf"redis-cli\s{_OPTIONS}(?<=\s)(?:-a|--pass)[ ]{_CHOSEN}"),
    " login -": re.compile(rf" login -{_OPTIONS}(?:-p|--password)[ =]{_CHOSEN}"),
    **{f"{name}=": re.compile(f"{name}={_CHOSEN}") for name in ("PGPASSWORD", "MYSQL_PWD", "SSHPASS")},
    "ConvertTo-SecureString": re.compile(rf"ConvertTo-SecureString\s+(?:-String\s+)?{_CHOSEN}"),
    "htpasswd": re.compile(rf"htpasswd\s+-\w*b\w*\s+(?:\S+\s+)?\S+\s+{_CHOSEN}"),
    "secret set ": re.compile(rf"secret set {_OPTIONS}(?<=\s)(?:-b|--body)[ =]{_CHOSEN}"),
    "::add-mask::": re.compile(r"::add-mask::(\S{4,200})"),
    "IDENTIFIED BY '": re.compile(r"IDENTIFIED BY '([^'\r\n]{4,200})'"),
}
_SENT_COOKIE = re.compile(
    rf"curl\s{_OPTIONS}(?<=\s)(?:-b|--cookie)[ =]?[\"'][^\"'=\s]{{1,60}}=([^\"';\s]{{16,400}})"
)
_OKTA = re.compile(r"SSWS\s+(00[\w-]{40})(?![\w-])")
_PRIVATE = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d:|Private-Lines: \d"
)
_NAMING = re.compile(r"(?i)(?:<(?:key|name|th|td|dt)>\s*(?:[a-z]{2,20} )?|\b(?:key|name)\s*[:=]\s*[\"']?)\Z")
_PIECES = re.compile(r"[\s;,&]+")
_WORDS_OF_NAME = re.compile(r"[A-Za-z_-]+")
_PARTS = re.compile(r"[\s;,&/?=#]+")  # of a URL
_LINK = re.compile(r"(?:https?:/|\.{0,2}(?=/(?:v\d{1,2}|[a-z_-]{2,20})/))/\S*")
_HOST = re.compile(r"\Ahttps?://[^/?#]*")
_ID = re.compile(r"[0-9a-fA-F-]+")
_DOTTED = re.compile(r"[\w()]{1,15}(?:[.:-][\w()]{1,15})+")  # the numbers of a DOI


def named(text: str, lower: str) -> Iterator[tuple[str, str, int, str]]:
    """Yields the kind, the credential, its position and its name, which is `""` if the form tells it. `lower` is the text in lower
    case, of the same length.
    """
    yield from ((*each, "") for each in _known_forms(text))
    done, limits = -1, _Limits(text)
    for at in _telling(lower):
        if at >= done:
            done = name_end = at + len(_NAME.match(text, at)[0])  # type: ignore[index]  # it matches nothing, too
            if not _FOLLOWED.match(text, name_end) and text.find("<", max(0, at - 60), at) < 0:
                continue  # a word of a sentence
            begin = at - len(_BEFORE.search(text[max(0, at - 60) : at])[0])  # type: ignore[index]  # likewise
            name = unquote(text[begin:name_end]) if "%" in text[begin:name_end] else text[begin:name_end]
            near, before = limits.near(begin, name_end)
            what = _kind_at(text, begin, name.rstrip("]"))
            found = _after(near, begin - before, name_end - before, what)
            if found and not limits.cuts(near, found, before):
                found = _in_path(text, begin, found)
                mark = text[begin - 1] if text[begin - 1 : begin] in IN_LINKS else ""
                yield NAMED, found, at, mark + name.rstrip("]")


#: The beginning of a path, up to the `;` before a parameter of it.
_PATH = re.compile(r"(?:\A|[\s\"'(>])(?:https?:/)?/[^\s\"'<>?#]{0,300};\Z")


def _in_path(text: str, begin: int, value: str) -> str:
    """Returns a value, only up to the next `/` if it is a parameter of a path: `/a;pin=1234/b`."""
    in_path = text[begin - 1 : begin] == ";" and _PATH.search(text[max(0, begin - 320) : begin])
    return value.partition("/")[0] if in_path else value


_VALUE_END = re.compile(r"[\s\"'\\&;<>]")
_MANY_NAMES, _LOOKED_BACK, _SHORT_VALUE = 20, 420, 400


class _Limits:
    """How far the value of a name may reach. A text without spaces and quotes is the value of each name in it, so behind the first names
    of such a text, only short values are looked at.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = self._names = 0

    def near(self, begin: int, end: int) -> tuple[str, int]:
        """Returns the text around a name, and what is left out before it."""
        if end > self._end:
            found = _VALUE_END.search(self._text, end)
            self._end, self._names = found.start() if found else len(self._text), 0
        self._names += 1
        if self._names <= _MANY_NAMES:
            return self._text, 0
        before = max(0, begin - _LOOKED_BACK)
        return self._text[before : end + _SHORT_VALUE], before

    def cuts(self, near: str, value: str, before: int) -> bool:
        """Tells whether a value goes on behind the text around its name."""
        return before + len(near) < len(self._text) and near.endswith(value)


def _kind_at(text: str, begin: int, name: str) -> Kind:
    """Returns the kind of a name that begins here, or of the two words whose second it is: `API key`, but not `<Role key=`."""
    what, before = kind(name), text[max(0, begin - 22) : begin]
    if what in ("", "parameter") and (first := _BEFORE_NAME.search(before)):
        is_tag = before.endswith(f"<{first[0]}")
        return "secret" if not is_tag and kind(first[0] + name) == "secret" else what
    return what


def credential(what: Kind, value: str) -> bool:
    """Tells whether the value of a field of this kind is a credential, by the field alone."""
    if what in ("password", "number"):
        chosen = password(value) and (what == "password" or bool(_NUMBER.fullmatch(value)))
        return chosen and (not value.startswith(_ADDRESS) or _opens(value))  # `"reset_password": "https://…"`
    if what == "" or _is_published(value):
        return False
    if _PHRASE.fullmatch(value):
        return what == "secret"
    value = _TEMPLATE.sub("", value)
    scheme, _, rest = value.partition(" ")
    if scheme.lower() == "basic" and ":" in coded_login(rest):
        return _login(rest)
    if _LINK.fullmatch(value):
        return _opens(value)
    return any(map(_is_secret_piece, _PIECES.split(_without_signature(value))))


#: The words of a wallet (BIP 39): 12 to 24 of a list whose words have three to eight letters. A sentence has shorter and longer ones.
_PHRASE = re.compile(r"[a-z]{3,8}(?: [a-z]{3,8}){11}(?:(?: [a-z]{3,8}){3}){0,4}")
_TEMPLATE = re.compile(r"<%=[^%]{0,400}%>")  # of ERB, which VCR for Ruby fills in


#: What an `Authorization` header has beside the key, if the client signs each request with it.
_COMPUTED = re.compile(
    r"(?i)\b(?:(?:oauth_)?(?:signature|nonce|timestamp|signature_method|version|body_hash)|headers|signedheaders|algorithm|keyid)=(?:\"[^\"]*\"|[^\s,\"]+)"
)
_SIGNED = re.compile(
    r"(?i)(?:[A-Z0-9]+-(?:HMAC|RSA|ECDSA)[\w-]*|OAuth|Signature|HMAC) .*?\b(?:oauth_)?signature="
)


#: The id of a key and a signature, as S3 takes them (https://docs.aws.amazon.com/AmazonS3/latest/userguide/RESTAuthentication.html), and the name
#: of an account and a signature, as Azure's storage does (https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key).
_SIGNED_ALONE = re.compile(
    r"AWS [A-Za-z0-9_-]{16,128}:[A-Za-z0-9+/]{27}=|SharedKey(?:Lite)? [a-z0-9]{3,24}:[A-Za-z0-9+/]{43}="
)


_ADDRESS = ("https://", "http://")


def _without_signature(value: str) -> str:
    """Returns an `Authorization` header without the signature of its request, which is valid for minutes, or once."""
    if _SIGNED_ALONE.fullmatch(value):
        return ""
    return _COMPUTED.sub("", value) if _SIGNED.match(value) else value


def _is_secret_piece(piece: str) -> bool:
    """Tells whether a piece of a value, with or without a name of its own, is a credential: of a cookie, a connection string."""
    name, _, inner = piece.partition("=")
    inner = inner.strip("'\"")
    if _LINK.fullmatch(inner):
        return _opens(inner)
    if _is_id(name, inner) or _is_public_name(name):
        return False
    has_name = bool(inner) and _WORDS_OF_NAME.fullmatch(name) and made_of_words(name)
    return drawn(inner) or (not has_name and drawn(piece))


def _opens(link: str) -> bool:
    """Tells whether a URL or a path has a credential in it. The host, ids, and the numbers of a DOI do not count."""
    path, _, query = _HOST.sub("", link).partition("?")
    parts = (part for part in _PARTS.split(path) if not _ID.fullmatch(part))
    pairs = (piece.partition("=") for piece in re.split(r"[&;#]", query))
    return any(drawn(part) and not _DOTTED.fullmatch(part) for part in parts) or any(
        is_credential(unquote(name), unquote(value)) for name, _, value in pairs
    )


def _telling(lower: str) -> list[int]:
    """Returns the positions of words that suggest a credential."""
    found = set[int]()
    for word in WORDS:
        at = lower.find(word)
        while at >= 0:
            found.add(at)
            at = lower.find(word, at + len(word))
    return sorted(found)


def _after(text: str, begin: int, end: int, what: Kind) -> str:
    """Returns the credential after a name, if there is one. Each kind of place has its own rules."""
    before = text[begin - 1 : begin] if begin else ""
    # `Server=db;Pwd=…`, or the first field of a form
    listed = what == "password" and text[max(0, begin - 2) : begin].strip(" ").endswith((";", "\0\n"))
    if (listed or before in ("", "?", "&", "\0")) and (found := _PARAMETER.match(text, end)):
        value = found[1]
        return (
            value if what and credential(what, unquote(value)) and not _is_id(text[begin:end], value) else ""
        )
    if what in ("", "parameter"):
        return ""
    marked = _marked_up(text, begin, end, before)
    if marked is not None:
        return marked if credential(what, marked) else ""
    return next(filter(_is_drawn, _assigned(text, begin, end)), "")


def _assigned(text: str, begin: int, end: int) -> Iterator[str]:
    """Yields what may be the value of a name in code, a command or prose."""
    before = text[max(0, begin - 40) : begin]
    apart = text.startswith("--", begin) or text[begin:end].isupper() or before.endswith(":")
    apart = apart or bool(_SET.search(before))
    for pattern in (_ASSIGNED, _QUOTED, _DECLARED, *([_SPACED] if apart else [])):
        if found := pattern.match(text, end):
            value, between = found[found.lastindex or 0], text[end : found.start(found.lastindex or 0)]
            is_id = between == "|" and not before.endswith("|")  # `auth0|6707939…`, and no row of a table
            is_id = is_id or (between == ":" and before.endswith(":"))  # `orn:okta:apps:basic_auth:0oasb6x…`
            if not is_id and (not _SIGN.isdisjoint(between) or not made_of_words(value)):
                yield value


def _is_drawn(value: str) -> bool:
    """Tells whether a value in a text is a credential, and not the next option of a command."""
    is_secret = _opens(value) if _LINK.fullmatch(value) else drawn(value)
    return is_secret and not value.startswith("--") and not _is_public(value)


def _marked_up(text: str, begin: int, end: int, before: str) -> str | None:
    """Returns the value of a name in XML, in a plist, in a pair or in a multipart body; `None` if it is in none of them."""
    if found := _paired(text, begin, end):
        return found
    if (before == "<" or (before == ":" and "<" in text[max(0, begin - 20) : begin])) and (
        element := _ELEMENT.match(text, end)
    ):
        return element[1]
    if before.isspace() and _in_tag(text, begin) and (attribute := _ATTRIBUTE.match(text, end)):
        return attribute[1] or attribute[2]
    quote = before == '"'
    named = text[max(0, begin - 5 - quote) : begin - quote].lower() == "name="
    if named and (part := _PART.match(text, end)):
        return part[1]
    return None


def _is_public(value: str) -> bool:
    return _is_published(value) or is_of_a_visitor(value)


def _paired(text: str, begin: int, end: int) -> str:
    """Returns the value beside a name, if the name itself is a value: `<key>token</key><string>…`, `name="token" value="…"`."""
    before = text[max(0, begin - 12) : begin]
    if not _NAMING.search(before):
        return ""
    found = _NEXT_VALUE.match(text, end)
    cell = any(tag in before.lower() for tag in ("<th>", "<td>", "<dt>"))
    return found[1] if found and not (cell and made_of_words(found[1])) else ""


def literals(text: str) -> Iterator[tuple[str, str]]:
    """Yields the names and values of credentials among the arguments of a GraphQL document, `login(password: "…")`, which a URL may have."""
    in_url = _QUERY.search(text) if text.startswith(("http", "/", "query=")) else None
    if _GRAPHQL.match(text, in_url.end() if in_url else 0):
        for name, value in _LITERAL.findall(text):
            if credential(kind(name), value):
                yield name, value


def _in_tag(text: str, begin: int) -> bool:
    window = text[max(0, begin - 400) : begin]
    return window.rfind("<") > window.rfind(">") and bool(re.match(r"<[A-Za-z]", window[window.rfind("<") :]))


def _known_forms(text: str) -> Iterator[tuple[str, str, int]]:
    if "://" in text:
        for found in _IN_URL.finditer(text):
            if not is_typed(found[1]) and not found[1].startswith("$"):
                yield "a password in a URL", found[1], found.start(1)
        for found in _USER_IN_URL.finditer(text):
            if (
                drawn(found[1])
                and not drawn(found[2] or "")
                and not made_of_words(found[1])
                and not _SENTRY.match(text, found.start(1) - 8)
            ):
                yield "a token in a URL", found[1], found.start(1)
    yield from (
        ("a bearer token", it[1], it.start(1)) for it in around(text, "earer", _BEARER) if drawn(it[1])
    )
    yield from (("a login", it[1], it.start(1)) for it in around(text, "asic", _BASIC) if _login(it[1]))
    yield from (("an Okta token", it[1], it.start(1)) for it in around(text, "SSWS", _OKTA) if drawn(it[1]))
    yield from (("a password for a host", found[1], found.start(1)) for found in _of_hosts(text))
    for literal in ("-----BEGIN ", "PuTTY-User-Key-File-", "Private-Lines: "):
        yield from (("a private key", it[0], it.start()) for it in around(text, literal, _PRIVATE))


def _of_hosts(text: str) -> Iterator[re.Match[str]]:
    """Yields the passwords in a `.netrc`, in a `.pgpass`, and in commands."""
    hosts = "machine " in text or "default " in text
    for literal, form in (*([("login", _NETRC)] if hosts else []), *_COMMANDS.items()):
        yield from (it for it in around(text, literal, form) if password(it[1]) and it[1][0] not in "$<{")
    yield from (it for it in around(text, "curl", _SENT_COOKIE) if drawn(it[1]))
    yield from (it for it in _COOKIE_FILE.finditer(text) if drawn(it[1]))
    for it in _PGPASS.finditer(text) if text.count(":") > 3 else ():
        if password(it[1]) and not it[1].isalpha() and not _HEX_PARTS.fullmatch(it[0]):
            yield it


def _login(coded: str) -> bool:
    """Tells whether this is `user:password` in base64, and the password no placeholder, or a random key with no password behind it."""
    user, _, word = coded_login(coded).partition(":")
    if not word:
        return drawn(user)
    return len(word) >= 4 and not is_placeholder(word) and not names_its_role(word)


def coded_login(coded: str) -> str:
    """Returns the text of a login in base64, or `""`."""
    plain = coded.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        text = b64decode(plain + "=" * (-len(plain) % 4)).decode()
    except ValueError:
        return ""
    return text if text.isprintable() else ""
