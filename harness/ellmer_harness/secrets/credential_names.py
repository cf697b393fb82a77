"""Names that suggest a credential: one list for URLs, forms, JSON, XML and headers.

`clientSecret`, `client-secret`, `CLIENT_SECRET` and `client.secret` are one name: only the words count, above
all the last ones.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

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
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BREAK = re.compile(r"[^A-Za-z0-9]+|(?<=[A-Za-z])(?=\d+$)")

WORDS: tuple[str, ...] = (
    *("pass", "pwd", "secret", "token", "auth", "cred", "cookie", "key", "sess", "conn"),
    *("jwt", "sig", "sid", "dsn", "assertion", "sas", "otp", "verifier"),
    *("pin", "csrf", "xsrf", "saml", "code", "appid", "psk", "bindpw", "snmp", "ticket"),
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
    if is_public_name(name) or _IDEMPOTENT.search(name):
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


def is_public_name(name: str) -> bool:
    """Tells whether a value of this name is published, such as Sentry's key."""
    words = words_of(name)
    is_key = words[-1:] == ["key"] and not _PUBLISHING.isdisjoint(words)
    return is_key or any(" ".join(words[-many:]) in _PUBLIC for many in (2, 3))


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
