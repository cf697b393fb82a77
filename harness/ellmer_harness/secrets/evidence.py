"""Why a value is taken for a credential: by its form, by its name, or by the place where it was found."""

from __future__ import annotations

import re
from base64 import b64decode
from typing import Literal
from urllib.parse import unquote

from .named_credentials import IN_LINKS, coded_login, is_role, is_signature, kind, words_of
from .random_values import drawn, in_letters, is_guessed

Evidence = Literal["form", "role", "link", "place", "chosen", "name", "csrf"]
"""Why a value is taken for a credential: by its own form, by a name that only credentials have, as a key in a link, by its name if a
request sends it, as a password that somebody chose, only by a name that other values have, too, or as a CSRF token, which gives access
to nothing by itself.
"""
_NUMBERED = re.compile(r"(?:[a-z]{2,9}_)?[0-9a-fA-F-]+")  # as ids of sessions are
_OBJECT = re.compile(r"[A-Z]{2}[0-9a-f]{32}")  # Twilio's string identifier: `AP…` is an application
_CSRF_COOKIE = re.compile(
    r"(?i)[\w.-]{0,40}[cx]srf[\w.-]{0,40}=[^;]*(?:;\s*(?:expires|max-age|domain|path|samesite|secure|httponly)\b[^;]*)*"
)
_DIGEST = re.compile(r"Digest \w+=")  # its response is for one request (RFC 7616)
_IMPOSSIBLE = re.compile(
    r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-(?:[09a-f][0-9a-f]{3}-[0-9a-f]{4}|[0-9a-f]{4}-[0-7ef][0-9a-f]{3})-.*"
)  # RFC 9562
_OPENS_FILES = re.compile(r"(?i)x-(?:amz|goog)-|sig\Z")  # who has the whole link gets the file
#: What a token is of that gives access. Other tokens may stand for anything: a card, a turn, an upload.
_WITH_TOKEN = frozenset(
    [
        "access",
        "account",
        "admin",
        "agent",
        "api",
        "app",
        "application",
        "auth",
        "authentication",
        "bearer",
        "bot",
        "ci",
        "client",
        "delegation",
        "deploy",
        "developer",
        "device",
        "github",
        "gitlab",
        "hf",
        "id",
        "identity",
        "installation",
        "integration",
        "job",
        "jwt",
        "login",
        "master",
        "member",
        "npm",
        "oauth",
        "oauth2",
        "personal",
        "private",
        "refresh",
        "registration",
        "registry",
        "reset",
        "root",
        "runner",
        "secret",
        "security",
        "service",
        "session",
        "slack",
        "sso",
        "subject",
        "team",
        "tenant",
        "user",
        "vault",
        "verification",
        "web",
        "workspace",
    ]
)
_SELF_TOLD = re.compile(r"(?i)pass|pwd|secret|wrong|invalid|incorrect")


def evidence(name: str, value: str) -> Evidence:
    """Returns what tells that a value of this name is a credential.

    Args:
        name: The name of a header, a parameter or a field; that of a parameter begins with the `?` or `&` before it.
        value: A value that was found by this name.

    Examples:
        >>> evidence("access_token", "pfQuL0xfW8x67CKVQYRBwx6whEICC0Fi")
        'role'
    """
    last, in_link = [*filter(None, words_of(name))][-2:], name.startswith(IN_LINKS)
    if kind(name) in ("password", "number"):
        return _of_chosen(value)
    if last[-1:] == ["authorization"] and ":" in coded_login(value):
        return evidence_of_login(value, "")
    if in_link and _OPENS_FILES.match(name[1:]):
        return "place"
    is_object = last[-1:] == ["sid"] and _OBJECT.fullmatch(value)
    is_csrf = _CSRF_COOKIE.fullmatch(value) or any("csrf" in word or "xsrf" in word for word in last)
    made_up = _MADE_UP.fullmatch(value) or (last[-1:] == ["authorization"] and _is_altered(value))
    opens_nothing = is_object or _DIGEST.match(value) or _IMPOSSIBLE.fullmatch(value) or made_up
    if is_csrf or opens_nothing or _is_of_others(name, last):
        return "csrf" if is_csrf else "name"
    if "".join(last).endswith(("sessionid", "sessid")):
        return "name" if _NUMBERED.fullmatch(value) and not in_link else "place"
    in_role = is_role(name) or last[-1:] == ["authorization"]
    return "place" if not in_role else "link" if in_link and last[-1].endswith("key") else "role"


_MADE_UP = re.compile(r"(?i)(?:test|fake|dummy|mock|stub)[a-z0-9]+")
_PADDED = re.compile(r"[A-Za-z0-9+/_-]+={1,2}")
_MOSTLY, _LEAST_TEXT = 0.75, 16


def _is_altered(value: str) -> bool:
    """Tells whether a value is Base64 in which somebody overwrote letters: it is text, but for a few unreadable bytes, or its padding is not
    that of its length. Of random bytes, more than half are unreadable.
    """
    if _PADDED.fullmatch(value) and len(value) % 4:
        return True
    coded = value.replace("-", "+").replace("_", "/")
    try:
        data = b64decode(coded + ("" if "=" in coded else "=" * (-len(coded) % 4)), validate=True)
    except ValueError:
        return False
    readable = sum(32 <= byte < 127 for byte in data)
    return len(data) >= _LEAST_TEXT and _MOSTLY * len(data) <= readable < len(data)


def _of_chosen(password: str) -> Evidence:
    plain = in_letters(unquote(password))
    rest = _SELF_TOLD.sub("", plain)
    if is_guessed(plain) or (rest != plain and not drawn(rest)):
        return "name"
    return "role" if drawn(password) else "chosen"


def evidence_of_login(found: str, before: str) -> Evidence:
    """Returns what tells that a login in Base64, or the password of a URL, is a credential.

    Args:
        found: The login, or the password.
        before: The text before it.

    Examples:
        >>> evidence_of_login("admin", "https://admin:"), evidence_of_login("hackme", "https://admin:")
        ('name', 'name')
    """
    if repeats_its_user(found, before):
        return "name"
    user, _, word = coded_login(found).partition(":")
    plain = word or user or found
    return "form" if drawn(plain) else "name" if is_guessed(plain) else "chosen"


def _is_of_others(name: str, last: list[str]) -> bool:
    """Tells whether values of this name are those of one request, of every visitor, or of other things: a signature, `card_token`."""
    if is_signature(name):
        return True
    return len(last) == 2 and last[1] == "token" and last[0] not in _WITH_TOKEN and not is_role(name)


_USER = re.compile(r"//([^/?#:@\s]{1,80}):\Z")


def repeats_its_user(found: str, before: str) -> bool:
    """Tells whether a password is the name of its user, as `admin:admin` of a program that was just installed.

    Args:
        found: A password of a URL, or a login in Base64.
        before: The text before it.

    Examples:
        >>> repeats_its_user("admin", "https://admin:"), repeats_its_user("tr0ub4dor", "https://admin:")
        (True, False)
    """
    user, _, word = coded_login(found).partition(":")
    if not word:
        in_url = _USER.search(before[-90:])
        user, word = in_url[1] if in_url else "", found
    return user.lower() == word.lower() and not drawn(word)
