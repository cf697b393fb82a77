"""Names that suggest a credential: one list for URLs, forms, JSON, XML and headers.

`clientSecret`, `client-secret`, `CLIENT_SECRET` and `client.secret` are one name: only the words count, above
all the last ones.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

__all__ = ["WORDS", "Kind", "hinted", "kind", "telling"]

Kind = Literal["password", "secret", "parameter", ""]

# Somebody chose these: any value may be one.
_PASSWORDS = ("password", "passwords", "passwd", "passphrase", "passcode", "pwd", "userpass", "passwort")
_END_OF_PASSWORDS = ("password", "passwd", "passphrase")
# Drawn by lot, or containing something that was: only random values are one.
_SECRETS = (
    *("secret", "secrets", "token", "jwt", "auth", "authorization", "credential", "credentials"),
    *("cookie", "cookies", "apikey", "api key", "access key", "secret key", "private key", "signing key"),
    *("account key", "auth key", "subscription key", "shared key", "encryption key", "master key"),
    *("session key", "service key", "admin key", "license key", "storage key", "webhook key", "server key"),
    *("client key", "app key", "application key", "functions key", "role key", "session id", "sessionid"),
    *("sid", "connection string", "conn str", "dsn", "bearer", "assertion", "otp", "sas", "code verifier"),
)
_END_OF_SECRETS = (
    *("secret", "apikey", "accesskey", "secretkey", "privatekey", "accountkey", "connectionstring"),
    *("accesstoken", "authtoken", "refreshtoken", "idtoken", "sessiontoken", "sessionid"),
)
# Common words, which tell of a credential only where there are parameters: in URLs, forms and headers.
_PARAMETERS = ("key", "sig", "signature", "session", "amz credential", "goog credential")
# Words that may follow without a change of meaning.
_AFTER = {"", "value", "base64", "b64", "digest", "hash", "text", "confirmation", "confirm", "base", "plain"}
# In these names, "token" means a position in a list, a request, or a part of a text.
_PLACES = {
    *("page", "next", "previous", "prev", "continuation", "pagination", "sync", "start", "cursor"),
    *("request", "offset", "delta", "skip", "resume", "idempotency", "max", "total", "stop", "eos", "bos"),
}

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BREAK = re.compile(r"[^A-Za-z0-9]+|(?<=[A-Za-z])(?=\d+$)")

WORDS: tuple[str, ...] = (
    *("pass", "pwd", "secret", "token", "auth", "cred", "cookie", "key", "sess", "conn"),
    *("jwt", "sig", "sid", "dsn", "assertion", "sas", "otp", "verifier"),
)
"""Parts of the names above, lower-case: text without one of them holds none."""
_HINTS = (*WORDS, "bearer")


def hinted(text: str) -> bool:
    """Tells quickly whether a text may contain the name of a credential."""
    lower = text.lower()
    return bool(text) and any(hint in lower for hint in _HINTS)


@lru_cache(maxsize=8192)
def kind(name: str) -> Kind:
    """Returns the kind of credential that a name suggests, or `""`. A `parameter` counts only in URLs, forms and headers."""
    if not hinted(name):
        return ""
    words = _words(name)
    for many in (3, 2, 1):
        last, before = " ".join(words[-many:]), words[-many - 1 :][:1] if len(words) > many else []
        if last in _PASSWORDS:
            return "password"
        if last in _SECRETS and not (last == "token" and before and before[0] in _PLACES):
            return "secret"
        if last in _PARAMETERS:
            return "parameter"
    return _ending(words[-1]) if words else ""


@lru_cache(maxsize=8192)
def telling(name: str) -> bool:
    """Tells whether a value of this name is a credential in any place."""
    return kind(name) in ("password", "secret")


def _ending(word: str) -> Kind:
    """Returns the kind of credential that the end of a word suggests: `pgpassword`, `clientsecret`."""
    if word.endswith(_END_OF_PASSWORDS):
        return "password"
    return "secret" if word.endswith(_END_OF_SECRETS) else ""


def _words(name: str) -> list[str]:
    words = [word.lower() for word in _BREAK.split(_CAMEL.sub("_", name[-80:]))]
    while words and (words[-1] in _AFTER or words[-1].isdigit()):
        words.pop()
    return words
