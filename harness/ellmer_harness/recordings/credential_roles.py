"""Tells which findings in a recording are certain, by what the values are for in the exchange: who sends them, and who gets them.

A client presents its credentials in its requests. An answer has many values whose name suggests a credential and that nobody uses:
numbers of sessions, positions in lists, cookies of visitors. A finding in an answer is therefore certain only if its own form or a name
that only credentials have tells it, or if a request of the recording sends it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import parse_qsl, urlsplit

from ..secrets.cassette_scan import Finding
from ..secrets.named_credentials import is_role, kind
from .interaction import Interaction, value_of

_READING = ("GET", "HEAD", "OPTIONS")


def certain(interactions: Iterable[Interaction], findings: Sequence[Finding]) -> Iterator[bool]:
    """Yields for each finding whether it is certain.

    Args:
        interactions: The requests and answers of a recording, in order.
        findings: What was found in the same recording.

    Examples:
        >>> token = Finding("/0/response/body", "a value named like a credential", "1f2e3d4c", "place")
        >>> [*certain([Interaction("/0", "GET", "https://example.com/")], [token])]
        [False]
    """
    exchanges = {it.place: it for it in interactions}
    placed = [(each, *_placed(each.where, exchanges)) for each in findings]
    public = _of_visitors(placed) | _published(placed)
    given = {each.fingerprint for each, it, asked in placed if it and not asked and _numbers_a_session(each)}
    sent = {
        each.fingerprint
        for each, it, asked in placed
        if it and asked and (_presents(each) or each.fingerprint in given)
    } - public
    for each, it, asked in placed:
        yield it is None or _is_certain(each, it, asked=asked, sent=sent, public=public)


_Placed = tuple[Finding, Interaction | None, bool]


def _placed(where: str, exchanges: dict[str, Interaction]) -> tuple[Interaction | None, bool]:
    """Returns the exchange of a place, and whether the place is in the request."""
    steps = where.split("/")
    for end in range(1, min(len(steps), _DEEPEST) + 1):
        if it := exchanges.get("/".join(steps[:end])):
            return it, not any(step.startswith("res") for step in steps[end : end + 1])
    return None, True


_DEEPEST = 8  # steps to an exchange


def _presents(each: Finding) -> bool:
    """Tells whether a value of a request is there as a credential: by its name, as a cookie, or in a header for a token."""
    return each.evidence != "name" or _in_cookie(each) or bool(_TOKEN_HEADER.search(each.where))


_TOKEN_HEADER = re.compile(r"(?i)headers/(?![^/]*[cx]srf)[^/]*token(?:/\d+)?\Z")


def _numbers_a_session(each: Finding) -> bool:
    """Tells whether a value is that of a header such as `mcp-session-id`. If a client sends it back, it gives access to the session."""
    return bool(_SESSION_HEADER.search(each.where))


_SESSION_HEADER = re.compile(r"(?i)headers/[\w-]{0,80}session[\w-]{0,20}(?:/\d+)?\Z")


def _is_certain(each: Finding, it: Interaction, *, asked: bool, sent: set[str], public: set[str]) -> bool:
    if each.fingerprint in public:
        return False
    if each.evidence == "form" or each.fingerprint in sent:
        return True
    if each.evidence in ("role", "place") and not asked and _is_login(it):
        return True
    return each.evidence in ("role", "link") and not _in_cookie(each) and not _is_for_everybody(it)


def _in_cookie(each: Finding) -> bool:
    return "cookie" in each.where.lower()


def _is_for_everybody(it: Interaction) -> bool:
    """Tells whether an answer is a page, whose scripts may have keys for browsers, or says that it is the same for all."""
    is_page = it.method.upper() == "GET" and "html" in value_of(it.headers, "content-type")
    return is_page or "public" in value_of(it.headers, "cache-control")


def _is_login(it: Interaction) -> bool:
    """Tells whether a request shows a credential in order to get another one: in its body or URL, as logins do."""
    text = f"{urlsplit(it.url).query}\n{(it.body or b'').decode('utf-8', 'replace')}"
    return it.method.upper() not in _READING and any(is_role(name) for name in _names(text))


def _of_visitors(placed: Sequence[_Placed]) -> set[str]:
    """Returns the fingerprints of cookies that a server gave to a client that had shown no credential, and with which the client only read."""
    given, used = set[str](), set[str]()
    cookies = [entry for entry in placed if _in_cookie(entry[0])]
    for each, it, asked in cookies:
        if it and not asked and not _shows_a_credential(it):
            given.add(each.fingerprint)
        elif it and asked and (it.method.upper() not in _READING or _shows_a_credential(it)):
            used.add(each.fingerprint)
    return given - used


def _published(placed: Sequence[_Placed]) -> set[str]:
    """Returns the fingerprints of the keys in links that anybody gets, and of those that YouTube's own programs send."""
    return {
        each.fingerprint
        for each, it, asked in placed
        if it
        and (
            (each.evidence == "link" and not asked and not _shows_a_credential(it))
            or (each.what == "a Google API key" and "/youtubei/" in it.url)
        )
    }


def _shows_a_credential(it: Interaction) -> bool:
    """Tells whether a request has a credential, masked or not, in a header, its URL or its body. A cookie is none."""
    url = urlsplit(it.url)
    return (
        "@" in url.netloc
        or any(kind(name) for name, _ in it.sent if name != "cookie")
        or any(kind(name) for name, _ in parse_qsl(url.query))
        or _is_login(it)
    )


_FIELD = re.compile(r"(?<![\w.-])[\w.-]{1,60}(?=\]?(?:\"\s{0,4}:|=|>))")


def _names(text: str) -> Iterator[str]:
    """Yields the names of fields in JSON, in a form and in XML."""
    return (found[0] for found in _FIELD.finditer(text))
