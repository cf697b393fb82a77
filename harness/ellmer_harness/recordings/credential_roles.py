"""Tells which findings in a recording are certain, by what the values are for in the exchange: who sends them, and who gets them.

A client presents its credentials in its requests. An answer has many values whose name suggests a credential and that nobody uses:
numbers of sessions, positions in lists, cookies of visitors. A finding in an answer is therefore certain only if its own form or a name
that only credentials have tells it, or if a request of the recording sends it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import parse_qsl, urlsplit

from ..secrets.cassette_scan import Finding
from ..secrets.named_credentials import is_role, kind
from .interaction import Interaction, value_of
from .public_pages import cookie_values

#: The kind of key that single sign-on gives to visitors, too.
TICKET = "a CAS ticket"
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
    exchanges = {it.place: _Exchange(it) for it in interactions}
    placed = [(each, *_placed(each.where, exchanges)) for each in findings]
    public = _of_visitors(placed) | _published(placed)
    given = {each.fingerprint for each, it, asked in placed if it and not asked and _numbers_a_session(each)}
    sent = {
        each.fingerprint
        for each, it, asked in placed
        if it and asked and (_presents(each, it) or each.fingerprint in given)
    } - public
    for each, it, asked in placed:
        yield it is None or _is_certain(each, it, asked=asked, sent=sent, public=public)


@dataclass(eq=False)
class _Exchange:
    """An exchange, and what is asked of it for each finding in it, which is found once."""

    it: Interaction

    @cached_property
    def is_for_everybody(self) -> bool:
        """Tells whether the answer is a page, whose scripts may have keys for browsers, or says that it is the same for all."""
        is_page = self.it.method.upper() == "GET" and "html" in value_of(self.it.headers, "content-type")
        return is_page or "public" in value_of(self.it.headers, "cache-control")

    @cached_property
    def is_login(self) -> bool:
        """Tells whether the request shows a credential in order to get another one: in its body or URL, as logins do."""
        text = f"{urlsplit(self.it.url).query}\n{(self.it.body or b'').decode('utf-8', 'replace')}"
        return not self.only_reads and any(is_role(name) for name in _names(text))

    @cached_property
    def is_local(self) -> bool:
        """Tells whether the request is for a server of the test itself, by a name that no public host has."""
        return bool(_LOCAL.fullmatch(urlsplit(self.it.url).hostname or ""))

    @cached_property
    def gets_a_token(self) -> bool:
        """Tells whether the answer to this login is a token in the body. The cookies beside it are those of any visitor."""
        return b"grant_type" in (self.it.body or b"") or "grant_type=" in self.it.url

    @cached_property
    def only_reads(self) -> bool:
        return self.it.method.upper() in _READING

    @cached_property
    def shows_a_credential(self) -> bool:
        """Tells whether the request has a credential, masked or not, in a header, its URL or its body. A cookie is none."""
        url = urlsplit(self.it.url)
        return (
            "@" in url.netloc
            or any(kind(name) for name, _ in self.it.sent if name != "cookie")
            or any(
                kind(name) and name != "ticket" for name, _ in parse_qsl(url.query)
            )  # it may be a visitor's
            or self.is_login
        )


#: https://www.rfc-editor.org/rfc/rfc6761
_LOCAL = re.compile(
    r"localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|::1?|(?:[\w-]{1,63}\.){0,9}(?:localhost|test|invalid|example|local)|host\.docker\.internal"
)
_Placed = tuple[Finding, _Exchange | None, bool]


def _placed(where: str, exchanges: dict[str, _Exchange]) -> tuple[_Exchange | None, bool]:
    """Returns the exchange of a place, and whether the place is in the request."""
    steps = where.split("/")
    for end in range(1, min(len(steps), _DEEPEST) + 1):
        if it := exchanges.get("/".join(steps[:end])):
            return it, not any(step.startswith("res") for step in steps[end : end + 1])
    return None, True


_DEEPEST = 8  # steps to an exchange


def _presents(each: Finding, it: _Exchange) -> bool:
    """Tells whether a value of a request is there as a credential: by its name, as a cookie, or in a header for a token. A password that
    somebody chose for a server on the same machine protects nothing.
    """
    if each.evidence == "csrf" or (each.evidence == "chosen" and it.is_local):
        return False
    return each.evidence != "name" or _in_cookie(each) or bool(_TOKEN_HEADER.search(each.where))


_TOKEN_HEADER = re.compile(r"(?i)headers/(?![^/]*[cx]srf)[^/]*token(?:/\d+)?\Z")


def _numbers_a_session(each: Finding) -> bool:
    """Tells whether a value is that of a header such as `mcp-session-id`. If a client sends it back, it gives access to the session."""
    return bool(_SESSION_HEADER.search(each.where))


_SESSION_HEADER = re.compile(r"(?i)headers/[\w-]{0,80}session[\w-]{0,20}(?:/\d+)?\Z")


def _is_certain(each: Finding, it: _Exchange, *, asked: bool, sent: set[str], public: set[str]) -> bool:
    if each.fingerprint in public:
        return False
    if each.evidence == "form" or each.fingerprint in sent:
        return True
    if each.evidence in ("role", "place", "chosen") and not asked and it.is_login:
        return not (_in_cookie(each) and it.gets_a_token)
    return each.evidence in ("role", "link") and not _in_cookie(each) and not it.is_for_everybody


def _in_cookie(each: Finding) -> bool:
    return "cookie" in each.where.lower()


def _of_visitors(placed: Sequence[_Placed]) -> set[str]:
    """Returns the fingerprints of cookies, and of tickets of a single sign-on, that a server gave to a client that had shown no credential,
    and with which the client only read.
    """
    given, used, sent = set[str](), set[str](), set[str]()
    values = _given_values({it for _, it, _ in placed if it})
    for each, it, asked in placed:
        if it is None or not (_in_cookie(each) or each.what == TICKET):
            continue
        if not asked and not it.shows_a_credential:
            given.add(each.fingerprint)
        elif asked and (not it.only_reads or it.shows_a_credential):
            used.add(each.fingerprint)
        elif asked and _in_cookie(each) and cookie_values(value_of(it.it.sent, "cookie")) <= values:
            sent.add(each.fingerprint)
    return (given | sent) - used


def _given_values(exchanges: Iterable[_Exchange]) -> set[str]:
    """Returns the values of the cookies that clients got who had shown no credential."""
    return {
        value
        for it in exchanges
        if not it.shows_a_credential
        for name, cookie in it.it.headers
        if name == "set-cookie"
        for value in cookie_values(cookie.partition(";")[0])
    }


def _published(placed: Sequence[_Placed]) -> set[str]:
    """Returns the fingerprints of the keys in public links, and of those that YouTube's own programs send."""
    return {
        each.fingerprint
        for each, it, asked in placed
        if it
        and (
            (each.evidence == "link" and not asked and not it.shows_a_credential)
            or (each.what == "a Google API key" and "/youtubei/" in it.it.url)
        )
    }


_FIELD = re.compile(r"(?<![\w.-])[\w.-]{1,60}(?=\]?(?:\"\s{0,4}:|=|>))")


def _names(text: str) -> Iterator[str]:
    """Yields the names of fields in JSON, in a form and in XML."""
    return (found[0] for found in _FIELD.finditer(text))
