"""The keys that a request sent, as its answer may quote them: what is shown or stored of the answer has `[key]` in their place."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from urllib.parse import parse_qsl, quote, urlsplit

from .redaction import MASK, is_secret_name, letter_by_letter, spellings

_LEAST = 8  # characters of a key that is replaced
_MOST = 20  # keys of one request: each has some thirty forms, which are searched in up to 64 MB
_SECRET = re.compile(r"key|token|secret|auth|password|sig|cookie", re.IGNORECASE)
_APART = re.compile(r"[\s,;]+")


def sent_keys(url: str, headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Returns the names and values of the headers and parameters that hold keys, and the user and password of the URL."""
    found = [(name, value) for name, value in headers if is_secret_name(name.lower())]
    with suppress(ValueError):  # no URL
        parts = urlsplit(url)
        query = parse_qsl(parts.query, keep_blank_values=True)
        found += [(name, value) for name, value in query if is_secret_name(name.lower())]
        found += [("password", each) for each in (parts.password, parts.username) if each]
    return found


def forms_of_keys(sent: Iterable[tuple[str, str]]) -> list[bytes]:
    """Returns the keys in some headers and parameters in each form that an answer may quote: as they are, in other case, escaped, in
    hexadecimal and in Base64.

    Args:
        sent: Names and values. Those whose name says that it is a key come first, because a request has at most 20.
    """
    words = {
        (not _SECRET.search(name), -len(word), word)
        for name, value in sent
        for word in _words(value)
        if len(word) >= _LEAST and word != MASK
    }
    keys = dict.fromkeys(word for _, _, word in sorted(words))
    found = {form for key in [*keys][:_MOST] for form in _forms(key)}
    return sorted(found, key=len, reverse=True)


def without_keys(data: bytes, forms: Iterable[bytes]) -> bytes:
    """Returns a text without the keys whose forms these are."""
    for form in forms:
        data = data.replace(form, b"[key]")
    return data


def text_without_keys(text: str, forms: Iterable[bytes]) -> str:
    """Returns a text without the keys whose forms these are."""
    data = text.encode("utf-8", "surrogatepass")
    return without_keys(data, forms).decode("utf-8", "surrogatepass")


def _words(value: str) -> Iterator[str]:
    """Yields what may be a key in a value: `Bearer KEY`, `name=KEY; …`, and the user and password of `Basic`."""
    yield from value.split()
    for word in _APART.split(value):
        yield word
        yield word.partition("=")[2].strip('"')
    scheme, _, coded = value.partition(" ")
    if scheme.lower() == "basic":
        with suppress(ValueError):
            yield from b64decode(coded).decode("utf-8", "replace").split(":", 1)


def _forms(word: str) -> Iterator[bytes]:
    key = word.encode("utf-8", "surrogatepass")
    for each in (key, key.lower(), key.upper()):
        yield from (each, quote(each, safe="").encode(), each.replace(b"/", b"\\/"))
    spelled = (*spellings(word), *letter_by_letter(word))
    yield from (each.encode("utf-8", "surrogatepass") for each in spelled)
    for encode in (b64encode, urlsafe_b64encode):
        for before, of_it in ((0, 0), (1, 2), (2, 3)):  # bytes that may be encoded before the key
            whole = encode(b"0" * before + key).rstrip(b"=")
            yield whole[of_it : len(whole) - ((before + len(key)) % 3 > 0)]
