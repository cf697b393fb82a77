"""Tells which answers of a recording are pages that everybody gets: what they have in forms and links, and the cookies that come
with them, open nothing that is not public.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import parse_qsl, urlsplit

from ..secrets.named_credentials import is_credential, kind, without_visitors
from ..secrets.random_values import drawn
from .interaction import Interaction, value_of

_HTML = re.compile(r"(?i)\s*(?:text/html|application/xhtml\+xml|(?:application|text)/(?:x-)?javascript)\b")
_PAGE = re.compile(rb"(?i)\s*<(?:!doctype\s+)?html\b")  # of a recorder that keeps no headers
_PUBLIC_HOST = re.compile(
    r"(?i)[\w.-]+\.(?!(?:local|lan|internal|intranet|home|corp|test|invalid|arpa)\Z)[a-z]{2,}"
)
_COMMON = re.compile(
    r"accept|cache-control|connection|content-|host\Z|if-|origin\Z|pragma|priority|range\Z|referer|sec-|te\Z|upgrade|user-agent"
)


def public_pages(interactions: Iterable[Interaction]) -> tuple[list[Interaction], bool]:
    """Returns the public pages of a recording: HTML and scripts of public hosts, for a GET without a credential.

    Args:
        interactions: The requests and answers, in order, with all headers that the client sent.

    Returns:
        The pages, and whether the cookies that came with them open nothing. A page's request has no header, no cookie and no parameter
        that may be a credential, not even a masked one. Cookies that every visitor gets do not count, nor do those of
        a page before. A request that sends such a cookie and is no GET may be a login. After it there are no pages, and the
        cookies may be those of a user.

    Examples:
        >>> page = Interaction("/0", "GET", "https://example.com/", headers=[("content-type", "text/html")])
        >>> public_pages([page]) == ([page], True)
        True
    """
    pages: list[Interaction] = []
    given = set[str]()
    for it in interactions:
        sent = value_of(it.sent, "cookie")
        if it.method.upper() not in ("GET", "HEAD") and any(each in sent for each in given):
            return pages, False
        if _is_page(it) and not any(drawn(each) for each in cookie_values(sent) - given):
            pages.append(it)
            given.update(
                *(
                    cookie_values(value.partition(";")[0])
                    for name, value in it.headers
                    if name == "set-cookie"
                )
            )
    return pages, True


def _is_page(it: Interaction) -> bool:
    """Tells whether an answer is HTML or a script of a public host, and nothing but cookies may be a credential in its request."""
    url = urlsplit(it.url)
    return (
        it.method.upper() == "GET"
        and bool(
            _HTML.match(value_of(it.headers, "content-type"))
            or (not it.headers and _PAGE.match(it.content or b""))
        )
        and bool(_PUBLIC_HOST.fullmatch(url.hostname or ""))
        and "@" not in url.netloc
        and not any(is_credential(name, value) for name, value in parse_qsl(url.query))
        and not any(_is_key(name, value) for name, value in it.sent)
    )


def _is_key(name: str, value: str) -> bool:
    """Tells whether a header of a request, but the one with cookies, may have a credential."""
    return name != "cookie" and (bool(kind(name)) or (not _COMMON.match(name) and drawn(value)))


def cookie_values(cookies: str) -> set[str]:
    """Returns the values in a header with cookies, without those that every visitor gets.

    Args:
        cookies: The header, or a pair of it.
    """
    return {*without_visitors(cookies).split("; ")} - {""}
