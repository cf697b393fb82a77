"""Leaves the plain words out of a request, so that requests that differ in nothing else are equal.

Whoever asks another question sends the same request with another text: the rules look at what a request is made of, and at
texts only for what is no plain sentence (a blank one, a file in base64, a tag, a word that an option asks for).
"""

from __future__ import annotations

import re

__all__ = ["without_words"]

#: What a rule may look for in a text.
_TELLING = tuple(b"json redacted scrubbed omitted truncated filtered placeholder ...".split())
# A text that says nothing to a rule. A quote within a JSON string has a backslash before it, so what follows is found as a
# key with its value only.
_PLAIN = rb""": ?"[A-Za-z0-9](?:[A-Za-z0-9 ,.?!'()+*:;-]{0,398}[A-Za-z0-9.?!')])?\""""
_KEYS = [(key, b'"%s":"x"' % key, re.compile(b'"%s"' % key + _PLAIN)) for key in (b"content", b"text")]


def without_words(body: bytes) -> bytes:
    """Returns a body with its plain texts left out; as it is, where one may tell a rule something."""
    low = body.lower()
    for word in _TELLING:
        if word in low:
            return body
    for key, instead, words in _KEYS:
        if key in body:
            body = words.sub(instead, body)
    return body
